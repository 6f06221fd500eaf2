-- EXISTS with a condition on both sides.
CREATE TABLE exists_ (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO exists_
SELECT id, name FROM customers AS c WHERE EXISTS (SELECT 1 FROM accounts AS a WHERE a.customer = c.id AND a.balance > c.level);
