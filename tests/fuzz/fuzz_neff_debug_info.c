/* The debug information of each level, and the stack frames. */
#include "fuzz/fuzz_member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"sg00/asm_PE.dbg",
                                        "sg00/bir_PE.dbg",
                                        "sg00/bir_DMA.dbg",
                                        "debug_info/debug_info_penguin.dbg_sg000000",
                                        "debug_info/debug_info_hlo.dbg_sg000000",
                                        "debug_info/debug_info_pttf.dbg_sg000000",
                                        "debug_info/stack_frame_index.dbg"};

    fuzz_member(data, size, names, sizeof(names) / sizeof(names[0]));
    return 0;
}
