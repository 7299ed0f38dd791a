#include "base/merge.h"

#include <stdlib.h>

#include "base/memory.h"

void nx_merge_open(struct nx_merge *merge, const uint64_t *first_keys, size_t lists)
{
    struct nx_merge_node *winners; /* of the match at each node, leaves included */
    size_t leaves = 1;

    while (leaves < lists)
        leaves *= 2;
    merge->leaves = leaves;
    merge->losers = nx_alloc(leaves * sizeof(*merge->losers));
    winners = nx_alloc(2 * leaves * sizeof(*winners));
    for (size_t i = 0; i < leaves; i++)
        winners[leaves + i] = (struct nx_merge_node){i < lists ? first_keys[i] : NX_MERGE_END, (uint32_t)i};
    for (size_t node = leaves - 1; node > 0; node--) {
        struct nx_merge_node left = winners[2 * node], right = winners[2 * node + 1];
        int left_wins = nx_merge_before(left, right);

        winners[node] = left_wins ? left : right;
        merge->losers[node] = left_wins ? right : left;
    }
    merge->losers[0] = winners[1];
    free(winners);
}

void nx_merge_close(struct nx_merge *merge)
{
    free(merge->losers);
    merge->losers = NULL;
}
