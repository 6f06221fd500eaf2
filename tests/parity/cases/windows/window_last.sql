-- The last row of each key and window.
CREATE TABLE window_last (s TIMESTAMP(3), customer INT, id INT, placed TIMESTAMP(3)) WITH ({append}, {out});
INSERT INTO window_last
SELECT window_start, customer, id, placed FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, customer ORDER BY placed DESC) AS rn
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '15' MINUTE))
) WHERE rn = 1;
