"""Generated pairs: what the tables say is what the generator knows."""
import contextlib, io, os, sys

from harness import Skip, check, equal, test

ENGINES = ("tensor", "scalar", "gpsimd", "vector", "sync")
KINDS = [(), ("--ntff-version", "4"), ("--ntff-version", "5"), ("--ntff-version", "5", "--cores", "1"), ("--dma", "dynamic-hw"),
         ("--dma", "dynamic-sw"), ("--dma", "mixed", "--dtype", "fp32"), ("--repeat", "7"), ("--repeat", "5", "--ntff-version", "4"),
         ("--dma", "mixed", "--repeat", "3", "--ntff-version", "5"), ("--uuid-nul", "5", "--ntff-version", "5"),
         ("--clock", "1000000000000000000", "--ntff-version", "4"), ("-m", "512", "-k", "512", "-n", "2048", "--dtype", "fp16")]


def truth_in_tables(context, data, name):
    one = context.query(data, name, """
        SELECT (SELECT COUNT(*) FROM Instruction) AS rows, (SELECT COUNT(*) FROM DmaPacket) AS packets,
               (SELECT SUM(transfer_bytes) FROM DmaPacket) AS dma_bytes,
               (SELECT COUNT(*) FROM Instruction WHERE opcode = 'MATMUL') AS matmuls""")[0]
    one.update(context.query(data, name, """
        SELECT ROUND(total_time * 1e12)::BIGINT AS window_ps, ROUND(dma_active_time * 1e12)::BIGINT AS dma_active_ps,
               ROUND(total_active_time * 1e12)::BIGINT AS total_active_ps, hardware_flops AS flops,
               COALESCE(transpose_flops, 0) AS transpose_flops, psum_read_bytes, psum_write_bytes, sbuf_read_bytes,
               sbuf_write_bytes, hbm_read_bytes, hbm_write_bytes, %s FROM Summary"""
                             % ", ".join("ROUND(%s_engine_active_time * 1e12)::BIGINT AS %s_active_ps" % (e, e) for e in ENGINES))[0])
    return one


@test
def tables_equal_the_truth(context):
    data = context.folder("data")
    for number, options in enumerate(KINDS):
        neff, ntff, truth = context.sample(*options)
        name = "g%d" % number
        context.ingested(data, name, neff, ntff)
        found = truth_in_tables(context, data, name)
        known = dict(truth)  # Summary adds what static blocks move to what instructions move
        for field, static in (("hbm_read_bytes", "static_in"), ("sbuf_write_bytes", "static_in"),
                              ("hbm_write_bytes", "static_out"), ("sbuf_read_bytes", "static_out")):
            known[field] += truth[static]
        wrong = {k: (known[k], v) for k, v in found.items() if known[k] != v}
        check(not wrong, "of %s differ (known, found)" % (" ".join(options) or "the default pair"), wrong)


@test
def the_reference_decoder_agrees(context):
    """The generator against decode.py of the shared folder, which knows nothing of it."""
    folder = os.path.join(context.shared or "", "format")
    if not os.path.isfile(os.path.join(folder, "decode.py")):
        raise Skip("the reference decoder is not here")
    sys.path.insert(0, folder)
    import decode
    for options in KINDS:
        neff, ntff, truth = context.sample(*options)
        report = io.StringIO()
        with contextlib.redirect_stdout(report):
            status = decode.main([neff, ntff])
        bad = [line.strip() for line in report.getvalue().splitlines() if "FAIL" in line or "note:" in line]
        check(status == 0 and not bad, "its self-checks on %s" % (" ".join(options) or "the default pair"), *bad[:3])
        profile = decode.Profile(decode.parse_neff(neff), decode.parse_ntff(ntff))
        found = profile.summary()
        pairs = {"window_ps": "total_time_ps", "total_active_ps": "total_active_time_ps", "dma_active_ps": "dma_active_time_ps",
                 "events": "event_count", "matmuls": "matmul_instruction_count", "flops": "hardware_flops",
                 "transpose_flops": "transpose_flops"}
        pairs.update({e + "_active_ps": e + "_engine_active_time_ps" for e in ENGINES})
        pairs.update({m + "_bytes": m + "_bytes" for m in ("psum_read", "psum_write", "sbuf_read", "sbuf_write", "hbm_read", "hbm_write")})
        wrong = {k: (truth[k], found.get(v, 0)) for k, v in pairs.items() if truth[k] != found.get(v, 0)}
        check(not wrong, "truth and decoder differ on %s" % " ".join(options), wrong)


DEFECTS = {  # enum nx_generate_defect -> words that the Warning table must hold (any), None: no warning is asked for
    "unknown opcode": (1 << 0, ("opcode",)),
    "unknown records": (1 << 1, ("record",)),
    "unknown variable type": (1 << 2, ("wormhole",)),
    "overflow": (1 << 4, ("lost", "overflow", "dropped")),
    "end without start": (1 << 5, ("start",)),
    "start without end": (1 << 6, None),
    "time running backwards": (1 << 7, ("before", "backward")),
    "straddling packet": (1 << 8, None),
    "interleaved sections": (1 << 9, None),
    "empty trace": (1 << 10, None),
    "code outside the dump": (1 << 11, ("code", "dump")),
    "unfinished packet": (1 << 12, ("packet",)),
    "unknown target": (1 << 13, ("atlantis",)),
    "no debug information": (1 << 14, None),
}


@test
def defects_are_reported(context):
    data = context.folder("data")
    for what, (bit, words) in DEFECTS.items():
        neff, ntff, truth = context.sample("--defects", str(bit))
        result = context.ingest(data, "d", neff, ntff, "--force")
        check(result.status == 0, "%s does not keep a pair from being read" % what, result)
        if words:
            warnings = " ".join(r["message"] for r in context.query(data, "d", "FROM Warning")).lower()
            check(any(w in warnings for w in words), "%s: Warning must hold one of %s" % (what, words), warnings[:800])
        if truth["rows"]:
            equal(context.query(data, "d", "SELECT COUNT(*) AS n FROM Instruction"), [{"n": truth["rows"]}], "rows with " + what)
            equal(context.query(data, "d", "SELECT COUNT(*) AS n FROM DmaPacket"), [{"n": truth["packets"]}], "packets with " + what)


@test
def the_same_options_give_the_same_bytes(context):
    def made(name, *options):
        files = [os.path.join(context.dir, name + ending) for ending in (".neff", ".ntff")]
        equal(context.run(*options, "--out-neff", files[0], "--out-ntff", files[1], program=context.generate).status, 0, "nx-generate")
        return [open(f, "rb").read() for f in files]

    for options in KINDS[:4]:
        first = made("first", "--seed", "5", *options)
        equal(first == made("second", "--seed", "5", *options), True, "two runs of the generator are equal")
        equal(first == made("third", "--seed", "6", *options), False, "another seed's files are equal")
