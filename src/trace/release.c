/*
 * Who made each wait condition hold.
 *
 * An instruction waits until a semaphore has a value, or an event is set.
 * Along the changes in the order of time, each wait finds the one since which
 * its condition has held, and who made that change (maker.c).
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "trace/build.h"
#include "trace/semaphore.h"

#define UPDATE_ADD 5        /* low half of an update's mode; 3 adds one */
#define RECORD_CLEARED 0x07 /* an event, by the wait that it let go */

struct wait {
    uint64_t before; /* the condition held before this change, and after the one before it */
    uint32_t exec;
    int64_t time; /* from when on it held */
    struct nx_sync condition;
};

/* A change of a semaphore after which it was below all later values so far. */
struct low {
    uint32_t value;
    uint32_t next; /* the change after it, or NX_NONE while there is none */
};

/* A semaphore while time goes on. */
struct watch {
    struct low *lows; /* rising values: what follows the last one below a value reached that value */
    size_t low_count, low_capacity;
    uint32_t value;
    uint32_t first; /* change; NX_NONE: none yet */
    uint32_t since; /* change that gave the value it has */
    /* an event: */
    uint32_t set;         /* change that set it, or NX_NONE: not set */
    uint32_t cleared_set; /* the one before it was cleared last */
    int64_t cleared_at;
};

/* Whether the first recorded change made it reach the value: any other may have come when it was there already. */
static bool surely_rose_to(const struct nx_event *first, uint32_t value)
{
    return nx_change_of(first->mode) == NX_CHANGE_ADD && first->value == value;
}

/* An addition that does not raise the value, a subtraction that does not lower it: records before it are lost. */
static bool contradicts(const struct watch *w, const struct nx_event *event)
{
    enum nx_change change = nx_change_of(event->mode);

    return w->first != NX_NONE && ((change == NX_CHANGE_ADD && event->value <= w->value) ||
                                   (change == NX_CHANGE_SUBTRACT && event->value >= w->value));
}

static void change_semaphore(struct watch *w, const struct nx_event *event, uint32_t number)
{
    if (contradicts(w, event)) { /* what was before is not known */
        w->low_count = 0;
        w->first = NX_NONE;
    }
    if (w->low_count)
        w->lows[w->low_count - 1].next = number;
    while (w->low_count && w->lows[w->low_count - 1].value >= event->value)
        w->low_count--;
    w->lows = nx_grow(w->lows, w->low_count, &w->low_capacity, sizeof(*w->lows));
    w->lows[w->low_count++] = (struct low){event->value, NX_NONE};
    if (w->first == NX_NONE)
        w->first = w->since = number;
    else if (w->value != event->value)
        w->since = number;
    w->value = event->value;
}

/* The change since which the semaphore has been at least `value`, or NX_NONE. */
static uint32_t reached(const struct watch *w, const struct nx_event *events, uint32_t value)
{
    size_t below = 0, end = w->low_count; /* the lows that are below the value are the first `below` ones */

    if (w->first == NX_NONE || w->value < value)
        return NX_NONE;
    while (below < end) {
        size_t middle = below + (end - below) / 2;

        if (w->lows[middle].value < value)
            below = middle + 1;
        else
            end = middle;
    }
    if (below)
        return w->lows[below - 1].next;
    return surely_rose_to(&events[w->first], value) ? w->first : NX_NONE;
}

/* The change since which the semaphore has been `value`, or NX_NONE. */
static uint32_t became(const struct watch *w, const struct nx_event *events, uint32_t value)
{
    if (w->first == NX_NONE || w->value != value)
        return NX_NONE;
    return w->since != w->first || surely_rose_to(&events[w->first], value) ? w->since : NX_NONE;
}

static void change_event(struct watch *w, const struct nx_event *event, uint32_t number)
{
    if (event->mode == RECORD_CLEARED) {
        w->cleared_set = w->set;
        w->cleared_at = event->time;
        w->set = NX_NONE;
    } else if (nx_change_of(event->mode) == NX_CHANGE_SET && w->set == NX_NONE) {
        w->set = number;
    }
}

static void change(struct watch *watches, const struct nx_event *event, uint32_t number)
{
    struct watch *w = &watches[(event->core * 2 + event->is_semaphore) * NX_SEMAPHORE_COUNT + event->id];

    if (event->is_semaphore)
        change_semaphore(w, event, number);
    else
        change_event(w, event, number);
}

static bool waits_for(const struct nx_sync *condition, const struct nx_event *event)
{
    return condition->mode && condition->index == event->id &&
           event->is_semaphore == (condition->mode != NX_WAIT_EVENT);
}

/* The change that made a condition hold, or NX_NONE. */
static uint32_t releasing_change(const struct watch *watches, const struct nx_event *events, unsigned core,
                                 const struct wait *wait)
{
    const struct watch *semaphore = &watches[(core * 2 + 1) * NX_SEMAPHORE_COUNT + wait->condition.index];
    const struct watch *event = &watches[core * 2 * NX_SEMAPHORE_COUNT + wait->condition.index];

    switch (wait->condition.mode) {
    case NX_WAIT_EQUAL: return became(semaphore, events, wait->condition.value);
    case NX_WAIT_AT_LEAST: return reached(semaphore, events, wait->condition.value);
    case NX_WAIT_EVENT: /* which it clears itself */
        if (event->set != NX_NONE)
            return event->set;
        return wait->time - event->cleared_at <= NX_NEAR_PS ? event->cleared_set : NX_NONE;
    default: return NX_NONE;
    }
}

/*
 * Whether a change can have been the one that reached the value.  One that goes by single steps and is beyond it
 * was not: the record of the one that did is lost.
 */
static bool can_reach(const struct nx_trace *trace, const struct nx_syncs *syncs, const struct nx_event *event,
                      struct nx_maker maker, const struct nx_sync *condition)
{
    const struct nx_syncs *s;

    if (condition->mode != NX_WAIT_AT_LEAST || event->value == condition->value ||
        nx_change_of(event->mode) != NX_CHANGE_ADD)
        return true;
    if (event->source == NX_SOURCE_AXI)
        return false;
    s = &syncs[trace->execs[maker.by].inst];
    return (s->update.mode & 0xf) == UPDATE_ADD || (s->set_update.mode & 0xf) == UPDATE_ADD;
}

/* By execution: its first change of a semaphore or event that it waits for itself, or NX_NONE. */
static uint32_t *own_changes(const struct nx_trace *trace, const struct nx_syncs *syncs,
                             const struct nx_maker *makers)
{
    uint32_t *own = nx_alloc(trace->exec_count * sizeof(*own));

    for (uint32_t e = 0; e < trace->exec_count; e++)
        own[e] = NX_NONE;
    for (uint32_t i = trace->event_count; i-- > 0;) {
        const struct nx_event *event = &trace->events[i];
        const struct nx_syncs *s;

        if (makers[i].by == NX_NONE || makers[i].by_run)
            continue;
        s = &syncs[trace->execs[makers[i].by].inst];
        if (waits_for(&s->wait, event) || waits_for(&s->set_wait, event))
            own[makers[i].by] = i;
    }
    return own;
}

/* The first change after `time`, none of those before `from` being so: at some distance, which is mostly small. */
static uint32_t first_after(const struct nx_trace *trace, uint32_t from, int64_t time)
{
    uint32_t first = from, end;
    size_t step = 1;

    while (first < trace->event_count && trace->events[first].time <= time) {
        from = first + 1;
        first = trace->event_count - first > step ? first + (uint32_t)step : trace->event_count;
        step *= 2;
    }
    end = first;
    first = from;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (trace->events[middle].time <= time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The common condition holds when the instruction starts, EVENT_SEMAPHORE's own one when it ends. */
static struct wait *find_waits(const struct nx_trace *trace, const struct nx_syncs *syncs,
                               const struct nx_maker *makers, size_t *count)
{
    uint32_t *own = own_changes(trace, syncs, makers);
    struct wait *waits = NULL;
    size_t capacity = 0;
    uint32_t started = 0; /* the first change after the start of the execution: they start one after another */

    *count = 0;
    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];
        const struct nx_syncs *s = exec->inst == NX_NONE ? NULL : &syncs[exec->inst];

        started = first_after(trace, started, exec->start);

        for (int second = 0; s && second < 2; second++) {
            struct wait wait = {.exec = e,
                                .time = second ? exec->end : exec->start,
                                .condition = second ? s->set_wait : s->wait};

            if (!wait.condition.mode)
                continue;
            wait.before = second ? first_after(trace, started, exec->end) : started;
            /* What it changed itself after the wait may bear a time before it (trn1), or before its end. */
            if (own[e] < wait.before && waits_for(&wait.condition, &trace->events[own[e]]))
                wait.before = own[e];
            waits = nx_grow(waits, *count, &capacity, sizeof(*waits));
            waits[(*count)++] = wait;
        }
    }
    free(own);
    return nx_sort_rows(waits, *count, sizeof(*waits), offsetof(struct wait, before));
}

static struct watch *open_watches(const struct nx_trace *trace)
{
    struct watch *watches = nx_zalloc((size_t)trace->core_count * 2 * NX_SEMAPHORE_COUNT, sizeof(*watches));

    for (size_t i = 0; i < (size_t)trace->core_count * 2 * NX_SEMAPHORE_COUNT; i++)
        watches[i].first = watches[i].since = watches[i].set = watches[i].cleared_set = NX_NONE;
    return watches;
}

static void close_watches(const struct nx_trace *trace, struct watch *watches)
{
    for (size_t i = 0; i < (size_t)trace->core_count * 2 * NX_SEMAPHORE_COUNT; i++)
        free(watches[i].lows);
    free(watches);
}

struct nx_release *nx_build_releases(const struct nx_trace *trace, size_t *count)
{
    struct nx_syncs *syncs;
    struct nx_maker *makers;
    struct watch *watches;
    size_t wait_count;
    struct wait *waits;
    struct nx_release *list;
    uint32_t event = 0;

    *count = 0;
    /* An execution has two waits and two updates at most: lists of them must have numbers of 32 bits. */
    if ((uint64_t)trace->exec_count + trace->run_count >= NX_NONE / 2)
        return NULL;
    syncs = nx_read_syncs(trace);
    makers = nx_find_makers(trace, syncs);
    watches = open_watches(trace);
    waits = find_waits(trace, syncs, makers, &wait_count);
    list = nx_alloc(wait_count * sizeof(*list));
    for (size_t i = 0; i < wait_count; i++) {
        uint32_t released;

        for (; event < waits[i].before; event++)
            change(watches, &trace->events[event], event);
        released = releasing_change(watches, trace->events, trace->execs[waits[i].exec].core, &waits[i]);
        if (released != NX_NONE && makers[released].by != NX_NONE &&
            can_reach(trace, syncs, &trace->events[released], makers[released], &waits[i].condition))
            list[(*count)++] =
                (struct nx_release){waits[i].exec, makers[released].by, makers[released].by_run};
    }
    close_watches(trace, watches);
    free(waits);
    free(makers);
    free(syncs);
    return nx_sort_rows(list, *count, sizeof(*list), offsetof(struct nx_release, exec));
}
