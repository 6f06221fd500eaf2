-- COLLECT counts how often each value is there.
CREATE TABLE collects (customer INT, kinds MULTISET<STRING>, n BIGINT, PRIMARY KEY (customer) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO collects
SELECT COALESCE(customer, 0), COLLECT(kind), COUNT(*) FROM accounts WHERE kind IS NOT NULL GROUP BY customer;
