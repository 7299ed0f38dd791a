"""Instructions and DMA lead to the right line and loop iteration of a kernel whose source is known (tools/generate.h)."""
import os, re

from harness import check, equal, test

SOURCE = "kernels/matmul_tiled.py"
TILE_M, TILE_K, TILE_N = 128, 128, 512
# options, (m, k, n), bytes of an element, cores
KERNELS = [((), (256, 256, 1024), 2, 2),
           (("--ntff-version", "4"), (256, 256, 1024), 2, 1),
           (("-m", "384", "-k", "512", "-n", "1536", "--cores", "1"), (384, 512, 1536), 2, 1),
           (("--dma", "dynamic-hw"), (256, 256, 1024), 2, 2),
           (("--dma", "mixed", "--dtype", "fp32"), (256, 256, 1024), 4, 2)]
# the iteration around an instruction: one column a loop, NULL where it is in none
LOOPS = """
    WITH RECURSIVE chain AS (
        SELECT k.kernel_instruction_name AS name, k.pcore_idx, v.variable_name, v.variable_value,
               v.parent_iteration_variable_id AS parent, v.line_number
        FROM KernelInstructions k JOIN KernelIterationVariables v ON v.iteration_variable_id = k.iteration_variables_id
        UNION ALL
        SELECT c.name, c.pcore_idx, v.variable_name, v.variable_value, v.parent_iteration_variable_id, v.line_number
        FROM chain c JOIN KernelIterationVariables v ON v.iteration_variable_id = c.parent)
    SELECT i.*, (SELECT MAX(variable_value) FROM chain c WHERE c.name = i.kernel_instruction_name AND c.pcore_idx = i.pcore_idx
                 AND variable_name = 'm') AS m,
                (SELECT MAX(variable_value) FROM chain c WHERE c.name = i.kernel_instruction_name AND c.pcore_idx = i.pcore_idx
                 AND variable_name = 'n') AS n,
                (SELECT MAX(variable_value) FROM chain c WHERE c.name = i.kernel_instruction_name AND c.pcore_idx = i.pcore_idx
                 AND variable_name = 'k') AS k
    FROM Instruction i """


# each block's run, with the instruction that started it
BLOCKS = """
    SELECT i.*, d.variable, f.in_id AS trigger, CASE WHEN d.variable = 'c' THEN d.write_offset ELSE d.read_offset END AS address
    FROM DmaPacketAggregated d LEFT JOIN Flow f ON f.in_table = 'Instruction' AND f.out_table = 'DmaPacketAggregated' AND f.out_id = d.id
    LEFT JOIN (%s) i ON f.in_id = i.id""" % LOOPS


def place(row):
    """(line, m, n, k) of a row; the kernel's own debug information must name the same line."""
    line = row["bir_debug_info_source_location"]
    equal(row["nki_source_location"], line, "the kernel's line of %s %s" % (row["engine"], row["opcode"]))
    match = re.fullmatch(re.escape(SOURCE) + r":(\d+)", line or "")
    check(match, "%s %s has a line" % (row["engine"], row["opcode"]), row)
    return int(match.group(1)), row["m"], row["n"], row["k"]


def of_address(variable, offset, sizes, element, truth):
    """What must stand for a DMA: its line, and the loop values that its address in HBM follows from."""
    m, k, n = sizes
    row, column = divmod(offset // element, m if variable == "a" else n)
    if variable == "a":    # A[k, m]; which columns of C it is for, the address does not say
        return truth["line_load_a"], column // TILE_M, None, row // TILE_K
    if variable == "b":
        return truth["line_load_b"], None, column // TILE_N, row // TILE_K
    if variable == "c":
        return truth["line_store_c"], row // TILE_M, column // TILE_N, None
    return truth["line_load_identity"], None, None, None


def same(found, expected, variable):
    """Equal where the address says something; a store is in no loop over k, the identity in none at all."""
    if variable in "ab":
        return all(e is None or f == e for f, e in zip(found, expected)) and None not in found
    return found == expected


def number(text):
    return int(re.search(r"0x[0-9a-f]+|\d+", text).group(0), 0)


@test
def each_instruction_maps_to_its_line_and_iteration(context):
    data = context.folder("data")
    for index, (options, (m, k, n), element, cores) in enumerate(KERNELS):
        neff, ntff, truth = context.sample(*options)
        name = "l%d" % index
        context.ingested(data, name, neff, ntff)
        rows = context.query(data, name, LOOPS + "WHERE i.raw_bir_id IS NOT NULL ORDER BY i.start_ts")
        passes, depth, columns = (2 if element == 4 else 1), k // TILE_K, n // TILE_N
        checked = 0
        for core in range(cores):
            mine = [r for r in rows if r["pcore_idx"] == core]
            products = [r for r in mine if r["opcode"] == "MATMUL" and r["tensor_instruction_type"] == "REGULAR"]
            tiles = list(range(core, m // TILE_M * columns, cores))
            equal(len(products), len(tiles) * depth * passes, "products of core %d" % core)
            for i, row in enumerate(products):
                tile, step = tiles[i // passes // depth], i // passes % depth
                equal(place(row), (truth["line_multiply"], tile // columns, tile % columns, step), "product %d of core %d" % (i, core))
            # what copies a product out of PSUM, engines by turns; before that, one copy of the transposed constant
            for engine, start in (("Vector", 0), ("Scalar", 1)):
                copies = [r for r in mine if r["engine"] == engine and r["opcode"] in ("COPY", "ACTIVATE")]
                if engine == "Vector":
                    equal(place(copies.pop(0)), (truth["line_copy_identity"], None, None, None), "copy of the constant")
                turns = tiles[start::2]
                equal(len(copies), len(turns), "copies of the %s engine of core %d" % (engine, core))
                for tile, row in zip(turns, copies):
                    equal(place(row), (truth["line_copy_out"], tile // columns, tile % columns, None), "a copy of core %d" % core)
                checked += len(copies)
            transposing = [r for r in mine if r["tensor_instruction_type"] == "TRANSPOSE"]
            check(transposing, "there is a transposition")
            for row in transposing:
                equal(place(row), (truth["line_transpose"], None, None, None), "transposition")
            checked += len(products) + len(transposing)
        check(checked > 10, "instructions were checked")
        tables = [r for r in rows if r["opcode"] == "ACT_TABLE_LOAD"]
        equal({r["bir_debug_info_source_location"] for r in tables}, {None}, "lines of what the compiler added on its own")
        inserted = context.query(data, name, "SELECT COUNT(*) AS n FROM Instruction WHERE raw_bir_id IS NULL AND "
                                             "COALESCE(bir_debug_info_source_location, hlo_name, layer, stack_frame_ids) IS NOT NULL")
        equal(inserted, [{"n": 0}], "lines of the runtime's code")


@test
def each_dma_maps_to_its_line_and_iteration_through_its_trigger(context):
    """Static DMA: through Flow. Dynamic DMA: the instruction that generates it. Addresses tell which tile it must be."""
    data = context.folder("data")
    for index, (options, sizes, element, _) in enumerate(KERNELS):
        neff, ntff, truth = context.sample(*options)
        name = "d%d" % index
        context.ingested(data, name, neff, ntff)
        blocks = context.query(data, name, BLOCKS) if "DmaPacketAggregated" in tables(data, name) else []
        for row in blocks:
            check(row["trigger"] is not None, "the block of %s has a trigger" % row["variable"], row)
            expected = of_address(row["variable"], number(row["address"]), sizes, element, truth)
            check(same(place(row), expected, row["variable"]), "place of the DMA of %s" % row["variable"], expected, row)
        found = len(blocks)
        for row in context.query(data, name, LOOPS + "WHERE i.opcode = 'DMA_DIRECT2D'"):
            operands = row["compiler_operands"]
            side = "src" if "dst_var_id=0 " in operands else "dst"  # variable 0 is SBUF
            table = re.search(side + r"_table_index=(\d+)", operands)
            variable = "abc"[int(table.group(1))] if table else "identity"
            offset = int(re.search(side + r"_table_offset_imm=(\d+)", operands).group(1)) if table else 0
            expected = of_address(variable, offset, sizes, element, truth)
            check(same(place(row), expected, variable), "place of the dynamic DMA of %s" % variable, expected, row)
            found += 1
        check(found >= 13, "DMA was checked", options, found)


def tables(data, name):
    folder = os.path.join(data, "profiles", "global", name + "@latest")
    return {file.split(".")[0] for file in os.listdir(folder) if file.endswith(".parquet")}


@test
def call_stacks_lead_to_the_model(context):
    data = context.folder("data")
    neff, ntff, truth = context.sample()
    context.ingested(data, "s", neff, ntff)
    rows = context.query(data, "s", """
        SELECT DISTINCT i.hlo_name, i.layer, i.stack_frame_ids, f.name || ':' || l.line_number || ' ' || n.name AS place, s.parent_frame_id
        FROM Instruction i, UNNEST(CAST(i.stack_frame_ids AS INTEGER[])) u(frame)
        JOIN StackFrame s ON s.id = CAST(u.frame AS VARCHAR)
        JOIN StackFrameFileLocation l ON l.id = CAST(s.file_location_id AS VARCHAR)
        JOIN StackFrameFileName f ON f.id = CAST(l.file_name_id AS VARCHAR)
        JOIN StackFrameFunctionName n ON n.id = CAST(l.function_name_id AS VARCHAR)
        WHERE i.bir_debug_info_source_location = '%s:%d' ORDER BY place""" % (SOURCE, truth["line_copy_out"]))
    one = {"hlo_name": "dot.4", "layer": "Model[1]/Linear[2]/aten.mm", "stack_frame_ids": "[3, 4]", "parent_frame_id": "1"}
    equal(rows, [dict(one, place="model.py:8 Model.forward"), dict(one, place="model.py:9 Model.forward")],
          "frames of a copy that was fused with a conversion")
    equal(context.query(data, "s", "SELECT fully_qualified_function_name AS f, file_path AS p, line_number AS l FROM KernelStackFrames"),
          [{"f": "kernels.matmul_tiled.matmul_tiled", "p": SOURCE, "l": 10}], "functions of the kernel")


@test
def what_was_not_compiled_in_is_null_and_told(context):
    data = context.folder("data")
    for level, settings in (("full", ()), ("lines", ("NKI_DEBUG_INFO", "XLA_IR_DEBUG")),
                            ("none", ("NKI_DEBUG_INFO", "XLA_IR_DEBUG", "NEURON_FRAMEWORK_DEBUG"))):
        neff, ntff, _ = context.sample("--debug-info", level)
        context.ingested(data, level, neff, ntff)
        count = context.query(data, level, """SELECT COUNT(bir_debug_info_source_location) AS lines, COUNT(nki_source_location) AS kernel,
            COUNT(hlo_name) AS hlo, COUNT(layer) AS layers, COUNT(stack_frame_ids) AS frames FROM Instruction""")[0]
        equal(sorted(k for k, v in count.items() if v), {"full": ["frames", "hlo", "kernel", "layers", "lines"], "lines": ["lines"],
                                                         "none": []}[level], "columns with values, %s" % level)
        told = [r["message"] for r in context.query(data, level, "FROM Warning")]
        for setting in ("NKI_DEBUG_INFO", "XLA_IR_DEBUG"):
            equal(sum(setting in t for t in told), int(setting in settings), "warnings that name %s, %s" % (setting, level))
        equal(sum("bir_debug_info_source_location" in t for t in told), int(level == "none"), "warnings about lines, %s" % level)
        kernel = {t for t in tables(data, level) if t.startswith(("Kernel", "StackFrame"))}
        equal(len(kernel), 7 if level == "full" else 0, "tables of the source, %s" % level)


@test
def real_kernels_say_what_they_lack(context):
    """None of the traced kernels was compiled with source positions: the columns are NULL, and one warning each says why."""
    data = context.folder("data")
    for name in context.profiles():
        context.ingested(data, name, *context.pair(name))
        equal(context.query(data, name, "SELECT COUNT(COALESCE(bir_debug_info_source_location, nki_source_location, layer, hlo_name, "
                                        "stack_frame_ids)) AS n FROM Instruction"), [{"n": 0}], "positions in %s" % name)
        told = " ".join(r["message"] for r in context.query(data, name, "FROM Warning"))
        for words in ("(bir_debug_info_source_location): compile with NEURON_FRAMEWORK_DEBUG=1", "NKI_DEBUG_INFO=True",
                      "XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1"):
            equal(told.count(words), 1, "%s in the warnings of %s" % (words, name))
