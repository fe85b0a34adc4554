/* Pieces of json, written straight into a stream. */
#ifndef DAEDAL_REPORT_JSON_PARTS_H
#define DAEDAL_REPORT_JSON_PARTS_H

#include "internal.h"

/* "text"; bytes that are no UTF-8 become the replacement character. */
void json_string(FILE *stream, const char *text);
/* The shorter of 15 and 17 digits that reads back the same; null for what json cannot say. */
void json_number(FILE *stream, double x);
/* [x_0, x_stride, ..] */
void json_array(FILE *stream, size_t count, const double *x, size_t stride);

/* An object that is being written: knows whether a comma is due. */
typedef struct json_object {
    FILE *stream;
    int depth, members;
} json_object;

json_object json_open(FILE *stream, int depth);
void json_close(json_object *o);
void json_member(json_object *o, const char *name); /* the value is to follow */
void json_number_member(json_object *o, const char *name, double x);
void json_integer_member(json_object *o, const char *name, long k);
void json_string_member(json_object *o, const char *name, const char *text);

/* The members that report_json writes; whatever is NULL is left out. */
void json_run_members(json_object *o, const report_series *series, const dae_stats *stats,
                      const dae_diag *diag);

#endif
