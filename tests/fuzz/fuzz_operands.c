/* Instructions: 64 bytes each, decoded, printed and measured. */
#include <string.h>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[256] = {[3] = "GpSimd", [8] = "qSyncIO0"};
    struct nx_text text = {0};
    struct nx_inst inst;
    char buffer[16];

    for (size_t at = 0; at + NX_ISA_SIZE <= size; at += NX_ISA_SIZE) {
        nx_isa_decode(data + at, &inst);
        nx_text_clear(&text);
        nx_isa_operands(&inst, at % 128 ? names : NULL, &text);
        nx_isa_opcode_name(data[at], buffer);
        nx_isa_bytes(&inst);
        nx_isa_macs(&inst);
        nx_isa_channels(&inst, at % 128 != 0);
    }
    nx_text_free(&text);
    return 0;
}
