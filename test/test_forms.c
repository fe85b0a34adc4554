/* Problems from mechanical, Hessenberg and quasilinear callbacks: the forms agree with each other
 * and with formulas, initial values are consistent, BDF runs on all of them, and bad input is told.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "forms/forms.h"
#include "method/common/method.h"
#include "own_formula.h"

/* ---- a pendulum on a moving hoop ---------------------------------------------------------------
 *
 * q = (x, y), mass m(q), length L(t) = 1 + wobble sin t: g = (x^2 + y^2 - L^2) / 2. With wobble = 0
 * and constant mass the plain pendulum. */

typedef struct pendulum {
    double mass, swell, wobble, gravity;
    int break_at; /* callback that returns NaN when t > 0.5: 1 force, 2 gradient */
    int sign;     /* events: +1 */
} pendulum;

static double length(const pendulum *p, double t)
{
    return 1.0 + p->wobble * sin(t);
}

static double length1(const pendulum *p, double t)
{
    return p->wobble * cos(t);
}

static double length2(const pendulum *p, double t)
{
    return -p->wobble * sin(t);
}

static double mass_at(const pendulum *p, const double *q)
{
    return p->mass + p->swell * q[0] * q[0];
}

static int mass(const dae_mechanical_point *at, double *M, void *user)
{
    M[0] = M[3] = mass_at(user, at->q);
    return 0;
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    const pendulum *p = user;
    f[0] = -0.1 * at->v[0];
    f[1] = -p->gravity - 0.1 * at->v[1];
    if (p->break_at == 1 && at->t > 0.5) f[1] = NAN;
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const double *q = at->q, L = length(user, at->t);
    g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - L * L);
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *G, void *user)
{
    const pendulum *p = user;
    G[0] = at->q[0];
    G[1] = at->q[1];
    if (p->break_at == 2 && at->t > 0.5) G[1] = NAN;
    return 0;
}

static int rate(const dae_mechanical_point *at, double *g_t, void *user)
{
    g_t[0] = -length(user, at->t) * length1(user, at->t);
    return 0;
}

static int curvature(const dae_mechanical_point *at, double *c, void *user)
{
    const double *v = at->v, L1 = length1(user, at->t);
    c[0] = v[0] * v[0] + v[1] * v[1] - L1 * L1 - length(user, at->t) * length2(user, at->t);
    return 0;
}

static int everything(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    if (out->mass) mass(at, out->mass, user);
    if (out->force) force(at, out->force, user);
    if (out->gradient) gradient(at, out->gradient, user);
    if (out->rate) rate(at, out->rate, user);
    if (out->curvature) curvature(at, out->curvature, user);
    return 0;
}

static dae_mechanical plain(pendulum *p)
{
    return (dae_mechanical){
        .nq = 2, .nlambda = 1, .mass = mass, .force = force, .constraint = constraint, .user = p};
}

static dae_mechanical complete(pendulum *p)
{
    dae_mechanical m = plain(p);
    m.gradient = gradient;
    m.rate = rate;
    m.curvature = curvature;
    return m;
}

/* The same in Hessenberg form, y = (x, y, vx, vy), z = lambda, velocity level. */
static int h_f(const dae_hessenberg_point *at, double *f, void *user)
{
    const double *y = at->y;
    const dae_mechanical_point here = {.t = at->t, .q = y, .v = y + 2};
    double m = mass_at(user, y);
    f[0] = y[2];
    f[1] = y[3];
    force(&here, f + 2, user);
    for (int i = 0; i < 2; i++) f[2 + i] = (f[2 + i] - y[i] * at->z[0]) / m;
    return 0;
}

static int h_g(const dae_hessenberg_point *at, double *g, void *user)
{
    const double *y = at->y;
    g[0] = y[0] * y[2] + y[1] * y[3] - length(user, at->t) * length1(user, at->t);
    return 0;
}

static dae_hessenberg hessenberg(pendulum *p)
{
    return (dae_hessenberg){.ny = 4, .nz = 1, .f = h_f, .g = h_g, .user = p};
}

/* And in quasilinear form with all levels. */
static int x_E(const dae_quasilinear_point *at, double *E, void *user)
{
    E[0] = E[1 + 4] = 1.0;
    E[2 + 2 * 4] = E[3 + 3 * 4] = mass_at(user, at->x);
    return 0;
}

static int x_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x;
    const dae_mechanical_point here = {.t = at->t, .q = x, .v = x + 2};
    f[0] = x[2];
    f[1] = x[3];
    force(&here, f + 2, user);
    for (int i = 0; i < 2; i++) f[2 + i] -= x[i] * x[4];
    return 0;
}

static int x_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x;
    const dae_mechanical_point here = {.t = at->t, .q = x, .v = x + 2};
    double f[4], g_t, c, m = mass_at(user, x);
    x_f(at, f, user);
    constraint(&here, g, user);
    rate(&here, &g_t, user);
    curvature(&here, &c, user);
    g[1] = x[0] * x[2] + x[1] * x[3] + g_t;
    g[2] = (x[0] * f[2] + x[1] * f[3]) / m + c;
    return 0;
}

static dae_quasilinear quasilinear(pendulum *p)
{
    return (dae_quasilinear){.n = 5, .ne = 4, .ng = 3, .E = x_E, .f = x_f, .g = x_g, .user = p};
}

/* ---- help ------------------------------------------------------------------------------------ */

/* One solver's view of a problem, outside a solver. */
typedef struct view {
    dae_problem *problem;
    dae_stats stats;
    evaluator eval;
    form_instance *forms;
    const form_set *set;
} view;

static void open_view(view *w, dae_problem *problem)
{
    *w = (view){.problem = problem};
    w->eval = (evaluator){.problem = problem, .stats = &w->stats};
    w->forms = form_instance_new(problem->forms, FORM_HESSENBERG | FORM_QUASILINEAR, &w->eval);
    assert_non_null(w->forms);
    w->eval.forms = w->forms;
    w->set = form_instance_set(w->forms);
}

static void close_view(view *w)
{
    form_instance_free(w->forms);
    dae_problem_free(w->problem);
}

static dae_problem *mechanical_problem(const dae_mechanical *m)
{
    dae_problem *p;
    dae_diag diag = {0};
    if (dae_problem_from_mechanical(m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static double random_value(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(1.0, fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void all_near(int n, const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < n; i++) near(a[i], b[i], tolerance);
}

/* ---- derivatives and conversions ------------------------------------------------------------- */

/* What was differenced agrees with formulas at random points, with and without G. */
static void derivatives_by_differences(void **unused)
{
    pendulum p = {.mass = 2.0, .swell = 0.5, .wobble = 0.3, .gravity = 9.81};
    unsigned state = 7;
    (void)unused;
    for (int variant = 0; variant < 3; variant++) {
        dae_mechanical m = plain(&p);
        if (variant >= 1) m.gradient = gradient;
        if (variant == 2) m.rate = rate;
        view w;
        open_view(&w, mechanical_problem(&m));
        for (int k = 0; k < 20; k++) {
            double t = 3.0 * random_value(&state), q[2], v[2], M[4], f[2], G[2], g_t, c;
            for (int i = 0; i < 2; i++) {
                q[i] = 2.0 * random_value(&state);
                v[i] = 5.0 * random_value(&state);
            }
            const mechanical_form *form = w.set->mechanical;
            assert_int_equal(form->evaluate(form->context, t, q, v, M, f, G, &g_t, &c), EVAL_OK);
            const dae_mechanical_point at = {.t = t, .q = q, .v = v};
            double exact[2], curved;
            gradient(&at, exact, &p);
            all_near(2, G, exact, 1e-9);
            rate(&at, exact, &p);
            near(g_t, exact[0], 1e-11);
            curvature(&at, &curved, &p);
            near(c, curved, variant == 2 ? 1e-10 : 1e-8);
            near(M[0], mass_at(&p, q), 1e-15);
            near(M[1], 0.0, 0.0);
        }
        close_view(&w);
    }
}

/* The Hessenberg and quasilinear forms of the mechanical one are those written by hand. */
static void conversions_agree(void **unused)
{
    pendulum p = {.mass = 2.0, .swell = 0.5, .wobble = 0.3, .gravity = 9.81};
    (void)unused;
    dae_mechanical m = complete(&p);
    dae_hessenberg h = hessenberg(&p);
    dae_quasilinear x = quasilinear(&p);
    dae_problem *hp, *xp;
    assert_int_equal(dae_problem_from_hessenberg(&h, &hp, NULL), DAE_OK);
    assert_int_equal(dae_problem_from_quasilinear(&x, &xp, NULL), DAE_OK);
    view from_m, from_h, from_x;
    open_view(&from_m, mechanical_problem(&m));
    open_view(&from_h, hp);
    open_view(&from_x, xp);
    unsigned state = 3;
    for (int k = 0; k < 20; k++) {
        double y[5], t = random_value(&state), a[25], b[25];
        for (int i = 0; i < 5; i++) y[i] = 2.0 * random_value(&state);
        const hessenberg_form *h1 = from_m.set->hessenberg, *h2 = from_h.set->hessenberg;
        h1->f(h1->context, t, y, y + 4, NULL, a);
        h2->f(h2->context, t, y, y + 4, NULL, b);
        all_near(4, a, b, 1e-13);
        h1->g(h1->context, t, y, a);
        h2->g(h2->context, t, y, b);
        near(a[0], b[0], 1e-13);
        h1->g_y(h1->context, t, y, a);
        h2->g_y(h2->context, t, y, b);
        all_near(4, a, b, 1e-8);
        h1->g_t(h1->context, t, y, a);
        h2->g_t(h2->context, t, y, b);
        near(a[0], b[0], 1e-9);
        h1->f_z(h1->context, t, y, y + 4, NULL, a);
        h2->f_z(h2->context, t, y, y + 4, NULL, b);
        all_near(4, a, b, 1e-8);
        const quasilinear_form *x1 = from_m.set->quasilinear, *x2 = from_x.set->quasilinear;
        const quasilinear_form *x3 = from_h.set->quasilinear;
        assert_int_equal(x1->ng, 3);
        assert_int_equal(x3->ng, 2);
        x1->f(x1->context, t, y, a);
        x2->f(x2->context, t, y, b);
        all_near(4, a, b, 1e-13);
        x1->g(x1->context, t, y, a);
        x2->g(x2->context, t, y, b);
        all_near(3, a, b, 1e-12);
        x3->g(x3->context, t, y, a); /* velocity and acceleration level */
        all_near(2, a, b + 1, 1e-7);
        x1->g_x(x1->context, t, y, a);
        x2->g_x(x2->context, t, y, b);
        all_near(15, a, b, 1e-7);
        x1->g_t(x1->context, t, y, a);
        x2->g_t(x2->context, t, y, b);
        all_near(3, a, b, 1e-8);
    }
    close_view(&from_m);
    close_view(&from_h);
    close_view(&from_x);
}

/* Declared and detected structure of the mass matrix. */
static int diagonal_mass(const dae_mechanical_point *at, double *M, void *user)
{
    M[0] = M[1] = mass_at(user, at->q);
    return 0;
}

static void mass_structure(void **unused)
{
    (void)unused;
    const double y[5] = {0.6, -0.8, 0.0, 0.0, 0.0};
    for (int swells = 0; swells < 2; swells++) {
        pendulum p = {.mass = 2.0, .swell = swells ? 0.5 : 0.0, .gravity = 9.81};
        dae_mechanical m = complete(&p);
        view w;
        open_view(&w, mechanical_problem(&m));
        const form_matrix *M = &w.set->mechanical->M_matrix;
        assert_false(M->constant);
        form_instance_look(w.forms, 0.0, y);
        assert_int_equal(M->constant, !swells);
        assert_true(M->diagonal);
        assert_null(M->colptr);
        close_view(&w);

        m.mass = diagonal_mass;
        m.mass_structure = DAE_MASS_DIAGONAL;
        open_view(&w, mechanical_problem(&m));
        M = &w.set->mechanical->M_matrix;
        form_instance_look(w.forms, 0.0, y);
        assert_true(M->diagonal);
        assert_false(M->constant); /* not declared */
        assert_int_equal(M->count, 2);
        const hessenberg_form *h = w.set->hessenberg;
        double f[4], expected[4];
        h->f(h->context, 0.0, y, y + 4, NULL, f);
        const dae_hessenberg_point at = {0.0, y, y + 4, NULL};
        h_f(&at, expected, &p);
        all_near(4, f, expected, 1e-14);
        close_view(&w);
    }
}

/* ---- consistent initial values --------------------------------------------------------------- */

static dae_solver *started(dae_problem *p, const dae_options *o, const double *y0)
{
    dae_solver *s;
    dae_diag diag = {0};
    if (dae_solver_new(p, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y0, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    return s;
}

/* From values off the constraints of every level, in all forms. */
static void starts_are_consistent(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 2.0, .swell = 0.5, .wobble = 0.3, .gravity = 9.81};
    const double y0[5] = {0.65, -0.75, 0.5, 0.5, 0.0};
    dae_mechanical m = complete(&p);
    dae_quasilinear x = quasilinear(&p);
    dae_problem *problems[2] = {mechanical_problem(&m), NULL};
    assert_int_equal(dae_problem_from_quasilinear(&x, &problems[1], NULL), DAE_OK);
    for (int k = 0; k < 2; k++) {
        dae_solver *s = started(problems[k], NULL, y0);
        double y[5], yp[5], g[3];
        dae_solver_at(s, 0.0, 0, y);
        dae_solver_at(s, 0.0, 1, yp);
        const dae_quasilinear_point at = {0.0, y};
        x_g(&at, g, &p);
        for (int i = 0; i < 3; i++) near(g[i], 0.0, k == 0 ? 1e-12 : 1e-9);
        near(yp[0], y[2], 1e-9);
        const dae_mechanical_point here = {.t = 0.0, .q = y, .v = y + 2};
        double f[2];
        force(&here, f, &p);
        near(yp[3], (f[1] - y[1] * y[4]) / mass_at(&p, y), 1e-7);
        for (int i = 0; i < 4; i++) assert_true(fabs(y[i] - y0[i]) < 1.0);
        dae_solver_free(s);
        dae_problem_free(problems[k]);
    }
    dae_hessenberg h = hessenberg(&p);
    dae_problem *hp;
    assert_int_equal(dae_problem_from_hessenberg(&h, &hp, NULL), DAE_OK);
    dae_solver *s = started(hp, NULL, y0);
    double y[5], g[3];
    dae_solver_at(s, 0.0, 0, y);
    const dae_quasilinear_point at = {0.0, y};
    x_g(&at, g, &p);
    near(g[1], 0.0, 1e-12);
    near(g[2], 0.0, 1e-8);
    dae_solver_free(s);
    dae_problem_free(hp);
}

/* ---- runs with BDF --------------------------------------------------------------------------- */

/* Reference: the angle phi of the pendulum, x = L sin phi, y = -L cos phi, by small RK4 steps. */
static double angle_slope(const pendulum *p, double t, double phi, double omega)
{
    /* m (L^2 phi')' = -m g L sin phi - 0.1 L^2 phi' for constant m */
    double L = length(p, t), L1 = length1(p, t);
    return -(p->gravity / L) * sin(phi) - 2.0 * L1 / L * omega - 0.1 / p->mass * omega;
}

static void reference(const pendulum *p, double tend, double *phi, double *omega)
{
    enum { STEPS = 20000 };
    double h = tend / STEPS;
    for (int k = 0; k < STEPS; k++) {
        double t = h * k, a = *phi, b = *omega;
        double a1 = b, b1 = angle_slope(p, t, a, b);
        double a2 = b + h / 2 * b1, b2 = angle_slope(p, t + h / 2, a + h / 2 * a1, a2);
        double a3 = b + h / 2 * b2, b3 = angle_slope(p, t + h / 2, a + h / 2 * a2, a3);
        double a4 = b + h * b3, b4 = angle_slope(p, t + h, a + h * a3, a4);
        *phi += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        *omega += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
    }
}

/* gravity acts as a force, so that the acceleration is gravity / mass: with mass 1 both agree. */
static void check_run(dae_problem *problem, pendulum *p, const char *formulation, double tolerance)
{
    const double tend = 4.0,
                 y0[5] = {sin(1.0), -cos(1.0), p->wobble * sin(1.0), -p->wobble * cos(1.0), 0.0};
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-9;
    o.formulation = formulation;
    o.method = "bdf";
    dae_solver *s = started(problem, &o, y0);
    double y[5], yp[5], phi = 1.0, omega = 0.0;
    if (dae_solver_run(s, tend, y, yp) != DAE_OK)
        fail_msg("%s: %s", formulation, dae_solver_diag(s)->text);
    reference(p, tend, &phi, &omega);
    double L = length(p, tend);
    near(y[0], L * sin(phi), tolerance);
    near(y[1], -L * cos(phi), tolerance);
    const dae_quasilinear_point at = {tend, y};
    double g[3];
    x_g(&at, g, p);
    near(g[2], 0.0, 1e3 * tolerance); /* lambda */
    near(yp[0], y[2], 1e2 * tolerance);
    dae_solver_free(s);
}

static void bdf_runs_all_forms(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .wobble = 0.2, .gravity = 1.0};
    static const char *const formulations[] = {"auto",   "ggl",         "index2",
                                               "index1", "baumgarte:5", "index3"};
    dae_mechanical m = plain(&p), c = complete(&p), all = plain(&p);
    all.mass = all.force = NULL;
    all.all = everything;
    dae_problem *problems[3] = {mechanical_problem(&m), mechanical_problem(&c),
                                mechanical_problem(&all)};
    for (int k = 0; k < 6; k++) check_run(problems[1], &p, formulations[k], 1e-5);
    check_run(problems[0], &p, "auto", 1e-5);
    check_run(problems[2], &p, "auto", 1e-5);
    for (int k = 0; k < 3; k++) dae_problem_free(problems[k]);
    dae_hessenberg h = hessenberg(&p);
    dae_quasilinear x = quasilinear(&p);
    dae_problem *hp, *xp;
    assert_int_equal(dae_problem_from_hessenberg(&h, &hp, NULL), DAE_OK);
    assert_int_equal(dae_problem_from_quasilinear(&x, &xp, NULL), DAE_OK);
    check_run(hp, &p, "auto", 1e-5);
    check_run(hp, &p, "index1", 1e-5);
    check_run(xp, &p, "auto", 1e-5);
    dae_problem_free(hp);
    dae_problem_free(xp);
}

/* GGL keeps both levels, index 1 leaves the position. */
static void ggl_does_not_drift(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0};
    dae_mechanical m = complete(&p);
    dae_problem *problem = mechanical_problem(&m);
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    double drift[2];
    for (int k = 0; k < 2; k++) {
        dae_options o = dae_options_default();
        o.formulation = k == 0 ? "ggl" : "index1";
        dae_solver *s = started(problem, &o, y0);
        double y[5], g[3];
        assert_int_equal(dae_solver_run(s, 50.0, y, NULL), DAE_OK);
        const dae_quasilinear_point at = {50.0, y};
        x_g(&at, g, &p);
        drift[k] = fabs(g[0]);
        if (k == 0) near(g[1], 0.0, 1e-7);
        dae_solver_free(s);
    }
    near(drift[0], 0.0, 1e-7);
    assert_true(drift[1] > 10.0 * drift[0]);
    dae_problem_free(problem);
}

/* Events, restarts and names as with a residual. */
static int lowest(double t, const double *y, const double *yp, double *g, void *user)
{
    const pendulum *p = user;
    (void)t, (void)yp;
    g[0] = p->sign * y[0];
    return 0;
}

static void events_and_restarts(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0, .sign = 1};
    dae_mechanical m = complete(&p);
    const dae_event event = {.name = "lowest", .direction = -1};
    m.event_count = 1;
    m.event_function = lowest;
    m.events = &event;
    dae_problem *problem = mechanical_problem(&m);
    assert_string_equal(dae_problem_unknown_name(problem, 0), "q[0]");
    assert_string_equal(dae_problem_unknown_name(problem, 4), "lambda[0]");
    assert_int_equal(dae_problem_size(problem), 5);
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    dae_solver *s = started(problem, NULL, y0);
    double y[5], yp[5], errors[5];
    assert_int_equal(dae_solver_run(s, 10.0, y, yp), DAE_EVENT);
    near(y[0], 0.0, 1e-8);
    near(y[1], -1.0, 1e-5);
    assert_int_equal(dae_solver_local_errors(s, errors), DAE_OK);
    y[2] *= 2.0; /* a push */
    y[4] = 99.0;
    assert_int_equal(dae_solver_restart(s, y, NULL), DAE_OK);
    dae_solver_at(s, dae_solver_time(s), 0, y);
    near(y[4], y[2] * y[2] + y[3] * y[3] - (0.1 * y[3] + 1.0) * y[1], 1e-4);
    assert_int_equal(dae_solver_step(s, 10.0), DAE_STEPPED);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- a chain: sparse patterns ---------------------------------------------------------------- */

enum { LINKS = 40 };

static int chain_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    for (int i = 0; i < LINKS; i++) {
        f[2 * i] = 0.0;
        f[2 * i + 1] = -9.81;
    }
    return 0;
}

static int chain_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    for (int i = 0; i < LINKS; i++) {
        double dx = at->q[2 * i] - (i ? at->q[2 * i - 2] : 0.0);
        double dy = at->q[2 * i + 1] - (i ? at->q[2 * i - 1] : 0.0);
        g[i] = dx * dx + dy * dy - 1.0;
    }
    return 0;
}

/* Sparse and dense descriptions give the same run; the sparse one needs fewer evaluations. */
static void patterns_of_a_chain(void **unused)
{
    (void)unused;
    enum { N = 2 * LINKS };
    int colptr[N + 1], rowind[2 * N], none[N + 1] = {0}, empty[1] = {0};
    for (int j = 0, k = 0; j < N; j++) {
        colptr[j] = k;
        rowind[k++] = j / 2;
        if (j / 2 + 1 < LINKS) rowind[k++] = j / 2 + 1;
        colptr[j + 1] = k;
    }
    double y0[2 * N + LINKS] = {0}, y[2][2 * N + LINKS];
    for (int i = 0; i < LINKS; i++) y0[2 * i] = i + 1.0;
    long evaluations[2];
    for (int sparse = 0; sparse < 2; sparse++) {
        dae_mechanical m = {.nq = N,
                            .nlambda = LINKS,
                            .force = chain_force,
                            .constraint = chain_constraint,
                            .scleronomic = true};
        if (sparse) {
            m.gradient_pattern = (dae_pattern){colptr, rowind};
            m.force_q_pattern = m.force_v_pattern = (dae_pattern){none, empty};
        }
        dae_problem *problem = mechanical_problem(&m);
        dae_options o = dae_options_default();
        o.rtol = 1e-5;
        dae_solver *s = started(problem, &o, y0);
        if (dae_solver_run(s, 0.05, y[sparse], NULL) != DAE_OK)
            fail_msg("%s", dae_solver_diag(s)->text);
        evaluations[sparse] = dae_solver_stats(s)->jacobian_residuals;
        dae_solver_free(s);
        dae_problem_free(problem);
    }
    all_near(2 * N, y[1], y[0], 1e-4);
    assert_true(2 * evaluations[1] < evaluations[0]);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static int doubled(const dae_mechanical_point *at, double *g, void *user)
{
    constraint(at, g, user);
    g[1] = 2.0 * g[0];
    return 0;
}

static int contradiction(const dae_mechanical_point *at, double *g, void *user)
{
    constraint(at, g, user);
    g[1] = g[0] + 1.0;
    return 0;
}

static int no_mass(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = 1.0;
    return 0;
}

static dae_status start_by(const char *name, const dae_mechanical *m, const double *y0,
                           dae_diag *diag)
{
    dae_problem *problem = mechanical_problem(m);
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = name;
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, y0, NULL);
    *diag = *dae_solver_diag(s);
    dae_solver_free(s);
    dae_problem_free(problem);
    return status;
}

static dae_status start_status(const dae_mechanical *m, const double *y0, dae_diag *diag)
{
    return start_by("auto", m, y0, diag);
}

static void dependent_constraints(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0};
    static const char *const names[] = {"rod", "rod again"};
    const double y0[6] = {1.0};
    dae_mechanical m = plain(&p);
    dae_diag diag;
    m.nlambda = 2;
    m.constraint_names = names;
    m.constraint = doubled;
    assert_int_equal(start_status(&m, y0, &diag), DAE_OK); /* by a method that can, if left open */
    assert_int_equal(start_by("hem:5", &m, y0, &diag), DAE_ERR_SINGULAR);
    assert_string_equal(
        diag.text,
        "Constraint rod again depends on others at t = 0: the gradients of rod and rod "
        "again are linearly dependent, so that the multipliers are not unique. Leave one "
        "of them out, or start away from a singular configuration. Where they follow from each "
        "other everywhere, methods for residual forms without projection, such as bdf, find "
        "multipliers of least norm.");
    assert_string_equal(diag.equation_name, "rod again");
    m.constraint = contradiction;
    assert_int_equal(start_status(&m, y0, &diag), DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "rod"));
}

static void singular_mass(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0};
    dae_mechanical m = complete(&p);
    dae_diag diag;
    const double right[5] = {1.0}, down[5] = {0.0, -1.0};
    m.mass = no_mass; /* y has no mass: fine where the rod holds y, not where it is free */
    assert_int_equal(start_status(&m, right, &diag), DAE_ERR_SINGULAR);
    assert_non_null(strstr(diag.text, "[M G'; G 0]"));
    assert_string_equal(diag.variable_name, "q[1]");
    assert_int_equal(start_status(&m, down, &diag), DAE_OK);
}

static void no_point_on_constraints(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0};
    dae_mechanical m = complete(&p);
    dae_diag diag;
    const double centre[5] = {0.0};
    dae_status status = start_status(&m, centre, &diag); /* G = 0 there */
    assert_int_equal(status, DAE_ERR_INITIAL);
    assert_string_equal(diag.equation_name, "g[0]");
}

static void fixed_values_conflict(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0, .gravity = 1.0};
    dae_mechanical m = complete(&p);
    dae_problem *problem = mechanical_problem(&m);
    dae_options o = dae_options_default();
    dae_tag tags[5] = {DAE_TAG_FIXED};
    const double y0[5] = {0.6, 0.7};
    o.y_tags = tags;
    dae_solver *s = started(problem, &o, y0);
    double y[5];
    dae_solver_at(s, 0.0, 0, y);
    near(y[0], 0.6, 0.0);
    near(y[1], 0.8, 1e-9);
    dae_solver_free(s);
    tags[1] = DAE_TAG_FIXED;
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_ERR_INITIAL);
    assert_non_null(strstr(dae_solver_diag(s)->text, "FIXED"));
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void nan_names_the_callback(void **unused)
{
    (void)unused;
    for (int k = 1; k <= 2; k++) {
        pendulum p = {.mass = 1.0, .gravity = 1.0, .break_at = k};
        dae_mechanical m = complete(&p);
        dae_problem *problem = mechanical_problem(&m);
        const double y0[5] = {1.0};
        dae_solver *s = started(problem, NULL, y0);
        assert_int_equal(dae_solver_run(s, 2.0, NULL, NULL), DAE_ERR_EVALUATION);
        const dae_diag *diag = dae_solver_diag(s);
        assert_non_null(strstr(diag->text, k == 1 ? "force callback" : "gradient callback"));
        assert_string_equal(diag->equation_name, k == 1 ? "motion of q[1]" : "g[0]");
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

static int stiff_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -1e6 * (at->v[0] - cos(at->t));
    return 0;
}

/* A stiff problem for explicit stages: the message names the remedy. */
static void stiff_problem(void **unused)
{
    (void)unused;
    dae_mechanical m = {.nq = 1, .force = stiff_force};
    dae_problem *problem = mechanical_problem(&m);
    dae_options o = dae_options_default();
    const double y0[2] = {0.0, 1.0};
    o.method = "hem:5";
    o.max_steps = 200;
    dae_solver *s = started(problem, &o, y0);
    assert_int_equal(dae_solver_run(s, 10.0, NULL, NULL), DAE_ERR_MAX_STEPS);
    assert_non_null(strstr(dae_solver_diag(s)->text, "stiff"));
    dae_solver_free(s);
    o.method = "bdf";
    o.max_steps = 2000;
    s = started(problem, &o, y0);
    assert_int_equal(dae_solver_run(s, 10.0, NULL, NULL), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static int z_nowhere(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->y[1];
    f[1] = at->z[0];
    return 0;
}

static int first_only(const dae_hessenberg_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->y[0];
    return 0;
}

static void wrong_index(void **unused)
{
    (void)unused;
    dae_hessenberg h = {.ny = 2, .nz = 1, .f = z_nowhere, .g = first_only}; /* index 3 */
    dae_problem *problem;
    assert_int_equal(dae_problem_from_hessenberg(&h, &problem, NULL), DAE_OK);
    dae_solver *s;
    const double y0[3] = {0.0};
    assert_int_equal(dae_solver_new(problem, NULL, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_ERR_SINGULAR);
    assert_non_null(strstr(dae_solver_diag(s)->text, "g_y f_z is singular"));
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void reject(const dae_mechanical *m, const char *text)
{
    dae_problem *problem = (dae_problem *)(uintptr_t)1;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_mechanical(m, &problem, &diag), DAE_ERR_ARGUMENT);
    assert_null(problem);
    if (!strstr(diag.text, text)) fail_msg("\"%s\" is not in: %s", text, diag.text);
}

static void bad_descriptions(void **unused)
{
    (void)unused;
    pendulum p = {.mass = 1.0};
    const int falling[] = {0, 2, 1}, rows[] = {0, 0};
    const double zero[] = {1.0, 0.0};
    dae_mechanical m = plain(&p);
    m.nq = 0;
    reject(&m, "nq = 0");
    m = plain(&p);
    m.force = NULL;
    reject(&m, "force");
    m = plain(&p);
    m.constraint = NULL;
    reject(&m, "constraint");
    m = plain(&p);
    m.nlambda = 0;
    reject(&m, "nlambda");
    m = plain(&p);
    m.mass_structure = DAE_MASS_BLOCK;
    m.mass_block = 3;
    reject(&m, "mass_block");
    m = plain(&p);
    m.mass_structure = DAE_MASS_SPARSE;
    reject(&m, "mass_pattern");
    m = plain(&p);
    m.gradient_pattern = (dae_pattern){falling, rows};
    reject(&m, "gradient_pattern");
    m = plain(&p);
    m.nominal = zero;
    reject(&m, "nominal[1]");
    m = plain(&p);
    m.event_count = 1;
    reject(&m, "event_function");
    dae_problem *problem;
    dae_quasilinear x = quasilinear(&p);
    x.ng = 0;
    x.g = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_quasilinear(&x, &problem, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "too few"));
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* A method for a form that the problem does not have, and formulations likewise. */
static void forms_that_are_missing(void **unused)
{
    (void)unused;
    dae_residual r = {.n = 1, .f = decay};
    pendulum p = {.mass = 1.0};
    dae_hessenberg h = hessenberg(&p);
    dae_problem *residual, *hess;
    dae_solver *s;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&r, &residual, NULL), DAE_OK);
    assert_int_equal(dae_problem_from_hessenberg(&h, &hess, NULL), DAE_OK);
    dae_options o = dae_options_default();
    for (int i = 0; dae_method_name(i); i++) {
        const method *m = method_find(dae_method_name(i));
        bool needs = method_needs_form(m) || m->forms & FORM_SECOND_ORDER;
        if (m->forms & FORM_MANIFOLD) needs = false; /* y' = phi(t, y) is one */
        assert_non_null(dae_method_at(i).forms);
        assert_true(dae_method_at(i).max_order > 0);
        assert_non_null(dae_method_at(i).index_range);
        o.method = dae_method_name(i);
        o.fixed_step = m->constant_steps ? 0.1 : 0.0;
        give_formula(&o);
        dae_status status = dae_solver_new(residual, &o, &s, &diag);
        assert_int_equal(status, needs ? DAE_ERR_UNSUPPORTED : DAE_OK);
        if (needs) assert_non_null(strstr(diag.text, dae_method_at(i).forms));
        dae_solver_free(s);
    }
    o = dae_options_default();
    o.formulation = "ggl";
    assert_int_equal(dae_solver_new(hess, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "index1"));
    dae_problem_free(residual);
    dae_problem_free(hess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_by_differences),
        cmocka_unit_test(conversions_agree),
        cmocka_unit_test(mass_structure),
        cmocka_unit_test(starts_are_consistent),
        cmocka_unit_test(bdf_runs_all_forms),
        cmocka_unit_test(ggl_does_not_drift),
        cmocka_unit_test(events_and_restarts),
        cmocka_unit_test(patterns_of_a_chain),
        cmocka_unit_test(dependent_constraints),
        cmocka_unit_test(singular_mass),
        cmocka_unit_test(no_point_on_constraints),
        cmocka_unit_test(fixed_values_conflict),
        cmocka_unit_test(nan_names_the_callback),
        cmocka_unit_test(stiff_problem),
        cmocka_unit_test(wrong_index),
        cmocka_unit_test(bad_descriptions),
        cmocka_unit_test(forms_that_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
