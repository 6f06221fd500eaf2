-- Three-valued logic in WHERE.
CREATE TABLE conditions (id INT, item STRING, quantity INT) WITH ({append}, {out});
INSERT INTO conditions
SELECT id, item, quantity FROM orders
WHERE NOT (quantity > 3 AND item = 'pen') AND (item IN ('pen', 'ink') OR customer BETWEEN 2 AND 5 OR item LIKE '_u%');
