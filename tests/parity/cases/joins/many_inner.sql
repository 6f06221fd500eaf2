-- Several rows on both sides of a key that is not unique, NULL among them.
CREATE TABLE many_inner (x INT, y INT, kind STRING, PRIMARY KEY (x, y) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO many_inner SELECT l.id, r.id, l.kind FROM accounts AS l JOIN accounts AS r ON l.kind = r.kind;
