/* One thread that does one job at a time beside its owner. */
#ifndef DAE_BASE_WORKER_H
#define DAE_BASE_WORKER_H

typedef struct worker worker;

worker *worker_new(void);    /* NULL: memory, or no thread to be had */
void worker_free(worker *w); /* no job may be under way; NULL is fine */

/* Begin job(data) in the thread; worker_wait returns when it is done. What the owner wrote before
 * is seen by the job, and what the job wrote by the owner afterwards. */
void worker_start(worker *w, void (*job)(void *), void *data);
void worker_wait(worker *w);

#endif
