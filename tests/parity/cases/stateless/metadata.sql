-- What Kafka knows of a message: topic, partition, offset, time, headers.
CREATE TABLE metadata (
    id INT, source_topic STRING, source_partition INT, `offset` BIGINT, written TIMESTAMP_LTZ(3), kind STRING,
    origin STRING, n INT
) WITH ({append}, {out});
INSERT INTO metadata
SELECT id, source_topic, source_partition, `offset`, written, `timestamp-type`, CAST(headers['origin'] AS STRING),
    CARDINALITY(headers)
FROM order_messages;
