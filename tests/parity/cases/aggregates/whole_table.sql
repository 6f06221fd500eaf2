-- Aggregates without GROUP BY.
CREATE TABLE whole_table (
    k INT, n BIGINT, total INT, customers BIGINT, highest DOUBLE, PRIMARY KEY (k) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO whole_table SELECT 1, COUNT(*), SUM(balance), COUNT(DISTINCT customer), MAX(rate) FROM accounts;
