/*
 * places.h - who may run a query now, and who waits for it.  Private to this
 * folder.
 *
 * A few places, taken in the order of asking; a queue that ends.  Who waits
 * costs a thread and a connection, so nobody waits long, not more than a few
 * do, and a client that has gone is not waited for.
 */
#ifndef NX_QUERY_PLACES_H
#define NX_QUERY_PLACES_H

#include <pthread.h>

struct nx_waiter;
struct nx_places {
    pthread_mutex_t lock; /* of what follows the limits */
    unsigned max_running, max_waiting, patience_ms;
    unsigned running, waiting;
    struct nx_waiter *first, **end;
};

enum nx_place {
    NX_PLACE_TAKEN, /* nx_places_leave() gives it back */
    NX_PLACE_QUEUE_FULL,
    NX_PLACE_TOO_LATE, /* none came free within patience_ms */
    NX_PLACE_HUNG_UP,  /* the client has gone */
};

void nx_places_init(struct nx_places *places, unsigned max_running, unsigned max_waiting, unsigned patience_ms);
void nx_places_destroy(struct nx_places *places); /* nobody is in it */
/* cancel_fd: -1, or a socket whose peer is waited for no longer when it hangs up. */
enum nx_place nx_places_enter(struct nx_places *places, int cancel_fd);
void nx_places_leave(struct nx_places *places);

#endif
