/* Signals that end a command: caught, so that it can tidy up. */
#define _POSIX_C_SOURCE 200809L

#include "signals.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught, times_caught;
static struct timespec first_time; /* written by the handler once, before `caught` is */

/* Seconds after which whoever asks again gets an end at once. Everything is to answer within one.
 */
enum { PATIENCE = 3 };

/* The first signal asks for an end, and so do others in the next seconds. After that, whatever does
 * not answer is ended. */
static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (caught == 0)
        first_time = now;
    else if (now.tv_sec - first_time.tv_sec > PATIENCE)
        _exit(128 + number);
    caught = number;
    times_caught = times_caught + 1;
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
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
    /* these are told by what is written: a closed pipe, a file beyond the limit */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

int signal_caught(void)
{
    return (int)caught;
}

int signals_counted(void)
{
    return (int)times_caught;
}

int ask_interrupted(void *user)
{
    (void)user;
    return caught != 0;
}
