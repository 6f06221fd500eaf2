-- An aggregate of aggregates: how many kinds have so many accounts.
CREATE TABLE two_levels (n BIGINT, kinds BIGINT, most INT, PRIMARY KEY (n) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO two_levels
SELECT n, COUNT(*), MAX(total) FROM (SELECT kind, COUNT(*) AS n, SUM(balance) AS total FROM accounts GROUP BY kind) GROUP BY n;
