/* Finding and starting the machine's C compiler, without a shell. */
#define _XOPEN_SOURCE 700
#include "base/memory.h"
#include "expr/native_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Bytes of source from which on -O1, and then -Og, takes the place of -O2. For 1000 equations of a
 * ladder (227 kB) gcc 12 takes 3.2 s, 1.8 s and 0.8 s, to code that evaluates F in 1.7, 1.35 and
 * 1.35 us and its derivatives in 0.8, 0.7 and 1.4 us (docs/notes/engines.md). */
enum { LONG_SOURCE = 100000, HUGE_SOURCE = 500000 };

/* Functions are called as the tape calls them: a compiler that evaluates pow(x, 2) as x*x, or sin
 * and cos by another routine, would give other bits. sqrt, fabs, floor and ceil are exact and may
 * be instructions. */
static const char *const flags[] = {"-std=c11",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-builtin-pow",
                                    "-fno-builtin-exp",
                                    "-fno-builtin-log",
                                    "-fno-builtin-log10",
                                    "-fno-builtin-sin",
                                    "-fno-builtin-cos",
                                    "-fno-builtin-tan",
                                    "-fno-builtin-asin",
                                    "-fno-builtin-acos",
                                    "-fno-builtin-atan",
                                    "-fno-builtin-atan2",
                                    "-fno-builtin-sinh",
                                    "-fno-builtin-cosh",
                                    "-fno-builtin-tanh",
                                    "-w",
                                    "-fPIC",
                                    "-shared"};
enum { FLAGS = sizeof flags / sizeof *flags };

static const char *optimisation(size_t source_length)
{
    return source_length > HUGE_SOURCE ? "-Og" : source_length > LONG_SOURCE ? "-O1" : "-O2";
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* path of program `name`: itself if it has a slash, else the first in PATH. The working directory
 * is not searched, whatever PATH says. */
static bool find_program(const char *name, char path[NATIVE_PATH])
{
    if (strchr(name, '/'))
        return (size_t)snprintf(path, NATIVE_PATH, "%s", name) < NATIVE_PATH && is_program(path);
    const char *at = getenv("PATH");
    if (!at) at = "/usr/local/bin:/usr/bin:/bin";
    while (*at) {
        size_t n = strcspn(at, ":");
        int written = snprintf(path, NATIVE_PATH, "%.*s/%s", (int)n, at, name);
        if (n > 0 && written < NATIVE_PATH && is_program(path)) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* Split `text` at blanks and find its first word. */
static bool use_command(compiler_command *command, const char *text)
{
    size_t length = strlen(text);
    *command = (compiler_command){0};
    if (length >= sizeof command->text) return false;
    memcpy(command->text, text, length + 1);
    for (char *at = command->text; command->count < NATIVE_WORDS;) {
        at += strspn(at, " \t");
        if (!*at) break;
        command->words[command->count++] = at;
        at += strcspn(at, " \t");
        if (*at) *at++ = '\0';
    }
    return command->count > 0 && find_program(command->words[0], command->path);
}

/* Who sets $DAEDAL_CC means it, even if it does not exist. */
bool compiler_find(compiler_command *command)
{
    const char *ours = getenv("DAEDAL_CC"), *common = getenv("CC");
    if (ours && *ours) return use_command(command, ours);
    if (common && *common && use_command(command, common)) return true;
    return use_command(command, "cc") || use_command(command, "gcc") ||
           use_command(command, "clang");
}

static void add_word(hash *h, const char *word)
{
    hash_add(h, word, strlen(word) + 1);
}

/* Its file's size and date stand for the compiler's version: asking would mean starting it. */
void compiler_identify(const compiler_command *command, hash *h)
{
    struct stat s = {0};
    struct utsname machine;
    char text[96];
    stat(command->path, &s);
    snprintf(text, sizeof text, "%lld %lld.%09ld %lld", (long long)s.st_size,
             (long long)s.st_mtim.tv_sec, (long)s.st_mtim.tv_nsec, (long long)s.st_ino);
    add_word(h, "daedal native 2");
    add_word(h, command->path);
    add_word(h, text);
    if (uname(&machine) >= 0) add_word(h, machine.machine);
    for (int k = 1; k < command->count; k++) add_word(h, command->words[k]);
    for (int k = 0; k < FLAGS; k++) add_word(h, flags[k]);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Paths of one compilation and the environment it gets. */
typedef struct job {
    char module[NATIVE_PATH], log[NATIVE_PATH];
    char temporary[NATIVE_PATH + 8]; /* TMPDIR=.., so that nothing is left elsewhere */
    char (*sources)[NATIVE_PATH];    /* owned, as all below */
    char **environment, **arguments;
} job;

/* The environment with TMPDIR in the job's directory and messages in English. */
static char **make_environment(job *j)
{
    static char language[] = "LC_ALL=C";
    size_t n = 0, used = 0;
    while (environ && environ[n]) n++;
    char **result = DAE_ARRAY(char *, n + 3);
    if (!result) return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0 && strncmp(environ[i], "LC_ALL=", 7) != 0)
            result[used++] = environ[i];
    result[used++] = j->temporary;
    result[used++] = language;
    return result;
}

static bool name_files(job *j, const char *directory, int files)
{
    char name[32];
    bool ok =
        cache_join(j->module, directory, "module.so") && cache_join(j->log, directory, "messages");
    for (int k = 0; ok && k < files; k++) {
        snprintf(name, sizeof name, "source%d.c", k);
        ok = cache_join(j->sources[k], directory, name);
    }
    snprintf(j->temporary, sizeof j->temporary, "TMPDIR=%s", directory);
    return ok;
}

/* posix_spawn takes words without const, and leaves them alone. */
static void add_argument(job *j, size_t *n, const char *word)
{
    memcpy(&j->arguments[(*n)++], &word, sizeof word);
}

static bool make_job(job *j, const compiler_command *command, const char *directory, int files,
                     size_t source_length)
{
    size_t n = 0;
    j->sources = dae_calloc((size_t)files, sizeof *j->sources);
    j->arguments = DAE_ARRAY(char *, NATIVE_WORDS + FLAGS + 8 + files);
    if (!j->sources || !j->arguments || !name_files(j, directory, files)) return false;
    add_argument(j, &n, command->path);
    for (int k = 1; k < command->count; k++) add_argument(j, &n, command->words[k]);
    add_argument(j, &n, optimisation(source_length));
    for (int k = 0; k < FLAGS; k++) add_argument(j, &n, flags[k]);
    add_argument(j, &n, "-o");
    add_argument(j, &n, j->module);
    for (int k = 0; k < files; k++) add_argument(j, &n, j->sources[k]);
    add_argument(j, &n, "-lm");
    j->environment = make_environment(j);
    return j->environment != NULL;
}

/* A process group of its own, so that all of it can be ended; signals as at login, since a host
 * that ignores SIGCHLD would confuse the compiler's driver. */
static bool set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGCHLD);
    sigaddset(&usual, SIGPIPE);
    return posix_spawnattr_setpgroup(attributes, 0) == 0 &&
           posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &usual) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF) == 0;
}

/* Nothing to read; what is said goes to the log. */
static bool set_files(posix_spawn_file_actions_t *files, const char *log)
{
    return posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0;
}

static bool start(job *j, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    bool ok =
        set_files(&files, j->log) && set_attributes(&attributes) &&
        posix_spawn(pid, j->arguments[0], &files, &attributes, j->arguments, j->environment) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

bool compiler_start(const compiler_command *command, const char *directory, int files,
                    size_t source_length, long *process, char reason[NATIVE_REASON])
{
    job j = {0};
    pid_t pid = 0;
    bool ok = make_job(&j, command, directory, files, source_length) && start(&j, &pid);
    if (!ok) snprintf(reason, NATIVE_REASON, "%.200s could not be started", command->path);
    dae_free_all(j.sources, j.environment, j.arguments);
    *process = pid;
    return ok;
}

double native_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

compiler_state compiler_look(long process)
{
    int status = 0;
    pid_t ended = waitpid((pid_t)process, &status, WNOHANG);
    if (ended == process)
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? COMPILER_ENDED : COMPILER_COMPLAINED;
    return ended < 0 && errno != EINTR ? COMPILER_ENDED : COMPILER_RUNS;
}

void compiler_stop(long process)
{
    int status;
    kill(-(pid_t)process, SIGKILL);
    while (waitpid((pid_t)process, &status, 0) < 0 && errno == EINTR) continue;
}

void compiler_yield(long process)
{
    enum { MODEST = 5 };
    setpriority(PRIO_PGRP, (id_t)process, MODEST);
}

/* The line of the log that names an error, or its first. */
static void read_complaint(const char *log, char text[160])
{
    char line[160];
    FILE *file = fopen(log, "r");
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        bool error = strstr(line, "error") != NULL;
        if (line[0] && (!text[0] || error)) memcpy(text, line, sizeof line);
        if (error) break;
    }
    if (file) fclose(file);
}

void compiler_explain(const compiler_command *command, const char *directory,
                      char reason[NATIVE_REASON])
{
    char log[NATIVE_PATH], complaint[160] = "";
    if (cache_join(log, directory, "messages")) read_complaint(log, complaint);
    if (complaint[0])
        snprintf(reason, NATIVE_REASON, "%.80s failed: %s", command->path, complaint);
    else
        snprintf(reason, NATIVE_REASON, "%.150s failed without a message", command->path);
}
