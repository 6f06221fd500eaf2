-- Rows within an interval of each other.
CREATE TABLE interval_inner (order_id INT, payment INT, placed TIMESTAMP(3), paid TIMESTAMP(3)) WITH ({append}, {out});
INSERT INTO interval_inner
SELECT o.id, p.id, o.placed, CAST(p.paid AS TIMESTAMP(3)) FROM orders AS o, payments AS p
WHERE o.id = p.order_id AND p.paid BETWEEN o.placed AND o.placed + INTERVAL '3' MINUTE;
