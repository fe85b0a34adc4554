/* daedal-hdf5.so: the table of a sweep as an HDF5 file.
 *
 *   /points   count x inputs, with attributes `names` and `units`; columns of words have their
 *             numbers here, and the words in an attribute `words:NAME`
 *   /kept     count x outputs, likewise; and `times` where there are curves
 *   /status, /message    texts
 *
 * and attributes of the file: model, version, seed, by. Times of the clock are not kept, so that
 * equal tables are equal files. */
#include "modules.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const hdf5_module *daedal_hdf5_module(void);

static hid_t text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* An attribute of `count` texts. */
static int put_texts(hid_t at, const char *name, hsize_t count, const char *const *texts)
{
    if (count == 0) return 0;
    hid_t type = text_type(), space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int error = attribute < 0 || H5Awrite(attribute, type, texts) < 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return error;
}

static int put_text(hid_t at, const char *name, const char *text)
{
    hid_t type = text_type(), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int error = attribute < 0 || H5Awrite(attribute, type, &text) < 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return error;
}

static int put_numbers(hid_t at, const char *name, hid_t type, hsize_t count, const void *x)
{
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int error = attribute < 0 || H5Awrite(attribute, type, x) < 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return error;
}

/* A data set without the time of the clock; negative: none */
static hid_t make_set(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size)
{
    hid_t space = H5Screate_simple(rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(how, 0);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(space);
    return set;
}

/* Names and units of columns, and the words of those that have some. */
static int put_columns(hid_t set, const report_sweep_column *columns, int count)
{
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    if (!texts) return 1;
    for (int c = 0; c < count; c++) texts[c] = columns[c].name;
    int error = put_texts(set, "names", (hsize_t)count, texts);
    for (int c = 0; c < count; c++) texts[c] = columns[c].unit;
    error = error || put_texts(set, "units", (hsize_t)count, texts);
    free(texts);
    for (int c = 0; c < count && !error; c++) {
        char name[400];
        if (!columns[c].words) continue;
        snprintf(name, sizeof name, "words:%.380s", columns[c].name);
        error = put_texts(set, name, (hsize_t)columns[c].word_count, columns[c].words);
        snprintf(name, sizeof name, "first:%.380s", columns[c].name);
        error = error || put_numbers(set, name, H5T_NATIVE_INT, 1, &columns[c].first);
    }
    return error;
}

static int write_matrix(hid_t file, const char *name, const report_sweep *s, int width,
                        const report_sweep_column *columns, const double *x)
{
    hsize_t size[2] = {s->count, (hsize_t)width};
    hid_t set = make_set(file, name, H5T_NATIVE_DOUBLE, 2, size);
    int error = set < 0 ||
                (s->count > 0 && width > 0 &&
                 H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0) ||
                put_columns(set, columns, width);
    if (!error && columns != s->columns && s->time_count > 0)
        error = put_numbers(set, "times", H5T_NATIVE_DOUBLE, (hsize_t)s->time_count, s->times) ||
                put_numbers(set, "curves", H5T_NATIVE_INT, (hsize_t)s->curve_count, s->curves);
    H5Dclose(set);
    return error;
}

static int write_texts(hid_t file, const char *name, size_t count, const char *const *texts)
{
    hsize_t size = count;
    hid_t type = text_type(), set = make_set(file, name, type, 1, &size);
    int error =
        set < 0 || (count > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0);
    H5Dclose(set);
    H5Tclose(type);
    return error;
}

static int write_all(hid_t file, const report_sweep *s)
{
    int error = put_text(file, "model", s->model) || put_text(file, "version", s->version);
    if (!error && s->by)
        error = put_text(file, "by", s->by) ||
                put_numbers(file, "seed", H5T_NATIVE_ULLONG, 1, &s->seed);
    return error || write_matrix(file, "points", s, s->inputs, s->columns, s->input) ||
           write_matrix(file, "kept", s, s->outputs, s->columns + s->inputs, s->output) ||
           write_texts(file, "status", s->count, s->status) ||
           write_texts(file, "message", s->count, s->message);
}

static const char *write_table(const char *path, const report_sweep *sweep)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) return "the library cannot create it";
    int error = write_all(file, sweep);
    if (H5Fclose(file) < 0) error = 1;
    return error ? "the library failed: is the disk full?" : NULL;
}

const hdf5_module *daedal_hdf5_module(void)
{
    static const hdf5_module module = {MODULE_VERSION, write_table};
    return &module;
}
