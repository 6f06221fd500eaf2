-- Two INSERTs into one table, VALUES in the second, fewer columns than the table has.
CREATE TABLE two_inserts (id INT, item STRING, note STRING) WITH ({append}, {out});
INSERT INTO two_inserts (item, id) SELECT item, id FROM orders WHERE quantity IS NULL;
INSERT INTO two_inserts VALUES (1000, 'a', 'first'), (1001, CAST(NULL AS STRING), 'it''s');
