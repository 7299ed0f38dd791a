#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/cli.h"
#include "cli/options.h"

static const char help[] =
    "usage: neuron-explorer analyze NAME [options]\n"
    "\n"
    "Why a stored profile's kernel is slow: bounds, gaps between them, findings.\n"
    "\n"
    "  --window FROM:TO  what is looked at; each is nanoseconds, first-dma, last-dma, start or end;\n"
    "                    default first-dma:last-dma\n"
    "  --format F        text (default), json, markdown\n"
    "  --show-sql        with the statements that the figures come from\n"
    "  --timeout S       seconds until a statement is stopped; default 120\n"
    "  --data-path DIR   default: $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile\n";

enum format { TEXT, JSON, MARKDOWN };

struct arguments {
    const char *profile, *path;
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

static int print(const json_t *report, enum format format)
{
    struct nx_text text = {0};

    if (format == JSON) {
        json_dumpf(report, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        if (format == TEXT)
            nx_report_text(report, &text);
        else
            nx_report_markdown(report, &text);
        fwrite(nx_text_string(&text), 1, text.size, stdout);
        nx_text_free(&text);
    }
    return fflush(stdout) == 0 ? NX_OK : nx_complain(NX_FAILED, "cannot write the report to standard output");
}

static int run(const struct arguments *arguments)
{
    struct nx_pool_options pool_options = {.max_workers = 1, .memory = NX_ANALYSIS_MEMORY};
    struct nx_answer failure;
    struct nx_error error;
    struct nx_store store;
    struct nx_pool *pool;
    json_t *report;
    int status;

    if (nx_open_store(arguments->path, false, &store, &error) != NX_OK)
        return nx_complain_about(&error);
    pool = nx_pool_new(&store, &pool_options);
    report = nx_analyze(pool, arguments->profile, &arguments->options, &failure);
    if (report) {
        status = print(report, arguments->format);
    } else {
        status = nx_complain_query(&failure);
    }
    json_decref(report);
    nx_answer_free(&failure);
    nx_pool_free(pool);
    nx_store_close(&store);
    return status;
}

int nx_cmd_analyze(int argc, char **argv)
{
    static const struct option options[] = {{"window", required_argument, NULL, 'w'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"show-sql", no_argument, NULL, 's'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {"data-path", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct arguments arguments = {
        .options = {.window = NX_DEFAULT_WINDOW, .timeout_ms = NX_ANALYSIS_TIMEOUT_MS, .cancel_fd = -1}};
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'w':
            if (!nx_window_parse(optarg, &arguments.options.window))
                return nx_complain(NX_USAGE, "--window takes FROM:TO (nanoseconds, first-dma, last-dma, start, end), not %s",
                                   optarg);
            break;
        case 'f':
            if (!parse_format(optarg, &arguments.format))
                return nx_complain(NX_USAGE, "%s is not a format: text, json, markdown", optarg);
            break;
        case 's': arguments.options.show_sql = true; break;
        case 't':
            if (!nx_parse_seconds(optarg, &arguments.options.timeout_ms))
                return nx_complain(NX_USAGE, "--timeout takes seconds above 0, not %s", optarg);
            break;
        case 'd': arguments.path = optarg; break;
        case 'h': fputs(help, stdout); return NX_OK;
        default: fputs(help, stderr); return NX_USAGE;
        }
    if (argc - optind != 1) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    arguments.profile = argv[optind];
    return run(&arguments);
}
