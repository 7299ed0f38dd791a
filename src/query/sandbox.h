/*
 * sandbox.h - what a worker may still do.  Private to this folder.
 */
#ifndef NX_QUERY_SANDBOX_H
#define NX_QUERY_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Before the engine is opened (its threads inherit it): no new privileges, no core files, no file can grow, first to
 * be killed when the machine runs out of memory, and, where the kernel has Landlock, no file can be opened but the given ones and what the engine reads of /proc and
 * /sys, and (Linux 6.7 and newer) no TCP port be bound or connected to. False: Landlock is not there (the other layers hold).
 */
bool nx_sandbox_files(const int *fds, size_t count);

/* After the engine is open: limits the address space to what is mapped now plus `memory`. */
void nx_sandbox_memory(uint64_t memory);

#endif
