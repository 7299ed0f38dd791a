#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "query/query.h"
#include "query/suggest.h"
#include "tables/schema.h"

static const char help[] =
    "usage: neuron-explorer COMMAND [options]\n"
    "\n"
    "Reads device profiles of AWS Trainium and Inferentia: a compiled kernel (NEFF) and its\n"
    "execution trace (NTFF).\n"
    "\n"
    "  view    ingest a profile into Parquet tables, and serve SQL over HTTP on this machine\n"
    "  query   answer SQL about a stored profile\n"
    "  analyze why a kernel is slow: bounds, gaps, findings\n"
    "  compare versions of a kernel side by side\n"
    "  check   whether a stored profile can be trusted, and what to set at the next capture\n"
    "  list    the stored profiles\n"
    "  dump    print the structure of a NEFF or NTFF file\n"
    "\n"
    "  --version, -v           print the version\n"
    "  --help, -h              this text; `neuron-explorer COMMAND --help` for a command\n"
    "  --show-profile-schema   print the schema of the tables (OpenAPI YAML)\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 bad input file, 4 port or data path unavailable.\n"
    "(check: 0 good, 1 usable with gaps, 2 not usable.)\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {{"view", nx_cmd_view},       {"query", nx_cmd_query}, {"check", nx_cmd_check}, {"analyze", nx_cmd_analyze},
                {"compare", nx_cmd_compare}, {"list", nx_cmd_list},   {"dump", nx_cmd_dump}};
#define COUNT (sizeof(commands) / sizeof(commands[0]))

static int unknown_command(const char *name)
{
    const char *names[COUNT];
    char *near;

    for (size_t i = 0; i < COUNT; i++)
        names[i] = commands[i].name;
    near = nx_suggest(name, names, COUNT);
    nx_complain(NX_USAGE, "%s is not a command. %s", name,
                near ? near : "`neuron-explorer --help` lists them.");
    free(near);
    return NX_USAGE;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : NULL;

    if (!command) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) {
        fputs(help, stdout);
        return NX_OK;
    }
    if (strcmp(command, "--version") == 0 || strcmp(command, "-v") == 0) {
        printf("neuron-explorer %s (profile schema %s)\n", NX_VERSION, NX_SCHEMA_VERSION);
        return NX_OK;
    }
    if (strcmp(command, "--show-profile-schema") == 0) {
        nx_schema_yaml(stdout);
        return NX_OK;
    }
    if (strcmp(command, "worker") == 0) /* not for people: query/pool.c starts it with a socket */
        return nx_worker_main(3);
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(commands[i].name, command) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(command);
}
