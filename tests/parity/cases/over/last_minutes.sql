-- The last five minutes, by event time.
CREATE TABLE last_minutes (id INT, currency STRING, n BIGINT, highest INT) WITH ({append}, {out});
INSERT INTO last_minutes
SELECT id, currency, COUNT(amount) OVER w, MAX(amount) OVER w
FROM trades WINDOW w AS (PARTITION BY currency ORDER BY `at` RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW);
