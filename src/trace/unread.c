/*
 * What the files hold and no table shows, since no file with it was there to
 * learn from: collectives, barriers between cores, errors.  Each is looked for
 * by its traces in the NEFF or the NTFF, and warned about; nothing is guessed.
 */
#include "base/gaps.h"
#include "trace/build.h"

/* Opcodes that no file at hand has; what they are called is published only (docs/isa.md). */
#define OP_TRIGGER_COLLECTIVE 0xc8
#define OP_CORE_BARRIER 0xd8
#define OP_TRIGGER_COLLECTIVE_2 0xd9

struct unread {
    uint64_t streams, triggers, barriers; /* in the NEFF */
    uint64_t collective_records;          /* in the NTFF */
};

static void read_code(const struct nx_bytes *code, struct unread *found)
{
    for (size_t at = 0; at + NX_ISA_SIZE <= code->size; at += NX_ISA_SIZE) {
        uint8_t opcode = code->data[at];

        found->triggers += opcode == OP_TRIGGER_COLLECTIVE || opcode == OP_TRIGGER_COLLECTIVE_2;
        found->barriers += opcode == OP_CORE_BARRIER;
    }
}

static void read_core(const struct nx_trace_core *core, struct unread *found)
{
    for (size_t s = 0; s < core->ntff->section_count; s++)
        if (core->ntff->sections[s].block == NX_BLOCK_TOPSP)
            found->collective_records += core->ntff->sections[s].records.size / NX_NTFF_RECORD_SIZE;
    if (!core->neff)
        return;
    if (core->neff->cc_streams > 0)
        found->streams += (uint64_t)core->neff->cc_streams;
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        read_code(&core->neff->engines[e].code, found);
}

void nx_build_unread(struct nx_trace *trace)
{
    struct unread found = {0};

    for (uint32_t c = 0; c < trace->core_count; c++)
        read_core(&trace->cores[c], &found);
    trace->has_collectives = found.streams || found.triggers || found.collective_records;
    if (trace->has_collectives)
        nx_warn(&trace->warnings, NX_WARN_UNKNOWN, NX_SAY_COLLECTIVES, found.streams, found.triggers,
                found.collective_records);
    if (found.barriers)
        nx_warn(&trace->warnings, NX_WARN_UNKNOWN, NX_SAY_BARRIERS, found.barriers);
    if (trace->records_error)
        nx_warn(&trace->warnings, NX_WARN_UNKNOWN, NX_SAY_ERRORS, trace->records_error);
}
