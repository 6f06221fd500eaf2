-- A filter over events gives events again: an append table takes them.
--   rowkind run filter_orders.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE orders (
    order_id   BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3)
) WITH (
    'connector' = 'kafka',
    'topic' = 'orders',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE paid_orders (
    order_id   BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3)
) WITH (
    'connector' = 'kafka',
    'topic' = 'paid_orders',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'format' = 'json'
);

INSERT INTO paid_orders
SELECT order_id, amount, order_time
FROM orders
WHERE amount > 0;
