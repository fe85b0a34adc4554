/* Signals that end a command: caught, so that it can tidy up. */
#define _XOPEN_SOURCE 700

#include "signals.h"

#include "cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

/* Milliseconds in which a signal is answered; seconds in which the command has tidied up then. */
enum { PATIENCE = 800, TIDYING = 10 };

static volatile sig_atomic_t caught, times_caught;
static volatile sig_atomic_t at_stake; /* there are results that a sudden end would lose */
static volatile sig_atomic_t warned;   /* that they are finished first */

/* The first signal asks for an end, which comes as soon as somebody looks. */
static void on_signal(int number)
{
    if (warned) _exit(CLI_SIGNAL + number);
    const struct itimerval patience = {.it_value = {.tv_usec = 1000 * PATIENCE}};
    if (caught == 0) setitimer(ITIMER_REAL, &patience, NULL);
    caught = number;
    times_caught = times_caught + 1;
}

static void end_now(void)
{
    static const char words[] = "daedal: interrupted\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(CLI_SIGNAL + (int)caught);
    _exit(CLI_SIGNAL + (int)caught);
}

/* Nobody looked: the factorisation of a large matrix, say, cannot be interrupted. Files have no
 * name before they are complete, so nothing is left behind by a sudden end. */
static void on_alarm(int number)
{
    static const char words[] =
        "daedal: interrupted; what was reached is written after the step under way. Another "
        "signal ends it at once\n";
    (void)number;
    if (!at_stake) end_now();
    warned = 1;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) end_now();
}

/* What is ignored when the command starts (nohup, a background job) stays so. */
static void catch_signal(int number)
{
    struct sigaction ours = {.sa_handler = on_signal}, before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
    sigaction(number, &ours, NULL);
}

void signals_catch(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, on_time = {.sa_handler = on_alarm};
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    sigaction(SIGALRM, &on_time, NULL);
    /* these are told by what is written: a closed pipe, a file beyond the limit */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

void signals_spare_results(void)
{
    at_stake = 1;
}

void signals_watched(void)
{
    const struct itimerval off = {.it_value = {.tv_usec = 0}};
    setitimer(ITIMER_REAL, &off, NULL);
}

int signal_caught(void)
{
    return (int)caught;
}

int signals_counted(void)
{
    return (int)times_caught;
}

/* What follows tidies up: an alarm in the midst of it would leave a compiler and its files. Output
 * that nobody reads does not keep the command for ever. */
int complain_interrupted(const char *format, ...)
{
    const struct itimerval tidying = {.it_value = {.tv_sec = TIDYING}};
    char where[200];
    va_list arguments;
    if (!at_stake) setitimer(ITIMER_REAL, &tidying, NULL);
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    return complain(CLI_SIGNAL + signal_caught(), "interrupted %s", where);
}

int ask_interrupted(void *user)
{
    (void)user;
    return caught != 0;
}
