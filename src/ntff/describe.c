/* What a record is, in words: the kinds that real traces hold, one static text each. */
#include "ntff/ntff.h"

static const char *const starts[NX_ENGINE_COUNT] = {"Tensor instruction start", "Scalar instruction start",
                                                    "GpSimd instruction start", "Vector instruction start",
                                                    "Sync instruction start"};
static const char *const ends[NX_ENGINE_COUNT] = {"Tensor instruction end", "Scalar instruction end",
                                                  "GpSimd instruction end", "Vector instruction end",
                                                  "Sync instruction end"};
static const char *const events[NX_ENGINE_COUNT + 1] = {"Tensor event", "Scalar event", "GpSimd event",
                                                        "Vector event", "Sync event",   "AXI event"};
static const char *const semaphores[NX_ENGINE_COUNT + 1] = {"Tensor semaphore", "Scalar semaphore",
                                                            "GpSimd semaphore", "Vector semaphore",
                                                            "Sync semaphore",   "AXI semaphore"};

static const char *describe(const struct nx_ntff_section *section, struct nx_record r)
{
    switch (nx_record_classify(section, r)) {
    case NX_RECORD_START: return starts[nx_record_engine(r)];
    case NX_RECORD_END: return ends[nx_record_engine(r)];
    case NX_RECORD_EVENT: return (nx_record_is_semaphore(r) ? semaphores : events)[nx_record_engine(r)];
    case NX_RECORD_DMA_START: return "DMA packet start";
    case NX_RECORD_DMA_END: return "DMA packet end";
    case NX_RECORD_DMA_ACK: return "DMA packet write completion";
    case NX_RECORD_THROTTLE: return "throttle";
    default: return NULL;
    }
}

const char *nx_record_describe(const struct nx_ntff_section *section, struct nx_record r, bool *known)
{
    const char *text = describe(section, r);

    *known = text != NULL;
    return text ? text : "unknown";
}

const char *nx_ntff_section_name(uint32_t type)
{
    static const char *const names[] = {"instruction", "event", "error", NULL, "dma", "throttle"};

    return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "unknown";
}
