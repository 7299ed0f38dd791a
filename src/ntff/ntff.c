#include "ntff/ntff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ntff/metadata.h"

#define OLDEST_VERSION 4
#define NEWEST_VERSION 6

static enum nx_status parse(struct nx_ntff_reader *r)
{
    struct nx_ntff *ntff = r->ntff;
    struct nx_bytes metadata;
    enum nx_status status;

    if (r->file.size < NX_NTFF_HEADER_SIZE)
        return nx_fail_at(r->error, r->path, 0, "%zu bytes are too few for an NTFF: its header alone has %d",
                          r->file.size, NX_NTFF_HEADER_SIZE);
    ntff->version = r->file.data[0];
    if (ntff->version < OLDEST_VERSION || ntff->version > NEWEST_VERSION)
        return nx_fail_at(r->error, r->path, 0,
                          "NTFF version %" PRIu32 " is not supported (supported: 4, 5, 6)", ntff->version);
    ntff->metadata_size = nx_load_u64(r->file.data + 1);
    r->raw_base = ntff->metadata_size > UINT64_MAX - NX_NTFF_HEADER_SIZE
                      ? UINT64_MAX
                      : NX_NTFF_HEADER_SIZE + ntff->metadata_size;
    if (!nx_bytes_slice(r->file, NX_NTFF_HEADER_SIZE, ntff->metadata_size, &metadata)) {
        nx_bytes_slice(r->file, NX_NTFF_HEADER_SIZE, r->file.size - NX_NTFF_HEADER_SIZE, &metadata);
        nx_ntff_read_metadata(r, metadata); /* what there is of it, for whoever looks at a damaged file */
        return nx_fail_at(r->error, r->path, 1,
                          "metadata of %" PRIu64
                          " bytes expected behind the header, %zu found: the file is cut "
                          "short, or not an NTFF",
                          ntff->metadata_size, metadata.size);
    }
    status = nx_ntff_read_metadata(r, metadata);
    if (status != NX_OK)
        return status;
    if (r->misplaced.status != NX_OK) {
        *r->error = r->misplaced;
        return r->misplaced.status;
    }
    return nx_ntff_check_coverage(r);
}

enum nx_status nx_ntff_parse_partly(const char *path, struct nx_bytes bytes, struct nx_ntff *ntff,
                                    struct nx_error *error)
{
    struct nx_ntff_reader reader = {.ntff = ntff, .path = path, .file = bytes, .error = error};

    *ntff = (struct nx_ntff){.path = path};
    return parse(&reader);
}

enum nx_status nx_ntff_parse(const char *path, struct nx_bytes bytes, struct nx_ntff *ntff,
                             struct nx_error *error)
{
    enum nx_status status = nx_ntff_parse_partly(path, bytes, ntff, error);

    if (status != NX_OK)
        nx_ntff_close(ntff);
    return status;
}

enum nx_status nx_ntff_inspect(const char *path, struct nx_ntff *ntff, struct nx_error *error)
{
    struct nx_ntff_reader reader = {.ntff = ntff, .error = error};
    enum nx_status status;

    *ntff = (struct nx_ntff){0};
    status = nx_file_open(path, &ntff->file, error);
    if (status != NX_OK)
        return status;
    ntff->path = reader.path = ntff->file.path;
    reader.file = ntff->file.bytes;
    return parse(&reader);
}

enum nx_status nx_ntff_open(const char *path, struct nx_ntff *ntff, struct nx_error *error)
{
    enum nx_status status = nx_ntff_inspect(path, ntff, error);

    if (status != NX_OK)
        nx_ntff_close(ntff);
    return status;
}

void nx_ntff_close(struct nx_ntff *ntff)
{
    nx_warnings_free(&ntff->warnings);
    nx_arena_free(&ntff->arena);
    nx_file_close(&ntff->file);
    *ntff = (struct nx_ntff){0};
}

bool nx_ntff_uuid_matches(const struct nx_ntff *ntff, const uint8_t uuid[16])
{
    if (memcmp(ntff->uuid, uuid, ntff->uuid_size) != 0)
        return false;
    return ntff->uuid_size == 16 || (!ntff->uuid_exact && uuid[ntff->uuid_size] == 0);
}

void nx_version_text(const struct nx_version *version, char *out, size_t size)
{
    snprintf(out, size, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 " (%.5s)", version->major, version->minor,
             version->patch, version->git_hash ? version->git_hash : "");
}
