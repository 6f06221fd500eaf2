-- Every payment once, also after a crash: for readers with isolation.level = read_committed.
--   rowkind run exactly_once.sql --var brokers=HOST:PORT --checkpoint DIR

CREATE TABLE payments (
    payment_id BIGINT,
    amount     DECIMAL(10, 2)
) WITH (
    'connector' = 'kafka',
    'topic' = 'payments',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE ledger (
    payment_id BIGINT,
    amount     DECIMAL(10, 2)
) WITH (
    'connector' = 'kafka',
    'topic' = 'ledger',
    'properties.bootstrap.servers' = '${brokers:-localhost:9092}',
    'sink.delivery-guarantee' = 'exactly-once',
    'sink.transactional-id-prefix' = '${prefix:-ledger-job}',
    'format' = 'json'
);

INSERT INTO ledger
SELECT payment_id, amount
FROM payments;
