-- Aggregates without GROUP BY over nothing at all.
-- differs: SQL gives one row even for no rows, as batch queries do; Flink writes none before the first row comes.
-- rowkind: {"k": 1, "n": 0}
CREATE TABLE never_filled_table (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO never_filled_table SELECT 1, COUNT(*) FROM orders WHERE id < 0;
