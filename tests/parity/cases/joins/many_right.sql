-- RIGHT JOIN on a key that is not unique.
CREATE TABLE many_right (customer INT, account INT, name STRING, kind STRING, PRIMARY KEY (customer, account) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO many_right
SELECT COALESCE(c.id, 0), a.id, c.name, a.kind FROM customers AS c RIGHT JOIN accounts AS a ON c.id = a.customer;
