-- Aggregates of changes of another database (debezium-json).
CREATE TABLE changes (place STRING, n BIGINT, total INT, items BIGINT, PRIMARY KEY (place) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO changes
SELECT COALESCE(place, '-'), COUNT(*), SUM(amount), COUNT(DISTINCT item) FROM stock GROUP BY place;
