-- Top-N with the rank, ascending: NULLs first.
CREATE TABLE top_three_ranked (kind STRING, rn BIGINT, id INT, balance INT, PRIMARY KEY (kind, rn) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO top_three_ranked
SELECT COALESCE(kind, '-'), rn, id, balance FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY balance, id DESC) AS rn FROM accounts
) WHERE rn <= 3;
