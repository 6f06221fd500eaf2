-- The latest price of each item out of a log of prices.
--   rowkind run latest_per_key.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE price_log (
    item  STRING,
    price DECIMAL(10, 2),
    since TIMESTAMP(3),
    WATERMARK FOR since AS since
) WITH (
    'connector' = 'kafka',
    'topic' = 'price_log',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE prices (
    item  STRING,
    price DECIMAL(10, 2),
    since TIMESTAMP(3),
    PRIMARY KEY (item) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'prices',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO prices
SELECT item, price, since
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY since DESC) AS row_num
    FROM price_log
)
WHERE row_num = 1;
