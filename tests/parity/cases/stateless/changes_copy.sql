-- A table from changes of another database (debezium-json), kept by key.
CREATE TABLE changes_copy (id INT, item STRING, place STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO changes_copy SELECT id, item, place, amount FROM stock;
