-- Views on views, WITH, and subqueries in FROM.
CREATE TEMPORARY VIEW priced AS SELECT id, item, price * quantity AS cost FROM orders WHERE quantity IS NOT NULL;
CREATE TEMPORARY VIEW dear (order_id, what, cost) AS SELECT * FROM priced WHERE cost > 10;
CREATE TABLE views_on_views (id INT, what STRING, cost DECIMAL(20, 2), source STRING) WITH ({append}, {out});
INSERT INTO views_on_views
WITH cheap AS (SELECT id, item, cost FROM priced WHERE cost <= 2), both_ AS (SELECT *, 'dear' AS s FROM dear UNION ALL SELECT *, 'cheap' FROM cheap)
SELECT x.order_id, x.what, x.cost, x.s FROM (SELECT * FROM both_ WHERE what IS NOT NULL) AS x;
