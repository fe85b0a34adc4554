/* The cache of compiled modules: a directory that only its owner can write. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "expr/native_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

/* Whether it is a symbolic link that another user made, who may have it lead anywhere, and
 * elsewhere after it was looked at. */
static bool is_foreign_link(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode) && s.st_uid != geteuid() && s.st_uid != 0;
}

/* Make a directory for the owner alone, if it is not there. NULL, or what is wrong with it. */
static const char *make_directory(const char *path)
{
    if (is_foreign_link(path)) return "others own a symbolic link in its path";
    bool made = mkdir(path, 0700) == 0 || errno == EEXIST || access(path, F_OK) == 0;
    return made ? NULL : strerror(errno);
}

/* The same with those above it. */
static const char *make_directories(char *path)
{
    const char *trouble = NULL;
    for (char *at = strchr(path + 1, '/'); at && !trouble; at = strchr(at + 1, '/')) {
        *at = '\0';
        trouble = make_directory(path);
        *at = '/';
    }
    return trouble ? trouble : make_directory(path);
}

static bool only_ours(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool cache_open(char directory[NATIVE_PATH], char reason[NATIVE_REASON])
{
    struct stat s;
    if (!choose_directory(directory)) {
        snprintf(reason, NATIVE_REASON, "no cache directory: neither $HOME nor $DAEDAL_CACHE_DIR");
        return false;
    }
    const char *trouble = make_directories(directory);
    if (!trouble && stat(directory, &s) != 0)
        trouble = strerror(errno);
    else if (!trouble && !S_ISDIR(s.st_mode))
        trouble = "it is not a directory";
    else if (!trouble && !only_ours(&s))
        trouble = "others own it or can write to it";
    else if (!trouble && access(directory, W_OK | X_OK) != 0)
        trouble = strerror(errno);
    if (trouble)
        snprintf(reason, NATIVE_REASON, "cache directory %.120s: %.60s", directory, trouble);
    return trouble == NULL;
}

static void remove_files(const char *directory)
{
    char path[NATIVE_PATH];
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;)
        if (cache_join(path, directory, entry->d_name)) unlink(path); /* "." and ".." refuse */
    if (open) closedir(open);
}

/* A compiler's assembler that was killed with it may still come to the end of a system call, and so
 * make one more file: again then. */
void cache_remove(const char *directory)
{
    enum { TRIES = 50, PAUSE = 10000000 };
    for (int k = 0; k < TRIES; k++) {
        remove_files(directory);
        if (rmdir(directory) == 0 || (errno != ENOTEMPTY && errno != EEXIST)) return;
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    }
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

bool cache_write(const char *path, const char *first, size_t first_length, const char *second,
                 size_t second_length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    bool ok = write_all(file, first, first_length) && write_all(file, second, second_length);
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

/* A second file like the first, for file systems where a file has one name only. */
static bool copy_file(const char *from, const char *to)
{
    char block[16384];
    ssize_t n = -1;
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool ok = in >= 0 && out >= 0;
    while (ok && (n = read(in, block, sizeof block)) > 0) ok = write_all(out, block, (size_t)n);
    if (in >= 0) close(in);
    if (out >= 0 && close(out) != 0) ok = false;
    return ok && n == 0;
}

bool cache_publish(const char *path, const char *directory, const char *name)
{
    char second[NATIVE_PATH], final[NATIVE_PATH];
    int n = snprintf(second, sizeof second, "%s.again", path);
    if (n < 0 || n >= NATIVE_PATH || !cache_join(final, directory, name)) return false;
    bool ok = (link(path, second) == 0 || copy_file(path, second)) && rename(second, final) == 0;
    unlink(second); /* where both were names of one file rename leaves it */
    return ok;
}

void cache_touch(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- what is too much ------------------------------------------------------------------------ */

/* A module, by one of its names. */
typedef struct entry {
    char name[NATIVE_FILE];
    double used, bytes; /* when it was of use last; size, shared by its names */
} entry;

typedef struct listing {
    entry *list; /* owned */
    size_t count, room;
    double bytes;
} listing;

/* Whether native_file_name could have given it: the directory may be one with other files. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == 2 * HASH_BYTES && strcmp(name + digits, ".so") == 0;
}

static void note_entry(listing *l, const char *name, const struct stat *s)
{
    if (!dae_grow(&l->list, &l->room, l->count + 1, sizeof *l->list)) return;
    entry *e = &l->list[l->count++];
    strcpy(e->name, name);
    e->used = (double)s->st_mtim.tv_sec + 1e-9 * (double)s->st_mtim.tv_nsec;
    e->bytes = (double)s->st_size / (double)s->st_nlink;
    l->bytes += e->bytes;
}

/* No compilation takes a day. */
static bool is_abandoned(const char *name, const struct stat *s)
{
    return strncmp(name, "build-", 6) == 0 && S_ISDIR(s->st_mode) &&
           time(NULL) - s->st_mtime > 86400;
}

/* A directory that is not of a compilation keeps its files. */
static void remove_abandoned(const char *directory)
{
    char source[NATIVE_PATH];
    if (cache_join(source, directory, "source0.c") && access(source, F_OK) == 0)
        cache_remove(directory);
    else
        rmdir(directory);
}

static void list_entries(listing *l, const char *directory)
{
    char path[NATIVE_PATH];
    struct stat s;
    DIR *open = opendir(directory);
    for (struct dirent *d; open && (d = readdir(open)) != NULL;) {
        if (!cache_join(path, directory, d->d_name) || lstat(path, &s) != 0) continue;
        if (is_abandoned(d->d_name, &s)) remove_abandoned(path);
        if (S_ISREG(s.st_mode) && is_ours(d->d_name)) note_entry(l, d->d_name, &s);
    }
    if (open) closedir(open);
}

static int by_use(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    return (p->used > q->used) - (p->used < q->used);
}

void cache_trim(const char *directory, double most)
{
    listing l = {0};
    char path[NATIVE_PATH];
    list_entries(&l, directory);
    if (l.bytes > most) qsort(l.list, l.count, sizeof *l.list, by_use);
    for (size_t k = 0; k + 1 < l.count && l.bytes > most; k++) {
        if (cache_join(path, directory, l.list[k].name)) unlink(path);
        l.bytes -= l.list[k].bytes;
    }
    dae_free(l.list);
}
