-- FILTER on plain and DISTINCT aggregates.
CREATE TABLE filters (
    kind STRING, rich BIGINT, total INT, customers BIGINT, lowest DOUBLE, nothing INT, PRIMARY KEY (kind) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO filters
SELECT COALESCE(kind, '-'), COUNT(*) FILTER (WHERE balance > 5), SUM(balance) FILTER (WHERE customer IS NOT NULL),
    COUNT(DISTINCT customer) FILTER (WHERE balance < 50), MIN(rate) FILTER (WHERE rate > 1), SUM(balance) FILTER (WHERE FALSE)
FROM accounts GROUP BY kind;
