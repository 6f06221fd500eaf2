-- COUNT, SUM, AVG, MIN and MAX of integers, with NULLs, under updates and deletes.
CREATE TABLE basic (
    kind STRING, n BIGINT, known BIGINT, total INT, average INT, lowest INT, highest INT, PRIMARY KEY (kind) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO basic
SELECT COALESCE(kind, '-'), COUNT(*), COUNT(balance), SUM(balance), AVG(balance), MIN(balance), MAX(balance)
FROM accounts GROUP BY kind;
