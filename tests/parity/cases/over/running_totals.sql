-- Everything up to this row, by event time.
CREATE TABLE running_totals (id INT, item STRING, n BIGINT, total INT, low DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO running_totals
SELECT id, item, COUNT(*) OVER w, SUM(quantity) OVER w, MIN(price) OVER w
FROM orders WINDOW w AS (PARTITION BY item ORDER BY placed RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);
