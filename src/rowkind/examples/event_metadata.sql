-- The time of a message, its partition and its offset as columns, and event time made of the first.
--   rowkind run event_metadata.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE clicks (
    user_id     BIGINT,
    item        STRING,
    event_ts    TIMESTAMP(3) METADATA FROM 'timestamp',
    `partition` BIGINT METADATA VIRTUAL,
    `offset`    BIGINT METADATA VIRTUAL,
    proctime    AS PROCTIME(),
    WATERMARK FOR event_ts AS event_ts - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'clicks',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'properties.group.id' = 'click-report',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE click_report (
    user_id  BIGINT,
    item     STRING,
    event_ts TIMESTAMP(3),
    place    STRING,
    seen     BOOLEAN
) WITH (
    'connector' = 'kafka',
    'topic' = 'click_report',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'format' = 'json'
);

INSERT INTO click_report
SELECT user_id, item, event_ts, CAST(`partition` AS STRING) || ':' || CAST(`offset` AS STRING), proctime >= event_ts
FROM clicks;
