-- Clicks per minute. A window that is closed does not change any more, so an append table takes its row.
--   rowkind run per_minute.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE clicks (
    item    STRING,
    clicked TIMESTAMP(3),
    WATERMARK FOR clicked AS clicked - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'item_clicks',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE clicks_per_minute (
    window_start TIMESTAMP(3),
    item         STRING,
    clicks       BIGINT
) WITH (
    'connector' = 'kafka',
    'topic' = 'clicks_per_minute',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'format' = 'json'
);

INSERT INTO clicks_per_minute
SELECT window_start, item, COUNT(*)
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(clicked), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;
