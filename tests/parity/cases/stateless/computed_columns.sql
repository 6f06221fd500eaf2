-- Computed columns, in the list and in the condition.
CREATE TABLE computed_columns (label STRING, cost DECIMAL(20, 2), double_cost DECIMAL(21, 2)) WITH ({append}, {out});
INSERT INTO computed_columns SELECT label, cost, cost + cost FROM order_messages WHERE cost > 5 OR cost IS NULL;
