-- The row before.
CREATE TABLE lag_ (id INT, currency STRING, before INT, two_before INT) WITH ({append}, {out});
INSERT INTO lag_
SELECT id, currency, LAG(amount) OVER w, LAG(amount, 2, -1) OVER w
FROM trades WINDOW w AS (PARTITION BY currency ORDER BY `at`);
