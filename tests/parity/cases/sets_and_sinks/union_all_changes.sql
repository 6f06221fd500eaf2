-- UNION ALL of tables that change, then an aggregate.
CREATE TABLE union_all_changes (v INT, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO union_all_changes
SELECT COALESCE(v, 0), COUNT(*) FROM (SELECT customer AS v FROM accounts UNION ALL SELECT level FROM customers UNION ALL SELECT customer FROM orders) GROUP BY v;
