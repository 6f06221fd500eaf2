-- in_of_pairs by id
SELECT id, s FROM a WHERE (k, v) IN (SELECT k, w FROM b);

-- not_in_of_pairs by id
SELECT id, s FROM a WHERE (k, v) NOT IN (SELECT k, w FROM b WHERE id < 6);

-- not_in_of_known_pairs by id
SELECT id, s FROM a WHERE (id, v) NOT IN (SELECT id, w FROM b);

-- not_in_of_changes by id
SELECT id, s FROM a WHERE (v, s) NOT IN (SELECT v, s FROM d WHERE v > 8);

-- correlated_not_in by id
SELECT id, v FROM a WHERE v NOT IN (SELECT w FROM b WHERE b.k = a.k);

-- literal_not_in by id
SELECT id FROM a WHERE 3 NOT IN (SELECT w FROM b WHERE id < 4);
