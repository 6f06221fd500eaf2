-- Arithmetic, CASE, text and logic on nullable columns.
CREATE TABLE projection (
    id INT, doubled INT, halved INT, rest INT, cost DECIMAL(20, 2), heavy DOUBLE, size STRING, item STRING,
    either STRING, is_pen BOOLEAN, maybe BOOLEAN
) WITH ({append}, {out});
INSERT INTO projection
SELECT id, quantity * 2, quantity / 2, MOD(quantity, 4), price * quantity, weight * 1.5E0,
    CASE WHEN quantity > 5 THEN 'large' WHEN quantity > 2 THEN 'middle' WHEN quantity IS NULL THEN 'none' ELSE 'small' END,
    UPPER(item), COALESCE(item, CAST(customer AS STRING), 'nothing'), item = 'pen', quantity > 3 AND item <> 'ink'
FROM orders;
