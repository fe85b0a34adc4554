/* Consistent values over all levels: least change, branches, redundancy, conflicts, scaling. */
#include "failing_memory.h"
#include "init/levels.h"
#include "init/levels_parts.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define assert_near(value, expected, error) assert_true(fabs((value) - (expected)) <= (error))

/* ---- systems of quadratic equations: R_row = sum of c, c u_j or c u_j u_k, where u_j may be a
 * difference u_j - u_a and u_k a difference u_k - u_b ---- */

typedef struct term {
    int row, j, k, a, b; /* -1: none */
    double c;
} term;

typedef struct quadratic {
    level_system system;
    term *terms;
    int count, room;
    int *colptr, *rowind;
    double *row_factor, *unit; /* equations multiplied, unknowns in other units: u = unit * seen */
    int poison;                /* equation that is not defined for u_0 < 0; -1: none */
    long calls;
} quadratic;

static double difference(const quadratic *q, const double *u, int j, int a)
{
    return u[j] * q->unit[j] - (a >= 0 ? u[a] * q->unit[a] : 0.0);
}

static eval_status quadratic_residual(void *user, const double *u, double *r)
{
    quadratic *q = user;
    q->calls++;
    for (int i = 0; i < q->system.m; i++) r[i] = 0.0;
    for (int t = 0; t < q->count; t++) {
        term e = q->terms[t];
        double v = e.c;
        if (e.j >= 0) v *= difference(q, u, e.j, e.a);
        if (e.k >= 0) v *= difference(q, u, e.k, e.b);
        r[e.row] += v * q->row_factor[e.row];
    }
    if (q->poison >= 0 && u[0] < 0.0) r[q->poison] = NAN;
    return EVAL_OK;
}

static void add_entry(quadratic *q, double *values, int row, int column, double v)
{
    for (int e = q->colptr[column]; e < q->colptr[column + 1]; e++)
        if (q->rowind[e] == row) values[e] += v * q->row_factor[row] * q->unit[column];
}

static eval_status quadratic_jacobian(void *user, const double *u, double *values)
{
    quadratic *q = user;
    memset(values, 0, (size_t)q->colptr[q->system.n] * sizeof *values);
    for (int t = 0; t < q->count; t++) {
        term e = q->terms[t];
        double uj = e.j >= 0 ? difference(q, u, e.j, e.a) : 0.0;
        double uk = e.k >= 0 ? difference(q, u, e.k, e.b) : 1.0;
        if (e.j >= 0) add_entry(q, values, e.row, e.j, e.c * uk);
        if (e.k >= 0) add_entry(q, values, e.row, e.k, e.c * uj);
        if (e.a >= 0) add_entry(q, values, e.row, e.a, -e.c * uk);
        if (e.b >= 0) add_entry(q, values, e.row, e.b, -e.c * uj);
    }
    return EVAL_OK;
}

static void quadratic_start(quadratic *q, int n, int m, int room)
{
    *q = (quadratic){.room = room, .poison = -1};
    q->system = (level_system){.n = n, .m = m, .residual = quadratic_residual};
    q->system.jacobian = quadratic_jacobian;
    q->terms = calloc((size_t)room, sizeof *q->terms);
    q->row_factor = calloc((size_t)m + 1, sizeof(double));
    q->unit = calloc((size_t)n + 1, sizeof(double));
    for (int i = 0; i < m; i++) q->row_factor[i] = 1.0;
    for (int j = 0; j < n; j++) q->unit[j] = 1.0;
}

/* c (u_j - u_a) (u_k - u_b) */
static void put_differences(quadratic *q, int row, double c, int j, int a, int k, int b)
{
    assert_true(q->count < q->room);
    q->terms[q->count++] = (term){.row = row, .j = j, .k = k, .a = a, .b = b, .c = c};
}

static void put(quadratic *q, int row, double c, int j, int k)
{
    put_differences(q, row, c, j, -1, k, -1);
}

static int by_place(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void quadratic_finish(quadratic *q)
{
    const int n = q->system.n, m = q->system.m;
    long *place = calloc(4 * (size_t)q->count + 1, sizeof *place);
    int found = 0, kept = 0;
    for (int t = 0; t < q->count; t++) {
        const int columns[] = {q->terms[t].j, q->terms[t].k, q->terms[t].a, q->terms[t].b};
        for (int c = 0; c < 4; c++)
            if (columns[c] >= 0) place[found++] = (long)columns[c] * m + q->terms[t].row;
    }
    qsort(place, (size_t)found, sizeof *place, by_place);
    q->colptr = calloc((size_t)n + 1, sizeof(int));
    q->rowind = calloc((size_t)found + 1, sizeof(int));
    for (int e = 0; e < found; e++) {
        if (e > 0 && place[e] == place[e - 1]) continue;
        q->colptr[place[e] / m + 1]++;
        q->rowind[kept++] = (int)(place[e] % m);
    }
    for (int j = 0; j < n; j++) q->colptr[j + 1] += q->colptr[j];
    free(place);
    q->system.colptr = q->colptr;
    q->system.rowind = q->rowind;
    q->system.user = q;
}

static void quadratic_free(quadratic *q)
{
    free(q->terms);
    free(q->colptr);
    free(q->rowind);
    free(q->row_factor);
    free(q->unit);
}

/* ---- the pendulum: x, x', x'', y, y', y'', lambda ---- */

enum { X, VX, AX, Y, VY, AY, LAMBDA };
static const char *const pendulum_variables[] = {"x",  "vx",      "der(vx)", "y",
                                                 "vy", "der(vy)", "lambda"};
static const char *const pendulum_equations[] = {"force x", "force y", "length", "der(length)",
                                                 "der(der(length))"};
static const int pendulum_lines[] = {4, 5, 6, 6, 6};

static void pendulum(quadratic *q)
{
    quadratic_start(q, 7, 5, 32);
    put(q, 0, 1, AX, -1), put(q, 0, 1, LAMBDA, X);
    put(q, 1, 1, AY, -1), put(q, 1, 1, LAMBDA, Y), put(q, 1, 9.81, -1, -1);
    put(q, 2, 1, X, X), put(q, 2, 1, Y, Y), put(q, 2, -1, -1, -1);
    put(q, 3, 1, X, VX), put(q, 3, 1, Y, VY);
    put(q, 4, 1, VX, VX), put(q, 4, 1, X, AX), put(q, 4, 1, VY, VY), put(q, 4, 1, Y, AY);
    quadratic_finish(q);
    q->system.variable_names = pendulum_variables;
    q->system.equation_names = pendulum_equations;
    q->system.equation_lines = pendulum_lines;
}

static const double ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static dae_status run(quadratic *q, const dae_tag *tag, const double *given, const double *scale,
                      double *u, level_report *report, dae_diag *diag)
{
    level_request request = {.tag = tag, .given = given, .scale = scale, .count_rank = true};
    request.tolerance = 1e-12;
    request.iterations = 50;
    memcpy(u, given, (size_t)q->system.n * sizeof *u);
    return levels_solve(&q->system, &request, u, report, diag);
}

/* x fixed, y preferred below: the lower branch; velocities follow; acceleration and force result.
 */
static void pendulum_keeps_its_branch(void **state)
{
    (void)state;
    const dae_tag tag[7] = {DAE_TAG_FIXED, DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_GUESS,
                            DAE_TAG_FREE,  DAE_TAG_FREE, DAE_TAG_FREE};
    const double guesses[] = {-0.01, -0.3, -2.0, 0.02, 5.0};
    for (size_t k = 0; k < sizeof guesses / sizeof *guesses; k++) {
        quadratic q;
        double given[7] = {0.6, 0, 0, guesses[k], 0, 0, 0}, u[7];
        level_report report;
        dae_diag diag;
        pendulum(&q);
        assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_OK);
        double y = copysign(0.8, guesses[k]), lambda = -9.81 * y;
        assert_true(u[X] == 0.6);
        assert_near(u[Y], y, 1e-14);
        assert_near(u[VX], 0.0, 1e-14);
        assert_near(u[VY], 0.0, 1e-14);
        assert_near(u[LAMBDA], lambda, 1e-12);
        assert_near(u[AX], -lambda * 0.6, 1e-12);
        assert_int_equal(report.redundant, 0);
        assert_int_equal(report.rank, 5);
        assert_true(report.residual <= 1e-13);
        level_report_free(&report);
        quadratic_free(&q);
    }
}

/* Both positions and velocities preferred: the foot of the perpendicular, and the velocities'
 * projection on the tangent there. */
static void pendulum_least_change(void **state)
{
    (void)state;
    dae_tag tag[7] = {DAE_TAG_GUESS, DAE_TAG_GUESS, DAE_TAG_FREE, DAE_TAG_GUESS,
                      DAE_TAG_GUESS, DAE_TAG_FREE,  DAE_TAG_FREE};
    double given[7] = {0.9, 0.0, 0, -1.2, 0.0, 0, 0}, u[7];
    quadratic q;
    level_report report;
    dae_diag diag;
    pendulum(&q);
    assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_OK);
    double length = hypot(0.9, -1.2);
    assert_near(u[X], 0.9 / length, 1e-12);
    assert_near(u[Y], -1.2 / length, 1e-12);
    level_report_free(&report);
    tag[X] = tag[Y] = DAE_TAG_FIXED; /* now velocities alone */
    double second[7] = {0.6, 0.5, 0, -0.8, 0.7, 0, 0};
    assert_int_equal(run(&q, tag, second, ones, u, &report, &diag), DAE_OK);
    double off = 0.6 * 0.5 - 0.8 * 0.7;
    assert_near(u[VX], 0.5 - 0.6 * off, 1e-13);
    assert_near(u[VY], 0.7 + 0.8 * off, 1e-13);
    level_report_free(&report);
    double again[7];
    assert_int_equal(run(&q, tag, u, ones, again, &report, &diag), DAE_OK); /* fixed x, y */
    assert_int_equal(report.stage, LEVEL_GIVEN);
    assert_memory_equal(u, again, sizeof u);
    assert_int_equal(report.redundant, 1); /* length follows from fixed x and y */
    level_report_free(&report);
    quadratic_free(&q);
}

/* A long ellipse from outside: at its tips the curvature is 100 times its length, so that full
 * steps along the tangent lead away; the point found is the foot of a perpendicular all the same.
 */
static void ellipse_least_change(void **state)
{
    (void)state;
    const dae_tag tag[2] = {DAE_TAG_GUESS, DAE_TAG_GUESS};
    const double given[][2] = {{2.0, 0.5}, {1.5, -0.3}, {1.2, 1.0}, {-3.0, 0.1}, {0.2, 2.0}};
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        quadratic q;
        double u[2];
        level_report report;
        dae_diag diag;
        quadratic_start(&q, 2, 1, 4);
        put(&q, 0, 1, 0, 0), put(&q, 0, 100, 1, 1), put(&q, 0, -1, -1, -1);
        quadratic_finish(&q);
        assert_int_equal(run(&q, tag, given[k], ones, u, &report, &diag), DAE_OK);
        double tangent = (given[k][0] - u[0]) * 100.0 * u[1] - (given[k][1] - u[1]) * u[0];
        double length = hypot(given[k][0] - u[0], given[k][1] - u[1]) * hypot(100.0 * u[1], u[0]);
        if (!(fabs(tangent) <= 1e-4 * length && (given[k][0] - u[0]) * u[0] > 0.0))
            fail_msg("from %g, %g: %.9g, %.9g is not the nearest (%g)", given[k][0], given[k][1],
                     u[0], u[1], tangent / length);
        level_report_free(&report);
        quadratic_free(&q);
    }
}

/* Equations times 1e8 and 1e-8, unknowns in other units: the same values, the same verdict. */
static void pendulum_in_other_units(void **state)
{
    (void)state;
    const dae_tag tag[7] = {DAE_TAG_GUESS, DAE_TAG_GUESS, DAE_TAG_FREE, DAE_TAG_GUESS,
                            DAE_TAG_GUESS, DAE_TAG_FREE,  DAE_TAG_FREE};
    const double given[7] = {0.9, 0.3, 0, -1.2, 0.1, 0, 0};
    double u[7], v[7], other[7], scale[7];
    quadratic q;
    level_report report;
    dae_diag diag;
    pendulum(&q);
    assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_OK);
    level_report_free(&report);
    for (int i = 0; i < 5; i++) q.row_factor[i] = i % 2 ? 1e8 : 1e-8;
    for (int j = 0; j < 7; j++) {
        q.unit[j] = j % 2 ? 1024.0 * 1024.0 : 1.0 / (1024.0 * 1024.0);
        other[j] = given[j] / q.unit[j];
        scale[j] = 1.0 / q.unit[j];
    }
    assert_int_equal(run(&q, tag, other, scale, v, &report, &diag), DAE_OK);
    for (int j = 0; j < 7; j++) assert_near(v[j] * q.unit[j], u[j], 1e-11);
    assert_true(report.residual <= 1e-13);
    level_report_free(&report);
    quadratic_free(&q);
}

static bool in_set(int count, const int *set, int wanted)
{
    for (int k = 0; k < count; k++)
        if (set[k] == wanted) return true;
    return false;
}

/* x and y fixed off the circle: the length and both are the conflict, whatever the units. */
static void pendulum_conflict(void **state)
{
    (void)state;
    const dae_tag tag[7] = {DAE_TAG_FIXED, DAE_TAG_FIXED, DAE_TAG_FREE, DAE_TAG_FIXED,
                            DAE_TAG_FREE,  DAE_TAG_FREE,  DAE_TAG_FREE};
    const double given[7] = {0.5, 0.1, 0, 0.5, 0.0, 0, 0};
    for (int pass = 0; pass < 2; pass++) {
        quadratic q;
        level_report report;
        dae_diag diag;
        double u[7];
        pendulum(&q);
        if (pass == 1) q.row_factor[2] = 1e-9;
        assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_ERR_INITIAL);
        assert_int_equal(report.equation_count, 1);
        assert_int_equal(report.equation[0], 2);
        assert_int_equal(report.fixed_count, 2);
        assert_true(in_set(2, report.fixed, X) && in_set(2, report.fixed, Y));
        assert_non_null(strstr(diag.text, "length (line 6)"));
        assert_non_null(strstr(diag.text, "x would become 0.866025404"));
        assert_non_null(strstr(diag.text, "fixed = true"));
        assert_int_equal(diag.line, 6);
        assert_string_equal(diag.equation_name, "length (line 6)");
        level_report_free(&report);
        quadratic_free(&q);
    }
}

/* x^2 = 0 has a solution, though a singular one; x^2 = -1 has none; 0 = 1 has no unknown. */
static void singular_and_impossible(void **state)
{
    (void)state;
    const dae_tag tag[1] = {DAE_TAG_GUESS};
    const char *const variables[] = {"x"}, *const equations[] = {"square"};
    for (int pass = 0; pass < 6; pass++) {
        quadratic q;
        level_report report;
        dae_diag diag;
        double given[1] = {pass % 2 ? 0.0 : 0.7}, u[1], constant = pass / 2 == 0 ? 0.0 : 1.0;
        quadratic_start(&q, 1, 1, 4);
        if (pass / 2 < 2) put(&q, 0, 1, 0, 0);
        put(&q, 0, constant, -1, -1);
        quadratic_finish(&q);
        q.system.variable_names = variables;
        q.system.equation_names = equations;
        dae_status status = run(&q, tag, given, ones, u, &report, &diag);
        if (pass / 2 == 0) {
            assert_int_equal(status, DAE_OK);
            assert_true(fabs(u[0]) <= 1e-5);
        } else {
            assert_int_equal(status, DAE_ERR_INITIAL);
            assert_int_equal(report.equation_count, 1);
            assert_int_equal(report.fixed_count, 0);
            assert_non_null(strstr(diag.text, "square has no solution"));
        }
        level_report_free(&report);
        quadratic_free(&q);
    }
}

/* An equation that has two signs and no slope to speak of, with its root at u = root */
static eval_status switch_residual(void *user, const double *u, double *r)
{
    r[0] = atan(1e8 * (u[0] / *(const double *)user - 1.0));
    return EVAL_OK;
}

static eval_status switch_jacobian(void *user, const double *u, double *values)
{
    double x = 1e8 * (u[0] / *(const double *)user - 1.0);
    values[0] = 1e8 / *(const double *)user / (1.0 + x * x);
    return EVAL_OK;
}

/* Roots of every size and sign are found from 0, where Newton's iteration leads nowhere. */
static void roots_of_all_sizes(void **state)
{
    (void)state;
    static const int colptr[2] = {0, 1}, rowind[1] = {0};
    for (int k = -8; k <= 20; k++) /* scales are 1 */
        for (int sign = -1; sign <= 1; sign += 2) {
            double root = sign * 3.0 * pow(10.0, k), given = 0.0, u = 0.0;
            level_system system = {.n = 1,
                                   .m = 1,
                                   .residual = switch_residual,
                                   .jacobian = switch_jacobian,
                                   .colptr = colptr,
                                   .rowind = rowind,
                                   .user = &root};
            const dae_tag tag = DAE_TAG_FREE;
            level_request request = {
                .tag = &tag, .given = &given, .scale = ones, .tolerance = 1e-12, .iterations = 50};
            level_report report;
            dae_diag diag;
            dae_status status = levels_solve(&system, &request, &u, &report, &diag);
            if (status != DAE_OK || !(fabs(u - root) <= 1e-9 * fabs(root) + 1e-11))
                fail_msg("root %g: %d, %.17g", root, (int)status, u);
            level_report_free(&report);
        }
}

/* ---- values that follow one after the other ---- */

/* a = 4, b = sqrt(a), c = log(b), so many times */
static eval_status roots_and_logarithms(void *user, const double *u, double *r)
{
    const int count = *(const int *)user;
    for (int i = 0; i < count; i++) {
        const double *v = u + 3 * (size_t)i;
        r[3 * i] = v[0] - 4.0;
        r[3 * i + 1] = v[1] - sqrt(v[0]);
        r[3 * i + 2] = v[2] - log(v[1]);
    }
    return EVAL_OK;
}

static eval_status roots_and_logarithms_by(void *user, const double *u, double *values)
{
    const int count = *(const int *)user;
    for (int i = 0; i < count; i++) {
        const double *v = u + 3 * (size_t)i;
        const double by[5] = {1.0, -0.5 / sqrt(v[0]), 1.0, -1.0 / v[1], 1.0};
        memcpy(values + 5 * (size_t)i, by, sizeof by);
    }
    return EVAL_OK;
}

/* From a start where nothing is defined values are found one after the other, also where so many
 * equations are no longer put into an order of blocks. */
static void one_after_the_other(void **state)
{
    (void)state;
    for (int count = 4; count <= 1600; count *= 20) {
        const int n = 3 * count;
        int *colptr = calloc((size_t)n + 1, sizeof *colptr),
            *rowind = calloc((size_t)count, 5 * sizeof *rowind);
        double *room = calloc((size_t)n, 3 * sizeof *room), *given = room, *scale = room + n,
               *u = room + 2 * n;
        dae_tag *tag = calloc((size_t)n, sizeof *tag);
        const long before = live;
        for (int j = 0, e = 0; j < n; j++) {
            rowind[e++] = j;
            if (j % 3 < 2) rowind[e++] = j + 1;
            colptr[j + 1] = e;
            given[j] = u[j] = -1.0;
            scale[j] = 1.0;
            tag[j] = DAE_TAG_FREE;
        }
        const level_system system = {.n = n,
                                     .m = n,
                                     .residual = roots_and_logarithms,
                                     .jacobian = roots_and_logarithms_by,
                                     .colptr = colptr,
                                     .rowind = rowind,
                                     .user = &count};
        const level_request request = {
            .tag = tag, .given = given, .scale = scale, .tolerance = 1e-12, .iterations = 50};
        level_report report;
        dae_diag diag;
        const dae_status status = levels_solve(&system, &request, u, &report, &diag);
        if (status != DAE_OK) fail_msg("%d: %s", count, diag.text);
        level_report_free(&report);
        assert_int_equal(live, before);
        for (int i = 0; i < count; i++) {
            assert_near(u[3 * i], 4.0, 1e-9);
            assert_near(u[3 * i + 1], 2.0, 1e-9);
            assert_near(u[3 * i + 2], log(2.0), 1e-9);
        }
        free(colptr);
        free(rowind);
        free(room);
        free(tag);
    }
}

/* ---- random linear systems against brute force and an independent solution ---- */

static uint64_t seed = 12345;

static double uniform(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

static int small_integer(void)
{
    return (int)floor(uniform() * 2.5 + 0.5);
}

/* Rank of a small matrix by elimination with complete pivoting. */
static int rank_of(int m, int n, double *a)
{
    int rank = 0;
    for (; rank < m && rank < n; rank++) {
        int pi = rank, pj = rank;
        for (int i = rank; i < m; i++)
            for (int j = rank; j < n; j++)
                if (fabs(a[i * n + j]) > fabs(a[pi * n + pj])) pi = i, pj = j;
        if (fabs(a[pi * n + pj]) < 1e-9) break;
        for (int j = 0; j < n; j++) {
            double t = a[rank * n + j];
            a[rank * n + j] = a[pi * n + j], a[pi * n + j] = t;
        }
        for (int i = 0; i < m; i++) {
            double t = a[i * n + rank];
            a[i * n + rank] = a[i * n + pj], a[i * n + pj] = t;
        }
        for (int i = rank + 1; i < m; i++) {
            double f = a[i * n + rank] / a[rank * n + rank];
            for (int j = 0; j < n; j++) a[i * n + j] -= f * a[rank * n + j];
        }
    }
    return rank;
}

enum { ROWS = 5, COLUMNS = 4 };

/* Whether equations and fixed values chosen by bits (equations first) have a solution: the rank of
 * the matrix is that of the matrix with right-hand sides. */
static bool has_solution(const double *A, const double *b, const double *given, unsigned chosen)
{
    double plain[(ROWS + COLUMNS) * COLUMNS], full[(ROWS + COLUMNS) * (COLUMNS + 1)];
    int m = 0;
    for (int k = 0; k < ROWS + COLUMNS; k++) {
        if (!(chosen >> k & 1u)) continue;
        for (int j = 0; j < COLUMNS; j++) {
            double v = k < ROWS ? A[k * COLUMNS + j] : k - ROWS == j;
            plain[m * COLUMNS + j] = full[m * (COLUMNS + 1) + j] = v;
        }
        full[m * (COLUMNS + 1) + COLUMNS] = k < ROWS ? b[k] : given[k - ROWS];
        m++;
    }
    return rank_of(m, COLUMNS, plain) == rank_of(m, COLUMNS + 1, full);
}

static unsigned bits_of(const level_report *report)
{
    unsigned bits = 0;
    for (int k = 0; k < report->equation_count; k++) bits |= 1u << report->equation[k];
    for (int k = 0; k < report->fixed_count; k++) bits |= 1u << (ROWS + report->fixed[k]);
    return bits;
}

/* consistent: a point meets all equations; some fixed values may still be elsewhere */
static void random_linear(quadratic *q, bool consistent, double *A, double *b, double *given,
                          dae_tag *tag)
{
    for (int j = 0; j < COLUMNS; j++) given[j] = small_integer();
    quadratic_start(q, COLUMNS, ROWS, ROWS * (COLUMNS + 1));
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            A[i * COLUMNS + j] = small_integer();
            if (A[i * COLUMNS + j] != 0.0) put(q, i, A[i * COLUMNS + j], j, -1);
        }
        b[i] = consistent ? 0.0 : small_integer();
        for (int j = 0; j < COLUMNS && consistent; j++) b[i] += A[i * COLUMNS + j] * given[j];
        put(q, i, -b[i], -1, -1);
    }
    quadratic_finish(q);
    for (int j = 0; j < COLUMNS; j++) {
        if (uniform() > 0.5) given[j] = small_integer();
        tag[j] = uniform() < -0.2 ? DAE_TAG_FIXED : DAE_TAG_GUESS;
    }
}

/* The verdict is that of ranks, and a conflict is one of which no proper subset conflicts. */
static void conflicts_are_irreducible(void **state)
{
    (void)state;
    int conflicts = 0, solved = 0;
    for (int trial = 0; trial < 400; trial++) {
        double A[ROWS * COLUMNS], b[ROWS], given[COLUMNS], u[COLUMNS];
        dae_tag tag[COLUMNS];
        quadratic q;
        level_report report;
        dae_diag diag;
        random_linear(&q, trial % 2 == 0, A, b, given, tag);
        unsigned all = (1u << ROWS) - 1;
        for (int j = 0; j < COLUMNS; j++)
            if (tag[j] == DAE_TAG_FIXED) all |= 1u << (ROWS + j);
        dae_status status = run(&q, tag, given, ones, u, &report, &diag);
        if (has_solution(A, b, given, all)) {
            assert_int_equal(status, DAE_OK);
            solved++;
        } else {
            assert_int_equal(status, DAE_ERR_INITIAL);
            unsigned set = bits_of(&report);
            assert_true((set & ~all) == 0);
            assert_false(has_solution(A, b, given, set));
            for (int k = 0; k < ROWS + COLUMNS; k++)
                if (set >> k & 1u) assert_true(has_solution(A, b, given, set & ~(1u << k)));
            conflicts++;
        }
        level_report_free(&report);
        quadratic_free(&q);
    }
    assert_true(conflicts > 50 && solved > 20);
}

/* Consistent linear systems with dependent rows: the projection, by elimination in the normal
 * equations A A' z = A g - b with the dependent rows left out. */
static void random_projections(void **state)
{
    (void)state;
    enum { N = 12, M = 8, R = 6 };
    for (int trial = 0; trial < 50; trial++) {
        double A[M][N], b[M], g[N], u[N], solution[N];
        dae_tag tag[N];
        quadratic q;
        level_report report;
        dae_diag diag;
        for (int j = 0; j < N; j++) {
            g[j] = uniform(), solution[j] = uniform();
            tag[j] = DAE_TAG_GUESS;
        }
        for (int i = 0; i < M; i++) {
            b[i] = 0;
            for (int j = 0; j < N; j++) {
                A[i][j] = i < R ? uniform() : A[0][j] * (i - 3) + A[i - R][j] * 2 - A[i - 3][j];
                b[i] += A[i][j] * solution[j];
            }
        }
        quadratic_start(&q, N, M, M * (N + 1));
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) put(&q, i, A[i][j], j, -1);
            put(&q, i, -b[i], -1, -1);
        }
        quadratic_finish(&q);
        assert_int_equal(run(&q, tag, g, ones, u, &report, &diag), DAE_OK);
        assert_int_equal(report.rank, R);
        assert_int_equal(report.redundant, M - R);
        double S[R][R + 1], z[R];
        for (int i = 0; i < R; i++) {
            S[i][R] = -b[i];
            for (int j = 0; j < N; j++) S[i][R] += A[i][j] * g[j];
            for (int k = 0; k < R; k++) {
                S[i][k] = 0;
                for (int j = 0; j < N; j++) S[i][k] += A[i][j] * A[k][j];
            }
        }
        for (int k = 0; k < R; k++)
            for (int i = k + 1; i < R; i++) {
                double f = S[i][k] / S[k][k];
                for (int j = k; j <= R; j++) S[i][j] -= f * S[k][j];
            }
        for (int i = R - 1; i >= 0; i--) {
            z[i] = S[i][R];
            for (int k = i + 1; k < R; k++) z[i] -= S[i][k] * z[k];
            z[i] /= S[i][i];
        }
        for (int j = 0; j < N; j++) {
            double expected = g[j];
            for (int i = 0; i < R; i++) expected -= A[i][j] * z[i];
            assert_near(u[j], expected, 1e-9);
        }
        level_report_free(&report);
        quadratic_free(&q);
    }
}

/* Dulmage and Mendelsohn's parts by hand. Two equations for the free unknown a: both belong to the
 * over-determined part, whichever of them a matching gives to a, and so does what a third unknown
 * is chained to them by. The equation of d, and what a preferred unknown p says, do not. */
static void parts_by_hand(void **state)
{
    (void)state;
    enum { A, B, C, D, P, UNKNOWNS };
    static const dae_tag tag[UNKNOWNS] = {DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_FREE,
                                          DAE_TAG_GUESS};
    /* a, p | a, b | b, a | d, p | c, d: columns by rows */
    static const int colptr[] = {0, 3, 5, 6, 8, 10}, rowind[] = {0, 1, 2, 1, 2, 4, 3, 4, 0, 3};
    const level_system system = {.n = UNKNOWNS, .m = 5, .colptr = colptr, .rowind = rowind};
    const bool expected[5] = {true, true, true, false, false};
    bool core[5], settled[UNKNOWNS];
    assert_int_equal(level_split(&system, tag, core, settled), 2);
    for (int i = 0; i < 5; i++) assert_int_equal(core[i], expected[i]);
    assert_true(settled[A] && settled[B]);
    assert_false(settled[C] || settled[D] || settled[P]);
}

/* A free unknown gives way so that the preferred one keeps its bits. */
static void free_gives_way(void **state)
{
    (void)state;
    const dae_tag tag[2] = {DAE_TAG_GUESS, DAE_TAG_FREE};
    const double given[2] = {0.1, 0.0};
    double u[2];
    quadratic q;
    level_report report;
    dae_diag diag;
    quadratic_start(&q, 2, 1, 4);
    put(&q, 0, 3, 0, -1), put(&q, 0, -7, 1, -1), put(&q, 0, 1, 1, 1);
    quadratic_finish(&q);
    assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_OK);
    assert_true(u[0] == 0.1);
    assert_near(u[1], (7 - sqrt(49 - 1.2)) / 2, 1e-15);
    level_report_free(&report);
    quadratic_free(&q);
}

/* ---- a chain of pendulums: bob i hangs on bob i-1 ---- */

enum { PER_BOB = 7, EQUATIONS_PER_BOB = 5 };

/* c (u_j - its like of the bob before) (u_p - its like of the bob before), j and p of bob i */
static void put_link(quadratic *q, int row, double c, int i, int j, int p)
{
    int u = PER_BOB * i, before = u - PER_BOB;
    put_differences(q, row, c, u + j, i > 0 ? before + j : -1, u + p, i > 0 ? before + p : -1);
}

static void chain(quadratic *q, int bobs)
{
    quadratic_start(q, PER_BOB * bobs, EQUATIONS_PER_BOB * bobs, 64 * bobs);
    for (int i = 0; i < bobs; i++) {
        int u = PER_BOB * i, row = EQUATIONS_PER_BOB * i;
        for (int d = 0; d < 2; d++) {
            int position = d ? Y : X, acceleration = d ? AY : AX;
            put(q, row + d, 1, u + acceleration, -1);
            put_differences(q, row + d, 1, u + LAMBDA, -1, u + position,
                            i > 0 ? u + position - PER_BOB : -1);
            if (i + 1 < bobs)
                put_differences(q, row + d, -1, u + PER_BOB + LAMBDA, -1, u + PER_BOB + position,
                                u + position);
            put_link(q, row + 2, 1, i, position, position);
            put_link(q, row + 3, 1, i, position, position + 1);
            put_link(q, row + 4, 1, i, position + 1, position + 1);
            put_link(q, row + 4, 1, i, position, position + 2);
        }
        put(q, row + 1, 9.81, -1, -1);
        put(q, row + 2, -1, -1, -1);
    }
    quadratic_finish(q);
}

/* Links of length 1, positions off by a hundredth, positions and velocities preferred. */
static void chain_start(int bobs, double *given, double *scale, dae_tag *tag)
{
    double x = 0, y = 0;
    for (int i = 0; i < bobs; i++) {
        double *bob = given + PER_BOB * i;
        for (int k = 0; k < PER_BOB; k++) {
            scale[PER_BOB * i + k] = 1.0;
            tag[PER_BOB * i + k] = k == AX || k == AY || k == LAMBDA ? DAE_TAG_FREE : DAE_TAG_GUESS;
        }
        x += sin(0.3 + 0.2 * sin(i)), y -= cos(0.3 + 0.2 * sin(i));
        bob[X] = x + 0.01 * sin(7 * i), bob[Y] = y + 0.01 * cos(5 * i);
        bob[VX] = 0.1 * cos(i);
    }
}

static void chain_of_pendulums(void **state)
{
    (void)state;
    const int bobs = 1000, n = PER_BOB * bobs;
    quadratic q;
    level_report report;
    dae_diag diag;
    double *given = calloc((size_t)n, sizeof *given), *u = calloc((size_t)n, sizeof *u);
    double *scale = calloc((size_t)n, sizeof *scale), *r = calloc((size_t)n, sizeof *r);
    dae_tag *tag = calloc((size_t)n, sizeof *tag);
    chain(&q, bobs);
    chain_start(bobs, given, scale, tag);
    clock_t before = clock();
    assert_int_equal(run(&q, tag, given, scale, u, &report, &diag), DAE_OK);
    double took = (double)(clock() - before) / CLOCKS_PER_SEC;
    assert_true(took < 2.0); /* 0.2 s are usual, 1 s with sanitizers */
    printf("chain of %d pendulums: %.3f s, %d iterations, residual %.1e\n", bobs, took,
           report.iterations, report.residual);
    quadratic_residual(&q, u, r);
    for (int i = 0; i < q.system.m; i++) {
        const double *bob = u + PER_BOB * (i / 5);
        double size = 1.0 + fabs(bob[LAMBDA]) + fabs(bob[X]) + fabs(bob[Y]);
        assert_true(fabs(r[i]) <= 2e-15 * (500.0 + size));
    }
    assert_int_equal(report.redundant, 0);
    level_report_free(&report);
    free(given), free(u), free(scale), free(r), free(tag);
    quadratic_free(&q);
}

/* A ladder u_i - 2 u_(i+1) + .. with every equation twice at some places: large and redundant; then
 * one copy contradicts: the set is that pair. */
static void large_redundancy_and_conflict(void **state)
{
    (void)state;
    enum { N = SANITIZED ? 800 : 3000, EXTRA = 5, M = N - 2 + EXTRA };
    double *given = calloc(N, sizeof *given), *u = calloc(N, sizeof *u);
    double *scales = calloc(N, sizeof *scales);
    dae_tag *tag = calloc(N, sizeof *tag);
    for (int pass = 0; pass < 3; pass++) {
        quadratic q;
        level_report report;
        dae_diag diag;
        quadratic_start(&q, N, M, 5 * M + 1);
        for (int i = 0; i < M; i++) {
            int at = i < N - 2 ? i : 100 + 7 * (i - (N - 2));
            double f = i < N - 2 ? 1.0 : -3.0;
            put(&q, i, f, at, -1), put(&q, i, -2.5 * f, at + 1, -1), put(&q, i, f, at + 2, -1);
            put(&q, i, -0.1 * f, at, at + 1), put(&q, i, f, -1, -1);
        }
        if (pass == 1) put(&q, N, 1e-3, -1, -1);
        if (pass == 2) tag[114] = tag[115] = tag[116] = DAE_TAG_FIXED;
        quadratic_finish(&q);
        for (int j = 0; j < N; j++) {
            given[j] = sin(0.01 * j);
            scales[j] = 1.0;
        }
        dae_status status = run(&q, tag, given, scales, u, &report, &diag);
        if (pass == 0) {
            assert_int_equal(status, DAE_OK);
            assert_int_equal(report.redundant, EXTRA);
            assert_int_equal(report.rank, M - EXTRA);
        } else if (pass == 1) {
            assert_int_equal(status, DAE_ERR_INITIAL);
            assert_int_equal(report.fixed_count, 0);
            assert_int_equal(report.equation_count, 2);
            assert_true(in_set(2, report.equation, 114) && in_set(2, report.equation, N));
        } else {
            assert_int_equal(status, DAE_ERR_INITIAL);
            assert_int_equal(report.equation_count, 1);
            assert_int_equal(report.fixed_count, 3);
            assert_true(report.equation[0] == 114 || report.equation[0] == N);
        }
        level_report_free(&report);
        quadratic_free(&q);
    }
    free(given), free(u), free(scales), free(tag);
}

static void undefined_equation_is_named(void **state)
{
    (void)state;
    const dae_tag tag[7] = {DAE_TAG_GUESS, DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_GUESS,
                            DAE_TAG_FREE,  DAE_TAG_FREE, DAE_TAG_FREE};
    double given[7] = {-0.6, 0, 0, -0.5, 0, 0, 0}, u[7];
    quadratic q;
    level_report report;
    dae_diag diag;
    pendulum(&q);
    q.poison = 3;
    assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_ERR_EVALUATION);
    assert_int_equal(diag.equation, 3);
    assert_non_null(strstr(diag.text, "der(length)"));
    level_report_free(&report);
    given[X] = 0.01; /* steps that leave the domain are shortened */
    assert_int_equal(run(&q, tag, given, ones, u, &report, &diag), DAE_OK);
    assert_true(u[X] >= 0.0);
    level_report_free(&report);
    quadratic_free(&q);
}

/* Every allocation fails once: a clean error, nothing leaks, and the values stay as they were. */
static void allocations_fail(void **state)
{
    (void)state;
    const double good[7] = {0.9, 0, 0, -1.2, 0, 0, 0}, bad[7] = {0.5, 0.1, 0, 0.5, 0, 0, 0};
    const dae_tag guess[7] = {DAE_TAG_GUESS, DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_GUESS,
                              DAE_TAG_FREE,  DAE_TAG_FREE, DAE_TAG_FREE};
    const dae_tag fixed[7] = {DAE_TAG_FIXED, DAE_TAG_FREE, DAE_TAG_FREE, DAE_TAG_FIXED,
                              DAE_TAG_FREE,  DAE_TAG_FREE, DAE_TAG_FREE};
    quadratic q;
    pendulum(&q);
    for (int pass = 0; pass < 2; pass++) {
        long k = 0;
        for (;; k++) {
            level_report report;
            dae_diag diag;
            double u[7];
            countdown = k;
            dae_status status =
                run(&q, pass ? fixed : guess, pass ? bad : good, ones, u, &report, &diag);
            bool reached = countdown < 0;
            countdown = -1;
            level_report_free(&report);
            if (!reached) {
                assert_int_equal(status, pass ? DAE_ERR_INITIAL : DAE_OK);
                break;
            }
            assert_int_equal(status, DAE_ERR_MEMORY);
            assert_memory_equal(u, pass ? bad : good, sizeof u);
        }
        assert_true(k > 20);
    }
    quadratic_free(&q);
}

/* The same of a system too large to be dense. */
static void allocations_fail_sparse(void **state)
{
    (void)state;
    enum { BOBS = 150, N = PER_BOB * BOBS };
    double given[N] = {0}, scale[N], u[N];
    dae_tag tag[N];
    quadratic q;
    chain(&q, BOBS);
    chain_start(BOBS, given, scale, tag);
    const long stride = SANITIZED ? 7 : 1;
    long k = 0;
    for (;; k += stride) {
        level_report report;
        dae_diag diag;
        countdown = k;
        dae_status status = run(&q, tag, given, scale, u, &report, &diag);
        bool reached = countdown < 0;
        countdown = -1;
        level_report_free(&report);
        assert_int_equal(status, reached ? DAE_ERR_MEMORY : DAE_OK);
        if (!reached) break;
    }
    assert_true(k > 100);
    quadratic_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_keeps_its_branch),
        cmocka_unit_test(pendulum_least_change),
        cmocka_unit_test(ellipse_least_change),
        cmocka_unit_test(pendulum_in_other_units),
        cmocka_unit_test(pendulum_conflict),
        cmocka_unit_test(singular_and_impossible),
        cmocka_unit_test(roots_of_all_sizes),
        cmocka_unit_test(conflicts_are_irreducible),
        cmocka_unit_test(random_projections),
        cmocka_unit_test(parts_by_hand),
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(free_gives_way),
        cmocka_unit_test(chain_of_pendulums),
        cmocka_unit_test(large_redundancy_and_conflict),
        cmocka_unit_test(undefined_equation_is_named),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(allocations_fail_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
