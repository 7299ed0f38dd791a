/*
 * query.h - answers SQL about one stored profile, safely.
 *
 * The SQL is anybody's: a script, an agent, a page in a browser.  Layers, each
 * of which was found to leak when alone (docs/security.md):
 *   1. guard.h: the statement's syntax tree is vetted before anything is bound
 *   2. the engine's statement type after preparing
 *   3. a connection locked to the exact files of one profile
 *   4. a worker process with an address-space limit that can be killed
 *   5. Landlock below it, where the kernel has it
 *
 * A pool keeps a few idle workers, each bound to one generation of one
 * profile.  When a profile is replaced while a query runs, the query either
 * ends on the files it has open or is run again on the new ones; it never
 * sees a mixture.
 */
#ifndef NX_QUERY_QUERY_H
#define NX_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum nx_format { NX_FORMAT_JSON, NX_FORMAT_JSONL, NX_FORMAT_CSV, NX_FORMAT_MARKDOWN, NX_FORMAT_TABLE };

struct nx_query {
    const char *profile;
    const char *sql;
    enum nx_format format;
    uint64_t max_rows;   /* rows beyond are not delivered: "truncated" */
    uint64_t max_bytes;  /* so is what would make the answer longer */
    unsigned timeout_ms; /* then the query is interrupted, and soon after killed */
    int cancel_fd;       /* -1, or a socket: when its peer hangs up, the query is stopped */
    unsigned table_width; /* NX_FORMAT_TABLE: columns of the terminal; 0 = do not cut */
};
#define NX_DEFAULT_MAX_ROWS 10000
#define NX_DEFAULT_MAX_BYTES ((uint64_t)256 << 20)
#define NX_DEFAULT_TIMEOUT_MS 30000
#define NX_DEFAULT_MEMORY ((uint64_t)4 << 30) /* address space of a worker, beyond what the engine maps at start */

/* How a query ended; nx_query_code_name() gives the API's word, nx_query_http_status() its HTTP status. */
enum nx_query_code {
    NX_QUERY_OK,              /* 200 */
    NX_QUERY_NO_PROFILE,      /* 404 profile_not_found: the hint lists near names */
    NX_QUERY_NO_TABLE,        /* 404 table_not_found: the hint says why that can be */
    NX_QUERY_SQL_ERROR,       /* 400 sql_error: the engine's message and suggestion */
    NX_QUERY_NOT_ALLOWED,     /* 422 not_allowed: not a read-only query over this profile's tables */
    NX_QUERY_TIMEOUT,         /* 504 timeout */
    NX_QUERY_OUT_OF_MEMORY,   /* 422 out_of_memory */
    NX_QUERY_CANCELLED,       /* (no answer: the client has gone) */
    NX_QUERY_BUSY,            /* 503 busy: too many queries at once */
    NX_QUERY_FAILED,          /* 500 internal */
};
const char *nx_query_code_name(enum nx_query_code code);
int nx_query_http_status(enum nx_query_code code);

struct nx_answer {
    enum nx_query_code code;
    char *body;     /* OK: the rows in the asked format; NX_FORMAT_JSON is the API's whole answer. Heap. */
    size_t size;
    bool truncated;
    uint64_t rows;
    char *message; /* not OK: one sentence; heap */
    char *hint;    /* not OK: what to do, or NULL; heap */
};
void nx_answer_free(struct nx_answer *answer);

struct nx_pool_options {
    const char *program;  /* executable that runs nx_worker_main() for `program worker`; NULL: /proc/self/exe */
    unsigned max_workers; /* at the same time; 0: default (8) */
    unsigned max_waiting; /* for one of these, 10 seconds at most; others are told NX_QUERY_BUSY; 0: default (64) */
    unsigned max_idle;    /* kept for the next query; 0: default (4) */
    uint64_t memory;      /* bytes; 0: NX_DEFAULT_MEMORY */
};
struct nx_pool;

/* `store` must outlive the pool. Never NULL. Safe to use from many threads at once. */
struct nx_pool *nx_pool_new(const struct nx_store *store, const struct nx_pool_options *options);
void nx_pool_free(struct nx_pool *pool); /* kills its workers */

/* Runs one query and waits for its end. */
void nx_pool_query(struct nx_pool *pool, const struct nx_query *query, struct nx_answer *answer);
/* The tables of a profile as JSON: [{"name","file","rows","bytes"},...]: the API's listDbFiles. Limits as of a query. */
void nx_pool_tables(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd,
                    struct nx_answer *answer);

/* The worker's main: speaks with its pool over `fd`; returns the exit status. */
int nx_worker_main(int fd);

#endif
