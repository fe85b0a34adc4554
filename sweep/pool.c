/* A pool of worker processes.
 *
 * A worker is a copy of this process (fork): it has the translated model, its native code and its
 * solver without making them again, and shares nothing that threads would wait for. If one crashes,
 * or is killed, another copy takes its place, and what it had is done again. Items go to it through
 * a socket, and results come back in their order, many at a time where runs are short: a message
 * for each takes as long as a tenth of a short run. Which item a worker is at stands in memory that
 * it shares with this process, so that the right one is blamed if it crashes. */
#define _GNU_SOURCE
#include "sweep.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A worker has items for so many seconds, so that it does not wait for more, and nobody at the end
 * waits for it. */
static const double AHEAD = 0.05;
enum { LEAST_AHEAD = 2, MOST_AHEAD = 512 };
/* A result waits for others so long, in seconds: a fifth of that. */
static const double GATHER = 0.01;
/* So often an item may end its worker: by a fault of its own, or by somebody's kill -9 (which may
 * be the system's, when memory is short). */
enum { MOST_FAULTS = 2, MOST_KILLS = 8 };
/* Workers that end, one after the other, without a single result, and not by faults of items, which
 * are lost one by one. */
enum { MOST_IN_VAIN = 32 };
/* What a worker is at before its first item. */
static const uint64_t NOTHING = UINT64_MAX;

typedef struct worker {
    pid_t process; /* 0: none */
    int socket;
    uint64_t *item; /* a ring of MOST_AHEAD: what it was given and has not answered */
    size_t first, count;
    size_t unsent;  /* the last ones of these, which it does not know of yet */
    size_t careful; /* so many results it sends one by one: what the one before it had when it ended
                     */
    sweep_buffer in; /* the beginning of an answer */
} worker;

typedef struct blamed {
    uint64_t item;
    int faults, kills;
} blamed;

struct sweep_pool {
    sweep_pool_request request;
    worker *list; /* owned */
    int count;
    volatile uint64_t *at; /* the item that each worker is at; memory of all processes; owned */
    uint64_t *waiting;     /* items that nobody has, the last one first; owned */
    size_t waiting_count, waiting_capacity;
    blamed *blamed; /* owned */
    size_t blamed_count;
    size_t outstanding; /* given to workers */
    double began;
    double finished; /* items */
    int in_vain;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static report_status no_memory(report_error *error)
{
    return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for workers.");
}

/* ---- in a worker ---- */

/* Items that a worker has been told of and has not begun. */
typedef struct agenda {
    unsigned char bytes[MOST_AHEAD * sizeof(uint64_t)];
    size_t first, end;
} agenda;

static bool has_item(const agenda *a)
{
    return a->end - a->first >= sizeof(uint64_t);
}

/* The next item, once it has come; false: the other end is closed */
static bool next_item(agenda *a, int from, uint64_t *item)
{
    if (!has_item(a)) {
        memmove(a->bytes, a->bytes + a->first, a->end - a->first);
        a->end -= a->first;
        a->first = 0;
    }
    while (!has_item(a)) {
        ssize_t got = read(from, a->bytes + a->end, sizeof a->bytes - a->end);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        a->end += (size_t)got;
    }
    memcpy(item, a->bytes + a->first, sizeof *item);
    a->first += sizeof *item;
    return true;
}

static bool write_all(int to, const void *from, size_t count)
{
    for (const char *at = from; count > 0;) {
        ssize_t put = send(to, at, count, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        count -= (size_t)put;
    }
    return true;
}

/* Control-C is for the process that hands out the work; its end is ours. */
static void settle(const sweep_pool *pool, const worker *mine, pid_t parent)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
    sigaction(SIGTERM, &usual, NULL);
    sigaction(SIGALRM, &usual, NULL);
    for (int k = 0; k < pool->count; k++)
        if (&pool->list[k] != mine && pool->list[k].process) close(pool->list[k].socket);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(0);
}

/* "item, length, bytes" behind what is in the buffer. */
static void answer(const sweep_pool_request *request, uint64_t item, sweep_buffer *out)
{
    uint64_t head[2] = {item, 0};
    size_t before = out->count;
    sweep_buffer_add(out, head, sizeof head);
    request->work(item, out, request->user);
    if (out->failed) return;
    head[1] = out->count - before - sizeof head;
    memcpy(out->bytes + before, head, sizeof head);
}

/* Answer items until the other end is closed. Answers go out when there is nothing else to do, when
 * the first has waited for GATHER, and one by one while the worker is careful. */
static void serve(const sweep_pool_request *request, int socket, size_t careful,
                  volatile uint64_t *at)
{
    uint64_t item;
    agenda todo = {.end = 0};
    sweep_buffer out = {0};
    double sent = now();
    if (request->begin) request->begin(request->user);
    while (next_item(&todo, socket, &item)) {
        *at = item;
        answer(request, item, &out);
        if (out.failed) break;
        bool due = careful > 0 || !has_item(&todo) || now() - sent > GATHER;
        if (careful > 0) careful--;
        if (!due) continue;
        if (!write_all(socket, out.bytes, out.count)) break;
        out.count = 0;
        sent = now();
    }
}

/* ---- workers ---- */

static report_status start_worker(sweep_pool *pool, worker *w, report_error *error)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return report_fail(error, REPORT_ERR_FILE, "No socket for a worker: %s.", strerror(errno));
    volatile uint64_t *at = &pool->at[w - pool->list];
    *at = NOTHING;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        settle(pool, w, parent);
        serve(&pool->request, ends[1], w->careful, at);
        _exit(0);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return report_fail(error, REPORT_ERR_FILE, "No process for a worker: %s.", strerror(errno));
    }
    w->process = process;
    w->socket = ends[0];
    w->in.count = 0;
    return REPORT_OK;
}

static volatile uint64_t *shared_items(int count)
{
    void *block = mmap(NULL, (size_t)count * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

report_status sweep_pool_new(const sweep_pool_request *request, sweep_pool **pool,
                             report_error *error)
{
    sweep_pool *p = calloc(1, sizeof *p);
    report_status status = p ? REPORT_OK : no_memory(error);
    *pool = p;
    if (!p) return status;
    p->request = *request;
    p->list = calloc((size_t)request->workers, sizeof *p->list);
    p->at = shared_items(request->workers);
    if (!p->list || !p->at) status = no_memory(error);
    for (int k = 0; k < request->workers && status == REPORT_OK; k++) {
        worker *w = &p->list[p->count];
        w->item = calloc(MOST_AHEAD, sizeof *w->item);
        p->count++;
        status = w->item ? start_worker(p, w, error) : no_memory(error);
    }
    p->began = now();
    if (status == REPORT_OK) return status;
    sweep_pool_free(p);
    *pool = NULL;
    return status;
}

void sweep_pool_free(sweep_pool *p)
{
    for (int k = 0; p && k < p->count; k++) {
        worker *w = &p->list[k];
        if (w->process) {
            close(w->socket);
            kill(w->process, SIGKILL);
            while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR) continue;
        }
        free(w->item);
        sweep_buffer_free(&w->in);
    }
    if (!p) return;
    if (p->at) munmap((void *)p->at, (size_t)p->request.workers * sizeof *p->at);
    free(p->list);
    free(p->waiting);
    free(p->blamed);
    free(p);
}

/* ---- handing out ---- */

/* Items of AHEAD seconds, at the pace so far. */
static size_t ahead(const sweep_pool *p)
{
    double pace = p->finished / (now() - p->began + 1e-3) / p->count, wish = AHEAD * pace;
    return wish < LEAST_AHEAD ? LEAST_AHEAD : wish > MOST_AHEAD ? MOST_AHEAD : (size_t)wish;
}

size_t sweep_pool_wants(const sweep_pool *p)
{
    size_t most = ahead(p) * (size_t)p->count, has = p->outstanding + p->waiting_count;
    return most > has ? most - has : 0;
}

static bool wait_in_line(sweep_pool *p, uint64_t item)
{
    if (p->waiting_count == p->waiting_capacity) {
        size_t capacity = 2 * p->waiting_capacity + 64;
        uint64_t *list = realloc(p->waiting, capacity * sizeof *list);
        if (!list) return false;
        p->waiting = list;
        p->waiting_capacity = capacity;
    }
    p->waiting[p->waiting_count++] = item;
    return true;
}

/* Give what waits to those who have least. */
static void distribute(sweep_pool *p)
{
    size_t most = ahead(p);
    while (p->waiting_count > 0) {
        worker *least = NULL;
        for (int k = 0; k < p->count; k++) {
            worker *w = &p->list[k];
            if (w->process && (!least || w->count < least->count)) least = w;
        }
        if (!least || least->count >= most) return;
        uint64_t item = p->waiting[--p->waiting_count];
        least->item[(least->first + least->count++) % MOST_AHEAD] = item;
        least->unsent++;
        p->outstanding++;
    }
}

/* Tell a worker what it was given. One that does not take it is found dead soon. */
static void tell(worker *w)
{
    for (size_t part; w->unsent > 0; w->unsent -= part) {
        size_t from = (w->first + w->count - w->unsent) % MOST_AHEAD, rest = MOST_AHEAD - from;
        part = w->unsent < rest ? w->unsent : rest;
        (void)write_all(w->socket, &w->item[from], part * sizeof *w->item);
    }
}

static void hand_out(sweep_pool *p)
{
    distribute(p);
    for (int k = 0; k < p->count; k++)
        if (p->list[k].process) tell(&p->list[k]);
}

report_status sweep_pool_give(sweep_pool *p, const uint64_t *items, size_t count,
                              report_error *error)
{
    for (size_t k = count; k-- > 0;)
        if (!wait_in_line(p, items[k])) return no_memory(error);
    hand_out(p);
    return REPORT_OK;
}

/* ---- taking ---- */

/* What an item that ended its worker is blamed for; NULL: memory */
static blamed *blame(sweep_pool *p, uint64_t item)
{
    for (size_t k = 0; k < p->blamed_count; k++)
        if (p->blamed[k].item == item) return &p->blamed[k];
    blamed *list = realloc(p->blamed, (p->blamed_count + 1) * sizeof *list);
    if (!list) return NULL;
    p->blamed = list;
    list[p->blamed_count] = (blamed){.item = item};
    return &list[p->blamed_count++];
}

static report_status give_up(sweep_pool *p, uint64_t item, int signal, sweep_taker take, void *user,
                             report_error *error)
{
    sweep_buffer out = {0};
    p->request.lost(item, signal, &out, p->request.user);
    report_status status =
        out.failed ? no_memory(error) : take(item, out.bytes, out.count, user, error);
    sweep_buffer_free(&out);
    return status;
}

/* Whether an item may have ended a worker: it was at one. */
static bool had_begun(const sweep_pool *p, const worker *w)
{
    return w->count > 0 && p->at[w - p->list] != NOTHING;
}

/* Which of its items ended a worker: the one that it was at; the first, if it was at none of them.
 */
static size_t culprit(const sweep_pool *p, const worker *w)
{
    uint64_t item = p->at[w - p->list];
    for (size_t k = 0; k < w->count; k++)
        if (w->item[(w->first + k) % MOST_AHEAD] == item) return k;
    return 0;
}

/* The worker is gone: its items wait again, but for one that has ended too many. */
static report_status bury(sweep_pool *p, worker *w, sweep_taker take, void *user,
                          report_error *error)
{
    int state = 0;
    report_status status = REPORT_OK;
    close(w->socket);
    kill(w->process, SIGKILL); /* it may have closed its end alone */
    while (waitpid(w->process, &state, 0) < 0 && errno == EINTR) continue;
    w->process = 0;
    int signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    size_t last = culprit(p, w);
    uint64_t item = w->item[(w->first + last) % MOST_AHEAD];
    blamed *b = had_begun(p, w) ? blame(p, item) : NULL;
    if (had_begun(p, w) && !b) return no_memory(error);
    if (b && signal == SIGKILL) b->kills++;
    if (b && signal != SIGKILL) b->faults++;
    bool lost = b && (b->kills >= MOST_KILLS || b->faults >= MOST_FAULTS);
    for (size_t k = w->count; k-- > 0 && status == REPORT_OK;)
        if (!(lost && k == last) && !wait_in_line(p, w->item[(w->first + k) % MOST_AHEAD]))
            status = no_memory(error);
    if (status == REPORT_OK && lost) status = give_up(p, item, signal, take, user, error);
    p->outstanding -= w->count;
    w->careful = w->count;
    w->count = w->unsent = 0;
    if (!b || signal == SIGKILL) p->in_vain++;
    if (status == REPORT_OK && p->in_vain > MOST_IN_VAIN)
        status =
            report_fail(error, REPORT_ERR_FILE,
                        "Workers keep ending without a result, the last by signal %d.", signal);
    return status == REPORT_OK ? start_worker(p, w, error) : status;
}

/* All whole answers of a worker. */
static report_status take_answers(sweep_pool *p, worker *w, sweep_taker take, void *user,
                                  report_error *error)
{
    size_t at = 0;
    uint64_t head[2];
    report_status status = REPORT_OK;
    while (status == REPORT_OK && w->in.count - at >= sizeof head) {
        memcpy(head, w->in.bytes + at, sizeof head);
        if (w->in.count - at - sizeof head < head[1]) break;
        status = take(head[0], w->in.bytes + at + sizeof head, (size_t)head[1], user, error);
        at += sizeof head + (size_t)head[1];
        w->first = (w->first + 1) % MOST_AHEAD;
        w->count--;
        p->outstanding--;
        p->finished += 1.0;
        p->in_vain = 0;
    }
    if (at > 0) memmove(w->in.bytes, w->in.bytes + at, w->in.count - at);
    w->in.count -= at;
    return status;
}

/* What a worker has sent; *gone: it sends no more */
static report_status receive(worker *w, bool *gone, report_error *error)
{
    unsigned char block[65536];
    for (*gone = false;;) {
        ssize_t got = recv(w->socket, block, sizeof block, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return REPORT_OK;
        *gone = got <= 0;
        if (*gone) return REPORT_OK;
        sweep_buffer_add(&w->in, block, (size_t)got);
        if (w->in.failed) return no_memory(error);
        if ((size_t)got < sizeof block) return REPORT_OK;
    }
}

report_status sweep_pool_take(sweep_pool *p, int milliseconds, sweep_taker take, void *user,
                              report_error *error)
{
    report_status status = REPORT_OK;
    struct pollfd *ready = calloc((size_t)p->count, sizeof *ready);
    if (!ready) return no_memory(error);
    for (int k = 0; k < p->count; k++)
        ready[k] = (struct pollfd){.fd = p->list[k].socket, .events = POLLIN};
    int found = poll(ready, (nfds_t)p->count, milliseconds);
    for (int k = 0; k < p->count && found > 0 && status == REPORT_OK; k++) {
        bool gone = false;
        if (!ready[k].revents) continue;
        status = receive(&p->list[k], &gone, error);
        if (status == REPORT_OK) status = take_answers(p, &p->list[k], take, user, error);
        if (status == REPORT_OK && gone) status = bury(p, &p->list[k], take, user, error);
    }
    if (status == REPORT_OK) hand_out(p);
    free(ready);
    return status;
}
