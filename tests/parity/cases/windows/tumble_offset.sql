-- TUMBLE with an offset, and without a key.
CREATE TABLE tumble_offset (s TIMESTAMP(3), t TIMESTAMP(3), n BIGINT, average INT) WITH ({append}, {out});
INSERT INTO tumble_offset
SELECT window_start, window_time, COUNT(*), AVG(quantity)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '10' MINUTE, INTERVAL '3' MINUTE))
GROUP BY window_start, window_end, window_time;
