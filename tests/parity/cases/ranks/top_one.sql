-- Top-1 by a column that is no time.
CREATE TABLE top_one (customer INT, id INT, credit DECIMAL(12, 2), PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO top_one
SELECT COALESCE(customer, 0), id, credit FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY credit DESC, rate, id) AS rn FROM accounts
) WHERE rn = 1;
