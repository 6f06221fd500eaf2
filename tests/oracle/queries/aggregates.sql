-- counts by k
SELECT k, COUNT(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k;

-- groups_of_null
SELECT k, COUNT(*) AS n, COUNT(v) AS m FROM a GROUP BY k;

-- sums
SELECT k, SUM(v) AS total, AVG(v) AS average, MIN(v) AS lowest, MAX(v) AS highest FROM a GROUP BY k;
-- batch
SELECT k, SUM(v), CAST(TRUNC(AVG(v)) AS BIGINT), MIN(v), MAX(v) FROM a GROUP BY k;

-- distincts
SELECT k, COUNT(*) AS n, COUNT(DISTINCT s) AS texts, COUNT(DISTINCT v) AS numbers, SUM(DISTINCT v) AS total
FROM a GROUP BY k;

-- filtered_calls by k
SELECT k, COUNT(*) FILTER (WHERE v > 5) AS n, COUNT(DISTINCT s) FILTER (WHERE v < 5) AS few
FROM a WHERE k IS NOT NULL GROUP BY k;

-- having by k
SELECT k, COUNT(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k HAVING COUNT(*) > 3;

-- having_of_another_call
SELECT k, MIN(s) AS s FROM a GROUP BY k HAVING SUM(v) > 20 OR COUNT(v) = 0;

-- whole
SELECT COUNT(*) AS n, SUM(v) AS total, COUNT(DISTINCT k) AS groups_, MAX(s) AS s FROM a;

-- distinct_rows by k, s
SELECT DISTINCT k, s FROM a WHERE s IS NOT NULL AND k IS NOT NULL;

-- distinct_rows_with_nulls
SELECT DISTINCT k, v FROM a;

-- computed_key
SELECT v / 3 AS g, COUNT(*) AS n FROM a GROUP BY v / 3;

-- computed_arguments
SELECT UPPER(s) AS s, SUM(CASE WHEN v > 5 THEN 1 ELSE 0 END) AS many, MAX(v + id) AS highest FROM a GROUP BY UPPER(s);

-- two_levels by n
SELECT n, COUNT(*) AS groups_ FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY n;

-- three_levels
SELECT MAX(groups_) AS m FROM (SELECT n, COUNT(*) AS groups_ FROM (SELECT k, v, COUNT(*) AS n FROM a GROUP BY k, v) GROUP BY n);

-- moments
SELECT k, VAR_POP(CAST(v AS DOUBLE)) AS a, STDDEV_SAMP(CAST(v AS DOUBLE)) AS b, AVG(CAST(v AS DOUBLE)) AS c
FROM a GROUP BY k;

-- grouping_sets
SELECT k, s, COUNT(*) AS n, SUM(v) AS total FROM a GROUP BY GROUPING SETS ((k, s), (s), (k));

-- rollup_having
SELECT k, s, COUNT(*) AS n FROM a GROUP BY ROLLUP (k, s) HAVING COUNT(*) > 2;

-- cube_of_changes
SELECT k, s, MAX(v) AS highest FROM d WHERE v IS NOT NULL GROUP BY CUBE (k, s) HAVING COUNT(*) > 0;

-- counts_of_changes
SELECT k, s, COUNT(*) AS n, COUNT(DISTINCT v) AS m, MIN(v) AS lowest, MAX(v) AS highest FROM d GROUP BY k, s;

-- distinct_changes
SELECT DISTINCT k, v, s FROM d;

-- counts_of_appends
SELECT k, COUNT(*) AS n, COUNT(DISTINCT v) AS m, MIN(ts) AS first_, MAX(ts) AS last_ FROM every_c GROUP BY k;

-- groups_of_a_filtered_source by k
SELECT k, COUNT(*) AS n, SUM(id) AS ids FROM a WHERE v > 3 AND k IS NOT NULL GROUP BY k;
