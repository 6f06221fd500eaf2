-- ROLLUP with a DISTINCT aggregate.
CREATE TABLE `rollup` (kind STRING, customer INT, id BIGINT, balances BIGINT, PRIMARY KEY (kind, customer, id) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO `rollup`
SELECT COALESCE(kind, '-'), COALESCE(customer, 0), GROUPING_ID(kind, customer), COUNT(DISTINCT balance)
FROM accounts GROUP BY ROLLUP (kind, customer);
