/*
 * Any 64 bytes are an instruction: decode, print and count them without a
 * fault, to text that is UTF-8-safe and bounded.  The sanitizer build of this
 * program is where it bites.
 */
#include <stdlib.h>

#include "build.h"

/* raw= of 52 bytes, or a pattern of four sides: the longest was about 400 characters. */
#define LONGEST 512
#define ROUNDS 200000

static uint64_t next(uint64_t *state) /* xorshift64: the same sequence every time */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void check(const uint8_t *raw, const char *const *names, struct nx_text *text)
{
    struct nx_inst inst;
    struct nx_inst_bytes bytes;
    char buffer[16];

    nx_isa_decode(raw, &inst);
    nx_text_clear(text);
    nx_isa_operands(&inst, names, text);
    assert_true(text->size > 0 && text->size < LONGEST);
    assert_int_equal(strlen(text->data), text->size);
    assert_true(strlen(nx_isa_opcode_name(raw[0], buffer)) < 32);
    bytes = nx_isa_bytes(&inst);
    assert_true((int64_t)bytes.sbuf_read >= 0 && (int64_t)bytes.sbuf_write >= 0);
    assert_true((int64_t)bytes.psum_read >= 0 && (int64_t)bytes.psum_write >= 0);
    assert_true(nx_isa_macs(&inst) == 0 || raw[0] == NX_OP_MATMUL);
    if (inst.understood)
        assert_true(nx_isa_opcode_known(raw[0]) || raw[0] == NX_OP_LABEL);
}

static void random_bytes(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15;
    struct nx_text text = {0};
    uint8_t *raw = malloc(NX_ISA_SIZE); /* exactly so much: a read beyond it is seen */

    (void)state;
    assert_non_null(raw);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < NX_ISA_SIZE; i += 8) {
            uint64_t word = next(&seed);

            memcpy(raw + i, &word, 8);
        }
        raw[0] = (uint8_t)round; /* each opcode equally often */
        check(raw, NULL, &text);
    }
    free(raw);
    nx_text_free(&text);
}

static void extremes(void **state)
{
    static const uint8_t fills[] = {0x00, 0x7f, 0x80, 0xff};
    static const char *names[256];
    struct nx_text text = {0};
    struct code code;

    (void)state;
    names[0xff] = names[0x7f] = "a queue";
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (size_t f = 0; f < sizeof(fills); f++) {
            memset(code.raw, fills[f], sizeof(code.raw));
            code.raw[0] = (uint8_t)opcode;
            check(code.raw, names, &text);
            code.raw[4] = code.raw[32] = 5;
            code.raw[6] = code.raw[34] = 0x13;
            check(code.raw, names, &text);
        }
    nx_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(extremes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
