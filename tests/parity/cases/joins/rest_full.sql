-- FULL JOIN with more than equality in its condition.
CREATE TABLE rest_full (customer INT, account INT, level INT, rate DOUBLE, PRIMARY KEY (customer, account) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO rest_full
SELECT COALESCE(c.id, 0), COALESCE(a.id, 0), c.level, a.rate
FROM customers AS c FULL JOIN accounts AS a ON c.id = a.customer AND c.level > a.rate;
