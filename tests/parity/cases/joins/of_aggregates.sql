-- Two aggregates, then a join of them.
CREATE TABLE of_aggregates (customer INT, accounts BIGINT, orders BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO of_aggregates
SELECT COALESCE(a.customer, o.customer), a.n, o.n
FROM (SELECT customer, COUNT(*) AS n FROM accounts WHERE customer IS NOT NULL GROUP BY customer) AS a
FULL JOIN (SELECT customer, COUNT(*) AS n FROM orders WHERE customer IS NOT NULL GROUP BY customer) AS o
ON a.customer = o.customer;
