/* A compiler at work in a process of its own. */
#define _POSIX_C_SOURCE 200809L
#include "base/interrupt.h"
#include "base/memory.h"
#include "expr/native_parts.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Modules may take this many bytes on disk together. */
static const double CACHE_MOST = 512e6;
/* A file is at least so long before another one begins: with files of 0.25 MB gcc takes 80 MB for
 * 10^4 equations of a ladder, where one of 4.6 MB takes 300; starting the compiler proper takes 20
 * ms for each. */
enum { FILE_LEAST = 250000, FILES_MOST = 1000 };

typedef enum job_state { RUNS, ENDED, COMPLAINED, TOO_LATE, INTERRUPTED } job_state;

struct native_job {
    native_place place;
    char workshop[NATIVE_PATH]; /* directory in the cache, for this job alone */
    long process, owner;        /* the compiler; the process that started it */
    double started, ended, limit;
    native_key *keys; /* owned */
    size_t count;     /* of the keys */
    double weight;    /* of the source, in bytes of usual text */
    job_state state;
};

/* ---- files ------------------------------------------------------------------------------------
 */

/* The end of the file that begins at `from`: a form feed far enough behind it, or the end. */
static const char *file_end(const char *from, const char *end, size_t least)
{
    while ((size_t)(end - from) > least) {
        const char *next = memchr(from + least, '\f', (size_t)(end - from) - least);
        return next ? next : end;
    }
    return end;
}

/* source0.c, source1.c, ..: what stands before the first form feed, then a piece each; returns how
 * many there are, 0: they could not be written. */
static int write_files(const native_job *j, const char *source, size_t length)
{
    const char *end = source + length, *head_end = memchr(source, '\f', length);
    size_t head = head_end ? (size_t)(head_end - source) : 0;
    size_t least = length / FILES_MOST > FILE_LEAST ? length / FILES_MOST : FILE_LEAST;
    char name[32], path[NATIVE_PATH];
    int files = 0;
    for (const char *from = source + head; from < end || files == 0; files++) {
        const char *to = file_end(from, end, least);
        snprintf(name, sizeof name, "source%d.c", files);
        if (!cache_join(path, j->workshop, name) ||
            !cache_write(path, source, head, from, (size_t)(to - from)))
            return 0;
        from = to;
    }
    return files;
}

/* ---- begin and end ----------------------------------------------------------------------------
 */

static native_status begin(native_job *j, const char *source, size_t length,
                           char reason[NATIVE_REASON])
{
    native_status status = native_place_open(&j->place, reason);
    if (status != NATIVE_OK) return status;
    if (!cache_join(j->workshop, j->place.directory, "build-XXXXXX") || !mkdtemp(j->workshop)) {
        snprintf(reason, NATIVE_REASON, "cache directory %.120s: %.60s", j->place.directory,
                 strerror(errno));
        j->workshop[0] = '\0';
        return NATIVE_FAILED;
    }
    int files = write_files(j, source, length);
    if (files == 0) {
        snprintf(reason, NATIVE_REASON, "cannot write %.120s", j->workshop);
        return NATIVE_FAILED;
    }
    if (!compiler_start(&j->place.command, j->workshop, files, length, &j->process, reason))
        return NATIVE_FAILED;
    j->state = RUNS;
    return NATIVE_OK;
}

native_status native_job_new(const char *source, size_t length, const native_key *keys,
                             size_t count, double seconds, native_job **job, char *reason)
{
    char unread[NATIVE_REASON];
    if (!reason) reason = unread;
    reason[0] = '\0';
    *job = NULL;
    native_job *j = DAE_NEW(native_job);
    if (j) j->keys = dae_copy(keys, count, sizeof *keys);
    if (!j || !j->keys) {
        dae_free(j);
        return NATIVE_MEMORY;
    }
    j->count = count;
    j->weight = (double)length;
    j->owner = (long)getpid();
    j->started = native_clock();
    j->limit = seconds;
    j->state = COMPLAINED;
    native_status status = begin(j, source, length, reason);
    if (status == NATIVE_OK)
        *job = j;
    else
        native_job_free(j);
    return status;
}

/* A child of this process by fork has a copy of the job, which is not its own to end. */
bool native_job_is_ours(const native_job *j)
{
    return j->owner == (long)getpid();
}

static void end(native_job *j, job_state state)
{
    if (j->state == RUNS && state != ENDED && state != COMPLAINED) compiler_stop(j->process);
    j->state = state;
    j->ended = native_clock();
}

bool native_job_done(native_job *j)
{
    if (j->state != RUNS) return true;
    if (!native_job_is_ours(j)) {
        j->state = COMPLAINED;
        return true;
    }
    compiler_state state = compiler_look(j->process);
    if (state == COMPILER_ENDED)
        end(j, ENDED);
    else if (state == COMPILER_COMPLAINED)
        end(j, COMPLAINED);
    else if (native_job_age(j) > j->limit)
        end(j, TOO_LATE);
    return j->state != RUNS;
}

/* Asking ever more rarely. */
void native_job_wait(native_job *j)
{
    long pause = 500000;
    while (!native_job_done(j)) {
        if (interrupted_now()) {
            end(j, INTERRUPTED);
            return;
        }
        nanosleep(&(struct timespec){0, pause}, NULL);
        if (pause < 20000000) pause += pause / 4;
    }
}

void native_job_weigh(native_job *j, double bytes)
{
    j->weight = bytes;
}

void native_job_yield(native_job *j)
{
    if (j->state == RUNS && native_job_is_ours(j)) compiler_yield(j->process);
}

double native_job_age(const native_job *j)
{
    return (j->state == RUNS ? native_clock() : j->ended) - j->started;
}

void native_job_free(native_job *j)
{
    if (!j) return;
    if (j->state == RUNS && native_job_is_ours(j)) compiler_stop(j->process);
    if (j->workshop[0] && native_job_is_ours(j)) cache_remove(j->workshop);
    dae_free_all(j->keys, j);
}

/* ---- how long it takes ------------------------------------------------------------------------
 */

static struct {
    pthread_mutex_t lock;
    double ratio; /* of the seconds that compilers took to those below; 0: none has been seen */
} pace = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* gcc 12, AMD EPYC: 0.08 s to start, and 1 s for 0.15 MB of -O2, 0.25 MB of -O1, 0.5 MB of -Og. */
static double usual_seconds(double bytes)
{
    return 0.08 + bytes * (bytes > 5e5 ? 2e-6 : bytes > 1e5 ? 4e-6 : 7e-6);
}

/* Learn from a job that is over. */
static void note_pace(const native_job *j)
{
    double ratio = native_job_age(j) / usual_seconds(j->weight);
    ratio = ratio < 0.1 ? 0.1 : ratio > 10.0 ? 10.0 : ratio;
    pthread_mutex_lock(&pace.lock);
    pace.ratio = pace.ratio > 0.0 ? sqrt(pace.ratio * ratio) : ratio;
    pthread_mutex_unlock(&pace.lock);
}

double native_seconds(double bytes)
{
    pthread_mutex_lock(&pace.lock);
    double ratio = pace.ratio;
    pthread_mutex_unlock(&pace.lock);
    return usual_seconds(bytes) * (ratio > 0.0 ? ratio : 1.0);
}

/* ---- what came of it --------------------------------------------------------------------------
 */

static void explain(const native_job *j, char reason[NATIVE_REASON])
{
    if (j->state == INTERRUPTED)
        snprintf(reason, NATIVE_REASON, "%.150s was interrupted", j->place.command.path);
    else if (j->state == TOO_LATE)
        snprintf(reason, NATIVE_REASON, "%.150s was stopped after %g s", j->place.command.path,
                 j->limit);
    else
        compiler_explain(&j->place.command, j->workshop, reason);
}

/* The module under the names of all its programs: whoever builds one of them meanwhile puts an
 * equal one there. */
static bool publish(const native_job *j, const char *path)
{
    char name[NATIVE_FILE];
    bool ok = cache_seal(path);
    for (size_t k = 0; ok && k < j->count; k++) {
        native_file_name(&j->place, &j->keys[k], name);
        ok = cache_publish(path, j->place.directory, name);
    }
    if (ok) cache_trim(j->place.directory, CACHE_MOST);
    return ok;
}

/* What cannot be loaded is not for others. */
static native_status take(const native_job *j, bool stays, native_module **module, char *reason)
{
    char path[NATIVE_PATH];
    *module = NULL;
    bool made =
        j->state == ENDED && cache_join(path, j->workshop, "module.so") && access(path, R_OK) == 0;
    if (!made)
        explain(j, reason);
    else
        *module = native_open(path, stays, reason);
    if (!*module) return NATIVE_FAILED;
    note_pace(j);
    if (publish(j, path)) return NATIVE_OK;
    snprintf(reason, NATIVE_REASON, "cannot write to %.200s", j->place.directory);
    native_free(*module);
    *module = NULL;
    return NATIVE_FAILED;
}

native_status native_job_take(native_job *j, native_module **module, char *reason)
{
    char unread[NATIVE_REASON];
    return take(j, true, module, reason ? reason : unread);
}

/* ---- all at once ------------------------------------------------------------------------------
 */

double native_patience(size_t length)
{
    return 60.0 + (double)length / 2e4;
}

native_status native_load_within(const char *source, size_t length, double seconds,
                                 native_module **module, char *reason)
{
    char unread[NATIVE_REASON];
    native_place place;
    native_key key;
    hash h;
    native_job *job = NULL;
    if (!reason) reason = unread;
    reason[0] = '\0';
    *module = NULL;
    native_status status = native_place_open(&place, reason);
    if (status != NATIVE_OK) return status;
    hash_start(&h);
    hash_add(&h, source, length);
    hash_finish(&h, key.byte);
    bool no_memory;
    *module = native_from_cache(&place, &key, false, &no_memory);
    if (*module || no_memory) return *module ? NATIVE_OK : NATIVE_MEMORY;
    status = native_job_new(source, length, &key, 1, seconds, &job, reason);
    if (status != NATIVE_OK) return status;
    native_job_wait(job);
    status = take(job, false, module, reason);
    native_job_free(job);
    return status;
}

native_status native_load(const char *source, size_t length, native_module **module, char *reason)
{
    return native_load_within(source, length, native_patience(length), module, reason);
}
