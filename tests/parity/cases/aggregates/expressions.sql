-- GROUP BY expressions, and expressions over aggregates.
CREATE TABLE expressions (tens INT, is_card BOOLEAN, n STRING, spread INT, PRIMARY KEY (tens, is_card) NOT ENFORCED)
WITH ({upsert}, {out});
INSERT INTO expressions
SELECT balance / 10, kind IS NOT DISTINCT FROM 'card', 'n=' || CAST(COUNT(*) AS STRING), MAX(balance) - MIN(balance)
FROM accounts WHERE balance IS NOT NULL GROUP BY balance / 10, kind IS NOT DISTINCT FROM 'card';
