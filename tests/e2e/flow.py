"""Flow on real profiles, checked by hand: engine, pc and time of what waited, and of what let it go.

How each line was checked, here for the Vector engine's pc 60 of vector-add-trn2-fd1k: its operands wait for
S[9]>=16.  SemaphoreUpdate shows S[9] reach 16 at 18289 ns; the instruction starts at 18312 (23 to 26 ns later is
what each of them takes on trn2).  S[9] belongs to block 1 of qSyncIO0, whose last packet ended at 17867.  Block 0
of the same queue ended before, at 16652; the addition reads both.
"""
from harness import Skip, check, equal, test

# name of what depends, its start_ts, name of what came first, its start_ts, its end_ts, type
VECTOR_ADD_TRN2 = [
    ("qSyncIO0 0", 14301, "Sync 59", 13405, 13495, "DGE_TRIGGER"),
    ("qSyncIO0 1", 15939, "Sync 60", 13528, 13588, "DGE_TRIGGER"),
    ("qSyncIO0 2", 17155, "Sync 61", 13621, 13678, "DGE_TRIGGER"),
    ("Vector 60", 18312, "qSyncIO0 0", 14301, 16652, "FLOW_DEPENDENCE"),
    ("Vector 60", 18312, "qSyncIO0 1", 15939, 17867, "FLOW_DEPENDENCE"),  # S[9] 16 at 18289
    ("qSyncIO0 3", 18370, "Sync 62", 13708, 13768, "DGE_TRIGGER"),
    ("GpSimd 70", 19549, "Vector 60", 18312, 19513, "FLOW_DEPENDENCE"),  # S[6] 1 at 19524
    ("qGpSimdIO0 0", 20335, "GpSimd 70", 19549, 19632, "DGE_TRIGGER"),
    ("Vector 61", 20796, "qSyncIO0 2", 17155, 19083, "FLOW_DEPENDENCE"),
    ("Vector 61", 20796, "qSyncIO0 3", 18370, 20298, "FLOW_DEPENDENCE"),  # S[11] 16 at 20773
    ("GpSimd 71", 22032, "Vector 61", 20796, 21995, "FLOW_DEPENDENCE"),  # S[6] 2 at 22008
    ("GpSimd 72", 22194, "qGpSimdIO0 0", 20335, 21779, "FLOW_DEPENDENCE"),  # S[24] 16 at 22170
    ("qGpSimdIO0 1", 22786, "GpSimd 71", 22032, 22089, "DGE_TRIGGER"),
    ("GpSimd 73", 24638, "qGpSimdIO0 1", 22786, 24261, "FLOW_DEPENDENCE"),  # S[25] 16 at 24614
]

# Compiler 2.18 states no types.  The engines' barrier is the runtime's: only semaphores tell of it.
VECTOR_ADD_TRN1 = [
    ("qSyncIO0 0", 11211, "Sync 50", 10735, 10784, "DGE_TRIGGER"),
    ("qSyncIO0 1", 13365, "Sync 51", 10815, 10856, "DGE_TRIGGER"),
    ("qSyncIO0 2", 15484, "Sync 52", 10888, 10929, "DGE_TRIGGER"),
    ("Vector 50", 16786, "qSyncIO0 0", 11211, 14897, None),
    ("Vector 50", 16786, "qSyncIO0 1", 13365, 16560, None),
    ("qSyncIO0 3", 17416, "Sync 53", 10965, 11017, "DGE_TRIGGER"),
    ("GpSimd 60", 18832, "Vector 50", 16786, 18803, None),
    ("qGpSimdIO0 0", 19512, "GpSimd 60", 18832, 18910, "DGE_TRIGGER"),
    ("Vector 51", 20361, "qSyncIO0 2", 15484, 18409, None),
    ("Vector 51", 20361, "qSyncIO0 3", 17416, 20138, None),
    ("GpSimd 61", 22405, "Vector 51", 20361, 22377, None),
    ("GpSimd 62", 22524, "qGpSimdIO0 0", 19512, 21754, None),
    ("qGpSimdIO0 1", 22839, "GpSimd 61", 22405, 22464, "DGE_TRIGGER"),
    ("GpSimd 63", 25229, "qGpSimdIO0 1", 22839, 24998, None),
]
BARRIER_TRN1 = [  # S[2] counts up: 5 at 10053 by Sync, 6 at 10132 by Vector, 7 at 10161 by GpSimd, 8 at 10192 by Scalar
    ("Vector 43", 10123, "Sync 44", 121, 10102, "SEMAPHORE"),
    ("GpSimd 53", 10096, "Vector 43", 10123, 10166, "SEMAPHORE"),
    ("Scalar 37", 10053, "GpSimd 53", 10096, 10206, "SEMAPHORE"),
    ("Tensor 44", 10015, "Scalar 37", 10053, 10236, "SEMAPHORE"),
]

# What let each go: the DMA_DIRECT2D that names the semaphore of its wait condition, which reached 16 just before.
ATTENTION = [
    ("Tensor 68", 17217, "GpSimd 64", 15378, 15428, "FLOW_DEPENDENCE"),  # S[9] 16 at 17189
    ("Sync 53", 22358, "Scalar 72", 19191, 19803, "FLOW_DEPENDENCE"),  # S[40] 16 at 22341
    ("Sync 54", 23635, "Scalar 75", 20040, 20611, "FLOW_DEPENDENCE"),  # S[41] 16 at 23619
    ("Vector 70", 25983, "Sync 53", 22358, 22963, "FLOW_DEPENDENCE"),  # S[26] 16 at 25959
    ("Vector 72", 28639, "Sync 54", 23635, 24210, "FLOW_DEPENDENCE"),  # S[27] 16 at 28615
    ("GpSimd 68", 52575, "GpSimd 67", 50847, 50884, "FLOW_DEPENDENCE"),  # S[11] 16 at 52552
]

INSTRUCTIONS = "SELECT 'Instruction' AS tbl, id, pcore_idx, engine || ' ' || pc AS name, start_ts, end_ts FROM Instruction"
BLOCKS = """SELECT 'DmaPacketAggregated', id, pcore_idx, queue_name || ' ' || block_id, start_ts, end_ts
            FROM DmaPacketAggregated"""
EDGES = """WITH event AS (%s), edge AS (
             SELECT o.name AS name, o.start_ts AS start_ts, i.name AS before, i.start_ts AS before_start,
                    i.end_ts AS before_end, dependency_type, gap_time
             FROM Flow JOIN event i ON i.tbl = in_table AND i.id = in_id
                       JOIN event o ON o.tbl = out_table AND o.id = out_id
             WHERE o.pcore_idx = 0 AND i.pcore_idx = 0)
           """


def edges(context, name, blocks, sql):
    data = context.folder("data")
    context.profiles()
    context.ingested(data, name, *context.pair(name))
    events = INSTRUCTIONS + (" UNION ALL " + BLOCKS if blocks else "")
    rows = context.query(data, name, EDGES % events + sql)
    wrong = [r for r in rows if r["gap_time"] != r["start_ts"] - r["before_end"]]
    check(not wrong, "gap_time is the later start less the earlier end", *wrong[:3])
    return [tuple(r[k] for k in ("name", "start_ts", "before", "before_start", "before_end", "dependency_type")) for r in rows]


def compare(found, expected):
    found, expected = set(found), set(expected)
    check(found == expected, "edges differ", *(["missing: %r" % (e,) for e in sorted(expected - found, key=str)] +
                                               ["too many: %r" % (e,) for e in sorted(found - expected, key=str)]))


@test
def static_dma_on_trn2(context):
    compare(edges(context, "vector-add-trn2-fd1k", True, "FROM edge WHERE dependency_type <> 'SEMAPHORE'"), VECTOR_ADD_TRN2)


@test
def static_dma_on_trn1(context):
    compare(edges(context, "vector-add-trn1-fd1k", True, "FROM edge WHERE dependency_type IS NULL OR dependency_type <> 'SEMAPHORE'"),
            VECTOR_ADD_TRN1)


@test
def barrier_on_trn1(context):
    compare(edges(context, "vector-add-trn1-fd1k", True,
                  "FROM edge WHERE dependency_type = 'SEMAPHORE' AND start_ts BETWEEN 10000 AND 10130"), BARRIER_TRN1)


@test
def dynamic_dma_on_trn2(context):
    """The last of those that had to come first is the one that the semaphore waited for."""
    names = ", ".join("('%s', %d)" % row[:2] for row in ATTENTION)
    compare(edges(context, "attention-baseline-bf16-s512", False, """FROM edge WHERE (name, start_ts) IN (%s)
            QUALIFY ROW_NUMBER() OVER (PARTITION BY name, start_ts ORDER BY before_end DESC) = 1""" % names), ATTENTION)


@test
def last_finishing_predecessor(context):
    """What decided when the additions could start: the block that came last, of the two that they read."""
    last = edges(context, "vector-add-trn2-fd1k", True, """FROM edge WHERE name LIKE 'Vector%' AND dependency_type <> 'SEMAPHORE'
            QUALIFY ROW_NUMBER() OVER (PARTITION BY name, start_ts ORDER BY before_end DESC) = 1""")
    compare(last, [row for row in VECTOR_ADD_TRN2 if row[:3] in (("Vector 60", 18312, "qSyncIO0 1"), ("Vector 61", 20796, "qSyncIO0 3"))])


@test
def published_joins(context):
    """The joins of the public query recipes, as they are written: which instruction moved which bytes of which tensor."""
    data = context.folder("data")
    context.profiles()
    context.ingested(data, "recipe", *context.pair("vector-add-trn2-fd1k"))
    rows = context.query(data, "recipe", """
        SELECT i.engine, i.pc, d.variable, d.source, d.transfer_bytes
        FROM Flow f JOIN Instruction i ON f.in_id = i.id JOIN DmaPacketAggregated d ON f.out_id = d.id
        WHERE f.in_table = 'Instruction' AND f.out_table = 'DmaPacketAggregated'
          AND (i.hbm_read_bytes > 0 OR i.hbm_write_bytes > 0)
        ORDER BY i.start_ts""")
    equal([tuple(r.values()) for r in rows],
          [("Sync", 59, "a_vec", "[[INPUT]]", 512000), ("Sync", 60, "b_vec", "[[INPUT]]", 512000),
           ("Sync", 61, "a_vec", "[[INPUT]]", 512000), ("Sync", 62, "b_vec", "[[INPUT]]", 512000),
           ("GpSimd", 70, "out", "[[SB]]", 512000), ("GpSimd", 71, "out", "[[SB]]", 512000)], "transfers of the instructions")


@test
def every_block_is_triggered_and_waited_for(context):
    """On generated kernels and real ones: one trigger a block run; each run is waited for; ids exist."""
    data = context.folder("data")
    pairs = {"generated": context.sample()[:2], "looped": context.sample("--repeat", "7")[:2]}
    try:
        pairs.update({n: context.pair(n) for n in context.profiles() if n.startswith(("transpose", "conv2d", "vector"))})
    except Skip:  # generated ones tell enough where the real ones are not
        pass
    for name, (neff, ntff) in pairs.items():
        context.ingested(data, name, neff, ntff)
        row = context.query(data, name, """
            SELECT (SELECT COUNT(*) FROM DmaPacketAggregated) AS blocks,
                   (SELECT COUNT(DISTINCT out_id) FROM Flow WHERE dependency_type = 'DGE_TRIGGER') AS triggered,
                   (SELECT COUNT(*) FROM Flow WHERE dependency_type = 'DGE_TRIGGER') AS triggers,
                   (SELECT COUNT(DISTINCT in_id) FROM Flow WHERE in_table = 'DmaPacketAggregated') AS waited,
                   (SELECT COUNT(*) FROM Flow WHERE (in_table = 'Instruction' AND in_id NOT IN (SELECT id FROM Instruction))
                       OR (out_table = 'Instruction' AND out_id NOT IN (SELECT id FROM Instruction))
                       OR (in_table = 'DmaPacketAggregated' AND in_id NOT IN (SELECT id FROM DmaPacketAggregated))
                       OR (out_table = 'DmaPacketAggregated' AND out_id NOT IN (SELECT id FROM DmaPacketAggregated))) AS dangling
            """)[0]
        equal((row["triggered"], row["triggers"], row["waited"], row["dangling"]), (row["blocks"], row["blocks"], row["blocks"], 0),
              "blocks of %s: triggered, triggers, waited for, dangling" % name)
