/* Modules of native code: which are loaded, which lie in the cache. */
#define _POSIX_C_SOURCE 200809L
#include "expr/native.h"

#include "base/memory.h"
#include "expr/native_parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct native_module {
    void *handle;
    int owners;
    bool stays;                     /* among the idle ones when the last owner has gone */
    native_module *next, *previous; /* among those that have owners */
};

/* What this process has loaded: modules with owners, and the last ones that have none any more. */
static struct {
    pthread_mutex_t lock;
    native_module *first;
    void *idle[NATIVE_KEPT]; /* handles */
    int next;                /* the place of `idle` that is given away next */
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- modules ----------------------------------------------------------------------------------
 */

/* A module with one owner, in the list; NULL: memory. */
static native_module *own(void *handle, bool stays)
{
    native_module *m = DAE_NEW(native_module);
    if (!m) return NULL;
    *m = (native_module){.handle = handle, .owners = 1, .stays = stays, .next = loaded.first};
    if (m->next) m->next->previous = m;
    loaded.first = m;
    return m;
}

native_module *native_share(native_module *module)
{
    if (!module) return NULL;
    pthread_mutex_lock(&loaded.lock);
    module->owners++;
    pthread_mutex_unlock(&loaded.lock);
    return module;
}

static void unlink_module(native_module *m)
{
    if (m->next) m->next->previous = m->previous;
    *(m->previous ? &m->previous->next : &loaded.first) = m->next;
}

/* Out of the list; if it stays, its handle is among the idle ones, whose oldest goes. */
static void retire(native_module *m)
{
    unlink_module(m);
    if (!m->stays) {
        dlclose(m->handle);
        return;
    }
    void **place = &loaded.idle[loaded.next];
    loaded.next = (loaded.next + 1) % NATIVE_KEPT;
    if (*place) dlclose(*place);
    *place = m->handle;
}

void native_free(native_module *module)
{
    if (!module) return;
    pthread_mutex_lock(&loaded.lock);
    bool last = --module->owners == 0;
    if (last) retire(module);
    pthread_mutex_unlock(&loaded.lock);
    if (last) dae_free(module);
}

void native_leave(native_module *module)
{
    pthread_mutex_lock(&loaded.lock);
    unlink_module(module);
    pthread_mutex_unlock(&loaded.lock);
    dae_free(module);
}

static native_function symbol_of(void *handle, const char *name)
{
    native_function function = NULL;
    void *symbol = dlsym(handle, name);
    memcpy(&function, &symbol, sizeof function); /* C has no cast for this */
    return function;
}

native_function native_find(const native_module *module, const char *name)
{
    return symbol_of(module->handle, name);
}

/* The module of this process that has the function; NULL: there is none, or no memory. */
static native_module *find_loaded(const char *name, native_function *function)
{
    native_module *found = NULL;
    pthread_mutex_lock(&loaded.lock);
    for (native_module *m = loaded.first; m && !found; m = m->next)
        if ((*function = symbol_of(m->handle, name)) != NULL) found = m;
    if (found) found->owners++;
    for (int k = 0; k < NATIVE_KEPT && !found; k++) {
        *function = loaded.idle[k] ? symbol_of(loaded.idle[k], name) : NULL;
        if (*function) found = own(loaded.idle[k], true);
        if (found) loaded.idle[k] = NULL;
    }
    pthread_mutex_unlock(&loaded.lock);
    if (!found) *function = NULL;
    return found;
}

native_module *native_open(const char *path, bool stays, char reason[NATIVE_REASON])
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    reason[0] = '\0';
    if (!handle) {
        snprintf(reason, NATIVE_REASON, "the module cannot be loaded: %.200s", dlerror());
        return NULL;
    }
    pthread_mutex_lock(&loaded.lock);
    native_module *m = own(handle, stays);
    pthread_mutex_unlock(&loaded.lock);
    if (!m) dlclose(handle);
    return m;
}

/* ---- the cache --------------------------------------------------------------------------------
 */

native_status native_place_open(native_place *p, char reason[NATIVE_REASON])
{
    if (!compiler_find(&p->command)) {
        const char *ours = getenv("DAEDAL_CC");
        snprintf(reason, NATIVE_REASON, "no C compiler: %s%.150s",
                 ours && *ours ? "$DAEDAL_CC is " : "no cc, gcc or clang in PATH",
                 ours && *ours ? ours : "");
        return NATIVE_NO_COMPILER;
    }
    if (geteuid() != getuid()) {
        snprintf(reason, NATIVE_REASON, "programs that run as another user do not compile");
        return NATIVE_FAILED;
    }
    if (!cache_open(p->directory, reason)) return NATIVE_FAILED;
    hash_start(&p->identity);
    compiler_identify(&p->command, &p->identity);
    return NATIVE_OK;
}

void native_file_name(const native_place *p, const native_key *key, char name[NATIVE_FILE])
{
    hash h = p->identity;
    unsigned char digest[HASH_BYTES];
    hash_add(&h, key->byte, NATIVE_KEY);
    hash_finish(&h, digest);
    for (int i = 0; i < HASH_BYTES; i++) snprintf(name + 2 * i, 3, "%02x", digest[i]);
    strcpy(name + 2 * HASH_BYTES, ".so");
}

native_module *native_from_cache(const native_place *p, const native_key *key, bool stays,
                                 bool *no_memory)
{
    char name[NATIVE_FILE], path[NATIVE_PATH], reason[NATIVE_REASON];
    *no_memory = false;
    native_file_name(p, key, name);
    if (!cache_join(path, p->directory, name) || !cache_is_sound(path)) return NULL;
    native_module *m = native_open(path, stays, reason);
    if (m) cache_touch(path);
    *no_memory = !m && reason[0] == '\0';
    return m;
}

size_t native_lookup(const native_key *keys, size_t count, bool on_disk, native_function *functions,
                     native_module **modules)
{
    native_place place;
    char name[NATIVE_NAME], unread[NATIVE_REASON];
    size_t found = 0;
    bool open = false, unread_memory;
    for (size_t k = 0; k < count; k++) {
        native_key_name(&keys[k], name);
        modules[k] = find_loaded(name, &functions[k]);
        if (!modules[k] && on_disk) {
            if (!open && native_place_open(&place, unread) != NATIVE_OK) return found;
            open = true;
            modules[k] = native_from_cache(&place, &keys[k], true, &unread_memory);
            if (modules[k]) functions[k] = native_find(modules[k], name);
            if (modules[k] && !functions[k]) { /* another program's file under this name */
                native_free(modules[k]);
                modules[k] = NULL;
            }
        }
        found += modules[k] != NULL;
    }
    return found;
}

bool native_available(void)
{
    compiler_command command;
    return compiler_find(&command);
}
