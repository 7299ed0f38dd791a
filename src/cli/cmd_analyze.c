#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/cli.h"
#include "cli/options.h"

#define COMMON_OPTIONS                                                                                 \
    "  --window FROM:TO  what is looked at; each is nanoseconds, first-dma, last-dma, start or end;\n" \
    "                    default first-dma:last-dma\n"                                                 \
    "  --format F        text (default), json, markdown\n"                                             \
    "  --show-sql        with the statements that the figures come from (not in markdown)\n"           \
    "  --timeout S       seconds until a statement is stopped; default 120\n"                          \
    "  --data-path DIR   default: $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile\n"

static const char analyze_help[] =
    "usage: neuron-explorer analyze NAME [options]\n"
    "\n"
    "Why a stored profile's kernel is slow: bounds, gaps between them, findings.\n"
    "\n" COMMON_OPTIONS "  --fail-on C,...   exit with status 1 if one of the conditions holds, e.g.\n"
    "                    \"memory_bound_ideal_gap>0.4,excess_ratio>=2\" (gaps are shares of total time)\n";

static const char compare_help[] =
    "usage: neuron-explorer compare NAME NAME... [options]\n"
    "\n"
    "Versions of a kernel side by side: bounds, gaps, the bottleneck, findings that appeared or vanished.\n"
    "\n" COMMON_OPTIONS;

enum format { TEXT, JSON, MARKDOWN };

struct arguments {
    char **profiles;
    size_t count;
    const char *path, *fail_on;
    bool compares;
    enum format format;
    struct nx_analysis_options options;
};

static bool parse_format(const char *text, enum format *format)
{
    static const char *const names[] = {[TEXT] = "text", [JSON] = "json", [MARKDOWN] = "markdown"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            *format = (enum format)i;
            return true;
        }
    return false;
}

static int print(const json_t *document, const struct arguments *arguments)
{
    struct nx_text text = {0};

    if (arguments->format == JSON) {
        json_dumpf(document, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        if (arguments->compares)
            (arguments->format == TEXT ? nx_comparison_text : nx_comparison_markdown)(document, &text);
        else
            (arguments->format == TEXT ? nx_report_text : nx_report_markdown)(document, &text);
        fwrite(nx_text_string(&text), 1, text.size, stdout);
        nx_text_free(&text);
    }
    return fflush(stdout) == 0 ? NX_OK : nx_complain(NX_FAILED, "cannot write the report to standard output");
}

static int judge(const json_t *report, const char *conditions)
{
    json_t *held = nx_conditions_held(report, conditions);
    const json_t *text;
    int status = json_array_size(held) ? NX_FAILED : NX_OK;
    size_t i;

    json_array_foreach(held, i, text) nx_complain(NX_FAILED, "%s", json_string_value(text));
    json_decref(held);
    return status;
}

static int run(const struct arguments *arguments)
{
    struct nx_pool_options pool_options = {.max_workers = 2, .memory = NX_ANALYSIS_MEMORY};
    struct nx_answer failure;
    struct nx_error error;
    struct nx_store store;
    struct nx_pool *pool;
    json_t *document;
    int status;

    if (nx_open_store(arguments->path, false, &store, &error) != NX_OK)
        return nx_complain_about(&error);
    pool = nx_pool_new(&store, &pool_options);
    if (arguments->compares)
        document = nx_compare(pool, (const char *const *)arguments->profiles, arguments->count,
                              &arguments->options, &failure);
    else
        document = nx_analyze(pool, arguments->profiles[0], &arguments->options, &failure);
    if (document) {
        status = print(document, arguments);
        if (status == NX_OK && arguments->fail_on)
            status = judge(document, arguments->fail_on);
    } else {
        status = nx_complain(NX_FAILED, "%s",
                             failure.message ? failure.message : nx_query_code_name(failure.code));
        if (failure.hint)
            fprintf(stderr, "%s\n", failure.hint);
    }
    json_decref(document);
    nx_answer_free(&failure);
    nx_pool_free(pool);
    nx_store_close(&store);
    return status;
}

/* The status of a wrong --fail-on, or NX_OK. */
static int check_conditions(const char *text)
{
    char *problem = nx_conditions_check(text);
    int status = problem ? nx_complain(NX_USAGE, "--fail-on: %s", problem) : NX_OK;

    free(problem);
    return status;
}

static int command(int argc, char **argv, bool compares)
{
    static const struct option options[] = {
        {"window", required_argument, NULL, 'w'},    {"format", required_argument, NULL, 'f'},
        {"show-sql", no_argument, NULL, 's'},        {"timeout", required_argument, NULL, 't'},
        {"data-path", required_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'},
        {"fail-on", required_argument, NULL, 'c'},   {0}};
    const char *help = compares ? compare_help : analyze_help;
    struct arguments arguments = {
        .compares = compares,
        .options = {.window = NX_DEFAULT_WINDOW, .timeout_ms = NX_ANALYSIS_TIMEOUT_MS, .cancel_fd = -1}};
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'w':
            if (!nx_window_parse(optarg, &arguments.options.window))
                return nx_complain(
                    NX_USAGE, "--window takes FROM:TO (nanoseconds, first-dma, last-dma, start, end), not %s",
                    optarg);
            break;
        case 'f':
            if (!parse_format(optarg, &arguments.format))
                return nx_complain(NX_USAGE, "%s is not a format: text, json, markdown", optarg);
            break;
        case 's':
            arguments.options.show_sql = true;
            break;
        case 't':
            if (!nx_parse_seconds(optarg, &arguments.options.timeout_ms))
                return nx_complain(NX_USAGE, "--timeout takes seconds above 0, not %s", optarg);
            break;
        case 'c':
            if (compares)
                return nx_complain(NX_USAGE, "--fail-on is an option of analyze");
            if (check_conditions(optarg) != NX_OK)
                return NX_USAGE;
            arguments.fail_on = optarg;
            break;
        case 'd':
            arguments.path = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return NX_OK;
        default:
            fputs(help, stderr);
            return NX_USAGE;
        }
    arguments.profiles = argv + optind;
    arguments.count = (size_t)(argc - optind);
    if (compares ? arguments.count < 2 : arguments.count != 1) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    return run(&arguments);
}

int nx_cmd_analyze(int argc, char **argv)
{
    return command(argc, argv, false);
}

int nx_cmd_compare(int argc, char **argv)
{
    return command(argc, argv, true);
}
