/* The JSON members: package, graph, tensors, DMA blocks, metrics, kernel debug information. */
#include "fuzz/fuzz_member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"kelf-0.json", "info.json", "neff.json", "sg00/def.json", "sg00/tensor_map.json",
                                        "sg00/SP.json", "metrics.json", "kernel_debug_info.json"};

    fuzz_member(data, size, names, sizeof(names) / sizeof(names[0]));
    return 0;
}
