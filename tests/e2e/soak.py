#!/usr/bin/env python3
"""Minutes of mixed abuse of one server, best one built with ASan or TSan; not part of the test runs.

    soak.py --program build/asan/neuron-explorer [--minutes 3] [--seed 1]

Each client draws its next misdeed at random.  Normal requests must be answered
rightly (or be told 503), whatever the others do; in the end the server must stop with
status 0, have said nothing, and have let go of every descriptor.
"""
import argparse, collections, contextlib, json, os, random, signal, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from abuse import COUNT, HOURS, IDLE_WORKERS, body_of, children, descriptors, dial, hang_up, hear, request_of, resident_mb, within
from harness import check, equal

CLIENTS = 24


class Soak:
    def __init__(self, context, server, data, pairs):
        self.context, self.server, self.data, self.pairs = context, server, data, pairs
        self.counts = [{"n": p[2]["rows"]} for p in pairs]
        self.done, self.seen, self.problems = threading.Event(), collections.Counter(), []

    def ask(self, body, profile="matmul"):
        s = dial(self.server)
        s.settimeout(120)
        s.sendall(request_of(body, profile))
        status, _, text = hear(s)
        s.close()
        answer = json.loads(text) if text else None
        check(status != 500 or "killed" in answer["error"]["message"], "a fault of the server", answer)
        return status, answer

    # ---------------------------------------------------------------- what clients do
    def normal(self, _chance):
        status, answer = self.ask(body_of(COUNT, timeoutMs=60000))
        if status == 200:
            check(answer["data"][0] in self.counts, "a wrong answer", answer)
        return status

    def other_types(self, chance):
        kind = chance.choice(["listDbFiles", "check", "analyze", "tableSchema"])
        status, answer = self.ask(json.dumps({"type": kind, "tableName": "Summary", "timeoutMs": 60000}))
        return "%s %d" % (kind, status)

    def unknown(self, _chance):
        return self.ask(body_of(COUNT), profile="matmull")[0]

    def broken_sql(self, chance):
        return self.ask(body_of(chance.choice(["SELECT", "SELECT nothing FROM Instruction", "DROP TABLE x", "SELECT " + "(" * 30000])))[0]

    def hours(self, chance):
        return self.ask(body_of(HOURS, timeoutMs=chance.randint(1, 2000)))[0]

    def memory(self, _chance):
        return self.ask(body_of("SELECT list_sum(range(3000000000))", timeoutMs=3000))[0]

    def gone(self, chance):
        s = dial(self.server)
        s.sendall(request_of(body_of(HOURS, timeoutMs=60000)))
        time.sleep(chance.random())
        (hang_up if chance.random() < 0.5 else lambda x: x.close())(s)
        return "gone"

    def half(self, chance):
        text = request_of(body_of(COUNT))
        some = [dial(self.server) for _ in range(chance.randint(1, 60))]
        for s in some:
            s.sendall(text[:chance.randint(0, len(text) - 1)])
        time.sleep(chance.random())
        for s in some:
            (hang_up if chance.random() < 0.5 else lambda x: x.close())(s)
        return "half"

    def unread(self, chance):
        s = dial(self.server, receive_buffer=4096)
        s.sendall(request_of(body_of("SELECT repeat('x', %d) AS x" % chance.randint(1, 20000000))))
        time.sleep(2 * chance.random())
        hang_up(s)
        return "unread"

    def noise(self, chance):
        s = dial(self.server)
        with contextlib.suppress(OSError):
            for _ in range(chance.randint(1, 20)):
                s.sendall(chance.choice([b"GET ", b"POST /", b"\r\n", b"Host: localhost\r\n", b"Content-Length: 9\r\n", b"\0\xff",
                                         b"Transfer-Encoding: chunked\r\n", b" HTTP/1.1\r\n", b"a" * 5000]))
        hang_up(s)
        return "noise"

    def pipelined(self, _chance):
        s = dial(self.server)
        s.settimeout(120)
        s.sendall(request_of(body_of(COUNT, timeoutMs=60000)) * 5)
        status = hear(s)[0]
        s.close()
        return status

    def kill(self, chance):
        if chance.random() < 0.2:
            for pid in children(self.server.process.pid)[:1]:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        return "kill"

    # ---------------------------------------------------------------- threads
    def client(self, seed):
        chance = random.Random(seed)
        misdeeds = [self.normal] * 6 + [self.other_types] * 2 + [self.unknown, self.broken_sql, self.hours, self.memory, self.gone,
                                                                 self.gone, self.half, self.unread, self.noise, self.pipelined, self.kill]
        while not self.done.is_set() and not self.problems:
            what = chance.choice(misdeeds)
            try:
                self.seen["%s: %s" % (what.__name__, what(chance))] += 1
            except Exception as problem:  # a thread: judged in the end
                self.problems.append("%s: %r" % (what.__name__, problem))

    def ingest(self):
        at = 0
        while not self.done.is_set():
            at += 1
            result = self.context.ingest(self.data, "matmul", *self.pairs[at % 2][:2], "--force")
            if result.status != 0:
                self.problems.append(str(result))
            self.seen["ingestion"] += 1
            self.done.wait(1)

    def run(self, minutes, seed):
        threads = [threading.Thread(target=self.client, args=(seed * 1000 + i,)) for i in range(CLIENTS)]
        threads.append(threading.Thread(target=self.ingest))
        for t in threads:
            t.start()
        end = time.monotonic() + minutes * 60
        largest = 0
        while time.monotonic() < end and not self.problems and self.server.process.poll() is None:
            largest = max(largest, resident_mb(self.server.process.pid))
            time.sleep(0.5)
        self.done.set()
        for t in threads:
            t.join()
        return largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    context = harness.Context(os.path.abspath(arguments.program), None, None, False)
    context.dir = tempfile.mkdtemp(dir=context.root)
    try:
        data = context.folder("data")
        pairs = [context.sample(), context.sample("--dma", "mixed", "-m", "384")]
        context.ingested(data, "matmul", *pairs[0][:2])
        with context.server(data) as server:
            before = descriptors(server)
            soak = Soak(context, server, data, pairs)
            largest = soak.run(arguments.minutes, arguments.seed)
            for what, count in sorted(soak.seen.items()):
                print("%6d  %s" % (count, what))
            print("largest resident size of the server: %.0f MB" % largest)
            check(not soak.problems, "problems", *soak.problems[:3], server.errors()[-3000:])
            within(10, "descriptors are free again", lambda: descriptors(server) <= before + IDLE_WORKERS)
            server.process.send_signal(signal.SIGTERM)
            equal(server.process.wait(20), 0, "exit status")
            said = [line for line in server.errors().splitlines() if not line.startswith("Serving ")]
            check(not said, "what the server said", *said[:40])
    finally:
        context.close()
    print("ok")


if __name__ == "__main__":
    main()
