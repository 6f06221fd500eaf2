-- The best of each window.
CREATE TABLE window_top (s TIMESTAMP(3), item STRING, total DECIMAL(38, 2), rn BIGINT) WITH ({append}, {out});
INSERT INTO window_top
SELECT window_start, item, total, rn FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC, item) AS rn FROM (
        SELECT window_start, window_end, item, SUM(price) AS total
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item)
) WHERE rn <= 2;
