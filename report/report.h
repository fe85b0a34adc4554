/* Reports of a solution: csv, tables, json, mat and plots. Stands on daedal.h alone.
 *
 * A report_series collects rows (t, y_1 .. y_n); the writers put it into a stream or a file. Every
 * function returns a report_status and, on failure, fills the caller's report_error (which may be
 * NULL). Nothing here prints on its own or exits. */
#ifndef DAEDAL_REPORT_H
#define DAEDAL_REPORT_H

#include "daedal.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum report_status {
    REPORT_OK = 0,
    REPORT_ERR_ARGUMENT = -1, /* a wrong argument, such as an unknown file extension */
    REPORT_ERR_MEMORY = -2,   /* an allocation failed; what was collected so far is kept */
    REPORT_ERR_FILE = -3,     /* a file or stream could not be written */
    REPORT_ERR_GNUPLOT = -4,  /* gnuplot is missing or failed */
    REPORT_ERR_READ = -5      /* a file could not be read, or does not hold what it should */
} report_status;

typedef struct report_error {
    report_status status;
    char text[1024]; /* a full sentence */
} report_error;

/* Fill error (NULL is fine) and return status. */
report_status report_fail(report_error *error, report_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---------------------------------------------------------------------------------------------
 * Files: complete or not at all
 * ------------------------------------------------------------------------------------------- */

/* A file that appears under its name only when it is complete, on the disk as well: it is written
 * beside its place, where it has no name until then if the system can do that. Devices, pipes and
 * what this process has as its standard output are written through. Links are followed, and the
 * modes of a file that is replaced stay. All zero: not open. */
typedef struct report_file {
    FILE *stream;    /* to be written to; no other field is the caller's */
    char *target;    /* where it goes, links resolved */
    char *temporary; /* its name until then; NULL: none */
    bool through;    /* a device or a pipe */
} report_file;

report_status report_file_open(report_file *file, const char *path, report_error *error);
/* Close it and put it in its place. On failure what was there before stays, and nothing else. */
report_status report_file_commit(report_file *file, report_error *error);
/* The same if status is REPORT_OK; else drop it, and return that status. */
report_status report_file_finish(report_file *file, report_status status, report_error *error);
void report_file_discard(report_file *file); /* drop what was written; one not open is fine */

/* 0 if everything written to a stream so far has reached it, else the errno of what failed. */
int report_why(FILE *stream);

/* ---------------------------------------------------------------------------------------------
 * Series: times x variables, growing
 * ------------------------------------------------------------------------------------------- */

/* A value that does not change with time. Strings are owned by the series. */
typedef struct report_parameter {
    char *name, *unit, *description;
    double value;
} report_parameter;

/* Read the fields freely; change them through the functions only. */
typedef struct report_series {
    int n;               /* variables */
    int shown;           /* the first ones, for texts and plots; the others are in mat files only */
    int *alias;          /* n: 0, or +k, -k: as variable k-1 or its negative; owned, NULL: none */
    bool *constant;      /* n: the same value in all rows; owned, NULL: none */
    char **names;        /* n names, owned */
    char **units;        /* n units, "" for none, owned; NULL: no units */
    char **descriptions; /* n texts, owned; NULL: none */
    char *time_name;     /* owned; NULL: "t" */
    char *time_unit;     /* owned; NULL: none */
    report_parameter *parameters;
    int parameter_count;
    size_t count;  /* rows, all of them */
    size_t before; /* so many of them, the first ones, are on the disk: see report_series_row */
    double *times; /* the times of the others, owned */
    double *rows;  /* .. and their n values, row after row, owned */
    size_t capacity;
    struct report_spool *spool; /* owned; NULL: nothing is on the disk */
    char *spool_directory;      /* owned; NULL: that for temporary files */
} report_series;

/* An empty series. Names are copied; NULL gives "y[0]", "y[1]", .. */
report_status report_series_new(int n, const char *const *names, report_series **series,
                                report_error *error);
/* The same with size and names of a problem. */
report_status report_series_for_problem(const dae_problem *problem, report_series **series,
                                        report_error *error);
/* Append (t, y). After a failure the series is as it was before the call. Some megabytes of rows
 * are in memory; more of them go to the disk. */
report_status report_series_add(report_series *series, double t, const double *y,
                                report_error *error);
/* Row r: its n values and, in *t, its time. Valid until the next call for this series. A row that
 * the disk does not give back is NaN, and report_series_check tells. */
const double *report_series_row(const report_series *series, size_t r, double *t);
report_status report_series_check(const report_series *series, report_error *error);
/* Where the rows that memory should not keep are written, without a name: the directory of `path`.
 */
report_status report_series_spool(report_series *series, const char *path, report_error *error);
/* Units and descriptions of the variables (n texts each, or NULL) and of the time, copied. After
 * REPORT_ERR_MEMORY the series has none. */
report_status report_series_label(report_series *series, const char *time_name,
                                  const char *time_unit, const char *const *units,
                                  const char *const *descriptions, report_error *error);
/* Room for count parameters, to be filled by report_series_set_parameter. */
report_status report_series_parameters(report_series *series, int count, report_error *error);
/* Parameter i; texts are copied, NULL is "". */
report_status report_series_set_parameter(report_series *series, int i, const char *name,
                                          const char *unit, const char *description, double value,
                                          report_error *error);
/* Variable i is sign (+1, -1) times variable `of`, which is no alias: mat files store it once. */
report_status report_series_alias(report_series *series, int i, int of, int sign,
                                  report_error *error);
/* Variable i never changes: mat files keep it with the parameters. */
report_status report_series_constant(report_series *series, int i, report_error *error);
/* Texts and plots show the first `count` variables only. */
void report_series_show(report_series *series, int count);
void report_series_free(report_series *series); /* NULL is fine */

/* ---------------------------------------------------------------------------------------------
 * Text: csv (RFC 4180), table, json. Streams stay open and are flushed (but by report_csv_row).
 * ------------------------------------------------------------------------------------------- */

/* Header "t,name,.." (with units "t [s],name [m],..") and rows with %.17g, which reads back to the
 * same double. For writing while the integration runs: header once, then row after row. Values that
 * are not finite read nan or inf. */
report_status report_csv_header(FILE *stream, int n, const char *const *names, report_error *error);
report_status report_csv_row(FILE *stream, int n, double t, const double *y, report_error *error);
/* The header of a series, and a row of n texts of DAE_DIGITS_SIZE bytes each in place of doubles.
 */
report_status report_csv_labels(FILE *stream, const report_series *series, report_error *error);
report_status report_csv_digits(FILE *stream, int n, double t, const char *digits,
                                report_error *error);
/* A whole series. */
report_status report_csv(FILE *stream, const report_series *series, report_error *error);
/* A whole series into a file, which appears complete or not at all. */
report_status report_csv_file(const char *path, const report_series *series, report_error *error);

typedef struct report_table_options {
    size_t max_rows; /* 0: all; else that many, spread evenly, always with the first and last */
    int max_columns; /* 0: all; else only the first so many variables, and a line that says so */
    int digits;      /* significant digits, 0: 6 */
} report_table_options;

/* Aligned columns for people. options may be NULL. */
report_status report_table(FILE *stream, const report_series *series,
                           const report_table_options *options, report_error *error);

/* One json object with the members "series" (names, units, t, y by variable), "parameters",
 * "statistics" and "diagnostic"; whatever is NULL or absent is left out. Numbers that json cannot
 * say (NaN, Inf) are null. */
report_status report_json(FILE *stream, const report_series *series, const dae_stats *stats,
                          const dae_diag *diag, report_error *error);
/* Into a file, which appears complete or not at all. */
report_status report_json_file(const char *path, const report_series *series,
                               const dae_stats *stats, const dae_diag *diag, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Trajectories for Modelica tools
 * ------------------------------------------------------------------------------------------- */

/* A MAT-file (level 4) in the layout of OpenModelica and Dymola, "binTrans": parameters and
 * constants in data_1, time and variables in data_2, each alias as a reference to another row, the
 * row's number being negative where its sign is changed. The file appears complete or not at all.
 */
report_status report_mat_file(const char *path, const report_series *series, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Curves read back from files, and their comparison
 * ------------------------------------------------------------------------------------------- */

/* One signal: its value in row r is factor * values[r * stride]. */
typedef struct report_curve {
    char *name;           /* owned, as the file spells it, without unit */
    char *key;            /* owned, without quotes and blanks: 'a.b'[1, 2] is a.b[1,2] */
    char *unit;           /* owned, of a column of a csv file that has one; NULL */
    const double *values; /* into the memory of the file */
    size_t stride;        /* 0: constant */
    double factor;
} report_curve;

/* All signals of a file over its times, which never go back. Two rows at one time are the sides of
 * a jump. */
typedef struct report_curves {
    int n;
    report_curve *curves; /* by key; of equal keys the first of the file comes first */
    size_t count;         /* rows */
    double *times;        /* owned */
    double *data[2];      /* owned; what the curves point into */
    long *lines;          /* of each row in the file; owned, NULL: it has no lines */
    char *time_unit;      /* owned, of a csv file that has one; NULL */
} report_curves;

/* Read a file: .csv with a header and a column "time" or "t", .json as report_json writes it, .mat
 * (level 4, binTrans) as report_mat_file does. Messages name file, line and column. */
report_status report_read(const char *path, report_curves **curves, report_error *error);
/* The same of measured data: empty cells of a .csv are missing values, NaN, and so are those that
 * read so. */
report_status report_read_data(const char *path, report_curves **curves, report_error *error);
void report_curves_free(report_curves *curves); /* NULL is fine */
/* The curve of just that name, else that of the same name but for quotes and blanks; negative:
 * none, or two that are as good. */
enum { REPORT_NO_CURVE = -1, REPORT_TWO_CURVES = -2 };
int report_curves_find(const report_curves *curves, const char *name);
double report_curves_value(const report_curves *curves, int i, size_t row);

/* Turn curve i, or the times for i = -1, into another unit, which is then its unit; `difference`:
 * as differences of such values, which have no zero. Nothing happens where one of the units is
 * unknown: NULL, or "". REPORT_ERR_ARGUMENT: they measure different things; it names curve and
 * units. */
report_status report_curves_convert(report_curves *curves, int i, const char *unit, bool difference,
                                    report_error *error);

/* A tube around a reference: all points that are at most half_time in time and half_value in value
 * away from a point of its curve. */
typedef struct report_tube_options {
    double time;  /* half_time is this fraction of the span of the reference's times */
    double value; /* half_value is this fraction of the larger of the signal's range and nominal */
    double nominal; /* for signals that hardly move */
    double floor;   /* .. and at least this fraction of the largest |value| */
} report_tube_options;

report_tube_options report_tube_default(void); /* 0.002, 0.002, 0.001, 1e-5 */

typedef struct report_deviation {
    double half_time, half_value;
    double deviation; /* the largest distance in value from what the reference takes within
                         half_time */
    double t;         /* where, and the values there; NaN if there is none */
    double reference, value;
    bool agrees;
    char reason[160]; /* why it does not agree, if not by its deviation; else "" */
} report_deviation;

/* Whether curve j of b lies in the tube around curve i of a, at the points of both. NULL or a
 * series of four variables for the picture: reference, value, lower and upper edge. */
report_status report_tube(const report_curves *a, int i, const report_curves *b, int j,
                          const report_tube_options *options, report_deviation *result,
                          report_series *picture, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Parameters by what they do to a solution
 * ------------------------------------------------------------------------------------------- */

/* What a parameter or start value does to a solution. Texts are borrowed. */
typedef struct report_effect {
    const char *name, *unit;
    double value;            /* of the parameter */
    bool start;              /* a start value, not a parameter */
    const char *variable;    /* that it moves most; NULL: it moves none */
    double relative;         /* .. and by how much at most, in relative terms, with its sign */
    double time;             /* .. and when */
    double event_derivative; /* of the time of the last event; NaN: there was none */
} report_effect;

/* All of them, the largest first. */
typedef struct report_effects {
    int count;
    const report_effect *list;
    bool relative;     /* columns of the series are */
    double event_time; /* of the last event; NaN: there was none */
    const dae_sensitivity_stats *stats;
} report_effects;

/* A table for people: parameter, value, the variable that it moves most, by how much, when. */
report_status report_effects_table(FILE *stream, const report_effects *effects,
                                   report_error *error);
/* What report_json writes, and a member "sensitivities". */
report_status report_effects_json(FILE *stream, const report_series *series, const dae_stats *stats,
                                  const dae_diag *diag, const report_effects *effects,
                                  report_error *error);

/* A parameter, or a start value. Texts are borrowed. */
typedef struct report_input {
    const char *name, *unit;
    double value;
    bool start; /* a start value, not a parameter */
} report_input;

/* Numbers of a run, and their derivatives. Borrowed. */
typedef struct report_gradient {
    int functionals;
    const char *const *names; /* of the numbers, */
    const double *values;     /* and what they are */
    int count;
    const report_input *list;
    const double *derivatives; /* functionals rows of count */
} report_gradient;

/* (p/|J|) dJ/dp, a p or J that is 0 counts as 1 */
double report_gradient_relative(const report_gradient *gradient, int functional, int parameter);
/* A table for people of one number, parameters in this order. */
report_status report_gradient_table(FILE *stream, const report_gradient *gradient, int functional,
                                    const int *order, report_error *error);
/* A line for each pair: of,is,by,at,derivative. */
report_status report_gradient_csv(FILE *stream, const report_gradient *gradient,
                                  report_error *error);
report_status report_gradient_json(FILE *stream, const char *model, const report_gradient *gradient,
                                   report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Parameters from data
 * ------------------------------------------------------------------------------------------- */

/* One parameter of a fit. Texts are borrowed. */
typedef struct report_fit_parameter {
    const char *name, *unit;
    bool start;          /* a start value, not a parameter */
    double lower, upper; /* infinite: none */
} report_fit_parameter;

/* A fit, and what it was asked for. Borrowed. */
typedef struct report_fit {
    const report_fit_parameter *list; /* result->count */
    const dae_fit_result *result;
    const char *loss;
    int experiments;
} report_fit;

/* How a search ended: "converged", .. */
const char *report_fit_end(dae_fit_end end);
/* A table for people: value, standard error, start and bounds of every parameter; how good the fit
 * is; correlations; what the data do not tell. */
report_status report_fit_table(FILE *stream, const report_fit *fit, report_error *error);
/* The member "series" as report_json writes it (NULL: none), and a member "fit". */
report_status report_fit_json(FILE *stream, const report_series *series, const report_fit *fit,
                              report_error *error);

/* ---------------------------------------------------------------------------------------------
 * The table of a sweep
 * ------------------------------------------------------------------------------------------- */

/* A column. Texts are borrowed. */
typedef struct report_sweep_column {
    const char *name, *unit;
    const char *const *words; /* of values that are words: value v is words[v - first]; NULL */
    int word_count, first;
} report_sweep_column;

/* Many runs of one model: a row each. Everything is borrowed. */
typedef struct report_sweep {
    const char *model, *version;        /* of the program */
    size_t count;                       /* rows */
    int inputs, outputs;                /* what was varied, what was kept */
    const report_sweep_column *columns; /* inputs + outputs of them */
    const double *input;                /* count x inputs, row by row */
    const double *output;               /* count x outputs; NaN where there is none */
    const char *const *status;          /* count: "ok", or what failed */
    const char *const *message;         /* count: why, or a note; "" */
    const char *by;                     /* how points were drawn; NULL: they were not */
    unsigned long long seed;
    const double *times; /* of curves */
    int time_count;      /* as many outputs as a curve has */
    const int *curves;   /* the first column of each curve, among the outputs */
    int curve_count;
} report_sweep;

/* Rows: number of the point, seed, inputs, outputs, status, message. */
report_status report_sweep_csv(FILE *stream, const report_sweep *sweep, report_error *error);
/* One object, with columns and their units. */
report_status report_sweep_json(FILE *stream, const report_sweep *sweep, report_error *error);
/* A MAT-file (level 4): points and kept as matrices, and names, units, status and messages. */
report_status report_sweep_mat(FILE *stream, const report_sweep *sweep, report_error *error);
/* A picture, .svg, .png or .pdf: quantiles of curves over time; else kept values over one input, or
 * as colours over two. Runs that failed are marked. gnuplot may be NULL. */
report_status report_sweep_plot(const char *path, const report_sweep *sweep, const char *gnuplot,
                                report_error *error);

/* ---------------------------------------------------------------------------------------------
 * Plots through gnuplot
 * ------------------------------------------------------------------------------------------- */

typedef enum report_layout {
    REPORT_LAYOUT_AUTO = 0, /* a panel for each unit, and more where the scales differ much */
    REPORT_LAYOUT_TOGETHER, /* all curves in one picture */
    REPORT_LAYOUT_STACKED   /* a panel for each variable */
} report_layout;

/* Zero everywhere means the defaults. */
typedef struct report_plot_options {
    const char *title;      /* NULL: none */
    const char *time_name;  /* NULL: the series' */
    const char *value_name; /* of the value axis where curves share one; NULL: none */
    const int *variables;   /* which ones, variable_count of them; NULL: all */
    int variable_count;
    report_layout layout;
    bool log_time;                /* logarithmic time axis; rows with t <= 0 are left out */
    int width, height;            /* pixels; 0: fitting */
    const char *gnuplot;          /* the program; NULL: "gnuplot" from the PATH */
    int (*interrupt)(void *user); /* not 0: stop drawing; NULL: none */
    void *user;
    const report_effects *bars;  /* a panel of bars above the curves; NULL: none */
    const report_series *points; /* of as many variables: points beside their curves; NULL: none */
} report_plot_options;

/* Draw into `path`, .svg, .png or .pdf by its extension; many panels make a pdf of several pages,
 * and other pictures taller and wider. Variables without a finite value are named in the title. The
 * file appears complete or not at all: it is drawn beside `path` and renamed. Names and title are
 * shown as they are, whatever characters they contain. options may be NULL. */
report_status report_plot(const char *path, const report_series *series,
                          const report_plot_options *options, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * The analysis of a model
 * ------------------------------------------------------------------------------------------- */

typedef struct report_analysis_options {
    int max_rows; /* of each list, then a line that says how many more there are; 0: all */
} report_analysis_options;

/* Sections for people. options may be NULL. */
report_status report_analysis(FILE *stream, const dae_analysis *analysis,
                              const report_analysis_options *options, report_error *error);
/* All of it as one json object; indices count from 0. */
report_status report_analysis_json(FILE *stream, const dae_analysis *analysis, report_error *error);
/* The incidence matrix in block triangular form, drawn into `path` as report_plot does: an entry's
 * colour is the order of the derivative, blocks are outlined. Large systems are thinned out. title
 * and gnuplot may be NULL. */
report_status report_incidence(const char *path, const dae_analysis *analysis, const char *title,
                               const char *gnuplot, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * A linear system
 * ------------------------------------------------------------------------------------------- */

/* Sections for people: eigenvalues with the states that carry them, and matrices of up to max_rows
 * rows and columns (0: all). */
report_status report_linear(FILE *stream, const dae_linearisation *linear, int max_rows,
                            report_error *error);
/* The first section alone. */
report_status report_linear_eigenvalues(FILE *stream, const dae_linearisation *linear, int max_rows,
                                        report_error *error);
/* All of it as one json object, matrices by rows; model may be NULL. */
report_status report_linear_json(FILE *stream, const char *model, const dae_linearisation *linear,
                                 report_error *error);
/* A line for each entry: matrix, row, column, value. */
report_status report_linear_csv(FILE *stream, const dae_linearisation *linear, report_error *error);
/* A MAT-file (level 4): A, B, C, D, x0, dx0, u0, y0, t0, names as rows of text, and eigenvalues in
 * two columns. */
report_status report_linear_mat(FILE *stream, const dae_linearisation *linear, report_error *error);

/* ---------------------------------------------------------------------------------------------
 * The verdict of a judge
 * ------------------------------------------------------------------------------------------- */

/* Sections for people, worst first, at most max_rows of each list (0: all), then a line that says
 * how many more there are. */
report_status report_verify(FILE *stream, const dae_verify_report *report, int max_rows,
                            report_error *error);
/* All of it as one json object; and the same into a file that appears complete or not at all. */
report_status report_verify_json(FILE *stream, const dae_verify_report *report,
                                 report_error *error);
report_status report_verify_json_file(const char *path, const dae_verify_report *report,
                                      report_error *error);

#ifdef __cplusplus
}
#endif

#endif
