/*
 * merge.h - several lists, each in order, as one: which list has the next element.
 *
 * A tournament tree: each step costs log2(lists) comparisons, and lists are
 * read from front to back, which is what makes it faster than sorting rows
 * that a trace gives nearly in order.  Equal keys come by number of the list.
 *
 *     nx_merge_open(&merge, first_keys, lists);
 *     while (nx_merge_key(&merge) != NX_MERGE_END) {
 *         take the next element of list nx_merge_list(&merge);
 *         nx_merge_next(&merge, key of the one behind it, or NX_MERGE_END);
 *     }
 *     nx_merge_close(&merge);
 */
#ifndef NX_BASE_MERGE_H
#define NX_BASE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#define NX_MERGE_END UINT64_MAX /* no key is this: the list has no more */

struct nx_merge_node {
    uint64_t key;
    uint32_t list;
};
struct nx_merge {
    struct nx_merge_node *losers; /* of the match at each inner node; [0]: the winner */
    size_t leaves;                /* a power of two */
};

void nx_merge_open(struct nx_merge *merge, const uint64_t *first_keys, size_t lists);
void nx_merge_close(struct nx_merge *merge);

static inline uint64_t nx_merge_key(const struct nx_merge *merge)
{
    return merge->losers[0].key;
}
static inline uint32_t nx_merge_list(const struct nx_merge *merge)
{
    return merge->losers[0].list;
}

static inline int nx_merge_before(struct nx_merge_node a, struct nx_merge_node b)
{
    return a.key < b.key || (a.key == b.key && a.list < b.list);
}

/* The list that was next has `key` now. */
static inline void nx_merge_next(struct nx_merge *merge, uint64_t key)
{
    struct nx_merge_node now = {key, merge->losers[0].list};

    for (size_t node = (now.list + merge->leaves) / 2; node > 0; node /= 2) {
        struct nx_merge_node other = merge->losers[node];

        if (nx_merge_before(other, now)) {
            merge->losers[node] = now;
            now = other;
        }
    }
    merge->losers[0] = now;
}

#endif
