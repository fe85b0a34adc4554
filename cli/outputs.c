/* Files that a command writes: which it must not, and whether all arrived. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include "outputs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Standard output under any of its names: -, /dev/stdout, or the file it is redirected to. A device
 * that takes everything, as /dev/null, is nobody's in particular. */
bool is_stdout(const char *path)
{
    struct stat named, ours;
    if (!path) return false;
    if (strcmp(path, "-") == 0) return true;
    if (stat(path, &named) != 0 || fstat(STDOUT_FILENO, &ours) != 0) return false;
    bool sink = S_ISCHR(named.st_mode) && !isatty(STDOUT_FILENO);
    return same_file(&named, &ours) && !sink;
}

/* Directory and last name of a path that does not exist yet. */
static bool split_path(const char *path, struct stat *directory, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    bool found = parent && stat(parent, directory) == 0;
    free(parent);
    *name = slash ? slash + 1 : path;
    return found;
}

/* Where a symbolic link to nothing leads, if path is one; else path. Owned by the caller. */
static char *resolve(const char *path)
{
    char target[4096];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) return strdup(path);
    target[length] = '\0';
    const char *slash = strrchr(path, '/');
    if (target[0] == '/' || !slash) return strdup(target);
    size_t head = (size_t)(slash - path) + 1;
    char *whole = malloc(head + (size_t)length + 1);
    if (!whole) return NULL;
    memcpy(whole, path, head);
    memcpy(whole + head, target, (size_t)length + 1);
    return whole;
}

bool same_place(const char *a, const char *b)
{
    struct stat one, other;
    const char *name, *other_name;
    if (is_stdout(a) || is_stdout(b)) return is_stdout(a) && is_stdout(b);
    bool exists = stat(a, &one) == 0;
    if (exists != (stat(b, &other) == 0)) return false;
    if (exists) return same_file(&one, &other) && !S_ISCHR(one.st_mode);
    char *first = resolve(a), *second = resolve(b);
    bool same = first && second && split_path(first, &one, &name) &&
                split_path(second, &other, &other_name) && same_file(&one, &other) &&
                strcmp(name, other_name) == 0;
    free(first);
    free(second);
    return same;
}

/* A result must be possible to write, before a long run finds out. */
static int check_writable(const char *path)
{
    struct stat info, directory;
    const char *name;
    if (is_stdout(path)) return CLI_OK;
    if (!*path) return complain(CLI_USAGE, "a file needs a name");
    bool exists = stat(path, &info) == 0, writable;
    if (exists && S_ISDIR(info.st_mode))
        return complain(CLI_FAILED, "'%s' cannot be written: it is a directory", path);
    if (exists && !S_ISREG(info.st_mode)) {
        writable = access(path, W_OK) == 0;
    } else {
        const char *slash = strrchr(path, '/');
        char *parent = slash == path ? strdup("/")
                       : slash       ? strndup(path, (size_t)(slash - path))
                                     : strdup(".");
        writable = parent && access(parent, W_OK | X_OK) == 0 &&
                   (!exists || access(path, W_OK) == 0) && split_path(path, &directory, &name);
        int reason = errno;
        free(parent);
        errno = reason;
    }
    return writable ? CLI_OK
                    : complain(CLI_FAILED, "'%s' cannot be written: %s", path, strerror(errno));
}

int check_outputs(const char *text, const output *list, int count)
{
    for (int i = 0; i < count; i++) {
        const char *path = list[i].path;
        struct stat read, written;
        if (!path) continue;
        if (text && stat(text, &read) == 0 && stat(path, &written) == 0 &&
            same_file(&read, &written) && !S_ISCHR(read.st_mode))
            return complain(CLI_USAGE, "'%s' (%s) is the model itself; it is not overwritten", path,
                            list[i].option);
        for (int k = 0; k < i; k++)
            if (list[k].path && same_place(list[k].path, path))
                return complain(CLI_USAGE, "%s and %s go to one file, '%s'; give each its own",
                                list[k].option, list[i].option, path);
        int code = check_writable(path);
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* ---- standard output ---- */

int finish_stdout(int code)
{
    static int answer; /* given once */
    int reason = answer == CLI_OK ? report_why(stdout) : 0;
    if (reason == 0) return answer != CLI_OK ? answer : code;
    answer = code == CLI_OK ? CLI_FAILED : code;
    if (reason == EPIPE)
        answer = CLI_SIGNAL + SIGPIPE; /* the reader had enough: as that signal would say */
    else
        complain(answer, "standard output cannot be written: %s", strerror(reason));
    return answer;
}

int write_to(const char *path, void (*write)(FILE *out, const void *what), const void *what)
{
    report_error error = {0};
    report_file file;
    if (!path || is_stdout(path)) {
        write(stdout, what);
        return finish_stdout(CLI_OK);
    }
    if (report_file_open(&file, path, &error) == REPORT_OK) {
        write(file.stream, what);
        if (report_file_commit(&file, &error) == REPORT_OK) return CLI_OK;
    }
    return complain(CLI_FAILED, "%s", error.text);
}
