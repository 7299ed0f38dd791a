#include "query/places.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define LOOK_MS 100 /* how often one who waits looks whether its client is still there */

/* On the stack of the thread that waits. */
struct nx_waiter {
    struct nx_waiter *next;
    pthread_cond_t turn;
    bool called; /* has a place: it was handed over, so that nobody overtakes */
};

void nx_places_init(struct nx_places *places, unsigned max_running, unsigned max_waiting, unsigned patience_ms)
{
    *places = (struct nx_places){.max_running = max_running, .max_waiting = max_waiting, .patience_ms = patience_ms};
    pthread_mutex_init(&places->lock, NULL);
    places->end = &places->first;
}

void nx_places_destroy(struct nx_places *places)
{
    pthread_mutex_destroy(&places->lock);
}

static bool has_hung_up(int fd)
{
    struct pollfd client = {.fd = fd, .events = POLLRDHUP}; /* poll() passes over a negative one */

    return poll(&client, 1, 0) > 0;
}

static struct timespec after(struct timespec time, unsigned ms)
{
    time.tv_sec += ms / 1000;
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static struct timespec now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static void join(struct nx_places *places, struct nx_waiter *self)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&self->turn, &attr);
    pthread_condattr_destroy(&attr);
    *places->end = self;
    places->end = &self->next;
    places->waiting++;
}

/* Out of the queue, wherever it stands in it. */
static void quit(struct nx_places *places, struct nx_waiter *self)
{
    struct nx_waiter **link = &places->first;

    while (*link != self)
        link = &(*link)->next;
    *link = self->next;
    if (places->end == &self->next)
        places->end = link;
    places->waiting--;
}

static enum nx_place wait_in_line(struct nx_places *places, int cancel_fd)
{
    struct timespec end = after(now(), places->patience_ms);
    struct nx_waiter self = {0};
    enum nx_place result = NX_PLACE_TAKEN;

    join(places, &self);
    while (!self.called && result == NX_PLACE_TAKEN) {
        struct timespec time = now(), look = after(time, LOOK_MS);

        if (has_hung_up(cancel_fd))
            result = NX_PLACE_HUNG_UP;
        else if (!is_before(&time, &end))
            result = NX_PLACE_TOO_LATE;
        else
            pthread_cond_timedwait(&self.turn, &places->lock, is_before(&look, &end) ? &look : &end);
    }
    if (!self.called)
        quit(places, &self);
    pthread_cond_destroy(&self.turn);
    return result;
}

enum nx_place nx_places_enter(struct nx_places *places, int cancel_fd)
{
    enum nx_place result = NX_PLACE_TAKEN;

    pthread_mutex_lock(&places->lock);
    if (places->running < places->max_running)
        places->running++;
    else if (places->waiting >= places->max_waiting)
        result = NX_PLACE_QUEUE_FULL;
    else
        result = wait_in_line(places, cancel_fd);
    pthread_mutex_unlock(&places->lock);
    return result;
}

void nx_places_leave(struct nx_places *places)
{
    struct nx_waiter *first;

    pthread_mutex_lock(&places->lock);
    first = places->first;
    if (first) {
        quit(places, first);
        first->called = true;
        pthread_cond_signal(&first->turn);
    } else {
        places->running--;
    }
    pthread_mutex_unlock(&places->lock);
}
