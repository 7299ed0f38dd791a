/*
 * `check` without an engine: the pool is a stand-in that answers with the rows
 * that a test puts there.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/check.h"
#include "analysis/check_gaps.h"
#include "base/memory.h"

#define ALL_TABLES                                                                                      \
    "[{\"name\":\"Instruction\",\"rows\":9},{\"name\":\"Summary\",\"rows\":1},{\"name\":\"Metadata\",\"rows\":1}," \
    "{\"name\":\"NeffHeader\",\"rows\":1},{\"name\":\"DmaPacket\",\"rows\":9},{\"name\":\"DmaPacketAggregated\"," \
    "\"rows\":9},{\"name\":\"Warning\",\"rows\":1}]"
#define ENGINE(lines)                                                                                        \
    "[{\"engine\":\"Tensor\",\"instructions\":90,\"compiled\":42,\"named\":40,\"bir_lines\":" #lines ",\"nki_lines\":0," \
    "\"lines\":" #lines ",\"hlo_names\":0,\"layers\":0,\"dynamic\":2}]"

/* What the stand-in answers, by the table that the SQL reads. */
static struct {
    const char *tables;
    json_t *warnings; /* array of rows */
    const char *instructions, *packets, *broken; /* broken: SQL that names this has no readable answer */
    enum nx_query_code code;                     /* of every query */
    unsigned queries;
} said;

static int reset(void **state)
{
    (void)state;
    said.tables = ALL_TABLES;
    said.warnings = json_array();
    said.instructions = ENGINE(40);
    said.packets = "[{\"queue_type\":\"hardware_dynamic\",\"packets\":8,\"named\":8,\"linked\":8}]";
    said.broken = NULL;
    said.code = NX_QUERY_OK;
    said.queries = 0;
    return 0;
}

static int clear(void **state)
{
    (void)state;
    json_decref(said.warnings);
    return 0;
}

void nx_pool_query(struct nx_pool *pool, const struct nx_query *query, struct nx_answer *answer)
{
    char *warnings = json_dumps(said.warnings, JSON_COMPACT);
    const char *rows = "[]";

    (void)pool;
    said.queries++;
    assert_string_equal(query->profile, "p");
    assert_int_equal(query->format, NX_FORMAT_JSON);
    assert_int_equal(query->timeout_ms, 77);
    *answer = (struct nx_answer){.code = said.code};
    if (said.code != NX_QUERY_OK) {
        answer->message = nx_strdup("no");
    } else {
        if (strstr(query->sql, "FROM Warning"))
            rows = warnings;
        else if (strstr(query->sql, "FROM NeffHeader"))
            rows = "[{\"uuid\":\"00ff\"}]";
        else if (strstr(query->sql, "FROM Metadata"))
            rows = "[{\"ntff_version\":6,\"num_physical_cores\":2,\"instance_type\":\"x\"}]";
        else if (strstr(query->sql, "FROM Instruction"))
            rows = said.instructions;
        else if (strstr(query->sql, "FROM DmaPacket "))
            rows = said.packets;
        else
            fail_msg("what is this: %s", query->sql);
        assert_true(asprintf(&answer->body, "{\"data\":%s}", rows) > 0);
        if (said.broken && strstr(query->sql, said.broken))
            answer->body[1] = '?';
        answer->size = strlen(answer->body);
    }
    free(warnings);
}

void nx_pool_tables(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd,
                    struct nx_answer *answer)
{
    (void)pool;
    (void)timeout_ms;
    (void)cancel_fd;
    (void)profile;
    *answer = said.tables ? (struct nx_answer){.body = nx_strdup(said.tables), .size = strlen(said.tables)}
                          : (struct nx_answer){.code = NX_QUERY_NO_PROFILE, .message = nx_strdup("none such")};
}

static void warn(const char *category, const char *message)
{
    json_array_append_new(said.warnings, json_pack("{s:s,s:s}", "category", category, "message", message));
}

static json_t *check(enum nx_check_status expected)
{
    struct nx_check check;
    json_t *document;

    nx_check_profile(NULL, "p", 77, -1, &check);
    assert_int_equal(check.answer.code, NX_QUERY_OK);
    document = json_loadb(check.answer.body, check.answer.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    assert_int_equal(check.status, expected);
    assert_int_equal(json_integer_value(json_object_get(document, "exit_status")), expected);
    nx_answer_free(&check.answer);
    return document;
}

static json_t *topic(const json_t *document, const char *name)
{
    json_t *found = json_object_get(json_object_get(document, "topics"), name);

    assert_non_null(found);
    return found;
}

static const char *status_of(const json_t *document, const char *name)
{
    return json_string_value(json_object_get(topic(document, name), "status"));
}

static json_t *fact(const json_t *document, const char *name, const char *key)
{
    json_t *found = json_object_get(json_object_get(topic(document, name), "facts"), key);

    if (!found)
        fail_msg("%s has no fact %s", name, key);
    return found;
}

/* ------------------------------------------------------------------ the sentences */

/* The format with a number or a word in the place of each conversion; the first number is 4711. */
static void sentence_of(const struct nx_gap *gap, char *out, size_t size)
{
    const char *format = gap->format, *numbers[] = {"4711", "4712", "4713", "4714"};
    size_t used = 0, number = 0;

    while (*format && used + 1 < size) {
        const char *put = NULL;

        if (strncmp(format, "%s", 2) == 0) {
            put = "a word, 12";
            format += 2;
        } else if (*format == '%') {
            put = numbers[number++];
            format += strlen("%lu");
        }
        if (put)
            used += (size_t)snprintf(out + used, size - used, "%s", put);
        else
            out[used++] = *format++;
    }
    out[used] = '\0';
}

static void each_sentence_is_known_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < nx_gap_count; i++) {
        char sentence[1024], longer[1100];
        bool counts;
        uint64_t value = 0;

        sentence_of(&nx_gaps[i], sentence, sizeof(sentence));
        assert_ptr_equal(nx_gap_find(sentence, &counts, &value), &nx_gaps[i]);
        assert_int_equal(counts, nx_gap_counts(&nx_gaps[i]));
        if (counts)
            assert_int_equal(value, 4711);
        snprintf(longer, sizeof(longer), "x%s", sentence);
        if (strncmp(nx_gaps[i].format, "%s", 2) != 0)
            assert_null(nx_gap_find(longer, &counts, &value));
        snprintf(longer, sizeof(longer), "%sx", sentence);
        assert_null(nx_gap_find(longer, &counts, &value));
        sentence[strlen(sentence) / 2] = '\0';
        assert_null(nx_gap_find(sentence, &counts, &value));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(nx_gaps[i].id, nx_gaps[j].id);
    }
    assert_null(nx_gap_find("", &(bool){0}, &(uint64_t){0}));
    assert_null(nx_gap_find("%s", &(bool){0}, &(uint64_t){0}));
}

static void each_sentence_is_told_under_its_topic(void **state)
{
    static const char *const topics[] = {"pair", "trace", "dma", "source", "figures", "tables", "other"};

    (void)state;
    for (size_t i = 0; i < nx_gap_count; i++) {
        const struct nx_gap *gap = &nx_gaps[i];
        json_t *document, *finding, *value;
        char sentence[1024];

        json_array_clear(said.warnings);
        sentence_of(gap, sentence, sizeof(sentence));
        warn("Missing Data", sentence);
        document = check(gap->status);
        for (size_t t = 0; t < sizeof(topics) / sizeof(topics[0]); t++)
            assert_string_equal(status_of(document, topics[t]), t != gap->topic               ? "good"
                                                                : gap->status == NX_CHECK_BAD ? "bad"
                                                                : gap->status                 ? "gaps"
                                                                                              : "good");
        finding = json_array_get(json_object_get(topic(document, topics[gap->topic]), "findings"), 0);
        assert_string_equal(json_string_value(json_object_get(finding, "text")), sentence);
        assert_string_equal(json_string_value(json_object_get(finding, "id")), gap->id);
        assert_string_equal(json_string_value(json_object_get(finding, "category")), "Missing Data");
        value = fact(document, topics[gap->topic], gap->id);
        if (nx_gap_counts(gap))
            assert_int_equal(json_integer_value(value), 4711);
        else
            assert_true(json_is_true(value));
        if (gap->remedy != NX_REMEDY_NONE)
            assert_true(json_array_size(json_object_get(document, "next")) > 0);
        json_decref(document);
    }
}

/* ------------------------------------------------------------------ the whole */

static void nothing_to_complain_of(void **state)
{
    json_t *document = check(NX_CHECK_GOOD);
    json_t *findings = json_object_get(topic(document, "trace"), "findings");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(document, "status")), "good");
    assert_int_equal(json_array_size(findings), 0);
    assert_int_equal(json_integer_value(fact(document, "source", "with_source_line")), 40);
    assert_int_equal(json_integer_value(fact(document, "dma", "linked_dynamic_packets")), 8);
    assert_int_equal(json_integer_value(fact(document, "trace", "records_lost")), 0);
    assert_true(json_is_false(fact(document, "dma", "no_dge_notifications")));
    json_decref(document);
}

static void too_few_lines_are_a_gap(void **state)
{
    json_t *document, *next;

    (void)state;
    said.instructions = ENGINE(35);
    document = check(NX_CHECK_GAPS);
    assert_string_equal(status_of(document, "source"), "gaps");
    next = json_array_get(json_object_get(document, "next"), 0);
    assert_string_equal(json_string_value(json_object_get(next, "when")), "compile");
    assert_string_equal(json_string_value(json_array_get(json_object_get(next, "set"), 0)), "NEURON_FRAMEWORK_DEBUG=1");
    json_decref(document);
    said.instructions = ENGINE(36);
    json_decref(check(NX_CHECK_GOOD));
}

static void without_instructions_nothing_is_usable(void **state)
{
    json_t *document;

    (void)state;
    said.tables = "[]";
    document = check(NX_CHECK_BAD);
    assert_string_equal(status_of(document, "trace"), "bad");
    assert_string_equal(status_of(document, "tables"), "bad");
    assert_int_equal(said.queries, 0);
    json_decref(document);
    said.tables = ALL_TABLES;
    said.instructions = "[]";
    document = check(NX_CHECK_BAD);
    assert_true(json_is_true(fact(document, "trace", "no_instructions"))); /* though Warning does not say so */
    json_decref(document);
}

static void an_unknown_sentence_is_told_all_the_same(void **state)
{
    json_t *document;

    (void)state;
    warn("Not Understood", "variables of type \"wormhole\" are not known");
    document = check(NX_CHECK_GAPS);
    assert_string_equal(status_of(document, "other"), "gaps");
    json_decref(document);
}

static void no_answer_is_no_check(void **state)
{
    static const char *const parts[] = {"Warning", "NeffHeader", "Metadata", "Instruction", "DmaPacket "};
    struct nx_check check;

    (void)state;
    said.tables = NULL;
    nx_check_profile(NULL, "p", 77, -1, &check);
    assert_int_equal(check.answer.code, NX_QUERY_NO_PROFILE);
    assert_int_equal(check.status, NX_CHECK_BAD);
    nx_answer_free(&check.answer);
    said.tables = ALL_TABLES;
    said.code = NX_QUERY_TIMEOUT;
    nx_check_profile(NULL, "p", 77, -1, &check);
    assert_int_equal(check.answer.code, NX_QUERY_TIMEOUT);
    assert_int_equal(said.queries, 1); /* the others are not asked */
    nx_answer_free(&check.answer);
    said.code = NX_QUERY_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        said.broken = parts[i];
        nx_check_profile(NULL, "p", 77, -1, &check);
        assert_int_equal(check.answer.code, NX_QUERY_FAILED);
        assert_non_null(check.answer.message);
        nx_answer_free(&check.answer);
    }
}

/* ------------------------------------------------------------------ as text */

static void assert_lines_fit(const char *text)
{
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");

        assert_true(size <= NX_CHECK_TEXT_WIDTH);
        assert_true(size == 0 || line[size - 1] != ' ');
        assert_int_equal(line[size], '\n');
        line += size + 1;
    }
}

static void the_text_fits_and_does_not_steer_a_terminal(void **state)
{
    char word[600], sentence[900];
    struct nx_text text = {0}, coloured = {0};
    struct nx_check check;

    (void)state;
    memset(word, 'w', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    snprintf(sentence, sizeof(sentence), "a \033[31mword\n\a of %s and so on", word);
    warn("Not Understood", sentence);
    for (size_t i = 0; i < nx_gap_count; i++) {
        sentence_of(&nx_gaps[i], sentence, sizeof(sentence));
        warn("Missing Data", sentence);
    }
    nx_check_profile(NULL, "p", 77, -1, &check);
    nx_check_text(check.answer.body, check.answer.size, false, &text);
    assert_lines_fit(nx_text_string(&text));
    assert_null(strpbrk(nx_text_string(&text), "\033\a"));
    assert_non_null(strstr(nx_text_string(&text), "p: not usable\n"));
    assert_non_null(strstr(nx_text_string(&text), "\nbad   The trace"));
    assert_non_null(strstr(nx_text_string(&text), "\ngap   DMA packets"));
    assert_non_null(strstr(nx_text_string(&text), "\ngood  Tables"));
    assert_non_null(strstr(nx_text_string(&text), "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1\n"));
    nx_check_text(check.answer.body, check.answer.size, true, &coloured);
    assert_non_null(strstr(nx_text_string(&coloured), "\033[31mnot usable\033[0m"));
    assert_non_null(strstr(nx_text_string(&coloured), "\033[32mgood\033[0m  Tables"));
    nx_text_free(&text);
    nx_text_free(&coloured);
    nx_answer_free(&check.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sentence_is_known_again),
        cmocka_unit_test_setup_teardown(each_sentence_is_told_under_its_topic, reset, clear),
        cmocka_unit_test_setup_teardown(nothing_to_complain_of, reset, clear),
        cmocka_unit_test_setup_teardown(too_few_lines_are_a_gap, reset, clear),
        cmocka_unit_test_setup_teardown(without_instructions_nothing_is_usable, reset, clear),
        cmocka_unit_test_setup_teardown(an_unknown_sentence_is_told_all_the_same, reset, clear),
        cmocka_unit_test_setup_teardown(no_answer_is_no_check, reset, clear),
        cmocka_unit_test_setup_teardown(the_text_fits_and_does_not_steer_a_terminal, reset, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
