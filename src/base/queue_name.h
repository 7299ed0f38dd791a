/*
 * queue_name.h - DMA queues are named after the hardware's engine ("qSPIO0");
 * tables show the engine's product name ("qSyncIO0").
 */
#ifndef NX_BASE_QUEUE_NAME_H
#define NX_BASE_QUEUE_NAME_H

#include <stddef.h>

/* "qPool*" -> "qGpSimd*", "qSP*" -> "qSync*", "qAct*" -> "qScalar*", others as they are; cut to `size`. */
void nx_display_queue(const char *name, char *out, size_t size);

#endif
