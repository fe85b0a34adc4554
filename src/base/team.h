/* A few threads that share the parts of one job at a time with their owner.
 *
 * Threads are made when the first job is begun, and joined when the team is freed. Parts are handed
 * out as threads ask for them, so which thread does which part is open: parts write to places of
 * their own, and results are the same for every number of threads. A part allocates nothing: the
 * scope of an interrupt belongs to the owner's thread. In a copy of the process (fork) the threads
 * are not there; the owner does all by itself then, as it does where no thread can be had. */
#ifndef DAE_BASE_TEAM_H
#define DAE_BASE_TEAM_H

#include <stdbool.h>

typedef struct team team;

enum { TEAM_MOST = 64 }; /* threads, the owner's included */

/* For `threads` of them, the owner's included; 0: as many as this process has processors, 8 at
 * most. *p = NULL where that is 1. False: memory */
bool team_new(team **p, int threads);
void team_free(team *p); /* no job may be under way; NULL is fine */

int team_threads(const team *p); /* the owner's included; 1 for NULL */
bool team_lacks(const team *p);  /* some thread could not be made, or this was told: */
void team_give_up(team *p);      /* work could not be shared out, for memory. NULL is fine */

/* Do job(data, 0), .. job(data, parts-1), each once, and return when all are done. What the owner
 * wrote before is seen by all of them, and what they wrote by the owner afterwards. NULL: here. */
void team_run(team *p, int parts, void (*job)(void *data, int part), void *data);
/* The same in two pieces: the owner does something else between them, and takes its share of what
 * is left in the second. */
void team_begin(team *p, int parts, void (*job)(void *data, int part), void *data);
void team_end(team *p);

#endif
