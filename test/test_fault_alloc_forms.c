/* Every allocation for problems in mechanical, Hessenberg and quasilinear form fails once: clean
 * errors, and nothing leaks. */
#include "fault_alloc.h"

#include <math.h>
#include <stdio.h>

/* ---- a pendulum in three forms ---- */

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0;
    return 0;
}

static int rates(const dae_hessenberg_point *at, double *f, void *user)
{
    const double *y = at->y;
    (void)user;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -2.0 * y[0] * at->z[0];
    f[3] = -2.0 * y[1] * at->z[0] - 1.0;
    return 0;
}

static int velocity(const dae_hessenberg_point *at, double *g, void *user)
{
    const double *y = at->y;
    (void)user;
    g[0] = y[0] * y[2] + y[1] * y[3];
    return 0;
}

static int row(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[1];
    return 0;
}

static int unit(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = 1.0;
    return 0;
}

/* x = sin t, and its derivative */
static int levels(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] - sin(at->t);
    g[1] = at->x[1] - cos(at->t);
    return 0;
}

static const int colptr[] = {0, 1, 2}, rowind[] = {0, 0}, none[] = {0, 0, 0};

/* x'' = -x, 0 = z - x' */
static int swing(double t, const double *x, const double *xp, const double *xpp, double *f,
                 void *user)
{
    (void)t, (void)user;
    f[0] = xpp[0] + x[0];
    f[1] = x[1] - xp[0];
    return 0;
}

static int swing_jacobian(double t, const double *x, const double *xp, const double *xpp,
                          double *f_x, double *f_xp, double *f_xpp, void *user)
{
    (void)t, (void)x, (void)xp, (void)xpp, (void)user;
    f_x[0] = 1.0;
    f_x[2] = 1.0;
    f_xp[1] = -1.0;
    f_xpp[0] = 1.0;
    return 0;
}

static dae_status make(int form, dae_problem **problem, dae_diag *diag)
{
    const dae_mechanical m = {.nq = 2,
                              .nlambda = 1,
                              .force = force,
                              .constraint = rod,
                              .gradient_pattern = {colptr, rowind},
                              .force_q_pattern = {none, none},
                              .force_v_pattern = {none, none}};
    const dae_hessenberg h = {.ny = 4, .nz = 1, .f = rates, .g = velocity};
    const dae_quasilinear x = {.n = 2, .ne = 1, .ng = 2, .E = unit, .f = row, .g = levels};
    static const bool second[] = {true, false};
    static const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
    static const int columns[] = {0, 2, 3}, rows[] = {0, 1, 1};
    const dae_second_order s = {.n = 2,
                                .f = swing,
                                .second = second,
                                .kinds = kinds,
                                .velocity_kinds = kinds,
                                .jacobian = swing_jacobian,
                                .pattern = {columns, rows}};
    if (form == 3) return dae_problem_from_second_order(&s, problem, diag);
    if (form == 0) return dae_problem_from_mechanical(&m, problem, diag);
    if (form == 1) return dae_problem_from_hessenberg(&h, problem, diag);
    return dae_problem_from_quasilinear(&x, problem, diag);
}

typedef struct story {
    int form;
    const char *method;
} story;

/* Problem, solver, start, some steps. */
static dae_status tell(void *context)
{
    const story *s = context;
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0}, x0[2] = {0.0, 1.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.method = s->method;
    dae_status status = make(s->form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, s->form != 2 ? y0 : x0, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.1, NULL, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void each_allocation(int form, const char *method)
{
    char name[40];
    story s = {form, method};
    snprintf(name, sizeof name, "form %d, %s", form, method);
    heap_faults f = fail_each(name, tell, &s);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void forms_survive(void **unused)
{
    (void)unused;
    for (int form = 0; form < 4; form++) each_allocation(form, "bdf");
    each_allocation(0, "hem5");
    each_allocation(1, "hem4");
    for (int form = 0; form < 3; form++) each_allocation(form, "herk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
