#include "isa/device.h"

#include <stddef.h>
#include <string.h>

/*
 * Sources: public architecture guides for array sizes, clocks, SBUF and PSUM;
 * for trn2 hbm_bandwidth, dma_bandwidth, clocks and ticks also the closed
 * tool's own metadata for real profiles (716e9, 435e9, 2.4, 1.2, 1000).  trn1's
 * dma_bandwidth is the public DMA guide's 17 bytes/ns of each of 16 engines,
 * hbm_bandwidth half of the published 820 GB/s of two stacks.
 */
static const struct nx_device devices[] = {
    {.target = "sunda", .family = "trn1", .pe_rows = 128, .pe_cols = 128, .pe_clock_ghz = 2.8,
     .vector_clock_ghz = 1.12, .scalar_clock_ghz = 1.4, .gpsimd_clock_ghz = 1.4, .core_clock_ghz = 1.4,
     .hbm_bandwidth = 410e9, .dma_bandwidth = 272e9, .dma_engines = 16, .sbuf_partitions = 128,
     .sbuf_partition_bytes = 196608, .psum_banks = 8, .ticks_per_ns = 1000},
    {.target = "cayman", .family = "trn2", .pe_rows = 128, .pe_cols = 128, .pe_clock_ghz = 2.4,
     .vector_clock_ghz = 0.96, .scalar_clock_ghz = 1.2, .gpsimd_clock_ghz = 1.2, .core_clock_ghz = 1.2,
     .hbm_bandwidth = 716e9, .dma_bandwidth = 435e9, .dma_engines = 16, .sbuf_partitions = 128,
     .sbuf_partition_bytes = 229376, .psum_banks = 8, .ticks_per_ns = 1000},
};

const struct nx_device *nx_device_by_target(const char *target)
{
    for (size_t i = 0; target && i < sizeof(devices) / sizeof(devices[0]); i++)
        if (strcmp(devices[i].target, target) == 0)
            return &devices[i];
    return NULL;
}
