"""A small runner for tests that start the real program, and what they share.

A test is a function registered with @test; it takes the Context.  It fails by
an exception (check() makes readable ones) and skips by Skip.  Each gets a
folder of its own.
"""
import contextlib, http.client, json, os, shutil, signal, socket, subprocess, sys, tempfile, time, traceback

TESTS = []
JSON_HEADER = "Content-Type: application/json"
READY_SECONDS = 60  # until a server under sanitizers on a busy machine must answer


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def check(condition, text, *details):
    if not condition:
        raise AssertionError(text + "".join("\n      %s" % (d,) for d in details))


def equal(found, expected, what):
    check(found == expected, "%s: expected %r, found %r" % (what, expected, found))


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return "exit status %s\n      stdout: %s\n      stderr: %s" % (self.status, self.out[:1500], self.err[:1500])


class Server:
    """A running `view`; the address to talk to."""

    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log

    def url(self, path):
        return "http://127.0.0.1:%d%s" % (self.port, path)

    def errors(self):
        with open(self.log, errors="replace") as f:
            return f.read()


class Context:
    def __init__(self, program, asan_program, shared, keep):
        self.program, self.asan_program, self.shared = program, asan_program, shared
        self.generate = os.path.join(os.path.dirname(program), "nx-generate")
        self.root = tempfile.mkdtemp(prefix="nx-e2e-")
        self.keep, self.samples, self.dir = keep, {}, None

    def close(self):
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)

    # ---------------------------------------------------------------- files
    def folder(self, name):
        path = os.path.join(self.dir, name)
        os.makedirs(path, exist_ok=True)
        return path

    def profiles(self):
        """Names of the real profiles; Skip when they are not there."""
        base = os.path.join(self.shared or "", "profiles")
        if not self.shared or not os.path.isdir(base):
            raise Skip("the real profiles are not here (%s)" % base)
        return sorted(n for n in os.listdir(base) if os.path.isfile(os.path.join(base, n, "profile.ntff")))

    def pair(self, name):
        """(NEFF, NTFF) of a real profile."""
        base = os.path.join(self.shared, "profiles", name)
        return os.path.join(base, "kernel.neff"), os.path.join(base, "profile.ntff")

    def sample(self, *options):
        """(NEFF, NTFF, truth) of a generated pair; made once for the same options."""
        if options not in self.samples:
            base = os.path.join(self.root, "sample-%d" % len(self.samples))
            files = (base + ".neff", base + ".ntff")
            made = self.run(*options, "--out-neff", files[0], "--out-ntff", files[1], program=self.generate)
            equal(made.status, 0, "nx-generate %s" % " ".join(options))
            truth = dict(line.split() for line in made.out.splitlines() if line.strip())
            self.samples[options] = files + ({k: int(v) for k, v in truth.items()},)
        return self.samples[options]

    # ---------------------------------------------------------------- the program
    def run(self, *arguments, program=None, timeout=120, env=None, cwd=None):
        command = [program or self.program] + [str(a) for a in arguments]
        environment = dict(os.environ, **(env or {}))
        done = subprocess.run(command, capture_output=True, timeout=timeout, env=environment, cwd=cwd,
                              stdin=subprocess.DEVNULL)
        return Result(done.returncode, done.stdout.decode("utf8", "replace"), done.stderr.decode("utf8", "replace"))

    def ingest(self, data, name, neff, ntff, *more, **how):
        return self.run("view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", name,
                        "--ingest-only", *more, **how)

    def ingested(self, data, name, neff, ntff, *more, **how):
        result = self.ingest(data, name, neff, ntff, *more, **how)
        equal(result.status, 0, "ingestion of %s (%s)" % (name, result))
        return result

    def query(self, data, name, sql):
        """Rows of `query --format json`, as dicts."""
        result = self.run("query", "--data-path", data, "--format", "json", name, sql)
        check(result.status == 0, "query failed: %s" % sql, result)
        return json.loads(result.out)["data"]

    @contextlib.contextmanager
    def server(self, data, *more, env=None, before=None):
        """`before` is called in the process that becomes the server."""
        port = free_port()
        log = os.path.join(self.dir, "server-%d.log" % port)
        with open(log, "w") as f:
            process = subprocess.Popen([self.program, "view", "--data-path", data, "--disable-ui",
                                        "--api-server-port", str(port), *more],
                                       stdout=f, stderr=f, stdin=subprocess.DEVNULL, env=dict(os.environ, **(env or {})),
                                       preexec_fn=before)
        server = Server(process, port, log)
        try:
            wait_healthy(port, process, log)
            yield server
        finally:
            stop(process)

    # ---------------------------------------------------------------- HTTP, by curl as users do
    def curl(self, *arguments, timeout=90):
        done = subprocess.run(["curl", "-s", "-S", *arguments], capture_output=True, timeout=timeout)
        return Result(done.returncode, done.stdout.decode("utf8", "replace"), done.stderr.decode("utf8", "replace"))

    def request(self, server, path, body=None, *options):
        """(HTTP status, parsed JSON) of a GET, or of a POST with that body (an object, or text as it is)."""
        arguments = ["-w", "\n%{http_code}", *options]
        if body is not None:
            arguments += ["-X", "POST", "-H", JSON_HEADER, "--data-binary", body if isinstance(body, str) else json.dumps(body)]
        result = self.curl(*arguments, server.url(path))
        check(result.status == 0, "curl %s failed" % path, result)
        text, _, code = result.out.rpartition("\n")
        try:
            return int(code), json.loads(text)
        except ValueError:
            raise AssertionError("%s: not one JSON document: %s" % (path, text[:500]))

    def search(self, server, profile, body, *options):
        return self.request(server, "/api/v1/db/%s/_search" % profile, body, *options)

    def sql(self, server, profile, sql, *options, **more):
        return self.search(server, profile, dict(type="databaseExplorerQuery", tableName="Summary", query=sql, **more), *options)

    def rows(self, server, profile, sql, **more):
        status, answer = self.sql(server, profile, sql, **more)
        check(status == 200, "HTTP %d for %s" % (status, sql), answer)
        return answer["data"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def port_is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def wait_healthy(port, process, log):
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            with open(log, errors="replace") as f:
                raise AssertionError("the server ended with status %s: %s" % (process.returncode, f.read()[:2000]))
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/api/v1/health")
            answer = connection.getresponse().read()
            connection.close()
            if b"healthy" in answer:
                return
        time.sleep(0.05)
    raise AssertionError("the server is not healthy after %d s" % READY_SECONDS)


def stop(process):
    """Ends a process that a test started; it must obey SIGTERM."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError("the server did not end within 20 s of SIGTERM")


def published(data):
    """Names below DATA/profiles/global, hidden ones too."""
    base = os.path.join(data, "profiles", "global")
    return sorted(os.listdir(base)) if os.path.isdir(base) else []


def main(context, only):
    passed = failed = skipped = 0
    for function in TESTS:
        name = "%s.%s" % (function.__module__, function.__name__)
        if only and not any(word in name for word in only):
            continue
        context.dir = os.path.join(context.root, name)
        os.makedirs(context.dir, exist_ok=True)
        start = time.monotonic()
        try:
            function(context)
            passed += 1
            verdict = "ok"
        except Skip as reason:
            skipped += 1
            verdict = "skipped: %s" % reason
        except Exception as problem:
            failed += 1
            trace = traceback.extract_tb(problem.__traceback__)
            where = [f for f in trace if "/harness.py" not in f.filename][-1:] or trace[-1:]
            verdict = "FAILED at %s:%d\n    %s: %s" % (os.path.basename(where[0].filename), where[0].lineno,
                                                       type(problem).__name__, problem)
        print("%-58s %6.1f s  %s" % (name, time.monotonic() - start, verdict), flush=True)
        if verdict == "ok" and not context.keep:
            shutil.rmtree(context.dir, ignore_errors=True)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or not passed else 0
