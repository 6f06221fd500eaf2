-- MIN and MAX of text, times, decimals and booleans when their holders go.
CREATE TABLE extremes (
    customer INT, first_kind STRING, last_kind STRING, least DECIMAL(12, 2), most DECIMAL(12, 2), low DOUBLE, high DOUBLE,
    PRIMARY KEY (customer) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO extremes
SELECT COALESCE(customer, 0), MIN(kind), MAX(kind), MIN(credit), MAX(credit), MIN(rate), MAX(rate)
FROM accounts GROUP BY customer;
