/*
 * fuzz.h - for the libFuzzer targets of this folder, one a file (`make fuzz`).
 *
 * A target gets any bytes and hands them to one reader: what is looked for is
 * a crash, a step outside a buffer, undefined behaviour, a hang, or memory out
 * of all proportion.  A refusal with a message is a right answer.
 */
#ifndef NX_TESTS_FUZZ_H
#define NX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
