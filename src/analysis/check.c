#include "analysis/check.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check_gaps.h"
#include "base/memory.h"
#include "isa/isa.h"
#include "tables/absence.h"

/*
 * Lines for so many of the instructions that debug information names are enough: some are of no line (constants, for
 * one), and the compiler's first ones on each engine have no name.
 */
#define ENOUGH_LINES 0.9

struct topic {
    enum nx_check_status status;
    json_t *lines; /* sentences for people, beside the findings */
    json_t *facts;
    json_t *findings;
};

struct inquiry {
    struct nx_pool *pool;
    const char *profile;
    unsigned timeout_ms;
    int cancel_fd;
    json_t *tables; /* {"Instruction": rows} */
    struct topic topics[NX_TOPIC_COUNT];
    bool remedies[NX_REMEDY_COUNT];
    struct nx_answer failure; /* code OK: none */
};

static const struct {
    const char *id, *title;
} topic_names[NX_TOPIC_COUNT] = {
    [NX_TOPIC_PAIR] = {"pair", "NEFF and NTFF belong together"},
    [NX_TOPIC_TRACE] = {"trace", "The trace is complete and understood"},
    [NX_TOPIC_DMA] = {"dma", "DMA packets are there, and linked to what started them"},
    [NX_TOPIC_SOURCE] = {"source", "Instructions have source lines"},
    [NX_TOPIC_FIGURES] = {"figures", "What figures of the whole kernel need"},
    [NX_TOPIC_TABLES] = {"tables", "Tables"},
    [NX_TOPIC_OTHER] = {"other", "Anything else that was missing, damaged or not understood"},
};

static const char *status_name(enum nx_check_status status)
{
    static const char *const names[] = {"good", "gaps", "bad"};

    return names[status];
}

/* ------------------------------------------------------------------ asking */

static bool has_table(const struct inquiry *q, const char *name)
{
    return json_object_get(q->tables, name) != NULL;
}

/* The rows (an array) of a query; NULL: it failed, and the inquiry says how. */
static json_t *ask(struct inquiry *q, const char *sql)
{
    const struct nx_query query = {.profile = q->profile,
                                   .sql = sql,
                                   .format = NX_FORMAT_JSON,
                                   .max_rows = NX_DEFAULT_MAX_ROWS,
                                   .max_bytes = NX_DEFAULT_MAX_BYTES,
                                   .timeout_ms = q->timeout_ms,
                                   .cancel_fd = q->cancel_fd};
    struct nx_answer answer;
    json_t *document, *rows;

    nx_pool_query(q->pool, &query, &answer);
    if (answer.code != NX_QUERY_OK) {
        q->failure = answer;
        return NULL;
    }
    document = json_loadb(answer.body, answer.size, 0, NULL);
    rows = json_incref(json_object_get(document, "data"));
    json_decref(document);
    nx_answer_free(&answer);
    if (!json_is_array(rows)) {
        json_decref(rows);
        rows = NULL;
        q->failure = (struct nx_answer){.code = NX_QUERY_FAILED,
                                        .message = nx_strdup("the answer to a query of the check cannot be read")};
    }
    return rows;
}

static bool ask_tables(struct inquiry *q)
{
    struct nx_answer answer;
    const json_t *table;
    json_t *list;
    size_t i;

    nx_pool_tables(q->pool, q->profile, q->timeout_ms, q->cancel_fd, &answer);
    if (answer.code != NX_QUERY_OK) {
        q->failure = answer;
        return false;
    }
    list = json_loadb(answer.body, answer.size, 0, NULL);
    json_array_foreach(list, i, table)
        json_object_set(q->tables, json_string_value(json_object_get(table, "name")), json_object_get(table, "rows"));
    json_decref(list);
    nx_answer_free(&answer);
    return true;
}

static json_int_t number(const json_t *row, const char *column)
{
    return json_integer_value(json_object_get(row, column));
}

/* ------------------------------------------------------------------ telling */

static void worsen(struct topic *topic, enum nx_check_status status)
{
    if (status > topic->status)
        topic->status = status;
}

static void set_fact(struct topic *topic, const char *key, json_int_t value)
{
    json_object_set_new(topic->facts, key, json_integer(value));
}

static void say(struct topic *topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct topic *topic, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0) {
        json_array_append_new(topic->lines, json_string(text));
        free(text);
    }
    va_end(args);
}

static void find(struct inquiry *q, enum nx_topic where, enum nx_check_status status, enum nx_remedy remedy, const char *id,
                 const char *category, const char *text)
{
    struct topic *topic = &q->topics[where];

    worsen(topic, status);
    if (remedy != NX_REMEDY_NONE)
        q->remedies[remedy] = true;
    json_array_append_new(topic->findings, json_pack("{s:s?,s:s,s:s?,s:s}", "id", id, "status", status_name(status),
                                                     "category", category, "text", text));
}

/* ------------------------------------------------------------------ the parts */

/* Each known gap is a fact of its topic, also when there is nothing to tell: 0, or false. */
static void presume_no_gaps(struct inquiry *q)
{
    for (size_t i = 0; i < nx_gap_count; i++)
        json_object_set_new(q->topics[nx_gaps[i].topic].facts, nx_gaps[i].id,
                            nx_gap_counts(&nx_gaps[i]) ? json_integer(0) : json_false());
}

static bool check_warnings(struct inquiry *q)
{
    json_t *rows = has_table(q, "Warning") ? ask(q, "SELECT category, message FROM Warning") : json_array();
    const json_t *row;
    size_t i;
    bool ok;

    presume_no_gaps(q);
    json_array_foreach(rows, i, row) {
        const char *category = json_string_value(json_object_get(row, "category"));
        const char *message = json_string_value(json_object_get(row, "message"));
        bool counts;
        uint64_t value;
        const struct nx_gap *gap = message ? nx_gap_find(message, &counts, &value) : NULL;

        if (!message)
            continue;
        if (!gap) {
            find(q, NX_TOPIC_OTHER, NX_CHECK_GAPS, NX_REMEDY_NONE, NULL, category, message);
            continue;
        }
        json_object_set_new(q->topics[gap->topic].facts, gap->id,
                            counts ? json_integer((json_int_t)(value <= INT64_MAX ? value : INT64_MAX)) : json_true());
        find(q, gap->topic, gap->status, gap->remedy, gap->id, category, message);
    }
    ok = rows != NULL;
    json_decref(rows);
    return ok;
}

static bool check_pair(struct inquiry *q)
{
    struct topic *topic = &q->topics[NX_TOPIC_PAIR];
    json_t *neff = has_table(q, "NeffHeader") ? ask(q, "SELECT uuid FROM NeffHeader") : json_array(), *meta = NULL;
    const json_t *one, *uuid;
    bool ok;

    if (neff)
        meta = has_table(q, "Metadata") ? ask(q, "SELECT ntff_version, num_physical_cores, instance_type FROM Metadata")
                                        : json_array();
    one = json_array_get(meta, 0);
    uuid = json_object_get(json_array_get(neff, 0), "uuid");
    json_object_set(topic->facts, "uuid", json_is_string(uuid) ? (json_t *)(uintptr_t)uuid : json_null());
    json_object_set_new(topic->facts, "ntff_version", one ? json_integer(number(one, "ntff_version")) : json_null());
    json_object_set_new(topic->facts, "physical_cores", one ? json_integer(number(one, "num_physical_cores")) : json_null());
    json_object_set_new(topic->facts, "compared", json_pack("[s,s,s]", "uuid", "graphs", "code"));
    if (json_is_string(uuid))
        say(topic, "both are of uuid %s: a trace of another kernel is not ingested", json_string_value(uuid));
    else
        worsen(topic, NX_CHECK_GAPS);
    if (!json_array_size(topic->findings))
        say(topic, "each core's graph is in the NEFF, and the code that ran is the NEFF's, instruction by instruction");
    ok = neff && meta;
    json_decref(neff);
    json_decref(meta);
    return ok;
}

struct counts {
    json_int_t instructions, compiled, named, lines, dynamic;
};

static const char instruction_sql[] =
    "SELECT engine, count(*) AS instructions, count(compiler_pc) AS compiled, count(bir_instruction_name) AS named, "
    "count(bir_debug_info_source_location) AS bir_lines, count(nki_source_location) AS nki_lines, "
    "count(COALESCE(bir_debug_info_source_location, nki_source_location)) AS lines, count(hlo_name) AS hlo_names, "
    "count(layer) AS layers, count(*) FILTER (opcode = '%s') AS dynamic FROM Instruction GROUP BY engine ORDER BY engine";

static double share(json_int_t part, json_int_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

static void tell_engine(struct topic *source, json_t *engines, const json_t *row)
{
    const char *engine = json_string_value(json_object_get(row, "engine"));
    json_int_t compiled = number(row, "compiled"), lines = number(row, "lines");

    json_object_set_new(engines, engine ? engine : "",
                        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f}", "instructions", number(row, "instructions"),
                                  "compiler_instructions", compiled, "with_source_line", lines,
                                  "with_bir_debug_info_source_location", number(row, "bir_lines"),
                                  "with_nki_source_location", number(row, "nki_lines"), "with_layer",
                                  number(row, "layers"), "with_bir_instruction_name", number(row, "named"),
                                  "percent_with_source_line", 100 * share(lines, compiled)));
    say(source, "%-6s  %lld of %lld (%.1f %%)", engine ? engine : "", (long long)lines, (long long)compiled,
        100 * share(lines, compiled));
}

static bool check_instructions(struct inquiry *q, struct counts *all)
{
    struct topic *source = &q->topics[NX_TOPIC_SOURCE], *trace = &q->topics[NX_TOPIC_TRACE];
    json_t *engines = json_object(), *rows;
    char opcode[16], sql[sizeof(instruction_sql) + sizeof(opcode)];
    const json_t *row;
    size_t i;
    bool ok;

    snprintf(sql, sizeof(sql), instruction_sql, nx_isa_opcode_name(NX_OP_DMA_DIRECT2D, opcode));
    rows = has_table(q, "Instruction") ? ask(q, sql) : json_array();
    json_array_foreach(rows, i, row) {
        all->instructions += number(row, "instructions");
        all->compiled += number(row, "compiled");
        all->named += number(row, "named");
        all->lines += number(row, "lines");
        all->dynamic += number(row, "dynamic");
    }
    set_fact(trace, "instructions", all->instructions);
    set_fact(source, "compiler_instructions", all->compiled);
    set_fact(source, "with_bir_instruction_name", all->named);
    set_fact(source, "with_source_line", all->lines);
    json_object_set_new(source->facts, "percent_with_source_line", json_real(100 * share(all->lines, all->compiled)));
    json_object_set_new(source->facts, "engines", engines);
    say(source,
        "of %lld instructions that ran, %lld are the compiler's; of these, %lld have a name in the debug information and "
        "%lld a source line (%.1f %%):",
        (long long)all->instructions, (long long)all->compiled, (long long)all->named, (long long)all->lines,
        100 * share(all->lines, all->compiled));
    json_array_foreach(rows, i, row)
        tell_engine(source, engines, row);
    if (rows && !all->instructions && !json_is_true(json_object_get(trace->facts, "no_instructions"))) {
        json_object_set_new(trace->facts, "no_instructions", json_true());
        find(q, NX_TOPIC_TRACE, NX_CHECK_BAD, NX_REMEDY_AGAIN, "no_instructions", NULL, "the profile has no instructions");
    }
    if (all->compiled && (!all->lines || share(all->lines, all->named) < ENOUGH_LINES)) {
        worsen(source, NX_CHECK_GAPS);
        q->remedies[NX_REMEDY_DEBUG_INFO] = true;
    }
    say(trace, "%lld instructions ran from start to end", (long long)all->instructions);
    ok = rows != NULL;
    json_decref(rows);
    return ok;
}

static bool is_dynamic(const char *queue_type)
{
    return queue_type && (strcmp(queue_type, "software_dynamic") == 0 || strcmp(queue_type, "hardware_dynamic") == 0);
}

static bool check_dma(struct inquiry *q, const struct counts *all)
{
    struct topic *topic = &q->topics[NX_TOPIC_DMA];
    json_int_t packets = 0, linked = 0, dynamic = 0, dynamic_linked = 0;
    json_t *kinds = json_object(), *rows;
    const json_t *row;
    char sql[400];
    size_t i;
    bool ok;

    snprintf(sql, sizeof(sql),
             "SELECT queue_type, count(*) AS packets, count(variable) AS named, %s AS linked FROM DmaPacket "
             "GROUP BY queue_type ORDER BY queue_type",
             has_table(q, "DmaPacketAggregated")
                 ? "count(*) FILTER (packet_aggregation_id IN (SELECT id FROM DmaPacketAggregated))"
                 : "0");
    rows = has_table(q, "DmaPacket") ? ask(q, sql) : json_array();
    json_array_foreach(rows, i, row) {
        const char *type = json_string_value(json_object_get(row, "queue_type"));

        packets += number(row, "packets");
        linked += number(row, "linked");
        if (is_dynamic(type)) {
            dynamic += number(row, "packets");
            dynamic_linked += number(row, "linked");
        }
        json_object_set_new(kinds, type ? type : "unknown",
                            json_pack("{s:I,s:I,s:I}", "packets", number(row, "packets"), "linked", number(row, "linked"),
                                      "with_variable", number(row, "named")));
        say(topic, "%s: %lld packets, %lld linked to their transfer, %lld to a variable", type ? type : "unknown",
            (long long)number(row, "packets"), (long long)number(row, "linked"), (long long)number(row, "named"));
    }
    if (!packets)
        say(topic, "no packets");
    if (all->dynamic)
        say(topic, "%lld dynamic DMA instructions ran; %lld of %lld dynamic packets can be told to be of one",
            (long long)all->dynamic, (long long)dynamic_linked, (long long)dynamic);
    set_fact(topic, "packets", packets);
    set_fact(topic, "linked_packets", linked);
    set_fact(topic, "dynamic_instructions", all->dynamic);
    set_fact(topic, "dynamic_packets", dynamic);
    set_fact(topic, "linked_dynamic_packets", dynamic_linked);
    json_object_set_new(topic->facts, "queue_types", kinds);
    ok = rows != NULL;
    json_decref(rows);
    return ok;
}

static void check_figures(struct inquiry *q)
{
    struct topic *topic = &q->topics[NX_TOPIC_FIGURES];

    if (!json_array_size(topic->findings))
        say(topic, "the device is known; the NEFF holds compiler metrics and HLO statistics");
}

/* Without these nothing can be said. */
static bool is_essential(const char *table)
{
    return strcmp(table, "Instruction") == 0 || strcmp(table, "Summary") == 0 || strcmp(table, "Metadata") == 0;
}

/* Tables that lack the same thing, in one sentence: {"why": "A, B"} becomes "A, B: why". */
static void say_missing(struct topic *topic, const json_t *missing)
{
    json_t *reasons = json_object();
    const json_t *entry;
    const char *text;
    json_t *names;
    size_t i;

    json_array_foreach(missing, i, entry) {
        const char *reason = json_string_value(json_object_get(entry, "reason"));
        const char *before = json_string_value(json_object_get(reasons, reason));

        json_object_set_new(reasons, reason, json_sprintf("%s%s%s", before ? before : "", before ? ", " : "",
                                                          json_string_value(json_object_get(entry, "table"))));
    }
    json_object_foreach(reasons, text, names)
        say(topic, "no %s: %s", json_string_value(names), text);
    json_decref(reasons);
}

static void check_tables(struct inquiry *q)
{
    struct topic *topic = &q->topics[NX_TOPIC_TABLES];
    json_t *missing = json_array();
    json_int_t there = 0, device = 0;

    for (size_t t = 0; t < nx_schema_count; t++) {
        const struct nx_table_schema *schema = &nx_schema[t];

        if (schema->scope != NX_SCOPE_DEVICE)
            continue;
        device++;
        if (has_table(q, schema->name)) {
            there++;
            continue;
        }
        if (is_essential(schema->name))
            worsen(topic, NX_CHECK_BAD);
        json_array_append_new(missing, json_pack("{s:s,s:s}", "table", schema->name, "reason", nx_table_absence(schema)));
    }
    set_fact(topic, "present", there);
    set_fact(topic, "device_tables", device);
    json_object_set_new(topic->facts, "missing", missing);
    say(topic, "%lld of the %lld tables that a NEFF and an NTFF can fill are there", (long long)there, (long long)device);
    say_missing(topic, missing);
}

/* ------------------------------------------------------------------ the document */

static json_t *advices(const struct inquiry *q)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NX_REMEDY_COUNT; i++) {
        json_t *set = json_array();

        for (size_t v = 0; nx_advices[i].set[v]; v++)
            json_array_append_new(set, json_string(nx_advices[i].set[v]));
        if (q->remedies[i])
            json_array_append_new(list, json_pack("{s:s,s:O,s:s}", "when", nx_advices[i].when, "set", set, "text",
                                                  nx_advices[i].text));
        json_decref(set);
    }
    return list;
}

static void put_together(struct inquiry *q, struct nx_check *check)
{
    json_t *topics = json_object(), *document;

    for (size_t i = 0; i < NX_TOPIC_COUNT; i++) {
        struct topic *topic = &q->topics[i];

        if (topic->status > check->status)
            check->status = topic->status;
        json_object_set_new(topics, topic_names[i].id,
                            json_pack("{s:s,s:s,s:O,s:O,s:O}", "title", topic_names[i].title, "status",
                                      status_name(topic->status), "facts", topic->facts, "findings", topic->findings, "lines",
                                      topic->lines));
    }
    document = json_pack("{s:s,s:s,s:i,s:o,s:o}", "profile", q->profile, "status", status_name(check->status), "exit_status",
                         (int)check->status, "topics", topics, "next", advices(q));
    check->answer.body = json_dumps(document, JSON_COMPACT | JSON_PRESERVE_ORDER);
    check->answer.size = check->answer.body ? strlen(check->answer.body) : 0;
    if (!check->answer.body)
        check->answer = (struct nx_answer){.code = NX_QUERY_FAILED, .message = nx_strdup("the check has no document")};
    json_decref(document);
}

void nx_check_profile(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd, struct nx_check *check)
{
    struct inquiry q = {
        .pool = pool, .profile = profile, .timeout_ms = timeout_ms, .cancel_fd = cancel_fd, .tables = json_object()};
    struct counts all = {0};
    bool ok;

    *check = (struct nx_check){.answer = {.code = NX_QUERY_OK}};
    for (size_t i = 0; i < NX_TOPIC_COUNT; i++)
        q.topics[i] = (struct topic){.lines = json_array(), .facts = json_object(), .findings = json_array()};
    ok = ask_tables(&q) && check_warnings(&q) && check_pair(&q) && check_instructions(&q, &all) && check_dma(&q, &all);
    if (ok) {
        check_figures(&q);
        check_tables(&q);
        put_together(&q, check);
    } else {
        check->answer = q.failure;
        check->status = NX_CHECK_BAD;
    }
    for (size_t i = 0; i < NX_TOPIC_COUNT; i++) {
        json_decref(q.topics[i].lines);
        json_decref(q.topics[i].facts);
        json_decref(q.topics[i].findings);
    }
    json_decref(q.tables);
}
