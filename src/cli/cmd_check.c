#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/check.h"
#include "cli/cli.h"
#include "cli/options.h"

static const char help[] =
    "usage: neuron-explorer check NAME [--data-path DIR] [--json]\n"
    "\n"
    "Says whether a stored profile can be trusted: whether NEFF and NTFF belong together, the trace\n"
    "is complete, DMA packets are there and linked, instructions have source lines, which tables are\n"
    "missing and why; and which environment variables to set at the next capture or compilation.\n"
    "\n"
    "  --json           as JSON\n"
    "  --timeout S      seconds until a query of the check is stopped; default 30\n"
    "  --data-path DIR  default: $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile\n"
    "\n"
    "Exit status: 0 good, 1 usable with gaps, 2 not usable (also: no such profile, wrong usage),\n"
    "4 data path unavailable.\n";

static int print_check(const struct nx_check *check, bool json)
{
    struct nx_text text = {0};

    if (check->answer.code != NX_QUERY_OK) {
        nx_complain_query(&check->answer);
        return NX_CHECK_BAD;
    }
    if (json)
        puts(check->answer.body);
    else {
        setlocale(LC_CTYPE, ""); /* widths of characters */
        nx_check_text(check->answer.body, check->answer.size, nx_wants_colour(STDOUT_FILENO), &text);
        fputs(nx_text_string(&text), stdout);
    }
    nx_text_free(&text);
    if (fflush(stdout) != 0) {
        nx_complain(NX_FAILED, "cannot write the check to standard output");
        return NX_CHECK_BAD;
    }
    return (int)check->status;
}

static int run(const char *profile, const char *path, unsigned timeout_ms, bool json)
{
    struct nx_pool_options options = {.max_workers = 1};
    struct nx_check check;
    struct nx_error error;
    struct nx_store store;
    struct nx_pool *pool;
    int status;

    if (nx_open_store(path, false, &store, &error) != NX_OK)
        return nx_complain_about(&error);
    pool = nx_pool_new(&store, &options);
    nx_check_profile(pool, profile, timeout_ms, -1, &check);
    status = print_check(&check, json);
    nx_answer_free(&check.answer);
    nx_pool_free(pool);
    nx_store_close(&store);
    return status;
}

int nx_cmd_check(int argc, char **argv)
{
    static const struct option options[] = {{"data-path", required_argument, NULL, 'd'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    unsigned timeout_ms = NX_DEFAULT_TIMEOUT_MS;
    const char *path = NULL;
    bool json = false;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'd': path = optarg; break;
        case 'j': json = true; break;
        case 't':
            if (!nx_parse_seconds(optarg, &timeout_ms))
                return nx_complain(NX_USAGE, "--timeout takes seconds above 0, not %s", optarg);
            break;
        case 'h': fputs(help, stdout); return NX_OK;
        default: fputs(help, stderr); return NX_USAGE;
        }
    if (argc - optind != 1) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    return run(argv[optind], path, timeout_ms, json);
}
