-- A row that no longer passes is deleted.
CREATE TABLE upsert_filter (id INT, doubled INT, kind STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO upsert_filter SELECT id, balance * 2, LOWER(kind) FROM accounts WHERE balance > 5;
