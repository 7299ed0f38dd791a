/*
 * DMA packets: the k-th start, end and acknowledgement of a ring belong together.
 *
 * Read twice, in pieces that share nothing: first the records of each ring are
 * counted, which tells how many packets it has and which of them a piece begins
 * with; then each record is put in its place.  So rows take no more memory than
 * they need, and pieces are done in any order.
 */
#include <string.h>

#include "base/memory.h"
#include "trace/build.h"

typedef void read_records(struct nx_pair_job *job, const struct nx_ntff_section *section, const uint8_t *records,
                          size_t count);

/* The records of a job's piece, by section. */
static void each_section(struct nx_pair_job *job, read_records *read)
{
    const struct nx_ntff_core *core = job->trace->cores[job->core].ntff;
    uint64_t skip = job->first, left = job->records;

    for (size_t s = 0; s < core->section_count && left; s++) {
        const struct nx_ntff_section *section = &core->sections[s];
        uint64_t count = section->records.size / NX_NTFF_RECORD_SIZE;

        if (section->type != NX_SECTION_DMA)
            continue;
        if (skip >= count) {
            skip -= count;
            continue;
        }
        count = count - skip < left ? count - skip : left;
        read(job, section, section->records.data + skip * NX_NTFF_RECORD_SIZE, count);
        left -= count;
        skip = 0;
    }
}

static unsigned slot_of(struct nx_record r)
{
    return nx_record_kind(r) << 4 | nx_record_dma_ring(r);
}

/* ------------------------------------------------------------------ first pass */

static void count_records(struct nx_pair_job *job, const struct nx_ntff_section *section, const uint8_t *records,
                          size_t count)
{
    struct nx_pair_counts counts = {0};

    for (size_t i = 0; i < count; i++) {
        struct nx_record r = nx_record_load(records + i * NX_NTFF_RECORD_SIZE);
        enum nx_record_class class = nx_pair_count(&counts, section, r);

        if (class != NX_RECORD_UNKNOWN)
            job->ranges[slot_of(r)][class - NX_RECORD_DMA_START].end++;
    }
    nx_pair_add(&job->counts, &counts);
}

void nx_pair_dma_count(struct nx_pair_job *job)
{
    job->ranges = nx_zalloc(NX_RING_SLOTS, sizeof(*job->ranges));
    each_section(job, count_records);
}

/* ------------------------------------------------------------------ between the passes: rings */

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

static struct nx_ring make_ring(const struct nx_ntff_core *core, uint32_t number, unsigned engine, unsigned index)
{
    const struct nx_ntff_ring *info = NULL;
    /* Records carry the low 5 bits of the engine; the listed rings of the core tell the rest. */
    uint32_t base = core->ring_count ? core->rings[0].engine & ~(uint32_t)0x1f : 0;

    for (size_t i = 0; i < core->ring_count && !info; i++)
        if ((core->rings[i].engine & 0x1f) == engine && core->rings[i].index == index)
            info = &core->rings[i];
    return (struct nx_ring){.core = (uint8_t)number,
                            .index = (uint8_t)index,
                            .engine = (uint16_t)(base + engine),
                            .type = classify(info),
                            .info = info};
}

/* What each job counted becomes the range that it will fill; returns the sum. */
static uint64_t number_records(struct nx_pair_job *jobs, size_t count, unsigned slot, unsigned kind)
{
    uint64_t sum = 0;

    for (size_t j = 0; j < count; j++) {
        struct nx_dma_range *range = &jobs[j].ranges[slot][kind];

        range->next = sum;
        sum += range->end;
        range->end = sum;
    }
    return sum;
}

static void add_ring(struct nx_build *b, struct nx_ring ring, struct nx_ring_rows rows)
{
    struct nx_trace *trace = b->trace;
    size_t count = trace->ring_count++;

    trace->rings = nx_resize(trace->rings, trace->ring_count, sizeof(*trace->rings));
    b->rings = nx_resize(b->rings, trace->ring_count, sizeof(*b->rings));
    trace->rings[count] = ring;
    b->rings[count] = rows;
}

bool nx_pair_dma_place(struct nx_build *b, struct nx_pair_job *jobs, size_t count, struct nx_dma_slots *slots)
{
    const struct nx_ntff_core *core = b->trace->cores[jobs->core].ntff;
    uint64_t packets = 0;

    *slots = (struct nx_dma_slots){0};
    for (unsigned slot = 0; slot < NX_RING_SLOTS; slot++) {
        uint64_t starts = number_records(jobs, count, slot, 0), ends = number_records(jobs, count, slot, 1),
                 acks = number_records(jobs, count, slot, 2), all = starts > ends ? starts : ends,
                 complete = starts < ends ? starts : ends;

        all = all > acks ? all : acks;
        packets += complete;
        if (packets >= NX_NONE)
            return false;
        if (!all)
            continue;
        slots->packets[slot] = nx_alloc(complete * sizeof(**slots->packets));
        slots->count[slot] = complete;
        add_ring(b, make_ring(core, jobs->core, slot >> 4, slot & 15),
                 (struct nx_ring_rows){slots->packets[slot], complete, acks, all - complete});
    }
    for (size_t j = 0; j < count; j++)
        jobs[j].slots = slots;
    return true;
}

/* ------------------------------------------------------------------ second pass */

static void fill_records(struct nx_pair_job *job, const struct nx_ntff_section *section, const uint8_t *records,
                         size_t count)
{
    const struct nx_clock *clocks = job->trace->cores[job->core].ntff->dma_clock;
    const struct nx_dma_slots *slots = job->slots;
    struct nx_dma_range(*ranges)[NX_DMA_KINDS] = job->ranges;
    struct nx_pair_counts counts = {0};

    for (size_t i = 0; i < count; i++) {
        struct nx_record r = nx_record_load(records + i * NX_NTFF_RECORD_SIZE);
        enum nx_record_class class = nx_record_classify(section, r);
        unsigned slot = slot_of(r);
        struct nx_raw_packet *packet;
        uint64_t number, time;

        if (class == NX_RECORD_UNKNOWN)
            continue;
        time = nx_pair_time(&counts, &clocks[nx_record_kind(r) & 15], r);
        number = ranges[slot][class - NX_RECORD_DMA_START].next++;
        if (number >= slots->count[slot])
            continue;
        packet = &slots->packets[slot][number];
        switch (class) {
        case NX_RECORD_DMA_START:
            packet->start = time;
            packet->run = NX_NONE;
            packet->last_of_block = false;
            break;
        case NX_RECORD_DMA_END:
            packet->end = time;
            packet->bytes = nx_record_dma_bytes(r);
            packet->crc = (uint16_t)nx_record_dma_crc(r);
            break;
        default:
            packet->ack = time;
            break;
        }
    }
    nx_pair_add(&job->counts, &counts);
}

/* Someone may write to the file meanwhile: then packets would be left that nobody has filled. */
static bool all_filled(const struct nx_pair_job *job)
{
    bool filled = true;

    for (unsigned slot = 0; slot < NX_RING_SLOTS; slot++)
        for (unsigned kind = 0; kind < NX_DMA_KINDS; kind++)
            filled &= job->ranges[slot][kind].next == job->ranges[slot][kind].end;
    return filled;
}

void nx_pair_dma_fill(struct nx_pair_job *job)
{
    each_section(job, fill_records);
    job->changed = !all_filled(job);
}
