#define _GNU_SOURCE /* pthread_sigmask, sched_getaffinity */
#include "base/team.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

struct team {
    pthread_mutex_t lock; /* of all from `job` on */
    pthread_cond_t begun, done;
    int asked;   /* threads beside the owner's: wanted, */
    int made;    /* and there */
    bool idle;   /* team_give_up */
    pid_t maker; /* the process that has them; 0: nobody has tried yet */
    pthread_t thread[TEAM_MOST];
    void (*job)(void *data, int part);
    void *data;
    int parts, next, finished;
    bool over;
};

/* Processors that this process may use, 8 at most: more share one memory, and were not measured. */
static int processors(void)
{
    enum { MOST = 8 };
    int count = 1;
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
#else
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count < MOST ? count : MOST;
}

bool team_new(team **p, int threads)
{
    *p = NULL;
    if (threads == 0) threads = processors();
    if (threads <= 1) return true;
    *p = DAE_NEW(team);
    if (!*p) return false;
    (*p)->asked = (threads < TEAM_MOST ? threads : TEAM_MOST) - 1;
    pthread_mutex_init(&(*p)->lock, NULL);
    pthread_cond_init(&(*p)->begun, NULL);
    pthread_cond_init(&(*p)->done, NULL);
    return true;
}

/* Do parts as long as there are any. The lock is held, but not while a part is done. */
static void take_parts(team *p)
{
    while (p->next < p->parts) {
        const int part = p->next++;
        pthread_mutex_unlock(&p->lock);
        p->job(p->data, part);
        pthread_mutex_lock(&p->lock);
        if (++p->finished == p->parts) pthread_cond_signal(&p->done);
    }
}

static void *work(void *argument)
{
    team *p = argument;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        take_parts(p);
        if (!p->over) pthread_cond_wait(&p->begun, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Make the threads, with all signals blocked: they are the program's, not ours. */
static void make_threads(team *p)
{
    sigset_t all, before;
    p->maker = getpid();
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
    while (p->made < p->asked && pthread_create(&p->thread[p->made], NULL, work, p) == 0) p->made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether the threads are here: in a copy of the process they are not, and its lock may be held by
 * one that is not. */
static bool is_manned(const team *p)
{
    return p->made > 0 && p->maker == getpid();
}

void team_free(team *p)
{
    if (!p) return;
    if (is_manned(p)) {
        pthread_mutex_lock(&p->lock);
        p->over = true;
        pthread_cond_broadcast(&p->begun);
        pthread_mutex_unlock(&p->lock);
        for (int k = 0; k < p->made; k++) pthread_join(p->thread[k], NULL);
    }
    if (p->maker == 0 || p->maker == getpid()) {
        pthread_cond_destroy(&p->begun);
        pthread_cond_destroy(&p->done);
        pthread_mutex_destroy(&p->lock);
    }
    dae_free(p);
}

int team_threads(const team *p)
{
    if (!p) return 1;
    return 1 + (p->maker == 0 ? p->asked : is_manned(p) ? p->made : 0);
}

bool team_lacks(const team *p)
{
    return p && (p->idle || (p->maker != 0 && p->made < p->asked));
}

void team_give_up(team *p)
{
    if (p) p->idle = true;
}

void team_begin(team *p, int parts, void (*job)(void *data, int part), void *data)
{
    if (p->maker == 0) make_threads(p);
    p->job = job;
    p->data = data;
    if (!is_manned(p)) {
        p->parts = parts;
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->parts = parts;
    p->next = p->finished = 0;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
}

void team_end(team *p)
{
    if (!is_manned(p)) {
        for (int k = 0; k < p->parts; k++) p->job(p->data, k);
        p->parts = 0;
        return;
    }
    pthread_mutex_lock(&p->lock);
    take_parts(p);
    while (p->finished < p->parts) pthread_cond_wait(&p->done, &p->lock);
    p->parts = p->next = p->finished = 0;
    pthread_mutex_unlock(&p->lock);
}

void team_run(team *p, int parts, void (*job)(void *data, int part), void *data)
{
    if (!p || parts < 2) {
        for (int k = 0; k < parts; k++) job(data, k);
        return;
    }
    team_begin(p, parts, job, data);
    team_end(p);
}
