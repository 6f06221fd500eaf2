-- union_all_counts
SELECT k, COUNT(*) AS n FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k;

-- union_all_of_three
SELECT k, v FROM a UNION ALL SELECT k, w FROM b UNION ALL SELECT k, v FROM d;

-- union_distinct
SELECT k, s FROM a UNION SELECT k, 'b' FROM b;

-- union_of_changes
SELECT k, v FROM d UNION SELECT k, v FROM a WHERE v > 4;

-- intersect_
SELECT k, v FROM a INTERSECT SELECT k, w FROM b;

-- intersect_all
SELECT k, v FROM d INTERSECT ALL SELECT k, v FROM a;

-- except_
SELECT k, v FROM a EXCEPT SELECT k, w FROM b;

-- except_all
SELECT k, v FROM d EXCEPT ALL SELECT k, v FROM a;

-- except_of_groups
SELECT k, COUNT(*) AS n FROM a GROUP BY k EXCEPT SELECT k, COUNT(*) FROM b GROUP BY k;

-- filter_ by id
SELECT id, k, v FROM a WHERE v > 4;

-- filter_of_changes
SELECT k, v + 1 AS v FROM d WHERE s = 'x' OR s IS NULL;

-- copy_ by id
SELECT id, k, v, s FROM a;

-- values_union
SELECT v, COUNT(*) AS n FROM (SELECT v FROM a UNION ALL SELECT w FROM b UNION ALL SELECT id FROM b) GROUP BY v;
