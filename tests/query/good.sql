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
SELECT id, SUM(id) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), LAG(id, 1, 0) OVER w FROM Item WINDOW w AS (ORDER BY id) LIMIT 3
SELECT quantile_cont(id, [0.5, 0.99]), approx_quantile(id, 0.9), median(id), mad(id), stddev_samp(id), mode(id % 7) FROM Item
SELECT list_transform([1, 2, 3], lambda x: x * 2), list_filter([1, 2, 3], lambda x: x > 1), [x + 1 FOR x IN [1, 2] IF x > 1], list_reduce([1, 2, 3], lambda a, b: a + b)
SELECT time_bucket(INTERVAL '1 minute', TIMESTAMP '2026-01-01 00:00:59'), date_trunc('hour', now()), epoch_ms(TIMESTAMP '2026-01-01'), EXTRACT(year FROM DATE '2026-01-01')
SELECT id % 3 AS g, COUNT(*) FILTER (id > 10), GROUPING(id % 3) FROM Item GROUP BY GROUPING SETS ((id % 3), ()) ORDER BY ALL
SELECT id % 2 AS a, id % 3 AS b, COUNT(*) FROM Item GROUP BY ROLLUP (a, b) ORDER BY ALL
SELECT id, ROW_NUMBER() OVER (PARTITION BY id % 2 ORDER BY id DESC) AS r FROM Item QUALIFY r <= 2
SELECT * FROM (SELECT id % 2 AS k, id FROM Item LIMIT 10) PIVOT (SUM(id) FOR k IN (0, 1))
SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR n IN (a, b))
SELECT unnest([1, 2, 3]) AS x, unnest({'a': 1, 'b': 2})
SELECT COLUMNS('i.*') FROM Item LIMIT 1
SELECT * EXCLUDE (name) REPLACE (id * 2 AS id) FROM Item LIMIT 1
SELECT COALESCE(NULL, 1), NULLIF(1, 1), IFNULL(NULL, 2), CASE WHEN 1 > 0 THEN 'a' ELSE 'b' END, IF(true, 1, 2), GREATEST(1, 2), LEAST(1, 2)
SELECT name LIKE 'a%', name NOT ILIKE '%B', name SIMILAR TO '.*', name GLOB '*', regexp_replace(name, '[0-9]+', '#', 'g'), name ^@ 'x' FROM Item LIMIT 1
SELECT TRY_CAST('x' AS INTEGER), TRY('x'::INTEGER), 7 // 2, 7 % 3, 2 ** 3, 5 & 3, 5 | 3, xor(5, 3), ~5, 1 << 4, [1, 2] @> [1]
SELECT [1, 2, 3][2], 'abc'[1:2], {'a': 1}.a, map {'k': 1}['k'], list_sort([3, 1]), array_agg(id ORDER BY id)[1] FROM Item
SELECT '[[1, 10], [20, 50]]'::BIGINT[][], list_sum([1, 2]), len([1]), list_zip([1], [2]), flatten([[1], [2]])
SELECT corr(id, id * 2), regr_slope(id, id), entropy(id % 4), arg_min(name, id, 2), COUNT(DISTINCT id % 5), bool_and(id >= 0), product(1 + id % 2) FROM Item
SELECT EXISTS (SELECT 1 FROM Item WHERE id = 1), id IN (SELECT id FROM Other), (SELECT MAX(id) FROM Item) FROM Item LIMIT 1
SELECT strftime(TIMESTAMP '2026-01-01', '%Y'), strptime('2026', '%Y'), format_bytes(1536), bar(3, 0, 10, 10), printf('%d', 1), lpad('1', 3, '0'), concat_ws('-', 'a', 'b'), split_part('a/b', '/', 2)
SELECT name COLLATE NOCASE FROM Item ORDER BY name COLLATE NOCASE LIMIT 1
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT list(n) FROM r
SELECT i.id FROM Item i SEMI JOIN Other o ON i.id = o.id LIMIT 1
