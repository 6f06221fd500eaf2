-- HOP: a row is in several windows.
CREATE TABLE hop (s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, items BIGINT, low DOUBLE) WITH ({append}, {out});
INSERT INTO hop
SELECT window_start, window_end, COUNT(*), COUNT(DISTINCT item), MIN(weight)
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(placed), INTERVAL '4' MINUTE, INTERVAL '12' MINUTE)) GROUP BY window_start, window_end;
