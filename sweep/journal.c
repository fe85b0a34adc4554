/* The journal of a sweep: its points as they are finished.
 *
 * A head with the identity of the sweep, then records: number of the point, length, bytes, and a
 * checksum over all of that. Records are only ever appended, each by one write, so that a kill at
 * any moment leaves whole records and at most the beginning of one, which is cut off. After a crash
 * of the machine the last second may be missing. */
#define _GNU_SOURCE
#include "sweep.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char MAGIC[16] = "daedal sweep 1\n";
enum { MOST_BYTES = 1 << 28 }; /* of a record: lengths above are damage */
static const unsigned char NOTHING[1];
#define TABLE_WRITTEN UINT64_MAX      /* the item of a record without bytes, after all points */
static const double SYNC_EVERY = 1.0; /* seconds */

typedef struct head {
    char magic[16];
    double order; /* of bytes: 1 */
    sweep_identity identity;
    uint64_t sum;
} head;

typedef struct record {
    uint64_t item, length, sum;
} record;

struct sweep_journal {
    int file;
    char *path; /* owned */
    double synced;
    sweep_buffer out;
};

/* FNV-1a with 64 bits, eight bytes at a time, and a last mixing: against damage and slips, not
 * malice. */
uint64_t sweep_hash(uint64_t before, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = before ^ UINT64_C(0xCBF29CE484222325) ^ count;
    for (; count >= 8; count -= 8, at += 8) {
        uint64_t block;
        memcpy(&block, at, 8);
        hash = (hash ^ block) * UINT64_C(0x100000001B3);
        hash ^= hash >> 29;
    }
    for (; count > 0; count--) hash = (hash ^ *at++) * UINT64_C(0x100000001B3);
    return sweep_bits(hash, 0, 0);
}

uint64_t sweep_hash_file(uint64_t before, const char *path)
{
    char block[65536];
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "r") : NULL;
    for (size_t got; file && (got = fread(block, 1, sizeof block, file)) > 0;)
        before = sweep_hash(before, block, got);
    if (file) fclose(file);
    return before;
}

static uint64_t head_sum(const head *h)
{
    return sweep_hash(0, h, offsetof(head, sum));
}

static uint64_t record_sum(const record *r, const unsigned char *bytes)
{
    return sweep_hash(sweep_hash(r->item, &r->length, sizeof r->length), bytes, (size_t)r->length);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static report_status fail(const char *path, const char *what, report_error *error)
{
    return report_fail(error, REPORT_ERR_FILE, "The journal '%.300s' cannot be %s: %s.", path, what,
                       strerror(errno));
}

static bool write_all(int to, const void *from, size_t count)
{
    for (const char *at = from; count > 0;) {
        ssize_t put = write(to, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        count -= (size_t)put;
    }
    return true;
}

/* Bytes read, up to count; fewer at the end of the file; -1: it cannot be read */
static ssize_t read_some(int from, void *to, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got = read(from, (char *)to + done, count - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

void sweep_journal_close(sweep_journal *j, bool remove)
{
    if (!j) return;
    if (remove) unlink(j->path);
    close(j->file);
    sweep_buffer_free(&j->out);
    free(j->path);
    free(j);
}

/* Open a file that no other sweep has. */
static report_status open_journal(const char *path, int flags, sweep_journal **journal,
                                  report_error *error)
{
    sweep_journal *j = calloc(1, sizeof *j);
    *journal = NULL;
    if (!j || !(j->path = strdup(path))) {
        free(j);
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a journal.");
    }
    j->file = open(path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (j->file < 0) {
        report_status status = fail(path, flags & O_CREAT ? "made" : "read", error);
        free(j->path);
        free(j);
        return status;
    }
    j->synced = now();
    *journal = j;
    if (flock(j->file, LOCK_EX | LOCK_NB) == 0) return REPORT_OK;
    report_status status = errno == EWOULDBLOCK
                               ? report_fail(error, REPORT_ERR_FILE,
                                             "The journal '%.300s' is in use: another sweep is at "
                                             "work on it.",
                                             path)
                               : fail(path, "locked", error);
    sweep_journal_close(j, false);
    *journal = NULL;
    return status;
}

/* Its name appears with its head, whatever happens in between. */
report_status sweep_journal_create(const char *path, const sweep_identity *identity,
                                   sweep_journal **journal, report_error *error)
{
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.order = 1.0;
    h.identity = *identity;
    h.sum = head_sum(&h);
    char *fresh = malloc(strlen(path) + 8);
    *journal = NULL;
    if (!fresh) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a journal.");
    snprintf(fresh, strlen(path) + 8, "%s.new", path);
    report_status status = open_journal(fresh, O_CREAT | O_TRUNC, journal, error);
    if (status == REPORT_OK) {
        int file = (*journal)->file;
        bool done = write_all(file, &h, sizeof h) && fsync(file) == 0 && link(fresh, path) == 0;
        if (!done) status = fail(path, "made", error);
        unlink(fresh);
    }
    free(fresh);
    char *name = status == REPORT_OK ? strdup(path) : NULL;
    if (status == REPORT_OK && !name) status = REPORT_ERR_MEMORY;
    if (name) {
        free((*journal)->path);
        (*journal)->path = name;
    } else {
        sweep_journal_close(*journal, false);
        *journal = NULL;
    }
    return status;
}

/* Whether the journal is one of this sweep. */
static report_status check_identity(const char *path, const head *h, const sweep_identity *mine,
                                    report_error *error)
{
    const sweep_identity *its = &h->identity;
    const char *what =
        its->model != mine->model ? "of another model: its text has changed"
        : its->count != mine->count || its->points != mine->points   ? "of other points"
        : its->columns != mine->columns || its->words != mine->words ? "of other options"
                                                                     : NULL;
    if (strncmp(its->version, mine->version, sizeof mine->version) != 0)
        return report_fail(error, REPORT_ERR_READ,
                           "The journal '%.300s' was written by another version, %.30s; this is "
                           "%.30s. Go on with that one, or remove the file to begin again.",
                           path, its->version, mine->version);
    if (!what) return REPORT_OK;
    return report_fail(error, REPORT_ERR_READ,
                       "The journal '%.300s' is %s. Give the words of that sweep, or remove the "
                       "file to begin again.",
                       path, what);
}

static report_status read_head(sweep_journal *j, const sweep_identity *identity,
                               report_error *error)
{
    head h;
    ssize_t got = read_some(j->file, &h, sizeof h);
    if (got < 0) return fail(j->path, "read", error);
    bool ours = (size_t)got >= sizeof h.magic && memcmp(h.magic, MAGIC, sizeof h.magic) == 0;
    if (ours && (size_t)got == sizeof h && h.order == 1.0 && h.sum == head_sum(&h))
        return check_identity(j->path, &h, identity, error);
    return report_fail(error, REPORT_ERR_READ,
                       "'%.300s' is no journal of a sweep%s. Remove it to begin again.", j->path,
                       ours ? " of this machine, or its head is damaged" : "");
}

/* The next whole record; false: there is none, or *error tells why it cannot be read */
static bool next_record(sweep_journal *j, record *r)
{
    ssize_t got = read_some(j->file, r, sizeof *r);
    if (got != (ssize_t)sizeof *r || r->length > MOST_BYTES) return false;
    j->out.count = 0;
    if (!sweep_buffer_room(&j->out, (size_t)r->length)) return false;
    got = read_some(j->file, j->out.bytes, (size_t)r->length);
    return got == (ssize_t)r->length && r->sum == record_sum(r, j->out.bytes);
}

report_status sweep_journal_resume(const char *path, const sweep_identity *identity,
                                   sweep_taker take, void *user, sweep_journal **journal,
                                   uint64_t *damaged, report_error *error)
{
    record r;
    report_status status = open_journal(path, 0, journal, error);
    if (status != REPORT_OK) return status;
    sweep_journal *j = *journal;
    off_t good = sizeof(head), end = 0;
    status = read_head(j, identity, error);
    while (status == REPORT_OK && next_record(j, &r)) {
        if (r.item < identity->count)
            status = take(r.item, j->out.bytes, (size_t)r.length, user, error);
        else if (r.item != TABLE_WRITTEN)
            status = report_fail(error, REPORT_ERR_READ,
                                 "The journal '%.300s' has a point that there is not.", path);
        good += (off_t)(sizeof r + r.length);
    }
    if (status == REPORT_OK && (end = lseek(j->file, 0, SEEK_END)) < 0)
        status = fail(path, "read", error);
    if (status == REPORT_OK &&
        (ftruncate(j->file, good) != 0 || lseek(j->file, good, SEEK_SET) < 0))
        status = fail(path, "written", error);
    *damaged = status == REPORT_OK ? (uint64_t)(end - good) : 0;
    j->out.count = 0; /* from here on it gathers */
    if (status == REPORT_OK) return status;
    sweep_journal_close(j, false);
    *journal = NULL;
    return status;
}

static report_status sync_file(sweep_journal *j, report_error *error)
{
    j->synced = now();
    return fdatasync(j->file) == 0 || errno == EINVAL ? REPORT_OK : fail(j->path, "written", error);
}

report_status sweep_journal_write(sweep_journal *j, report_error *error)
{
    bool written = write_all(j->file, j->out.bytes, j->out.count);
    j->out.count = 0;
    if (!written) return fail(j->path, "written", error);
    return now() - j->synced > SYNC_EVERY ? sync_file(j, error) : REPORT_OK;
}

report_status sweep_journal_sync(sweep_journal *j, report_error *error)
{
    report_status status = sweep_journal_write(j, error);
    return status == REPORT_OK ? sync_file(j, error) : status;
}

bool sweep_journal_is_finished(const char *path)
{
    record r = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool ends = file >= 0 && lseek(file, -(off_t)sizeof r, SEEK_END) >= (off_t)sizeof(head) &&
                read_some(file, &r, sizeof r) == (ssize_t)sizeof r && r.length == 0 &&
                r.item == TABLE_WRITTEN && r.sum == record_sum(&r, NOTHING);
    if (file >= 0) close(file);
    return ends;
}

report_status sweep_journal_finish(sweep_journal *j, report_error *error)
{
    report_status status = sweep_journal_add(j, TABLE_WRITTEN, NOTHING, 0, error);
    return status == REPORT_OK ? sweep_journal_sync(j, error) : status;
}

report_status sweep_journal_add(sweep_journal *j, uint64_t item, const unsigned char *bytes,
                                size_t count, report_error *error)
{
    record r = {item, count, 0};
    r.sum = record_sum(&r, bytes);
    sweep_buffer_add(&j->out, &r, sizeof r);
    sweep_buffer_add(&j->out, bytes, count);
    return j->out.failed ? report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a journal.")
                         : REPORT_OK;
}
