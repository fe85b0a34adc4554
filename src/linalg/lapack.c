#include "linalg/lapack.h"

#include <pthread.h>

/* The library's only mutable global: what it guards is global, too, and not ours. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void lapack_enter(void)
{
    pthread_mutex_lock(&one_at_a_time);
}

void lapack_leave(void)
{
    pthread_mutex_unlock(&one_at_a_time);
}
