-- NOT EXISTS: rows come back when what was there is deleted.
CREATE TABLE not_exists (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO not_exists
SELECT id, name FROM customers AS c WHERE NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.customer = c.id AND a.kind = 'cash');
