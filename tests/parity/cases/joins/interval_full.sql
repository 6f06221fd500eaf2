-- FULL JOIN within an interval, with a rest in the condition.
CREATE TABLE interval_full (order_id INT, payment INT, price DECIMAL(10, 2), amount DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO interval_full
SELECT o.id, p.id, o.price, p.amount FROM orders AS o FULL JOIN payments AS p
ON o.id = p.order_id AND p.paid BETWEEN o.placed - INTERVAL '1' MINUTE AND o.placed + INTERVAL '4' MINUTE AND p.amount >= o.price;
