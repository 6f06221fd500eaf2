-- Top-N over changes of another database.
CREATE TABLE changes_top (place STRING, rn BIGINT, item STRING, amount INT, PRIMARY KEY (place, rn) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO changes_top
SELECT place, rn, item, amount FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY place ORDER BY amount DESC, id) AS rn FROM stock WHERE place IS NOT NULL
) WHERE rn <= 2;
