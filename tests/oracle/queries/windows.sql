-- tumble
SELECT window_start, window_end, k, COUNT(*) AS n, COUNT(DISTINCT v) AS m
FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k;
-- batch
SELECT window_start, window_end, k, COUNT(*), COUNT(DISTINCT v) FROM tumbled WHERE closed(window_end)
GROUP BY window_start, window_end, k;

-- hop
SELECT window_start, window_end, SUM(v) AS total
FROM TABLE(HOP(TABLE c, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)) GROUP BY window_start, window_end;
-- batch
SELECT window_start, window_end, SUM(v) FROM (
    SELECT *, time_bucket(INTERVAL '2' SECOND, ts) - to_seconds(2 * back) AS window_start,
        window_start + INTERVAL '6' SECOND AS window_end
    FROM c, range(3) AS earlier(back)
) WHERE closed(window_end) GROUP BY window_start, window_end;

-- cumulate
SELECT window_start, window_end, k, MAX(v) AS highest
FROM TABLE(CUMULATE(TABLE c, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))
GROUP BY window_start, window_end, k;
-- batch
SELECT window_start, window_end, k, MAX(v) FROM (
    SELECT *, time_bucket(INTERVAL '6' SECOND, ts) AS window_start,
        window_start + to_seconds(2 * step) AS window_end
    FROM c, range(1, 4) AS steps(step)
) WHERE ts < window_end AND closed(window_end) GROUP BY window_start, window_end, k;

-- session
SELECT window_start, window_end, k, COUNT(*) AS n
FROM TABLE(SESSION(TABLE c PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, k;
-- batch
SELECT MIN(ts), MAX(ts) + INTERVAL '2' SECOND AS window_end, k, COUNT(*) FROM (
    SELECT *, SUM(fresh) OVER (PARTITION BY k ORDER BY ts, id) AS session FROM (
        SELECT *, CASE WHEN ts <= LAG(ts) OVER (PARTITION BY k ORDER BY ts, id) + INTERVAL '2' SECOND
            THEN 0 ELSE 1 END AS fresh
        FROM c
    )
) GROUP BY k, session HAVING closed(window_end);

-- tumble_of_upserts
SELECT window_start, window_end, COUNT(*) AS n, SUM(v) AS total
FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
-- batch
SELECT window_start, window_end, COUNT(*), SUM(v) FROM (
    SELECT *, time_bucket(INTERVAL '5' SECOND, ts) AS window_start, window_start + INTERVAL '5' SECOND AS window_end
    FROM e
) WHERE closed_of_e(window_end) GROUP BY window_start, window_end;

-- groups_of_windows
SELECT k, MAX(n) AS most, COUNT(*) AS windows FROM (
    SELECT window_start, window_end, k, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k
) GROUP BY k;
-- batch
SELECT k, MAX(n), COUNT(*) FROM (
    SELECT window_start, k, COUNT(*) AS n FROM tumbled WHERE closed(window_end) GROUP BY window_start, k
) GROUP BY k;

-- window_top
SELECT window_end, k, n FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC, k) AS rn FROM (
        SELECT window_start, window_end, k, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k
    )
) WHERE rn <= 2;
-- batch
SELECT window_end, k, n FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY n DESC, k) AS rn FROM (
        SELECT window_end, k, COUNT(*) AS n FROM tumbled WHERE closed(window_end) GROUP BY window_end, k
    )
) WHERE rn <= 2;

-- window_join
SELECT l.window_end, l.id AS x, r.id AS y
FROM (SELECT * FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) WHERE v > 6) l
JOIN (SELECT * FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) WHERE v <= 6) r
ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
-- batch
SELECT l.window_end, l.id, r.id FROM tumbled l JOIN tumbled r ON l.k = r.k AND l.window_end = r.window_end
WHERE l.v > 6 AND r.v <= 6 AND closed(l.window_end);

-- interval_join
SELECT l.id AS x, r.id AS y FROM c l JOIN c r
ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '2' SECOND;
-- batch
SELECT l.id, r.id FROM c l JOIN c r
ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '2' SECOND;

-- windows_with_table
SELECT w.window_end, w.n, a.s FROM (
    SELECT window_start, window_end, id, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, id
) w JOIN a ON w.id = a.id;
-- batch
SELECT w.window_end, w.n, a.s FROM (
    SELECT window_end, id, COUNT(*) AS n FROM tumbled WHERE closed(window_end) GROUP BY window_end, id
) w JOIN a ON w.id = a.id;
