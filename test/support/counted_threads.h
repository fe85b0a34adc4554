/* Threads that are counted, and can be refused. Define _GNU_SOURCE before all includes. */
#ifndef TEST_SUPPORT_COUNTED_THREADS_H
#define TEST_SUPPORT_COUNTED_THREADS_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static bool threads_refused;
static int threads_made;

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *data)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_refused) return EAGAIN;
    threads_made++;
    return create(thread, how, work, data);
}

#endif
