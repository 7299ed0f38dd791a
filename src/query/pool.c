/*
 * The workers of a server: started when needed, kept for the next query about
 * the same files, killed when they do not answer in time.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "query/places.h"
#include "query/protocol.h"
#include "query/suggest.h"

#define DEFAULT_WORKERS 8
#define DEFAULT_WAITING 64
#define DEFAULT_IDLE 4
#define GRACE_MS 1000     /* from a query's time limit to the worker's end */
#define PATIENCE_MS 10000 /* wait for a free place at most that long */
#define STALL_MS 30000    /* a worker that takes or gives not a byte for so long, amid a message, is given up */
#define ATTEMPTS 3        /* a profile that is replaced during each of three tries is left alone */
#define WORKER_FD 3

extern char **environ;

struct worker {
    struct worker *next; /* in the idle list, newest first */
    pid_t pid;
    int fd;
    char *profile;
    struct nx_generation generation;
};

struct nx_pool {
    const struct nx_store *store;
    char *program;
    unsigned max_idle;
    uint64_t memory;
    struct nx_places places;
    pthread_mutex_t lock; /* of the list below */
    struct worker *idle;
};

/* ------------------------------------------------------------------ answers */

static void fail(struct nx_answer *answer, enum nx_query_code code, char *message, char *hint)
{
    nx_answer_free(answer);
    *answer = (struct nx_answer){.code = code, .message = message, .hint = hint};
}

static void no_profile(const struct nx_pool *pool, const char *name, struct nx_answer *answer)
{
    struct nx_profile_entry *list = NULL;
    size_t count = 0;
    struct nx_error ignored;
    char *message = NULL, *hint = NULL;
    const char **names;

    if (nx_store_list(pool->store, &list, &count, &ignored) != NX_OK)
        count = 0;
    names = nx_alloc(count * sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = list[i].name;
    hint = nx_suggest(name, names, count);
    if (!hint && count == 0)
        hint = nx_strdup("no profile is stored in this data path");
    else if (!hint && asprintf(&hint, "%zu profiles are stored: `neuron-explorer list` shows them", count) < 0)
        hint = NULL;
    free(names);
    nx_profile_list_free(list, count);
    if (asprintf(&message, "there is no profile named %s", name) < 0)
        message = NULL;
    fail(answer, NX_QUERY_NO_PROFILE, message, hint);
}

/* ------------------------------------------------------------------ a worker's life */

static void worker_end(struct worker *worker)
{
    if (!worker)
        return;
    close(worker->fd);
    kill(worker->pid, SIGKILL);
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(worker->profile);
    free(worker);
}

/*
 * What a worker gets to see of the program's environment: how to find its libraries, its locale, its time zone, and how
 * sanitizers behave.  Nothing else, as a user's environment holds secrets.
 */
static char **worker_environment(void)
{
    static const char *const kept[] = {"LD_LIBRARY_PATH=", "LANG=", "LC_", "TZ=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=",
                                       "TSAN_OPTIONS=", "LSAN_OPTIONS="};
    size_t count = 0, at = 0;
    char **list;

    while (environ && environ[count])
        count++;
    list = nx_zalloc(count + 1, sizeof(*list));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
            if (strncmp(environ[i], kept[k], strlen(kept[k])) == 0) {
                list[at++] = environ[i];
                break;
            }
    return list;
}

static pid_t spawn(const struct nx_pool *pool, int fd)
{
    char **environment = worker_environment();
    char command[] = "worker", *argv[] = {pool->program, command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, WORKER_FD);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_FD + 1); /* not all of a program's are CLOEXEC */
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none); /* a server may have blocked some */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (posix_spawn(&pid, pool->program, &actions, &attributes, argv, environment) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(environment);
    return pid;
}

static bool send_setup(const struct nx_pool *pool, int fd, const struct nx_stored_profile *profile)
{
    json_t *setup = json_pack("{s:I,s:[]}", "memory", (json_int_t)pool->memory, "tables");
    json_t *tables = json_object_get(setup, "tables");
    int *fds = NULL;
    size_t count = 0;
    char *text;
    bool ok;

    for (size_t t = 0; t < profile->table_count; t++) {
        const struct nx_stored_table *table = &profile->tables[t];

        json_array_append_new(tables, json_pack("{s:s,s:s,s:I,s:I}", "name", table->name, "file", table->file, "bytes",
                                                (json_int_t)table->bytes, "parts", (json_int_t)table->part_count));
        fds = nx_resize(fds, count + table->part_count, sizeof(*fds));
        for (size_t p = 0; p < table->part_count; p++)
            fds[count++] = table->fds[p];
    }
    text = json_dumps(setup, JSON_COMPACT);
    ok = text && nx_write_frame(fd, text, strlen(text)) && nx_send_fds(fd, fds, count);
    free(text);
    free(fds);
    json_decref(setup);
    return ok;
}

/* A worker that is stopped or stuck amid a message must not hold a thread for ever. */
static void set_patience(int fd)
{
    struct timeval time = {.tv_sec = STALL_MS / 1000};

    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

/* NULL: *answer says why. */
static struct worker *worker_start(const struct nx_pool *pool, const char *name, struct nx_answer *answer)
{
    struct nx_stored_profile profile;
    struct nx_error error;
    struct worker *worker;
    int pair[2];
    bool found;

    if (nx_profile_open(pool->store, name, &profile, &found, &error) != NX_OK) {
        if (found) /* it is there and cannot be read */
            fail(answer, NX_QUERY_FAILED, nx_strdup(error.text), NULL);
        else
            no_profile(pool, name, answer);
        return NULL;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        nx_profile_close(&profile);
        fail(answer, NX_QUERY_FAILED, nx_strdup("cannot make a socket for a query worker"), NULL);
        return NULL;
    }
    worker = nx_zalloc(1, sizeof(*worker));
    worker->pid = spawn(pool, pair[1]);
    worker->fd = pair[0];
    worker->profile = nx_strdup(name);
    worker->generation = profile.generation;
    set_patience(worker->fd);
    close(pair[1]);
    if (worker->pid < 0 || !send_setup(pool, worker->fd, &profile)) {
        if (worker->pid > 0) {
            worker_end(worker);
        } else {
            close(worker->fd);
            free(worker->profile);
            free(worker);
        }
        fail(answer, NX_QUERY_FAILED, nx_strdup("cannot start a query worker"), NULL);
        worker = NULL;
    }
    nx_profile_close(&profile);
    return worker;
}

/* ------------------------------------------------------------------ idle workers */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether it waits in silence; one that was killed meanwhile has hung up. */
static bool is_alive(const struct worker *worker)
{
    struct pollfd fd = {.fd = worker->fd, .events = POLLIN | POLLRDHUP};

    return poll(&fd, 1, 0) == 0;
}

/* An idle worker of these files; the dead, and those of older files of the same profile, are ended on the way. */
static struct worker *take_idle(struct nx_pool *pool, const char *name, struct nx_generation generation)
{
    struct worker *found = NULL, *stale = NULL, **link;

    pthread_mutex_lock(&pool->lock);
    for (link = &pool->idle; *link;) {
        struct worker *worker = *link;
        bool same = nx_generation_equal(worker->generation, generation) && is_alive(worker);

        if (strcmp(worker->profile, name) != 0 || (same && found)) {
            link = &worker->next;
            continue;
        }
        *link = worker->next;
        if (same) {
            found = worker;
        } else {
            worker->next = stale;
            stale = worker;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    while (stale) {
        struct worker *next = stale->next;

        worker_end(stale);
        stale = next;
    }
    return found;
}

/* Keeps the worker for the next query; the one that has waited longest makes room. */
static void put_idle(struct nx_pool *pool, struct worker *worker)
{
    struct worker **link, *last = NULL;
    unsigned count = 0;

    pthread_mutex_lock(&pool->lock);
    worker->next = pool->idle;
    pool->idle = worker;
    for (link = &pool->idle; *link; link = &(*link)->next)
        if (++count > pool->max_idle) {
            last = *link;
            *link = NULL;
            break;
        }
    pthread_mutex_unlock(&pool->lock);
    worker_end(last);
}

/* ------------------------------------------------------------------ one request */

enum waited { ANSWERED, TOO_LATE, GONE, HUNG_UP };

/* Until the worker has something to say, its time is over, or the client has gone. */
static enum waited wait_for(const struct worker *worker, int64_t deadline, int cancel_fd)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = worker->fd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLRDHUP}};
        int64_t left = deadline - now_ms();
        int n = left > 0 ? poll(fds, cancel_fd >= 0 ? 2 : 1, (int)(left > 1000000 ? 1000000 : left)) : 0;

        if (n < 0 && errno != EINTR)
            return GONE;
        if (n > 0 && fds[0].revents)
            return fds[0].revents & POLLIN ? ANSWERED : GONE;
        if (n > 0 && cancel_fd >= 0 && fds[1].revents & (POLLRDHUP | POLLHUP | POLLERR))
            return HUNG_UP;
        if (n == 0 && now_ms() >= deadline)
            return TOO_LATE;
    }
}

static bool read_part(int fd, uint64_t size, char **text)
{
    *text = nx_alloc(size + 1);
    (*text)[size] = '\0';
    return nx_read_all(fd, *text, size);
}

static bool read_answer(int fd, struct nx_answer *answer, bool *unusable)
{
    struct nx_reply reply;

    if (!nx_read_all(fd, &reply, sizeof(reply)) || reply.code > NX_QUERY_FAILED)
        return false;
    answer->code = (enum nx_query_code)reply.code;
    *unusable = reply.unusable;
    answer->truncated = reply.truncated;
    answer->rows = reply.rows;
    answer->size = reply.body_size;
    if (!read_part(fd, reply.body_size, &answer->body) || !read_part(fd, reply.message_size, &answer->message))
        return false;
    return !reply.has_hint || read_part(fd, reply.hint_size, &answer->hint);
}

/* How a worker ended that did not answer: what its exit status tells. Ends it. */
static void explain_end(struct worker *worker, struct nx_answer *answer)
{
    int status = 0;
    pid_t pid;

    for (int i = 0; i < 100 && (pid = waitpid(worker->pid, &status, WNOHANG)) == 0; i++)
        poll(NULL, 0, 5);
    if (pid == worker->pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        fail(answer, NX_QUERY_OUT_OF_MEMORY, nx_strdup("the query ended its worker: it ran out of memory or stack"),
             nx_strdup("aggregate, take fewer rows or columns, or nest less deeply"));
    else if (pid == worker->pid && WIFEXITED(status) && WEXITSTATUS(status) == 1)
        fail(answer, NX_QUERY_OUT_OF_MEMORY, nx_strdup("the query needs more memory than a query may use"),
             nx_strdup("aggregate, or take fewer rows or columns"));
    else if (pid == worker->pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        fail(answer, NX_QUERY_OUT_OF_MEMORY, nx_strdup("the query ended its worker: it is nested too deeply"),
             nx_strdup("nest less deeply"));
    else if (pid == worker->pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        fail(answer, NX_QUERY_FAILED, nx_strdup("the query's worker was killed from outside"),
             nx_strdup("the system does so when it runs out of memory: take fewer rows or columns, or ask again"));
    else
        fail(answer, NX_QUERY_FAILED, nx_strdup("the query's worker ended without an answer"), NULL);
    if (pid == worker->pid) {
        close(worker->fd);
        free(worker->profile);
        free(worker);
    } else {
        worker_end(worker);
    }
}

/* Sends the request and takes the answer. The worker is put back, or ended. */
static void ask(struct nx_pool *pool, struct worker *worker, const char *request, size_t size, unsigned timeout_ms,
                int cancel_fd, struct nx_answer *answer)
{
    int64_t deadline = now_ms() + timeout_ms + GRACE_MS;
    enum waited waited = GONE;
    bool unusable = false;

    if (nx_write_frame(worker->fd, request, size))
        waited = wait_for(worker, deadline, cancel_fd);
    if (waited == ANSWERED && read_answer(worker->fd, answer, &unusable)) {
        if (unusable)
            worker_end(worker);
        else
            put_idle(pool, worker);
        return;
    }
    nx_answer_free(answer);
    switch (waited) {
    case TOO_LATE: {
        char *message = NULL;

        worker_end(worker);
        if (asprintf(&message, "the query was stopped after its time limit of %.3g s", timeout_ms / 1000.0) < 0)
            message = NULL;
        fail(answer, NX_QUERY_TIMEOUT, message, nx_strdup("make it narrower, or allow more time (timeoutMs, --timeout)"));
        break;
    }
    case HUNG_UP:
        worker_end(worker);
        fail(answer, NX_QUERY_CANCELLED, nx_strdup("the client has gone"), NULL);
        break;
    default:
        explain_end(worker, answer);
        break;
    }
}

/* A failure that the profile's replacement under the worker explains: the new files may answer. */
static bool was_replaced(const struct nx_pool *pool, const char *name, struct nx_generation before,
                         const struct nx_answer *answer)
{
    struct nx_generation now;

    if (answer->code != NX_QUERY_SQL_ERROR && answer->code != NX_QUERY_FAILED)
        return false;
    return nx_profile_generation(pool->store, name, &now) && !nx_generation_equal(now, before);
}

/* False: there is no place for the query, and *answer says why. */
static bool enter(struct nx_pool *pool, int cancel_fd, struct nx_answer *answer)
{
    switch (nx_places_enter(&pool->places, cancel_fd)) {
    case NX_PLACE_TAKEN:
        return true;
    case NX_PLACE_QUEUE_FULL:
        fail(answer, NX_QUERY_BUSY, nx_strdup("too many queries are running and waiting"),
             nx_strdup("try again in a moment"));
        break;
    case NX_PLACE_TOO_LATE:
        fail(answer, NX_QUERY_BUSY, nx_strdup("too many queries are running: none of them ended in time"),
             nx_strdup("try again in a moment"));
        break;
    case NX_PLACE_HUNG_UP:
        fail(answer, NX_QUERY_CANCELLED, nx_strdup("the client has gone"), NULL);
        break;
    }
    return false;
}

static void run(struct nx_pool *pool, const char *name, const char *request, size_t size, unsigned timeout_ms,
                int cancel_fd, struct nx_answer *answer)
{
    if (!enter(pool, cancel_fd, answer))
        return;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct nx_generation generation;
        struct worker *worker = NULL;

        if (!nx_profile_generation(pool->store, name, &generation)) {
            no_profile(pool, name, answer);
            break;
        }
        worker = take_idle(pool, name, generation);
        if (!worker)
            worker = worker_start(pool, name, answer);
        if (!worker)
            break;
        generation = worker->generation;
        ask(pool, worker, request, size, timeout_ms, cancel_fd, answer);
        if (!was_replaced(pool, name, generation, answer))
            break;
        if (i + 1 < ATTEMPTS)
            nx_answer_free(answer);
    }
    nx_places_leave(&pool->places);
}

void nx_pool_query(struct nx_pool *pool, const struct nx_query *query, struct nx_answer *answer)
{
    json_t *request = json_pack("{s:s,s:i,s:I,s:I,s:I,s:I}", "sql", query->sql, "format", (int)query->format,
                                "max_rows", (json_int_t)query->max_rows, "max_bytes", (json_int_t)query->max_bytes,
                                "timeout_ms", (json_int_t)query->timeout_ms, "width", (json_int_t)query->table_width);
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;

    *answer = (struct nx_answer){0};
    if (text)
        run(pool, query->profile, text, strlen(text), query->timeout_ms, query->cancel_fd, answer);
    else
        fail(answer, NX_QUERY_SQL_ERROR, nx_strdup("the SQL is not valid UTF-8"), NULL);
    free(text);
    json_decref(request);
}

void nx_pool_tables(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd,
                    struct nx_answer *answer)
{
    char request[64];

    *answer = (struct nx_answer){0};
    snprintf(request, sizeof(request), "{\"timeout_ms\":%u}", timeout_ms);
    run(pool, profile, request, strlen(request), timeout_ms, cancel_fd, answer);
}

/* ------------------------------------------------------------------ the pool itself */

struct nx_pool *nx_pool_new(const struct nx_store *store, const struct nx_pool_options *options)
{
    struct nx_pool *pool = nx_zalloc(1, sizeof(*pool));

    pool->store = store;
    pool->program = nx_strdup(options->program ? options->program : "/proc/self/exe");
    nx_places_init(&pool->places, options->max_workers ? options->max_workers : DEFAULT_WORKERS,
                   options->max_waiting ? options->max_waiting : DEFAULT_WAITING, PATIENCE_MS);
    pool->max_idle = options->max_idle ? options->max_idle : DEFAULT_IDLE;
    pool->memory = options->memory ? options->memory : NX_DEFAULT_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void nx_pool_free(struct nx_pool *pool)
{
    if (!pool)
        return;
    while (pool->idle) {
        struct worker *next = pool->idle->next;

        worker_end(pool->idle);
        pool->idle = next;
    }
    nx_places_destroy(&pool->places);
    pthread_mutex_destroy(&pool->lock);
    free(pool->program);
    free(pool);
}
