-- Totals per customer in a compacted topic, compressed, for any consumer that reads the latest value of a key.
--   rowkind run compacted_changelog.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE orders (
    order_id BIGINT,
    customer STRING,
    amount   DECIMAL(10, 2),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'orders_by_id',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'key.format' = 'json',
    'value.format' = 'json'
);

CREATE TABLE customer_totals (
    customer STRING,
    orders   BIGINT,
    total    DECIMAL(38, 2),
    PRIMARY KEY (customer) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'customer_totals',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'properties.compression.type' = 'lz4',
    'sink.topic.partitions' = '2',
    'sink.topic.config.min.cleanable.dirty.ratio' = '0.1',
    'sink.topic.config.delete.retention.ms' = '604800000',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO customer_totals
SELECT customer, COUNT(*), SUM(amount)
FROM orders
GROUP BY customer;
