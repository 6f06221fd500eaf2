-- A table with itself: who is above whom.
CREATE TABLE self_join (id INT, above INT, name STRING, boss STRING, PRIMARY KEY (id, above) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO self_join
SELECT l.id, r.id, l.name, r.name FROM customers AS l, customers AS r WHERE l.region = r.region AND l.level < r.level;
