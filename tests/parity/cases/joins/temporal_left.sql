-- LEFT JOIN with the version at a row's time: before the first, after a deletion, for unknown and NULL keys.
CREATE TABLE temporal_left (id INT, currency STRING, rate DECIMAL(10, 2)) WITH ({append}, {out});
INSERT INTO temporal_left
SELECT t.id, t.currency, r.rate FROM trades AS t LEFT JOIN rates FOR SYSTEM_TIME AS OF t.`at` AS r ON t.currency = r.currency AND r.rate > 1;
