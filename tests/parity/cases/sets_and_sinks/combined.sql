-- Sets of sets, with parentheses.
CREATE TABLE combined (v INT, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO combined
(SELECT id FROM customers UNION SELECT customer FROM orders WHERE customer IS NOT NULL) EXCEPT (SELECT customer FROM accounts WHERE kind = 'card' INTERSECT SELECT id FROM customers);
