-- GROUPING SETS with GROUPING and GROUPING_ID; NULL as a value is not NULL of a set.
CREATE TABLE grouping_sets (
    kind STRING, customer INT, id BIGINT, of_kind BIGINT, n BIGINT, total INT, PRIMARY KEY (kind, customer, id) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO grouping_sets
SELECT COALESCE(kind, '-'), COALESCE(customer, 0), GROUPING_ID(kind, customer), GROUPING(kind), COUNT(*), SUM(balance)
FROM accounts GROUP BY GROUPING SETS ((kind, customer), (kind), ());
