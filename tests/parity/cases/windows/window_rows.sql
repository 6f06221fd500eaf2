-- The windows of a row, without an aggregate.
CREATE TABLE window_rows (id INT, s TIMESTAMP(3), e TIMESTAMP(3), t TIMESTAMP(3)) WITH ({append}, {out});
INSERT INTO window_rows
SELECT id, window_start, window_end, window_time FROM TABLE(HOP(TABLE trades, DESCRIPTOR(`at`), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE));
