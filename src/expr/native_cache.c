/* The cache of compiled modules: a directory that only its owner can write. */
#define _POSIX_C_SOURCE 200809L
#include "expr/native_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A module ends with the hash of all before it and this mark: a file cut short by a full disk or a
 * crash must not reach the loader, which would die on it. */
static const char mark[8] = {'D', 'A', 'E', 'D', 'A', 'L', 'S', 'O'};
enum { SEAL = HASH_BYTES + sizeof mark };

bool cache_join(char path[NATIVE_PATH], const char *directory, const char *name)
{
    int n = snprintf(path, NATIVE_PATH, "%s/%s", directory, name);
    return n > 0 && n < NATIVE_PATH;
}

/* ---- the directory --------------------------------------------------------------------------- */

/* Where the cache is, by the environment. */
static bool choose_directory(char directory[NATIVE_PATH])
{
    const char *own = getenv("DAEDAL_CACHE_DIR"), *common = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own && *own) return snprintf(directory, NATIVE_PATH, "%s", own) < NATIVE_PATH;
    if (common && common[0] == '/') return cache_join(directory, common, "daedal");
    if (home && *home) return cache_join(directory, home, ".cache/daedal");
    return false;
}

/* Make a directory and those above it, for the owner alone. */
static bool make_directories(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST || access(path, F_OK) == 0;
        *at = '/';
        if (!made) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool only_ours(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool cache_open(char directory[NATIVE_PATH], char reason[NATIVE_REASON])
{
    struct stat s;
    const char *trouble = NULL;
    if (!choose_directory(directory)) {
        snprintf(reason, NATIVE_REASON, "no cache directory: neither $HOME nor $DAEDAL_CACHE_DIR");
        return false;
    }
    if (!make_directories(directory) || stat(directory, &s) != 0)
        trouble = strerror(errno);
    else if (!S_ISDIR(s.st_mode))
        trouble = "it is not a directory";
    else if (!only_ours(&s))
        trouble = "others own it or can write to it";
    else if (access(directory, W_OK | X_OK) != 0)
        trouble = strerror(errno);
    if (trouble)
        snprintf(reason, NATIVE_REASON, "cache directory %.120s: %.60s", directory, trouble);
    return trouble == NULL;
}

void cache_remove(const char *directory)
{
    char path[NATIVE_PATH];
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;)
        if (cache_join(path, directory, entry->d_name)) unlink(path); /* "." and ".." refuse */
    if (open) closedir(open);
    rmdir(directory);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool write_all(int file, const void *data, size_t length)
{
    const char *from = data;
    while (length > 0) {
        ssize_t n = write(file, from, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        from += n;
        length -= (size_t)n;
    }
    return true;
}

bool cache_write(const char *path, const char *text, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    bool ok = write_all(file, text, length);
    return close(file) == 0 && ok;
}

/* Hash of the next `length` bytes of the file. */
static bool hash_file(int file, off_t length, unsigned char digest[HASH_BYTES])
{
    hash h;
    char block[16384];
    hash_start(&h);
    while (length > 0) {
        size_t wanted = length < (off_t)sizeof block ? (size_t)length : sizeof block;
        ssize_t n = read(file, block, wanted);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        hash_add(&h, block, (size_t)n);
        length -= n;
    }
    hash_finish(&h, digest);
    return true;
}

static bool check_seal(int file, off_t size)
{
    unsigned char digest[HASH_BYTES], end[SEAL];
    if (size <= SEAL || !hash_file(file, size - SEAL, digest)) return false;
    return read(file, end, SEAL) == SEAL && memcmp(end, digest, HASH_BYTES) == 0 &&
           memcmp(end + HASH_BYTES, mark, sizeof mark) == 0;
}

bool cache_is_sound(const char *path)
{
    struct stat s;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return false;
    bool ok = fstat(file, &s) == 0 && S_ISREG(s.st_mode) && only_ours(&s);
    ok = ok && check_seal(file, s.st_size);
    close(file);
    return ok;
}

bool cache_seal(const char *path)
{
    struct stat s;
    unsigned char digest[HASH_BYTES];
    int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return false;
    bool ok = fchmod(file, 0700) == 0 && fstat(file, &s) == 0;
    ok = ok && hash_file(file, s.st_size, digest) && write_all(file, digest, HASH_BYTES) &&
         write_all(file, mark, sizeof mark);
    return close(file) == 0 && ok;
}
