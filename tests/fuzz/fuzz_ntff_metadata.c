/* The protobuf of the metadata, behind a header that fits; the first byte is the version. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "ntff/ntff_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char records[4096];
    struct nx_text metadata = {0}, raw = {0}, file = {0};
    struct nx_ntff ntff;
    struct nx_error error;

    if (size < 1)
        return 0;
    nx_text_append(&metadata, (const char *)data + 1, size - 1);
    nx_text_append(&raw, records, sizeof(records));
    ntff_file(&file, 4 + data[0] % 3, &metadata, &raw);
    if (nx_ntff_parse("fuzz.ntff", (struct nx_bytes){(const uint8_t *)file.data, file.size}, &ntff, &error) == NX_OK)
        nx_ntff_close(&ntff);
    nx_text_free(&metadata);
    nx_text_free(&raw);
    nx_text_free(&file);
    return 0;
}
