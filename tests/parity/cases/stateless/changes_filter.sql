-- Changes that cross the condition become inserts and deletes.
CREATE TABLE changes_filter (id INT, what STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {out});
INSERT INTO changes_filter SELECT id, item || '@' || place FROM stock WHERE amount > 4;
