-- CUMULATE: the window grows step by step.
CREATE TABLE cumulate (s TIMESTAMP(3), e TIMESTAMP(3), item STRING, total DECIMAL(38, 2)) WITH ({append}, {out});
INSERT INTO cumulate
SELECT window_start, window_end, item, SUM(price)
FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(placed), INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)) GROUP BY window_start, window_end, item;
