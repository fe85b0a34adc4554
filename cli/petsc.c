/* --engine petsc: PETSc takes the steps. The library that knows it is loaded when it is asked for.
 */
#define _GNU_SOURCE

#include "petsc.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../petsc/command.h"

static const char library[] = "libdaedal-petsc.so";

/* Beside the program, as it is built; else where libraries are. */
static void *load(void)
{
    char path[PATH_MAX + sizeof library];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    void *handle = NULL;
    while (length > 0 && path[length - 1] != '/') length--;
    if (length > 0) {
        memcpy(path + length, library, sizeof library);
        handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return handle ? handle : dlopen(library, RTLD_NOW | RTLD_GLOBAL);
}

/* A function by name; the detour is that of POSIX. */
static bool find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address;
}

/* One rank speaks for all. */
static int be_silent(request *r)
{
    r->csv = r->json = r->mat = r->plot = r->history = r->tableau = NULL;
    r->quiet = true;
    bool ok = freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr);
    return ok ? CLI_OK : CLI_FAILED;
}

int petsc_open(request *r, petsc_library *p)
{
    int (*open)(const char *, petsc_opened *, char *, size_t);
    petsc_opened result;
    char message[300] = "PETSc cannot be initialised.";
    *p = (petsc_library){0};
    if (!r->petsc) return CLI_OK;
    void *handle = load();
    if (!handle)
        return complain(CLI_FAILED,
                        "'--engine petsc' needs %s, which is not there (%s): install "
                        "libpetsc-real-dev and build Daedal again",
                        library, dlerror());
    if (!find(handle, "daedal_petsc_open", &open) ||
        !find(handle, "daedal_petsc_close", &p->close) ||
        !find(handle, "daedal_petsc_unused", &p->unused))
        return complain(CLI_FAILED, "%s is of another version", library);
    if (open(r->petsc, &result, message, sizeof message) != 0)
        return complain(CLI_FAILED, "%s", message);
    p->opened = true;
    p->ranks = result.ranks;
    p->words = r->petsc;
    r->options.integrator = result.integrator;
    return result.rank > 0 ? be_silent(r) : CLI_OK;
}

void petsc_close(petsc_library *p, bool ended)
{
    char unused[300];
    if (p->opened && ended && p->unused(p->words, unused, sizeof unused) > 0)
        fprintf(stderr,
                "daedal: note: PETSc has no use for %s: not one of its options, not of the "
                "solvers at work, or decided here (--rtol, --atol, --initial-step, --stop, "
                "--max-steps)\n",
                unused);
    if (p->opened) p->close();
}
