-- SPDX-License-Identifier: BSD-2-Clause
-- Statements of a user of SQLite that reach many of its allocations.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL CHECK(price >= 0), kind TEXT DEFAULT 'x');
CREATE TABLE sale(item_id INTEGER REFERENCES item(id) ON DELETE CASCADE, at TEXT, amount INTEGER);
CREATE INDEX sale_item ON sale(item_id, at);
CREATE INDEX item_price ON item(price) WHERE kind = 'x';
CREATE VIEW total(name, amount) AS SELECT name, sum(amount) FROM item JOIN sale ON item_id = id GROUP BY name;
CREATE TRIGGER sold AFTER INSERT ON sale WHEN new.amount > 5 BEGIN UPDATE item SET kind = 'y' WHERE id = new.item_id; END;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)
  INSERT INTO item(id, name, price) SELECT i, printf('item %d', i), i * 1.5 FROM n;
INSERT INTO sale SELECT id, date('2020-01-01', '+' || id || ' days'), id % 9 FROM item;
SELECT * FROM total ORDER BY amount DESC LIMIT 3;
SELECT kind, count(DISTINCT name), group_concat(id, '-'), avg(price) FROM item GROUP BY kind HAVING count(*) > 1;
SELECT name, row_number() OVER w, sum(price) OVER (PARTITION BY kind ORDER BY id ROWS 2 PRECEDING) FROM item WINDOW w AS (ORDER BY price) LIMIT 3;
SELECT name FROM item WHERE id IN (SELECT item_id FROM sale WHERE amount > 3) AND name LIKE '%9' UNION SELECT kind FROM item EXCEPT SELECT 'y' ORDER BY 1;
SELECT json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), json_group_array(id) FROM item WHERE id < 5;
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words SELECT name || ' of kind ' || kind FROM item;
SELECT count(*) FROM words WHERE words MATCH 'item AND kind NOT 3';
CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1);
INSERT INTO box SELECT id, id, id + 2, price, price + 1 FROM item;
SELECT count(*) FROM box WHERE x0 > 10 AND y1 < 100;
SAVEPOINT s;
DELETE FROM item WHERE id > 400;
ALTER TABLE item ADD COLUMN note TEXT;
ALTER TABLE sale RENAME COLUMN amount TO pieces;
ROLLBACK TO s;
ANALYZE;
EXPLAIN QUERY PLAN SELECT * FROM item, sale WHERE id = item_id AND price < 10;
ATTACH ':memory:' AS other;
CREATE TABLE other.copy AS SELECT * FROM item;
PRAGMA integrity_check;
REINDEX;
VACUUM;
