"""The lines that the project promises, exactly as written there, on the default port."""
import json, os, shutil, signal, subprocess, time

from harness import READY_SECONDS, Skip, check, equal, port_is_free, stop, test

PORT = 3002

VIEW = r"""
neuron-explorer view -n ./kernel.neff -s ./profile.ntff \
  --data-path ~/.local/share/neuron-profile --display-name my-kernel --disable-ui &
"""

HEALTH = r"""curl -s http://localhost:3002/api/v1/health"""

SEARCH = r"""curl -s -X POST http://localhost:3002/api/v1/db/my-kernel/_search -H 'Content-Type: application/json' \
  -d '%s'"""

SUMMARY = r"""{"type":"databaseExplorerQuery","tableName":"Summary","query":"SELECT total_time, tensor_engine_active_time_percent, dma_active_time_percent FROM Summary"}"""
SCHEMA = r"""{"type":"tableSchema","tableName":"Instruction"}"""
FILES = r"""{"type":"listDbFiles"}"""
WHERE_TIME_GOES = r"""{"type":"databaseExplorerQuery","tableName":"Instruction","query":"SELECT engine, opcode, COUNT(*) AS cnt, SUM(duration_ns) AS total_dur_ns, SUM(evt_wait_time_ns) AS total_evt_wait_ns FROM Instruction GROUP BY engine, opcode ORDER BY total_dur_ns DESC"}"""

ENGINES = {"Tensor", "Vector", "Scalar", "GpSimd", "Sync"}


def rows_of(answer, *keys):
    """The list in an answer: itself, or under one of those keys."""
    if isinstance(answer, list):
        return answer
    for key in keys + ("data",):
        if isinstance(answer.get(key), list):
            return answer[key]
    raise AssertionError("no list in %s" % str(answer)[:300])


class Shell:
    """A user's shell: their home, the program on the PATH, the two files in the current folder."""

    def __init__(self, context, neff, ntff):
        self.home = context.folder("home")
        self.cwd = context.folder("work")
        bin_folder = context.folder("bin")
        if not os.path.exists(os.path.join(bin_folder, "neuron-explorer")):
            os.symlink(context.program, os.path.join(bin_folder, "neuron-explorer"))
        shutil.copyfile(neff, os.path.join(self.cwd, "kernel.neff"))
        shutil.copyfile(ntff, os.path.join(self.cwd, "profile.ntff"))
        self.env = dict(os.environ, HOME=self.home, PATH=bin_folder + ":" + os.environ["PATH"])

    def run(self, line, parse=True):
        done = subprocess.run(["sh", "-c", line], cwd=self.cwd, env=self.env, capture_output=True, timeout=120, text=True)
        check(done.returncode == 0, "exit status %d: %s" % (done.returncode, line), done.stderr[:1000])
        if not parse:
            return done.stdout
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise AssertionError("not one JSON document: %s\n      %s" % (line, done.stdout[:500]))


def wait_for_health(shell, process):
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        check(process.poll() is None, "the server ended before it answered")
        done = subprocess.run(["sh", "-c", HEALTH], cwd=shell.cwd, env=shell.env, capture_output=True, text=True)
        if "healthy" in done.stdout:
            return
        time.sleep(0.05)
    raise AssertionError("not healthy after %d s" % READY_SECONDS)


def ask_everything(shell):
    rows = rows_of(shell.run(SEARCH % SUMMARY))
    equal(len(rows), 1, "rows of Summary")
    equal(list(rows[0]), ["total_time", "tensor_engine_active_time_percent", "dma_active_time_percent"], "columns")
    check(rows[0]["total_time"] > 0, "total_time", rows)
    check(0 <= rows[0]["tensor_engine_active_time_percent"] <= 1, "tensor_engine_active_time_percent", rows)
    check(0 < rows[0]["dma_active_time_percent"] <= 1, "dma_active_time_percent", rows)

    columns = rows_of(shell.run(SEARCH % SCHEMA), "columns", "fields")
    check(len(columns) == 55, "Instruction has 55 columns, found %d" % len(columns))
    for column in columns:
        missing = {"name", "type", "unit", "required", "description", "example"} - set(column)
        check(not missing, "column %s lacks %s" % (column.get("name"), sorted(missing)), column)

    files = {f["name"]: f for f in rows_of(shell.run(SEARCH % FILES), "files", "tables")}
    for name in ("Instruction", "DmaPacket", "Summary", "SchemaFields", "NeffHeader"):
        check(name in files, "listDbFiles lacks %s" % name, sorted(files))
    for entry in files.values():
        check(entry["rows"] > 0 and entry["bytes"] > 0 and entry["file"].endswith(".parquet"), "an entry", entry)

    groups = rows_of(shell.run(SEARCH % WHERE_TIME_GOES))
    equal(sum(g["cnt"] for g in groups), files["Instruction"]["rows"], "instructions over all groups")
    check({g["engine"] for g in groups} <= ENGINES, "engines", {g["engine"] for g in groups})
    totals = [g["total_dur_ns"] for g in groups]
    equal(totals, sorted(totals, reverse=True), "order of the groups")
    return files


def without_a_server(context, shell, files):
    out = shell.run('neuron-explorer query my-kernel "SELECT COUNT(*) AS n FROM Instruction"', parse=False)
    check(str(files["Instruction"]["rows"]) in out.replace(",", ""), "query prints the count", out)
    for form in ("table", "json", "jsonl", "csv", "markdown"):
        out = shell.run('neuron-explorer query my-kernel "SELECT engine, opcode FROM Instruction LIMIT 3" --format %s' % form,
                        parse=False)
        check("engine" in out and len(out.splitlines()) >= (1 if form == "json" else 3), "--format %s" % form, out)
    check("my-kernel" in shell.run("neuron-explorer list", parse=False), "list names the profile")
    version = shell.run("neuron-explorer --version", parse=False)
    check(any(c.isdigit() for c in version) and "neuron-explorer" in version, "--version", version)


def one_profile(context, neff, ntff):
    for _ in range(120):  # another test may be there
        if port_is_free(PORT):
            break
        time.sleep(0.5)
    else:
        raise Skip("port %d is in use by another program" % PORT)
    shell = Shell(context, neff, ntff)
    log = open(os.path.join(context.dir, "view.log"), "w+")
    # the shell stays until its job ends, and says which process that is
    server = subprocess.Popen(["sh", "-c", VIEW + "echo $! > server.pid\nwait $!"], cwd=shell.cwd, env=shell.env,
                              stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        wait_for_health(shell, server)
        files = ask_everything(shell)
        without_a_server(context, shell, files)
        log.seek(0)
        text = log.read()
        check("Processing for my-kernel is complete" in text, "the line that ingestion is done", text)
        stored = os.path.join(shell.home, ".local/share/neuron-profile/profiles/global/my-kernel@latest")
        check(os.path.isfile(os.path.join(stored, "Instruction.parquet")), "where the tables are", stored)
    finally:
        with open(os.path.join(shell.cwd, "server.pid")) as f:
            os.kill(int(f.read()), signal.SIGTERM)
        stop(server)
        log.close()


def register(name):
    def run(context):
        if name not in context.profiles():
            raise Skip("%s is not among the real profiles" % name)
        one_profile(context, *context.pair(name))

    run.__name__ = name.replace("-", "_")
    run.__module__ = __name__
    test(run)


for profile in ("vector-add-trn1-fd1k", "vector-add-trn2-fd1k", "transpose-1024-trn2", "conv2d-fp16-trn2-small",
                "conv2d-fp16-trn2", "attention-baseline-bf16-s512", "attention-fused-bf16-s512",
                "attention-fused-fp32-s512", "attention-fused-bf16-s1024"):
    register(profile)


@test
def generated_sample(context):
    one_profile(context, *context.sample()[:2])
