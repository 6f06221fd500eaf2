-- Rows of a window for which there is none in the same window of the other table.
CREATE TABLE window_exists (s TIMESTAMP(3), id INT) WITH ({append}, {out});
INSERT INTO window_exists
SELECT l.window_start, l.id FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '5' MINUTE))) AS l
WHERE NOT EXISTS (
    SELECT 1 FROM (SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(paid), INTERVAL '5' MINUTE))) AS r
    WHERE l.id = r.order_id AND l.window_start = r.window_start AND l.window_end = r.window_end);
