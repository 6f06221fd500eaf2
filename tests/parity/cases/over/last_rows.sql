-- The last three rows, by event time.
CREATE TABLE last_rows (id INT, customer INT, n BIGINT, total INT, average INT) WITH ({append}, {out});
INSERT INTO last_rows
SELECT id, visitor_length, COUNT(*) OVER w, SUM(amount) OVER w, AVG(amount) OVER w
FROM (SELECT id, CHAR_LENGTH(currency) AS visitor_length, amount, `at` FROM trades)
WINDOW w AS (PARTITION BY visitor_length ORDER BY `at` ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
