-- Avro messages without a registry, from now on, with a group that shows how far the job is.
--   rowkind run avro_source.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE readings (
    device  BIGINT NOT NULL,
    celsius DOUBLE
) WITH (
    'connector' = 'kafka',
    'topic' = 'readings',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'properties.group.id' = 'heat-watch',
    'scan.startup.mode' = 'latest-offset',
    'format' = 'avro'
);

CREATE TABLE hot (
    device  BIGINT,
    celsius DOUBLE
) WITH (
    'connector' = 'kafka',
    'topic' = 'hot_readings',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'format' = 'json'
);

INSERT INTO hot
SELECT device, celsius
FROM readings
WHERE celsius > 40;
