/* What the readers of files share. */
#ifndef DAEDAL_REPORT_READ_H
#define DAEDAL_REPORT_READ_H

#include "internal.h"

/* A file in memory, with a place in it for messages. */
typedef struct source {
    const char *path;
    char *text; /* owned; a zero follows its last byte */
    size_t size;
    const char *at;   /* what is read next */
    const char *line; /* the beginning of its line */
    long number;      /* of that line, from 1 */
    bool holes;       /* cells may be empty: NaN */
} source;

/* "path:line:column: .." about what is read next. Returns REPORT_ERR_READ. */
report_status source_fail(const source *s, report_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Room for n curves without names, and for times and data of so many rows and numbers. */
report_curves *curves_new(int n, size_t rows, size_t numbers);
/* Name a curve; false: memory. */
bool curve_name(report_curve *curve, const char *name, size_t length);

report_status read_csv(source *s, report_curves **curves, report_error *error);
report_status read_json(source *s, report_curves **curves, report_error *error);
report_status read_mat(source *s, report_curves **curves, report_error *error);

#endif
