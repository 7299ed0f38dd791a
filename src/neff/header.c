/* The first 1024 bytes: fixed fields, little endian (docs/format-neff.md, "Header"). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "neff/reader.h"

#define KNOWN_PACKAGE_VERSION 2

enum offset {
    PACKAGE_VERSION = 0,
    HEADER_SIZE = 8,
    DATA_SIZE = 16,
    MAJOR = 24,
    MINOR = 32,
    BUILD = 40,
    NUM_TPB = 168,
    HASH = 172,
    UUID = 204,
    NAME = 220,
    REQUESTED = 476,
    PER_NODE = 480,
    FEATURES = 544,
    LNC = 552,
};

static void fill(struct nx_neff_header *h, const uint8_t *p)
{
    h->package_version = nx_load_u64(p + PACKAGE_VERSION);
    h->header_size = nx_load_u64(p + HEADER_SIZE);
    h->data_size = nx_load_u64(p + DATA_SIZE);
    h->major_version = nx_load_u64(p + MAJOR);
    h->minor_version = nx_load_u64(p + MINOR);
    memcpy(h->build_version, p + BUILD, sizeof(h->build_version) - 1);
    h->num_tpb = nx_load_u32(p + NUM_TPB);
    memcpy(h->hash, p + HASH, sizeof(h->hash));
    memcpy(h->uuid, p + UUID, sizeof(h->uuid));
    memcpy(h->name, p + NAME, sizeof(h->name) - 1);
    h->requested_tpb = nx_load_u32(p + REQUESTED);
    memcpy(h->tpb_per_node, p + PER_NODE, sizeof(h->tpb_per_node));
    h->feature_bits = nx_load_u64(p + FEATURES);
    h->lnc_size = nx_load_u32(p + LNC);
}

bool nx_neff_header_is_usable(const struct nx_neff_header *h, struct nx_bytes file)
{
    return h->package_version == KNOWN_PACKAGE_VERSION && h->header_size >= NX_NEFF_HEADER_SIZE &&
           h->header_size <= file.size;
}

enum nx_status nx_neff_read_header(struct nx_neff_reader *r, struct nx_bytes file)
{
    struct nx_neff_header *h = &r->neff->header;

    if (file.size < NX_NEFF_HEADER_SIZE)
        return nx_fail_at(r->error, r->path, 0, "%zu bytes are too few for a NEFF: its header alone has %d",
                          file.size, NX_NEFF_HEADER_SIZE);
    fill(h, file.data);
    if (h->package_version != KNOWN_PACKAGE_VERSION)
        return nx_fail_at(r->error, r->path, PACKAGE_VERSION,
                          "expected package version %d, found %" PRIu64
                          ": not a NEFF, or of a kind not known",
                          KNOWN_PACKAGE_VERSION, h->package_version);
    if (h->header_size < NX_NEFF_HEADER_SIZE || h->header_size > file.size)
        return nx_fail_at(r->error, r->path, HEADER_SIZE, "header size %" PRIu64 ": expected %d to %zu",
                          h->header_size, NX_NEFF_HEADER_SIZE, file.size);
    if (h->data_size > file.size - h->header_size)
        return nx_fail_at(r->error, r->path, DATA_SIZE,
                          "%" PRIu64 " bytes of data expected, %" PRIu64 " found: the file is cut short",
                          h->data_size, (uint64_t)file.size - h->header_size);
    if (h->data_size < file.size - h->header_size)
        nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN,
                "%" PRIu64 " bytes behind the end of the NEFF were ignored",
                (uint64_t)file.size - h->header_size - h->data_size);
    return NX_OK;
}

void nx_neff_feature_names(uint64_t bits, char *out, size_t out_size)
{
    /* Which of the two bits has which name is not known: they were only seen together (docs/format-neff.md).
     */
    static const uint64_t pair = 0xc00;
    size_t used = 0;

    if (out_size)
        out[0] = '\0';
    if ((bits & pair) == pair) {
        used = (size_t)snprintf(out, out_size, "virtual-core, v3-2x-4x-dve-perf-mode");
        bits &= ~pair;
    }
    for (unsigned bit = 0; bit < 64 && used < out_size; bit++)
        if (bits >> bit & 1)
            used += (size_t)snprintf(out + used, out_size - used, "%sbit %u", used ? ", " : "", bit);
}
