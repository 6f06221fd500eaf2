-- Top-N without the rank, ties broken by id; NULLs order low.
CREATE TABLE top_two (id INT, kind STRING, balance INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO top_two
SELECT id, kind, balance FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY balance DESC, id) AS rn FROM accounts
) WHERE rn <= 2;
