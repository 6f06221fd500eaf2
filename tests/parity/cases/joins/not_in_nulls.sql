-- NOT IN over values that may be NULL: one NULL and nothing is surely not in.
CREATE TABLE not_in_nulls (id INT, customer INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO not_in_nulls SELECT id, customer FROM accounts WHERE customer NOT IN (SELECT level FROM customers WHERE region IS NULL);
