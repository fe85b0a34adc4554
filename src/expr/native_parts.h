/* The parts of native.c: a hash, the compiler, the cache. */
#ifndef DAE_EXPR_NATIVE_PARTS_H
#define DAE_EXPR_NATIVE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_PATH = 1024, NATIVE_WORDS = 16, NATIVE_REASON = 256 };

/* ---- SHA-256 (FIPS 180-4) -------------------------------------------------------------------- */

enum { HASH_BYTES = 32 };

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
void compiler_identify(const compiler_command *command, size_t source_length, hash *h);

/* Compile directory/source.c (of that length) into directory/module.so. false: reason tells. */
bool compiler_run(const compiler_command *command, const char *directory, size_t source_length,
                  double seconds, char reason[NATIVE_REASON]);

/* ---- the cache ------------------------------------------------------------------------------- */

/* The directory, made if need be, ours alone to write. false: reason tells. */
bool cache_open(char directory[NATIVE_PATH], char reason[NATIVE_REASON]);
/* Whether the file is ours, nobody else's to write, and what cache_seal has left. */
bool cache_is_sound(const char *path);
/* Append a checksum to a new module. */
bool cache_seal(const char *path);
bool cache_write(const char *path, const char *text, size_t length);
/* Remove a directory and the files in it. */
void cache_remove(const char *directory);
/* path = directory/name; false if it is too long */
bool cache_join(char path[NATIVE_PATH], const char *directory, const char *name);

#endif
