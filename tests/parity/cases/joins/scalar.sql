-- A scalar subquery over rows that only come: on an updating left side Flink 2.2.1 keeps rows that no longer belong there.
CREATE TABLE scalar (customer INT, n BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO scalar
SELECT customer, COUNT(*) FROM orders WHERE quantity > (SELECT AVG(level) FROM customers)
AND customer IS NOT NULL GROUP BY customer;
