-- UNION ALL keeps duplicates.
CREATE TABLE union_all (id INT, amount DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO union_all SELECT id, price FROM orders UNION ALL SELECT order_id, amount FROM payments;
