/*
 * Instructions: the k-th end of an (engine, pc) belongs to its k-th start.
 *
 * That needs a queue for each (engine, pc), and constant time for a record: the
 * queue is a circular list through the rows that wait for their end, found by
 * a table of 2^20 entries an engine.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "trace/build.h"

struct pass {
    struct nx_core_rows *rows;
    const struct nx_trace_core *core;
    struct nx_pair_counts counts;
    uint32_t *waiting[NX_ENGINE_COUNT]; /* by pc: row + 1 of the newest unfinished execution, or 0 */
    uint32_t code_pc[NX_ENGINE_COUNT];  /* pc of the first instruction of the dumped code */
};

static uint32_t find_inst(const struct pass *pass, enum nx_engine engine, uint32_t pc)
{
    uint32_t index = (pc - pass->code_pc[engine]) & (uint32_t)(NX_PC_COUNT - 1);

    return index < pass->core->inst_count[engine] ? pass->core->first_inst[engine] + index : NX_NONE;
}

static void start(struct pass *pass, enum nx_engine engine, struct nx_record r)
{
    struct nx_core_rows *rows = pass->rows;
    uint32_t pc = nx_record_pc(r), row = (uint32_t)rows->exec_count;
    uint32_t *newest = &pass->waiting[engine][pc];

    rows->execs = nx_grow(rows->execs, rows->exec_count, &rows->exec_capacity, sizeof(*rows->execs));
    rows->execs[rows->exec_count++] = (struct nx_raw_exec){
        .start = nx_pair_time(&pass->counts, &pass->core->ntff->engine_clock[engine], r),
        .inst = find_inst(pass, engine, pc),
        .pc = pc,
        .next = row,
        .wait_cycles = (uint16_t)nx_record_wait_cycles(r),
        .crc_in = 0xffff,
        .crc_out = 0xffff,
        .engine = (uint8_t)engine,
    };
    if (*newest) { /* append behind the newest; its `next` is the oldest */
        rows->execs[row].next = rows->execs[*newest - 1].next;
        rows->execs[*newest - 1].next = row;
    }
    *newest = row + 1;
}

static void end(struct pass *pass, enum nx_engine engine, struct nx_record r)
{
    struct nx_core_rows *rows = pass->rows;
    uint32_t *newest = &pass->waiting[engine][nx_record_pc(r)];
    uint32_t oldest;
    struct nx_raw_exec *exec;

    if (!*newest) {
        pass->counts.ends_unmatched++;
        return;
    }
    oldest = rows->execs[*newest - 1].next;
    exec = &rows->execs[oldest];
    if (oldest == *newest - 1)
        *newest = 0;
    else
        rows->execs[*newest - 1].next = exec->next;
    exec->end = nx_pair_time(&pass->counts, &pass->core->ntff->engine_clock[engine], r);
    exec->crc_in = (uint16_t)nx_record_crc_in(r);
    exec->crc_out = (uint16_t)nx_record_crc_out(r);
    exec->finished = true;
}

static void read_section(struct pass *pass, const struct nx_ntff_section *section)
{
    for (size_t at = 0; at + NX_NTFF_RECORD_SIZE <= section->records.size; at += NX_NTFF_RECORD_SIZE) {
        struct nx_record r = nx_record_load(section->records.data + at);

        switch (nx_pair_count(&pass->counts, section, r)) {
        case NX_RECORD_START: start(pass, (enum nx_engine)nx_record_engine(r), r); break;
        case NX_RECORD_END: end(pass, (enum nx_engine)nx_record_engine(r), r); break;
        default: break;
        }
    }
}

void nx_pair_instructions(struct nx_pair_job *job)
{
    struct pass pass = {.rows = job->rows, .core = &job->trace->cores[job->core]};
    const struct nx_ntff_core *core = pass.core->ntff;
    bool more = true;

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        /* zeroed on first touch by the system: only the pages of pcs in use cost memory */
        pass.waiting[e] = nx_zalloc(NX_PC_COUNT, sizeof(*pass.waiting[e]));
        pass.code_pc[e] = (uint32_t)(core->code[e].address >> 6) & (uint32_t)(NX_PC_COUNT - 1);
    }
    for (size_t s = 0; s < core->section_count && more; s++)
        if (core->sections[s].type == NX_SECTION_INSTRUCTION) {
            read_section(&pass, &core->sections[s]);
            more = nx_pair_section_done(job, &core->sections[s], job->rows->exec_count);
        }
    job->counts = pass.counts;
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        free(pass.waiting[e]);
}
