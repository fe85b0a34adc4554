/* Curves from a MAT-file of level 4 in the layout that report_mat_file writes. */
#include "read.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A matrix within the file. */
typedef struct matrix {
    const char *bytes;
    size_t rows, columns;
} matrix;

typedef enum part { NAME, INFO, FIXED, MOVING, PARTS } part;

/* Names and types (as their headers say them, on a machine of this byte order) of what is needed.
 */
static const char *const part_names[PARTS] = {"name", "dataInfo", "data_1", "data_2"};
enum { TEXT = 51, INTEGER = 20, DOUBLE = 0, BIG_ENDIAN_TYPE = 1000 };
static const uint32_t part_types[PARTS] = {TEXT, INTEGER, DOUBLE, DOUBLE};

static uint32_t this_order(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0 ? BIG_ENDIAN_TYPE : 0;
}

static report_status refuse(const source *s, report_error *error, const char *text)
{
    return report_fail(error, REPORT_ERR_READ, "%s: at byte %zu: %s", s->path,
                       (size_t)(s->at - s->text), text);
}

/* Bytes of an element by the digit of its type; 0: none. */
static size_t element_size(uint32_t type)
{
    static const size_t sizes[10] = {8, 4, 4, 2, 2, 1};
    return sizes[type / 10 % 10];
}

/* The next matrix: header, name, numbers. */
static report_status read_matrix(source *s, matrix parts[PARTS], report_error *error)
{
    uint32_t header[5];
    size_t left = s->size - (size_t)(s->at - s->text);
    if (left < sizeof header) return refuse(s, error, "the header of a matrix is cut off.");
    memcpy(header, s->at, sizeof header);
    if (header[0] >= 2000 || header[0] / 1000 * 1000 != this_order() || header[3] > 1)
        return refuse(s, error,
                      "this is no MAT-file of level 4 in the byte order of this machine.");
    size_t size = element_size(header[0]), name = header[4];
    left -= sizeof header;
    if (size == 0 || name == 0 || name > left || s->at[sizeof header + name - 1] != '\0')
        return refuse(s, error, "this is no header of a matrix.");
    matrix m = {s->at + sizeof header + name, header[1], header[2]};
    left -= name;
    if (m.rows > 0 && m.columns > left / size / m.rows)
        return refuse(s, error, "a matrix is cut off.");
    for (int k = 0; k < PARTS; k++) {
        if (strcmp(s->at + sizeof header, part_names[k]) != 0) continue;
        if (header[0] % 1000 != part_types[k] || header[3] != 0)
            return refuse(s, error,
                          "this matrix has numbers of another type than double, or int "
                          "in dataInfo; write the file in double precision.");
        parts[k] = m;
    }
    s->at = m.bytes + m.rows * m.columns * size;
    return REPORT_OK;
}

/* Whether Aclass, the first matrix, says binTrans: "binN.." has its columns as rows. */
static bool transposed(const source *s)
{
    static const size_t header = 20, name = 7, rows = 4;
    return s->size >= header + name + 11 * rows && memcmp(s->text + header, "Aclass", name) == 0 &&
           s->text[header + name + 3 * rows + 3] == 'T';
}

/* A copy that is aligned. */
static double *copy_numbers(const matrix *m)
{
    size_t count = m->rows * m->columns;
    double *copy = calloc(count + 1, sizeof *copy);
    if (copy && count > 0) memcpy(copy, m->bytes, count * sizeof *copy);
    return copy;
}

/* Curve k of the names, by its column of dataInfo. */
static report_status link_curve(const source *s, const matrix parts[PARTS], report_curves *c,
                                size_t k, report_error *error)
{
    const matrix *names = &parts[NAME];
    const char *name = names->bytes + k * names->rows;
    size_t length = 0;
    int32_t info[2];
    report_curve *curve = &c->curves[c->n];
    while (length < names->rows && name[length]) length++;
    while (length > 0 && name[length - 1] == ' ') length--;
    memcpy(info, parts[INFO].bytes + k * parts[INFO].rows * sizeof *info, sizeof info);
    bool moves = info[0] == 2;
    const matrix *from = &parts[moves ? MOVING : FIXED];
    int64_t row = info[1] < 0 ? -(int64_t)info[1] : info[1];
    if (info[0] == 0) return REPORT_OK; /* the time */
    if ((info[0] != 1 && info[0] != 2) || row < 1 || (size_t)row > from->rows || from->columns == 0)
        return report_fail(
            error, REPORT_ERR_READ,
            "%s: dataInfo sends \"%.*s\" to row %ld of data_%ld, which is not there.", s->path,
            (int)(length < 200 ? length : 200), name, (long)row, (long)info[0]);
    c->n++;
    if (!curve_name(curve, name, length))
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", s->path);
    curve->values = c->data[moves] + row - 1;
    curve->stride = moves ? from->rows : 0;
    if (info[1] < 0) curve->factor = -1.0;
    return REPORT_OK;
}

static report_status read_times(const source *s, const matrix *m, report_curves *c,
                                report_error *error)
{
    for (size_t r = 0; r < m->columns; r++) {
        double t = c->times[r] = c->data[1][r * m->rows];
        if (isfinite(t) && (r == 0 || t >= c->times[r - 1])) continue;
        return report_fail(error, REPORT_ERR_READ,
                           "%s: the time of point %zu of data_2, %.17g, %s.", s->path, r + 1, t,
                           isfinite(t) ? "goes back" : "is not finite");
    }
    c->count = m->columns;
    return REPORT_OK;
}

/* Curves of all names. */
static report_status link_curves(const source *s, const matrix parts[PARTS], report_curves *c,
                                 report_error *error)
{
    c->n = 0;
    free(c->data[0]);
    c->data[0] = copy_numbers(&parts[FIXED]);
    c->data[1] = copy_numbers(&parts[MOVING]);
    if (!c->data[0] || !c->data[1])
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", s->path);
    report_status status = read_times(s, &parts[MOVING], c, error);
    for (size_t k = 0; k < parts[NAME].columns && status == REPORT_OK; k++)
        status = link_curve(s, parts, c, k, error);
    return status;
}

report_status read_mat(source *s, report_curves **curves, report_error *error)
{
    matrix parts[PARTS] = {{0}};
    report_status status = REPORT_OK;
    if (!transposed(s))
        return report_fail(error, REPORT_ERR_READ,
                           "%s: this is no trajectory in a MAT-file of level 4 (binTrans).",
                           s->path);
    while (status == REPORT_OK && s->at < s->text + s->size) status = read_matrix(s, parts, error);
    for (int k = 0; k < PARTS && status == REPORT_OK; k++)
        if (!parts[k].bytes)
            status = report_fail(error, REPORT_ERR_READ, "%s: there is no matrix \"%s\".", s->path,
                                 part_names[k]);
    if (status != REPORT_OK) return status;
    const matrix *names = &parts[NAME], *info = &parts[INFO], *moving = &parts[MOVING];
    if (info->rows < 2 || info->columns != names->columns || moving->rows < 1 ||
        moving->columns < 1 || names->columns > INT32_MAX)
        return report_fail(error, REPORT_ERR_READ,
                           "%s: the sizes of name, dataInfo and data_2 do not fit together.",
                           s->path);
    *curves = curves_new((int)names->columns, moving->columns, 0);
    if (!*curves) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", s->path);
    return link_curves(s, parts, *curves, error);
}
