-- A scalar subquery that depends on the outer row.
CREATE TABLE correlated (id INT, name STRING, highest INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO correlated
SELECT c.id, c.name, (SELECT MAX(a.balance) FROM accounts AS a WHERE a.customer = c.id) FROM customers AS c;
