-- NOT IN over values that are never NULL; NULL itself is not in anything but nothing.
-- The rows on the left only come: on an updating left side Flink 2.2.1 keeps rows that no longer belong there.
CREATE TABLE not_in (customer INT, n BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO not_in
SELECT customer, COUNT(*) FROM orders WHERE customer NOT IN (SELECT id FROM customers WHERE level > 1)
AND customer IS NOT NULL GROUP BY customer;
