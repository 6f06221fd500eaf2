-- inner_join by id
SELECT a.id, a.v, b.w FROM a JOIN b ON a.id = b.id;

-- left_join by id
SELECT a.id, a.v, b.w FROM a LEFT JOIN b ON a.id = b.id;

-- right_join by id
SELECT b.id, a.v, b.w FROM a RIGHT JOIN b ON a.id = b.id;

-- full_join_materialised by id
SELECT COALESCE(a.id, b.id) AS id, a.v, b.w FROM a FULL JOIN b ON a.id = b.id;

-- many_to_many by x, y
SELECT a.id AS x, b.id AS y, a.k FROM a JOIN b ON a.k = b.k;

-- many_to_many_left
SELECT a.id AS x, b.id AS y FROM a LEFT JOIN b ON a.k = b.k;

-- many_to_many_full
SELECT a.id AS x, b.id AS y, b.w FROM a FULL JOIN b ON a.k = b.k;

-- join_with_rest by x, y
SELECT a.id AS x, b.id AS y FROM a JOIN b ON a.k = b.k AND a.v < b.w;

-- left_join_with_rest
SELECT a.id AS x, b.id AS y FROM a LEFT JOIN b ON a.k = b.k AND a.v < b.w;

-- full_join_with_rest
SELECT a.id AS x, b.id AS y FROM a FULL JOIN b ON a.id = b.id AND (a.v > b.w OR b.w IS NULL);

-- self_join by x, y
SELECT l.id AS x, r.id AS y FROM a l JOIN a r ON l.v = r.id;

-- self_join_left by x
SELECT l.id AS x, r.s FROM a l LEFT JOIN a r ON l.v = r.id;

-- three_tables by x, y
SELECT a.id AS x, b.id AS y, c2.s FROM a JOIN b ON a.k = b.k JOIN a c2 ON b.id = c2.id;

-- three_tables_outer
SELECT a.id AS x, b.w, c2.s FROM a LEFT JOIN b ON a.id = b.id LEFT JOIN a c2 ON b.w = c2.id;

-- changes_with_table
SELECT d.k, d.v, d.s, b.id FROM d JOIN b ON d.k = b.k;

-- changes_with_changes
SELECT l.k, l.v, r.s FROM d l JOIN d r ON l.k = r.k AND l.v = r.v;

-- changes_left_table
SELECT d.k, d.s, b.id FROM d LEFT JOIN b ON d.v = b.id AND d.s <> 'x';

-- appends_with_table
SELECT c.id, a.s FROM every_c c JOIN a ON c.id = a.id;

-- appends_left_table
SELECT c.id, c.v, a.s FROM every_c c LEFT JOIN a ON c.id = a.id;

-- cross_join
SELECT l.k, r.n FROM (SELECT DISTINCT k FROM a) l CROSS JOIN (SELECT COUNT(*) AS n FROM b) r;

-- semi by id
SELECT id, v FROM a WHERE k IN (SELECT k FROM b);

-- semi_with_rest by id
SELECT id, v FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.w > a.v);

-- anti by id
SELECT id, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k);

-- anti_with_rest by id
SELECT id, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.w < a.v);

-- not_in by id
SELECT id, v FROM a WHERE v NOT IN (SELECT w FROM b WHERE id < 8);

-- not_in_of_nulls by id
SELECT id, s FROM a WHERE k NOT IN (SELECT k FROM b WHERE w > 9);

-- semi_of_changes
SELECT k, v, s FROM d WHERE v IN (SELECT w FROM b);

-- anti_of_changes
SELECT k, v, s FROM d WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.v = d.v AND a.k = d.k);
