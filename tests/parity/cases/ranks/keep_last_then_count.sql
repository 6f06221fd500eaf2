-- What was replaced is taken back from an aggregate behind a deduplication.
CREATE TABLE keep_last_then_count (item STRING, customers BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO keep_last_then_count
SELECT COALESCE(item, '-'), COUNT(*) FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY placed DESC) AS rn FROM orders
) WHERE rn = 1 GROUP BY item;
