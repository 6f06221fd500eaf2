-- TUMBLE over several partitions.
CREATE TABLE tumble (
    s TIMESTAMP(3), e TIMESTAMP(3), item STRING, n BIGINT, quantity INT, customers BIGINT, price DECIMAL(10, 2)
) WITH ({append}, {out});
INSERT INTO tumble
SELECT window_start, window_end, item, COUNT(*), SUM(quantity), COUNT(DISTINCT customer), MAX(price)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, item;
