-- INTERSECT, where NULL equals NULL.
CREATE TABLE intersect_ (v STRING, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO intersect_
SELECT COALESCE(CAST(v AS STRING), 'null') FROM (SELECT customer AS v FROM accounts INTERSECT SELECT level FROM customers);
