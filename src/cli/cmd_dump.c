#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

static const char help[] = "usage: neuron-explorer dump neff FILE [--json]\n"
                           "       neuron-explorer dump ntff FILE [--json] [--records N]\n"
                           "\n"
                           "Prints the structure of a file, also of one that does not ingest.\n"
                           "\n"
                           "  --json       as JSON\n"
                           "  --records N  ntff: the first N trace records, decoded\n";

int nx_cmd_dump(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"records", required_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct nx_dump_options dump = {0};
    uint64_t records;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'j': dump.json = true; break;
        case 'r':
            if (!nx_parse_number(optarg, 0, INT64_MAX, &records))
                return nx_complain(NX_USAGE, "--records takes a whole number, not %s", optarg);
            dump.records = (unsigned long)records;
            break;
        case 'h': fputs(help, stdout); return NX_OK;
        default: fputs(help, stderr); return NX_USAGE;
        }
    if (argc - optind == 2 && strcmp(argv[optind], "neff") == 0)
        return nx_dump_neff(argv[optind + 1], &dump);
    if (argc - optind == 2 && strcmp(argv[optind], "ntff") == 0)
        return nx_dump_ntff(argv[optind + 1], &dump);
    fputs(help, stderr);
    return NX_USAGE;
}
