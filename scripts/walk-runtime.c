/* What scripts/walk links to an instrumented program: it notes who calls whom below one function.
 * Compiled without -finstrument-functions. The addresses come from the environment, the result goes
 * to a file: WALK_BELOW  the address of the function (hexadecimal)      WALK_FILE  where to write
 * Lines: "call CALLER CALLEE" at the first call of each pair, "deepest ADDRESS .." the longest
 * chain of calls. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 4096, PAIRS = 1 << 18 };

static uintptr_t below;
static FILE *file;
static uintptr_t pairs[PAIRS][2];
static uintptr_t deepest[DEEPEST];
static int deepest_depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local uintptr_t chain[DEEPEST];
static _Thread_local int depth; /* calls below and including the function */

void __cyg_profile_func_enter(void *callee, void *site);
void __cyg_profile_func_exit(void *callee, void *site);

__attribute__((constructor)) static void walk_begin(void)
{
    const char *address = getenv("WALK_BELOW"), *path = getenv("WALK_FILE");
    if (!address || !path) return;
    below = (uintptr_t)strtoull(address, NULL, 16);
    file = fopen(path, "w");
}

__attribute__((destructor)) static void walk_end(void)
{
    if (!file) return;
    fprintf(file, "deepest");
    for (int k = 0; k < deepest_depth; k++) fprintf(file, " %jx", (uintmax_t)deepest[k]);
    fprintf(file, "\n");
    fclose(file);
    file = NULL;
}

/* Write a pair down unless it is known: an open table of addresses. */
static void note_call(uintptr_t caller, uintptr_t callee)
{
    size_t k = ((caller >> 4) * 31 + (callee >> 4)) % PAIRS;
    for (size_t tries = 0; tries < PAIRS && pairs[k][1]; tries++, k = (k + 1) % PAIRS)
        if (pairs[k][0] == caller && pairs[k][1] == callee) return;
    pairs[k][0] = caller;
    pairs[k][1] = callee;
    fprintf(file, "call %jx %jx\n", (uintmax_t)caller, (uintmax_t)callee);
}

void __cyg_profile_func_enter(void *callee, void *site)
{
    (void)site;
    if (!file || (depth == 0 && (uintptr_t)callee != below)) return;
    if (depth < DEEPEST) chain[depth] = (uintptr_t)callee;
    depth++;
    if (depth >= DEEPEST) return;
    pthread_mutex_lock(&lock);
    note_call(depth > 1 ? chain[depth - 2] : 0, (uintptr_t)callee);
    if (depth > deepest_depth) {
        deepest_depth = depth;
        memcpy(deepest, chain, (size_t)depth * sizeof *chain);
    }
    pthread_mutex_unlock(&lock);
}

void __cyg_profile_func_exit(void *callee, void *site)
{
    (void)callee, (void)site;
    if (depth > 0) depth--;
}
