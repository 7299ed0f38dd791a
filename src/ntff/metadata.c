/*
 * The message at the top of the metadata (docs/format-ntff.md, "Metadata").
 *
 * proto3: a field that is absent is zero.  Arrays are counted in a first walk
 * over a message, so that the second fills memory of the right size.
 */
#include "ntff/metadata.h"

#include <inttypes.h>
#include <string.h>

/* Far above anything real; see nx_ntff_list. */
#define MAX_CORES 256
#define MAX_EXECUTIONS ((size_t)1 << 20)
#define MAX_CAPACITIES 4096

static enum nx_status read_version(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_version *version)
{
    static const struct nx_ntff_message kind = {
        .name = "version", .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3), .bytes = NX_FIELD(5)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    version->present = true;
    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            version->major = f.value;
            break;
        case 2:
            version->minor = f.value;
            break;
        case 3:
            version->patch = f.value;
            break;
        default:
            version->git_hash = nx_ntff_text(r, &f);
            break;
        }
    return nx_ntff_walked(r, &pb);
}

/* device {1: repeated core}; there may be several */
static enum nx_status read_device(struct nx_ntff_reader *r, struct nx_bytes message)
{
    static const struct nx_ntff_message kind = {.name = "device", .bytes = NX_FIELD(1)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff *ntff = r->ntff;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind)) {
        if (ntff->core_count == MAX_CORES)
            return nx_fail_at(r->error, r->path, nx_ntff_offset(r, f.bytes), "more than %d cores", MAX_CORES);
        status = nx_ntff_read_core(r, f.bytes, &ntff->cores[ntff->core_count++]);
    }
    return status == NX_OK ? nx_ntff_walked(r, &pb) : status;
}

/* node {4: device, 5: uuid} */
static enum nx_status read_node(struct nx_ntff_reader *r, struct nx_bytes message)
{
    static const struct nx_ntff_message kind = {.name = "node", .bytes = NX_FIELD(4) | NX_FIELD(5)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff *ntff = r->ntff;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind))
        if (f.number == 4) {
            status = read_device(r, f.bytes);
        } else if (f.bytes.size == sizeof(ntff->uuid)) {
            memcpy(ntff->uuid, f.bytes.data, sizeof(ntff->uuid));
            ntff->uuid_size = sizeof(ntff->uuid);
            ntff->uuid_exact = true;
        } else {
            nx_warn(&ntff->warnings, NX_WARN_INCONSISTENT,
                    "the trace's UUID of its kernel has %zu bytes instead of %zu: it is not used",
                    f.bytes.size, sizeof(ntff->uuid));
        }
    return status == NX_OK ? nx_ntff_walked(r, &pb) : status;
}

static size_t copy_uuid(uint8_t uuid[16], struct nx_bytes from)
{
    size_t size = from.size < 16 ? from.size : 16;

    if (size)
        memcpy(uuid, from.data, size);
    return size;
}

static enum nx_status read_execution(struct nx_ntff_reader *r, struct nx_bytes message,
                                     struct nx_execution *execution)
{
    static const struct nx_ntff_message kind = {
        .name = "execution", .numbers = NX_FIELD(2) | NX_FIELD(3), .bytes = NX_FIELD(1)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            execution->uuid_size = copy_uuid(execution->uuid, f.bytes);
            break;
        case 2:
            execution->start_ps = f.value;
            break;
        default:
            execution->end_ps = f.value;
            break;
        }
    return nx_ntff_walked(r, &pb);
}

static enum nx_status read_capacity(struct nx_ntff_reader *r, struct nx_bytes message,
                                    struct nx_trace_capacity *capacity)
{
    static const struct nx_ntff_message kind = {.name = "trace capacity",
                                                .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            capacity->block = nx_ntff_u32(&f);
            break;
        case 2:
            capacity->type = nx_ntff_u32(&f);
            break;
        default:
            capacity->bytes = f.value;
            break;
        }
    return nx_ntff_walked(r, &pb);
}

static enum nx_status read_field(struct nx_ntff_reader *r, const struct nx_pb_field *f)
{
    struct nx_ntff *ntff = r->ntff;

    switch (f->number) {
    case 1:
        ntff->neff_name = nx_ntff_text(r, f);
        break;
    case 2: /* a C string of the writer: it may be cut, or run on behind the 16 bytes */
        if (!ntff->uuid_exact)
            ntff->uuid_size = copy_uuid(ntff->uuid, f->bytes);
        break;
    case 4:
        return read_node(r, f->bytes);
    case 5:
        ntff->cores_per_lnc = nx_ntff_u32(f);
        break;
    case 7:
        ntff->capture_time = f->value;
        break;
    case 8:
        return read_version(r, f->bytes, &ntff->runtime);
    case 9:
        ntff->instance_type = nx_ntff_text(r, f);
        break;
    case 11:
        return read_version(r, f->bytes, &ntff->driver);
    case 12:
        return read_version(r, f->bytes, &ntff->collectives);
    case 13:
        return read_capacity(r, f->bytes, &ntff->capacities[ntff->capacity_count++]);
    case 15:
        return read_execution(r, f->bytes, &ntff->executions[ntff->execution_count++]);
    case 17:
        ntff->instance_id = nx_ntff_text(r, f);
        break;
    case 18:
        ntff->pid = f->value;
        break;
    default:
        break; /* 16: sections, when all cores are known */
    }
    return NX_OK;
}

static enum nx_status read_top(struct nx_ntff_reader *r, struct nx_bytes message)
{
    static const struct nx_ntff_message kind = {
        .name = "top",
        .numbers = NX_FIELD(5) | NX_FIELD(7) | NX_FIELD(18),
        .bytes = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(4) | NX_FIELD(8) | NX_FIELD(9) | NX_FIELD(11) |
                 NX_FIELD(12) | NX_FIELD(13) | NX_FIELD(15) | NX_FIELD(16) | NX_FIELD(17),
        .ignored = NX_FIELD(3) | NX_FIELD(10) | NX_FIELD(14)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff *ntff = r->ntff;
    enum nx_status status =
        nx_ntff_list(r, message, 15, MAX_EXECUTIONS, sizeof(*ntff->executions), &ntff->executions);

    ntff->neff_name = "";
    ntff->cores = nx_arena_alloc(&ntff->arena, MAX_CORES, sizeof(*ntff->cores));
    if (status == NX_OK)
        status = nx_ntff_list(r, message, 13, MAX_CAPACITIES, sizeof(*ntff->capacities), &ntff->capacities);
    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind))
        status = read_field(r, &f);
    return status == NX_OK ? nx_ntff_walked(r, &pb) : status;
}

enum nx_status nx_ntff_read_metadata(struct nx_ntff_reader *r, struct nx_bytes metadata)
{
    enum nx_status status = read_top(r, metadata);

    if (status == NX_OK)
        status = nx_ntff_read_top_sections(r, metadata);
    nx_ntff_warn_unknown(r);
    if (status == NX_OK && r->ntff->core_count == 0)
        return nx_fail_at(r->error, r->path, NX_NTFF_HEADER_SIZE,
                          "a core expected in the metadata (%" PRIu64 " bytes), none found",
                          r->ntff->metadata_size);
    return status;
}
