-- The last row of a key by event time.
CREATE TABLE keep_last (item STRING, id INT, placed TIMESTAMP(3), PRIMARY KEY (item) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO keep_last
SELECT COALESCE(item, '-'), id, placed FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY placed DESC) AS rn FROM orders
) WHERE rn = 1;
