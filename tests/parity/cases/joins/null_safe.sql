-- IS NOT DISTINCT FROM as the join condition: NULL meets NULL.
CREATE TABLE null_safe (customer INT, account INT, kind STRING, PRIMARY KEY (customer, account) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO null_safe
SELECT c.id, a.id, a.kind FROM customers AS c JOIN accounts AS a ON c.level IS NOT DISTINCT FROM a.customer;
