/* thresholds.h - from where on something counts as a finding. Private to this folder. */
#ifndef NX_ANALYSIS_THRESHOLDS_H
#define NX_ANALYSIS_THRESHOLDS_H

#define NX_SMALL_GAP 0.05        /* of the bound before it: a smaller gap is no finding */
#define NX_SMALL_IDLE 0.05       /* of total time: less idleness is no finding */
#define NX_SMALL_TRANSPOSES 0.01 /* of FLOPs */
#define NX_GOOD_DESCRIPTOR 4096  /* bytes of a partition from which on DMA is near its peak rate */
#define NX_REPEATED 1.5          /* a tensor that was moved more often was loaded again */
#define NX_FULL_COVERAGE 0.95    /* of bytes or time: with less, what lines say is incomplete */
#define NX_TILE_K 128            /* rows of the Tensor engine's array */
#define NX_TILE_M 128            /* columns */
#define NX_TILE_N 512            /* of one PSUM bank, in fp32 */
#define NX_IDLE_CORE 0.01        /* of total time: a core that does less is not used by the kernel */
#define NX_TABLE_ROWS 50         /* a report's table shows no more; the statement gives all */

#endif
