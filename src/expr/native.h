/* Native code: emitted C, compiled by the machine's compiler, cached and loaded. */
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

/* Compile `source` (or take it from the cache by content hash) and load it. The cache is
 * $DAEDAL_CACHE_DIR, else $XDG_CACHE_HOME/daedal, else $HOME/.cache/daedal, created with mode 0700;
 * files of other owners or with looser modes are not trusted. The compiler is started without a
 * shell, -O2 (-Og for large sources) -ffp-contract=off -fPIC -shared, with a time limit. reason:
 * 256 bytes for a sentence, or NULL. */
native_status native_load(const char *source, size_t length, native_module **module, char *reason);
/* The same with the time limit in seconds. */
native_status native_load_within(const char *source, size_t length, double seconds,
                                 native_module **module, char *reason);
/* The same module for one more owner; NULL is fine. */
native_module *native_share(native_module *module);
void native_free(native_module *module); /* NULL is fine; the last owner's call unloads it */
native_function native_find(const native_module *module, const char *name);

/* Whether a compiler is there at all (cheap; looks at PATH). */
bool native_available(void);

#endif
