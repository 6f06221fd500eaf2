-- AVG and SUM have the type of their argument; decimals get more digits.
CREATE TABLE averages (
    kind STRING, tiny TINYINT, small SMALLINT, big BIGINT, decimal_ STRING, double_ DOUBLE, float_ FLOAT,
    decimal_sum STRING, double_sum DOUBLE, narrow STRING, PRIMARY KEY (kind) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO averages
SELECT COALESCE(kind, '-'), AVG(CAST(balance AS TINYINT)), AVG(CAST(balance AS SMALLINT)), AVG(CAST(balance AS BIGINT) * 3),
    CAST(AVG(credit) AS STRING), AVG(rate), AVG(CAST(rate AS FLOAT)), CAST(SUM(credit) AS STRING), SUM(rate),
    CAST(AVG(CAST(credit AS DECIMAL(6, 1))) AS STRING)
FROM accounts GROUP BY kind;
