-- Views and visitors of an append-only input.
CREATE TABLE pv_uv (item STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO pv_uv SELECT COALESCE(item, '-'), COUNT(*), COUNT(DISTINCT customer) FROM orders GROUP BY item;
