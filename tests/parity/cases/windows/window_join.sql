-- Rows of the same window.
CREATE TABLE window_join (s TIMESTAMP(3), order_id INT, payment INT) WITH ({append}, {out});
INSERT INTO window_join
SELECT COALESCE(l.window_start, r.window_start), l.id, r.id
FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '5' MINUTE))) AS l
FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE payments, DESCRIPTOR(paid), INTERVAL '5' MINUTE))) AS r
ON l.id = r.order_id AND l.window_start = r.window_start AND l.window_end = r.window_end;
