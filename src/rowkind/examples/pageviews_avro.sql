-- Page views and visitors per region, as avro: nothing says where to start, so only views from now on count.
--   rowkind run pageviews_avro.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE pageviews (
    user_id     BIGINT,
    page_id     BIGINT,
    viewtime    TIMESTAMP,
    user_region STRING,
    WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'pageviews',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'format' = 'json'
);

CREATE TABLE pageviews_per_region (
    user_region STRING,
    pv BIGINT,
    uv BIGINT,
    PRIMARY KEY (user_region) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'pageviews_per_region_avro',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'avro',
    'value.format' = 'avro'
);

INSERT INTO pageviews_per_region
SELECT user_region, COUNT(*), COUNT(DISTINCT user_id)
FROM pageviews
GROUP BY user_region;
