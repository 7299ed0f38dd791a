/* The whole file: header, where metadata, sections and code lie. */
#include "fuzz/fuzz.h"
#include "ntff/ntff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nx_ntff ntff;
    struct nx_error error;

    if (nx_ntff_parse("fuzz.ntff", (struct nx_bytes){data, size}, &ntff, &error) == NX_OK)
        nx_ntff_close(&ntff);
    if (size % 2) {
        nx_ntff_parse_partly("fuzz.ntff", (struct nx_bytes){data, size}, &ntff, &error);
        nx_ntff_close(&ntff);
    }
    return 0;
}
