-- An append-only query into a table by key: the last message of a key stays. All rows of an id are alike.
CREATE TABLE append_to_upsert (id INT, item STRING, price DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO append_to_upsert SELECT id, item, price FROM orders;
