#define _POSIX_C_SOURCE 200809L
#include "expr/native.h"

#include "base/memory.h"
#include "expr/native_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct native_module {
    void *handle;
    atomic_int owners;
};

/* Where the module for this source and compiler is kept: <hash>.so in the cache. */
static bool module_path(char path[NATIVE_PATH], const char *directory,
                        const compiler_command *command, const char *source, size_t length)
{
    hash h;
    unsigned char digest[HASH_BYTES];
    char name[2 * HASH_BYTES + 4];
    hash_start(&h);
    compiler_identify(command, length, &h);
    hash_add(&h, source, length);
    hash_finish(&h, digest);
    for (int i = 0; i < HASH_BYTES; i++) snprintf(name + 2 * i, 3, "%02x", digest[i]);
    strcpy(name + 2 * HASH_BYTES, ".so");
    return cache_join(path, directory, name);
}

/* Compile in a new directory inside the cache, then move the module to its place in one step: who
 * else builds the same one meanwhile moves an equal file there. */
static bool build(const char *directory, const char *path, const compiler_command *command,
                  const char *source, size_t length, double seconds, char reason[NATIVE_REASON])
{
    char workshop[NATIVE_PATH], text[NATIVE_PATH], module[NATIVE_PATH];
    bool ok = cache_join(workshop, directory, "build-XXXXXX") && mkdtemp(workshop);
    if (!ok) {
        snprintf(reason, NATIVE_REASON, "cache directory %.120s: %.60s", directory,
                 strerror(errno));
        return false;
    }
    ok = cache_join(text, workshop, "source.c") && cache_join(module, workshop, "module.so") &&
         cache_write(text, source, length);
    if (!ok) snprintf(reason, NATIVE_REASON, "cannot write %.120s", workshop);
    ok = ok && compiler_run(command, workshop, length, seconds, reason);
    if (ok && (!cache_seal(module) || rename(module, path) != 0)) {
        snprintf(reason, NATIVE_REASON, "cannot write %.200s", path);
        ok = false;
    }
    cache_remove(workshop);
    return ok;
}

static void *open_module(const char *path, char reason[NATIVE_REASON])
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) snprintf(reason, NATIVE_REASON, "the module cannot be loaded: %.200s", dlerror());
    return handle;
}

/* From the cache if it is there and sound, else made anew. */
static native_status load(const compiler_command *command, const char *source, size_t length,
                          double seconds, void **handle, char reason[NATIVE_REASON])
{
    char directory[NATIVE_PATH], path[NATIVE_PATH];
    if (geteuid() != getuid()) {
        snprintf(reason, NATIVE_REASON, "programs that run as another user do not compile");
        return NATIVE_FAILED;
    }
    if (!cache_open(directory, reason)) return NATIVE_FAILED;
    if (!module_path(path, directory, command, source, length)) {
        snprintf(reason, NATIVE_REASON, "the path of the cache directory is too long");
        return NATIVE_FAILED;
    }
    *handle = cache_is_sound(path) ? open_module(path, reason) : NULL;
    if (!*handle && build(directory, path, command, source, length, seconds, reason))
        *handle = open_module(path, reason);
    return *handle ? NATIVE_OK : NATIVE_FAILED;
}

native_status native_load_within(const char *source, size_t length, double seconds,
                                 native_module **module, char *reason)
{
    char unread[NATIVE_REASON];
    compiler_command command;
    if (!reason) reason = unread;
    reason[0] = '\0';
    *module = NULL;
    if (!compiler_find(&command)) {
        const char *ours = getenv("DAEDAL_CC");
        snprintf(reason, NATIVE_REASON, "no C compiler: %s%.150s",
                 ours && *ours ? "$DAEDAL_CC is " : "no cc, gcc or clang in PATH",
                 ours && *ours ? ours : "");
        return NATIVE_NO_COMPILER;
    }
    native_module *made = DAE_NEW(native_module);
    if (!made) return NATIVE_MEMORY;
    atomic_init(&made->owners, 1);
    native_status status = load(&command, source, length, seconds, &made->handle, reason);
    if (status == NATIVE_OK)
        *module = made;
    else
        dae_free(made);
    return status;
}

/* The limit is some ten times what compilers need. */
native_status native_load(const char *source, size_t length, native_module **module, char *reason)
{
    return native_load_within(source, length, 60.0 + (double)length / 2e4, module, reason);
}

native_module *native_share(native_module *module)
{
    if (module) atomic_fetch_add(&module->owners, 1);
    return module;
}

void native_free(native_module *module)
{
    if (!module || atomic_fetch_sub(&module->owners, 1) > 1) return;
    dlclose(module->handle);
    dae_free(module);
}

native_function native_find(const native_module *module, const char *name)
{
    native_function function = NULL;
    void *symbol = dlsym(module->handle, name);
    memcpy(&function, &symbol, sizeof function); /* C has no cast for this */
    return function;
}

bool native_available(void)
{
    compiler_command command;
    return compiler_find(&command);
}
