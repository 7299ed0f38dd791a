#include "base/engine.h"

const char *nx_engine_title(enum nx_engine engine)
{
    static const char *const names[NX_ENGINE_COUNT] = {"Tensor", "Scalar", "GpSimd", "Vector", "Sync"};

    return names[engine];
}

const char *nx_engine_lower(enum nx_engine engine)
{
    static const char *const names[NX_ENGINE_COUNT] = {"tensor", "scalar", "gpsimd", "vector", "sync"};

    return names[engine];
}
