-- SELECT DISTINCT of an append-only input, NULLs and duplicates in it.
CREATE TABLE distinct_appended (item STRING, customer INT, PRIMARY KEY (item, customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO distinct_appended SELECT DISTINCT COALESCE(item, '-'), COALESCE(customer, 0) FROM orders;
