/* The tar inside: gzip is put around it, as its checksum would stop every change. */
#include "neff/package.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nx_text tar = {0}, packed = {0}, file = {0};
    struct nx_neff neff;
    struct nx_error error;

    nx_text_append(&tar, (const char *)data, size);
    gzip(&tar, 0, &packed);
    neff_file(&file, packed.data, packed.size);
    if (parse_text(&file, &neff, &error) == NX_OK)
        nx_neff_close(&neff);
    nx_text_free(&tar);
    nx_text_free(&packed);
    nx_text_free(&file);
    return 0;
}
