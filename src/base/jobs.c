#include "base/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct list {
    void (*job)(void *context, size_t number);
    void *context;
    size_t count;
    atomic_size_t next;
};

unsigned nx_jobs_threads(void)
{
    cpu_set_t cpus;
    int count;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 1;
    count = CPU_COUNT(&cpus);
    return count < NX_JOBS_MAX_THREADS ? (unsigned)count : NX_JOBS_MAX_THREADS;
}

static void *work(void *opaque)
{
    struct list *list = opaque;

    for (size_t number; (number = atomic_fetch_add(&list->next, 1)) < list->count;)
        list->job(list->context, number);
    return NULL;
}

void nx_jobs_run(void (*job)(void *context, size_t number), void *context, size_t count, unsigned threads)
{
    struct list list = {.job = job, .context = context, .count = count};
    pthread_t others[NX_JOBS_MAX_THREADS];
    unsigned started = 0;

    /* a thread that cannot be had is done without */
    while (started + 1 < threads && started + 1 < count && started < NX_JOBS_MAX_THREADS &&
           pthread_create(&others[started], NULL, work, &list) == 0)
        started++;
    work(&list);
    while (started > 0)
        pthread_join(others[--started], NULL);
}
