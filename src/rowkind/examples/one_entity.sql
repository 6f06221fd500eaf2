-- Two topics that know a user by the same id become one event per user: profile changes, and totals of orders.
--   rowkind run one_entity.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE profiles (
    user_id BIGINT,
    name    STRING,
    city    STRING,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'profiles',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

CREATE TABLE purchases (
    user_id BIGINT,
    amount  DECIMAL(10, 2)
) WITH (
    'connector' = 'kafka',
    'topic' = 'purchases',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE user_events (
    user_id   BIGINT,
    name      STRING,
    city      STRING,
    purchases BIGINT,
    spent     DECIMAL(38, 2),
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_events',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO user_events
SELECT p.user_id, p.name, p.city, COALESCE(t.purchases, 0), COALESCE(t.spent, 0)
FROM profiles AS p
LEFT JOIN (
    SELECT user_id, COUNT(*) AS purchases, SUM(amount) AS spent
    FROM purchases
    GROUP BY user_id
) AS t ON p.user_id = t.user_id;
