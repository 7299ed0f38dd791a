/*
 * names.h - how things are called in the tables: one place for each text that
 * more than one table prints.
 */
#ifndef NX_TABLES_NAMES_H
#define NX_TABLES_NAMES_H

#include "trace/trace.h"

#define NX_SEMAPHORE_TEXT 80
/* "S[8] (qSyncIO0)", or the bare number where the NEFF gives no name. `graph` may be NULL. */
void nx_semaphore_text(const struct nx_neff_graph *graph, unsigned semaphore, char *out, size_t size);

/* A dictionary of the values of the schema's enum DmaQueueType; numbers are enum nx_queue_type. */
void nx_queue_type_dict(struct nx_dict *dict);

/* DmaQueuesInfo.type of the number in the trace's metadata: "unknown", "weights", "input", "output", "type 7". */
void nx_ring_type_text(uint32_t type, char *out, size_t size);

/*
 * DmaPacket.queue_name: "qSyncIO0-Q1-E64" for a queue with static blocks; "Q2-E71" where the packet cannot be
 * told to be of a certain queue (dynamic DMA without DGE notifications, instruction fetch).
 */
void nx_ring_text(const struct nx_ring *ring, bool is_static, char *out, size_t size);

#endif
