/* Reports: what is written reads back, failures leave nothing behind, names cannot do harm. */
#define _GNU_SOURCE /* memmem */
#include "report.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The k-th allocation fails, where the sanitizers leave the allocator to us. */
#include "sanitized.h"
#if !SANITIZED
static long fail_at;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static bool refuse(void)
{
    return fail_at > 0 && --fail_at == 0;
}
void *malloc(size_t size)
{
    return refuse() ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *block, size_t size)
{
    return refuse() ? NULL : __libc_realloc(block, size);
}
#endif

static char directory[64];
static char place[512];

static const char *in_directory(const char *name)
{
    snprintf(place, sizeof place, "%s/%s", directory, name);
    return place;
}

static int files_in_directory(void)
{
    int count = 0;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static int make_directory(void **unused)
{
    (void)unused;
    strcpy(directory, "/tmp/daedal_report_XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    (void)unused;
    DIR *listing = opendir(directory);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlink(in_directory(entry->d_name));
    if (listing) closedir(listing);
    return rmdir(directory);
}

static char *read_all(FILE *stream, size_t *length)
{
    static char text[1 << 20];
    rewind(stream);
    *length = fread(text, 1, sizeof text - 1, stream);
    text[*length] = '\0';
    return text;
}

static char *read_path(const char *path, size_t *length)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char *text = read_all(stream, length);
    fclose(stream);
    return text;
}

static report_series *small_series(void)
{
    const char *names[] = {"a,b", "say \"hi\""};
    report_series *s;
    assert_int_equal(report_series_new(2, names, &s, NULL), REPORT_OK);
    report_series_add(s, 0.0, (double[]){0.1, -1e300}, NULL);
    report_series_add(s, 1.0 / 3.0, (double[]){5e-324, NAN}, NULL);
    return s;
}

static report_series *decay(int rows)
{
    report_series *s;
    assert_int_equal(report_series_new(3, NULL, &s, NULL), REPORT_OK);
    for (int k = 0; k < rows; k++) {
        double t = 0.1 * k, y[3] = {exp(-t), 1.0 - exp(-t), 3e-5 * exp(-t)};
        assert_int_equal(report_series_add(s, t, y, NULL), REPORT_OK);
    }
    return s;
}

/* ------------------------------------------------------------------------------------------- */

static void series_grows(void **unused)
{
    (void)unused;
    report_series *s = decay(1000);
    assert_int_equal(s->count, 1000);
    assert_string_equal(s->names[2], "y[2]");
    for (int k = 0; k < 1000; k++) {
        assert_true(s->times[k] == 0.1 * k);
        assert_true(s->rows[3 * k] == exp(-0.1 * k));
    }
    report_series_free(s);
    report_series_free(NULL);
    report_error error;
    assert_int_equal(report_series_new(0, NULL, &s, &error), REPORT_ERR_ARGUMENT);
    assert_null(s);
    assert_non_null(strstr(error.text, "0 variables"));
}

static int no_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[0] - yp[0];
    f[1] = y[1];
    return 0;
}

static void series_for_problem(void **unused)
{
    (void)unused;
    const char *names[] = {"speed", "force"};
    dae_problem *p;
    report_series *s;
    dae_residual form = {.n = 2, .f = no_residual, .variable_names = names};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(report_series_for_problem(p, &s, NULL), REPORT_OK);
    assert_int_equal(s->n, 2);
    assert_string_equal(s->names[1], "force");
    report_series_free(s);
    dae_problem_free(p);
}

static void csv_reads_back(void **unused)
{
    (void)unused;
    report_series *s = small_series();
    FILE *stream = tmpfile();
    size_t length;
    assert_int_equal(report_csv(stream, s, NULL), REPORT_OK);
    char *text = read_all(stream, &length);
    char *row = strchr(text, '\n') + 1;
    *strchr(text, '\n') = '\0';
    assert_string_equal(text, "t,\"a,b\",\"say \"\"hi\"\"\"");
    double t, a, b;
    assert_int_equal(sscanf(row, "%lf,%lf,%lf", &t, &a, &b), 3);
    assert_true(t == 0.0 && a == 0.1 && b == -1e300);
    assert_int_equal(sscanf(strchr(row, '\n') + 1, "%lf,%lf,%lf", &t, &a, &b), 3);
    assert_true(t == 1.0 / 3.0 && a == 5e-324 && isnan(b));
    fclose(stream);
    report_series_free(s);
}

static void csv_in_pieces_is_the_same(void **unused)
{
    (void)unused;
    report_series *s = decay(20);
    assert_int_equal(report_csv_file(in_directory("whole.csv"), s, NULL), REPORT_OK);
    FILE *stream = tmpfile();
    report_csv_header(stream, 3, NULL, NULL);
    for (size_t k = 0; k < s->count; k++)
        assert_int_equal(report_csv_row(stream, 3, s->times[k], s->rows + 3 * k, NULL), REPORT_OK);
    size_t length, other;
    char *copy = strdup(read_all(stream, &length));
    assert_string_equal(copy, read_path(in_directory("whole.csv"), &other));
    free(copy);
    fclose(stream);
    report_series_free(s);
}

/* /dev/full refuses every byte; /dev/null must stay a device. */
static void csv_failures(void **unused)
{
    (void)unused;
    report_series *s = decay(20);
    report_error error;
    int before = files_in_directory();
    assert_int_equal(report_csv_file("/nonexistent/x.csv", s, &error), REPORT_ERR_FILE);
    assert_non_null(strstr(error.text, "/nonexistent/x.csv"));
    assert_int_equal(report_csv_file("", s, &error), REPORT_ERR_ARGUMENT);
    assert_int_equal(report_csv_file("/dev/full", s, &error), REPORT_ERR_FILE);
    assert_int_equal(report_csv_file("/dev/null", s, &error), REPORT_OK);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    FILE *full = fopen("/dev/full", "w");
    assert_int_equal(report_csv(full, s, &error), REPORT_ERR_FILE);
    fclose(full);
    assert_int_equal(files_in_directory(), before);
    report_series_free(s);
}

static void table_is_aligned(void **unused)
{
    (void)unused;
    report_series *s = decay(101);
    FILE *stream = tmpfile();
    size_t length;
    report_table_options options = {.max_rows = 5, .max_columns = 2, .digits = 4};
    assert_int_equal(report_table(stream, s, &options, NULL), REPORT_OK);
    assert_string_equal(read_all(stream, &length), "          t         y[0]         y[1]\n"
                                                   "          0            1            0\n"
                                                   "        2.5      0.08208       0.9179\n"
                                                   "          5     0.006738       0.9933\n"
                                                   "        7.5    0.0005531       0.9994\n"
                                                   "         10     4.54e-05            1\n"
                                                   "(2 of 3 variables)\n"
                                                   "(5 of 101 rows)\n");
    fclose(stream);
    report_series_free(s);
}

static void json_text(void **unused)
{
    (void)unused;
    const char *names[] = {"q\"\\\n\xff\xc3\xa9"};
    report_series *s;
    assert_int_equal(report_series_new(1, names, &s, NULL), REPORT_OK);
    report_series_add(s, 0.1, (double[]){1.0 / 3.0}, NULL);
    report_series_add(s, 2.0, (double[]){INFINITY}, NULL);
    FILE *stream = tmpfile();
    size_t length;
    assert_int_equal(report_json(stream, s, NULL, NULL, NULL), REPORT_OK);
    assert_string_equal(
        read_all(stream, &length),
        "{\n  \"series\": {\n    \"names\": [\"q\\\"\\\\\\u000a\\ufffd\xc3\xa9\"],\n"
        "    \"t\": [0.1,2],\n    \"y\": [\n      [0.33333333333333331,null]]\n"
        "  }\n}\n");
    fclose(stream);
    report_series_free(s);
    stream = tmpfile();
    dae_stats stats = {.steps = 17, .events = 3, .h = NAN};
    dae_diag diag = {.status = DAE_ERR_SINGULAR, .variable = -1, .text = "A \"b\"."};
    assert_int_equal(report_json(stream, NULL, &stats, &diag, NULL), REPORT_OK);
    char *text = read_all(stream, &length);
    assert_non_null(strstr(text, "\"steps\": 17,"));
    assert_non_null(strstr(text, "\"events\": 3,"));
    assert_non_null(strstr(text, "\"h\": null,"));
    assert_non_null(strstr(text, "\"status\": \"DAE_ERR_SINGULAR\","));
    assert_non_null(strstr(text, "\"code\": -9,"));
    assert_non_null(strstr(text, "\"text\": \"A \\\"b\\\".\"\n"));
    fclose(stream);
}

/* Time, two variables with and without a unit, two parameters. */
static report_series *labelled_series(void)
{
    const char *names[] = {"x", "a,b"}, *units[] = {"m", NULL}, *texts[] = {"place", NULL};
    report_series *s;
    assert_int_equal(report_series_new(2, names, &s, NULL), REPORT_OK);
    assert_int_equal(report_series_label(s, "time", "s", units, texts, NULL), REPORT_OK);
    assert_int_equal(report_series_parameters(s, 2, NULL), REPORT_OK);
    report_series_set_parameter(s, 0, "mass", "kg", "of the body", 2.5, NULL);
    report_series_set_parameter(s, 1, "n", NULL, NULL, 3.0, NULL);
    assert_int_equal(report_series_set_parameter(s, 2, "p", "", "", 0.0, NULL),
                     REPORT_ERR_ARGUMENT);
    for (int k = 0; k < 4; k++) report_series_add(s, 0.5 * k, (double[]){k + 0.1, -k}, NULL);
    return s;
}

static void units_in_headers(void **unused)
{
    (void)unused;
    report_series *s = labelled_series();
    FILE *stream = tmpfile();
    size_t length;
    assert_int_equal(report_csv(stream, s, NULL), REPORT_OK);
    char *text = read_all(stream, &length);
    *strchr(text, '\n') = '\0';
    assert_string_equal(text, "time [s],x [m],\"a,b\"");
    fclose(stream);
    assert_int_equal(report_json_file(in_directory("units.json"), s, NULL, NULL, NULL), REPORT_OK);
    text = read_path(in_directory("units.json"), &length);
    assert_non_null(strstr(text, "\"units\": [\"m\",\"\"]"));
    assert_non_null(strstr(text, "\"mass\": 2.5"));
    report_series_free(s);
}

/* A name longer than any label is written whole, without its unit. */
static void long_names_stay_whole(void **unused)
{
    (void)unused;
    char name[1000];
    const char *names[] = {name}, *units[] = {"m"};
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    report_series *s;
    assert_int_equal(report_series_new(1, names, &s, NULL), REPORT_OK);
    assert_int_equal(report_series_label(s, NULL, NULL, units, NULL, NULL), REPORT_OK);
    FILE *stream = tmpfile();
    size_t length;
    assert_int_equal(report_csv(stream, s, NULL), REPORT_OK);
    assert_memory_equal(read_all(stream, &length), "t,xxxx", 6);
    assert_int_equal(length, 2 + strlen(name) + 1);
    fclose(stream);
    report_series_free(s);
}

/* A matrix of a MAT-file of level 4, as the format's description has it. */
typedef struct matrix {
    char name[32];
    int32_t type, rows, columns;
    const char *data;
} matrix;

static const char *read_matrix(const char *at, matrix *m)
{
    static const size_t sizes[] = {8, 4, 4, 2, 2, 1};
    int32_t header[5];
    memcpy(header, at, sizeof header);
    assert_int_equal(header[3], 0); /* real */
    snprintf(m->name, sizeof m->name, "%s", at + 20);
    assert_int_equal(header[4], strlen(m->name) + 1);
    m->type = header[0] % 1000, m->rows = header[1], m->columns = header[2];
    m->data = at + 20 + header[4];
    return m->data + sizes[m->type / 10] * (size_t)m->rows * (size_t)m->columns;
}

static double number_at(const matrix *m, int i, int j)
{
    double x;
    memcpy(&x, m->data + sizeof x * ((size_t)i + (size_t)j * (size_t)m->rows), sizeof x);
    return x;
}

static void mat_reads_back(void **unused)
{
    (void)unused;
    static const char *const order[] = {"Aclass",   "name",   "description",
                                        "dataInfo", "data_1", "data_2"};
    static const int32_t info[] = {0, 1, 0, -1, 2, 2, 0, -1, 2, 3, 0, -1, 1, 2, 0, 0, 1, 3, 0, 0};
    report_series *s = labelled_series();
    assert_int_equal(report_mat_file(in_directory("s.mat"), s, NULL), REPORT_OK);
    size_t length;
    const char *text = read_path(in_directory("s.mat"), &length), *at = text;
    matrix m[6];
    for (int k = 0; k < 6; k++) {
        at = read_matrix(at, &m[k]);
        assert_string_equal(m[k].name, order[k]);
    }
    assert_int_equal(at - text, length);
    assert_memory_equal(m[0].data, "A1 bt. ir1 na  Tj  re  ac  nt  so   r   y   ", 44);
    assert_true(m[1].type == 51 && m[1].rows == 4 && m[1].columns == 5);
    assert_memory_equal(m[1].data, "timex\0\0\0a,b\0massn\0\0\0", 20);
    assert_true(m[2].rows == (int)strlen("of the body [kg]") && m[2].columns == 5);
    assert_string_equal(m[2].data + m[2].rows, "place [m]");
    assert_true(m[3].type == 20 && m[3].rows == 4 && m[3].columns == 5);
    assert_memory_equal(m[3].data, info, sizeof info);
    assert_true(m[4].type == 0 && m[4].rows == 3 && m[4].columns == 2);
    assert_true(number_at(&m[4], 0, 1) == 1.5 && number_at(&m[4], 1, 0) == 2.5 &&
                number_at(&m[4], 2, 1) == 3.0);
    assert_true(m[5].type == 0 && m[5].rows == 3 && m[5].columns == 4);
    for (int r = 0; r < 4; r++)
        assert_true(number_at(&m[5], 0, r) == 0.5 * r && number_at(&m[5], 1, r) == r + 0.1 &&
                    number_at(&m[5], 2, r) == -r);
    assert_int_equal(report_mat_file("/dev/full", s, NULL), REPORT_ERR_FILE);
    report_series_free(s);
}

/* Aliases refer to the row of another variable, with its sign; constants stand with the parameters;
 * what is not shown is in the mat file alone. */
static void mat_stores_aliases_once(void **unused)
{
    (void)unused;
    static const char *const names[] = {"x", "minus", "c", "y", "same", "der(x)"};
    static const int32_t info[7][4] = {{0, 1, 0, -1}, {2, 2, 0, -1}, {2, -2, 0, -1}, {1, 2, 0, 0},
                                       {2, 3, 0, -1}, {2, 3, 0, -1}, {2, 4, 0, -1}};
    report_series *s = NULL;
    assert_int_equal(report_series_new(6, names, &s, NULL), REPORT_OK);
    assert_int_equal(report_series_alias(s, 1, 0, -1, NULL), REPORT_OK);
    assert_int_equal(report_series_constant(s, 2, NULL), REPORT_OK);
    assert_int_equal(report_series_alias(s, 4, 3, 1, NULL), REPORT_OK);
    assert_int_equal(report_series_alias(s, 4, 4, 1, NULL), REPORT_ERR_ARGUMENT);
    assert_int_equal(report_series_alias(s, 4, 6, 1, NULL), REPORT_ERR_ARGUMENT);
    assert_int_equal(report_series_constant(s, -1, NULL), REPORT_ERR_ARGUMENT);
    report_series_show(s, 5);
    for (int r = 0; r < 3; r++) {
        const double row[] = {r + 1, -r - 1, 7.0, 10.0 + r, 10.0 + r, 1.0 / (r + 1)};
        assert_int_equal(report_series_add(s, 0.5 * r, row, NULL), REPORT_OK);
    }
    assert_int_equal(report_mat_file(in_directory("a.mat"), s, NULL), REPORT_OK);
    size_t length;
    const char *at = read_path(in_directory("a.mat"), &length);
    matrix m[6];
    for (int k = 0; k < 6; k++) at = read_matrix(at, &m[k]);
    assert_memory_equal(m[3].data, info, sizeof info);
    assert_true(m[4].rows == 2 && number_at(&m[4], 1, 0) == 7.0 && number_at(&m[4], 1, 1) == 7.0);
    assert_true(m[5].rows == 4 && m[5].columns == 3);
    for (int r = 0; r < 3; r++)
        assert_true(number_at(&m[5], 1, r) == r + 1 && number_at(&m[5], 2, r) == 10.0 + r &&
                    number_at(&m[5], 3, r) == 1.0 / (r + 1));
    assert_int_equal(report_csv_file(in_directory("a.csv"), s, NULL), REPORT_OK);
    assert_memory_equal(read_path(in_directory("a.csv"), &length),
                        "t,x,minus,c,y,same\n0,1,-1,7,10,10\n", 34);
    assert_int_equal(report_json_file(in_directory("a.json"), s, NULL, NULL, NULL), REPORT_OK);
    const char *json = read_path(in_directory("a.json"), &length);
    assert_null(strstr(json, "der(x)"));
    assert_non_null(strstr(json, "[10,11,12]"));
    report_series_free(s);
}

/* ------------------------------------------------------------------------------------------- */

static void expect_plot(const char *name, const report_series *s, const report_plot_options *o)
{
    report_error error = {0};
    if (report_plot(in_directory(name), s, o, &error) != REPORT_OK) fail_msg("%s", error.text);
    size_t length;
    char *text = read_path(in_directory(name), &length);
    if (strstr(name, ".png")) {
        assert_memory_equal(text, "\x89PNG\r\n\x1a\n", 8);
        assert_memory_equal(text + length - 8, "IEND", 4);
    } else if (strstr(name, ".pdf")) {
        assert_memory_equal(text, "%PDF-", 5);
        assert_non_null(memmem(text, length, "%%EOF", 5));
    } else {
        assert_non_null(strstr(text, "<svg"));
        assert_non_null(strstr(text, "</svg>"));
    }
}

static void plots_are_complete(void **unused)
{
    (void)unused;
    report_series *s = decay(200), *one = decay(1);
    expect_plot("auto.png", s, NULL);
    expect_plot("auto.pdf", s, NULL);
    expect_plot("auto.SVG.svg", s, &(report_plot_options){.title = "Decay", .log_time = true});
    expect_plot("one.svg", s, &(report_plot_options){.layout = REPORT_LAYOUT_TOGETHER});
    expect_plot("each.png", s, &(report_plot_options){.layout = REPORT_LAYOUT_STACKED});
    expect_plot("single_row.svg", one, NULL); /* a point, constant in everything */
    report_series_add(s, 21.0, (double[]){NAN, INFINITY, 0.0}, NULL);
    expect_plot("gaps.png", s,
                &(report_plot_options){.variables = (int[]){1}, .variable_count = 1});
    report_series_free(s);
    report_series_free(one);
}

/* Robertson's times reach 1e11: the picture shows all decades, with few labels. */
static void plots_many_decades(void **unused)
{
    (void)unused;
    report_series *s;
    assert_int_equal(report_series_new(1, NULL, &s, NULL), REPORT_OK);
    for (int k = 0; k <= 160; k++) report_series_add(s, pow(10, -5 + 0.1 * k), &(double){k}, NULL);
    expect_plot("decades.svg", s, &(report_plot_options){.log_time = true});
    report_series_free(s);
}

/* Scales that differ get panels of their own: a curve alone in its panel names the axis. */
static void panels_follow_scales(void **unused)
{
    (void)unused;
    report_series *s = decay(50);
    size_t tall, flat;
    expect_plot("panels.png", s, NULL);
    read_path(in_directory("panels.png"), &tall);
    expect_plot("panel.png", s,
                &(report_plot_options){.variables = (int[]){0, 1}, .variable_count = 2});
    char *text = read_path(in_directory("panel.png"), &flat);
    /* IHDR holds the height at byte 20: 520 for one panel, 114 + 2 * 190 for two */
    assert_int_equal((unsigned char)text[22] * 256 + (unsigned char)text[23], 520);
    text = read_path(in_directory("panels.png"), &tall);
    assert_int_equal((unsigned char)text[22] * 256 + (unsigned char)text[23], 494);
    report_series_free(s);
}

/* Names and titles appear as they are, and run nothing. */
static void names_are_harmless(void **unused)
{
    (void)unused;
    char shell[200], quote[200];
    snprintf(shell, sizeof shell, "`touch %s/harm1` $(touch %s/harm2) a_b^c <&>", directory,
             directory);
    snprintf(quote, sizeof quote, "'; system('touch %s/harm3') #\n!touch %s/harm4\n@x", directory,
             directory);
    const char *names[] = {shell, quote, "END_OF_DATA\nEND_OF_DATA"};
    report_series *s;
    assert_int_equal(report_series_new(3, names, &s, NULL), REPORT_OK);
    for (int k = 0; k < 5; k++) report_series_add(s, k, (double[]){k, 2.0 * k, 1e9 * k}, NULL);
    report_plot_options options = {.title = quote, .time_name = shell, .value_name = quote};
    int before = files_in_directory();
    expect_plot("it's `touch x` | $y.svg", s, &options);
    assert_int_equal(files_in_directory(), before + 1);
    size_t length;
    char *text = read_path(in_directory("it's `touch x` | $y.svg"), &length);
    assert_non_null(strstr(text, "a_b^c &lt;&amp;"));
    assert_non_null(strstr(text, "'; system('touch ")); /* a leading apostrophe, shown as it is */
    report_series_free(s);
}

static void expect_failure(const char *name, const report_series *s, const report_plot_options *o,
                           report_status status, const char *words)
{
    report_error error = {0};
    assert_int_equal(report_plot(in_directory(name), s, o, &error), status);
    assert_int_equal(error.status, status);
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
}

/* A picture that fails leaves what was there, and nothing else. */
static void plot_failures(void **unused)
{
    (void)unused;
    report_series *s = decay(20), *empty = decay(0), *start = decay(1);
    report_plot_options missing = {.gnuplot = "no-such-gnuplot"}, broken = {.gnuplot = "false"};
    report_plot_options silent = {.gnuplot = "true"}, wrong = {.variables = (int[]){3}};
    wrong.variable_count = 1;
    FILE *old = fopen(in_directory("old.png"), "w");
    fputs("old", old);
    fclose(old);
    int before = files_in_directory();
    expect_failure("old.png", s, &missing, REPORT_ERR_GNUPLOT, "no-such-gnuplot");
    expect_failure("old.png", s, &broken, REPORT_ERR_GNUPLOT, "failed");
    expect_failure("old.png", s, &silent, REPORT_ERR_GNUPLOT,
                   "failed"); /* ends well, draws nothing */
    expect_failure("old.jpg", s, NULL, REPORT_ERR_ARGUMENT, ".svg, .png or .pdf");
    expect_failure("old", s, NULL, REPORT_ERR_ARGUMENT, ".svg, .png or .pdf");
    expect_failure("old.png", s, &wrong, REPORT_ERR_ARGUMENT, "variable 3");
    expect_failure("old.png", empty, NULL, REPORT_ERR_ARGUMENT, "y[0]");
    expect_failure("old.png", start, &(report_plot_options){.log_time = true}, REPORT_ERR_ARGUMENT,
                   "logarithmic");
    expect_failure("none/x.png", s, NULL, REPORT_ERR_FILE, "none/x.png");
    assert_int_equal(files_in_directory(), before);
    size_t length;
    assert_string_equal(read_path(in_directory("old.png"), &length), "old");
    report_series_free(s);
    report_series_free(empty);
    report_series_free(start);
}

/* ---- rows on the disk ---- */

/* More rows than memory keeps read back as they were, from any place, and give the same files. */
static void many_rows_go_to_disk(void **unused)
{
    (void)unused;
    enum { ROWS = 250000 };
    report_series *s;
    assert_int_equal(report_series_new(3, NULL, &s, NULL), REPORT_OK);
    assert_int_equal(report_series_spool(s, in_directory("any"), NULL), REPORT_OK);
    int before = files_in_directory();
    for (int k = 0; k < ROWS; k++)
        assert_int_equal(report_series_add(s, k, (double[]){k + 0.5, -k, 1.0 / (k + 1)}, NULL),
                         REPORT_OK);
    assert_int_equal(s->count, ROWS);
    assert_true(s->before > 0 && s->capacity < ROWS); /* the others are not in memory */
    assert_int_equal(files_in_directory(), before);   /* and have no name on the disk */
    for (size_t k = 0; k < ROWS; k++) {
        size_t r = k * 7919 % ROWS; /* in no order */
        double t, x = (double)r;
        const double *y = report_series_row(s, r, &t);
        if (t != x || y[0] != x + 0.5 || y[1] != -x || y[2] != 1.0 / (x + 1)) fail();
    }
    assert_int_equal(report_mat_file(in_directory("many.mat"), s, NULL), REPORT_OK);
    assert_int_equal(report_csv_file(in_directory("many.csv"), s, NULL), REPORT_OK);
    FILE *file = fopen(in_directory("many.csv"), "r");
    char line[200];
    int lines = 0;
    while (fgets(line, sizeof line, file)) lines++;
    assert_int_equal(lines, ROWS + 1);
    assert_memory_equal(line, "249999,249999.5,-249999,", 24);
    fclose(file);
    assert_int_equal(report_json_file(in_directory("many.json"), s, NULL, NULL, NULL), REPORT_OK);
    file = fopen(in_directory("many.mat"), "r");
    fseek(file, -4 * (long)sizeof(double), SEEK_END);
    double last[4];
    assert_int_equal(fread(last, sizeof *last, 4, file), 4);
    assert_true(last[0] == ROWS - 1 && last[1] == ROWS - 0.5 && last[2] == 1 - ROWS);
    fclose(file);
    report_series_free(s);
}

/* ---- what gnuplot is told ---- */

/* The script of a plot, drawn by a program that repeats it. */
static char *script_of(const char *name, const report_series *s, report_plot_options o)
{
    char program[200];
    report_error error = {0};
    snprintf(program, sizeof program, "%s/repeat", directory);
    FILE *file = fopen(program, "w");
    fputs("#!/bin/sh\nexec cat\n", file);
    fclose(file);
    chmod(program, 0700);
    o.gnuplot = program;
    if (report_plot(in_directory(name), s, &o, &error) != REPORT_OK) fail_msg("%s", error.text);
    size_t length;
    return read_path(in_directory(name), &length);
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) count++;
    return count;
}

/* Variables of one unit share a panel with the unit at its axis, those of others never; all of them
 * are there, seven to a panel at most. */
static void panels_follow_units(void **unused)
{
    (void)unused;
    enum { N = 26 };
    char text[N][16];
    const char *names[N], *units[N];
    double row[N];
    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "v%d", i);
        names[i] = text[i];
        units[i] = i < 2 ? "m" : i % 2 ? "N" : "rad";
    }
    report_series *s;
    assert_int_equal(report_series_new(N, names, &s, NULL), REPORT_OK);
    assert_int_equal(report_series_label(s, "time", "s", units, NULL, NULL), REPORT_OK);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < N; i++) row[i] = k % 2 + 0.01 * i;
        assert_int_equal(report_series_add(s, k, row, NULL), REPORT_OK);
    }
    const char *svg = script_of("units.svg", s, (report_plot_options){0});
    assert_int_equal(count_of(svg, "with lines"), N);
    assert_int_equal(count_of(svg, "set ylabel"), 5); /* 2 m, 12 N and 12 rad in two panels each */
    assert_non_null(strstr(svg, "set ylabel 'v0, v1 [m]'"));
    assert_int_equal(count_of(svg, "[N]'"), 2);
    assert_int_equal(count_of(svg, "[rad]'"), 2);
    assert_int_equal(count_of(svg, "set xlabel 'time [s]'"), 1);
    report_series_free(s);
}

/* Many panels make pages of a pdf and columns of other pictures; too many are refused, not cut. */
static void many_panels(void **unused)
{
    (void)unused;
    enum { N = 150 };
    double row[N];
    report_series *s;
    assert_int_equal(report_series_new(N, NULL, &s, NULL), REPORT_OK);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++) row[i] = k;
        assert_int_equal(report_series_add(s, k, row, NULL), REPORT_OK);
    }
    report_plot_options each = {.layout = REPORT_LAYOUT_STACKED, .title = "T"};
    const char *pdf = script_of("many.pdf", s, each);
    assert_int_equal(count_of(pdf, "unset multiplot"), 25); /* six to a page */
    assert_int_equal(count_of(pdf, "with lines"), N);
    assert_non_null(strstr(pdf, "'T (25 of 25)'"));
    const char *svg = script_of("many.svg", s, each);
    assert_int_equal(count_of(svg, "unset multiplot"), 1);
    assert_non_null(strstr(svg, "layout 22,7 columnsfirst")); /* 24 to a column, evenly */
    expect_failure("many.png", s, &each, REPORT_ERR_ARGUMENT, "150 panels");
    report_series_free(s);
}

/* Of many rows a picture gets what it can show: every extreme, and few lines. */
static void extremes_survive(void **unused)
{
    (void)unused;
    report_series *s;
    assert_int_equal(report_series_new(1, NULL, &s, NULL), REPORT_OK);
    for (int k = 0; k < 100000; k++) {
        double y = k == 54321 ? 777.0 : k == 12345 ? -555.0 : sin(0.001 * k);
        assert_int_equal(report_series_add(s, k, &y, NULL), REPORT_OK);
    }
    const char *svg = script_of("thin.svg", s, (report_plot_options){0});
    assert_non_null(strstr(svg, " 54321 777\n"));
    assert_non_null(strstr(svg, " 12345 -555\n"));
    assert_true(count_of(svg, "\n") < 11000);
    report_series_free(s);
}

/* A variable without a finite value is named in the title, and keeps the others from nothing. */
static void values_that_cannot_be_drawn(void **unused)
{
    (void)unused;
    const char *names[] = {"good", "bad"};
    report_series *s;
    assert_int_equal(report_series_new(2, names, &s, NULL), REPORT_OK);
    for (int k = 0; k < 3; k++) report_series_add(s, k, (double[]){k, NAN}, NULL);
    const char *svg = script_of("nan.svg", s, (report_plot_options){.title = "T"});
    assert_int_equal(count_of(svg, "with lines"), 1);
    assert_non_null(strstr(svg, "not drawn, without a finite value: bad"));
    report_series_free(s);
}

/* Every allocation of a whole report fails once; each time the error is clean. */
static void allocations_fail(void **unused)
{
    (void)unused;
#if !SANITIZED
    double y[3] = {1.0, 2.0, 3.0};
    bool survived = false;
    for (long k = 1; k < 60 && !survived; k++) {
        report_series *s = NULL;
        report_error error = {0};
        fail_at = k;
        const char *units[] = {"m", "s", ""};
        report_status status = report_series_new(3, NULL, &s, &error);
        if (status == REPORT_OK) status = report_series_label(s, "time", "s", units, units, &error);
        if (status == REPORT_OK) status = report_series_parameters(s, 2, &error);
        if (status == REPORT_OK)
            status = report_series_set_parameter(s, 1, "p", "m", "text", 1.0, &error);
        for (int row = 0; row < 300 && status == REPORT_OK; row++) {
            status = report_series_add(s, row, y, &error);
            if (status != REPORT_OK) assert_int_equal(s->count, row);
        }
        survived = fail_at > 0;
        fail_at = 0;
        if (!survived) assert_int_equal(status, REPORT_ERR_MEMORY);
        if (!survived) assert_non_null(strstr(error.text, "Out of memory"));
        if (s) assert_int_equal(report_series_add(s, 1.0, y, NULL), REPORT_OK);
        report_series_free(s);
    }
    assert_true(survived);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_grows),
        cmocka_unit_test(series_for_problem),
        cmocka_unit_test(csv_reads_back),
        cmocka_unit_test(csv_in_pieces_is_the_same),
        cmocka_unit_test(csv_failures),
        cmocka_unit_test(table_is_aligned),
        cmocka_unit_test(json_text),
        cmocka_unit_test(units_in_headers),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(mat_reads_back),
        cmocka_unit_test(mat_stores_aliases_once),
        cmocka_unit_test(plots_are_complete),
        cmocka_unit_test(plots_many_decades),
        cmocka_unit_test(panels_follow_scales),
        cmocka_unit_test(names_are_harmless),
        cmocka_unit_test(plot_failures),
        cmocka_unit_test(many_rows_go_to_disk),
        cmocka_unit_test(panels_follow_units),
        cmocka_unit_test(many_panels),
        cmocka_unit_test(extremes_survive),
        cmocka_unit_test(values_that_cannot_be_drawn),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
