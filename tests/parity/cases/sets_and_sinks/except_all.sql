-- EXCEPT ALL: as often as it is left over.
CREATE TABLE except_all (v STRING, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO except_all
SELECT COALESCE(v, 'null'), COUNT(*) FROM (SELECT kind AS v FROM accounts EXCEPT ALL SELECT CASE region WHEN 'north' THEN 'cash' WHEN 'south' THEN 'card' END FROM customers) GROUP BY v;
