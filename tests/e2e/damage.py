"""Damaged real files, end to end: an answer or a clear error, and never a partial profile.

Every case runs in one process under sanitizers in tests/trace/test_damage.c; here every 25th goes through the
whole program.
"""
import os, random

from harness import Skip, check, equal, published, test

EVERY = 25
TRUNCATIONS, FLIPS = 500, 2000
LIMIT = 10  # seconds for one file


def damaged(content, seed):
    """The cases of tests/trace/test_damage.c: cut at evenly spread places, bytes changed at random ones."""
    size = len(content)
    for i in range(TRUNCATIONS):
        yield "cut at %d" % (size * i // TRUNCATIONS), content[:size * i // TRUNCATIONS]
    chance = random.Random(seed)
    for _ in range(FLIPS):
        at, to = chance.randrange(size), chance.randrange(1, 256)
        yield "byte %d changed" % at, content[:at] + bytes([content[at] ^ to]) + content[at + 1:]


@test
def of_real_files(context):
    context.profiles()
    if not context.asan_program:
        raise Skip("no program with sanitizers was given (--asan-program)")
    data = context.folder("data")
    for name in ("attention-fused-bf16-s512", "vector-add-trn1-fd1k"):
        pair = context.pair(name)
        for which in (0, 1):
            with open(pair[which], "rb") as f:
                content = f.read()
            statuses = {}
            for number, (what, bad) in enumerate(damaged(content, which)):
                if number % EVERY:
                    continue
                path = os.path.join(context.dir, "damaged" + (".neff", ".ntff")[which])
                with open(path, "wb") as f:
                    f.write(bad)
                files = [path if i == which else pair[i] for i in (0, 1)]
                result = context.ingest(data, "d", *files, "--force", program=context.asan_program, timeout=LIMIT)
                check(result.status in (0, 3), "%s, %s" % (os.path.basename(pair[which]), what), result)
                check("Sanitizer" not in result.err and "runtime error" not in result.err, "a sanitizer spoke: %s" % what, result)
                visible = published(data)
                check(visible in ([], ["d@latest"]), "what is stored after %s" % what, visible)
                if result.status == 0:
                    rows = context.query(data, "d", "SELECT COUNT(*) AS n FROM NeffHeader")
                    equal(rows, [{"n": 1}], "a profile of a damaged file is whole")
                statuses[result.status] = statuses.get(result.status, 0) + 1
            check(statuses.get(3, 0) > 0, "some damage is found", statuses)
