/*
 * The server without an engine: the pool is a stand-in that remembers what it
 * was asked, so that each status, header and limit has one cause.
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "server/gate.h"
#include "server/listen.h"
#include "server/server.h"

#define JSON_TYPE "Content-Type: application/json\r\n"
#define SEARCH "/api/v1/db/known/_search"

/* ------------------------------------------------------------------ the stand-in for the pool */

static struct {
    pthread_mutex_t lock;
    unsigned queries, cancelled;
    uint64_t max_rows;
    unsigned timeout_ms;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void no_profile(struct nx_answer *answer)
{
    *answer = (struct nx_answer){.code = NX_QUERY_NO_PROFILE,
                                 .message = nx_strdup("no such profile"),
                                 .hint = nx_strdup("Did you mean known?")};
}

/* "slow" waits for its client to go, "big" is a million bytes, "huge" 20 million, "quota" fails, "crowd" finds no place; all else is answered. */
void nx_pool_query(struct nx_pool *pool, const struct nx_query *query, struct nx_answer *answer)
{
    (void)pool;
    pthread_mutex_lock(&seen.lock);
    seen.queries++;
    seen.max_rows = query->max_rows;
    seen.timeout_ms = query->timeout_ms;
    pthread_mutex_unlock(&seen.lock);
    *answer = (struct nx_answer){.code = NX_QUERY_OK};
    if (strcmp(query->profile, "known") != 0) {
        no_profile(answer);
    } else if (strcmp(query->sql, "slow") == 0) {
        struct pollfd client = {.fd = query->cancel_fd, .events = POLLRDHUP};
        bool gone = poll(&client, 1, 20000) == 1;

        answer->code = NX_QUERY_CANCELLED;
        pthread_mutex_lock(&seen.lock);
        seen.cancelled += gone;
        pthread_mutex_unlock(&seen.lock);
    } else if (strcmp(query->sql, "quota") == 0) {
        *answer = (struct nx_answer){.code = NX_QUERY_TIMEOUT, .message = nx_strdup("too \"long\"")};
    } else if (strcmp(query->sql, "crowd") == 0) {
        *answer = (struct nx_answer){.code = NX_QUERY_BUSY};
    } else {
        answer->size = strcmp(query->sql, "big") == 0 ? 1000000 : strcmp(query->sql, "huge") == 0 ? 20000000 : 4;
        answer->body = nx_alloc(answer->size);
        memset(answer->body, ' ', answer->size);
        memcpy(answer->body, "[42]", 4);
    }
}

void nx_pool_tables(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd,
                    struct nx_answer *answer)
{
    static const char list[] = "[{\"name\":\"Summary\",\"file\":\"Summary.parquet\",\"rows\":1,\"bytes\":9}]";

    (void)pool;
    (void)timeout_ms;
    (void)cancel_fd;
    if (strcmp(profile, "known") == 0)
        *answer = (struct nx_answer){.body = nx_strdup(list), .size = sizeof(list) - 1, .rows = 1};
    else
        no_profile(answer);
}

/* ------------------------------------------------------------------ a server and its client */

static char data_path[] = "/tmp/nx-server-XXXXXX";
static struct nx_store store;
static struct nx_server *server;

static int start(void **state)
{
    struct nx_server_options options = {.store = &store, .timeout_ms = 1234, .max_unsent = 50000000,
                                        .version = "9.8.7"};
    struct nx_error error;

    (void)state;
    if (nx_server_start(&options, &server, &error) != NX_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int stop(void **state)
{
    (void)state;
    nx_server_stop(server);
    return 0;
}

static int make_store(void **state)
{
    char path[200];
    struct nx_error error;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(data_path) || nx_store_open(data_path, true, &store, &error) != NX_OK)
        return -1;
    snprintf(path, sizeof(path), "mkdir '%s/profiles/global/known@latest'", data_path);
    return system(path);
}

static int remove_store(void **state)
{
    char command[200];

    (void)state;
    nx_store_close(&store);
    snprintf(command, sizeof(command), "rm -r '%s'", data_path);
    return system(command);
}

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(nx_server_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 15};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void say(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* a refusal may come before all is said */
        text += sent;
        size -= (size_t)sent;
    }
}

struct heard {
    int status;
    char head[4096];
    char *body;
    size_t size;
};

/* One answer, by its Content-Length; nothing beyond it is read. */
static void hear(int fd, struct heard *heard)
{
    size_t size = 0;
    const char *length;

    *heard = (struct heard){0};
    while (size < sizeof(heard->head) - 1 && !strstr(heard->head, "\r\n\r\n") &&
           recv(fd, heard->head + size, 1, 0) == 1)
        size++;
    assert_non_null(strstr(heard->head, "\r\n\r\n"));
    assert_int_equal(sscanf(heard->head, "HTTP/1.1 %d", &heard->status), 1);
    length = strstr(heard->head, "Content-Length: ");
    heard->size = length ? strtoul(length + 16, NULL, 10) : 0;
    heard->body = nx_zalloc(heard->size + 1, 1);
    for (size = 0; size < heard->size;) {
        ssize_t got = recv(fd, heard->body + size, heard->size - size, 0);

        assert_true(got > 0);
        size += (size_t)got;
    }
}

static void ask_on(int fd, const char *method, const char *path, const char *headers, const char *body,
                   struct heard *heard)
{
    char head[2048];
    int size = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\n%s%sContent-Length: %zu\r\n\r\n", method, path,
                        strstr(headers, "Host:") ? "" : "Host: localhost\r\n", headers, strlen(body));

    say(fd, head, (size_t)size);
    say(fd, body, strlen(body));
    hear(fd, heard);
}

static void ask(const char *method, const char *path, const char *headers, const char *body,
                struct heard *heard)
{
    int fd = dial();

    ask_on(fd, method, path, headers, body, heard);
    close(fd);
}

/* The status, and that an error is an error object with that code. */
static void expect(const char *method, const char *path, const char *headers, const char *body, int status,
                   const char *code)
{
    struct heard heard;
    json_t *document;
    const json_t *error;

    ask(method, path, headers, body, &heard);
    if (heard.status != status)
        print_error("%s %s %s: %s\n", method, path, body, heard.body);
    assert_int_equal(heard.status, status);
    document = json_loads(heard.body, 0, NULL);
    assert_non_null(document);
    error = json_object_get(document, "error");
    if (code) {
        assert_non_null(error);
        assert_string_equal(json_string_value(json_object_get(error, "code")), code);
        assert_true(strlen(json_string_value(json_object_get(error, "message"))) > 0);
        assert_non_null(json_object_get(error, "hint"));
    } else {
        assert_null(error);
    }
    json_decref(document);
    free(heard.body);
}

static void post(const char *body, int status, const char *code)
{
    expect("POST", SEARCH, JSON_TYPE, body, status, code);
}

#define QUERY(sql, more) "{\"type\":\"databaseExplorerQuery\",\"query\":\"" sql "\"" more "}"

/* ------------------------------------------------------------------ tests */

static void hosts(void **state)
{
    static const char *const good[] = {"localhost",     "LocalHost:3002", "127.0.0.1",
                                       "127.255.0.9:1", "[::1]",          "[::1]:65535"};
    static const char *const bad[] = {"",
                                      ":80",
                                      "localhost.",
                                      "localhost.evil.example",
                                      "xlocalhost",
                                      "localhost:",
                                      "localhost:x",
                                      "localhost:1234567",
                                      "localhost:1:2",
                                      "localhost@evil.example",
                                      "evil.example",
                                      "128.0.0.1",
                                      "127.0.0.1.evil.example",
                                      "127.1",
                                      "0x7f000001",
                                      "2130706433",
                                      "[::1",
                                      "[::2]",
                                      "[::1]x",
                                      "::1",
                                      "localhost/",
                                      " localhost",
                                      "localhost ",
                                      "0.0.0.0",
                                      "[::ffff:127.0.0.1]"};

    (void)state;
    assert_false(nx_gate_host(NULL));
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!nx_gate_host(good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (nx_gate_host(bad[i]))
            fail_msg("let in: '%s'", bad[i]);
}

static void origins_and_types(void **state)
{
    (void)state;
    assert_true(nx_gate_origin("http://localhost:3001"));
    assert_true(nx_gate_origin("https://[::1]"));
    assert_false(nx_gate_origin("null"));
    assert_false(nx_gate_origin(""));
    assert_false(nx_gate_origin("file://localhost"));
    assert_false(nx_gate_origin("http://evil.example"));
    assert_false(nx_gate_origin("http://localhost@evil.example"));
    assert_false(nx_gate_origin("http://localhost.evil.example"));
    assert_true(nx_gate_json("application/json"));
    assert_true(nx_gate_json("Application/JSON; charset=utf-8"));
    assert_false(nx_gate_json(NULL));
    assert_false(nx_gate_json("application/jsonx"));
    assert_false(nx_gate_json("text/plain; application/json"));
}

static void refused_at_the_door(void **state)
{
    static const char *const forms[] = {"", "Content-Type: text/plain\r\n",
                                        "Content-Type: multipart/form-data; boundary=x\r\n",
                                        "Content-Type: application/x-www-form-urlencoded\r\n"};
    unsigned before = seen.queries;

    (void)state;
    expect("GET", "/api/v1/health", "Host: evil.example\r\n", "", 403, "forbidden_host");
    expect("POST", SEARCH, JSON_TYPE "Host: evil.example\r\n", QUERY("x", ""), 403, "forbidden_host");
    expect("POST", SEARCH, JSON_TYPE "Origin: http://evil.example\r\n", QUERY("x", ""), 403,
           "forbidden_origin");
    expect("POST", SEARCH, JSON_TYPE "Origin: null\r\n", QUERY("x", ""), 403, "forbidden_origin");
    expect("POST", SEARCH, JSON_TYPE "Sec-Fetch-Site: cross-site\r\n", QUERY("x", ""), 403,
           "forbidden_origin");
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        expect("POST", SEARCH, forms[i], QUERY("x", ""), 415, "unsupported_media_type");
    assert_int_equal(seen.queries, before);
}

static void pages_of_this_machine(void **state)
{
    struct heard heard;

    (void)state;
    ask("OPTIONS", SEARCH, "Origin: http://localhost:3001\r\nAccess-Control-Request-Method: POST\r\n", "",
        &heard);
    assert_int_equal(heard.status, 204);
    assert_null(strstr(heard.head, "Content-Type: "));
    assert_int_equal(heard.size, 0);
    assert_non_null(strstr(heard.head, "Access-Control-Allow-Origin: http://localhost:3001\r\n"));
    assert_non_null(strstr(heard.head, "Access-Control-Allow-Headers: Content-Type\r\n"));
    free(heard.body);
    ask("OPTIONS", SEARCH, "Origin: http://evil.example\r\n", "", &heard);
    assert_int_equal(heard.status, 403);
    assert_null(strstr(heard.head, "Access-Control"));
    free(heard.body);
    expect("POST", SEARCH, JSON_TYPE "Origin: http://127.0.0.1:3001\r\n", QUERY("x", ""), 200, NULL);
}

/* A message that quotes a long text of the request ends it between characters. */
static void quoted_types_are_cut_between_characters(void **state)
{
    char body[400] = "{\"type\":\"x";
    struct heard heard;

    (void)state;
    for (int i = 0; i < 80; i++)
        strcat(body, "\xc3\xa9");
    strcat(body, "\"}");
    ask("POST", SEARCH, JSON_TYPE, body, &heard);
    assert_int_equal(heard.status, 422);
    assert_non_null(strstr(heard.body, "the type x\xc3\xa9"));
    assert_null(strstr(heard.body, "\xef\xbf\xbd"));
    free(heard.body);
}

static void routes(void **state)
{
    struct heard heard;

    (void)state;
    ask("GET", "/api/v1/health", "", "", &heard);
    assert_int_equal(heard.status, 200);
    assert_string_equal(heard.body, "{\"status\":\"healthy\",\"version\":\"9.8.7\"}");
    free(heard.body);
    ask("GET", "/api/v1/profiles/search?userName=a", "", "", &heard);
    assert_int_equal(heard.status, 200);
    assert_non_null(strstr(heard.body, "\"profile_name\":\"known\""));
    free(heard.body);
    ask("DELETE", "/api/v1/health", "", "", &heard);
    assert_int_equal(heard.status, 405);
    assert_non_null(strstr(heard.head, "Allow: GET\r\n"));
    free(heard.body);
    ask("GET", SEARCH, "", "", &heard);
    assert_int_equal(heard.status, 405);
    assert_non_null(strstr(heard.head, "Allow: POST\r\n"));
    free(heard.body);
    expect("GET", "/", "", "", 200, NULL);
    expect("GET", "/api/v1/healthy", "", "", 404, "not_found");
    expect("POST", "/api/v1/db//_search", JSON_TYPE, "{}", 404, "not_found");
    expect("POST", "/api/v1/db/kno%77n/_search", JSON_TYPE, QUERY("x", ""), 200, NULL);
    expect("POST", "/api/v1/db/a%2Fb/_search", JSON_TYPE, QUERY("x", ""), 404, "profile_not_found");
    expect("POST", "/api/v1/db/%2e%2e/_search", JSON_TYPE, QUERY("x", ""), 404, "profile_not_found");
    expect("POST", "/api/v1/db/a%0ab/_search", JSON_TYPE, QUERY("x", ""), 404, "profile_not_found");
}

static void requests(void **state)
{
    static const char *const broken[] = {
        "", "{", "{\"type\":}", "nonsense", "{} {}", "\"text\"", "{\"type\":\"\\ud800\"}", "\xff"};
    struct heard heard;

    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        post(broken[i], 400, "malformed_json");
    ask("POST", SEARCH, JSON_TYPE, "{\"type\":\n  }", &heard);
    assert_non_null(strstr(heard.body, "line 2, column 3"));
    free(heard.body);
    post("[]", 422, "bad_request");
    post("{\"type\":7}", 422, "bad_request");
    post("{\"type\":\"poem\"}", 422, "bad_request");
    post("{\"type\":\"databaseExplorerQuery\"}", 422, "bad_request");
    post("{\"type\":\"databaseExplorerQuery\",\"query\":null}", 422, "bad_request");
    post("{\"type\":\"tableSchema\"}", 422, "bad_request");
    post("{\"type\":\"tableSchema\",\"tableName\":\"Instructoin\"}", 404, "table_not_found");
    post("{\"type\":\"tableSchema\",\"tableName\":\"Instruction\"}", 200, NULL);
    post("{\"type\":\"listDbFiles\"}", 200, NULL);
    post(QUERY("quota", ""), 504, "timeout");
    ask("POST", SEARCH, JSON_TYPE, QUERY("crowd", ""), &heard);
    assert_int_equal(heard.status, 503);
    assert_non_null(strstr(heard.head, "Retry-After: 1\r\n"));
    free(heard.body);
    expect("POST", "/api/v1/db/other/_search", JSON_TYPE, QUERY("x", ""), 404, "profile_not_found");
    expect("POST", "/api/v1/db/other/_search", JSON_TYPE, "{\"type\":\"listDbFiles\"}", 404,
           "profile_not_found");
    expect("POST", "/api/v1/db/other/_search", JSON_TYPE,
           "{\"type\":\"tableSchema\",\"tableName\":\"Summary\"}", 404, "profile_not_found");
}

static void limits_of_a_query(void **state)
{
    (void)state;
    post(QUERY("x", ""), 200, NULL);
    assert_int_equal(seen.max_rows, 10000);
    assert_int_equal(seen.timeout_ms, 1234);
    post(QUERY("x", ",\"maxRows\":0,\"timeoutMs\":77"), 200, NULL);
    assert_int_equal(seen.max_rows, 0);
    assert_int_equal(seen.timeout_ms, 77);
    post(QUERY("x", ",\"maxRows\":10000000"), 200, NULL);
    post(QUERY("x", ",\"maxRows\":10000001"), 422, "bad_request");
    post(QUERY("x", ",\"maxRows\":-1"), 422, "bad_request");
    post(QUERY("x", ",\"maxRows\":1.0"), 422, "bad_request");
    post(QUERY("x", ",\"maxRows\":\"5\""), 422, "bad_request");
    post(QUERY("x", ",\"maxRows\":null"), 422, "bad_request");
    post(QUERY("x", ",\"maxRows\":99999999999999999999"), 400, "malformed_json");
    post(QUERY("x", ",\"timeoutMs\":3600001"), 422, "bad_request");
}

static char *padded(size_t size)
{
    char *body = nx_zalloc(size + 1, 1);
    static const char query[] = QUERY("x", "");

    memset(body, ' ', size);
    memcpy(body, query, sizeof(query) - 1);
    return body;
}

static void body_limit(void **state)
{
    static const char chunked[] =
        "POST " SEARCH " HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE "Transfer-Encoding: chunked\r\n\r\n";
    static const char announced[] =
        "POST " SEARCH " HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE "Content-Length: 1048577\r\n\r\n";
    char *body = padded(1 << 20), *large = padded((1 << 20) + 1), head[32];
    struct heard heard;
    int fd;

    (void)state;
    post(body, 200, NULL);
    fd = dial();
    say(fd, announced, sizeof(announced) - 1);
    hear(fd, &heard); /* refused before the body is sent */
    assert_int_equal(heard.status, 413);
    free(heard.body);
    close(fd);
    fd = dial(); /* a length that is not announced */
    say(fd, chunked, sizeof(chunked) - 1);
    say(fd, head, (size_t)snprintf(head, sizeof(head), "%x\r\n", (1 << 20) + 1));
    say(fd, large, (1 << 20) + 1);
    say(fd, "\r\n0\r\n\r\n", 7);
    hear(fd, &heard);
    assert_int_equal(heard.status, 413);
    free(heard.body);
    close(fd);
    free(body);
    free(large);
}

static void long_headers(void **state)
{
    char *head = nx_zalloc(70000, 1);
    struct heard heard;
    int fd = dial();

    (void)state;
    strcpy(head, "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Long: ");
    memset(head + strlen(head), 'a', 60000);
    strcat(head, "\r\n\r\n");
    say(fd, head, strlen(head));
    hear(fd, &heard);
    assert_true(heard.status == 431 || heard.status == 413 || heard.status == 414);
    free(heard.body);
    free(head);
    close(fd);
    expect("GET", "/api/v1/health", "", "", 200, NULL);
}

static void kept_connection(void **state)
{
    struct heard heard;
    int fd = dial();

    (void)state;
    for (int i = 0; i < 50; i++) {
        ask_on(fd, "POST", SEARCH, JSON_TYPE, i % 2 ? QUERY("x", "") : "{", &heard);
        assert_int_equal(heard.status, i % 2 ? 200 : 400);
        free(heard.body);
    }
    ask_on(fd, "POST", SEARCH, JSON_TYPE, QUERY("big", ""), &heard);
    assert_int_equal(heard.size, 1000000);
    free(heard.body);
    close(fd);
}

static void many_connections(void **state)
{
    static const char half[] =
        "POST " SEARCH " HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE "Content-Length: 99\r\n\r\n{";
    struct heard heard;
    int fds[200];

    (void)state;
    for (int i = 0; i < 200; i++) {
        fds[i] = dial();
        if (i % 2)
            say(fds[i], half, sizeof(half) - 1);
    }
    for (int i = 0; i < 200; i += 2) {
        ask_on(fds[i], "GET", "/api/v1/health", "", "", &heard);
        assert_int_equal(heard.status, 200);
        free(heard.body);
    }
    for (int i = 0; i < 200; i++)
        close(fds[i]);
    expect("GET", "/api/v1/health", "", "", 200, NULL);
}

/* Sends a query whose answer is 20 million bytes, more than the kernel holds for a socket, and reads its head only. */
static int ask_and_do_not_read(int *status)
{
    static const char huge[] = "POST " SEARCH " HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE
                               "Content-Length: 47\r\n\r\n" QUERY("huge", "");
    char head[13] = "";
    int fd = dial();

    assert_int_equal(strlen(QUERY("huge", "")), 47);
    say(fd, huge, sizeof(huge) - 1);
    assert_int_equal(recv(fd, head, 12, MSG_WAITALL), 12);
    *status = atoi(head + 9);
    return fd;
}

static void answers_that_nobody_takes(void **state)
{
    struct timespec pause = {.tv_nsec = 10000000};
    int fds[3], statuses[3], status = 503, fd;

    (void)state;
    for (int i = 0; i < 3; i++)
        fds[i] = ask_and_do_not_read(&statuses[i]);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 200);
    assert_int_equal(statuses[2], 503); /* 60 of 50 million bytes */
    expect("POST", SEARCH, JSON_TYPE, QUERY("x", ""), 200, NULL);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    for (int i = 0; i < 500 && status == 503; i++) { /* when the server has noticed */
        nanosleep(&pause, NULL);
        fd = ask_and_do_not_read(&status);
        close(fd);
    }
    assert_int_equal(status, 200);
}

static void slow_client(void **state)
{
    static const char request[] = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct timespec pause = {.tv_nsec = 5000000};
    struct heard heard;
    int fd = dial();

    (void)state;
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        say(fd, request + i, 1);
        nanosleep(&pause, NULL);
    }
    hear(fd, &heard);
    assert_int_equal(heard.status, 200);
    free(heard.body);
    close(fd);
}

static unsigned queries_so_far(void)
{
    unsigned n;

    pthread_mutex_lock(&seen.lock);
    n = seen.queries;
    pthread_mutex_unlock(&seen.lock);
    return n;
}

static unsigned cancelled_so_far(void)
{
    unsigned n;

    pthread_mutex_lock(&seen.lock);
    n = seen.cancelled;
    pthread_mutex_unlock(&seen.lock);
    return n;
}

/* Sends a query that waits for its client to go, and returns when the pool has it. */
static int ask_slowly(void)
{
    static const char slow[] = "POST " SEARCH " HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE
                               "Content-Length: 47\r\n\r\n" QUERY("slow", "");
    struct timespec pause = {.tv_nsec = 10000000};
    unsigned before = queries_so_far();
    int fd = dial();

    assert_int_equal(strlen(QUERY("slow", "")), 47);
    say(fd, slow, sizeof(slow) - 1);
    for (int i = 0; i < 500 && queries_so_far() == before; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(queries_so_far(), before + 1);
    return fd;
}

static void client_that_goes(void **state)
{
    struct timespec pause = {.tv_nsec = 10000000};
    unsigned before = cancelled_so_far();
    int fd = ask_slowly();

    (void)state;
    expect("GET", "/api/v1/health", "", "", 200, NULL); /* beside it */
    close(fd);
    for (int i = 0; i < 500 && cancelled_so_far() == before; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(cancelled_so_far(), before + 1);
}

static void stop_at_once(void **state)
{
    struct timespec begin, end;
    struct heard heard;
    int idle[20], slow;

    for (int i = 0; i < 20; i++) {
        idle[i] = dial();
        ask_on(idle[i], "GET", "/api/v1/health", "", "", &heard);
        free(heard.body);
    }
    slow = ask_slowly();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    stop(state);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - begin.tv_sec < 5);
    for (int i = 0; i < 20; i++)
        close(idle[i]);
    close(slow);
    assert_int_equal(start(state), 0); /* for the group's teardown */
}

static void port_in_use(void **state)
{
    struct nx_server_options options = {.api_port = nx_server_port(server), .store = &store, .version = "x"};
    struct nx_server *second;
    struct nx_error error;
    char port[32], self[32];

    (void)state;
    assert_int_equal(nx_server_start(&options, &second, &error), NX_UNAVAILABLE);
    assert_null(second);
    snprintf(port, sizeof(port), "port %u is in use", options.api_port);
    snprintf(self, sizeof(self), "process %ld (", (long)getpid());
    assert_non_null(strstr(error.text, port));
    assert_non_null(strstr(error.text, self));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts),
        cmocka_unit_test(origins_and_types),
        cmocka_unit_test_setup_teardown(refused_at_the_door, start, stop),
        cmocka_unit_test_setup_teardown(pages_of_this_machine, start, stop),
        cmocka_unit_test_setup_teardown(routes, start, stop),
        cmocka_unit_test_setup_teardown(quoted_types_are_cut_between_characters, start, stop),
        cmocka_unit_test_setup_teardown(requests, start, stop),
        cmocka_unit_test_setup_teardown(limits_of_a_query, start, stop),
        cmocka_unit_test_setup_teardown(body_limit, start, stop),
        cmocka_unit_test_setup_teardown(long_headers, start, stop),
        cmocka_unit_test_setup_teardown(kept_connection, start, stop),
        cmocka_unit_test_setup_teardown(many_connections, start, stop),
        cmocka_unit_test_setup_teardown(answers_that_nobody_takes, start, stop),
        cmocka_unit_test_setup_teardown(slow_client, start, stop),
        cmocka_unit_test_setup_teardown(client_that_goes, start, stop),
        cmocka_unit_test_setup_teardown(stop_at_once, start, stop),
        cmocka_unit_test_setup_teardown(port_in_use, start, stop),
    };

    return cmocka_run_group_tests(tests, make_store, remove_store);
}
