-- Statements that must be refused, or answer nothing that is not of the profile.
-- One a line; lines that begin with -- are comments; \n stands for a line end.
COPY (SELECT 1) TO '@DIR@/out.csv'
COPY Item TO '@DIR@/out.parquet' (FORMAT parquet)
COPY Item FROM '@DIR@/secret.txt'
COPY Item TO 1
EXPLAIN COPY Item TO 1
EXPORT DATABASE '@DIR@/dump'
IMPORT DATABASE '@DIR@/dump'
ATTACH '@DIR@/other.db'
ATTACH ':memory:' AS other
DETACH memory
USE memory
INSTALL httpfs
LOAD httpfs
FORCE INSTALL spatial
SET memory_limit='100GB'
SET enable_external_access=true
SET GLOBAL threads=1
RESET memory_limit
PRAGMA enable_profiling
PRAGMA database_list
PRAGMA version
PRAGMA threads=4
CALL pragma_version()
CALL enable_logging()
INSERT INTO Item VALUES (1)
UPDATE Item SET id = 1
DELETE FROM Item
TRUNCATE Item
CREATE TABLE t (a INTEGER)
CREATE TABLE t AS SELECT * FROM Item
CREATE VIEW v AS SELECT 1
CREATE MACRO m() AS 1
CREATE SCHEMA s
CREATE SEQUENCE s
CREATE TYPE t AS ENUM ('a')
CREATE SECRET s (TYPE s3)
DROP VIEW Item
DROP TABLE Item
ALTER TABLE Item ADD COLUMN x INTEGER
VACUUM
ANALYZE
CHECKPOINT
FORCE CHECKPOINT
BEGIN TRANSACTION
COMMIT
ROLLBACK
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
SELECT 1; SELECT 2
SELECT 1; COPY (SELECT 1) TO '@DIR@/out.csv'
SELECT 1 /* ; */ ; DROP VIEW Item
SELECT 1 -- one\n; ATTACH ':memory:' AS x
/* SELECT */ COPY (SELECT 1) TO '@DIR@/out.csv'
;;SELECT 1;COPY (SELECT 1) TO '@DIR@/out.csv'
SELECT * FROM read_csv('@DIR@/secret.txt')
SELECT * FROM read_csv_auto('@DIR@/secret.txt')
SELECT * FROM read_text('@DIR@/secret.txt')
SELECT * FROM read_blob('@DIR@/secret.txt')
SELECT * FROM read_json('@DIR@/secret.txt')
SELECT * FROM read_json_objects('@DIR@/secret.txt')
SELECT * FROM read_ndjson('@DIR@/secret.txt')
SELECT * FROM read_parquet('@DIR@/profiles/global/other@latest/Item.parquet')
SELECT * FROM parquet_scan('@DIR@/profiles/global/other@latest/Item.parquet')
SELECT * FROM parquet_metadata('@DIR@/profiles/global/other@latest/Item.parquet')
SELECT * FROM parquet_schema('/proc/self/fd/4')
SELECT * FROM parquet_kv_metadata('/proc/self/fd/4')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('/proc/self/cmdline')
SELECT * FROM glob('@DIR@/*')
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('@DIR@/secret.txt')
SELECT * FROM '@DIR@/secret.txt'
SELECT * FROM '@DIR@/secret.csv'
SELECT * FROM "@DIR@/secret.csv"
FROM '/etc/passwd'
SELECT * FROM 'https://localhost/x.parquet'
SELECT * FROM 's3://bucket/x.parquet'
SELECT * FROM enable_logging(storage='file', storage_path='@DIR@/log')
SELECT * FROM enable_logging()
SELECT * FROM disable_logging()
SELECT * FROM truncate_duckdb_logs()
SELECT * FROM enable_profiling()
SELECT * FROM force_checkpoint()
SELECT * FROM checkpoint()
SELECT * FROM duckdb_logs
SELECT * FROM duckdb_logs()
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_databases()
SELECT * FROM duckdb_views()
SELECT * FROM duckdb_functions()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_external_file_cache()
SELECT * FROM pragma_version()
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_storage_info('Item')
SELECT * FROM pragma_table_info('Item')
SELECT * FROM which_secret('s3://x', 's3')
SELECT * FROM query('SELECT * FROM read_text(''@DIR@/secret.txt'')')
SELECT * FROM query_table('duckdb_logs')
SELECT * FROM json_execute_serialized_sql('{}')
SELECT json_execute_serialized_sql('{}')
SELECT json_serialize_sql('SELECT 1')
SELECT json_serialize_plan('SELECT * FROM read_text(''@DIR@/secret.txt'')')
SELECT * FROM sql_auto_complete('SEL')
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM pg_tables
SELECT * FROM sqlite_master
SELECT * FROM system.main.duckdb_logs
SELECT * FROM memory.information_schema.columns
SELECT * FROM temp.main.x
SELECT * FROM seq_scan('Item')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM test_all_types()
SELECT getenv('HOME')
SELECT getenv('NX_SECRET')
SELECT current_setting('temp_directory')
SELECT current_setting('allowed_paths')
SELECT getvariable('x')
SELECT write_log('x')
SELECT nextval('s')
SELECT sleep_ms(60000)
SELECT pg_sleep(60)
SELECT pg_get_viewdef(1)
SELECT current_query()
SELECT id, (SELECT count(*) FROM read_text('@DIR@/secret.txt')) FROM Item
SELECT * FROM Item WHERE id IN (SELECT 1 FROM glob('@DIR@/*'))
SELECT * FROM Item ORDER BY (SELECT content FROM read_text('@DIR@/secret.txt'))
SELECT * FROM Item, LATERAL (SELECT * FROM read_text('@DIR@/secret.txt'))
SELECT * FROM Item JOIN read_text('@DIR@/secret.txt') ON true
WITH x AS (SELECT * FROM read_text('@DIR@/secret.txt')) SELECT * FROM x
WITH duckdb_logs AS (SELECT 1) SELECT * FROM duckdb_logs
WITH x AS (SELECT * FROM y), y AS (SELECT 1) SELECT * FROM x
WITH x AS (SELECT * FROM x) SELECT * FROM x
SELECT * FROM (WITH Hidden AS (SELECT 1) SELECT * FROM Hidden), Hidden
WITH "@DIR@/secret.csv" AS (SELECT 1) SELECT * FROM "@DIR@/secret.csv"
SELECT * FROM (DESCRIBE duckdb_logs)
DESCRIBE duckdb_settings
DESCRIBE SELECT * FROM read_text('@DIR@/secret.txt')
SUMMARIZE SELECT * FROM read_text('@DIR@/secret.txt')
SUMMARIZE duckdb_logs
SHOW databases
SHOW ALL TABLES
SHOW schemas
SHOW variables
EXPLAIN COPY (SELECT 1) TO '@DIR@/out.csv'
EXPLAIN ANALYZE COPY (SELECT 1) TO '@DIR@/out.csv'
EXPLAIN SELECT * FROM read_text('@DIR@/secret.txt')
EXPLAIN ANALYZE SELECT * FROM read_text('@DIR@/secret.txt')
EXPLAIN EXPLAIN SELECT 1
EXPLAIN SELECT 1; COPY (SELECT 1) TO '@DIR@/out.csv'
(SELECT * FROM read_text('@DIR@/secret.txt'))
SELECT * FROM Item UNION ALL SELECT 1, content FROM read_text('@DIR@/secret.txt')
VALUES ((SELECT content FROM read_text('@DIR@/secret.txt')))
PIVOT (SELECT * FROM read_text('@DIR@/secret.txt')) ON filename IN ('a') USING count(*)
PIVOT Item ON name
UNPIVOT (SELECT * FROM read_text('@DIR@/secret.txt')) ON size INTO NAME n VALUE v
SELECT list_transform([1], x -> (SELECT 1 FROM read_text('@DIR@/secret.txt')))
SELECT COLUMNS(x -> getenv(x) = 'a') FROM Item
SELECT * FROM range((SELECT count(*)::BIGINT FROM read_text('@DIR@/secret.txt')))
SELECT max(id) FILTER (WHERE EXISTS (FROM glob('/etc/*'))) FROM Item
SELECT sum(id) OVER (ORDER BY (SELECT 1 FROM glob('/*'))) FROM Item
SELECT * FROM Item LIMIT (SELECT count(*) FROM glob('/*'))
SELECT * FROM Item TABLESAMPLE 1 USING SAMPLE 5; SET threads=1
SELECT * FROM Item AT (VERSION => 1)
MERGE INTO Item USING Item AS b ON true WHEN MATCHED THEN DELETE
COMMENT ON VIEW Item IS 'x'
LOAD '@DIR@/evil.duckdb_extension'
SELECT * FROM "main"."duckdb_tables"
SELECT system.main.getenv('HOME')
SELECT main.read_text('@DIR@/secret.txt')
SELECT "getenv"('HOME')
SELECT GETENV('HOME')
SELECT copy_database('a', 'b')
SELECT add_parquet_key('a', 'b')
.read /etc/passwd
SELECT * FROM repeat_row(1, num_rows=5)
-- comments nest: what one reader takes for EXPLAIN of a text, another takes for a comment and a statement
/* /* */ EXPLAIN SELECT '*/ SELECT name FROM duckdb_settings() --'
/* /* */ EXPLAIN SELECT '*/ SELECT * FROM enable_logging(storage=$$file$$, storage_path=$$@DIR@/log$$) --'
/* /* */ EXPLAIN SELECT '*/ SELECT * FROM read_parquet($$/proc/self/fd/4$$) --'
/* /* */ EXPLAIN SELECT '*/ COPY (SELECT 1) TO $$@DIR@/out.csv$$ --'
/* /* */ EXPLAIN ANALYZE SELECT '*/ COPY (SELECT 1) TO $$@DIR@/out.csv$$ --'
/* /* */ */ SELECT * FROM duckdb_settings()
/* /* */ EXPLAIN SELECT 1
EXPLAIN /* /* */ SELECT '*/ SELECT name FROM duckdb_settings() --'
EXPLAIN /* /* */ ANALYZE SELECT '*/ COPY (SELECT 1) TO $$@DIR@/out.csv$$ --'
SELECT sleep_ms(1)
SELECT pg_sleep(1)
SELECT current_connection_id()
SELECT inet_client_addr()
SELECT [x FOR x IN [1] IF getenv('HOME') IS NOT NULL]
SELECT list_transform(['HOME'], lambda x: getenv(x))
SELECT id FROM Item ORDER BY getvariable('x')
SELECT COUNT(*) FILTER (current_setting('threads') IS NOT NULL) FROM Item
SELECT SUM(id) OVER (ORDER BY nextval('s')) FROM Item
SELECT main.getenv('HOME')
SELECT system.main.getenv('HOME')
SELECT "getenv"('HOME')
SELECT GetEnv('HOME')
SELECT no_such_function(1)
SELECT icu_sort_key('a', 'de')
SELECT vector_type(1)
