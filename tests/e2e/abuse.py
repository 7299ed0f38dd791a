"""The server under load and abuse: who is slow, greedy, many, or gone harms nobody else."""
import contextlib, fcntl, glob, http.client, json, os, resource, signal, socket, struct, threading, time

from harness import check, equal, port_is_free, test

HOURS = "SELECT COUNT(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range = 7"
COUNT = "SELECT COUNT(*) AS n FROM Instruction"
IDLE_CONNECTIONS = 1000  # the server's limit (src/server/server.c); beyond it, it lets go of those that wait longest

IDLE_WORKERS = 4


def body_of(sql, **more):
    return json.dumps(dict(type="databaseExplorerQuery", tableName="Summary", query=sql, **more))


def request_of(body, profile="matmul"):
    body = body.encode()
    return (b"POST /api/v1/db/%s/_search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % (profile.encode(), len(body))) + body


def dial(server, receive_buffer=None):
    s = socket.socket()
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(20)
    s.connect(("127.0.0.1", server.port))
    return s


def hang_up(*sockets):
    """Resets the connections, as a client does that was killed."""
    for s in sockets:
        with contextlib.suppress(OSError):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def hear(s):
    """(status, headers, body) of the answer on a socket; status 0: the connection was closed without one."""
    answer = http.client.HTTPResponse(s)
    try:
        answer.begin()
        return answer.status, answer.headers, answer.read()
    except (ConnectionError, http.client.BadStatusLine, http.client.IncompleteRead):
        return 0, {}, b""


def within(seconds, what, condition):
    """Waits until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, "not within %g s: %s" % (seconds, what))
        time.sleep(0.02)


def descriptors(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))


def threads(server):
    return len(os.listdir("/proc/%d/task" % server.process.pid))


def resident_mb(pid):
    with open("/proc/%d/statm" % pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def state_and_parent(pid):
    """('Z', 0) when there is no such process: its end was noticed by its parent, or not yet."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            state, parent = f.read().rpartition(")")[2].split()[:2]
        return state, int(parent)
    except OSError:
        return "Z", 0


def is_running(pid):
    return state_and_parent(pid)[0] != "Z"


def children(pid):
    """Process ids of living children, whichever thread started them."""
    everybody = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [p for p in everybody for state, parent in [state_and_parent(p)] if parent == pid and state != "Z"]


def seconds_of_cpu(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy(server):
    """Workers of the server that compute at this moment."""
    before = {}
    for pid in children(server.process.pid):
        with contextlib.suppress(OSError):
            before[pid] = seconds_of_cpu(pid)
    time.sleep(0.2)
    found = []
    for pid, seconds in before.items():
        with contextlib.suppress(OSError):
            if seconds_of_cpu(pid) - seconds > 0.03:
                found.append(pid)
    return found


@contextlib.contextmanager
def serving(context, *more, **how):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    context.ingested(data, "matmul", neff, ntff)
    with context.server(data, *more, **how) as server:
        equal(context.rows(server, "matmul", COUNT), [{"n": truth["rows"]}], "rows before the abuse")
        yield server, data, [{"n": truth["rows"]}]


def a_normal_client_is_served(context, server, expected, bound=5):
    for _ in range(3):
        start = time.monotonic()
        equal(context.request(server, "/api/v1/health")[0], 200, "health")
        equal(context.rows(server, "matmul", COUNT), expected, "a normal client's answer")
        took = time.monotonic() - start
        check(took < bound, "a normal client's two answers take %.1f s" % took)


@test
def a_thousand_connections(context):
    """Idle, half a request line, half headers, half a body, a byte now and then, an answer that nobody reads."""
    query = request_of(body_of(COUNT))
    large = request_of(body_of("SELECT repeat('x', 4000000) AS x"))
    halves = [b"", b"POST /api/v1/db/mat", query[:query.index(b"\r\nContent-Type")], query[:-10]]
    with serving(context) as (server, _data, expected):
        before = descriptors(server), threads(server), resident_mb(server.process.pid)
        held = [dial(server) for _ in range(850)]
        for i, s in enumerate(held):
            s.sendall(halves[i % len(halves)])
        senders = [dial(server) for _ in range(100)]
        stop = threading.Event()

        def send_slowly():
            for at in range(len(query)):
                for s in senders:
                    with contextlib.suppress(OSError):
                        s.sendall(query[at:at + 1])
                if stop.wait(1):
                    return

        sender = threading.Thread(target=send_slowly)
        sender.start()
        try:
            readers = [dial(server, receive_buffer=4096) for _ in range(50)]
            for at in range(0, len(readers), 10):
                for s in readers[at:at + 10]:
                    s.sendall(large)
                for s in readers[at:at + 10]:
                    equal(s.recv(12, socket.MSG_PEEK), b"HTTP/1.1 200", "the beginning of a large answer")
            a_normal_client_is_served(context, server, expected)
            grown = resident_mb(server.process.pid) - before[2]
            check(grown < 50 * 4 + 100, "50 unread answers of 4 MB and 1,000 connections take %.0f MB" % grown)
            idle = seconds_of_cpu(server.process.pid)
            time.sleep(1)
            idle = seconds_of_cpu(server.process.pid) - idle
            check(idle < 0.5, "the server computes %.2f s in a second in which nothing is asked" % idle)
        finally:
            stop.set()
            sender.join()
        held[796].sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        equal(hear(held[796])[0], 200, "an idle connection is still good")
        hang_up(*held, *senders, *readers)
        within(10, "descriptors and threads of the connections are free again",
               lambda: descriptors(server) <= before[0] + IDLE_WORKERS and threads(server) <= before[1])
        a_normal_client_is_served(context, server, expected)
        check(resident_mb(server.process.pid) < before[2] + 150, "memory after the abuse: %.0f MB, before it %.0f MB"
              % (resident_mb(server.process.pid), before[2]))


def is_closed(s):
    with contextlib.suppress(BlockingIOError):
        return s.recv(1) == b""
    return False


@test
def more_connections_than_places(context):
    """The server lets go of those that have waited longest, and answers the newest."""
    with serving(context) as (server, _data, expected):
        working = dial(server)
        working.sendall(request_of(body_of(HOURS, timeoutMs=3000)))
        within(5, "a query runs", lambda: busy(server))
        held = [dial(server) for _ in range(IDLE_CONNECTIONS + 200)]
        a_normal_client_is_served(context, server, expected)
        for s in held:
            s.setblocking(False)
        closed = [i for i, s in enumerate(held) if is_closed(s)]
        check(200 <= len(closed) < 300 and max(closed) < 300, "the oldest were let go", len(closed), max(closed, default=-1))
        equal(hear(working)[0], 504, "a query that ran all the time is not let go")
        hang_up(working, *held)


@test
def few_descriptors(context):
    """A server that may not open many files takes fewer connections, and does not spin."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (700, 700))

    with serving(context, before=limit) as (server, _data, expected):
        held = [dial(server) for _ in range(800)]
        a_normal_client_is_served(context, server, expected)
        start = seconds_of_cpu(server.process.pid)
        time.sleep(1)
        check(seconds_of_cpu(server.process.pid) - start < 0.5, "the server spins")
        check(descriptors(server) < 400, "descriptors in use", descriptors(server))
        hang_up(*held)


@test
def requests_that_are_too_large_or_broken(context):
    with serving(context) as (server, _data, expected):
        def status_of(text):
            s = dial(server)
            with contextlib.suppress(ConnectionError):  # it may answer, and close, before all is sent
                s.sendall(text)
            status = hear(s)[0]
            s.close()
            return status

        get = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
        post = b"POST /api/v1/db/matmul/_search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        equal(status_of(get + b"X: " + b"a" * 20000 + b"\r\n\r\n"), 200, "a header of 20 kB")
        equal(status_of(get + b"X: " + b"a" * 100000 + b"\r\n\r\n"), 431, "a header of 100 kB")
        equal(status_of(get + b"X: " + b"a" * 50000000), 431, "a header without end")
        equal(status_of(get + b"".join(b"X-%d: a\r\n" % i for i in range(20000)) + b"\r\n"), 431, "20,000 headers")
        equal(status_of(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 414, "a URL of 100 kB")
        equal(status_of(b"GET /" + b"a" * 50000000), 414, "a URL without end")
        equal(status_of(post + b"Content-Length: 99999999999\r\n\r\n"), 413, "a body of 100 GB")
        equal(status_of(post + b"Content-Length: 99999999999999999999999\r\n\r\n"), 413, "a length beyond 64 bits")
        check(status_of(post + b"Content-Length: -5\r\n\r\n{}") in (400, 413), "a negative length")
        check(status_of(post + b"Content-Length: ten\r\n\r\n{}") in (400, 413), "a length in words")
        equal(status_of(post + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 40 +
                        b"0\r\n\r\n"), 413, "a body in pieces of 2.6 MB")
        check(status_of(post + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n") in (0, 400), "a piece without a size")
        for text in (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(range(256)) + b"\r\n\r\n",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
            check(status_of(text) in (0, 400, 403, 405, 505), "what is not HTTP: %r" % text[:30])
        a_normal_client_is_served(context, server, expected)


@test
def queries_without_end(context):
    """Hours of time, all of the memory: each is ended with a sentence, and others are served meanwhile."""
    greedy = ["SELECT len(list(a.range * b.range)) FROM range(30000) a, range(30000) b", "SELECT list_sum(range(3000000000))",
              "SELECT a.range, count(*) FROM range(100000000) a, range(10) b GROUP BY ALL ORDER BY 2"]
    with serving(context) as (server, data, expected):
        before = len(children(server.process.pid)), set(glob.glob("/tmp/*duckdb*")), sorted(os.listdir(data))
        slow = [dial(server) for _ in range(3)]
        for s in slow:
            s.sendall(request_of(body_of(HOURS, timeoutMs=2000)))
        large = [dial(server) for _ in greedy]
        for s, sql in zip(large, greedy):
            s.sendall(request_of(body_of(sql, timeoutMs=4000)))
        a_normal_client_is_served(context, server, expected, bound=10)
        for s in slow:
            status, _, body = hear(s)
            equal((status, json.loads(body)["error"]["code"]), (504, "timeout"), "a query of hours")
        for s, sql in zip(large, greedy):
            status, _, body = hear(s)
            check(status in (422, 504) and json.loads(body)["error"]["hint"], "HTTP %d for %s" % (status, sql), body[:300])
        a_normal_client_is_served(context, server, expected)
        equal((set(glob.glob("/tmp/*duckdb*")), sorted(os.listdir(data))), before[1:], "files that the queries left")
        within(5, "no worker computes on", lambda: not busy(server))
        check(resident_mb(server.process.pid) < 200, "memory of the server", resident_mb(server.process.pid))
        hang_up(*slow, *large)


@test
def clients_that_go(context):
    """A query stops, and a request that waits leaves the queue, within a second of its client's going."""
    with serving(context) as (server, _data, expected):
        for leave in (hang_up, lambda s: s.close()):
            gone = dial(server)
            gone.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
            within(5, "the query runs", lambda: busy(server))
            leave(gone)
            within(1, "the query of a client that has gone stops", lambda: not busy(server))
        running = [dial(server) for _ in range(8)]
        for s in running:
            s.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
        within(10, "eight queries run", lambda: len(children(server.process.pid)) >= 8)
        waiting = [dial(server) for _ in range(64)]
        for s in waiting:
            s.sendall(request_of(body_of(COUNT)))
        beyond = dial(server)

        def refused():
            """The queue is full once all have come."""
            beyond.sendall(request_of(body_of(COUNT)))
            status, headers, body = hear(beyond)
            equal((status, headers["Retry-After"], json.loads(body)["error"]["code"]), (503, "1", "busy"), "beyond the queue")

        time.sleep(0.5)
        start = time.monotonic()
        refused()
        check(time.monotonic() - start < 1, "a refusal takes %.1f s" % (time.monotonic() - start))
        equal(context.request(server, "/api/v1/health")[0], 200, "health beside a full queue")
        hang_up(*waiting[:63])
        within(1, "connections of clients that gave up are let go", lambda: threads(server) < 30)
        hang_up(*running)
        status, _, body = hear(waiting[63])
        equal((status, json.loads(body)["data"]), (200, expected), "the one that waited on")
        within(2, "all queries of clients that have gone stop", lambda: not busy(server))
        a_normal_client_is_served(context, server, expected)
        hang_up(beyond, waiting[63])


@test
def killed_workers(context):
    """As the kernel does when memory is out: that client is told, everybody else sees nothing."""
    with serving(context) as (server, _data, expected):
        for pid in children(server.process.pid):
            with open("/proc/%d/oom_score_adj" % pid) as f:
                equal(f.read().strip(), "1000", "a worker is the first to be killed for memory")
        asking = dial(server)
        asking.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
        within(5, "the query runs", lambda: busy(server))
        for pid in busy(server):
            os.kill(pid, signal.SIGKILL)
        status, _, body = hear(asking)
        equal((status, json.loads(body)["error"]["code"]), (500, "internal"), "the query whose worker was killed")
        check("killed" in json.loads(body)["error"]["message"] and json.loads(body)["error"]["hint"], "it says so", body)
        a_normal_client_is_served(context, server, expected)
        for pid in children(server.process.pid):  # idle ones
            os.kill(pid, signal.SIGKILL)
        a_normal_client_is_served(context, server, expected)
        for pid in children(server.process.pid):  # stopped ones: as long as they are stopped, their query runs into its limit
            os.kill(pid, signal.SIGSTOP)
        equal(context.sql(server, "matmul", COUNT, timeoutMs=500)[0], 504, "a query whose worker is stopped")
        a_normal_client_is_served(context, server, expected)
        hang_up(asking)


@test
def stops_in_order(context):
    """SIGTERM, SIGINT, SIGHUP with all kinds of clients: status 0 within seconds, no process left; a second signal changes nothing."""
    half = request_of(body_of(COUNT))[:-5]
    large = request_of(body_of("SELECT repeat('x', 20000000) AS x"))
    for number, again in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT), (signal.SIGHUP, signal.SIGTERM)):
        with serving(context, before=default_signals) as (server, _data, _expected):
            reader = dial(server, receive_buffer=4096)
            reader.sendall(large)
            equal(reader.recv(12, socket.MSG_PEEK), b"HTTP/1.1 200", "the beginning of a large answer")
            running = [dial(server) for _ in range(8)]
            for s in running:
                s.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
            waiting = [dial(server) for _ in range(20)]
            for s in waiting:
                s.sendall(request_of(body_of(COUNT)))
            idle = [dial(server) for _ in range(50)]
            for s in idle[::2]:
                s.sendall(half)
            within(10, "eight queries run", lambda: len(children(server.process.pid)) >= 8)
            workers = children(server.process.pid)
            start = time.monotonic()
            server.process.send_signal(number)
            time.sleep(0.05)
            server.process.send_signal(again)
            equal(server.process.wait(15), 0, "exit status after signal %d" % number)
            check(time.monotonic() - start < 4, "signal %d: the server took %.1f s to stop" % (number, time.monotonic() - start))
            within(2, "no worker is left", lambda: not any(map(is_running, workers)))
            check(port_is_free(server.port), "the port is free again")
            check("Sanitizer" not in server.errors(), "what it said", server.errors()[-1500:])
            hang_up(reader, *running, *waiting, *idle)


def default_signals():
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@test
def nohup_is_obeyed(context):
    with serving(context, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as (server, _data, expected):
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGPIPE)
        a_normal_client_is_served(context, server, expected)


@test
def a_killed_server(context):
    """kill -9: its workers end by themselves, the port is free, the next server starts and clears what was left."""
    with serving(context) as (server, data, expected):
        asking = [dial(server) for _ in range(3)]
        for s in asking:
            s.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
        within(10, "three queries run", lambda: len(busy(server)) >= 3)
        workers = children(server.process.pid)
        server.process.kill()
        server.process.wait()
        within(2, "no worker is left", lambda: not any(map(is_running, workers)))
        hang_up(*asking)
        base = os.path.join(data, "profiles", "global")
        dead, living = (os.path.join(base, ".%s@latest.tmp-0123456789abcdef" % name) for name in ("dead", "living"))
        for path in (dead, living):
            os.mkdir(path)
            with open(os.path.join(path, "Summary.parquet"), "w") as f:
                f.write("half of it")
        lock = os.open(living, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)  # as an ingestion under way does
        with context.server(data) as second:
            equal(context.rows(second, "matmul", COUNT), expected, "rows after a restart")
            equal((os.path.exists(dead), os.path.exists(living)), (False, True), "what a killed and a living ingestion left")
            third = context.run("view", "--data-path", data, "--disable-ui", "--api-server-port", second.port)
            equal(third.status, 4, "exit status when the port is taken")
            check("port %d is in use, held by process %d" % (second.port, second.process.pid) in third.err, "it says by whom", third)
        os.close(lock)
