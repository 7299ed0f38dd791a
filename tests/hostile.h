/*
 * hostile.h - what the tests of damaged files share: chance that repeats, the number of cases, and a tally.
 * For inclusion by test programs.
 */
#ifndef NX_TESTS_HOSTILE_H
#define NX_TESTS_HOSTILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Sanitizers make a case that much slower: fewer of them where there are many. */
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWER 4
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif

#ifndef RANDOM_SEED /* a program may have its own, so that its cases stay what they are */
#define RANDOM_SEED 88172645463325252u
#endif

struct tally {
    size_t read, refused;
};

static uint64_t random_state = RANDOM_SEED;

/* xorshift: the same cases on every run and machine */
static inline uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* NX_DAMAGE in the environment multiplies the number of cases (a long run under sanitizers). */
static inline size_t factor(void)
{
    const char *text = getenv("NX_DAMAGE");
    long value = text ? strtol(text, NULL, 10) : 1;

    return value > 0 ? (size_t)value : 1;
}

#endif
