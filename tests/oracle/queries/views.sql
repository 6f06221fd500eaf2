-- Views that queries of the corpus stand on, and views on views; DuckDB has them, too.
CREATE VIEW per_k AS SELECT k, COUNT(*) AS n, SUM(v) AS total FROM a GROUP BY k;
CREATE VIEW large_k AS SELECT k, total FROM per_k WHERE n > 2;
CREATE VIEW pairs AS SELECT a.id AS a_id, b.id AS b_id, a.k AS k, a.v AS v, b.w AS w FROM a JOIN b ON a.k = b.k;
