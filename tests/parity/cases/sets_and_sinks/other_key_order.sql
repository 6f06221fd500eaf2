-- The sink's key is not the query's: of the rows of a key the last one counts, and the one before when it goes.
CREATE TABLE other_key_order (dear BOOLEAN, currency STRING, rate DECIMAL(10, 2), PRIMARY KEY (dear) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO other_key_order SELECT rate > 1.11, currency, rate FROM rates;
