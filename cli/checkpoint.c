/* Checkpoints of a run.
 *
 * FILE holds the solver and where its rows stand; FILE.rows holds the rows, one behind the other.
 * Rows are on the disk before the checkpoint that counts them, and what is behind them does not
 * count: a run that is killed at any moment goes on from the last complete checkpoint.
 *
 * A save changes nothing, so it may come by the clock: a run that was killed ten times, and one
 * without checkpoints, write the same files. Between two writes a point is kept in memory now and
 * then, for runs that fail or are asked to end: within a step, where they notice, nothing can be
 * saved. */
#define _POSIX_C_SOURCE 200809L

#include "checkpoint.h"

#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double DEFAULT_SECONDS = 60.0;
static const char MAGIC[8] = "DAEDALR2";

/* In front of the solver. */
typedef struct head {
    char magic[8];
    uint64_t bytes;         /* of this struct */
    uint64_t point;         /* the number of its step */
    uint64_t columns, grid; /* hashes: what is recorded, and when */
    uint64_t rows, row_bytes, rows_hash;
    uint64_t next;   /* row of the grid */
    double last, t;  /* times of the last row, and of the solver */
    uint64_t warned; /* bytes behind: variables that were told to leave their bounds, */
    uint64_t all;    /* and with those of the solver behind them */
    uint64_t hash;   /* of all above, and of those */
} head;

/* A point of the run, in memory until it is written. */
typedef struct run_point {
    head head;
    unsigned char *bytes; /* behind the head; owned */
    size_t count, room;
} run_point;

struct run_checkpoint {
    const char *path; /* borrowed */
    char *rows_path;  /* owned */
    FILE *rows;
    bool resumes, replays; /* goes on from it; rows come from there */
    bool failed;           /* rows could not be kept, and that was told */
    double seconds;        /* between two that are written */
    long steps;            /* between two points */
    double written;        /* when the last one was */
    uint64_t count, row_bytes, hash;
    run_point last, next; /* the last complete one; the one that is made */
    bool any, stored;     /* there is a last one; it is on the disk */
};

/* ---- words ---- */

int checkpoint_every(checkpoint_words *words, const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"steps", 0.0}};
    char *end;
    double number = strtod(text, &end);
    for (size_t k = 0; end != text && k < sizeof units / sizeof *units; k++) {
        if (strcmp(end, units[k].unit) != 0 || !(number > 0.0) || !(number < 1e9)) continue;
        if (units[k].seconds > 0.0) {
            words->seconds = number * units[k].seconds;
            return CLI_OK;
        }
        if (number != floor(number)) break;
        words->steps = (long)number;
        return CLI_OK;
    }
    return complain(CLI_USAGE,
                    "option '--every' needs a time or a number of steps, as 60s, 10min, 2h or "
                    "500steps; not '%s'",
                    text);
}

int checkpoint_check(const checkpoint_words *words)
{
    if (words->path && words->resume && strcmp(words->path, words->resume) != 0)
        return complain(CLI_USAGE,
                        "a run goes on with the checkpoint that it is resumed from: leave "
                        "'--checkpoint %s' out",
                        words->path);
    if ((words->seconds > 0.0 || words->steps > 0) && !words->path && !words->resume)
        return complain(CLI_USAGE, "option '--every' goes with '--checkpoint' or '--resume'");
    return CLI_OK;
}

/* ---- hashes ---- */

/* FNV-1a, going on from `hash` */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * UINT64_C(1099511628211);
    return hash;
}

static const uint64_t EMPTY = UINT64_C(14695981039346656037);

static uint64_t hash_columns(const report_series *series)
{
    uint64_t hash = hash_bytes(EMPTY, &series->shown, sizeof series->shown);
    for (int i = 0; i < series->n; i++)
        hash = hash_bytes(hash, series->names[i], strlen(series->names[i]) + 1);
    return hash;
}

static uint64_t hash_grid(const grid *g)
{
    const double numbers[] = {g->kind, g->t0, g->tend, (double)g->count, g->interval, g->first};
    return hash_bytes(EMPTY, numbers, sizeof numbers);
}

static uint64_t hash_point(const run_point *p)
{
    head h = p->head;
    h.hash = 0;
    return hash_bytes(hash_bytes(EMPTY, &h, sizeof h), p->bytes, p->count);
}

/* ---- opening ---- */

/* Steps between two points: some tenths of a second, by the size of the problem. */
static long usual_steps(const dae_problem *problem)
{
    const double work = 1e6, most = 10000.0, least = 10.0;
    return (long)fmax(least, fmin(most, work / (100.0 + dae_problem_size(problem))));
}

static int cannot(const char *path, const char *what, int reason)
{
    return complain(CLI_FAILED, "'%s' cannot be %s: %s", path, what, strerror(reason));
}

static run_checkpoint *checkpoint_new(const session *s, const checkpoint_words *words)
{
    run_checkpoint *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->path = words->resume ? words->resume : words->path;
    c->resumes = words->resume;
    c->seconds = words->seconds > 0.0 ? words->seconds : words->steps > 0 ? 0.0 : DEFAULT_SECONDS;
    c->steps = words->steps > 0 ? words->steps : usual_steps(s->problem);
    c->hash = EMPTY;
    const size_t length = strlen(c->path);
    c->rows_path = malloc(length + sizeof ".rows");
    if (c->rows_path) {
        memcpy(c->rows_path, c->path, length);
        memcpy(c->rows_path + length, ".rows", sizeof ".rows");
        return c;
    }
    free(c);
    return NULL;
}

int checkpoint_open(session *s, const checkpoint_words *words)
{
    struct stat there;
    if (!words->path && !words->resume) return CLI_OK;
    run_checkpoint *c = s->checkpoint = checkpoint_new(s, words);
    if (!c) return complain(CLI_FAILED, "out of memory");
    if (!c->resumes && stat(c->path, &there) == 0)
        return complain(CLI_USAGE,
                        "'%s' is there already: go on with it by '--resume %s', or remove it",
                        c->path, c->path);
    c->rows = fopen(c->rows_path, c->resumes ? "r+b" : "w+b");
    if (!c->rows && c->resumes && stat(c->path, &there) != 0) c->rows_path[strlen(c->path)] = '\0';
    if (!c->rows)
        return complain(c->resumes ? CLI_USAGE : CLI_FAILED, "'%s' cannot be %s: %s", c->rows_path,
                        c->resumes ? "read" : "written", strerror(errno));
    c->written = wall_time();
    return CLI_OK;
}

bool checkpoint_resumes(const session *s)
{
    return s->checkpoint && s->checkpoint->resumes;
}

void checkpoint_close(session *s)
{
    run_checkpoint *c = s->checkpoint;
    if (!c) return;
    if (c->rows) fclose(c->rows);
    free(c->rows_path);
    free(c->last.bytes);
    free(c->next.bytes);
    free(c);
    s->checkpoint = NULL;
}

void checkpoint_done(session *s)
{
    run_checkpoint *c = s->checkpoint;
    if (!c) return;
    unlink(c->path); /* first: without its rows it would be of no use */
    unlink(c->rows_path);
}

/* ---- rows ---- */

int checkpoint_row(run_checkpoint *c, int n, double t, const double *y, const char *digits)
{
    const size_t texts = digits ? (size_t)n * DAE_DIGITS_SIZE : 0;
    if (!c || c->replays || c->failed) return CLI_OK;
    errno = 0;
    bool done = fwrite(&t, sizeof t, 1, c->rows) == 1 &&
                fwrite(y, sizeof *y, (size_t)n, c->rows) == (size_t)n &&
                (texts == 0 || fwrite(digits, 1, texts, c->rows) == texts);
    c->failed = !done;
    if (!done) return cannot(c->rows_path, "written", errno);
    c->hash = hash_bytes(hash_bytes(c->hash, &t, sizeof t), y, (size_t)n * sizeof *y);
    if (digits) c->hash = hash_bytes(c->hash, digits, texts);
    c->row_bytes = (1 + (size_t)n) * sizeof(double) + texts;
    c->count++;
    return CLI_OK;
}

/* The next row of the file into `row`, hashed; whether there is one. */
static bool read_row(run_checkpoint *c, void *row)
{
    if (fread(row, 1, c->row_bytes, c->rows) != c->row_bytes) return false;
    c->hash = hash_bytes(c->hash, row, c->row_bytes);
    return true;
}

/* All rows up to the checkpoint go where rows go; `add`: not only looked at. Exit code. */
static int replay(run_checkpoint *c, const head *h, recorder *rows, bool add)
{
    const size_t numbers = (1 + (size_t)rows->series->n) * sizeof(double);
    double *row = malloc((size_t)h->row_bytes + 1);
    int code = row ? CLI_OK : complain(CLI_FAILED, "out of memory");
    bool whole = true;
    rewind(c->rows);
    c->hash = EMPTY;
    for (c->count = 0; code == CLI_OK && c->count < h->rows && whole; c->count++) {
        whole = read_row(c, row);
        const char *digits = h->row_bytes > numbers ? (const char *)row + numbers : NULL;
        if (whole && add) code = recorder_add(rows, row[0], row + 1, digits);
    }
    free(row);
    if (code == CLI_OK && (!whole || c->hash != h->rows_hash))
        return complain(CLI_USAGE, "'%s' does not have the %s that belong to '%s', or is damaged",
                        c->rows_path, PLURAL((long)h->rows, "row"), c->path);
    return code;
}

/* ---- saving ---- */

static int keep_bytes(const void *bytes, size_t count, void *user)
{
    run_point *p = user;
    if (p->count + count > p->room) {
        const size_t room = 2 * (p->count + count);
        unsigned char *more = realloc(p->bytes, room);
        if (!more) return 1;
        p->bytes = more;
        p->room = room;
    }
    memcpy(p->bytes + p->count, bytes, count);
    p->count += count;
    return 0;
}

static size_t warned_bytes(const session *s)
{
    return s->warned ? (size_t)s->n * sizeof *s->warned : 0;
}

/* Rows on the disk, then the last point in the place of the one before. Exit code. */
static int store(run_checkpoint *c)
{
    const run_point *p = &c->last;
    report_file file;
    report_error error = {0};
    errno = 0;
    if (fflush(c->rows) != 0 || fsync(fileno(c->rows)) != 0)
        return cannot(c->rows_path, "written", errno);
    report_status status = report_file_open(&file, c->path, &error);
    if (status != REPORT_OK) return complain(CLI_FAILED, "%s", error.text);
    fwrite(&p->head, sizeof p->head, 1, file.stream);
    fwrite(p->bytes, 1, p->count, file.stream);
    if (report_file_commit(&file, &error) != REPORT_OK)
        return complain(CLI_FAILED, "%s", error.text);
    c->stored = true;
    c->written = wall_time();
    return CLI_OK;
}

static head head_of(const session *s, const grid *g, const recorder *rows, long next)
{
    const run_checkpoint *c = s->checkpoint;
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.bytes = sizeof h;
    h.point = (uint64_t)dae_solver_stats(s->solver)->steps;
    h.columns = hash_columns(rows->series);
    h.grid = hash_grid(g);
    h.rows = c->count;
    h.row_bytes = c->row_bytes;
    h.rows_hash = c->hash;
    h.next = (uint64_t)next;
    h.last = rows->last;
    h.t = dae_solver_time(s->solver);
    h.warned = warned_bytes(s);
    return h;
}

/* Whether the run is to be saved: so many steps behind the last point, or as the clock says. */
static bool is_due(const session *s)
{
    const run_checkpoint *c = s->checkpoint;
    const uint64_t done = (uint64_t)dae_solver_stats(s->solver)->steps - c->last.head.point;
    if (done >= (uint64_t)c->steps) return true;
    return c->seconds > 0.0 && done > 0 && wall_time() - c->written >= c->seconds;
}

int checkpoint_start(session *s)
{
    run_checkpoint *c = s->checkpoint;
    dae_diag diag = {0};
    if (!c) return CLI_OK;
    dae_status status = dae_solver_save(s->solver, NULL, &diag); /* into nothing */
    if (status == DAE_OK || status == DAE_ERR_STATE) return CLI_OK;
    unlink(c->rows_path);
    return session_complain(s, status, diag.text);
}

/* Take a checkpoint, and store it if it is time. */
static int take_point(session *s, const grid *g, const recorder *rows, long next)
{
    run_checkpoint *c = s->checkpoint;
    dae_diag diag = {0};
    c->next.count = 0;
    c->next.head = head_of(s, g, rows, next);
    if (s->warned && keep_bytes(s->warned, warned_bytes(s), &c->next) != 0)
        return complain(CLI_FAILED, "out of memory");
    dae_status status = dae_solver_write(s->solver, keep_bytes, &c->next, &diag);
    if (status == DAE_ERR_STATE) return CLI_OK; /* inside a step: behind the next one */
    if (status != DAE_OK) return session_complain(s, status, diag.text);
    c->next.head.all = c->next.count;
    c->next.head.hash = hash_point(&c->next);
    const run_point made = c->next;
    c->next = c->last;
    c->last = made;
    c->any = true;
    c->stored = false;
    return wall_time() - c->written >= c->seconds ? store(c) : CLI_OK;
}

int checkpoint_step(session *s, const grid *g, const recorder *rows, long next)
{
    return s->checkpoint && is_due(s) ? take_point(s, g, rows, next) : CLI_OK;
}

void checkpoint_rescue(session *s)
{
    run_checkpoint *c = s->checkpoint;
    if (!c) return;
    if (!c->any && !c->resumes) {
        unlink(c->rows_path);
        warn("daedal: the run ended before its first checkpoint\n");
        return;
    }
    if (c->any && !c->stored && (c->failed || store(c) != CLI_OK)) return;
    warn("daedal: checkpoint '%s' is of t = %.9g; '--resume %s' goes on from there\n", c->path,
         c->last.head.t, c->path);
}

/* ---- going on ---- */

static int not_usable(const run_checkpoint *c, const char *why)
{
    return complain(CLI_USAGE, "'%s' cannot be used: %s", c->path, why);
}

/* Whether the head is that of a run with these rows. Exit code. */
static int check_head(const run_checkpoint *c, const head *h, const head *now)
{
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || h->bytes != sizeof *h)
        return not_usable(c, "it is no checkpoint of 'daedal run', or one of another version");
    if (h->columns != now->columns) return not_usable(c, "that run records other variables");
    if (h->grid != now->grid)
        return not_usable(c, "that run has other times: start, stop, or those of its rows");
    if (h->warned != now->warned || h->row_bytes % sizeof(double) != 0)
        return not_usable(c, "it is damaged");
    return CLI_OK;
}

/* Bytes of the solver from memory. */
typedef struct byte_reader {
    const run_point *point;
    size_t at;
} byte_reader;

static size_t hand_out(void *bytes, size_t count, void *user)
{
    byte_reader *r = user;
    const size_t left = r->point->count - r->at, given = count < left ? count : left;
    memcpy(bytes, r->point->bytes + r->at, given);
    r->at += given;
    return given;
}

/* The file into c->last; exit code. */
static int read_point(run_checkpoint *c, const head *now)
{
    run_point *p = &c->last;
    unsigned char piece[4096];
    FILE *file = fopen(c->path, "rb");
    if (!file) return complain(CLI_USAGE, "'%s' cannot be read: %s", c->path, strerror(errno));
    int code = CLI_OK;
    if (fread(&p->head, sizeof p->head, 1, file) != 1) memset(&p->head, 0, sizeof p->head);
    code = check_head(c, &p->head, now);
    for (size_t got; code == CLI_OK && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        if (keep_bytes(piece, got, p) != 0) code = complain(CLI_FAILED, "out of memory");
    fclose(file);
    if (code == CLI_OK && (p->count != p->head.all || p->count < p->head.warned))
        code = not_usable(c, "it ends too early");
    if (code == CLI_OK && hash_point(p) != p->head.hash) code = not_usable(c, "it is damaged");
    return code;
}

int checkpoint_resume(session *s, const grid *g, recorder *rows, long *next)
{
    run_checkpoint *c = s->checkpoint;
    dae_diag diag = {0};
    const head now = head_of(s, g, rows, 0);
    int code = read_point(c, &now);
    if (code != CLI_OK) return code;
    const head *h = &c->last.head;
    byte_reader reader = {.point = &c->last, .at = (size_t)h->warned};
    c->row_bytes = h->row_bytes;
    code = replay(c, h, rows, false);
    if (code != CLI_OK) return code;
    if (dae_solver_read(s->solver, hand_out, &reader, &diag) != DAE_OK)
        return session_complain(s, diag.status, diag.text);
    c->replays = true;
    code = replay(c, h, rows, true);
    c->replays = false;
    if (code != CLI_OK) return code;
    if (ftruncate(fileno(c->rows), (off_t)(h->rows * h->row_bytes)) != 0 ||
        fseeko(c->rows, 0, SEEK_END) != 0)
        return cannot(c->rows_path, "written", errno);
    c->any = c->stored = true;
    if (s->warned) memcpy(s->warned, c->last.bytes, (size_t)h->warned);
    *next = (long)h->next;
    rows->last = h->last;
    return CLI_OK;
}
