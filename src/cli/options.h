/*
 * options.h - what the commands share on their command lines.
 */
#ifndef NX_CLI_OPTIONS_H
#define NX_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "query/query.h"
#include "store/store.h"

/* "neuron-explorer: TEXT" on standard error; returns the status. */
int nx_complain(enum nx_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int nx_complain_about(const struct nx_error *error);
/* Why a query has no answer, and what to do. */
int nx_complain_query(const struct nx_answer *answer);

/* A whole number from `low` to `high`, all of the text; false if it is not one. */
bool nx_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* Seconds, with a fraction if wanted, as milliseconds; false if it is not above 0 and at most a day. */
bool nx_parse_seconds(const char *text, unsigned *milliseconds);

/* Opens the store at `path`, or at the default place if it is NULL. */
enum nx_status nx_open_store(const char *path, bool create, struct nx_store *store, struct nx_error *error);

/* Whether a descriptor is a terminal that can move its cursor, and whether colours are wanted there (NO_COLOR). */
bool nx_is_terminal(int fd);
bool nx_wants_colour(int fd);
/* Columns of the terminal on standard output; 0 if it is not one. */
unsigned nx_terminal_width(void);

#endif
