/* Events, semaphores and throttling: a row for each record. Sections of kinds that nobody knows are counted here. */
#include "base/memory.h"
#include "trace/build.h"

static void event(struct nx_core_rows *rows, uint64_t time, struct nx_record r)
{
    unsigned engine = nx_record_engine(r);

    rows->events = nx_grow(rows->events, rows->event_count, &rows->event_capacity, sizeof(*rows->events));
    rows->events[rows->event_count++] = (struct nx_raw_event){
        .time = time,
        .value = r.w1,
        .id = (uint8_t)nx_record_event_index(r),
        .mode = (uint8_t)nx_record_event_mode(r),
        .source = engine == NX_ENGINE_COUNT ? NX_SOURCE_AXI : (int8_t)engine,
        .is_semaphore = nx_record_is_semaphore(r),
    };
}

static void throttle(struct nx_core_rows *rows, uint64_t time, struct nx_record r)
{
    rows->throttles = nx_grow(rows->throttles, rows->throttle_count, &rows->throttle_capacity, sizeof(*rows->throttles));
    rows->throttles[rows->throttle_count++] = (struct nx_raw_throttle){
        .time = time,
        .k = (uint8_t)nx_record_throttle_k(r),
        .n = (uint8_t)nx_record_throttle_n(r),
        .type = (uint8_t)nx_record_throttle_type(r),
    };
}

static void read_section(struct nx_pair_job *job, const struct nx_ntff_section *section)
{
    const struct nx_clock *clock = &job->trace->cores[job->core].ntff->event_clock;
    struct nx_pair_counts counts = {0};

    for (size_t at = 0; at + NX_NTFF_RECORD_SIZE <= section->records.size; at += NX_NTFF_RECORD_SIZE) {
        struct nx_record r = nx_record_load(section->records.data + at);

        switch (nx_pair_count(&counts, section, r)) {
        case NX_RECORD_EVENT: event(job->rows, nx_pair_time(&counts, clock, r), r); break;
        case NX_RECORD_THROTTLE: throttle(job->rows, nx_pair_time(&counts, clock, r), r); break;
        default: break;
        }
    }
    if (section->type == NX_SECTION_EVENT)
        job->overflow_events += counts.overflow;
    nx_pair_add(&job->counts, &counts);
}

void nx_pair_events(struct nx_pair_job *job)
{
    const struct nx_ntff_core *core = job->trace->cores[job->core].ntff;
    bool more = true;

    for (size_t s = 0; s < core->section_count && more; s++) {
        const struct nx_ntff_section *section = &core->sections[s];

        if (section->type == NX_SECTION_INSTRUCTION || section->type == NX_SECTION_DMA)
            continue;
        read_section(job, section);
        more = nx_pair_section_done(job, section, job->rows->event_count);
    }
}
