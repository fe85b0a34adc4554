/* All points of a sweep: handed out, taken back, noted in the journal.
 *
 * One process hands out the numbers of points and writes what comes back. Its workers are copies of
 * it; other ranks of a job of MPI have workers of their own and speak with it by messages. A result
 * follows from its point alone, so that it does not matter who computes it, or how often. */
#define _POSIX_C_SOURCE 200809L

#include "sweep_work.h"

#include "module.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Milliseconds that a wait for results may take: a signal is seen behind it. With other ranks,
 * whose messages no wait can see, they are looked for between short ones. */
enum { PATIENCE = 200, SHORT_PATIENCE = 1 };

enum { TAG_WANT = 1, TAG_GIVE, TAG_RESULT, TAG_HELLO };

/* ---- results ---- */

/* One result, new or from the journal, into the table. */
static report_status note_result(uint64_t item, const unsigned char *bytes, size_t count,
                                 void *user, report_error *error)
{
    sweep_work *w = user;
    int columns = sweep_keep_columns(w->keep);
    sweep_result result;
    if (w->done[item]) return REPORT_OK; /* somebody was slow, and is late */
    if (!sweep_result_read(bytes, count, columns, w->values + item * (size_t)columns, &result))
        return report_fail(error, REPORT_ERR_READ, "The result of point %llu has a wrong size.",
                           (unsigned long long)item + 1);
    w->status[item] = result.status;
    if (result.text[0] && !(w->text[item] = strdup(result.text)))
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for results.");
    w->done[item] = true;
    w->finished++;
    if (result.status < 0) w->failed++;
    return REPORT_OK;
}

static report_status take_result(uint64_t item, const unsigned char *bytes, size_t count,
                                 void *user, report_error *error)
{
    sweep_work *w = user;
    bool fresh = item < w->points->count && !w->done[item];
    if (!fresh) return REPORT_OK;
    report_status status = note_result(item, bytes, count, w, error);
    if (status == REPORT_OK && w->journal)
        status = sweep_journal_add(w->journal, item, bytes, count, error);
    return status;
}

/* Results of more than this are refused: they are kept in memory. */
static const double MOST_BYTES = 16e9;

static int make_room(sweep_work *w)
{
    size_t n = w->points->count, columns = (size_t)sweep_keep_columns(w->keep);
    if ((double)n * (double)columns * sizeof(double) > MOST_BYTES)
        return complain(CLI_USAGE,
                        "%zu points with %zu values each need %.0f GB; more than %.0f "
                        "are refused",
                        n, columns, 8e-9 * (double)n * (double)columns, 1e-9 * MOST_BYTES);
    w->values = malloc((n * columns + 1) * sizeof *w->values);
    w->status = calloc(n, sizeof *w->status);
    w->text = calloc(n, sizeof *w->text);
    w->done = calloc(n, sizeof *w->done);
    return w->values && w->status && w->text && w->done ? CLI_OK
                                                        : complain(CLI_FAILED, "out of memory");
}

/* ---- the journal ---- */

static int open_journal(sweep_work *w)
{
    const char *beside = sweep_main_file(w->r);
    char path[4200];
    uint64_t damaged = 0;
    report_error error = {0};
    if (!beside && w->r->sweep.resume)
        return complain(CLI_USAGE, "resume what? The journal is beside the file of '-o', and there "
                                   "is none");
    if (!beside) return CLI_OK;
    snprintf(path, sizeof path, "%s.journal", beside);
    if (!w->r->sweep.resume && sweep_journal_is_finished(path)) unlink(path);
    bool there = access(path, F_OK) == 0;
    if (there && !w->r->sweep.resume)
        return complain(CLI_USAGE,
                        "'%s' has the points of a sweep that was not finished: '--resume' goes on "
                        "with it; remove it to begin again",
                        path);
    report_status status = there ? sweep_journal_resume(path, &w->identity, note_result, w,
                                                        &w->journal, &damaged, &error)
                                 : sweep_journal_create(path, &w->identity, &w->journal, &error);
    if (status != REPORT_OK)
        return complain(status == REPORT_ERR_READ ? CLI_USAGE : CLI_FAILED, "%s", error.text);
    w->known = w->finished;
    if (!w->r->quiet && damaged > 0)
        warn("daedal: note: the last %llu bytes of '%s' are no whole record; what they had is done "
             "again\n",
             (unsigned long long)damaged, path);
    if (!w->r->quiet && w->r->sweep.resume && !there)
        warn("daedal: note: there is no '%s' to resume; the sweep begins\n", path);
    return CLI_OK;
}

/* ---- progress ---- */

static void show_progress(sweep_work *w, double began)
{
    enum { WIDTH = 30 };
    char text[200];
    size_t all = w->points->count;
    double done = (double)w->finished / (double)all, seconds = wall_time() - began;
    double rate = (double)(w->finished - w->known) / (seconds > 0.0 ? seconds : 1.0);
    int filled = (int)(done * WIDTH);
    snprintf(text, sizeof text, "[%.*s%*s] %3.0f %%  %zu of %zu", filled,
             "##############################", WIDTH - filled, "", 100.0 * done, w->finished, all);
    if (rate > 0.0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %.4g/s, %.0f s left", rate,
                 (double)(all - w->finished) / rate);
    if (w->failed > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %zu failed", w->failed);
    session_tell(w->s, text);
}

/* ---- ranks ---- */

int sweep_launched_rank(void)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *size = getenv(names[k][0]), *rank = getenv(names[k][1]);
        if (size && rank && atoi(size) > 1) return atoi(rank);
    }
    return -1;
}

/* What the one that hands out knows of the others. */
typedef struct ranks {
    const mpi_module *mpi; /* NULL: there are none */
    int rank, size;
    uint64_t *wants; /* of each rank; owned */
    sweep_buffer message;
} ranks;

static report_status mpi_failed(report_error *error, int code)
{
    return report_fail(error, REPORT_ERR_FILE, "A message between ranks failed: error %d of MPI.",
                       code);
}

/* Numbers of points that nobody has had: up to `most`, in their order. */
static size_t next_points(sweep_work *w, size_t *next, size_t most, uint64_t *items)
{
    size_t count = 0;
    for (; count < most && *next < w->points->count; (*next)++)
        if (!w->done[*next]) items[count++] = *next;
    return count;
}

enum { MOST_GIVEN = 4096 };

static report_status give_ranks(sweep_work *w, ranks *k, size_t *next, report_error *error)
{
    uint64_t items[MOST_GIVEN];
    for (int to = 1; to < k->size; to++) {
        size_t most = k->wants[to] < MOST_GIVEN ? (size_t)k->wants[to] : MOST_GIVEN;
        size_t count = most > 0 ? next_points(w, next, most, items) : 0;
        if (count == 0) continue;
        int code = k->mpi->send(to, TAG_GIVE, items, count * sizeof *items);
        if (code != 0) return mpi_failed(error, code);
        k->wants[to] = 0;
    }
    return REPORT_OK;
}

/* Records "item, length, bytes" of a message. */
static report_status take_records(sweep_work *w, const sweep_buffer *b, report_error *error)
{
    report_status status = REPORT_OK;
    uint64_t head[2];
    for (size_t at = 0; at + sizeof head <= b->count && status == REPORT_OK;) {
        memcpy(head, b->bytes + at, sizeof head);
        at += sizeof head;
        if (head[1] > b->count - at)
            return report_fail(error, REPORT_ERR_READ, "A message between ranks is cut off.");
        status = take_result(head[0], b->bytes + at, (size_t)head[1], w, error);
        at += (size_t)head[1];
    }
    return status;
}

/* Ranks must have one model and one set of words, or their rows are not those of one sweep. */
static report_status check_hello(const sweep_work *w, int from, const sweep_buffer *b,
                                 report_error *error)
{
    if (b->count == sizeof w->identity && memcmp(b->bytes, &w->identity, b->count) == 0)
        return REPORT_OK;
    return report_fail(error, REPORT_ERR_READ,
                       "Rank %d has another model, version or file than rank 0.", from);
}

/* One message that waits, if any; *found tells. */
static report_status receive(ranks *k, int *found, int *from, int *tag, report_error *error)
{
    size_t count = 0;
    int code = k->mpi->probe(found, from, tag, &count);
    if (code != 0) return mpi_failed(error, code);
    if (!*found) return REPORT_OK;
    k->message.count = 0;
    if (!sweep_buffer_room(&k->message, count + 1))
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for messages.");
    code = k->mpi->receive(*from, *tag, k->message.bytes, count);
    k->message.count = count;
    return code == 0 ? REPORT_OK : mpi_failed(error, code);
}

static report_status hear_ranks(sweep_work *w, ranks *k, report_error *error)
{
    int found = 1, from = 0, tag = 0;
    report_status status = REPORT_OK;
    while (status == REPORT_OK) {
        status = receive(k, &found, &from, &tag, error);
        if (status != REPORT_OK || !found) break;
        if (tag == TAG_HELLO) status = check_hello(w, from, &k->message, error);
        if (tag == TAG_RESULT) status = take_records(w, &k->message, error);
        if (tag == TAG_WANT) memcpy(&k->wants[from], k->message.bytes, sizeof *k->wants);
    }
    return status;
}

/* ---- the rank that hands out ---- */

static report_status feed_pool(sweep_work *w, sweep_pool *pool, size_t *next, report_error *error)
{
    uint64_t items[MOST_GIVEN];
    size_t wants = sweep_pool_wants(pool);
    size_t count = next_points(w, next, wants < MOST_GIVEN ? wants : MOST_GIVEN, items);
    return sweep_pool_give(pool, items, count, error);
}

static int lead(sweep_work *w, sweep_pool *pool, ranks *k)
{
    report_error error = {0};
    report_status status = REPORT_OK;
    size_t next = 0, all = w->points->count;
    double began = wall_time();
    w->s->wall_start = w->s->wall_shown = began;
    while (w->finished < all && status == REPORT_OK && !signal_caught()) {
        status = feed_pool(w, pool, &next, &error);
        if (status == REPORT_OK && k->mpi) status = hear_ranks(w, k, &error);
        if (status == REPORT_OK && k->mpi) status = give_ranks(w, k, &next, &error);
        if (status == REPORT_OK)
            status =
                sweep_pool_take(pool, k->mpi ? SHORT_PATIENCE : PATIENCE, take_result, w, &error);
        if (status == REPORT_OK && w->journal) status = sweep_journal_write(w->journal, &error);
        show_progress(w, began);
    }
    session_clear_progress(w->s);
    w->seconds = wall_time() - began;
    if (w->journal && status == REPORT_OK) status = sweep_journal_sync(w->journal, &error);
    for (int to = 1; k->mpi && to < k->size && status == REPORT_OK && w->finished == all; to++)
        if (k->mpi->send(to, TAG_GIVE, NULL, 0) != 0) status = mpi_failed(&error, 0);
    if (status != REPORT_OK) return complain(CLI_FAILED, "%s", error.text);
    if (w->finished == all) return CLI_OK;
    return complain_interrupted("after %zu of %zu points%s", w->finished, all,
                                w->journal ? "; '--resume' goes on" : "");
}

/* ---- the others ---- */

static report_status pack_result(uint64_t item, const unsigned char *bytes, size_t count,
                                 void *user, report_error *error)
{
    sweep_buffer *out = user;
    uint64_t head[2] = {item, count};
    sweep_buffer_add(out, head, sizeof head);
    sweep_buffer_add(out, bytes, count);
    return out->failed ? report_fail(error, REPORT_ERR_MEMORY, "Out of memory for messages.")
                       : REPORT_OK;
}

/* Work for rank 0 until it says that there is no more. */
static report_status follow(sweep_work *w, sweep_pool *pool, ranks *k, report_error *error)
{
    report_status status = REPORT_OK;
    sweep_buffer out = {0};
    bool asked = false, over = false;
    int code = k->mpi->send(0, TAG_HELLO, &w->identity, sizeof w->identity);
    while (!over && status == REPORT_OK && code == 0) {
        int found = 0, from = 0, tag = 0;
        uint64_t wants = sweep_pool_wants(pool);
        if (!asked && wants > 0) code = k->mpi->send(0, TAG_WANT, &wants, sizeof wants);
        asked = asked || wants > 0;
        status = receive(k, &found, &from, &tag, error);
        if (status == REPORT_OK && found && tag == TAG_GIVE) {
            over = k->message.count == 0;
            asked = false;
            size_t count = k->message.count / sizeof(uint64_t);
            status = sweep_pool_give(pool, (uint64_t *)(void *)k->message.bytes, count, error);
        }
        if (status == REPORT_OK)
            status = sweep_pool_take(pool, SHORT_PATIENCE, pack_result, &out, error);
        if (status == REPORT_OK && out.count > 0)
            code = k->mpi->send(0, TAG_RESULT, out.bytes, out.count);
        out.count = 0;
    }
    sweep_buffer_free(&out);
    return code == 0 ? status : mpi_failed(error, code);
}

/* ---- both ---- */

static int join_ranks(ranks *k)
{
    k->mpi = module_mpi();
    if (!k->mpi) return CLI_USAGE;
    int code = k->mpi->begin(&k->rank, &k->size);
    if (code != 0) return complain(CLI_FAILED, "MPI cannot be started: error %d", code);
    k->wants = calloc((size_t)k->size, sizeof *k->wants);
    if (!k->wants) return complain(CLI_FAILED, "out of memory");
    if (k->size > 1) return CLI_OK;
    k->mpi->finish();
    return complain(CLI_FAILED, "MPI knows of one rank, and the launcher of several: the module is "
                                "of another MPI than the launcher");
}

static int count_jobs(const request *r, bool job)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (r->sweep.jobs > 0) return (int)r->sweep.jobs;
    return job || cores < 1 ? 1 : cores > 1024 ? 1024 : (int)cores;
}

/* What all of the job do once the workers are there. */
static int work_together(sweep_work *w, sweep_pool *pool, ranks *k, bool *others)
{
    report_error error = {0};
    int code = CLI_OK;
    *others = k->mpi && k->rank > 0;
    w->ranks = k->mpi ? k->size : 1;
    if (*others) {
        if (follow(w, pool, k, &error) != REPORT_OK) code = complain(CLI_FAILED, "%s", error.text);
    } else {
        code = open_journal(w);
        if (code == CLI_OK) code = lead(w, pool, k);
    }
    sweep_pool_free(pool);
    if (k->mpi && code != CLI_OK) k->mpi->give_up(code);
    if (k->mpi) k->mpi->finish();
    return code;
}

int sweep_all_points(sweep_work *w, bool *others)
{
    ranks k = {0};
    bool job = sweep_launched_rank() >= 0;
    report_error error = {0};
    sweep_pool *pool = NULL;
    w->jobs = count_jobs(w->r, job);
    if ((size_t)w->jobs > w->points->count) w->jobs = (int)w->points->count;
    const sweep_pool_request wanted = {.workers = w->jobs,
                                       .work = sweep_run_point,
                                       .begin = sweep_begin_worker,
                                       .lost = sweep_lost_point,
                                       .user = w};
    w->other_values = calloc((size_t)w->points->columns, sizeof *w->other_values);
    int code = w->other_values ? CLI_OK : complain(CLI_FAILED, "out of memory");
    /* workers come first: MPI does not like to be copied */
    if (code == CLI_OK && sweep_pool_new(&wanted, &pool, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    if (code == CLI_OK && sweep_launched_rank() <= 0) code = make_room(w);
    if (code == CLI_OK && job) code = join_ranks(&k);
    if (code == CLI_OK)
        code = work_together(w, pool, &k, others);
    else
        sweep_pool_free(pool);
    free(k.wants);
    sweep_buffer_free(&k.message);
    return code;
}
