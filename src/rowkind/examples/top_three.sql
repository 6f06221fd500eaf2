-- The three best-selling items of each shop.
--   rowkind run top_three.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE sales (
    shop   STRING,
    item   STRING,
    pieces BIGINT
) WITH (
    'connector' = 'kafka',
    'topic' = 'sales',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE best_sellers (
    shop   STRING,
    place  BIGINT,
    item   STRING,
    pieces BIGINT,
    PRIMARY KEY (shop, place) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'best_sellers',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO best_sellers
SELECT shop, place, item, pieces
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY pieces DESC, item) AS place
    FROM (SELECT shop, item, SUM(pieces) AS pieces FROM sales GROUP BY shop, item)
)
WHERE place <= 3;
