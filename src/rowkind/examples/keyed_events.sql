-- The message's key as a column of a table of events: read from the key, written into the key, not in the value.
--   rowkind run keyed_events.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE actions (
    user_id BIGINT,
    action  STRING
) WITH (
    'connector' = 'kafka',
    'topic' = 'actions',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'key.format' = 'json',
    'key.fields' = 'user_id',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);

CREATE TABLE logins (
    user_id BIGINT,
    action  STRING
) WITH (
    'connector' = 'kafka',
    'topic' = 'logins',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'key.fields' = 'user_id',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);

INSERT INTO logins
SELECT user_id, action
FROM actions
WHERE action = 'login';
