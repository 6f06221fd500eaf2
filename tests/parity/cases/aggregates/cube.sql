-- CUBE over an append-only input.
CREATE TABLE `cube` (item STRING, customer INT, id BIGINT, n BIGINT, quantity INT, PRIMARY KEY (item, customer, id) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO `cube`
SELECT COALESCE(item, '-'), COALESCE(customer, 0), GROUPING_ID(item, customer), COUNT(*), SUM(quantity)
FROM orders GROUP BY CUBE (item, customer);
