/*
 * cli.h - the commands of `neuron-explorer`, one file each.
 *
 * Each takes the arguments after its own name and returns the exit status
 * (enum nx_status). Help goes to standard output when asked for, to standard
 * error when the command line is wrong.
 */
#ifndef NX_CLI_CLI_H
#define NX_CLI_CLI_H

#include <stdbool.h>

int nx_cmd_view(int argc, char **argv);  /* cmd_view.c: ingest, then serve */
int nx_cmd_query(int argc, char **argv); /* cmd_query.c: SQL without a server */
int nx_cmd_analyze(int argc, char **argv); /* cmd_analyze.c: bounds, gaps, findings */
int nx_cmd_compare(int argc, char **argv); /* cmd_analyze.c: of several profiles side by side */
int nx_cmd_check(int argc, char **argv); /* cmd_check.c: whether a profile can be trusted */
int nx_cmd_list(int argc, char **argv);  /* cmd_list.c: the profiles of a data path */
int nx_cmd_dump(int argc, char **argv);  /* cmd_dump.c: structure of one file */

/* dump_neff.c, dump_ntff.c: print the structure of one file to standard output. */
struct nx_dump_options {
    bool json;
    unsigned long records; /* ntff: print that many decoded trace records as well */
};
int nx_dump_neff(const char *path, const struct nx_dump_options *options);
int nx_dump_ntff(const char *path, const struct nx_dump_options *options);

#endif
