#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "query/query.h"

static const char help[] =
    "usage: neuron-explorer query NAME \"SELECT ...\" [options]\n"
    "\n"
    "Answers SQL about a stored profile, without a server.\n"
    "\n"
    "  --format F       table (default), json, jsonl, csv, markdown\n"
    "  --max-rows N     rows beyond are left out; default 10000, 0: no limit\n"
    "  --timeout S      seconds until the query is stopped; default 30\n"
    "  --data-path DIR  default: $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile\n";

static bool parse_format(const char *text, enum nx_format *format)
{
    static const char *const names[] = {[NX_FORMAT_JSON] = "json",
                                        [NX_FORMAT_JSONL] = "jsonl",
                                        [NX_FORMAT_CSV] = "csv",
                                        [NX_FORMAT_MARKDOWN] = "markdown",
                                        [NX_FORMAT_TABLE] = "table"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            *format = (enum nx_format)i;
            return true;
        }
    return false;
}

static int print_answer(const struct nx_query *query, const struct nx_answer *answer)
{
    if (answer->code != NX_QUERY_OK)
        return nx_complain_query(answer);
    fwrite(answer->body, 1, answer->size, stdout);
    if (query->format == NX_FORMAT_JSON)
        putchar('\n');
    if (answer->truncated)
        fprintf(stderr, "neuron-explorer: only the first %llu rows: --max-rows raises the limit\n",
                (unsigned long long)answer->rows);
    return fflush(stdout) == 0 ? NX_OK : nx_complain(NX_FAILED, "cannot write the answer to standard output");
}

static int run(const struct nx_query *query, const char *path)
{
    struct nx_pool_options options = {.max_workers = 1};
    struct nx_answer answer;
    struct nx_error error;
    struct nx_store store;
    struct nx_pool *pool;
    int status;

    if (nx_open_store(path, false, &store, &error) != NX_OK)
        return nx_complain_about(&error);
    pool = nx_pool_new(&store, &options);
    nx_pool_query(pool, query, &answer);
    status = print_answer(query, &answer);
    nx_answer_free(&answer);
    nx_pool_free(pool);
    nx_store_close(&store);
    return status;
}

int nx_cmd_query(int argc, char **argv)
{
    static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                            {"max-rows", required_argument, NULL, 'm'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {"data-path", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct nx_query query = {.format = NX_FORMAT_TABLE,
                             .max_rows = NX_DEFAULT_MAX_ROWS,
                             .max_bytes = NX_DEFAULT_MAX_BYTES,
                             .timeout_ms = NX_DEFAULT_TIMEOUT_MS,
                             .cancel_fd = -1};
    const char *path = NULL;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'f':
            if (!parse_format(optarg, &query.format))
                return nx_complain(NX_USAGE, "%s is not a format: table, json, jsonl, csv, markdown", optarg);
            break;
        case 'm':
            if (!nx_parse_number(optarg, 0, INT64_MAX, &query.max_rows))
                return nx_complain(NX_USAGE, "--max-rows takes a whole number, not %s", optarg);
            if (!query.max_rows)
                query.max_rows = INT64_MAX;
            break;
        case 't':
            if (!nx_parse_seconds(optarg, &query.timeout_ms))
                return nx_complain(NX_USAGE, "--timeout takes seconds above 0, not %s", optarg);
            break;
        case 'd': path = optarg; break;
        case 'h': fputs(help, stdout); return NX_OK;
        default: fputs(help, stderr); return NX_USAGE;
        }
    if (argc - optind != 2) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    query.profile = argv[optind];
    query.sql = argv[optind + 1];
    query.table_width = nx_terminal_width();
    return run(&query, path);
}
