-- top_two by id
SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM a) WHERE rn <= 2;

-- ranked by k, rn
SELECT k, rn, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, id) AS rn FROM a)
WHERE rn <= 3 AND k IS NOT NULL;

-- ranked_with_null_groups
SELECT k, rn, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id DESC) AS rn FROM a)
WHERE rn <= 2;

-- top_of_changes
SELECT k, v, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, s) AS rn FROM d) WHERE rn <= 3;

-- one_each by s
SELECT s, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY v DESC, id) AS rn FROM a)
WHERE rn = 1 AND s IS NOT NULL;

-- second_to_third
SELECT id, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY s, id) AS rn FROM a) WHERE rn >= 2 AND rn <= 3;

-- first_five by id
SELECT id, v, s FROM a ORDER BY v DESC, id LIMIT 5;

-- first_groups
SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) ORDER BY n DESC, k LIMIT 3;

-- top_of_appends
SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id, ts) AS rn FROM every_c)
WHERE rn <= 2;

-- top_of_groups
SELECT k, s, n FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC, s) AS rn
    FROM (SELECT k, s, COUNT(*) AS n FROM a GROUP BY k, s)
) WHERE rn = 1;

-- top_of_join
SELECT a_id, b_id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a_id ORDER BY w DESC, b_id) AS rn FROM pairs)
WHERE rn <= 2;

-- groups_of_top
SELECT k, SUM(v) AS total FROM (
    SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM a) WHERE rn <= 3
) GROUP BY k;
