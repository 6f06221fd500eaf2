-- Rows, maps and arrays in the result, and members taken out of them.
CREATE TABLE nested (
    id INT, pair ROW<item STRING, quantity INT>, prices MAP<STRING, DECIMAL(10, 2)>, tags ARRAY<STRING>, n INT,
    first_tag STRING, has_new BOOLEAN, joined STRING, item STRING
) WITH ({append}, {out});
INSERT INTO nested
SELECT id, ROW(item, quantity), MAP['net', price, 'gross', CAST(price * 2 AS DECIMAL(10, 2))], tags, CARDINALITY(tags),
    tags[1], ARRAY_CONTAINS(tags, 'new'), ARRAY_JOIN(tags, '+', '?'), CAST(ROW(item, quantity) AS ROW<a STRING, b INT>).a
FROM orders;
