/* What the writers of this room share. */
#ifndef DAEDAL_REPORT_INTERNAL_H
#define DAEDAL_REPORT_INTERNAL_H

#include "report.h"

/* REPORT_OK if everything written to the stream so far has reached it. */
report_status report_check_stream(FILE *stream, report_error *error);

enum { NUMBER_SIZE = 40 };
/* x with so many significant digits and a decimal point, whatever the locale says. */
void report_number(double x, int digits, char text[NUMBER_SIZE]);

enum { LABEL_SIZE = 400 };
/* "name [unit]", or the name where there is no unit; long names are cut. */
void report_label(const char *name, const char *unit, char text[LABEL_SIZE]);
/* The label of variable i, or of the time for i = -1. */
void report_series_label_of(const report_series *series, int i, char text[LABEL_SIZE]);

/* A name as a field of csv. */
void report_csv_field(FILE *stream, const char *name);

/* Matrices of a MAT-file of level 4: numbers by columns, and texts, a row each. */
void report_mat_numbers(FILE *stream, const char *name, size_t rows, size_t columns,
                        const double *values);
void report_mat_texts(FILE *stream, const char *name, size_t count, const char *const *texts);

/* A file without a name in a directory (NULL: that for temporary files), gone when it is closed; -1
 * and errno if there is none to be had. */
int report_unnamed_file(const char *directory);

#endif
