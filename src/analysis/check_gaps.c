#include "analysis/check_gaps.h"

#include <string.h>

#include "base/gaps.h"

const struct nx_gap nx_gaps[] = {
    {NX_SAY_NO_GRAPH, "no_graph", NX_TOPIC_PAIR, NX_CHECK_GAPS, NX_REMEDY_PAIR},
    {NX_SAY_CODE_LENGTH, "code_length", NX_TOPIC_PAIR, NX_CHECK_GAPS, NX_REMEDY_PAIR},
    {NX_SAY_CODE_DIFFERS, "code_differs", NX_TOPIC_PAIR, NX_CHECK_GAPS, NX_REMEDY_PAIR},
    {NX_SAY_UUID_CUT, "uuid_cut", NX_TOPIC_PAIR, NX_CHECK_GOOD, NX_REMEDY_NONE},

    {NX_SAY_NO_INSTRUCTIONS, "no_instructions", NX_TOPIC_TRACE, NX_CHECK_BAD, NX_REMEDY_AGAIN},
    {NX_SAY_RECORDS_UNKNOWN, "records_unknown", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_READER},
    {NX_SAY_RECORDS_LOST, "records_lost", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_BUFFERS},
    {NX_SAY_BUFFER_FULL, "buffer_full", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_BUFFERS},
    {NX_SAY_ENDS_UNMATCHED, "ends_unmatched", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_BUFFERS},
    {NX_SAY_UNFINISHED, "instructions_unfinished", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_AGAIN},
    {NX_SAY_BACKWARDS, "rows_backwards", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_AGAIN},
    {NX_SAY_BEFORE_CLOCK, "before_clock", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_AGAIN},
    {NX_SAY_NO_CODE, "code_missing", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_NONE},
    {NX_SAY_OPCODES_UNKNOWN, "opcodes_unknown", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_READER},

    {NX_SAY_COLLECTIVES, "collectives_unread", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_READER},
    {NX_SAY_BARRIERS, "barriers_unread", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_READER},
    {NX_SAY_ERRORS, "errors_unread", NX_TOPIC_TRACE, NX_CHECK_GAPS, NX_REMEDY_READER},

    {NX_SAY_NO_DGE, "no_dge_notifications", NX_TOPIC_DMA, NX_CHECK_GAPS, NX_REMEDY_DGE},
    {NX_SAY_NO_PACKETS, "no_packets", NX_TOPIC_DMA, NX_CHECK_GAPS, NX_REMEDY_AGAIN},
    {NX_SAY_PACKETS_UNFINISHED, "packets_unfinished", NX_TOPIC_DMA, NX_CHECK_GAPS, NX_REMEDY_AGAIN},
    {NX_SAY_RINGS_LEFT_OUT, "rings_left_out", NX_TOPIC_DMA, NX_CHECK_GAPS, NX_REMEDY_NONE},

    {NX_SAY_NO_DEBUG_FILES, "no_debug_files", NX_TOPIC_SOURCE, NX_CHECK_GAPS, NX_REMEDY_DEBUG_INFO},

    {NX_SAY_NO_LINES, "no_source_lines", NX_TOPIC_SOURCE, NX_CHECK_GAPS, NX_REMEDY_DEBUG_INFO},
    /* A kernel that was not written in NKI has none. */
    {NX_SAY_NO_KERNEL_LINES, "no_kernel_source_lines", NX_TOPIC_SOURCE, NX_CHECK_GOOD, NX_REMEDY_DEBUG_INFO},
    {NX_SAY_NO_LEVELS, "no_layers", NX_TOPIC_SOURCE, NX_CHECK_GAPS, NX_REMEDY_DEBUG_INFO},
    {NX_SAY_NO_STACK_FRAMES, "no_stack_frames", NX_TOPIC_SOURCE, NX_CHECK_GAPS, NX_REMEDY_DEBUG_INFO},

    {NX_SAY_NO_DEVICE, "device_unknown", NX_TOPIC_FIGURES, NX_CHECK_GAPS, NX_REMEDY_READER},
    {NX_SAY_NO_METRICS, "no_compiler_metrics", NX_TOPIC_FIGURES, NX_CHECK_GAPS, NX_REMEDY_COMPILER},
    {NX_SAY_NO_HLO_STATS, "no_hlo_statistics", NX_TOPIC_FIGURES, NX_CHECK_GAPS, NX_REMEDY_COMPILER},
};

const size_t nx_gap_count = sizeof(nx_gaps) / sizeof(nx_gaps[0]);

/* Names from public documentation: docs/cli.md says of which. */
const struct nx_advice nx_advices[NX_REMEDY_COUNT] = {
    [NX_REMEDY_DGE] = {"capture",
                       {NX_SET_DGE_NOTIFICATIONS},
                       "packets of dynamic DMA then name their instruction and tensor; the run is slower, and a large "
                       "model can overflow the notification queue: do not compare its times with those of other runs"},
    [NX_REMEDY_BUFFERS] = {"capture",
                           {NX_SET_EVENT_BUFFER, NX_SET_INSTRUCTION_BUFFER, NX_SET_DMA_BUFFER},
                           "larger trace buffers (64 to 128 MB each otherwise) lose fewer records; what the device's own "
                           "queue drops, they do not bring back"},
    [NX_REMEDY_AGAIN] = {"capture", {NULL}, "capture once more, and let the run end before the trace is read"},
    [NX_REMEDY_PAIR] = {"capture", {NULL}, "take the NEFF that ran, as the capture left it beside its NTFF"},
    [NX_REMEDY_DEBUG_INFO] = {"compile",
                              {NX_SET_FRAMEWORK_DEBUG, NX_SET_XLA_IR_DEBUG, NX_SET_XLA_HLO_DEBUG, NX_SET_NKI_DEBUG},
                              "instructions then name their source lines, layers and stack frames; a NEFF from a cache "
                              "is as it was: clear the cache first"},
    [NX_REMEDY_COMPILER] = {"compile",
                            {NULL},
                            "a current compiler, from a framework's graph, writes its metrics and HLO statistics into "
                            "the NEFF"},
    [NX_REMEDY_READER] = {"read", {NULL}, "this reader does not know all of it: a newer one may"},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What stands in the format up to its next conversion. */
static size_t plain_length(const char *format)
{
    const char *conversion = strchr(format, '%');

    return conversion ? (size_t)(conversion - format) : strlen(format);
}

/* %s: the shortest text that what follows it in the format follows; NULL if none is. */
static const char *skip_text(const char *at, const char *format)
{
    size_t size = plain_length(format);

    if (size == 0 && !*format)
        return at + strlen(at);
    for (; *at; at++)
        if (strncmp(at, format, size) == 0 && (format[size] || !at[size]))
            return at;
    return NULL;
}

static bool matches(const char *sentence, const char *format, bool *has_value, uint64_t *value)
{
    const char *at = sentence;

    *has_value = false;
    while (*format) {
        size_t size = plain_length(format);

        if (strncmp(at, format, size) != 0)
            return false;
        at += size;
        format += size;
        if (strncmp(format, "%s", 2) == 0) {
            format += 2;
            at = skip_text(at, format);
            if (!at)
                return false;
        } else if (*format) { /* the other one there is: PRIu64 */
            uint64_t number = 0;

            if (!is_digit(*at))
                return false;
            while (is_digit(*at))
                number = number * 10 + (uint64_t)(*at++ - '0');
            if (!*has_value)
                *value = number;
            *has_value = true;
            format += strlen("%" PRIu64);
        }
    }
    return !*at;
}

bool nx_gap_counts(const struct nx_gap *gap)
{
    return strstr(gap->format, "%" PRIu64) != NULL;
}

const struct nx_gap *nx_gap_find(const char *sentence, bool *has_value, uint64_t *value)
{
    for (size_t i = 0; i < nx_gap_count; i++)
        if (matches(sentence, nx_gaps[i].format, has_value, value))
            return &nx_gaps[i];
    return NULL;
}
