-- Updates and deletes pass through.
CREATE TABLE upsert_copy (
    id INT, customer INT, kind STRING, balance INT, rate DOUBLE, credit DECIMAL(12, 2), PRIMARY KEY (id) NOT ENFORCED
) WITH ({upsert}, {out});
INSERT INTO upsert_copy SELECT * FROM accounts;
