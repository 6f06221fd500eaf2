-- Top-N of an aggregate: ranks move as counts change.
CREATE TABLE top_of_aggregate (rn BIGINT, item STRING, n BIGINT, PRIMARY KEY (rn) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO top_of_aggregate
SELECT rn, item, n FROM (
    SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, item) AS rn FROM (SELECT item, COUNT(*) AS n FROM orders GROUP BY item)
) WHERE rn <= 3;
