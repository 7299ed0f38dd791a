/*
 * view: ingest a NEFF and its trace, then serve the data path.
 *
 * The profile is stored before a port is looked at: when the port is taken,
 * nothing is lost, and the message says so.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/ingest.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/summary_print.h"
#include "query/query.h"
#include "server/server.h"

static const char help[] =
    "usage: neuron-explorer view -n FILE -s FILE [options]   ingest, then serve\n"
    "       neuron-explorer view [options]                   serve what the data path holds\n"
    "\n"
    "  -n, --neff-path FILE     the compiled kernel (NEFF)\n"
    "  -s, --session-file FILE  its execution trace (NTFF)\n"
    "  --data-path DIR          where profiles are stored; default: $XDG_DATA_HOME/neuron-profile,\n"
    "                           else ~/.local/share/neuron-profile\n"
    "  --display-name NAME      the profile's name; default: the NTFF's file name without its ending\n"
    "  --output-format F        parquet (default); summary-json, summary-text: print the summary and exit\n"
    "  --ingest-only            store the profile and exit\n"
    "  --disable-ui             serve the API only\n"
    "  --api-server-port PORT   port of the API, default 3002\n"
    "  -p, --port PORT          port of the page, default 3001 (the page is not part of this build yet)\n"
    "  --force                  accepted for compatibility: a profile of the same name is always replaced\n"
    "  --query-timeout S        seconds until a query is stopped, default 30\n"
    "  -q, --quiet              no progress on standard error\n"
    "  --show-profile-schema    print the schema (OpenAPI YAML) and exit\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 bad input file, 4 port or data path unavailable.\n";

enum output { PARQUET, SUMMARY_JSON, SUMMARY_TEXT };

struct view {
    const char *neff, *ntff, *data_path, *name;
    enum output output;
    bool ingest_only, disable_ui, quiet;
    uint64_t api_port, page_port;
    unsigned timeout_ms;
};

/* Options of the closed tool that this build does not have: better a plain word than "unknown option". */
static const char *const elsewhere[] = {
    "session-dir", "output-file", "processing-status-file", "ignore-system-profile", "ignore-device-profile",
    "ignore-instruction-trace", "ignore-event-trace", "ignore-dma-trace", "ignore-instruction-hierarchy",
    "ignore-nc-buf-usage", "nki-source-root", "framework-source-root", "system-trace-primary-group",
    "system-trace-secondary-group", "system-trace-filter-neuron-core", "system-trace-filter-event-type",
    "system-trace-filter-instance-id", "terminology", "db-endpoint", "db-org", "db-bucket", "enable-memory-tracker",
    "show-perfetto-flows", "ui-mode",
};

/* The trace's file name without folder and ending. */
static char *default_name(const char *ntff)
{
    const char *slash = strrchr(ntff, '/');
    char *name = nx_strdup(slash ? slash + 1 : ntff), *dot = strrchr(name, '.');

    if (dot && dot != name)
        *dot = '\0';
    return name;
}

static int parse_output(const char *text, enum output *output)
{
    static const char *const names[] = {"parquet", "summary-json", "summary-text"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            *output = (enum output)i;
            return NX_OK;
        }
    if (strcmp(text, "json") == 0 || strcmp(text, "perfetto") == 0)
        return nx_complain(NX_USAGE, "the output format %s is not supported by this build", text);
    return nx_complain(NX_USAGE, "%s is not an output format: parquet, summary-json, summary-text", text);
}

/* `letter`: getopt's optopt, a short option or what stands for a long one: none of these three does. */
static int unknown_option(const char *argument, int letter)
{
    if (letter == 'd' || letter == 'F' || letter == 'v') /* the closed tool's session folder, features, verbosity */
        return nx_complain(NX_USAGE, "-%c is not supported by this build", letter);
    for (size_t i = 0; argument && strncmp(argument, "--", 2) == 0 && i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        size_t size = strcspn(argument + 2, "=");

        if (strlen(elsewhere[i]) == size && strncmp(elsewhere[i], argument + 2, size) == 0)
            return nx_complain(NX_USAGE, "--%s is not supported by this build", elsewhere[i]);
    }
    nx_complain(NX_USAGE, "%s is not an option of view", argument ? argument : "that");
    fputs("`neuron-explorer view --help` lists them\n", stderr);
    return NX_USAGE;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct view *view)
{
    static const struct option options[] = {{"neff-path", required_argument, NULL, 'n'},
                                            {"session-file", required_argument, NULL, 's'},
                                            {"data-path", required_argument, NULL, 'D'},
                                            {"display-name", required_argument, NULL, 'N'},
                                            {"output-format", required_argument, NULL, 'O'},
                                            {"ingest-only", no_argument, NULL, 'I'},
                                            {"disable-ui", no_argument, NULL, 'U'},
                                            {"api-server-port", required_argument, NULL, 'A'},
                                            {"port", required_argument, NULL, 'p'},
                                            {"force", no_argument, NULL, 'f'},
                                            {"query-timeout", required_argument, NULL, 'T'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"show-profile-schema", no_argument, NULL, 'S'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option, status;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:s:p:qh", options, NULL)) != -1)
        switch (option) {
        case 'n': view->neff = optarg; break;
        case 's': view->ntff = optarg; break;
        case 'D': view->data_path = optarg; break;
        case 'N': view->name = optarg; break;
        case 'O':
            status = parse_output(optarg, &view->output);
            if (status != NX_OK)
                return status;
            break;
        case 'I': view->ingest_only = true; break;
        case 'U': view->disable_ui = true; break;
        case 'A':
            if (!nx_parse_number(optarg, 0, 65535, &view->api_port))
                return nx_complain(NX_USAGE, "--api-server-port takes a port number, not %s", optarg);
            break;
        case 'p':
            if (!nx_parse_number(optarg, 0, 65535, &view->page_port))
                return nx_complain(NX_USAGE, "--port takes a port number, not %s", optarg);
            break;
        case 'f': break;
        case 'T':
            if (!nx_parse_seconds(optarg, &view->timeout_ms))
                return nx_complain(NX_USAGE, "--query-timeout takes seconds above 0, not %s", optarg);
            break;
        case 'q': view->quiet = true; break;
        case 'S': nx_schema_yaml(stdout); return NX_OK;
        case 'h': fputs(help, stdout); return NX_OK;
        case ':': return nx_complain(NX_USAGE, "%s needs a value", argv[optind - 1]);
        default: return unknown_option(argv[optind - 1], optopt);
        }
    if (optind != argc)
        return nx_complain(NX_USAGE, "%s: view takes options only; the files are given by -n and -s", argv[optind]);
    if (!view->neff != !view->ntff)
        return nx_complain(NX_USAGE, "a profile needs both files: the NEFF (-n) and the trace captured from it (-s)");
    if (!view->neff && (view->ingest_only || view->output != PARQUET))
        return nx_complain(NX_USAGE, "there is nothing to ingest: name the files by -n and -s");
    return -1;
}

/* ------------------------------------------------------------------ ingestion */

static enum nx_status load(const struct view *view, const char *name, struct nx_loaded *loaded, struct nx_error *error)
{
    struct nx_progress_bar bar;
    enum nx_status status;

    nx_progress_start(&bar, view->quiet, "reading", "records");
    status = nx_load(view->neff, view->ntff, name, nx_progress_step, &bar, loaded, error);
    nx_progress_end(&bar);
    return status;
}

static enum nx_status ingest(const struct view *view, const char *name, struct nx_store *store, struct nx_error *error)
{
    struct nx_loaded loaded;
    struct nx_progress_bar bar;
    enum nx_status status = load(view, name, &loaded, error);

    if (status != NX_OK)
        return status;
    nx_progress_start(&bar, view->quiet, "writing", "rows");
    status = nx_store_profile(store, &loaded, true, nx_progress_step, &bar, error);
    nx_progress_end(&bar);
    nx_loaded_free(&loaded);
    if (status == NX_OK)
        fprintf(stderr, "Processing for %s is complete\n", name);
    return status;
}

static int print_summary(const struct view *view, const char *name)
{
    struct nx_loaded loaded;
    struct nx_error error;

    if (load(view, name, &loaded, &error) != NX_OK)
        return nx_complain_about(&error);
    if (view->output == SUMMARY_JSON)
        nx_print_summary_json(&loaded.profile);
    else
        nx_print_summary_text(&loaded.profile);
    nx_loaded_free(&loaded);
    return fflush(stdout) == 0 ? NX_OK : nx_complain(NX_FAILED, "cannot write the summary to standard output");
}

/* ------------------------------------------------------------------ serving */

/* Workers, connections and files need descriptors: as many as the system lets us have. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

#define STOP_SECONDS 10

/* Stopping takes as long as a query needs to be killed. If it hangs all the same, that must not keep the machine from going down. */
static void give_up(int number)
{
    static const char text[] = "neuron-explorer: the server did not stop in time\n";

    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(NX_FAILED);
}

/*
 * The signals that end a server in order. All threads leave them to the one that waits for them, so that a second one
 * while it stops changes nothing. A hang-up of the terminal is one of them, unless we were told to outlive it (nohup).
 */
static sigset_t hold_back_signals(void)
{
    struct sigaction hang_up;
    sigset_t wanted;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
        sigaddset(&wanted, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, give_up);
    return wanted;
}

static int serve(const struct view *view, const char *stored, struct nx_store *store)
{
    struct nx_pool_options pool_options = {0};
    struct nx_pool *pool = nx_pool_new(store, &pool_options);
    struct nx_server_options options = {.api_port = (uint16_t)view->api_port,
                                        .store = store,
                                        .pool = pool,
                                        .timeout_ms = view->timeout_ms,
                                        .version = NX_VERSION};
    struct nx_server *server;
    struct nx_error error;
    sigset_t wanted = hold_back_signals();
    int got = 0;

    raise_descriptor_limit();
    nx_store_sweep(store);
    if (nx_server_start(&options, &server, &error) != NX_OK) {
        nx_complain_about(&error);
        if (stored)
            fprintf(stderr, "The profile %s is stored all the same, in %s.\n", stored, store->path);
        fprintf(stderr,
                "If the port is held by a neuron-explorer that serves this data path, it answers for the profile "
                "already:\n"
                "  curl -s http://localhost:%u/api/v1/health\n"
                "Else pick another port: --api-server-port %u; or ask without a server: neuron-explorer query\n",
                (unsigned)view->api_port, (unsigned)(view->api_port < 65535 ? view->api_port + 1 : 4002));
        nx_pool_free(pool);
        return (int)error.status;
    }
    if (!view->disable_ui)
        fputs("The page is not part of this build yet: serving the API only.\n", stderr);
    fprintf(stderr, "Serving %s at http://localhost:%u/api/v1/ (ctrl-c to exit)\n", store->path,
            nx_server_port(server));
    sigwait(&wanted, &got);
    alarm(STOP_SECONDS);
    nx_server_stop(server);
    nx_pool_free(pool);
    return NX_OK;
}

int nx_cmd_view(int argc, char **argv)
{
    struct view view = {.api_port = 3002, .page_port = 3001, .timeout_ms = NX_DEFAULT_TIMEOUT_MS};
    int status = parse(argc, argv, &view);
    struct nx_error error;
    struct nx_store store;
    char *name = NULL;

    if (status >= 0)
        return status;
    if (view.ntff) {
        name = view.name ? nx_strdup(view.name) : default_name(view.ntff);
        if (nx_profile_name_check(name, &error) != NX_OK) {
            free(name);
            return nx_complain_about(&error);
        }
    }
    if (view.output != PARQUET) {
        status = print_summary(&view, name);
        free(name);
        return status;
    }
    status = (int)nx_open_store(view.data_path, true, &store, &error);
    if (status == NX_OK && name)
        status = (int)ingest(&view, name, &store, &error);
    if (status != NX_OK)
        status = nx_complain_about(&error);
    else if (!view.ingest_only)
        status = serve(&view, name, &store);
    nx_store_close(&store);
    free(name);
    return status;
}
