-- A window over a table that changes: only what is there when it closes counts.
CREATE TABLE changing_window (s TIMESTAMP(3), n BIGINT, total DECIMAL(38, 2)) WITH ({append}, {out});
INSERT INTO changing_window
SELECT window_start, COUNT(*), SUM(rate)
FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(valid), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
