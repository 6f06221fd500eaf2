-- Several DISTINCT aggregates over different columns in one query.
CREATE TABLE distincts (
    kind STRING, customers BIGINT, balances BIGINT, total INT, average INT, credits DECIMAL(38, 2), pairs BIGINT,
    PRIMARY KEY (kind) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO distincts
SELECT COALESCE(kind, '-'), COUNT(DISTINCT customer), COUNT(DISTINCT balance), SUM(DISTINCT balance),
    AVG(DISTINCT balance), SUM(DISTINCT credit), COUNT(DISTINCT customer * 1000 + balance)
FROM accounts GROUP BY kind;
