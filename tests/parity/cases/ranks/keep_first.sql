-- The first row of a key by event time.
CREATE TABLE keep_first (customer INT, id INT, placed TIMESTAMP(3), PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO keep_first
SELECT COALESCE(customer, 0), id, placed FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY placed) AS rn FROM orders
) WHERE rn = 1;
