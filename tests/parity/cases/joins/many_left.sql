-- LEFT JOIN on a key that is not unique: padded rows come and go.
CREATE TABLE many_left (customer INT, account INT, name STRING, balance INT, PRIMARY KEY (customer, account) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO many_left
SELECT c.id, COALESCE(a.id, 0), c.name, a.balance FROM customers AS c LEFT JOIN accounts AS a ON c.id = a.customer;
