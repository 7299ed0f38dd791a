"""A profile appears whole or not at all, whatever happens while it is written or read."""
import os, random, signal, subprocess, threading, time

from harness import check, equal, published, test

BOTH = "SELECT (SELECT COUNT(*) FROM Instruction) AS rows, (SELECT COUNT(*) FROM DmaPacket) AS packets"


def counts(truth):
    return {"rows": truth["rows"], "packets": truth["packets"]}


@test
def again_with_queries_in_flight(context):
    data = context.folder("data")
    pairs = [context.sample(), context.sample("--dma", "mixed", "-m", "384")]
    context.ingested(data, "again", *pairs[0][:2])
    allowed = [counts(p[2]) for p in pairs]
    seen, problems, done = [], [], threading.Event()

    def ask(server):
        while not done.is_set():
            try:
                rows = context.rows(server, "again", BOTH)
                seen.append(allowed.index(rows[0]) if rows[0] in allowed else rows)
            except Exception as problem:  # a thread: collected, judged below
                problems.append(problem)

    with context.server(data) as server:
        threads = [threading.Thread(target=ask, args=(server,)) for _ in range(2)]
        for t in threads:
            t.start()
        try:
            for i in range(1, 9):
                context.ingested(data, "again", *pairs[i % 2][:2], "--force")
                time.sleep(0.1)
                equal(context.rows(server, "again", BOTH), [allowed[i % 2]], "the newest profile")
        finally:
            done.set()
            for t in threads:
                t.join()
    check(not problems, "%d of %d queries in flight failed" % (len(problems), len(problems) + len(seen)), *problems[:2])
    mixed = [s for s in seen if s not in (0, 1)]
    check(not mixed, "answers that mix two profiles", *mixed[:3])
    check(len(seen) > 10 and {0, 1} <= set(seen), "queries ran on both", len(seen))
    equal(published(data), ["again@latest"], "what is stored in the end")


def killed_after(context, seconds, data, neff, ntff):
    """Starts an ingestion and kills it after that time; True if it was still running."""
    process = subprocess.Popen([context.program, "view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "k",
                                "--ingest-only", "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@test
def kill_9_while_ingesting(context):
    small = context.sample()
    large = context.sample("--records", "2000000", "-m", "512")
    data = context.folder("data")
    start = time.monotonic()
    context.ingested(context.folder("measured"), "k", *large[:2])
    whole = time.monotonic() - start
    chance = random.Random(7)
    killed = 0
    for attempt in range(12):
        if attempt == 6:
            context.ingested(data, "k", *small[:2])
        killed += killed_after(context, whole * chance.uniform(0.05, 1.0), data, *large[:2])
        visible = [n for n in published(data) if not n.startswith(".")]
        check(visible in ([], ["k@latest"]), "what is visible after a kill", visible)
        if not visible:
            check(attempt < 6, "the old profile is gone")
            continue
        rows = context.query(data, "k", BOTH)
        check(rows[0] in (counts(small[2]), counts(large[2])), "a profile that is neither the old nor the new one", rows)
    check(killed >= 6, "only %d of 12 ingestions were killed while they ran" % killed)
    context.ingested(data, "k", *small[:2], "--force")
    equal(published(data), ["k@latest"], "litter after a later run")
    equal(context.query(data, "k", BOTH), [counts(small[2])], "the later run's profile")


@test
def two_at_once(context):
    """Two ingestions of one name at the same time: one of them wins, whole."""
    data = context.folder("data")
    pairs = [context.sample(), context.sample("--dma", "mixed", "-m", "384")]
    for _ in range(3):
        processes = [subprocess.Popen([context.program, "view", "-n", p[0], "-s", p[1], "--data-path", data, "--display-name",
                                       "race", "--ingest-only", "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                     for p in pairs]
        for process in processes:
            _, errors = process.communicate(timeout=120)
            equal(process.returncode, 0, "exit status of an ingestion in a race (%s)" % errors.decode()[:500])
        rows = context.query(data, "race", BOTH)
        check(rows[0] in [counts(p[2]) for p in pairs], "one of the two profiles", rows)
        equal(published(data), ["race@latest"], "what is stored after a race")


@test
def bad_input_leaves_the_old_profile(context):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    context.ingested(data, "kept", neff, ntff)
    cut = os.path.join(context.dir, "cut.ntff")
    with open(ntff, "rb") as f, open(cut, "wb") as g:
        g.write(f.read()[:-5000])
    equal(context.ingest(data, "kept", neff, cut, "--force").status, 3, "exit status for a cut file")
    equal(published(data), ["kept@latest"], "what is stored")
    equal(context.query(data, "kept", BOTH), [counts(truth)], "the old profile")
