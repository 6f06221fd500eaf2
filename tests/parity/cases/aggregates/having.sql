-- HAVING: groups come and go.
CREATE TABLE `having` (kind STRING, n BIGINT, total INT, PRIMARY KEY (kind) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO `having`
SELECT COALESCE(kind, '-'), COUNT(*), SUM(balance) FROM accounts GROUP BY kind HAVING SUM(balance) > 20 AND COUNT(*) < 6;
