-- The older form: SESSION in GROUP BY.
CREATE TABLE group_session (s TIMESTAMP(3), e TIMESTAMP(3), customer INT, n BIGINT) WITH ({append}, {out});
INSERT INTO group_session
SELECT SESSION_START(placed, INTERVAL '3' MINUTE), SESSION_END(placed, INTERVAL '3' MINUTE), customer, COUNT(*)
FROM orders GROUP BY SESSION(placed, INTERVAL '3' MINUTE), customer;
