-- LEFT JOIN with more than equality in its condition.
CREATE TABLE rest_left (customer INT, account INT, level INT, balance INT, PRIMARY KEY (customer, account) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO rest_left
SELECT c.id, COALESCE(a.id, 0), c.level, a.balance
FROM customers AS c LEFT JOIN accounts AS a ON c.id = a.customer AND a.balance > c.level AND c.region <> 'west';
