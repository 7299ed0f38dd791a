/*
 * The instructions of each core at their places in the code that ran.
 *
 * What ran is the compiler's code with the runtime's patches: instructions
 * inserted (preamble, epilogue) and deleted (labels).  Walking both gives each
 * instruction its compiler pc, and by it the BIR instruction that it came from.
 */
#include <stdlib.h>
#include <string.h>

#include "base/gaps.h"
#include "base/memory.h"
#include "trace/build.h"

/* How patches shift the two codes against each other, per instruction that ran. */
struct shift {
    uint32_t *deleted;  /* NEFF instructions that were left out just before this place; count + 1 entries */
    int32_t *inserting; /* difference array: > 0 summed up = the runtime put it here */
};

static struct shift read_patches(struct nx_trace *trace, const struct nx_trace_core *core,
                                 enum nx_engine engine, uint32_t count)
{
    const struct nx_ntff_code *code = &core->ntff->code[engine];
    struct shift shift = {.deleted = nx_zalloc((size_t)count + 1, sizeof(*shift.deleted)),
                          .inserting = nx_zalloc((size_t)count + 1, sizeof(*shift.inserting))};

    for (size_t i = 0; i < code->patch_count; i++) {
        const struct nx_patch *patch = &code->patches[i];
        uint64_t at = patch->offset / NX_ISA_SIZE;

        if (at > count) {
            nx_warn(&trace->warnings, NX_WARN_INCONSISTENT,
                    "%s %s: a patch lies outside the code that ran and was ignored", core->name,
                    nx_engine_title(engine));
        } else if (patch->type == NX_PATCH_DELETED) {
            shift.deleted[at] += (uint32_t)(patch->count < UINT32_MAX ? patch->count : UINT32_MAX);
        } else if (patch->type == NX_PATCH_INSERTED) {
            uint64_t size = patch->count < count - at ? patch->count : count - at;

            shift.inserting[at]++;
            shift.inserting[at + size]--;
        } else if (patch->type != NX_PATCH_MODIFIED) {
            nx_warn(&trace->warnings, NX_WARN_UNKNOWN,
                    "code patches of type %u are not understood: compiler_pc may be wrong after them",
                    patch->type);
        }
    }
    return shift;
}

static uint32_t operand_text(struct nx_trace *trace, const struct nx_trace_core *core,
                             const struct nx_inst *inst, struct nx_text *text)
{
    nx_text_clear(text);
    nx_isa_operands(inst, core->neff ? core->neff->semaphore_names : NULL, text);
    return nx_dict_add(&trace->operands, nx_text_string(text), text->size);
}

static uint32_t opcode_text(struct nx_trace *trace, uint8_t opcode)
{
    char buffer[16];

    return nx_dict_add_string(&trace->opcodes, nx_isa_opcode_name(opcode, buffer));
}

static uint8_t source_dtype(const struct nx_inst *inst)
{
    return inst->src[0].rank ? inst->src[0].dtype : NX_NO_DTYPE;
}

/* Joins instruction `compiler_pc` of the NEFF's code: its own form, the block it triggers, its BIR. */
static void join_compiler(struct nx_trace *trace, const struct nx_trace_core *core, enum nx_engine engine,
                          struct nx_code_inst *out, struct nx_text *text)
{
    const struct nx_neff_engine *compiled = &core->neff->engines[engine];
    struct nx_inst inst;

    if (out->compiler_pc >= compiled->code.size / NX_ISA_SIZE) {
        out->compiler_pc = NX_NONE;
        return;
    }
    nx_isa_decode(compiled->code.data + (size_t)out->compiler_pc * NX_ISA_SIZE, &inst);
    if (inst.opcode != out->opcode) {
        trace->insts_replaced += !nx_isa_is_pseudo(inst.opcode);
        out->compiler_opcode_text = opcode_text(trace, inst.opcode);
        out->compiler_operands = operand_text(trace, core, &inst, text);
    }
    if (inst.opcode == NX_OP_PSEUDO_DMA_TRIGGER) {
        const struct nx_neff_block *block = nx_neff_find_block(core->neff, inst.queue, inst.block);

        if (block)
            out->block = (uint32_t)(block - core->neff->blocks);
    }
    if (out->compiler_pc < compiled->assembly.count) {
        const struct nx_dbg_entry *entry = &compiled->assembly.entries[out->compiler_pc];

        if (entry->parent_count)
            out->bir = nx_dbg_find(&core->neff->bir, entry->parents[0]);
    }
}

/* `accounted`: instructions of the compiler that ran or that the patches left out. A pair that fits has them all. */
static void check_length(struct nx_trace *trace, const struct nx_trace_core *core, enum nx_engine engine,
                         uint64_t accounted)
{
    uint64_t compiled = core->neff->engines[engine].code.size / NX_ISA_SIZE;

    if (accounted != compiled)
        nx_warn(&trace->warnings, NX_WARN_INCONSISTENT, NX_SAY_CODE_LENGTH, core->name, nx_engine_title(engine),
                accounted, compiled);
}

static void read_engine(struct nx_trace *trace, uint32_t core_index, enum nx_engine engine,
                        struct nx_text *text)
{
    struct nx_trace_core *core = &trace->cores[core_index];
    const struct nx_ntff_code *code = &core->ntff->code[engine];
    uint32_t count = core->inst_count[engine], compiler_pc = 0;
    struct shift shift = read_patches(trace, core, engine, count);
    int64_t inserting = 0;

    for (uint32_t k = 0; k < count; k++) {
        struct nx_code_inst *out = &trace->insts[core->first_inst[engine] + k];
        struct nx_inst inst;

        nx_isa_decode(code->bytes.data + (size_t)k * NX_ISA_SIZE, &inst);
        *out = (struct nx_code_inst){
            .core = (uint8_t)core_index,
            .engine = (uint8_t)engine,
            .opcode = inst.opcode,
            .activation = inst.activation,
            .notification = inst.notification,
            .dtype = source_dtype(&inst),
            .index = k,
            .compiler_pc = NX_NONE,
            .opcode_text = opcode_text(trace, inst.opcode),
            .operands = operand_text(trace, core, &inst, text),
            .compiler_opcode_text = NX_NO_TEXT,
            .compiler_operands = NX_NO_TEXT,
            .block = NX_NONE,
            .origin = NX_NONE,
            .bir_name = NX_NO_TEXT,
            .macs = nx_isa_macs(&inst),
            .understood = inst.understood,
        };

        compiler_pc += shift.deleted[k];
        inserting += shift.inserting[k];
        if (inserting <= 0) {
            out->compiler_pc = compiler_pc++;
            if (core->neff)
                join_compiler(trace, core, engine, out, text);
        }
        /* The closed tool counts bytes of the kernel's own instructions, and of every dynamic DMA. */
        out->counts_bytes = out->bir || inst.opcode == NX_OP_DMA_DIRECT2D;
        if (out->counts_bytes)
            out->bytes = nx_isa_bytes(&inst);
    }
    if (core->neff)
        check_length(trace, core, engine, (uint64_t)compiler_pc + shift.deleted[count]);
    free(shift.deleted);
    free(shift.inserting);
}

void nx_build_code(struct nx_trace *trace)
{
    struct nx_text text = {0};
    uint64_t total = 0;

    for (uint32_t c = 0; c < trace->core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++) {
            struct nx_trace_core *core = &trace->cores[c];

            core->first_inst[e] = (uint32_t)total;
            core->inst_count[e] = (uint32_t)(core->ntff->code[e].bytes.size / NX_ISA_SIZE);
            total += core->inst_count[e];
        }
    trace->unknown_opcode = nx_dict_add_string(&trace->opcodes, "UNKNOWN");
    trace->unknown_operands = nx_dict_add_string(&trace->operands, "");
    trace->inst_count = (uint32_t)total;
    trace->insts = nx_zalloc(total, sizeof(*trace->insts));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++)
            read_engine(trace, c, (enum nx_engine)e, &text);
    nx_text_free(&text);
}
