-- Changes of a database table, as Debezium writes them, counted per city.
--   rowkind run cdc_to_upsert.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE people (
    id   BIGINT,
    name STRING,
    city STRING
) WITH (
    'connector' = 'kafka',
    'topic' = 'people_changes',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);

CREATE TABLE people_per_city (
    city   STRING,
    people BIGINT,
    PRIMARY KEY (city) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'people_per_city',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO people_per_city
SELECT city, COUNT(*)
FROM people
GROUP BY city;
