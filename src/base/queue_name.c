#include "base/queue_name.h"

#include <stdio.h>
#include <string.h>

void nx_display_queue(const char *name, char *out, size_t size)
{
    static const struct {
        const char *prefix, *display;
    } engines[] = {{"qPool", "qGpSimd"}, {"qSP", "qSync"}, {"qAct", "qScalar"}};

    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        size_t prefix = strlen(engines[i].prefix);

        if (strncmp(name, engines[i].prefix, prefix) == 0) {
            snprintf(out, size, "%s%s", engines[i].display, name + prefix);
            return;
        }
    }
    snprintf(out, size, "%s", name);
}
