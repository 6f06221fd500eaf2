-- LEFT JOIN UNNEST keeps rows whose array has no members.
CREATE TABLE unnest_left (id INT, tag STRING) WITH ({append}, {out});
INSERT INTO unnest_left SELECT o.id, t.tag FROM orders AS o LEFT JOIN UNNEST(o.tags) AS t (tag) ON TRUE;
