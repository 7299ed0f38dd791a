#!/usr/bin/env python3
"""Benchmarks, as one table: what, figure, ratio to its reference.

    bench/run.py [--build build/release] [--records 1,10] [--server] [--runs 3]

Needs nothing but the build (make bench).  Profiles are made by the generator, in a folder that is removed.  Figures of a busy
machine are worse than those of an idle one; ratios are taken within one process, in turns, and CPU time counts only what the
process itself used.
"""
import argparse, http.client, json, os, platform, shutil, signal, socket, statistics, subprocess, sys, tempfile, threading, time

TARGETS = {"store": "<= 1.5", "end to end": ">= 3", "decode and correlate": ">= 50", "p50": "< 5"}
QUERIES = (
    ("Summary", "SELECT total_time, tensor_engine_active_time_percent, dma_active_time_percent FROM Summary"),
    ("engines and opcodes", "SELECT engine, opcode, COUNT(*) AS cnt, SUM(duration_ns) AS total_dur_ns, SUM(evt_wait_time_ns) AS w "
                            "FROM Instruction GROUP BY engine, opcode ORDER BY total_dur_ns DESC"),
    ("DMA by queue", "SELECT queue_name, COUNT(*) AS n, SUM(transfer_bytes) AS bytes FROM DmaPacket GROUP BY ALL ORDER BY n DESC LIMIT 20"),
)


def row(what, figure, ratio="", note=""):
    print("%-46s %18s  %-24s %s" % (what, figure, ratio, note))
    sys.stdout.flush()


def machine():
    model = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    memory = next(int(l.split()[1]) for l in open("/proc/meminfo") if l.startswith("MemTotal"))
    load = os.getloadavg()[0]
    return "%s, %d cores, %d GiB, Linux %s, load %.1f" % (model, len(os.sched_getaffinity(0)), memory >> 20, platform.release(), load)


# ------------------------------------------------------------------ ingestion
def generate(build, folder, records, dma):
    pair = [os.path.join(folder, "%s-%d.%s" % (dma, records, ending)) for ending in ("neff", "ntff")]
    subprocess.run([os.path.join(build, "nx-generate"), "--out-neff", pair[0], "--out-ntff", pair[1], "--records", str(records),
                    "--dma", dma, "--quiet"], check=True)
    return pair


def ingestion(build, folder, millions, runs, dma):
    pair = generate(build, folder, int(millions * 1e6), dma)
    done = subprocess.run([os.path.join(build, "nx-bench-ingest"), *pair, os.path.join(folder, "data"), str(runs)],
                          capture_output=True, text=True)
    for path in pair:
        os.unlink(path)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def ingestions(build, folder, sizes, runs):
    before = None
    for millions in sizes:
        f = ingestion(build, folder, millions, runs if millions <= 10 else 1, "static")
        m = f["records"] / 1e6
        name = "%g M records: " % millions
        row(name + "decode and correlate", "%.1f M/s" % (m / f["correlate"]), "%.0f ns CPU a record" % (f["correlate_cpu"] / m * 1e3),
            "target >= 50 M/s on 2 idle cores")
        row(name + "end to end", "%.2f M/s" % (m / f["total"]), "%.2f s, %.2f s CPU" % (f["total"], f["total_cpu"]), "target >= 3 M/s")
        row(name + "against DuckDB alone", "%.2f x" % (f["total"] / f["duckdb"]), "%.2f x in CPU time" % (f["total_cpu"] / f["duckdb_cpu"]),
            "target <= 1.5")
        row(name + "peak memory", "%.0f MiB" % (f["peak_kb"] / 1024), "%.0f MiB a million" % (f["peak_kb"] / 1024 / m),
            "%.0f MiB when correlated" % (f["peak_kb_correlated"] / 1024))
        if before:
            grown = m / (before["records"] / 1e6)
            row(name + "cost against %g M" % (before["records"] / 1e6), "%.2f x" % (f["total_cpu"] / before["total_cpu"]),
                "for %.2f x the records" % grown, "linear: the same")
        before = f


# ------------------------------------------------------------------ server
class Server:
    def __init__(self, build, data):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        start = time.monotonic()
        self.process = subprocess.Popen([os.path.join(build, "neuron-explorer"), "view", "--data-path", data, "--disable-ui", "--quiet",
                                         "--api-server-port", str(self.port)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/api/v1/health")
                connection.getresponse().read()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() - start > 30:
                    sys.exit("bench: the server did not start")
                time.sleep(0.005)
        self.started = time.monotonic() - start

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def ask(connection, profile, sql):
    body = json.dumps({"type": "databaseExplorerQuery", "tableName": "Summary", "query": sql})
    connection.request("POST", "/api/v1/db/%s/_search" % profile, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        sys.exit("bench: %s: %s" % (sql, text[:300]))


def latency(port, profile, sql, count):
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    for _ in range(count):
        start = time.monotonic()
        ask(connection, profile, sql)
        times.append((time.monotonic() - start) * 1e3)
    times.sort()
    return statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.99))]


def throughput(port, profile, sql, clients, seconds):
    counts, end = [0] * clients, time.monotonic() + seconds

    def client(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < end:
            ask(connection, profile, sql)
            counts[number] += 1
    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    start = time.monotonic()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(counts) / (time.monotonic() - start)


def wrk(port, profile, connections):
    """Requests a second by wrk, if it is installed; its Lua script posts the query."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        body = json.dumps({"type": "databaseExplorerQuery", "tableName": "Summary", "query": QUERIES[0][1]})
        script.write("wrk.method='POST'; wrk.headers['Content-Type']='application/json'; wrk.body=%s" % json.dumps(body))
        script.flush()
        out = subprocess.run(["wrk", "-t1", "-c%d" % connections, "-d5s", "-s", script.name,
                              "http://127.0.0.1:%d/api/v1/db/%s/_search" % (port, profile)], capture_output=True, text=True).stdout
    return next((float(l.split()[1]) for l in out.splitlines() if l.startswith("Requests/sec")), None)


def serving(build, folder):
    data, small = os.path.join(folder, "served"), 5000
    for name, records in (("small", small), ("large", 10000000)):
        pair = generate(build, folder, records, "static")
        subprocess.run([os.path.join(build, "neuron-explorer"), "view", "-n", pair[0], "-s", pair[1], "--data-path", data,
                        "--display-name", name, "--ingest-only", "--quiet"], check=True, stderr=subprocess.DEVNULL)
    server = Server(build, data)
    for profile in ("small", "large"):
        for what, sql in QUERIES:
            latency(server.port, profile, sql, 3)
            p50, p99 = latency(server.port, profile, sql, 200 if profile == "small" else 20)
            row("query, %s profile: %s" % (profile, what), "p50 %.1f ms" % p50, "p99 %.1f ms" % p99,
                "target p50 < 5 ms" if profile == "small" else "10 M records")
    one = None
    for clients in (1, 8, 64):
        found = wrk(server.port, "small", clients) if shutil.which("wrk") else None
        by = "wrk" if found else "Python clients"
        found = found or throughput(server.port, "small", QUERIES[0][1], clients, 4)
        one = one or found
        row("requests a second, %d connections" % clients, "%.0f /s" % found, "%.2f x one connection" % (found / one), by)
    server.stop()
    base = os.path.join(data, "profiles", "global")
    for n in range(1000):
        os.makedirs(os.path.join(base, "p%04d@latest" % n))
        os.link(os.path.join(base, "small@latest", "Summary.parquet"), os.path.join(base, "p%04d@latest" % n, "Summary.parquet"))
    server = Server(build, data)
    row("start with 1,002 profiles", "%.0f ms" % (server.started * 1e3), "", "target < 1 s")
    server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--records", default="1,10", help="millions, e.g. 1,10,100; empty: no ingestion")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--server", action="store_true", help="only the server")
    arguments = parser.parse_args()
    version = subprocess.run([os.path.join(arguments.build, "neuron-explorer"), "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    print("%s; %s\n" % (machine(), version))
    folder = tempfile.mkdtemp(prefix="nx-bench-")
    try:
        if not arguments.server:
            ingestions(arguments.build, folder, [float(n) for n in arguments.records.split(",") if n], arguments.runs)
        serving(arguments.build, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
