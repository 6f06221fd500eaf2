-- A window over the results of a window.
CREATE TABLE cascade (s TIMESTAMP(3), n BIGINT, most BIGINT) WITH ({append}, {out});
INSERT INTO cascade
WITH small AS (
    SELECT window_time AS `time`, item, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, window_time, item)
SELECT window_start, SUM(n), MAX(n) FROM TABLE(TUMBLE(TABLE small, DESCRIPTOR(`time`), INTERVAL '15' MINUTE))
GROUP BY window_start, window_end;
