-- EXCEPT, where NULL equals NULL.
CREATE TABLE except_ (v STRING, PRIMARY KEY (v) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO except_
SELECT COALESCE(CAST(v AS STRING), 'null') FROM (SELECT customer AS v FROM orders EXCEPT SELECT level FROM customers);
