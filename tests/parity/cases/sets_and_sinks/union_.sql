-- UNION removes duplicates, over tables that change.
CREATE TABLE union_ (v INT, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO union_ SELECT customer FROM accounts WHERE customer IS NOT NULL UNION SELECT id FROM customers;
