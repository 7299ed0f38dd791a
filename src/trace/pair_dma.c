/*
 * DMA packets: the k-th start, end and acknowledgement of a ring belong together.
 *
 * A core's DMA is most of a trace, so it is shared out by engine: each job reads
 * all sections and takes the records of its own engines, whose rings no other
 * job sees.
 */
#include <string.h>

#include "base/memory.h"
#include "trace/build.h"

struct pass {
    struct nx_pair_job *job;
    const struct nx_ntff_core *core;
    uint32_t ring_of[NX_RING_SLOTS]; /* by (engine & 0x1f, ring): into job->rings, or NX_NONE */
};

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

static uint32_t add_ring(struct pass *pass, unsigned engine, unsigned index)
{
    struct nx_pair_job *job = pass->job;
    const struct nx_ntff_ring *info = NULL;
    /* Records carry the low 5 bits of the engine; the listed rings of the core tell the rest. */
    uint32_t base = pass->core->ring_count ? pass->core->rings[0].engine & ~(uint32_t)0x1f : 0;
    uint32_t ring = (uint32_t)job->ring_count++;

    for (size_t i = 0; i < pass->core->ring_count && !info; i++)
        if ((pass->core->rings[i].engine & 0x1f) == engine && pass->core->rings[i].index == index)
            info = &pass->core->rings[i];
    if (ring == job->ring_capacity) {
        job->ring_rows = nx_grow(job->ring_rows, ring, &job->ring_capacity, sizeof(*job->ring_rows));
        job->rings = nx_resize(job->rings, job->ring_capacity, sizeof(*job->rings));
    }
    job->ring_rows[ring] = (struct nx_ring_rows){0};
    job->rings[ring] = (struct nx_ring){.core = (uint8_t)job->core,
                                        .index = (uint8_t)index,
                                        .engine = (uint16_t)(base + engine),
                                        .type = classify(info),
                                        .info = info};
    return ring;
}

/* The packet at `*cursor` (a new one where the ring has none left), and moves the cursor on. */
static struct nx_raw_packet *next_packet(struct nx_ring_rows *ring, size_t *cursor)
{
    if (*cursor == ring->count) {
        ring->packets = nx_grow(ring->packets, ring->count, &ring->capacity, sizeof(*ring->packets));
        ring->packets[ring->count++] = (struct nx_raw_packet){.run = NX_NONE};
    }
    return &ring->packets[(*cursor)++];
}

static void read_record(struct pass *pass, struct nx_record r)
{
    unsigned engine = nx_record_kind(r), index = nx_record_dma_ring(r);
    uint32_t *number = &pass->ring_of[engine << 4 | index];
    uint64_t time = nx_pair_time(pass->job, &pass->core->dma_clock[engine & 15], r);
    struct nx_ring_rows *ring;
    struct nx_raw_packet *packet;

    if (*number == NX_NONE)
        *number = add_ring(pass, engine, index);
    ring = &pass->job->ring_rows[*number];
    switch (nx_record_dma_type(r)) {
    case NX_DMA_START:
        packet = next_packet(ring, &ring->at_start);
        packet->start = time;
        packet->seen |= NX_SEEN_START;
        break;
    case NX_DMA_END:
        packet = next_packet(ring, &ring->at_end);
        packet->end = time;
        packet->bytes = nx_record_dma_bytes(r);
        packet->crc = (uint16_t)nx_record_dma_crc(r);
        packet->seen |= NX_SEEN_END;
        break;
    default: /* NX_DMA_ACK: other types are not of a known kind and do not come here */
        packet = next_packet(ring, &ring->at_ack);
        packet->ack = time;
        packet->seen |= NX_SEEN_ACK;
        break;
    }
}

void nx_pair_dma(struct nx_pair_job *job)
{
    struct pass pass = {.job = job, .core = job->trace->cores[job->core].ntff};
    bool more = true;

    memset(pass.ring_of, 0xff, sizeof(pass.ring_of));
    for (size_t s = 0; s < pass.core->section_count && more; s++) {
        const struct nx_ntff_section *section = &pass.core->sections[s];
        size_t rows = 0;

        if (section->type != NX_SECTION_DMA)
            continue;
        for (size_t at = 0; at + NX_NTFF_RECORD_SIZE <= section->records.size; at += NX_NTFF_RECORD_SIZE) {
            struct nx_record r = nx_record_load(section->records.data + at);

            if (nx_record_kind(r) % NX_PAIR_SHARES == job->share && nx_pair_count(job, section, r))
                read_record(&pass, r);
        }
        for (size_t i = 0; i < job->ring_count; i++)
            rows += job->ring_rows[i].count;
        more = nx_pair_section_done(job, section, rows);
    }
}
