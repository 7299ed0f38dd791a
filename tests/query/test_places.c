/*
 * Who may run, who waits, and in which order: the queue before the workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "query/places.h"

static struct nx_places places;

struct asker {
    pthread_t thread;
    int cancel_fd;
    enum nx_place result;
};

static void *enter(void *opaque)
{
    struct asker *asker = opaque;

    asker->result = nx_places_enter(&places, asker->cancel_fd);
    return NULL;
}

static unsigned waiting(void)
{
    unsigned n;

    pthread_mutex_lock(&places.lock);
    n = places.waiting;
    pthread_mutex_unlock(&places.lock);
    return n;
}

static void until_waiting(unsigned count)
{
    for (int i = 0; i < 5000 && waiting() != count; i++)
        usleep(1000);
    assert_int_equal(waiting(), count);
}

static void ask(struct asker *asker, int cancel_fd, unsigned then_waiting)
{
    *asker = (struct asker){.cancel_fd = cancel_fd};
    assert_int_equal(pthread_create(&asker->thread, NULL, enter, asker), 0);
    until_waiting(then_waiting);
}

static enum nx_place result_of(struct asker *asker)
{
    pthread_join(asker->thread, NULL);
    return asker->result;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void the_queue_ends(void **state)
{
    struct asker one, two;

    (void)state;
    nx_places_init(&places, 1, 2, 10000);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_TAKEN);
    ask(&one, -1, 1);
    ask(&two, -1, 2);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_QUEUE_FULL);
    nx_places_leave(&places);
    assert_int_equal(result_of(&one), NX_PLACE_TAKEN); /* the first, not the second */
    assert_int_equal(waiting(), 1);
    nx_places_leave(&places);
    assert_int_equal(result_of(&two), NX_PLACE_TAKEN);
    nx_places_leave(&places);
    assert_int_equal(places.running, 0);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_TAKEN);
    nx_places_destroy(&places);
}

static void nobody_waits_for_ever(void **state)
{
    double start = seconds();

    (void)state;
    nx_places_init(&places, 1, 2, 250);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_TAKEN);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_TOO_LATE);
    assert_true(seconds() - start >= 0.25);
    assert_int_equal(waiting(), 0);
    nx_places_destroy(&places);
}

/* One that goes from the end, the middle, the front: the others keep their order. */
static void who_hangs_up_leaves_the_queue(void **state)
{
    struct asker askers[4];
    int pairs[4][2];
    double start;

    (void)state;
    nx_places_init(&places, 1, 4, 10000);
    assert_int_equal(nx_places_enter(&places, -1), NX_PLACE_TAKEN);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
        ask(&askers[i], pairs[i][0], i + 1);
    }
    start = seconds();
    close(pairs[3][1]);
    assert_int_equal(result_of(&askers[3]), NX_PLACE_HUNG_UP);
    close(pairs[1][1]);
    assert_int_equal(result_of(&askers[1]), NX_PLACE_HUNG_UP);
    assert_true(seconds() - start < 1);
    assert_int_equal(waiting(), 2);
    ask(&askers[1], -1, 3);
    close(pairs[0][1]);
    assert_int_equal(result_of(&askers[0]), NX_PLACE_HUNG_UP);
    nx_places_leave(&places);
    assert_int_equal(result_of(&askers[2]), NX_PLACE_TAKEN);
    nx_places_leave(&places);
    assert_int_equal(result_of(&askers[1]), NX_PLACE_TAKEN);
    nx_places_leave(&places);
    assert_int_equal(places.running, 0);
    for (unsigned i = 0; i < 4; i++)
        close(pairs[i][0]);
    close(pairs[2][1]);
    nx_places_destroy(&places);
}

#define MANY 16
static unsigned inside, most;

static void *come_and_go(void *opaque)
{
    unsigned *served = opaque;

    for (int i = 0; i < 200; i++) {
        if (nx_places_enter(&places, -1) != NX_PLACE_TAKEN)
            continue;
        pthread_mutex_lock(&places.lock);
        most = ++inside > most ? inside : most;
        pthread_mutex_unlock(&places.lock);
        ++*served;
        pthread_mutex_lock(&places.lock);
        inside--;
        pthread_mutex_unlock(&places.lock);
        nx_places_leave(&places);
    }
    return NULL;
}

static void never_more_than_there_are_places(void **state)
{
    pthread_t threads[MANY];
    unsigned served[MANY] = {0};

    (void)state;
    nx_places_init(&places, 3, MANY, 10000);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &served[i]), 0);
    for (int i = 0; i < MANY; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(served[i], 200);
    }
    assert_true(most <= 3);
    assert_int_equal(places.running, 0);
    nx_places_destroy(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_ends),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(who_hangs_up_leaves_the_queue),
        cmocka_unit_test(never_more_than_there_are_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
