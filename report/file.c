/* Errors, numbers, and files that appear complete or not at all. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700 /* realpath */
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

report_status report_check_stream(FILE *stream, report_error *error)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream)) return REPORT_OK;
    return report_fail(error, REPORT_ERR_FILE, "Writing failed: %s.",
                       errno ? strerror(errno) : "an earlier write did");
}

void report_number(double x, int digits, char text[NUMBER_SIZE])
{
    snprintf(text, NUMBER_SIZE, "%.*g", digits, x);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
}

/* Open <target>.<process>.<k>.partial, the first that does not exist yet, with the modes that the
 * user's mask allows. */
static int open_temporary(whole_file *file)
{
    size_t size = strlen(file->target) + 48;
    file->temporary = malloc(size);
    if (!file->temporary) return -1;
    int descriptor = -1;
    for (int k = 0; k < 100; k++) {
        snprintf(file->temporary, size, "%s.%ld.%d.partial", file->target, (long)getpid(), k);
        descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) break;
    }
    return descriptor;
}

static void whole_file_release(whole_file *file)
{
    free(file->target);
    free(file->temporary);
    *file = (whole_file){0};
}

report_status whole_file_open(whole_file *file, const char *path, report_error *error)
{
    *file = (whole_file){0};
    if (!path || !*path) return report_fail(error, REPORT_ERR_ARGUMENT, "A file needs a name.");
    struct stat info;
    bool exists = stat(path, &info) == 0;
    file->target = exists ? realpath(path, NULL) : strdup(path);
    if (!file->target)
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a file name.");
    /* A device or a pipe must not be replaced by a file. */
    bool direct = exists && !S_ISREG(info.st_mode);
    int descriptor = direct ? open(file->target, O_WRONLY | O_CLOEXEC) : open_temporary(file);
    file->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file->stream) return REPORT_OK;
    report_fail(error, REPORT_ERR_FILE, "Cannot write '%s': %s.", path, strerror(errno));
    if (descriptor >= 0) {
        close(descriptor);
        if (file->temporary) unlink(file->temporary);
    }
    whole_file_release(file);
    return REPORT_ERR_FILE;
}

report_status whole_file_commit(whole_file *file, report_error *error)
{
    bool failed = ferror(file->stream) != 0;
    errno = 0;
    failed = (fclose(file->stream) != 0) || failed;
    if (!failed && file->temporary) failed = rename(file->temporary, file->target) != 0;
    report_status status = REPORT_OK;
    if (failed)
        status = report_fail(error, REPORT_ERR_FILE, "Cannot write '%s': %s.", file->target,
                             errno ? strerror(errno) : "writing failed");
    if (failed && file->temporary) unlink(file->temporary);
    whole_file_release(file);
    return status;
}

void whole_file_discard(whole_file *file)
{
    if (!file->stream) return;
    fclose(file->stream);
    if (file->temporary) unlink(file->temporary);
    whole_file_release(file);
}
