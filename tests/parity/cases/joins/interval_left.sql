-- LEFT JOIN within an interval: unmatched rows once time has passed.
CREATE TABLE interval_left (order_id INT, payment INT, amount DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO interval_left
SELECT o.id, p.id, p.amount FROM orders AS o LEFT JOIN payments AS p
ON o.id = p.order_id AND p.paid > o.placed - INTERVAL '10' SECOND AND p.paid <= o.placed + INTERVAL '90' SECOND;
