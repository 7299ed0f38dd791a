/*
 * semaphore.h - what instructions do with semaphores and events, and who made
 * each change that was recorded.  Private to this folder: release.c finds out
 * by it who let a waiting instruction go.
 */
#ifndef NX_TRACE_SEMAPHORE_H
#define NX_TRACE_SEMAPHORE_H

#include "trace/trace.h"

#define NX_NEAR_PS 200000 /* at most between an update and its record; 52 ns in real traces */

#define NX_SEMAPHORE_COUNT 256 /* of a core; and as many events */

/* Kinds of change, by the low half of the mode of an update or of a record. */
enum nx_change { NX_CHANGE_ADD, NX_CHANGE_SUBTRACT, NX_CHANGE_WRITE, NX_CHANGE_SET, NX_CHANGE_NONE };
#define NX_CHANGE_COUNT NX_CHANGE_NONE
static inline enum nx_change nx_change_of(uint8_t mode)
{
    static const uint8_t changes[16] = {
        NX_CHANGE_NONE, NX_CHANGE_SET,  NX_CHANGE_NONE, NX_CHANGE_ADD,   NX_CHANGE_SUBTRACT, NX_CHANGE_ADD,
        NX_CHANGE_NONE, NX_CHANGE_NONE, NX_CHANGE_NONE, NX_CHANGE_WRITE, NX_CHANGE_NONE,     NX_CHANGE_NONE,
        NX_CHANGE_NONE, NX_CHANGE_NONE, NX_CHANGE_NONE, NX_CHANGE_NONE};

    return (enum nx_change)changes[mode & 0xf];
}

enum nx_wait_mode { NX_WAIT_EQUAL = 1, NX_WAIT_AT_LEAST = 5, NX_WAIT_EVENT = 7 };

/* What an instruction waits for and changes. */
struct nx_syncs {
    struct nx_sync wait, update, set_wait, set_update;
    uint8_t dge_semaphore, dge_increment; /* increment 0: none */
};
struct nx_syncs *nx_read_syncs(const struct nx_trace *trace); /* by instruction; the caller frees */

struct nx_maker {
    uint32_t by; /* execution or run; NX_NONE: not known */
    bool by_run;
};
/* Who made each of nx_trace.events; the caller frees. */
struct nx_maker *nx_find_makers(const struct nx_trace *trace, const struct nx_syncs *syncs);

#endif
