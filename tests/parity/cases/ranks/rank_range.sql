-- Only some of the ranks: the second and the third.
CREATE TABLE rank_range (item STRING, rn BIGINT, id INT, PRIMARY KEY (item, rn) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO rank_range
SELECT item, rn, id FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC, id) AS rn FROM orders WHERE item IS NOT NULL
) WHERE rn BETWEEN 2 AND 3;
