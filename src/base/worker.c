#define _GNU_SOURCE /* pthread_sigmask */
#include "base/worker.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *); /* NULL: none under way */
    void *data;
    bool over;
};

/* Wait for jobs and do them. */
static void *work(void *argument)
{
    worker *w = argument;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        if (!w->job) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->job(w->data);
        pthread_mutex_lock(&w->lock);
        w->job = NULL;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Start the thread with all signals blocked: they are the program's, not ours. */
static bool begin(worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    bool begun = pthread_create(&w->thread, NULL, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

worker *worker_new(void)
{
    worker *w = DAE_NEW(worker);
    if (!w) return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (begin(w)) return w;
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    dae_free(w);
    return NULL;
}

void worker_free(worker *w)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    dae_free(w);
}

void worker_start(worker *w, void (*job)(void *), void *data)
{
    pthread_mutex_lock(&w->lock);
    w->job = job;
    w->data = data;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void worker_wait(worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->job) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}
