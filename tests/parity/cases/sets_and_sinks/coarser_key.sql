-- The sink's key is part of the query's, and only one row of each is there.
CREATE TABLE coarser_key (kind STRING, customer INT, n BIGINT, PRIMARY KEY (kind) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO coarser_key
SELECT kind, customer, COUNT(*) FROM accounts WHERE customer = 5 AND kind IS NOT NULL GROUP BY kind, customer;
