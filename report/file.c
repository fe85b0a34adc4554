/* Errors, numbers, and files that appear complete or not at all. */
#define _GNU_SOURCE /* realpath, O_TMPFILE */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

report_status report_fail(report_error *error, report_status status, const char *format, ...)
{
    if (!error) return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

/* A failed stream forgets why: one byte more tells it again, and is lost with the rest. */
int report_why(FILE *stream)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream)) return 0;
    if (errno == 0 && write(fileno(stream), "\n", 1) == 1) errno = EIO;
    return errno;
}

report_status report_check_stream(FILE *stream, report_error *error)
{
    int reason = report_why(stream);
    if (reason == 0) return REPORT_OK;
    return report_fail(error, REPORT_ERR_FILE, "Writing failed: %s.", strerror(reason));
}

void report_number(double x, int digits, char text[NUMBER_SIZE])
{
    snprintf(text, NUMBER_SIZE, "%.*g", digits, x);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
}

/* ---- files without a name ---- */

/* Create <prefix>.<process>.<k>.partial, the first that does not exist yet, with the modes that the
 * user's mask allows; with `descriptor` given it becomes the name of that file. Returns a
 * descriptor, or -1 and errno; the name is the caller's. */
static int make_partial(const char *prefix, int descriptor, char **name)
{
    char link[64];
    size_t size = strlen(prefix) + 48;
    *name = malloc(size);
    if (!*name) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    for (int k = 0; k < 100; k++) {
        snprintf(*name, size, "%s.%ld.%d.partial", prefix, (long)getpid(), k);
        int made = descriptor < 0 ? open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                   : linkat(AT_FDCWD, link, AT_FDCWD, *name, AT_SYMLINK_FOLLOW) == 0 ? descriptor
                                                                                     : -1;
        if (made >= 0) return made;
        if (errno != EEXIST) break;
    }
    int reason = errno;
    free(*name);
    *name = NULL;
    errno = reason;
    return -1;
}

/* A file in a directory that no name leads to; -1 where the system has no such thing. */
static int open_nameless(const char *directory)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) != 0) return -1; /* it could not be given a name */
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
    (void)directory;
    return -1;
#endif
}

int report_unnamed_file(const char *directory)
{
    const char *chosen = directory ? directory : getenv("TMPDIR");
    char prefix[4096], *name;
    if (!chosen || !*chosen) chosen = "/tmp";
    int descriptor = open_nameless(chosen);
    if (descriptor >= 0) return descriptor;
    snprintf(prefix, sizeof prefix, "%s/daedal", chosen);
    descriptor = make_partial(prefix, -1, &name);
    if (descriptor >= 0) unlink(name);
    free(name);
    return descriptor;
}

/* ---- files that appear when they are complete ---- */

static void release(report_file *file)
{
    free(file->target);
    free(file->temporary);
    *file = (report_file){0};
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The standard output or error of this process if that is what a file is, else -1. */
static int standard_stream(const struct stat *info)
{
    struct stat standard;
    for (int k = STDOUT_FILENO; k <= STDERR_FILENO; k++)
        if (fstat(k, &standard) == 0 && same_file(info, &standard)) return k;
    return -1;
}

/* A descriptor for something that is not to be replaced; standard output keeps its place. */
static int open_through(const char *path, const struct stat *info)
{
    int standard = standard_stream(info);
    if (standard < 0) return open(path, O_WRONLY | O_CLOEXEC);
    fflush(standard == STDOUT_FILENO ? stdout : stderr);
    return fcntl(standard, F_DUPFD_CLOEXEC, 3);
}

/* A file beside the target: without a name if possible, so that nothing is left of it even if the
 * process is killed. */
static int open_beside(report_file *file)
{
    const char *slash = strrchr(file->target, '/');
    size_t length = slash == file->target ? 1 : slash ? (size_t)(slash - file->target) : 1;
    char *directory = strndup(slash ? file->target : ".", length);
    int descriptor = directory ? open_nameless(directory) : -1;
    free(directory);
    return descriptor >= 0 ? descriptor : make_partial(file->target, -1, &file->temporary);
}

/* The descriptor to write to, or -1 and errno. */
static int open_descriptor(report_file *file, const char *path)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    file->target = exists ? realpath(path, NULL) : strdup(path);
    if (!file->target) file->target = strdup(path); /* /dev/stdout on a pipe has no real path */
    if (!file->target) return -1;
    file->through = exists && (!S_ISREG(info.st_mode) || standard_stream(&info) >= 0);
    if (file->through) return open_through(path, &info);
    if (exists && access(path, W_OK) != 0) return -1;
    int descriptor = open_beside(file);
    if (descriptor >= 0 && exists) (void)!fchmod(descriptor, info.st_mode & 07777);
    return descriptor;
}

report_status report_file_open(report_file *file, const char *path, report_error *error)
{
    *file = (report_file){0};
    if (!path || !*path) return report_fail(error, REPORT_ERR_ARGUMENT, "A file needs a name.");
    int descriptor = open_descriptor(file, path);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file->stream) return REPORT_OK;
    report_fail(error, REPORT_ERR_FILE, "Cannot write '%s': %s.", path, strerror(errno));
    if (descriptor >= 0) {
        close(descriptor);
        if (file->temporary) unlink(file->temporary);
    }
    release(file);
    return REPORT_ERR_FILE;
}

/* All of it on the disk, where there is one: before the name is, or a crash of the machine could
 * leave an empty file in its place. */
static bool reach_disk(report_file *file)
{
    errno = report_why(file->stream);
    if (errno != 0) return false;
    if (file->through) return true;
    return fsync(fileno(file->stream)) == 0 || errno == EINVAL || errno == ENOSYS;
}

report_status report_file_commit(report_file *file, report_error *error)
{
    bool done = reach_disk(file);
    if (done && !file->through && !file->temporary)
        done = make_partial(file->target, fileno(file->stream), &file->temporary) >= 0;
    int reason = done ? 0 : errno;
    if (fclose(file->stream) != 0 && done) done = false, reason = errno;
    if (done && file->temporary && rename(file->temporary, file->target) != 0)
        done = false, reason = errno;
    report_status status = REPORT_OK;
    if (!done)
        status = report_fail(error, REPORT_ERR_FILE, "Cannot write '%s': %s.", file->target,
                             strerror(reason));
    if (!done && file->temporary) unlink(file->temporary);
    release(file);
    return status;
}

void report_file_discard(report_file *file)
{
    if (!file->stream) return;
    fclose(file->stream);
    if (file->temporary) unlink(file->temporary);
    release(file);
}

report_status report_file_finish(report_file *file, report_status status, report_error *error)
{
    /* a stream that failed says it again, with its name; other failures have said what they are */
    bool full = status == REPORT_ERR_FILE && report_why(file->stream) != 0;
    if (status == REPORT_OK || full) return report_file_commit(file, error);
    report_file_discard(file);
    return status;
}
