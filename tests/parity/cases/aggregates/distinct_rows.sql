-- SELECT DISTINCT under updates and deletes.
CREATE TABLE distinct_rows (kind STRING, customer INT, PRIMARY KEY (kind, customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO distinct_rows SELECT DISTINCT kind, customer FROM accounts WHERE kind IS NOT NULL AND customer IS NOT NULL;
