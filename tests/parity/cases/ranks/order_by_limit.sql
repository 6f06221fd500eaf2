-- ORDER BY with LIMIT over the whole table. With OFFSET Flink 2.2.1 leaves rows in an upsert sink that have fallen out.
CREATE TABLE order_by_limit (id INT, balance INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO order_by_limit SELECT id, balance FROM accounts ORDER BY balance DESC, id LIMIT 4;
