-- IN over a table that changes.
CREATE TABLE in_ (id INT, kind STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO in_ SELECT id, kind FROM accounts WHERE customer IN (SELECT id FROM customers WHERE level > 1);
