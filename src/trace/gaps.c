/*
 * What a reader of the tables must know before trusting them, said in the table Warning.
 *
 * The sentences stand in base/gaps.h, where `check` finds them too.
 */
#include "base/gaps.h"

#include <stdlib.h>

#include "base/memory.h"
#include "trace/build.h"

/* "events 25, DMA packets 2" */
static void list_lost(const struct nx_trace *t, struct nx_text *text)
{
    const struct {
        const char *what;
        uint64_t count;
    } kinds[] = {{"instructions", t->overflow_instructions},
                 {"events", t->overflow_events},
                 {"DMA packets", t->overflow_packets},
                 {"others", t->records_overflow - t->overflow_instructions - t->overflow_events - t->overflow_packets}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].count)
            nx_text_printf(text, "%s%s %" PRIu64, text->size ? ", " : "", kinds[i].what, kinds[i].count);
}

/* Their names, the first few. */
static void list_not_understood(const struct nx_trace *t, struct nx_text *text)
{
    bool *listed = nx_zalloc(t->opcodes.count, sizeof(*listed));
    unsigned left = 8;

    for (uint32_t i = 0; i < t->inst_count && left; i++) {
        const struct nx_code_inst *inst = &t->insts[i];

        if (!inst->ran || inst->understood || listed[inst->opcode_text])
            continue;
        listed[inst->opcode_text] = true;
        nx_text_printf(text, "%s%s", text->size ? ", " : "", --left ? t->opcodes.entries[inst->opcode_text].data : "...");
    }
    free(listed);
}

static void warn_of_files(struct nx_trace *t)
{
    const struct nx_ntff *ntff = t->ntff;

    if (ntff->uuid_size < sizeof(t->neff->header.uuid))
        nx_warn(&t->warnings, NX_WARN_MISSING, NX_SAY_UUID_CUT, (uint64_t)ntff->uuid_size);
    if (t->insts_replaced)
        nx_warn(&t->warnings, NX_WARN_INCONSISTENT, NX_SAY_CODE_DIFFERS, t->insts_replaced);
    if (!t->neff->has_metrics)
        nx_warn(&t->warnings, NX_WARN_MISSING, NX_SAY_NO_METRICS);
    if (!t->neff->has_hlo_stats)
        nx_warn(&t->warnings, NX_WARN_MISSING, NX_SAY_NO_HLO_STATS);
    if (!t->device)
        nx_warn(&t->warnings, NX_WARN_UNKNOWN, NX_SAY_NO_DEVICE, t->neff->target ? t->neff->target : "");
}

static void warn_of_instructions(struct nx_trace *t, struct nx_text *list)
{
    if (!t->exec_count)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_NO_INSTRUCTIONS);
    if (t->insts_not_understood) {
        nx_text_clear(list);
        list_not_understood(t, list);
        nx_warn(&t->warnings, NX_WARN_UNKNOWN, NX_SAY_OPCODES_UNKNOWN, t->insts_not_understood, t->insts_ran,
                nx_text_string(list));
    }
    if (t->ends_unmatched)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_ENDS_UNMATCHED, t->ends_unmatched);
    if (t->execs_unfinished > t->execs_waiting)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_UNFINISHED, t->execs_unfinished - t->execs_waiting);
    if (t->execs_without_code)
        nx_warn(&t->warnings, NX_WARN_MISSING, NX_SAY_NO_CODE, t->execs_without_code);
    if (t->dependencies_cut)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE,
                "%" PRIu64 " instructions depend on more than Flow can hold: some of their dependencies are left out",
                t->dependencies_cut);
}

static uint64_t count_dma_starts(const struct nx_trace *t)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < t->exec_count; i++) {
        const struct nx_code_inst *inst = nx_exec_inst(t, &t->execs[i]);

        count += inst && (inst->opcode == NX_OP_DMA_DIRECT2D || inst->block != NX_NONE);
    }
    return count;
}

static void warn_of_packets(struct nx_trace *t)
{
    uint64_t left_out = 0;
    bool dynamic = false;

    for (uint32_t r = 0; r < t->ring_count; r++) {
        left_out += t->rings[r].straddles;
        dynamic |= t->rings[r].type == NX_QUEUE_SOFTWARE_DYNAMIC || t->rings[r].type == NX_QUEUE_HARDWARE_DYNAMIC;
    }
    if (dynamic)
        nx_warn(&t->warnings, NX_WARN_MISSING, NX_SAY_NO_DGE);
    if (!t->packet_count) {
        uint64_t starts = count_dma_starts(t);

        if (starts)
            nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_NO_PACKETS, starts);
    }
    if (t->packets_unfinished)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_PACKETS_UNFINISHED, t->packets_unfinished);
    if (left_out)
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_RINGS_LEFT_OUT, left_out);
}

/* Bytes of the buffer that the section's records were kept in; 0: the trace does not say. */
static uint64_t capacity_of(const struct nx_ntff *ntff, const struct nx_ntff_section *section)
{
    for (size_t i = 0; i < ntff->capacity_count; i++)
        if (ntff->capacities[i].type == section->type && ntff->capacities[i].block == section->block)
            return ntff->capacities[i].bytes;
    return 0;
}

/* A section of just the buffer's size: the runtime stops there. (A longer one was not kept in one such buffer.) */
static void warn_of_full_buffers(struct nx_trace *t)
{
    for (uint32_t c = 0; c < t->core_count; c++)
        for (size_t s = 0; s < t->cores[c].ntff->section_count; s++) {
            const struct nx_ntff_section *section = &t->cores[c].ntff->sections[s];
            uint64_t capacity = capacity_of(t->ntff, section), size = section->records.size;

            if (capacity && size <= capacity && capacity - size < NX_NTFF_RECORD_SIZE)
                nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_BUFFER_FULL, t->cores[c].name,
                        nx_ntff_section_name(section->type), capacity);
        }
}

static void warn_of_records(struct nx_trace *t, struct nx_text *list)
{
    if (t->records_unknown)
        nx_warn(&t->warnings, NX_WARN_UNKNOWN, NX_SAY_RECORDS_UNKNOWN, t->records_unknown, t->records);
    if (t->records_overflow) {
        nx_text_clear(list);
        list_lost(t, list);
        nx_warn(&t->warnings, NX_WARN_INCOMPLETE, NX_SAY_RECORDS_LOST, t->records_overflow, nx_text_string(list));
    }
    if (t->backwards)
        nx_warn(&t->warnings, NX_WARN_INCONSISTENT, NX_SAY_BACKWARDS, t->backwards);
    if (t->before_clock)
        nx_warn(&t->warnings, NX_WARN_INCONSISTENT, NX_SAY_BEFORE_CLOCK, t->before_clock);
}

void nx_build_gaps(struct nx_trace *trace)
{
    struct nx_text list = {0};

    warn_of_packets(trace);
    warn_of_files(trace);
    warn_of_instructions(trace, &list);
    warn_of_records(trace, &list);
    warn_of_full_buffers(trace);
    nx_text_free(&list);
}
