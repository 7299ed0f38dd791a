/*
 * device.h - the constants of each kind of NeuronCore that formulas need.
 * One place for every number about hardware; its source is beside it.
 * A constant that is not publicly known is 0: what depends on it is NULL.
 */
#ifndef NX_ISA_DEVICE_H
#define NX_ISA_DEVICE_H

#include <stdint.h>

struct nx_device {
    const char *target;  /* the compiler's name, NEFF kelf target: "sunda", "cayman" */
    const char *family;  /* "trn1", "trn2" */
    uint32_t pe_rows, pe_cols;
    double pe_clock_ghz;      /* Tensor engine */
    double vector_clock_ghz, scalar_clock_ghz, gpsimd_clock_ghz;
    double core_clock_ghz;    /* cycle counts and evt_wait_time */
    double hbm_bandwidth;     /* bytes/s of one HBM stack, as the closed tool counts it */
    double dma_bandwidth;     /* bytes/s of the 16 DMA engines of a core together */
    uint32_t dma_engines;     /* per core */
    uint32_t sbuf_partitions;
    uint64_t sbuf_partition_bytes;
    uint32_t psum_banks;
    uint64_t ticks_per_ns;    /* of the time stamps as converted: 1000 */
};

/* By NEFF target; NULL if it is not one of the known ones. */
const struct nx_device *nx_device_by_target(const char *target);

#endif
