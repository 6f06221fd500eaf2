-- The first and only row of each key and window.
CREATE TABLE window_first (s TIMESTAMP(3), item STRING, id INT, placed TIMESTAMP(3)) WITH ({append}, {out});
INSERT INTO window_first
SELECT window_start, item, id, placed FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY placed) AS rn
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '10' MINUTE))
) WHERE rn = 1;
