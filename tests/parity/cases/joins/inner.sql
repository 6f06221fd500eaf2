-- An append-only input with a table by key: rows come, change and go with the table.
CREATE TABLE `inner` (id INT, name STRING, item STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO `inner` SELECT o.id, c.name, o.item FROM orders AS o JOIN customers AS c ON o.customer = c.id;
