/*
 * Which connection makes room for a new one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/connections.h"

#define LIMIT 4

static struct nx_connections connections;
static int ours[16], theirs[16];
static struct nx_connection *entries[16];

static void come(int i)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ours[i] = pair[0];
    theirs[i] = pair[1];
    entries[i] = nx_connections_add(&connections, ours[i]);
}

static void go(int i)
{
    nx_connections_remove(&connections, entries[i]);
    close(ours[i]);
    close(theirs[i]);
}

static bool was_let_go(int i)
{
    struct pollfd fd = {.fd = theirs[i], .events = POLLRDHUP};

    return poll(&fd, 1, 0) > 0;
}

/* Of the first `count`, those whose bit is set in `expected`, and no others. */
static void expect_gone(int count, unsigned expected)
{
    unsigned found = 0;

    for (int i = 0; i < count; i++)
        found |= (unsigned)was_let_go(i) << i;
    assert_int_equal(found, expected);
}

static void the_longest_waiting_makes_room(void **state)
{
    (void)state;
    nx_connections_init(&connections, LIMIT);
    for (int i = 0; i < LIMIT; i++)
        come(i);
    expect_gone(4, 0);
    nx_connections_set_phase(&connections, entries[0], NX_PHASE_WORKING);
    nx_connections_set_phase(&connections, entries[1], NX_PHASE_WORKING);
    nx_connections_set_phase(&connections, entries[1], NX_PHASE_SENDING);
    nx_connections_set_phase(&connections, entries[1], NX_PHASE_RECEIVING); /* waits anew: it is the youngest */
    come(4);
    expect_gone(5, 1 << 2);
    come(5); /* one that is on its way out is not chosen again */
    expect_gone(6, 1 << 2 | 1 << 3);
    go(2); /* its thread has ended: this frees no place, it was free already */
    go(3);
    assert_int_equal(connections.count, LIMIT);
    come(2);
    expect_gone(3, 1 << 1);
    go(5);
    come(3); /* a place that is free needs nobody to go */
    expect_gone(5, 1 << 1);
    for (int i = 0; i < 5; i++)
        go(i);
    assert_int_equal(connections.count, 0);
    assert_null(connections.oldest);
    assert_null(connections.newest);
    nx_connections_destroy(&connections);
}

static void answers_are_sent_and_work_is_done(void **state)
{
    (void)state;
    nx_connections_init(&connections, LIMIT);
    for (int i = 0; i < LIMIT; i++)
        come(i);
    nx_connections_set_phase(&connections, entries[0], NX_PHASE_SENDING);
    nx_connections_set_phase(&connections, entries[1], NX_PHASE_SENDING);
    nx_connections_set_phase(&connections, entries[2], NX_PHASE_WORKING);
    come(4);
    expect_gone(5, 1 << 3); /* the only one that waits for a request */
    nx_connections_set_phase(&connections, entries[4], NX_PHASE_WORKING);
    come(5);
    expect_gone(6, 1 << 3 | 1 << 0);
    nx_connections_set_phase(&connections, entries[5], NX_PHASE_WORKING);
    nx_connections_set_phase(&connections, entries[1], NX_PHASE_WORKING);
    come(6); /* all are at work: nobody can go */
    expect_gone(7, 1 << 3 | 1 << 0);
    assert_int_equal(connections.count, LIMIT + 1);
    for (int i = 0; i < 7; i++)
        go(i);
    assert_int_equal(connections.count, 0);
    nx_connections_destroy(&connections);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_waiting_makes_room),
        cmocka_unit_test(answers_are_sent_and_work_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
