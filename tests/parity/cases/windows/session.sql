-- SESSION by key.
CREATE TABLE `session` (s TIMESTAMP(3), e TIMESTAMP(3), item STRING, n BIGINT) WITH ({append}, {out});
INSERT INTO `session`
SELECT window_start, window_end, item, COUNT(*)
FROM TABLE(SESSION(TABLE orders PARTITION BY item, DESCRIPTOR(placed), INTERVAL '2' MINUTE)) GROUP BY window_start, window_end, item;
