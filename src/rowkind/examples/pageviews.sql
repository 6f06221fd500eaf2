-- Page views and visitors per region, kept up to date in a compacted topic.
--   rowkind run pageviews.sql --var brokers=HOST:PORT

CREATE TABLE pageviews (
    user_id     BIGINT,
    page_id     BIGINT,
    viewtime    TIMESTAMP(3),
    user_region STRING,
    WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'pageviews',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE pageviews_per_region (
    user_region STRING,
    pv BIGINT,
    uv BIGINT,
    PRIMARY KEY (user_region) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'pageviews_per_region',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO pageviews_per_region
SELECT user_region, COUNT(*) AS pv, COUNT(DISTINCT user_id) AS uv
FROM pageviews
GROUP BY user_region;
