/* The whole file: header, gzip, tar. */
#include "fuzz/fuzz.h"
#include "neff/neff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nx_neff neff;
    struct nx_error error;

    if (nx_neff_parse("fuzz.neff", (struct nx_bytes){data, size}, &neff, &error) == NX_OK)
        nx_neff_close(&neff);
    if (size % 2) { /* how `dump` reads on */
        nx_neff_parse_partly("fuzz.neff", (struct nx_bytes){data, size}, &neff, &error);
        nx_neff_close(&neff);
    }
    return 0;
}
