-- LEFT JOIN by the primary keys of both sides.
CREATE TABLE unique_left (id INT, name STRING, level INT, boss STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO unique_left
SELECT c.id, c.name, c.level, b.name FROM customers AS c LEFT JOIN customers AS b ON c.boss = b.id;
