/* NeffHeader: one row, the header of the NEFF. */
#include <inttypes.h>
#include <stdio.h>

#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    (void)opaque;
    return 1;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_neff_header *h = &((const struct nx_profile *)opaque)->neff->header;
    char text[256];

    (void)first;
    nx_put_text(chunk, NX_NeffHeader_network_name, 0, h->name);
    nx_hex(h->uuid, sizeof(h->uuid), text);
    nx_put_text(chunk, NX_NeffHeader_uuid, 0, text);
    nx_hex(h->hash, 16, text); /* the other 16 bytes of the field are unused */
    nx_put_text(chunk, NX_NeffHeader_hash, 0, text);
    nx_neff_feature_names(h->feature_bits, text, sizeof(text));
    nx_put_text(chunk, NX_NeffHeader_enabled_features, 0, text);
    nx_put_i64(chunk, NX_NeffHeader_header_size, 0, (int64_t)h->header_size);
    nx_put_i64(chunk, NX_NeffHeader_data_size, 0, (int64_t)h->data_size);
    nx_put_i64(chunk, NX_NeffHeader_major_version, 0, (int64_t)h->major_version);
    nx_put_i64(chunk, NX_NeffHeader_minor_version, 0, (int64_t)h->minor_version);
    snprintf(text, sizeof(text), "%" PRIu64, h->package_version);
    nx_put_text(chunk, NX_NeffHeader_package_version, 0, text);
    nx_put_text(chunk, NX_NeffHeader_build_version, 0, h->build_version);
    /* How many cores take part in collectives is not in the header: NULL. */
    nx_put_i64(chunk, NX_NeffHeader_neuroncore_count, 0, (int64_t)h->num_tpb * h->lnc_size);
    nx_put_i64(chunk, NX_NeffHeader_logical_neuroncore_count, 0, h->num_tpb);
    nx_put_i64(chunk, NX_NeffHeader_pcore_count_per_lnc, 0, h->lnc_size);
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_NeffHeader = {"NeffHeader", open_table, count_rows, fill, NULL, close_table};
