"""The HTTP API on a running server: answers, refusals, hostile SQL, several profiles."""
import contextlib, http.client, json, os, threading, time

from harness import JSON_HEADER, check, equal, test
from what_a_user_does import rows_of


@contextlib.contextmanager
def serving_sample(context, name="matmul", *more):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    context.ingested(data, name, neff, ntff)
    with context.server(data, *more) as server:
        yield server, data, truth


@test
def answers(context):
    with serving_sample(context) as (server, _, truth):
        status, answer = context.sql(server, "matmul", "SELECT COUNT(*) AS n, MAX(end_ts) AS last, 9007199254740993 AS big, "
                                     "'NaN'::DOUBLE AS nan, 'inf'::DOUBLE AS inf, NULL AS nothing FROM Instruction")
        equal(status, 200, "HTTP status")
        equal(sorted(answer), ["columns", "data", "elapsedMs", "rowCount", "truncated"], "keys of an answer")
        row = answer["data"][0]
        equal([row["n"], row["big"], row["nan"], row["inf"], row["nothing"]],
              [truth["rows"], 9007199254740993, None, None, None], "values")
        equal([c["name"] for c in answer["columns"]], ["n", "last", "big", "nan", "inf", "nothing"], "columns")
        equal((answer["rowCount"], answer["truncated"]), (1, False), "rowCount, truncated")
        status, answer = context.sql(server, "matmul", "SELECT pc FROM Instruction", maxRows=10)
        equal((status, len(answer["data"]), answer["rowCount"], answer["truncated"]), (200, 10, 10, True), "maxRows")
        for sql in ("WITH x AS (SELECT 1 AS a) SELECT * FROM x", "VALUES (1, 2)", "DESCRIBE Instruction", "SUMMARIZE Summary",
                    "EXPLAIN SELECT COUNT(*) FROM Instruction", "FROM Warning",
                    "SELECT i.pc FROM Instruction i JOIN Instruction j USING (id) LIMIT 3"):
            equal(context.sql(server, "matmul", sql)[0], 200, "HTTP status of %s" % sql)


@test
def refusals(context):
    with serving_sample(context) as (server, _, _truth):
        def refused(status, what, path, body=None, *options):
            code, answer = context.request(server, path, body, *options)
            equal(code, status, "HTTP status of %s (%s)" % (what, str(answer)[:300]))
            check(answer["error"]["code"] and answer["error"]["message"], "the error says what and why", answer)
            return answer["error"]

        search = "/api/v1/db/matmul/_search"
        query = {"type": "databaseExplorerQuery", "tableName": "Summary", "query": "SELECT 1 AS one"}
        equal(context.request(server, search, query)[0], 200, "a good request")
        error = refused(404, "an unknown profile", "/api/v1/db/matmull/_search", query)
        check("matmul" in json.dumps(error), "near names are listed", error)
        refused(404, "an unknown path", "/api/v1/nothing")
        refused(405, "GET of _search", search)
        refused(405, "DELETE of health", "/api/v1/health", None, "-X", "DELETE")
        refused(400, "malformed JSON", search, '{"type": "databaseExplorerQuery", ')
        refused(422, "JSON of another shape", search, "[1,2,3]")
        refused(422, "an unknown type", search, {"type": "poem"})
        refused(422, "a query without text", search, {"type": "databaseExplorerQuery", "tableName": "Summary"})
        error = refused(400, "an unknown column", search, dict(query, query="SELECT opcod FROM Instruction"))
        check("opcode" in json.dumps(error), "the engine's suggestion is passed on", error)
        refused(404, "an unknown table", search, {"type": "tableSchema", "tableName": "NoSuchTable"})
        big = os.path.join(context.dir, "big.json")
        with open(big, "w") as f:
            f.write(json.dumps(dict(query, query="SELECT '%s'" % ("x" * (1 << 20)))))
        refused(413, "a body beyond 1 MiB", search, "@" + big)


@test
def foreign_pages(context):
    """DNS rebinding and forms of other sites: nothing is answered but a refusal."""
    with serving_sample(context) as (server, _, _truth):
        query = json.dumps({"type": "databaseExplorerQuery", "tableName": "Summary", "query": "SELECT 1 AS one"})
        url = server.url("/api/v1/db/matmul/_search")

        def code(*options):
            return context.curl("-o", "/dev/null", "-w", "%{http_code}", *options).out

        good = ("-X", "POST", "-H", JSON_HEADER, "-d", query)
        port = server.port
        for host in ("localhost:%d" % port, "127.0.0.1:%d" % port, "LOCALHOST", "[::1]:%d" % port):
            equal(code("-H", "Host: " + host, *good, url), "200", "Host: %s" % host)
        for host in ("evil.example", "evil.example:%d" % port, "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
                     "0x7f000001.evil", "127.0.0.1@evil.example"):
            check(code("-H", "Host: " + host, *good, url) in ("400", "403", "421"), "Host: %s must be refused" % host)
            check(code("-H", "Host: " + host, server.url("/api/v1/health")) in ("400", "403", "421"),
                  "health with Host: %s must be refused" % host)
        for origin in ("http://evil.example", "https://localhost.evil.example", "null", "http://evil.example:%d" % port):
            check(code("-H", "Origin: " + origin, *good, url) in ("400", "403"), "Origin: %s must be refused" % origin)
        equal(code("-H", "Origin: http://localhost:3001", *good, url), "200", "the page's own origin")
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            check(code("-X", "POST", "-H", "Content-Type: " + kind, "-H", "Origin: http://evil.example", "-d", query, url)
                  in ("400", "403", "415"), "a form of another site (%s) must be refused" % kind)


@test
def only_the_loopback_interface(context):
    with serving_sample(context) as (server, _, _truth):
        listening = []
        for path in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(path):
                with open(path) as f:
                    listening += [line.split()[1] for line in f if " 0A " in line and ":%04X " % server.port in line]
        check(listening, "the port is among the listening ones")
        loopback = ("0100007F", "00000000000000000000000001000000")
        for address in listening:
            check(address.split(":")[0] in loopback, "it listens on a loopback address only", address)


@test
def keep_alive(context):
    with serving_sample(context) as (server, _, truth):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for _ in range(20):
            connection.request("POST", "/api/v1/db/matmul/_search",
                               json.dumps({"type": "databaseExplorerQuery", "tableName": "Summary",
                                           "query": "SELECT COUNT(*) AS n FROM Instruction"}), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            equal(json.loads(answer.read())["data"], [{"n": truth["rows"]}], "an answer on a kept connection")
            check(not answer.will_close, "the connection stays open")
        connection.close()


HOSTILE = """
COPY Instruction TO '{dir}/out.parquet'
COPY (SELECT 1) TO '{dir}/out.csv'
EXPORT DATABASE '{dir}/export'
ATTACH '{dir}/new.db'
ATTACH ':memory:' AS other
INSTALL httpfs
LOAD httpfs
SET memory_limit='100GB'
RESET memory_limit
PRAGMA database_list
PRAGMA enable_profiling
CALL pragma_version()
CREATE TABLE t (a INTEGER)
CREATE VIEW v AS SELECT 1
INSERT INTO Instruction SELECT * FROM Instruction
DELETE FROM Instruction
UPDATE Summary SET total_time = 0
DROP VIEW Instruction
SELECT 1; DROP VIEW Instruction
SELECT 1 /* */; SELECT 2
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM '/etc/passwd'
SELECT * FROM read_parquet('{other}')
SELECT * FROM '{other}'
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT getenv('HOME')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_logs
SELECT * FROM enable_logging(storage='file', storage_path='{dir}/log')
SELECT * FROM (SELECT * FROM read_text('/etc/passwd'))
WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x
SELECT (SELECT content FROM read_text('/etc/passwd'))
EXPLAIN ANALYZE COPY Instruction TO '{dir}/out2.parquet'
"""


@test
def hostile_sql(context):
    data = context.folder("data")
    target = context.folder("target")
    neff, ntff, truth = context.sample()
    context.ingested(data, "matmul", neff, ntff)
    context.ingested(data, "secret", neff, ntff)
    other = os.path.join(data, "profiles", "global", "secret@latest", "Summary.parquet")
    with context.server(data) as server:
        for sql in HOSTILE.format(dir=target, other=other).strip().splitlines():
            status, answer = context.sql(server, "matmul", sql)
            check(status in (400, 404, 422), "HTTP %d for hostile SQL: %s" % (status, sql), str(answer)[:300])
            check("root:" not in json.dumps(answer), "no file leaks: %s" % sql)
        equal(os.listdir(target), [], "files that hostile SQL wrote")
        equal(context.rows(server, "matmul", "SELECT COUNT(*) AS n FROM Instruction"), [{"n": truth["rows"]}],
              "the profile is unharmed")
        deep = "SELECT " + "(" * 20000 + "1" + ")" * 20000
        body = os.path.join(context.dir, "deep.json")
        with open(body, "w") as f:
            json.dump({"type": "databaseExplorerQuery", "tableName": "Summary", "query": deep}, f)
        status, _ = context.search(server, "matmul", "@" + body)
        check(status in (400, 422), "HTTP %d for 20,000 parentheses" % status)


@test
def a_slow_query_blocks_nobody(context):
    with serving_sample(context) as (server, _, truth):
        slow = threading.Thread(target=context.sql, args=(
            server, "matmul", "SELECT COUNT(*) FROM Instruction a, Instruction b, Instruction c, Instruction d WHERE a.pc + b.pc + c.pc <> d.pc * 7"),
            kwargs={"timeoutMs": 8000}, daemon=True)
        slow.start()
        time.sleep(0.5)
        for _ in range(5):
            start = time.monotonic()
            equal(context.request(server, "/api/v1/health")[0], 200, "health")
            equal(context.rows(server, "matmul", "SELECT COUNT(*) AS n FROM Instruction"), [{"n": truth["rows"]}], "a fast query")
            check(time.monotonic() - start < 5, "answers beside a slow query take %.1f s" % (time.monotonic() - start))
        slow.join(60)


@test
def profiles_that_come_later(context):
    data = context.folder("data")
    first, second = context.sample(), context.sample("--dma", "mixed", "--ntff-version", "5")
    context.ingested(data, "first", *first[:2])
    with context.server(data) as server:
        count = "SELECT COUNT(*) AS n FROM DmaPacket"
        equal(context.rows(server, "first", count), [{"n": first[2]["packets"]}], "the first profile")
        equal(context.sql(server, "second", count)[0], 404, "HTTP status before the second is there")
        context.ingested(data, "second", *second[:2])
        equal(context.rows(server, "second", count), [{"n": second[2]["packets"]}], "the second, without a restart")
        equal(context.rows(server, "first", count), [{"n": first[2]["packets"]}], "the first, still")
        listed = context.run("list", "--data-path", data).out
        check("first" in listed and "second" in listed, "list shows both", listed)


@test
def ingestion_beside_a_server(context):
    """`view` with files, then it serves what it ingested; without files it serves what is there."""
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    with context.server(data, "-n", neff, "-s", ntff, "--display-name", "both") as server:
        equal(context.rows(server, "both", "SELECT COUNT(*) AS n FROM Instruction"), [{"n": truth["rows"]}], "rows")
        check("Processing for both is complete" in server.errors(), "the line that ingestion is done", server.errors())
        files = rows_of(context.search(server, "both", {"type": "listDbFiles"})[1], "files", "tables")
        check(len(files) > 10, "listDbFiles", files)
