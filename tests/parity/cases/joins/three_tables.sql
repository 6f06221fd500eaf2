-- Three tables, two kinds of join.
CREATE TABLE three_tables (
    order_id INT, account INT, name STRING, kind STRING, item STRING, PRIMARY KEY (order_id, account) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO three_tables
SELECT o.id, COALESCE(a.id, 0), c.name, a.kind, o.item
FROM orders AS o JOIN customers AS c ON o.customer = c.id LEFT JOIN accounts AS a ON a.customer = c.id AND a.balance > 5;
