-- Queries that must be answered.  Same form as hostile.sql.
SELECT * FROM Item
select * from item
SELECT * FROM "Item"
FROM Item
FROM Item SELECT id
TABLE Item
SELECT COUNT(*) AS n FROM Item;
SELECT COUNT(*) AS n FROM Item ; -- a comment at the end
-- a comment before\nSELECT 1
/* a comment */ SELECT /* another */ 1
SELECT id, name FROM Item WHERE name ILIKE '%1%' ORDER BY id DESC LIMIT 5 OFFSET 2
SELECT name, SUM(id) AS total FROM Item GROUP BY 1 ORDER BY total DESC
SELECT name, COUNT(*) FROM Item GROUP BY ALL HAVING COUNT(*) > 0
SELECT a.id FROM Item a JOIN Item b USING (id) JOIN Other o ON o.id = a.id
SELECT * FROM Item NATURAL JOIN Other
SELECT * FROM Item, Other WHERE Item.id = Other.id
SELECT * FROM main.Item
WITH a AS (SELECT * FROM Item), b AS (SELECT * FROM a) SELECT * FROM b
WITH a AS (WITH c AS (SELECT 1 AS x) SELECT * FROM c) SELECT * FROM a
WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE x < 10) SELECT SUM(x) FROM t
WITH item AS (SELECT 7 AS id) SELECT * FROM item
WITH a AS MATERIALIZED (SELECT * FROM Item) SELECT * FROM a
SELECT * FROM Item UNION ALL SELECT * FROM Item
SELECT id FROM Item INTERSECT SELECT id FROM Other
SELECT id FROM Item EXCEPT SELECT id FROM Other
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1), (2)) AS t(x)
SELECT * FROM range(5)
SELECT * FROM generate_series(1, 10, 2)
SELECT unnest([1, 2, 3])
SELECT * FROM unnest(['a', 'b'])
SELECT id, row_number() OVER (PARTITION BY name ORDER BY id) AS r FROM Item QUALIFY r = 1
SELECT lag(id) OVER (ORDER BY id) FROM Item
SELECT quantile_cont(id, [0.5, 0.99]) FROM Item
SELECT list_transform([1, 2], x -> x + 1)
SELECT [x * 2 FOR x IN [1, 2, 3]]
SELECT COLUMNS('i.*') FROM Item
SELECT * EXCLUDE (name) FROM Item
SELECT * REPLACE (id + 1 AS id) FROM Item
SELECT id::VARCHAR || name FROM Item
SELECT CASE WHEN id > 3 THEN 'big' ELSE 'small' END FROM Item
SELECT (SELECT MAX(id) FROM Other) FROM Item LIMIT 1
SELECT * FROM Item WHERE EXISTS (SELECT 1 FROM Other WHERE Other.id = Item.id)
SELECT * FROM Item WHERE id IN (SELECT id FROM Other)
SELECT * FROM Item, LATERAL (SELECT Item.id + 1 AS next)
SELECT * FROM Item USING SAMPLE 3 ROWS
SELECT DISTINCT ON (name) * FROM Item
SELECT #1 FROM Item
PIVOT Item ON name IN ('n1', 'n2') USING SUM(id)
UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b INTO NAME k VALUE v
DESCRIBE Item
DESCRIBE SELECT * FROM Item
SUMMARIZE Item
SUMMARIZE SELECT id FROM Item
SHOW TABLES
SHOW Item
EXPLAIN SELECT * FROM Item
EXPLAIN ANALYZE SELECT COUNT(*) FROM Item
SELECT * FROM (DESCRIBE Item)
SELECT regexp_extract('a=12', '=(\d+)', 1)
SELECT struct_pack(a := 1, b := 'x'), {'k': [1, 2]}, map {'a': 1}
SELECT DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05.678', TIME '01:02:03', INTERVAL 3 DAY
SELECT 170141183460469231731687303715884105727::HUGEINT, 1.50::DECIMAL(9,2), 'NaN'::DOUBLE, 'inf'::FLOAT
SELECT NULL, true, 'x\x41'::BLOB, uuid()
SELECT current_date, now()
SELECT json_extract('{"a":1}', '$.a'), to_json({'a': 1})
SELECT * FROM json_each('{"a":1,"b":2}')
SELECT typeof(1), pg_typeof(1)
SELECT id, id FROM Item LIMIT 1
SELECT version()
SELECT 'read_text(''/etc/passwd'')' AS harmless_text
SELECT "id" AS "read_csv" FROM "Item"
SELECT hash(name), md5(name) FROM Item
SELECT format('{:,}', 1234567), printf('%5.2f', 1.5)
SELECT histogram(id) FROM Item
SELECT arg_max(name, id), string_agg(name, ',') FROM Item
SELECT * FROM Item POSITIONAL JOIN Other
SELECT * FROM Item ASOF JOIN Other ON Item.id >= Other.id
/* a /* nested */ comment */ EXPLAIN /* and /* another */ */ ANALYZE SELECT * FROM Item
