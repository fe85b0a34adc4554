/* Native code: emitted C, compiled by the machine's compiler, cached and loaded.
 *
 * A program is found by its key, which says what its tape computes: in the modules that this
 * process has loaded, else in the cache. What is nowhere is compiled, many programs as one module,
 * by a process beside the run (native_job) or while the caller waits (native_load). */
#ifndef DAE_EXPR_NATIVE_H
#define DAE_EXPR_NATIVE_H

#include "expr/code.h"

typedef struct native_module native_module;

typedef enum native_status {
    NATIVE_OK = 0,
    NATIVE_NO_COMPILER, /* no cc, gcc or clang in PATH (nor in $DAEDAL_CC or $CC) */
    NATIVE_FAILED,      /* compiler, cache directory or loader failed: reason tells */
    NATIVE_MEMORY
} native_status;

enum { NATIVE_REASON = 256 }; /* bytes of a sentence that says why */

/* ---- programs by what they compute ------------------------------------------------------------
 */

enum { NATIVE_KEY = 32, NATIVE_NAME = 51 };

/* SHA-256 of a tape: equal keys, equal outputs for all inputs. */
typedef struct native_key {
    unsigned char byte[NATIVE_KEY];
} native_key;

void native_key_of(const tape *t, native_key *key);
/* The same of a function that lists of numbers decide, for code of this kind. */
typedef struct native_numbers {
    const int *list;
    size_t count;
} native_numbers;
void native_key_of_numbers(const char *kind, const native_numbers *numbers, size_t count,
                           native_key *key);
/* The name of its function in emitted C. */
void native_key_name(const native_key *key, char name[NATIVE_NAME]);

/* Modules that stay loaded in this process after their last owner has gone. */
enum { NATIVE_KEPT = 16 };

/* The functions of those programs that this process has loaded or, with `on_disk`, the cache holds;
 * the others stay NULL. Each function found comes with a module, to be freed by the caller. Returns
 * how many were found; nothing is compiled. */
size_t native_lookup(const native_key *keys, size_t count, bool on_disk, native_function *functions,
                     native_module **modules);

/* ---- compiling --------------------------------------------------------------------------------
 */

typedef struct native_job native_job;

/* Start compiling `source`, which has a function for each key; nothing waits. '\f' in it, at the
 * beginning of a line, may begin another file: all get what stands before the first. After
 * `seconds` the compiler is stopped. reason: NATIVE_REASON bytes, or NULL. */
native_status native_job_new(const char *source, size_t length, const native_key *keys,
                             size_t count, double seconds, native_job **job, char *reason);
/* Whether it is over, one way or the other. Cheap, but a call of the system: not for every step. */
bool native_job_done(native_job *job);
/* Whether this process began it: a copy of one by fork has a copy of the job, too. */
bool native_job_is_ours(const native_job *job);
/* Wait for that, or for an interruption of the caller, which ends it. */
void native_job_wait(native_job *job);
/* Once it is done: the module, which is in the cache now. */
native_status native_job_take(native_job *job, native_module **module, char *reason);
/* For the forecast of others: its source takes as long as so many bytes of usual text. */
void native_job_weigh(native_job *job, double bytes);
/* Let the run go first where both want one processor. */
void native_job_yield(native_job *job);
double native_job_age(const native_job *job); /* seconds since it was started */
void native_job_free(native_job *job);        /* ends it if it runs; NULL is fine */

/* Compile `source` (or take it from the cache by content hash), load it, and wait for that. The
 * cache is $DAEDAL_CACHE_DIR, else $XDG_CACHE_HOME/daedal, else $HOME/.cache/daedal, created with
 * mode 0700; files of other owners or with looser modes are not trusted. The compiler is started
 * without a shell, -O2 (-O1 or -Og for long sources) -ffp-contract=off -fPIC -shared, with a time
 * limit. reason: NATIVE_REASON bytes for a sentence, or NULL. */
native_status native_load(const char *source, size_t length, native_module **module, char *reason);
/* The same with the time limit in seconds. */
native_status native_load_within(const char *source, size_t length, double seconds,
                                 native_module **module, char *reason);
/* Seconds that are some ten times what compilers need for so many bytes. */
double native_patience(size_t length);

/* Seconds that a compiler would take for so many bytes, by what others took in this process. */
double native_seconds(double bytes);

double native_clock(void); /* seconds, monotonic */

/* The same module for one more owner; NULL is fine. */
native_module *native_share(native_module *module);
void native_free(native_module *module); /* NULL is fine */
/* The last owner goes, but the module stays loaded until the process ends. */
void native_leave(native_module *module);
native_function native_find(const native_module *module, const char *name);

/* Whether a compiler is there at all (cheap; looks at PATH). */
bool native_available(void);

#endif
