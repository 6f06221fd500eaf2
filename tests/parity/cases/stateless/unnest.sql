-- One row for each member of an array; none for an empty one and for NULL.
CREATE TABLE `unnest` (id INT, tag STRING) WITH ({append}, {out});
INSERT INTO `unnest` SELECT o.id, t.tag FROM orders AS o CROSS JOIN UNNEST(o.tags) AS t (tag);
