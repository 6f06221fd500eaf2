-- Aggregates without GROUP BY over a table whose rows have all been deleted.
-- differs: SQL gives one row even for no rows, as batch queries do; Flink deletes it when the last row goes.
-- rowkind: {"k": 1, "n": 0, "total": null}
CREATE TABLE emptied_table (k INT, n BIGINT, total DECIMAL(38, 2), PRIMARY KEY (k) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO emptied_table SELECT 1, COUNT(*), SUM(rate) FROM rates WHERE currency = 'YEN';
