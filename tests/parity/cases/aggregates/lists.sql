-- LISTAGG and ARRAY_AGG in the order of arrival, from one partition.
CREATE TABLE lists (
    visitor STRING, pages STRING, dashed STRING, once STRING, ids ARRAY<INT>, page_array ARRAY<STRING>,
    PRIMARY KEY (visitor) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO lists
SELECT COALESCE(visitor, '-'), LISTAGG(page), LISTAGG(page, ' - '), LISTAGG(DISTINCT page), ARRAY_AGG(id), ARRAY_AGG(page)
FROM clicks GROUP BY visitor;
