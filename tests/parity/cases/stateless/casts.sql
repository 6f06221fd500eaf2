-- CAST and TRY_CAST between numbers, text, times and booleans.
CREATE TABLE casts (
    id INT, a STRING, b STRING, c INT, d INT, e BIGINT, f STRING, g STRING, h DATE, i TIME(0), j TIMESTAMP(3),
    k DECIMAL(5, 1), l INT, m DOUBLE, n BOOLEAN, o STRING
) WITH ({append}, {out});
INSERT INTO casts
SELECT id, CAST(price AS STRING), CAST(weight AS STRING), CAST(weight AS INT), CAST(price AS INT),
    CAST(quantity AS BIGINT), CAST(quantity > 3 AS STRING), CAST(placed AS STRING), CAST(placed AS DATE),
    CAST(placed AS TIME), CAST(CAST(placed AS STRING) AS TIMESTAMP(3)), CAST(price AS DECIMAL(5, 1)),
    TRY_CAST(item AS INT), CAST(price AS DOUBLE), CAST(quantity AS BOOLEAN), CAST(CAST(item AS CHAR(2)) AS STRING)
FROM orders;
