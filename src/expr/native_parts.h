/* The parts of native code: a hash, the compiler, the cache. */
#ifndef DAE_EXPR_NATIVE_PARTS_H
#define DAE_EXPR_NATIVE_PARTS_H

#include "expr/native.h"

enum { NATIVE_PATH = 1024, NATIVE_WORDS = 16 };

/* ---- SHA-256 (FIPS 180-4) -------------------------------------------------------------------- */

enum { HASH_BYTES = NATIVE_KEY };

typedef struct hash {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} hash;

void hash_start(hash *h);
void hash_add(hash *h, const void *data, size_t length);
void hash_finish(hash *h, unsigned char digest[HASH_BYTES]);

/* ---- the compiler ---------------------------------------------------------------------------- */

/* A command as words; words[0] is a path. */
typedef struct compiler_command {
    char text[NATIVE_PATH]; /* what the words point into */
    const char *words[NATIVE_WORDS];
    int count;
    char path[NATIVE_PATH];
} compiler_command;

/* $DAEDAL_CC, else $CC, cc, gcc or clang, whichever is found first in PATH. */
bool compiler_find(compiler_command *command);

/* Everything besides the source that decides what the compiler makes. */
void compiler_identify(const compiler_command *command, hash *h);

/* Start it on directory/source<k>.c, k < files, to make directory/module.so; nothing waits.
 * source_length: of all files. false: reason tells. */
bool compiler_start(const compiler_command *command, const char *directory, int files,
                    size_t source_length, long *process, char reason[NATIVE_REASON]);

typedef enum compiler_state { COMPILER_RUNS, COMPILER_ENDED, COMPILER_COMPLAINED } compiler_state;

/* How it is doing. Once it does not run any more the process is gone, and must not be asked for
 * again. A host that ignores SIGCHLD takes the exit status from us: then the module tells. */
compiler_state compiler_look(long process);
/* End it and its children; waits for that. */
void compiler_stop(long process);
/* Let others go first. */
void compiler_yield(long process);
/* What it complained about, in directory. */
void compiler_explain(const compiler_command *command, const char *directory,
                      char reason[NATIVE_REASON]);

/* ---- modules (native.c) ------------------------------------------------------------------------
 */

/* Where modules are kept, and who makes them. */
typedef struct native_place {
    compiler_command command;
    char directory[NATIVE_PATH];
    hash identity; /* of the compiler, as far as it decides what a module does */
} native_place;

enum { NATIVE_FILE = 2 * HASH_BYTES + 4 };

native_status native_place_open(native_place *place, char reason[NATIVE_REASON]);
/* The name of the file that has the program. */
void native_file_name(const native_place *place, const native_key *key, char name[NATIVE_FILE]);
/* Load a module; NULL: reason tells, or is empty: memory. stays: one of those that this process
 * keeps for a while when they have no owner any more. */
native_module *native_open(const char *path, bool stays, char reason[NATIVE_REASON]);
/* The same from the cache if it is there and sound, else NULL; *no_memory: it is, but for memory.
 */
native_module *native_from_cache(const native_place *place, const native_key *key, bool stays,
                                 bool *no_memory);

/* ---- the cache ------------------------------------------------------------------------------- */

/* The directory, made if need be, ours alone to write. false: reason tells. */
bool cache_open(char directory[NATIVE_PATH], char reason[NATIVE_REASON]);
/* Whether the file is ours, nobody else's to write, and what cache_seal has left. */
bool cache_is_sound(const char *path);
/* Append a checksum to a new module. */
bool cache_seal(const char *path);
/* A new file with two texts one after the other. */
bool cache_write(const char *path, const char *first, size_t first_length, const char *second,
                 size_t second_length);
/* The file under one more name, in one step; false: it is not there. */
bool cache_publish(const char *path, const char *directory, const char *name);
/* The file was of use: among those that go first when the cache is full it is the last. */
void cache_touch(const char *path);
/* Remove what was not used for longest until the modules take at most `most` bytes, and what
 * interrupted compilations have left. */
void cache_trim(const char *directory, double most);
/* Remove a directory and the files in it. */
void cache_remove(const char *directory);
/* path = directory/name; false if it is too long */
bool cache_join(char path[NATIVE_PATH], const char *directory, const char *name);

#endif
