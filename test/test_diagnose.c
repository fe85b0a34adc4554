/* The index of problems given by callbacks, against what the literature says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models.h"
#include "solve/explain/diagnose_api.h"

static dae_index_report *diagnose_form(const dae_residual *form, double t, const double *y,
                                       const double *yp)
{
    dae_problem *problem = NULL;
    dae_index_report *report = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(form, &problem, &diag), DAE_OK);
    assert_int_equal(dae_problem_diagnose(problem, t, y, yp, &report, &diag), DAE_OK);
    assert_non_null(report);
    dae_problem_free(problem);
    return report;
}

/* ---- the pendulum ---------------------------------------------------------------------------- */

/* x, y, vx, vy, lambda; gravity along +y; the constraint of the level that user points to */
static int pendulum(double t, const double *y, const double *yp, double *f, void *user)
{
    const int level = *(const int *)user;
    (void)t;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[4] * y[0];
    f[3] = yp[3] + y[4] * y[1] - 1.0;
    if (level == 3) f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    if (level == 2) f[4] = y[0] * y[2] + y[1] * y[3];
    if (level == 1) f[4] = y[2] * y[2] + y[3] * y[3] - y[4] * (y[0] * y[0] + y[1] * y[1]) + y[1];
    return 0;
}

static void pendulum_point(double phi, double omega, double *y, double *yp)
{
    y[0] = cos(phi), y[1] = sin(phi), y[2] = -omega * sin(phi), y[3] = omega * cos(phi);
    y[4] = omega * omega + sin(phi);
    yp[0] = y[2], yp[1] = y[3], yp[2] = -y[4] * y[0], yp[3] = 1 - y[4] * y[1], yp[4] = 3 * y[3];
}

static void the_pendulum_at_all_levels(void **state)
{
    (void)state;
    double y[5], yp[5];
    const dae_kind kinds[] = {0, DAE_KIND_INDEX1, DAE_KIND_INDEX2, DAE_KIND_INDEX3};
    pendulum_point(0.7, 1.3, y, yp);
    for (int level = 1; level <= 3; level++) {
        dae_residual form = {.n = 5, .f = pendulum, .user = &level};
        dae_index_report *r = diagnose_form(&form, 0.0, y, yp);
        assert_int_equal(r->index, level);
        assert_int_equal(r->pencil_index, level);
        assert_int_equal(r->freedom, 5 - level);
        assert_true(r->certain);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(r->rows[i], level > 1 && i == 4);
            assert_int_equal(r->variables[i], level > 1 && i == 4);
            assert_int_equal(r->kinds[i], i == 4 ? kinds[level] : DAE_KIND_DIFFERENTIAL);
        }
        if (level > 1) assert_non_null(strstr(r->text, "(equation F[4]; variable y[4])"));
        dae_index_report_free(r);
    }
}

/* x' = z, x + 1e-4 z = 1e12, z = 0, in either order: differences in z must show beside x */
static int large_beside_zero(double t, const double *y, const double *yp, double *f, void *user)
{
    const int x = *(const int *)user, z = 1 - x;
    (void)t;
    f[0] = yp[x] - y[z];
    f[1] = y[x] + 1e-4 * y[z] - 1e12;
    return 0;
}

static void sizes_far_apart(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        const double y[2] = {first == 0 ? 1e12 : 0.0, first == 0 ? 0.0 : 1e12}, yp[2] = {0.0};
        dae_residual form = {.n = 2, .f = large_beside_zero, .user = &first};
        dae_index_report *r = diagnose_form(&form, 0.0, y, yp);
        assert_int_equal(r->index, 1);
        assert_true(r->certain);
        dae_index_report_free(r);
    }
}

/* ---- linear systems with variable coefficients ----------------------------------------------- */

/* [BCP96 example 2.4.1]: the pencil is singular at every t, the index is 2 */
static int singular_pencil(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + t * yp[1] - sin(t);
    f[1] = y[0] + t * y[1] - cos(t);
    return 0;
}

/* [BCP96 example 2.4.2]: the pencil is regular of index 2, the system has no unique solution */
static int unsolvable(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = -t * yp[0] + t * t * yp[1] + y[0];
    f[1] = -yp[0] + t * yp[1] + y[1];
    return 0;
}

/* [BCP96 (3.1.13)] */
static int unstable(double t, const double *y, const double *yp, double *f, void *user)
{
    const double eta = *(const double *)user;
    f[0] = y[0] + eta * t * y[1] - exp(t);
    f[1] = yp[0] + eta * t * yp[1] + (1 + eta) * y[1];
    return 0;
}

static void where_the_frozen_pencil_is_wrong(void **state)
{
    (void)state;
    const double y[] = {0.3, 0.4}, yp[] = {0.5, -0.6};
    dae_residual form = {.n = 2, .f = singular_pencil};
    dae_index_report *r = diagnose_form(&form, 0.5, y, yp);
    assert_int_equal(r->index, 2);
    assert_int_equal(r->pencil_index, -1);
    assert_int_equal(r->freedom, 0);
    assert_true(r->certain);
    assert_non_null(strstr(r->text, "singular pencil"));
    dae_index_report_free(r);

    form.f = unsolvable;
    r = diagnose_form(&form, 0.5, y, yp);
    assert_int_equal(r->index, -1);
    assert_int_equal(r->pencil_index, 2);
    assert_non_null(strstr(r->text, "dependent"));
    assert_true(r->rows[0] && r->rows[1]);
    dae_index_report_free(r);

    for (double eta = -1.0; eta < 3.0; eta += 1.5) {
        form = (dae_residual){.n = 2, .f = unstable, .user = &eta};
        r = diagnose_form(&form, 0.3, y, yp);
        assert_int_equal(r->index, 2);
        assert_int_equal(r->pencil_index, eta == -1.0 ? -1 : 2);
        dae_index_report_free(r);
    }
}

/* ---- other systems --------------------------------------------------------------------------- */

static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    const int n = *(const int *)user;
    for (int i = 0; i + 1 < n; i++) f[i] = yp[i] - y[i + 1];
    f[n - 1] = y[0] - sin(t);
    return 0;
}

/* Hessenberg chains: index n; 4 stands for more. */
static void hessenberg_chains(void **state)
{
    (void)state;
    const double y[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, yp[6] = {1, 1, 1, 1, 1, 1};
    for (int n = 2; n <= 6; n++) {
        dae_residual form = {.n = n, .f = chain, .user = &n};
        dae_index_report *r = diagnose_form(&form, 0.3, y, yp);
        assert_int_equal(r->index, n < 4 ? n : 4);
        assert_int_equal(r->pencil_index, n);
        assert_true(r->rows[n - 1] && r->variables[n - 1]);
        dae_index_report_free(r);
    }
}

static int lubich(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2] * yp[1] + y[1] * yp[2];
    f[1] = y[1];
    f[2] = y[2];
    return 0;
}

static int campbell_gear(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[2] * yp[1] + y[0];
    f[1] = y[2] * yp[2] + y[1];
    f[2] = y[2];
    return 0;
}

/* [HW96 VII.1 (1.31), (1.32)] at the solution 0: index 1, and the second is not certain because the
 * index around the solution is 3. */
static void the_counterexamples(void **state)
{
    (void)state;
    const double zero[3] = {0}, near[3] = {0.1, 0.2, 0.3};
    dae_residual form = {.n = 3, .f = lubich};
    dae_index_report *r = diagnose_form(&form, 0.0, zero, NULL);
    assert_int_equal(r->index, 1);
    assert_true(r->certain);
    dae_index_report_free(r);
    form.f = campbell_gear;
    r = diagnose_form(&form, 0.0, zero, NULL);
    assert_int_equal(r->index, 1);
    assert_false(r->certain);
    dae_index_report_free(r);
    r = diagnose_form(&form, 0.0, near, near);
    assert_int_equal(r->index, 3);
    dae_index_report_free(r);
}

static int explicit_form(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + yp[1] - y[0] * t;
    f[1] = yp[0] - yp[1] + sqrt(y[1]);
    return 0;
}

/* Index 0; also next to where F ends (sqrt of a negative number). */
static void an_implicit_ode(void **state)
{
    (void)state;
    const double y[] = {1.0, 1e-3}, yp[] = {1.0, 1.0};
    dae_residual form = {.n = 2, .f = explicit_form};
    dae_index_report *r = diagnose_form(&form, 0.0, y, yp);
    assert_int_equal(r->index, 0);
    assert_int_equal(r->freedom, 2);
    dae_index_report_free(r);
}

/* [BCP96 7.3]: index 1 though every derivative occurs */
static int hidden_algebraic(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    const double sum = yp[0] + yp[1] + y[0] + y[1];
    f[0] = sum - cos(t);
    f[1] = sum + y[1] - t;
    return 0;
}

/* The third equation repeats the first two. */
static int redundant(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1] * y[2];
    f[1] = y[0] - y[1];
    f[2] = yp[0] - y[1] * y[2] + y[0] - y[1];
    f[3] = y[3] - 1.0;
    return 0;
}

static void cancellations_and_redundancy(void **state)
{
    (void)state;
    const double y[] = {1, 2, 3, 4}, yp[] = {1, 1, 1, 1};
    dae_residual form = {.n = 2, .f = hidden_algebraic};
    dae_index_report *r = diagnose_form(&form, 0.2, y, yp);
    assert_int_equal(r->index, 1);
    assert_int_equal(r->freedom, 1);
    dae_index_report_free(r);
    const char *const names[] = {"balance", "contact", "closing", "valve"};
    form = (dae_residual){.n = 4, .f = redundant, .equation_names = names};
    r = diagnose_form(&form, 0.2, y, yp);
    assert_int_equal(r->index, -1);
    assert_true(r->rows[0] && r->rows[1] && r->rows[2] && !r->rows[3]);
    assert_non_null(strstr(r->text, "equations balance, contact, closing"));
    dae_index_report_free(r);
}

/* ---- the corpus ------------------------------------------------------------------------------ */

/* Indices from the sources of the problems. */
static void models_of_the_corpus(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int index;
    } known[] = {{"robertson", 1}, {"akzo", 1},        {"transamp", 1}, {"pendulum1", 1},
                 {"pendulum2", 2}, {"trajectory2", 2}, {"pendulum3", 3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        model *m = model_new(known[i].name, 0);
        assert_non_null(m);
        dae_index_report *r = diagnose_form(&m->form, m->t0, m->y0, m->yp0);
        assert_int_equal(r->index, known[i].index);
        dae_index_report_free(r);
        model_free(m);
    }
}

/* ---- solvers --------------------------------------------------------------------------------- */

/* y0' = y1, y0 = sin t with a solver that takes it for index 1 */
static void a_run_can_be_diagnosed(void **state)
{
    (void)state;
    int n = 2;
    const double y[] = {0.0, 1.0}, yp[] = {1.0, 0.0};
    const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
    dae_residual form = {.n = 2, .f = chain, .user = &n, .kinds = kinds};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_index_report *report = NULL;
    char text[DAE_TEXT_SIZE];
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_diagnose(solver, &report), DAE_ERR_STATE);
    assert_null(report);
    assert_int_equal(dae_solver_start(solver, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_diagnose(solver, &report), DAE_OK);
    assert_int_equal(report->index, 2);
    dae_index_report_free(report);
    for (int i = 0; i < 5; i++) assert_int_equal(dae_solver_step(solver, 1.0), DAE_STEPPED);
    assert_int_equal(dae_solver_diagnose(solver, &report), DAE_OK);
    assert_int_equal(report->index, 2);
    assert_int_equal(report->kinds[1], DAE_KIND_INDEX2);
    assert_true(report->t > 0.0);
    dae_index_report_free(report);
    assert_true(solver_index_sentence(solver, 0.5, y, yp, text, sizeof text));
    assert_non_null(strstr(text, " The index at t = 0.5 is 2 (equation F[1]; variable y[1])"));
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static int failing(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)yp, (void)f, (void)user;
    return 1;
}

static void what_cannot_be_evaluated_is_told(void **state)
{
    (void)state;
    const double y[] = {1.0}, bad[] = {NAN};
    dae_residual form = {.n = 1, .f = failing};
    dae_problem *problem = NULL;
    dae_index_report *report = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_problem_diagnose(problem, 0.0, y, NULL, &report, &diag),
                     DAE_ERR_EVALUATION);
    assert_null(report);
    assert_int_equal(dae_problem_diagnose(problem, 0.0, bad, NULL, &report, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_diagnose(problem, 0.0, NULL, NULL, &report, &diag),
                     DAE_ERR_ARGUMENT);
    dae_index_report_free(NULL);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pendulum_at_all_levels),
        cmocka_unit_test(sizes_far_apart),
        cmocka_unit_test(where_the_frozen_pencil_is_wrong),
        cmocka_unit_test(hessenberg_chains),
        cmocka_unit_test(the_counterexamples),
        cmocka_unit_test(an_implicit_ode),
        cmocka_unit_test(cancellations_and_redundancy),
        cmocka_unit_test(models_of_the_corpus),
        cmocka_unit_test(a_run_can_be_diagnosed),
        cmocka_unit_test(what_cannot_be_evaluated_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
