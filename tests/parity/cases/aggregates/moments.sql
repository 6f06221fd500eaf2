-- Deviations and variances of integers, doubles and decimals.
CREATE TABLE moments (
    kind STRING, pop INT, samp INT, vpop DOUBLE, vsamp DOUBLE, dpop DOUBLE, dsamp DOUBLE, cpop STRING,
    PRIMARY KEY (kind) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO moments
SELECT COALESCE(kind, '-'), STDDEV_POP(balance), STDDEV_SAMP(balance), ROUND(VAR_POP(rate), 6), ROUND(VAR_SAMP(rate), 6),
    ROUND(STDDEV_POP(rate), 6), ROUND(STDDEV(rate), 6), CAST(VAR_POP(credit) AS STRING)
FROM accounts GROUP BY kind;
