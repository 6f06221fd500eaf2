-- The version of a table at a row's time.
CREATE TABLE temporal_inner (id INT, currency STRING, amount DECIMAL(20, 2), valid TIMESTAMP(3)) WITH ({append}, {out});
INSERT INTO temporal_inner
SELECT t.id, t.currency, t.amount * r.rate, r.valid FROM trades AS t JOIN rates FOR SYSTEM_TIME AS OF t.`at` AS r ON t.currency = r.currency;
