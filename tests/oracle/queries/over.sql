-- so_far
SELECT k, id, ts, SUM(v) OVER w AS total, COUNT(*) OVER w AS n, COUNT(DISTINCT v) OVER w AS m, MAX(v) OVER w AS highest
FROM c WINDOW w AS (PARTITION BY k ORDER BY ts);
-- batch
SELECT * FROM (
    SELECT k, id, ts, SUM(v) OVER w, COUNT(*) OVER w, COUNT(DISTINCT v) OVER w, MAX(v) OVER w FROM c
    WINDOW w AS (PARTITION BY k ORDER BY ts)
) WHERE closed(ts);

-- last_seconds
SELECT k, id, ts, MIN(v) OVER w AS lowest, COUNT(v) OVER w AS n
FROM c WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW);
-- batch
SELECT * FROM (
    SELECT k, id, ts, MIN(v) OVER w, COUNT(v) OVER w FROM c
    WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW)
) WHERE closed(ts);

-- last_rows
SELECT ts, COUNT(*) OVER w AS n, MAX(ts) OVER w AS latest
FROM c WINDOW w AS (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW);
-- batch
SELECT * FROM (
    SELECT ts, COUNT(*) OVER w, MAX(ts) OVER w FROM c
    WINDOW w AS (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW)
) WHERE closed(ts);

-- numbered
SELECT k, ts, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM c;
-- batch
SELECT * FROM (SELECT k, ts, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) FROM c) WHERE closed(ts);

-- time_before
SELECT k, COUNT(*) AS n, COUNT(before_) AS m FROM (SELECT k, LAG(ts) OVER (PARTITION BY k ORDER BY ts) AS before_ FROM c)
GROUP BY k;
-- batch
SELECT k, COUNT(*), COUNT(before_) FROM (
    SELECT k, ts, LAST_VALUE(before_) OVER (PARTITION BY k, ts) AS before_ FROM (
        SELECT k, ts, COALESCE(LAG(ts) OVER w, CASE WHEN COUNT(*) OVER (PARTITION BY k, ts) > 1 THEN ts END) AS before_
        FROM c WINDOW w AS (PARTITION BY k ORDER BY ts)
    )
) WHERE closed(ts) GROUP BY k;

-- late_rows_left_out
SELECT k, id, ts, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM every_c;
-- batch
SELECT * FROM (SELECT k, id, ts, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM c) WHERE closed(ts);

-- running_total by id
SELECT id, SUM(v) OVER w AS total, COUNT(*) OVER w AS n FROM a WINDOW w AS (PARTITION BY k ORDER BY id);

-- running_total_of_equals by id
SELECT id, SUM(id) OVER w AS total, COUNT(DISTINCT s) OVER w AS n FROM a WINDOW w AS (PARTITION BY k ORDER BY v);

-- running_total_of_changes
SELECT k, v, COUNT(*) OVER w AS n, MIN(s) OVER w AS s FROM d WINDOW w AS (ORDER BY v);

-- neighbours by id
SELECT id, LAG(id) OVER w AS before_, LEAD(s, 2, 'none') OVER w AS after_ FROM a WINDOW w AS (PARTITION BY k ORDER BY v, id);

-- descending by id
SELECT id, MAX(v) OVER (PARTITION BY k ORDER BY id DESC ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM a;

-- over_groups by k
SELECT k, SUM(n) OVER (ORDER BY k) AS total FROM (SELECT k, COUNT(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k);

-- groups_over
SELECT total, COUNT(*) AS n FROM (SELECT SUM(v) OVER (PARTITION BY k ORDER BY id) AS total FROM a) GROUP BY total;
