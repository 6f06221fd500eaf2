-- FIRST_VALUE and LAST_VALUE in the order of arrival; NULL is passed over.
CREATE TABLE first_last (
    visitor STRING, first_page STRING, last_page STRING, first_id INT, last_id INT, PRIMARY KEY (visitor) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO first_last
SELECT COALESCE(visitor, '-'), FIRST_VALUE(page), LAST_VALUE(page), FIRST_VALUE(id), LAST_VALUE(id)
FROM clicks GROUP BY visitor;
