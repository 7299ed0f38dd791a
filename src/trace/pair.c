/*
 * One pass over all records, in file order.
 *
 * Instructions: the k-th end of an (engine, pc) belongs to its k-th start.
 * DMA packets: the k-th start, end and acknowledgement of a ring belong
 * together.  Both need one queue per key and constant time per record: the
 * queue of an (engine, pc) is a circular list through the rows that wait for
 * their end, found by a table of 2^20 entries an engine; a ring's packets are
 * a list with one cursor for each of the three kinds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/build.h"

#define PROGRESS_EVERY ((uint64_t)1 << 20)

struct core_pass {
    struct nx_build *build;
    uint8_t core;
    const struct nx_trace_core *trace_core;
    uint32_t *waiting[NX_ENGINE_COUNT]; /* by pc: row + 1 of the newest unfinished execution, or 0 */
    uint32_t code_pc[NX_ENGINE_COUNT];  /* pc of the first instruction of the dumped code */
    uint32_t ring_of[NX_RING_SLOTS];    /* by (engine & 0x1f, ring): into nx_trace.rings, or NX_NONE */
};

static uint32_t find_inst(const struct core_pass *pass, enum nx_engine engine, uint32_t pc)
{
    uint32_t index = (pc - pass->code_pc[engine]) & (uint32_t)(NX_PC_COUNT - 1);

    return index < pass->trace_core->inst_count[engine] ? pass->trace_core->first_inst[engine] + index
                                                        : NX_NONE;
}

static uint64_t time_of(struct core_pass *pass, const struct nx_clock *clock, struct nx_record r)
{
    pass->build->trace->before_clock += nx_ntff_before_clock(clock, r.timestamp);
    return nx_ntff_ps(clock, r.timestamp);
}

static void exec_start(struct core_pass *pass, enum nx_engine engine, struct nx_record r)
{
    struct nx_build *b = pass->build;
    uint32_t pc = nx_record_pc(r), row = (uint32_t)b->exec_count;
    uint32_t *newest = &pass->waiting[engine][pc];

    b->execs = nx_grow(b->execs, b->exec_count, &b->exec_capacity, sizeof(*b->execs));
    b->execs[b->exec_count++] = (struct nx_raw_exec){
        .start = time_of(pass, &pass->trace_core->ntff->engine_clock[engine], r),
        .inst = find_inst(pass, engine, pc),
        .pc = pc,
        .next = row,
        .wait_cycles = (uint16_t)nx_record_wait_cycles(r),
        .crc_in = 0xffff,
        .crc_out = 0xffff,
        .engine = (uint8_t)engine,
        .core = pass->core,
    };
    if (*newest) { /* append behind the newest; its `next` is the oldest */
        b->execs[row].next = b->execs[*newest - 1].next;
        b->execs[*newest - 1].next = row;
    }
    *newest = row + 1;
}

static void exec_end(struct core_pass *pass, enum nx_engine engine, struct nx_record r)
{
    struct nx_build *b = pass->build;
    uint32_t *newest = &pass->waiting[engine][nx_record_pc(r)];
    uint32_t oldest;
    struct nx_raw_exec *exec;

    if (!*newest) {
        b->trace->ends_unmatched++;
        return;
    }
    oldest = b->execs[*newest - 1].next;
    exec = &b->execs[oldest];
    if (oldest == *newest - 1)
        *newest = 0;
    else
        b->execs[*newest - 1].next = exec->next;
    exec->end = time_of(pass, &pass->trace_core->ntff->engine_clock[engine], r);
    exec->crc_in = (uint16_t)nx_record_crc_in(r);
    exec->crc_out = (uint16_t)nx_record_crc_out(r);
    exec->finished = true;
}

static void event(struct core_pass *pass, unsigned kind, struct nx_record r)
{
    struct nx_build *b = pass->build;

    b->events = nx_grow(b->events, b->event_count, &b->event_capacity, sizeof(*b->events));
    b->events[b->event_count++] = (struct nx_raw_event){
        .time = time_of(pass, &pass->trace_core->ntff->event_clock, r),
        .value = r.w1,
        .core = pass->core,
        .id = (uint8_t)nx_record_event_index(r),
        .mode = (uint8_t)nx_record_event_mode(r),
        .source = kind == NX_KIND_AXI ? NX_SOURCE_AXI : (int8_t)((kind >> 2) - 1),
        .is_semaphore = nx_record_is_semaphore(r),
    };
}

static void throttle(struct core_pass *pass, struct nx_record r)
{
    struct nx_build *b = pass->build;

    b->throttles = nx_grow(b->throttles, b->throttle_count, &b->throttle_capacity, sizeof(*b->throttles));
    b->throttles[b->throttle_count++] = (struct nx_raw_throttle){
        .time = time_of(pass, &pass->trace_core->ntff->event_clock, r),
        .core = pass->core,
        .k = (uint8_t)nx_record_throttle_k(r),
        .n = (uint8_t)nx_record_throttle_n(r),
        .type = (uint8_t)nx_record_throttle_type(r),
    };
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);

    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* SPEC 7.3: the class of a queue. Rings that are not listed fetch instructions and tables. */
static enum nx_queue_type classify(const struct nx_ntff_ring *ring)
{
    if (!ring)
        return NX_QUEUE_INSTRUCTION;
    if (ends_with(ring->name, "DynamicHW"))
        return NX_QUEUE_HARDWARE_DYNAMIC;
    if (ends_with(ring->name, "Dynamic"))
        return NX_QUEUE_SOFTWARE_DYNAMIC;
    switch (ring->type) {
    case 2: return NX_QUEUE_DATA;
    case 3: return NX_QUEUE_INPUT;
    case 4: return NX_QUEUE_OUTPUT;
    default: return NX_QUEUE_INSTRUCTION;
    }
}

static uint32_t add_ring(struct core_pass *pass, unsigned engine, unsigned index)
{
    struct nx_build *b = pass->build;
    const struct nx_ntff_core *core = pass->trace_core->ntff;
    const struct nx_ntff_ring *info = NULL;
    /* Records carry the low 5 bits of the engine; the listed rings of the core tell the rest. */
    uint32_t base = core->ring_count ? core->rings[0].engine & ~(uint32_t)0x1f : 0;
    uint32_t ring = b->trace->ring_count++;

    for (size_t i = 0; i < core->ring_count && !info; i++)
        if ((core->rings[i].engine & 0x1f) == engine && core->rings[i].index == index)
            info = &core->rings[i];
    if (ring == b->ring_capacity) {
        b->ring_lists = nx_grow(b->ring_lists, ring, &b->ring_capacity, sizeof(*b->ring_lists));
        b->trace->rings = nx_resize(b->trace->rings, b->ring_capacity, sizeof(*b->trace->rings));
    }
    b->ring_lists[ring] = (struct nx_ring_list){NX_NONE, NX_NONE, NX_NONE, NX_NONE, NX_NONE};
    b->trace->rings[ring] = (struct nx_ring){.core = pass->core,
                                             .index = (uint8_t)index,
                                             .engine = (uint16_t)(base + engine),
                                             .type = classify(info),
                                             .info = info};
    return ring;
}

/* The packet at `*cursor` (a new one where the ring has none left), and moves the cursor on. */
static struct nx_raw_packet *next_packet(struct nx_build *b, uint32_t ring, uint32_t *cursor)
{
    struct nx_ring_list *list = &b->ring_lists[ring];
    struct nx_raw_packet *packet;

    if (*cursor == NX_NONE) {
        uint32_t row = (uint32_t)b->packet_count;

        b->packets = nx_grow(b->packets, b->packet_count, &b->packet_capacity, sizeof(*b->packets));
        b->packets[b->packet_count++] =
            (struct nx_raw_packet){.next = NX_NONE, .ring = ring, .run = NX_NONE};
        if (list->last == NX_NONE)
            list->first = row;
        else
            b->packets[list->last].next = row;
        list->last = row;
        /* whoever had run out waits for this packet, the others are behind */
        if (list->at_start == NX_NONE)
            list->at_start = row;
        if (list->at_end == NX_NONE)
            list->at_end = row;
        if (list->at_ack == NX_NONE)
            list->at_ack = row;
    }
    packet = &b->packets[*cursor];
    *cursor = packet->next;
    return packet;
}

static void dma(struct core_pass *pass, struct nx_record r)
{
    struct nx_build *b = pass->build;
    unsigned engine = nx_record_kind(r), index = nx_record_dma_ring(r);
    uint32_t *ring = &pass->ring_of[engine << 4 | index];
    uint64_t time = time_of(pass, &pass->trace_core->ntff->dma_clock[engine & 15], r);
    struct nx_ring_list *list;
    struct nx_raw_packet *packet;

    if (*ring == NX_NONE)
        *ring = add_ring(pass, engine, index);
    list = &b->ring_lists[*ring];
    switch (nx_record_dma_type(r)) {
    case NX_DMA_START:
        packet = next_packet(b, *ring, &list->at_start);
        packet->start = time;
        packet->seen |= NX_SEEN_START;
        break;
    case NX_DMA_END:
        packet = next_packet(b, *ring, &list->at_end);
        packet->end = time;
        packet->bytes = nx_record_dma_bytes(r);
        packet->crc = (uint16_t)nx_record_dma_crc(r);
        packet->seen |= NX_SEEN_END;
        break;
    default: /* NX_DMA_ACK: other types are not of a known kind and do not come here */
        packet = next_packet(b, *ring, &list->at_ack);
        packet->ack = time;
        packet->seen |= NX_SEEN_ACK;
        break;
    }
}

static void note_overflow(struct nx_trace *trace, uint32_t section_type)
{
    trace->records_overflow++;
    trace->overflow_instructions += section_type == NX_SECTION_INSTRUCTION;
    trace->overflow_events += section_type == NX_SECTION_EVENT;
    trace->overflow_packets += section_type == NX_SECTION_DMA;
}

static void read_record(struct core_pass *pass, const struct nx_ntff_section *section, struct nx_record r)
{
    struct nx_trace *trace = pass->build->trace;
    unsigned kind = nx_record_kind(r), sub = kind & 3;
    bool known;

    nx_record_describe(section, r, &known);
    trace->records++;
    if (nx_record_overflow(r))
        note_overflow(trace, section->type);
    if (!known) {
        trace->records_unknown++;
        trace->records_error += nx_record_is_error(section, r);
        return;
    }
    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        if (sub == NX_SUB_START)
            exec_start(pass, (enum nx_engine)((kind >> 2) - 1), r);
        else if (sub == NX_SUB_END)
            exec_end(pass, (enum nx_engine)((kind >> 2) - 1), r);
        break;
    case NX_SECTION_EVENT:
        event(pass, kind, r);
        break;
    case NX_SECTION_DMA:
        dma(pass, r);
        break;
    case NX_SECTION_THROTTLE:
        throttle(pass, r);
        break;
    default:
        break;
    }
}

static enum nx_status read_section(struct core_pass *pass, const struct nx_ntff_section *section,
                                   uint64_t total, struct nx_error *error)
{
    struct nx_build *b = pass->build;

    for (size_t at = 0; at + NX_NTFF_RECORD_SIZE <= section->records.size; at += NX_NTFF_RECORD_SIZE) {
        read_record(pass, section, nx_record_load(section->records.data + at));
        if (b->progress && b->trace->records % PROGRESS_EVERY == 0)
            b->progress(b->context, b->trace->records, total);
    }
    if (b->exec_count >= NX_NONE || b->packet_count >= NX_NONE || b->event_count >= NX_NONE)
        return nx_fail_at(error, b->trace->ntff->path, section->file_offset,
                          "more than 4294967294 rows of one kind: the trace is too large");
    return NX_OK;
}

static uint64_t count_records(const struct nx_ntff *ntff)
{
    uint64_t bytes = 0;

    for (size_t c = 0; c < ntff->core_count; c++)
        for (size_t s = 0; s < ntff->cores[c].section_count; s++)
            bytes += ntff->cores[c].sections[s].records.size;
    return bytes / NX_NTFF_RECORD_SIZE;
}

enum nx_status nx_build_pairs(struct nx_build *build, struct nx_error *error)
{
    struct nx_trace *trace = build->trace;
    uint64_t total = count_records(trace->ntff);
    enum nx_status status = NX_OK;

    for (uint32_t c = 0; c < trace->core_count && status == NX_OK; c++) {
        struct core_pass pass = {.build = build, .core = (uint8_t)c, .trace_core = &trace->cores[c]};
        const struct nx_ntff_core *core = pass.trace_core->ntff;

        memset(pass.ring_of, 0xff, sizeof(pass.ring_of));
        for (int e = 0; e < NX_ENGINE_COUNT; e++) {
            /* zeroed on first touch by the system: only the pages of pcs in use cost memory */
            pass.waiting[e] = nx_zalloc(NX_PC_COUNT, sizeof(*pass.waiting[e]));
            pass.code_pc[e] = (uint32_t)(core->code[e].address >> 6) & (uint32_t)(NX_PC_COUNT - 1);
        }
        for (size_t s = 0; s < core->section_count && status == NX_OK; s++)
            status = read_section(&pass, &core->sections[s], total, error);
        for (int e = 0; e < NX_ENGINE_COUNT; e++)
            free(pass.waiting[e]);
    }
    if (build->progress)
        build->progress(build->context, trace->records, total);
    return status;
}
