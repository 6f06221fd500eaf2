-- A join, then an aggregate.
CREATE TABLE aggregated (region STRING, accounts BIGINT, total INT, customers BIGINT, PRIMARY KEY (region) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO aggregated
SELECT COALESCE(c.region, '-'), COUNT(a.id), SUM(a.balance), COUNT(DISTINCT c.id)
FROM customers AS c LEFT JOIN accounts AS a ON c.id = a.customer GROUP BY c.region;
