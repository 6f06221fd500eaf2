-- GROUPING SETS within a window.
CREATE TABLE window_sets (s TIMESTAMP(3), item STRING, customer INT, n BIGINT) WITH ({append}, {out});
INSERT INTO window_sets
SELECT window_start, item, customer, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '15' MINUTE))
GROUP BY window_start, window_end, GROUPING SETS ((item), (customer), ());
