-- Results keep the types of their operands, and decimals grow as they do in Flink.
CREATE TABLE result_types (
    id INT, int_by_int INT, by_decimal STRING, squared STRING, third STRING, added STRING, double_by_int DOUBLE,
    negative INT, rest STRING, rounded STRING, powered DOUBLE
) WITH ({append}, {out});
INSERT INTO result_types
SELECT id, -quantity / 2, CAST(quantity * price AS STRING), CAST(price * price AS STRING),
    CAST(price / 3 AS STRING), CAST(price + 1 + CAST(0.001 AS DECIMAL(4, 3)) AS STRING), weight / quantity,
    -(quantity + 1), CAST(MOD(price, 2) AS STRING), CAST(ROUND(price * 1.5, 1) AS STRING), POWER(quantity, 2)
FROM orders;
