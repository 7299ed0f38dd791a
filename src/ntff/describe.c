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
    unsigned kind = nx_record_kind(r), sub = kind & 3, engine = (kind >> 2) - 1;

    if (section->block == NX_BLOCK_TOPSP || !nx_record_valid(r))
        return NULL;
    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        if (engine >= NX_ENGINE_COUNT)
            return NULL;
        return sub == NX_SUB_START ? starts[engine] : sub == NX_SUB_END ? ends[engine] : NULL;
    case NX_SECTION_EVENT:
        if (kind == NX_KIND_AXI)
            engine = NX_ENGINE_COUNT;
        else if (sub != NX_SUB_EVENT || engine >= NX_ENGINE_COUNT)
            return NULL;
        return nx_record_is_semaphore(r) ? semaphores[engine] : events[engine];
    case NX_SECTION_DMA:
        switch (nx_record_dma_type(r)) {
        case NX_DMA_START:
            return "DMA packet start";
        case NX_DMA_END:
            return "DMA packet end";
        case NX_DMA_ACK:
            return "DMA packet write completion";
        default:
            return NULL;
        }
    case NX_SECTION_THROTTLE:
        return kind == NX_KIND_THROTTLE ? "throttle" : NULL;
    default:
        return NULL;
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
