#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gaps.h"
#include "base/memory.h"
#include "trace/build.h"

static enum nx_status check_pair(const struct nx_neff *neff, const struct nx_ntff *ntff, struct nx_error *error)
{
    uint64_t instructions = 0;

    if (!nx_ntff_uuid_matches(ntff, neff->header.uuid)) {
        char want[33], found[33];

        nx_hex(neff->header.uuid, sizeof(neff->header.uuid), want);
        nx_hex(ntff->uuid, ntff->uuid_size, found);
        return nx_fail(error, NX_BAD_INPUT,
                       "%s: the trace belongs to another kernel: it was captured from the NEFF with uuid %s%s, "
                       "but %s has uuid %s",
                       ntff->path, found, ntff->uuid_size < 16 ? "..." : "", neff->path, want);
    }
    if (ntff->core_count == 0)
        return nx_fail(error, NX_BAD_INPUT, "%s: the trace holds no core: nothing was captured",
                       ntff->path);
    if (ntff->core_count > UINT8_MAX)
        return nx_fail(error, NX_BAD_INPUT, "%s: %zu cores in one trace, at most 255 are expected",
                       ntff->path, ntff->core_count);
    for (size_t c = 0; c < ntff->core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++)
            instructions += ntff->cores[c].code[e].bytes.size / NX_ISA_SIZE;
    if (instructions >= NX_NONE)
        return nx_fail(error, NX_BAD_INPUT, "%s: %" PRIu64 " instructions of code are too many",
                       ntff->path, instructions);
    return NX_OK;
}

static void open_cores(struct nx_trace *trace)
{
    trace->core_count = (uint32_t)trace->ntff->core_count;
    trace->cores = nx_zalloc(trace->core_count, sizeof(*trace->cores));
    for (uint32_t c = 0; c < trace->core_count; c++) {
        const struct nx_ntff_core *ntff = &trace->ntff->cores[c];

        trace->cores[c].name = ntff->name;
        trace->cores[c].ntff = ntff;
        trace->cores[c].neff = nx_neff_find_graph(trace->neff, ntff->name);
        if (!trace->cores[c].neff)
            nx_warn(&trace->warnings, NX_WARN_INCONSISTENT, NX_SAY_NO_GRAPH, ntff->name);
    }
}

enum nx_status nx_trace_build(const struct nx_neff *neff, const struct nx_ntff *ntff, nx_progress *progress,
                              void *context, struct nx_trace *trace, struct nx_error *error)
{
    struct nx_build build = {.trace = trace, .progress = progress, .context = context};
    enum nx_status status;

    *trace = (struct nx_trace){.neff = neff, .ntff = ntff, .device = nx_device_by_target(neff->target)};
    status = check_pair(neff, ntff, error);
    if (status != NX_OK)
        return status;
    open_cores(trace);
    nx_build_code(trace);
    nx_build_origins(trace);
    status = nx_build_pairs(&build, error);
    if (status == NX_OK)
        status = nx_build_window(&build, error);
    if (status == NX_OK) {
        nx_build_blocks(&build);
        nx_build_keep(&build);
        nx_build_dependencies(trace);
        nx_build_unread(trace);
        nx_build_gaps(trace);
    }
    nx_build_free(&build);
    if (status != NX_OK)
        nx_trace_free(trace);
    return status;
}

void nx_trace_free(struct nx_trace *trace)
{
    free(trace->cores);
    free(trace->insts);
    free(trace->origins);
    free(trace->execs);
    free(trace->packets);
    free(trace->rings);
    free(trace->runs);
    free(trace->events);
    free(trace->throttles);
    free(trace->dependencies);
    nx_dict_free(&trace->opcodes);
    nx_dict_free(&trace->operands);
    nx_dict_free(&trace->bir_names);
    nx_dict_free(&trace->lines);
    nx_dict_free(&trace->kernel_names);
    nx_dict_free(&trace->hlo_names);
    nx_dict_free(&trace->hlo_attrs);
    nx_dict_free(&trace->layers);
    nx_dict_free(&trace->stack_frames);
    nx_warnings_free(&trace->warnings);
    *trace = (struct nx_trace){0};
}

int64_t nx_trace_wait_ns(const struct nx_trace *trace, const struct nx_exec *exec)
{
    float ghz = trace->device ? (float)trace->device->core_clock_ghz : 0.0F;

    if (ghz == 0.0F)
        return -1;
    /* In this order and precision, and cut twice: anything else is off by one on some rows. */
    return (int64_t)(int32_t)((float)exec->wait_cycles * 1000.0F / ghz) / 1000;
}
