-- INTERSECT ALL: as often as on both sides.
CREATE TABLE intersect_all (v STRING, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO intersect_all
SELECT COALESCE(v, 'null'), COUNT(*) FROM (SELECT kind AS v FROM accounts INTERSECT ALL SELECT CASE region WHEN 'north' THEN 'cash' WHEN 'south' THEN 'card' END FROM customers) GROUP BY v;
