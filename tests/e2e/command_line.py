"""Arguments, exit statuses, messages, output formats: everything but the server and the store."""
import csv, io, json, os, pty, re, resource, select, shutil, socket, subprocess, sys, time

from harness import check, equal, free_port, published, test

DONE, FAILED, USAGE, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3, 4


def exits(context, status, *arguments, says=(), **how):
    result = context.run(*arguments, **how)
    check(result.status == status, "exit status %d is expected of: %s" % (status, " ".join(map(str, arguments))), result)
    for word in (says,) if isinstance(says, str) else says:
        check(word in result.out + result.err, "the message must hold '%s'" % word, result)
    check("Sanitizer" not in result.err, "a sanitizer spoke", result)
    return result


@test
def help_and_version(context):
    version = exits(context, DONE, "--version").out
    check(re.search(r"\d+\.\d+\.\d+", version), "a version number", version)
    check("view" in exits(context, DONE, "--help").out, "--help names the commands")
    for command in ("view", "query", "check", "list", "dump"):
        check(exits(context, DONE, command, "--help").out.strip(), "%s --help prints to standard output" % command)


@test
def wrong_usage(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    for arguments in ((), ("no-such-command",), ("view", "--no-such-option"), ("view", "-n", neff, "--data-path", data),
                      ("view", "-s", ntff, "--data-path", data), ("query",), ("query", "only-a-name"), ("dump",),
                      ("dump", "neff"), ("dump", "poem", neff),
                      ("query", "--format", "poem", "--data-path", data, "x", "SELECT 1"),
                      ("view", "--api-server-port", "70000", "--data-path", data),
                      ("view", "--api-server-port", "http", "--data-path", data),
                      ("view", "-n", neff, "-s", ntff, "--data-path", data, "--output-format", "poem")):
        result = exits(context, USAGE, *arguments)
        check(result.err.strip() and not result.out.strip(), "the message goes to standard error", arguments, result)
    equal(published(data), [], "profiles after wrong usage")


@test
def names_refused(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    for name in ("../escape", "a/b", "/abs", "..", ".", "", ".hidden", "a\\b", "line\nbreak", "tab\tname", "bell\a",
                 "x" * 129, "é" * 65, "name\x7f"):
        result = context.ingest(data, name, neff, ntff)
        equal(result.status, USAGE, "exit status for the name %r (%s)" % (name, result))
    equal(published(data), [], "profiles after refused names")
    check(not os.path.exists(os.path.join(context.dir, "escape@latest")), "nothing outside the data path")
    for name in ("x" * 128, "with space", "Grüße-日本", "a.b..c"[:3], "50%", "q'uote\"", "--dashes"):
        result = context.run("view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name=" + name, "--ingest-only")
        equal(result.status, DONE, "exit status for the name %r (%s)" % (name, result))
        rows = context.run("query", "--data-path", data, "--format", "csv", "--", name, "SELECT COUNT(*) AS n FROM Summary")
        equal((rows.status, rows.out.split()), (DONE, ["n", "1"]), "a query of the name %r (%s)" % (name, rows))


def broken_files(context):
    """(what, NEFF, NTFF, words of the message): each is to be refused."""
    neff, ntff, _ = context.sample()
    folder = context.folder("broken")
    neff_bytes, ntff_bytes = open(neff, "rb").read(), open(ntff, "rb").read()

    def made(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    missing = os.path.join(folder, "missing")
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    wrong = context.sample("--defects", "8")
    yield "no NEFF", missing, ntff, ["missing"]
    yield "no NTFF", neff, missing, ["missing"]
    yield "a folder", folder, ntff, [folder]
    yield "a pipe", neff, fifo, ["fifo"]
    yield "swapped", ntff, neff, []
    yield "empty NEFF", made("empty.neff", b""), ntff, ["empty.neff"]
    yield "empty NTFF", neff, made("empty.ntff", b""), ["empty.ntff"]
    yield "text", made("text.neff", b"#!/bin/sh\necho hello\n" * 200), ntff, ["text.neff"]
    yield "package version 7", made("v7.neff", b"\7" + neff_bytes[1:]), ntff, ["v7.neff", "7"]
    yield "header size 0", made("h0.neff", neff_bytes[:8] + bytes(8) + neff_bytes[16:]), ntff, ["h0.neff"]
    yield "data size 2^63", made("big.neff", neff_bytes[:16] + bytes(7) + b"\x80" + neff_bytes[24:]), ntff, ["big.neff"]
    yield "not gzip", made("plain.neff", neff_bytes[:1024] + bytes(len(neff_bytes) - 1024)), ntff, ["plain.neff"]
    yield "cut in the archive", made("cut.neff", neff_bytes[:len(neff_bytes) // 2]), ntff, ["cut.neff"]
    yield "version 9", neff, made("v9.ntff", b"\x09" + ntff_bytes[1:]), ["v9.ntff", "9"]
    yield "metadata past the end", neff, made("meta.ntff", ntff_bytes[:1] + b"\xff" * 7 + b"\x7f" + ntff_bytes[9:]), ["meta.ntff"]
    yield "no metadata", neff, made("nometa.ntff", ntff_bytes[:1] + bytes(8) + ntff_bytes[9:]), ["nometa.ntff"]
    yield "cut in the records", neff, made("cut.ntff", ntff_bytes[:-1000]), ["cut.ntff"]
    yield "cut in the metadata", neff, made("short.ntff", ntff_bytes[:500]), ["short.ntff"]
    yield "another kernel's trace", wrong[0], wrong[1], ["uuid"]


@test
def bad_input(context):
    data = context.folder("data")
    for what, neff, ntff, words in broken_files(context):
        result = exits(context, BAD_INPUT, "view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "bad",
                       "--ingest-only", says=words, timeout=30)
        check(result.err.strip() and not result.out.strip(), "%s: the message goes to standard error" % what, result)
        equal(published(data), [], "profiles after %s" % what)
    for kind, file in (("neff", 1), ("ntff", 2)):
        for case in broken_files_of(context, file):
            exits(context, BAD_INPUT, "dump", kind, case)


def broken_files_of(context, index):
    folder = os.path.join(context.dir, "broken")
    return [os.path.join(folder, n) for n in (("empty.neff", "cut.neff") if index == 1 else ("empty.ntff", "v9.ntff"))]


@test
def members_that_are_not_there(context):
    data = context.folder("data")
    for member, status in (("kelf-0.json", BAD_INPUT), ("sg00/def.json", BAD_INPUT), ("sg00/PE.bin", BAD_INPUT),
                           ("sg00/tensor_map.json", DONE), ("neff.json", DONE), ("info.json", DONE),
                           ("sg00/debug_info_asm_PE.dbg", DONE)):
        neff, ntff, _ = context.sample("--without-member", member)
        result = context.ingest(data, "without", neff, ntff, "--force")
        check(result.status == status, "without %s the exit status is %d" % (member, status), result)
        if status == BAD_INPUT:
            check(os.path.basename(member) in result.err, "the message names the member %s" % member, result)


@test
def data_path_unusable(context):
    neff, ntff, _ = context.sample()
    file = os.path.join(context.dir, "file")
    open(file, "w").close()
    for data in (file, os.path.join(file, "below"), "/proc/no-such-place"):
        exits(context, UNAVAILABLE, "view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "x", "--ingest-only")


@test
def port_in_use(context):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])
        result = context.run("view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "stored",
                             "--disable-ui", "--api-server-port", port)
    equal(result.status, UNAVAILABLE, "exit status when the port is in use (%s)" % result)
    check(port in result.err and "stored" in result.err, "the message names the port and the profile", result)
    check("--api-server-port" in result.err, "the message says how to pick another port", result)
    check("Processing for stored is complete" in result.err, "ingestion had landed", result)
    equal(context.query(data, "stored", "SELECT COUNT(*) AS n FROM Instruction"), [{"n": truth["rows"]}], "rows stored")


@test
def the_holder_of_a_port(context):
    """Another process has the same port of another address: it is not the one to name."""
    data = context.folder("data")
    held = "import socket, sys; s = socket.socket(); s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen(); print(1, flush=True); input()"
    with socket.socket() as other:
        other.bind(("127.0.0.2", 0))
        other.listen()
        port = str(other.getsockname()[1])
        holder = subprocess.Popen([sys.executable, "-c", held, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            equal(holder.stdout.readline().strip(), b"1", "the holder is ready")
            result = exits(context, UNAVAILABLE, "view", "--data-path", data, "--disable-ui", "--api-server-port", port,
                           says="port %s is in use" % port)
        finally:
            holder.communicate(b"\n")
    if os.path.exists("/proc/net/tcp"):
        check("process %d " % holder.pid in result.err, "the holder %d is named, not %d" % (holder.pid, os.getpid()), result)


@test
def options_of_the_closed_tool(context):
    data = context.folder("data")
    for arguments, name in ((("-d", data), "-d"), (("-d" + data,), "-d"), (("-F", "ignore-nc-buf-usage=true"), "-F"),
                            (("-v", "2"), "-v"), (("-v2",), "-v"), (("-qd", data), "-d"), (("--session-dir", data), "--session-dir"),
                            (("--session-dir=" + data,), "--session-dir")):
        exits(context, USAGE, "view", "--data-path", data, *arguments, says="%s is not supported by this build" % name)
    for arguments in (("-x",), ("--force=yes",), ("--disable-ui=1",)):
        result = exits(context, USAGE, "view", "--data-path", data, *arguments)
        check("is not supported" not in result.err, "no option of the closed tool", arguments, result)


@test
def names_of_any_width(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    names = ("ab", "Grüße", "日本語")
    for name in names:
        context.ingested(data, name, neff, ntff)
    lines = exits(context, DONE, "list", "--data-path", data, env={"LC_ALL": "C.UTF-8"}).out.splitlines()
    widths = {"ab": 2, "Grüße": 5, "日本語": 6}
    columns = [re.match(r"(.*?)(  +)[\dt]", line) for line in lines[:-1]]
    starts = {widths.get(c.group(1), len(c.group(1))) + len(c.group(2)) for c in columns[1:]}
    equal(len(starts), 1, "columns where the second field of `list` starts (%s)" % lines)
    table = exits(context, DONE, "query", "--data-path", data, "ab", "SELECT '日本語' AS a, 1 AS b UNION ALL SELECT 'x', 2 ORDER BY b",
                  env={"LC_ALL": "C.UTF-8"}).out.splitlines()
    check("日本語  1" in table and "x       2" in table, "the aligned table counts columns, not bytes", *table)


@test
def ingest_only(context):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    result = context.ingested(data, "once", neff, ntff)
    check(any(line.endswith("Processing for once is complete") for line in result.err.splitlines()),
          "a line of its own says that ingestion is done", result)
    equal(published(data), ["once@latest"], "what is stored")
    folder = os.path.join(data, "profiles", "global", "once@latest")
    for name in os.listdir(folder):
        check(name.endswith(".parquet"), "only tables are stored: %s" % name)
        with open(os.path.join(folder, name), "rb") as f:
            content = f.read()
        check(content[:4] == content[-4:] == b"PAR1", "%s is a Parquet file" % name)
    check("DmaPacket.parquet" in os.listdir(folder), "DmaPacket is stored")
    check("CoreBarrier.parquet" not in os.listdir(folder), "a table without rows is not written")


@test
def defaults_of_name_and_data_path(context):
    neff, ntff, _ = context.sample()
    home, xdg = context.folder("home"), context.folder("xdg")
    copy = os.path.join(context.dir, "my.run.ntff")
    shutil.copyfile(ntff, copy)
    for env, place in (({"HOME": home}, os.path.join(home, ".local/share/neuron-profile")),
                       ({"HOME": home, "XDG_DATA_HOME": xdg}, os.path.join(xdg, "neuron-profile"))):
        exits(context, DONE, "view", "-n", neff, "-s", copy, "--ingest-only", env=env)
        equal(published(place), ["my.run@latest"], "stored below %s" % place)
        check("my.run" in exits(context, DONE, "list", env=env).out, "list finds it")


@test
def long_options(context):
    neff, ntff, _ = context.sample()
    data = context.folder("data")
    exits(context, DONE, "view", "--neff-path", neff, "--session-file", ntff, "--data-path", data, "--display-name", "x",
          "--ingest-only", "--port", "3001", "--api-server-port", "3002", "--output-format", "parquet")
    equal(published(data), ["x@latest"], "stored")


@test
def summary_formats(context):
    neff, ntff, truth = context.sample()
    data = context.folder("data")
    common = ("view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "s", "--output-format")
    out = exits(context, DONE, *common, "summary-json").out
    nodes = json.loads(out)
    equal(len(nodes), 1, "nodes of summary-json")
    (node, fields), = nodes.items()
    check(re.fullmatch(r"n_[0-9a-f]{40}", node), "the node's name", node)
    check(abs(fields["total_time"] - truth["window_ps"] / 1e12) < 1e-12, "total_time in seconds", fields["total_time"])
    equal(fields["matmul_instruction_count"], truth["matmuls"], "matmul_instruction_count")
    text = exits(context, DONE, *common, "summary-text").out
    lines = [line for line in text.splitlines() if line.strip()]
    values = dict(line.split(None, 1) for line in lines if line.startswith("    "))
    for name in ("total_time", "matmul_instruction_count", "instance_type", "runtime_version"):
        check(name in values, "summary-text has %s" % name, text[:600])
    equal(int(values["matmul_instruction_count"]), truth["matmuls"], "matmul_instruction_count in the text")


@test
def schema(context):
    yaml = exits(context, DONE, "--show-profile-schema").out
    for word in ("openapi:", "Instruction:", "evt_wait_time_ns:", "DmaPacketAggregated:", "7.4.0"):
        check(word in yaml, "--show-profile-schema has %s" % word)


@test
def query_formats(context):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    context.ingested(data, "q", neff, ntff)
    sql = "SELECT engine, COUNT(*) AS n, NULL AS nothing, 'a|b,\"c' AS text FROM Instruction GROUP BY engine ORDER BY engine"

    def run(form):
        return exits(context, DONE, "query", "--data-path", data, "--format", form, "q", sql).out

    answer = json.loads(run("json"))
    rows = answer["data"]
    equal(sum(r["n"] for r in rows), truth["rows"], "rows over the engines")
    equal([r["nothing"] for r in rows], [None] * len(rows), "NULL in JSON")
    equal(rows[0]["text"], 'a|b,"c', "text in JSON")
    equal([json.loads(line) for line in run("jsonl").splitlines()], rows, "jsonl")
    table = list(csv.DictReader(io.StringIO(run("csv"))))
    equal([(r["engine"], int(r["n"]), r["text"]) for r in table], [(r["engine"], r["n"], r["text"]) for r in rows], "csv")
    markdown = run("markdown").splitlines()
    equal(len(markdown), len(rows) + 2, "lines of markdown")
    check(re.fullmatch(r"\|[\s:|-]+\|", markdown[1]), "the second line of markdown", markdown[1])
    aligned = run("table")
    check(all(r["engine"] in aligned for r in rows), "the aligned table", aligned)


@test
def query_errors(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    context.ingested(data, "matmul-run-1", neff, ntff)
    result = exits(context, FAILED, "query", "--data-path", data, "matmul-run-2", "SELECT 1")
    check("matmul-run-1" in result.err, "near names are listed", result)
    result = exits(context, FAILED, "query", "--data-path", data, "matmul-run-1", "SELECT opcod FROM Instruction")
    check("opcode" in result.err, "the engine's suggestion is passed on", result)
    exits(context, FAILED, "query", "--data-path", data, "matmul-run-1", "DROP TABLE Instruction")
    exits(context, DONE, "list", "--data-path", context.folder("empty"))


@test
def dumps(context):
    neff, ntff, truth = context.sample()
    text = exits(context, DONE, "dump", "neff", neff).out
    for word in ("sg00/def.json", "qSPIO0", "identity_sg0000", "cayman"):
        check(word in text, "dump neff shows %s" % word)
    text = exits(context, DONE, "dump", "ntff", ntff).out
    for word in ("trn2.3xlarge", "sg01", "throttle"):
        check(word in text, "dump ntff shows %s" % word)
    json.loads(exits(context, DONE, "dump", "neff", neff, "--json").out)
    json.loads(exits(context, DONE, "dump", "ntff", ntff, "--json").out)
    few = exits(context, DONE, "dump", "ntff", ntff, "--records", "7").out
    check(len(few.splitlines()) >= len(text.splitlines()) + 7, "--records 7 prints seven records more")


@test
def dumped_records_are_not_held(context):
    """Many records in less memory than their documents would take."""
    _, ntff, _ = context.sample("--records", "300000")
    for arguments in ((), ("--json",)):
        process = subprocess.Popen([context.program, "dump", "ntff", ntff, "--records", "300000", *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (60 << 20, 60 << 20)))
        lines = 0
        for line in process.stdout:
            lines += b"words" in line
        equal(process.wait(60), 0, "exit status of dump --records with little memory")
        equal(lines, 300000, "records printed")
    few = json.loads(exits(context, DONE, "dump", "ntff", ntff, "--records", "3", "--json").out)["first_records"]
    equal((len(few), [r["offset"] for r in few]), (3, [few[0]["offset"] + 16 * i for i in range(3)]), "the first records")
    equal(json.loads(exits(context, DONE, "dump", "ntff", ntff, "--records", "0", "--json").out).get("first_records"), None,
          "first_records that nobody asked for")


# -------------------------------------------------------------------- progress
def on_a_terminal(context, *arguments, env=None, what="stderr", status=0):
    """Standard error (or output) of the program when it is a terminal."""
    master, slave = pty.openpty()
    streams = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    streams[what] = slave
    process = subprocess.Popen([context.program, *arguments], env=dict(os.environ, **dict({"TERM": "xterm"}, **(env or {}))), **streams)
    os.close(slave)
    seen = b""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([master], [], [], 1)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    equal(process.wait(30), status, "exit status on a terminal")
    return seen


@test
def progress(context):
    neff, ntff, _ = context.sample("--records", "3000000", "-m", "512")
    data = context.folder("data")
    arguments = ("view", "-n", neff, "-s", ntff, "--data-path", data, "--display-name", "p", "--ingest-only", "--force")
    bar = on_a_terminal(context, *arguments)
    check(b"%" in bar, "a bar with its percentage on a terminal", bar[:500])
    plain = on_a_terminal(context, *arguments, env={"NO_COLOR": "1"})
    check(not re.search(rb"\x1b\[[0-9;]*m", plain), "no colours with NO_COLOR", plain[:500])
    quiet = on_a_terminal(context, *arguments, "--quiet")
    check(b"%" not in quiet and b"\x1b" not in quiet, "no bar with --quiet", quiet[:500])
    piped = context.run(*arguments)
    check("\r" not in piped.err and "\x1b" not in piped.err and len(piped.err.splitlines()) <= 5,
          "no bar when standard error is not a terminal", piped)
