/* Many runs of one model: points, what is kept of a run, a pool of processes, a journal.
 *
 * Stands on daedal.h and report.h. Functions return a report_status and, on failure, fill the
 * caller's report_error. Nothing here prints or exits, but for worker processes, which end here. */
#ifndef DAEDAL_SWEEP_H
#define DAEDAL_SWEEP_H

#include "report.h"

#include <stdint.h>

/* ---------------------------------------------------------------------------------------------
 * Random and quasi-random numbers in (0, 1)
 * ------------------------------------------------------------------------------------------- */

typedef enum sweep_by { SWEEP_RANDOM = 0, SWEEP_LHS, SWEEP_SOBOL } sweep_by;

enum { SWEEP_SOBOL_DIMENSIONS = 30 };

/* 64 random bits that follow from the three numbers alone [SLF14]. */
uint64_t sweep_bits(uint64_t seed, uint64_t stream, uint64_t index);
/* Point `index` of Sobol's sequence in one dimension, of 2^32, in the order of Gray's code, without
 * shift [JK08]. */
uint32_t sweep_sobol(int dimension, uint32_t index);
/* u[i * dimensions + d], i < count. LHS: one number in each of `count` equal parts [MBC79]. Sobol:
 * at most SWEEP_SOBOL_DIMENSIONS, shifted by the seed; 0: not shifted. */
report_status sweep_uniform(sweep_by by, uint64_t seed, size_t count, int dimensions, double *u,
                            report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Distributions: "normal(1, 0.1)"
 * ------------------------------------------------------------------------------------------- */

enum { SWEEP_MOST_ARGUMENTS = 64 };

typedef struct sweep_distribution {
    int kind;
    int count; /* of arguments */
    double argument[SWEEP_MOST_ARGUMENTS];
} sweep_distribution;

report_status sweep_distribution_read(const char *text, sweep_distribution *d, report_error *error);
/* The x below which a share u of all values lies, 0 < u < 1. */
double sweep_quantile(const sweep_distribution *d, double u);
double sweep_normal_quantile(double u);

/* ---------------------------------------------------------------------------------------------
 * Points
 * ------------------------------------------------------------------------------------------- */

/* What varies: a name, and its values at all points. Cells that are no numbers are words. */
typedef struct sweep_column {
    char *name;   /* owned */
    char *unit;   /* behind the name in a file, owned; NULL: none was given */
    char **words; /* of cells, owned; NULL: all cells are numbers */
    int word_count;
} sweep_column;

typedef struct sweep_points {
    int columns;
    sweep_column *column; /* owned */
    size_t count;
    double *value; /* count x columns, row by row: a number, or of a column with words the number of
                      its word; owned */
    bool sampled;  /* some were drawn, with this seed */
    uint64_t seed;
    sweep_by by;
} sweep_points;

/* More points than this are refused: ranges with a slip, not wishes. */
enum { SWEEP_MOST_POINTS = 100000000 };

/* "k=1:0.1:5", "k=1:*2:64", "mode=a,b" */
report_status sweep_points_over(const char *text, sweep_points **points, report_error *error);
/* A file of separated values whose first line has names. */
report_status sweep_points_list(const char *path, sweep_points **points, report_error *error);
/* count points of "k=normal(1,0.1)", .. */
report_status sweep_points_sample(size_t count, const char *const *texts, int text_count,
                                  sweep_by by, uint64_t seed, sweep_points **points,
                                  report_error *error);
/* Side by side, row by row; or, grid, every row with every row, the last varying fastest. Takes the
 * parts over, whatever happens. */
report_status sweep_points_join(sweep_points **parts, int count, bool grid, sweep_points **points,
                                report_error *error);
void sweep_points_free(sweep_points *points); /* NULL is fine */

/* ---------------------------------------------------------------------------------------------
 * Expressions over the variables, derivatives and parameters of a model
 * ------------------------------------------------------------------------------------------- */

typedef struct sweep_expression sweep_expression;

/* Where an expression is evaluated. */
typedef struct sweep_values {
    double t;
    const double *y;          /* all variables */
    const double *derivative; /* of dae_problem_derivative; NULL: none is asked for */
    const double *parameter;  /* all parameters */
} sweep_values;

/* text[0 .. length) */
report_status sweep_expression_new(const dae_problem *problem, const char *text, size_t length,
                                   sweep_expression **expression, report_error *error);
void sweep_expression_free(sweep_expression *e);
double sweep_expression_value(const sweep_expression *e, const sweep_values *at);
bool sweep_expression_derivatives(const sweep_expression *e); /* whether it has some */
bool sweep_expression_true(const sweep_expression *e);        /* it is a condition, 0 or 1 */
/* Where its value jumps or bends: at relations, abs, min, floor, .. For each of these, a number
 * that changes its sign there. */
int sweep_expression_switches(const sweep_expression *e);
void sweep_expression_margins(const sweep_expression *e, const sweep_values *at, double *margin);
/* The variable that it is, alone; -1: none, or more. */
int sweep_expression_variable(const sweep_expression *e);

/* ---------------------------------------------------------------------------------------------
 * Peaks of a function of time
 * ------------------------------------------------------------------------------------------- */

enum { SWEEP_NODES = 9 };
typedef double (*sweep_function)(double t, void *user);
/* Whether the function, which has values h at SWEEP_NODES times t, has a peak above `level` around
 * the j-th of them (at both ends: between it and the one beside it); its place and height. */
bool sweep_peak(sweep_function f, void *user, const double *t, const double *h, int j, double level,
                double *where, double *top);

/* ---------------------------------------------------------------------------------------------
 * What is kept of a run: "end, max(x), at(2, y), time(x > 1)"
 * ------------------------------------------------------------------------------------------- */

typedef struct sweep_keep sweep_keep;

typedef struct sweep_keep_request {
    const char *text;
    double start, stop;   /* of the run */
    const int *variables; /* what `end` alone stands for */
    int variable_count;   /* so many */
    const double *times;  /* of curves */
    int time_count;       /* so many */
    double rtol, atol;    /* of integrals */
} sweep_keep_request;

report_status sweep_keep_new(const dae_problem *problem, const sweep_keep_request *request,
                             sweep_keep **keep, report_error *error);
void sweep_keep_free(sweep_keep *keep);
int sweep_keep_columns(const sweep_keep *keep);
const char *sweep_keep_name(const sweep_keep *keep, int column);
const char *sweep_keep_unit(const sweep_keep *keep, int column);
/* Curves: how many there are, and the first column of each; it has time_count of them. */
int sweep_keep_curves(const sweep_keep *keep);
int sweep_keep_curve_column(const sweep_keep *keep, int curve);

/* A run: at its start, after every step or event, at its end. Statuses are the solver's. */
dae_status sweep_keep_start(sweep_keep *keep, const dae_problem *problem, dae_solver *solver);
dae_status sweep_keep_step(sweep_keep *keep, dae_solver *solver);
dae_status sweep_keep_end(sweep_keep *keep, dae_solver *solver);
/* columns values; NaN: what the run did not come to */
const double *sweep_keep_values(const sweep_keep *keep);
/* Behind sweep_keep_end: the name of a column whose expression has no finite value where the run
 * has been, or NULL. A condition that never holds, and times behind the end of a run, have none. */
const char *sweep_keep_undefined(const sweep_keep *keep);

/* ---------------------------------------------------------------------------------------------
 * A result as bytes
 * ------------------------------------------------------------------------------------------- */

typedef struct sweep_result {
    int status;           /* a dae_status, or SWEEP_CRASHED */
    const double *values; /* of all kept columns */
    const char *text;     /* why it failed, or what the library had to say; "" */
} sweep_result;

enum { SWEEP_CRASHED = -1000 }; /* the process of a run was ended */

/* Bytes that grow. */
typedef struct sweep_buffer {
    unsigned char *bytes; /* owned */
    size_t count, capacity;
    bool failed; /* memory */
} sweep_buffer;

bool sweep_buffer_room(sweep_buffer *b, size_t count); /* for so many more; false: memory */
void sweep_buffer_add(sweep_buffer *b, const void *bytes, size_t count);
void sweep_buffer_free(sweep_buffer *b);
void sweep_result_write(sweep_buffer *b, const sweep_result *result, int columns);
/* values: room for so many columns; text points into the bytes. False: that is no result. */
bool sweep_result_read(const unsigned char *bytes, size_t count, int columns, double *values,
                       sweep_result *result);

/* ---------------------------------------------------------------------------------------------
 * A pool of worker processes
 * ------------------------------------------------------------------------------------------- */

typedef struct sweep_pool sweep_pool;

typedef struct sweep_pool_request {
    int workers;
    /* In a worker: the result of an item, appended to the buffer. */
    void (*work)(uint64_t item, sweep_buffer *result, void *user);
    /* In a worker, once, before the first item; NULL: nothing. */
    void (*begin)(void *user);
    /* In this process: the result of an item whose worker was ended by a signal (or, 0, went away),
     * time and again. */
    void (*lost)(uint64_t item, int signal, sweep_buffer *result, void *user);
    void *user;
} sweep_pool_request;

/* Start the workers: copies of this process as it is now. */
report_status sweep_pool_new(const sweep_pool_request *request, sweep_pool **pool,
                             report_error *error);
/* How many more items it can take without keeping them from others for long. */
size_t sweep_pool_wants(const sweep_pool *pool);
report_status sweep_pool_give(sweep_pool *pool, const uint64_t *items, size_t count,
                              report_error *error);
/* Wait for results, up to so many milliseconds, and hand them over. */
typedef report_status (*sweep_taker)(uint64_t item, const unsigned char *bytes, size_t count,
                                     void *user, report_error *error);
report_status sweep_pool_take(sweep_pool *pool, int milliseconds, sweep_taker take, void *user,
                              report_error *error);
void sweep_pool_free(sweep_pool *pool); /* ends the workers */

/* ---------------------------------------------------------------------------------------------
 * A journal: finished points, in a file that a kill leaves readable
 * ------------------------------------------------------------------------------------------- */

/* What makes a journal fit a sweep. */
typedef struct sweep_identity {
    char version[32];        /* of the program */
    uint64_t model;          /* hash of the text */
    uint64_t words;          /* .. of the options that matter, and of the files that they name */
    uint64_t points;         /* .. of all values */
    uint64_t count, columns; /* points, and values of each */
} sweep_identity;

uint64_t sweep_hash(uint64_t before, const void *bytes, size_t count);
/* .. and of what a file has in it; `before` if there is no such file */
uint64_t sweep_hash_file(uint64_t before, const char *path);

typedef struct sweep_journal sweep_journal;

/* A new one; there must be none. */
report_status sweep_journal_create(const char *path, const sweep_identity *identity,
                                   sweep_journal **journal, report_error *error);
/* One that is there: all its records are handed over. What a kill left incomplete at its end is cut
 * off; *damaged: bytes of that, if there are more than one record can be. */
report_status sweep_journal_resume(const char *path, const sweep_identity *identity,
                                   sweep_taker take, void *user, sweep_journal **journal,
                                   uint64_t *damaged, report_error *error);
/* One more record, in memory; several of them go to the file at once. */
report_status sweep_journal_add(sweep_journal *journal, uint64_t item, const unsigned char *bytes,
                                size_t count, report_error *error);
/* What was added, into the file, and once a second onto the disk. */
report_status sweep_journal_write(sweep_journal *journal, report_error *error);
/* Everything on the disk. */
report_status sweep_journal_sync(sweep_journal *journal, report_error *error);
/* Close it; `remove`: it is not needed any more. */
/* Note that the table is written, though the journal stays; whether that is noted in a file. */
report_status sweep_journal_finish(sweep_journal *journal, report_error *error);
bool sweep_journal_is_finished(const char *path);
void sweep_journal_close(sweep_journal *journal, bool remove);

#endif
