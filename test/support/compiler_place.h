/* A cache and a compiler of a test's own: scripts in the compiler's place, and how often they were
 * started. */
#ifndef TEST_COMPILER_PLACE_H
#define TEST_COMPILER_PLACE_H

#include "expr/native_parts.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct compiler_place {
    char root[NATIVE_PATH], cache[NATIVE_PATH], compiler[NATIVE_PATH], count[NATIVE_PATH];
    char go[NATIVE_PATH], real[NATIVE_PATH];
    bool there; /* a compiler */
} compiler_place;

static inline bool place_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fputs(text, file);
    return fclose(file) == 0 && chmod(path, 0755) == 0;
}

/* A compiler that notes its process in `count` and then does `what`; $cc is the real one. */
static inline bool place_script(const compiler_place *p, const char *what)
{
    char script[4 * NATIVE_PATH];
    snprintf(script, sizeof script,
             "#!/bin/sh\necho $$ >> '%.900s'\ngo='%.900s'\ncc='%.900s'\n%.900s\n", p->count, p->go,
             p->real, what);
    return place_write(p->compiler, script);
}

static const char compiles[] = "exec $cc \"$@\"";
/* The same once the file `go` is there. */
static const char __attribute__((unused)) waits_then_compiles[] =
    "while [ ! -e \"$go\" ]; do sleep 0.01; done\nexec $cc \"$@\"";

static inline compiler_place *place_new(void)
{
    compiler_place *p = calloc(1, sizeof *p);
    compiler_command real = {0};
    const char *base = getenv("TMPDIR");
    if (!p) return NULL;
    snprintf(p->root, sizeof p->root, "%.500s/daedal-native-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->root)) return NULL;
    unsetenv("DAEDAL_CC");
    p->there = compiler_find(&real);
    snprintf(p->real, sizeof p->real, "%s", real.path);
    cache_join(p->cache, p->root, "below/cache");
    cache_join(p->compiler, p->root, "compiler");
    cache_join(p->count, p->root, "count");
    cache_join(p->go, p->root, "go");
    setenv("DAEDAL_CACHE_DIR", p->cache, 1);
    setenv("DAEDAL_CC", p->compiler, 1);
    place_script(p, compiles);
    return p;
}

static inline void place_free(compiler_place *p)
{
    char below[NATIVE_PATH];
    cache_join(below, p->root, "below");
    cache_remove(p->cache);
    cache_remove(below);
    cache_remove(p->root);
    free(p);
}

/* How often the compiler was started; the process of the last time. */
static inline int place_starts(const compiler_place *p, long *process)
{
    FILE *file = fopen(p->count, "r");
    int n = 0;
    long id = 0;
    while (file && fscanf(file, "%ld", &id) == 1) n++;
    if (file) fclose(file);
    if (process) *process = id;
    return n;
}

/* Number of entries of the cache whose names begin so; the path of the last of them. */
static inline int place_entries(const compiler_place *p, const char *begin, char path[NATIVE_PATH])
{
    int n = 0;
    DIR *open = opendir(p->cache);
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, begin, strlen(begin)) != 0) continue;
        n++;
        if (path) cache_join(path, p->cache, entry->d_name);
    }
    if (open) closedir(open);
    return n;
}

static inline void sleep_for(double seconds)
{
    time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

/* ---- for cmocka ---- */

static inline int place_set_up(void **state)
{
    *state = place_new();
    return *state ? 0 : -1;
}

static inline int place_tear_down(void **state)
{
    place_free(*state);
    return 0;
}

/* The place of a test that is skipped where there is no compiler. */
static inline const compiler_place *place_need(void **state)
{
    const compiler_place *p = *state;
    if (!p->there) skip();
    return p;
}

#endif
