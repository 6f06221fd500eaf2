-- FULL JOIN by the primary keys of both sides.
CREATE TABLE unique_full (id INT, name STRING, kind STRING, balance INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO unique_full
SELECT COALESCE(c.id, a.id - 100), c.name, a.kind, a.balance FROM customers AS c FULL JOIN accounts AS a ON c.id + 100 = a.id;
