-- Two append-only inputs stay append-only; duplicates multiply.
CREATE TABLE inner_appended (order_id INT, payment INT, price DECIMAL(10, 2), amount DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO inner_appended SELECT o.id, p.id, o.price, p.amount FROM orders AS o JOIN payments AS p ON o.id = p.order_id;
