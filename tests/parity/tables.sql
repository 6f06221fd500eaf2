-- The inputs, once for all cases. {append}, {upsert}, {once} and {rows} are filled in for each engine.

CREATE TABLE orders (
    id INT, customer INT, item STRING, quantity INT, price DECIMAL(10, 2), weight DOUBLE, tags ARRAY<STRING>,
    placed TIMESTAMP(3), WATERMARK FOR placed AS placed - INTERVAL '5' MINUTE
) WITH ({append}, {once}, 'topic' = 'parity-orders' {rows:23});

-- the same topic with what Kafka knows of a message, and computed columns
CREATE TABLE order_messages (
    id INT, quantity INT, price DECIMAL(10, 2),
    cost AS quantity * price,
    label AS CONCAT_WS('-', 'order', CAST(id AS STRING)),
    source_topic STRING METADATA FROM 'topic' VIRTUAL,
    source_partition INT METADATA FROM 'partition' VIRTUAL,
    `offset` BIGINT METADATA VIRTUAL,
    written TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
    `timestamp-type` STRING METADATA VIRTUAL,
    headers MAP<STRING, BYTES> METADATA
) WITH ({append}, {once}, 'topic' = 'parity-orders' {rows:23});

CREATE TABLE payments (
    id INT, order_id INT, amount DECIMAL(10, 2), paid TIMESTAMP(3),
    WATERMARK FOR paid AS paid - INTERVAL '10' MINUTE
) WITH ({append}, {once}, 'topic' = 'parity-payments' {rows:13});

CREATE TABLE customers (
    id INT, name STRING, region STRING, level INT, boss INT, PRIMARY KEY (id) NOT ENFORCED
) WITH ({upsert}, {ends}, 'topic' = 'parity-customers' {rows:17});

CREATE TABLE accounts (
    id INT, customer INT, kind STRING, balance INT, rate DOUBLE, credit DECIMAL(12, 2), PRIMARY KEY (id) NOT ENFORCED
) WITH ({upsert}, {ends}, 'topic' = 'parity-accounts' {rows:30});

-- a versioned table: the rate of a currency from a time on
CREATE TABLE rates (
    currency STRING, rate DECIMAL(10, 2), valid TIMESTAMP(3), PRIMARY KEY (currency) NOT ENFORCED,
    WATERMARK FOR valid AS valid - INTERVAL '30' MINUTE
) WITH ({upsert}, {ends}, 'topic' = 'parity-rates' {rows:5});

CREATE TABLE trades (
    id INT, currency STRING, amount INT, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at` - INTERVAL '30' MINUTE
) WITH ({append}, {once}, 'topic' = 'parity-trades' {rows:9});

-- some come late: the watermark moves with every row
CREATE TABLE clicks (
    id INT, visitor STRING, page STRING, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND
) WITH ({append}, {once}, 'topic' = 'parity-clicks', 'scan.watermark.emit.strategy' = 'on-event' {rows:10});

CREATE TABLE stock (
    id INT, item STRING, place STRING, amount INT
) WITH ('connector' = 'kafka', {servers}, {once}, 'topic' = 'parity-stock', 'format' = 'debezium-json' {rows:8});
