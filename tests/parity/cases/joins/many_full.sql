-- FULL JOIN on a key that is not unique.
CREATE TABLE many_full (customer INT, account INT, region STRING, kind STRING, PRIMARY KEY (customer, account) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO many_full
SELECT COALESCE(c.id, 0), COALESCE(a.id, 0), c.region, a.kind FROM customers AS c FULL JOIN accounts AS a ON c.level = a.customer;
