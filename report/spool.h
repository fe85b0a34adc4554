/* Rows that memory is too dear for. */
#ifndef DAEDAL_REPORT_SPOOL_H
#define DAEDAL_REPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct report_spool report_spool;

/* Rows of `width` numbers, the time first, in a file without a name in a directory (NULL: that for
 * temporary files). NULL: there is no place for one. */
report_spool *spool_new(const char *directory, size_t width);
void spool_free(report_spool *spool); /* NULL is fine */

/* Append rows; false: the disk is full, or else. */
bool spool_append(report_spool *spool, size_t count, const double *times, const double *rows);
/* Row r, valid until the next call; NaN everywhere if it cannot be read, which is remembered. */
const double *spool_row(report_spool *spool, size_t r);
bool spool_failed(const report_spool *spool); /* NULL is fine */

#endif
