-- The sink's key is not the query's: a key goes only when all of its rows have gone.
CREATE TABLE other_key (customer INT, note STRING, PRIMARY KEY (customer) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO other_key SELECT customer, 'customer ' || CAST(customer AS STRING) FROM accounts WHERE customer IS NOT NULL;
