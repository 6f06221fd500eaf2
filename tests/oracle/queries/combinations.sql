-- join_then_group
SELECT a.k, SUM(b.w) AS total, COUNT(*) AS n FROM a JOIN b ON a.id = b.id GROUP BY a.k;

-- left_join_then_group
SELECT a.k, COUNT(b.id) AS n, COUNT(*) AS m FROM a LEFT JOIN b ON a.k = b.k AND b.w > 6 GROUP BY a.k;

-- full_join_then_group
SELECT b.k, MIN(a.v) AS lowest, COUNT(DISTINCT a.s) AS texts FROM a FULL JOIN b ON a.id = b.id GROUP BY b.k;

-- group_then_join by id
SELECT b.id, b.w, g.n FROM b JOIN (SELECT k, COUNT(*) AS n FROM a GROUP BY k) g ON b.k = g.k;

-- group_then_left_join by id
SELECT b.id, g.total FROM b LEFT JOIN (SELECT k, SUM(v) AS total FROM a GROUP BY k HAVING COUNT(*) > 2) g ON b.k = g.k;

-- two_groups_joined
SELECT x.k, x.n, y.m FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) x
FULL JOIN (SELECT k, COUNT(*) AS m FROM b GROUP BY k) y ON x.k = y.k;

-- own_group_joined by id
SELECT a.id, a.v, g.highest FROM a JOIN (SELECT k, MAX(v) AS highest FROM a GROUP BY k) g ON a.k = g.k AND a.v = g.highest;

-- top_joined by id
SELECT b.id, t.id AS best FROM b JOIN (
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM a) WHERE rn = 1
) t ON b.k = t.k;

-- distinct_of_union
SELECT DISTINCT s FROM (SELECT s FROM a UNION ALL SELECT s FROM d);

-- count_of_union_distinct
SELECT COUNT(*) AS n FROM (SELECT k, v FROM a UNION SELECT k, v FROM d);

-- semi_of_groups by id
SELECT id, w FROM b WHERE k IN (SELECT k FROM a GROUP BY k HAVING COUNT(*) > 3);

-- anti_of_groups by id
SELECT id, w FROM b WHERE NOT EXISTS (SELECT 1 FROM large_k l WHERE l.k = b.k);

-- groups_of_semi
SELECT k, COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id) GROUP BY k;

-- semi_and_anti by id
SELECT id FROM a WHERE k IN (SELECT k FROM b WHERE w > 5) AND NOT EXISTS (SELECT 1 FROM d WHERE d.v = a.v);

-- views_on_views
SELECT l.k, l.total, p.n FROM large_k l JOIN per_k p ON l.k = p.k;

-- groups_of_a_view
SELECT k, COUNT(*) AS n, SUM(w - v) AS spread FROM pairs GROUP BY k;

-- grouping_sets_of_join
SELECT a.k, a.s, COUNT(*) AS n FROM a JOIN b ON a.id = b.id GROUP BY GROUPING SETS ((a.k), (a.s)) HAVING COUNT(*) > 1;

-- intersect_of_joins
SELECT a_id FROM pairs INTERSECT SELECT id FROM a WHERE v > 3;

-- union_of_groups
SELECT k, n, 'a' AS side FROM per_k UNION ALL SELECT k, COUNT(*), 'b' FROM b GROUP BY k;

-- groups_materialised by g
SELECT COALESCE(CAST(v AS STRING), 'none') AS g, COUNT(*) AS n FROM a GROUP BY v;

-- join_materialised by pair
SELECT CONCAT(CAST(a.id AS STRING), '-', CAST(b.id AS STRING)) AS pair, a.v, b.w FROM a JOIN b ON a.k = b.k;

-- common_table by x
WITH few AS (SELECT k, COUNT(*) AS n FROM b GROUP BY k), named AS (SELECT id AS x, k, s FROM a WHERE s IS NOT NULL)
SELECT named.x, named.s, few.n FROM named JOIN few ON named.k = few.k;

-- four_tables
SELECT p.k, COUNT(*) AS n, MAX(x.total) AS total
FROM pairs p JOIN per_k x ON p.k = x.k JOIN d ON d.k = p.k AND d.v = p.v GROUP BY p.k;

-- share_of_all by k
SELECT g.k, g.n, t.n AS everything FROM (SELECT k, COUNT(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k) g
CROSS JOIN (SELECT COUNT(*) AS n FROM a) t;

-- appends_grouped_then_joined
SELECT a.id, g.n FROM a LEFT JOIN (SELECT k, COUNT(*) AS n FROM every_c GROUP BY k) g ON a.k = g.k;
