/* Bad input of mechanical, second order and residual callbacks: mass matrices that are none,
 * contact that is not determined, kinds that contradict the equations, NaN at a stage. A clear
 * status, the culprit by name, and the time; recoverable failures are recovered from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "contact.h"
#include "daedal.h"
#include "pendulum.h"

enum { MOST = 12 };

static const char *const METHODS[] = {"bdf", "bdf2nd", "colloc2nd", "radau"};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

/* ---- a run ---- */

typedef struct way {
    const char *method, *formulation;
} way;

/* y(tend), or the status of what failed, with its diagnostic. The problem is freed. */
static dae_status solve(dae_problem *p, const way *w, const double *y0, const double *yp0,
                        double tend, double *y, dae_diag *diag)
{
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.method = w->method;
    o.formulation = w->formulation;
    o.rtol = 1e-7;
    o.atol = 1e-9;
    o.max_steps = 20000;
    dae_status status = dae_solver_new(p, &o, &s, diag);
    if (status == DAE_OK) {
        status = dae_solver_start(s, 0.0, y0, yp0);
        if (status == DAE_OK) status = dae_solver_run(s, tend, y, NULL);
        *diag = *dae_solver_diag(s);
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static dae_problem *mechanical(const dae_mechanical *form)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_mechanical(form, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* All of a|b in the text. */
static void expect_words(const char *text, const char *words, const way *w)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|"))
        if (!strstr(text, word))
            fail_msg("%s, %s: no \"%s\" in: %s", w->method, w->formulation, word, text);
}

static void expect_failure(dae_problem *p, const way *w, const double *y0, const double *yp0,
                           dae_status expected, const char *words)
{
    double y[MOST];
    dae_diag diag = {0};
    dae_status status = solve(p, w, y0, yp0, 1.0, y, &diag);
    if (status != expected)
        fail_msg("%s, %s: %s, not %s: %s", w->method, w->formulation, dae_status_name(status),
                 dae_status_name(expected), diag.text);
    expect_words(diag.text, words, w);
}

/* ---- mass matrices ----
 *
 * A bead on y = x^2, also with friction or contact, which make it the full form. */

static int rubbing(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = 0.1 * at->lambda[0] * at->v[0];
    f[1] = 0.1 * at->lambda[0] * at->v[1] - 1.0;
    return 0;
}

static const char *const BEAD_NAMES[] = {"x", "height", "vx", "vy", "lambda"};
static const char *const CONTACT_NAMES[] = {"x", "height", "vx", "vy", "s", "lambda"};
static const dae_mechanical BEAD = {.nq = 2,
                                    .nlambda = 1,
                                    .force = pendulum_weight,
                                    .constraint = parabola,
                                    .scleronomic = true,
                                    .variable_names = BEAD_NAMES};
static const dae_mechanical RUBBING = {.nq = 2,
                                       .nlambda = 1,
                                       .force = rubbing,
                                       .constraint = parabola,
                                       .scleronomic = true,
                                       .friction = true,
                                       .variable_names = BEAD_NAMES};
static const dae_mechanical CONTACT = {.nq = 2,
                                       .nlambda = 1,
                                       .ns = 1,
                                       .force = pendulum_weight,
                                       .constraint = distance,
                                       .contact = nearest,
                                       .scleronomic = true,
                                       .variable_names = CONTACT_NAMES};
static const double BEAD_START[MOST] = {1.0, 1.0, 0.0, 0.0, 1.0};

/* No mass along the curve at (1, 1): M (1, 2) = 0 */
static int across(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = 4.0;
    M[1] = M[2] = -2.0;
    M[3] = 1.0;
    return 0;
}

/* No mass in the height, which the constraint makes up for. */
static int sideways(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = 1.0;
    return 0;
}

static void bad_masses(void **unused)
{
    (void)unused;
    const dae_mechanical *const forms[] = {&BEAD, &RUBBING, &CONTACT};
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            const way w = {METHODS[m], "auto"};
            dae_mechanical form = *forms[k];
            form.mass = indefinite;
            expect_failure(mechanical(&form), &w, BEAD_START, NULL, DAE_ERR_ARGUMENT,
                           "indefinite|negative mass at height|t = 0");
            form.mass = across;
            expect_failure(mechanical(&form), &w, BEAD_START, NULL, DAE_ERR_SINGULAR,
                           "acceleration of |t = 0");
        }
}

/* M = diag(1, 0) is positive definite on the motions that are allowed: x'' + 2 x l = 0, l = -1 with
 * the sign of y - x^2: x'' = -2 x, so that x = cos(sqrt(2) t). */
static void masses_that_constraints_make_up_for(void **unused)
{
    (void)unused;
    const way ways[] = {{"bdf", "auto"},    {"bdf", "index3"},    {"bdf", "index2"},
                        {"bdf", "index1"},  {"bdf", "gglm"},      {"bdf", "minimal"},
                        {"bdf2nd", "auto"}, {"bdf2nd", "index2"}, {"colloc2nd", "auto"},
                        {"radau", "auto"},  {"bdf2nd", "minimal"}};
    const way inverse[] = {{"bdf", "reduced"}, {"bdf", "fuehrer"}, {"bdf", "odassl"}};
    const dae_mechanical *const forms[] = {&BEAD, &CONTACT};
    for (int k = 0; k < 2; k++) {
        dae_mechanical form = *forms[k];
        form.mass = sideways;
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            double y[MOST], exact = cos(sqrt(2.0));
            dae_diag diag = {0};
            if (solve(mechanical(&form), &ways[i], BEAD_START, NULL, 1.0, y, &diag) != DAE_OK)
                fail_msg("%s, %s: %s", ways[i].method, ways[i].formulation, diag.text);
            bool given = strcmp(ways[i].formulation, "index3") == 0; /* v is not tested there */
            if (!(fabs(y[0] - exact) < (given ? 1e-3 : 1e-4)))
                fail_msg("%s, %s: x = %g, not %g", ways[i].method, ways[i].formulation, y[0],
                         exact);
        }
        for (int i = 0; i < 3; i++) /* these need M^-1 */
            expect_failure(mechanical(&form), &inverse[i], BEAD_START, NULL, DAE_ERR_SINGULAR,
                           "mass matrix is singular|height");
    }
}

/* ---- callbacks and counts ---- */

static void expect_refusal(const dae_mechanical *form, const char *callback, const char *counter)
{
    dae_problem *problem;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_mechanical(form, &problem, &diag), DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, callback) || !strstr(diag.text, counter))
        fail_msg("'%s' and '%s' are not in: %s", callback, counter, diag.text);
}

/* Every callback of the full form without its count, and the other way round. */
static void callbacks_without_counts(void **unused)
{
    (void)unused;
    static const struct {
        dae_mechanical form;
        const char *callback, *counter;
    } cases[] = {
        {{.dynamics = pendulum_weight}, "dynamics is given", "nr is 0"},
        {{.auxiliary = pendulum_weight}, "auxiliary is given", "nw is 0"},
        {{.contact = pendulum_weight}, "contact is given", "ns is 0"},
        {{.auxiliary_w = pendulum_weight}, "auxiliary_w is given", "nw is 0"},
        {{.contact_s = pendulum_weight}, "contact_s is given", "ns is 0"},
        {{.velocity_constraint = pendulum_weight},
         "velocity_constraint is given",
         "nvelocity is 0"},
        {{.velocity_gradient = pendulum_weight}, "velocity_gradient is given", "nvelocity is 0"},
        {{.nr = 1}, "dynamics is NULL", "nr = 1"},
        {{.nw = 2}, "auxiliary is NULL", "nw = 2"},
        {{.ns = 1}, "contact is NULL", "ns = 1"},
        {{.nvelocity = 1}, "velocity_constraint is NULL", "nvelocity = 1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_mechanical form = cases[k].form;
        form.nq = 2;
        form.force = pendulum_weight;
        expect_refusal(&form, cases[k].callback, cases[k].counter);
    }
}

/* ---- contact ---- */

static int flat(const dae_mechanical_point *at, double *h, void *user)
{
    (void)user;
    h[0] = at->q[0] - 1.0 + 0.0 * at->s[0];
    return 0;
}

/* s^3 = q - 1/2: singular where q passes 1/2 */
static int cubic(const dae_mechanical_point *at, double *h, void *user)
{
    (void)user;
    h[0] = pow(at->s[0], 3.0) - at->q[0] + 0.5;
    return 0;
}

static int plain_in_s(const dae_mechanical_point *at, double *g, void *user)
{
    double x = pow(at->s[0], 3.0) + 0.5;
    (void)user;
    g[0] = at->q[1] - x * x;
    return 0;
}

static void contact_that_determines_nothing(void **unused)
{
    (void)unused;
    for (int m = 0; m < METHOD_COUNT; m++) {
        const way w = {METHODS[m], "auto"};
        dae_mechanical form = CONTACT;
        form.contact = flat;
        expect_failure(mechanical(&form), &w, BEAD_START, NULL, DAE_ERR_EVALUATION,
                       "derivative by s is singular|contact of s");
    }
}

static void contact_that_becomes_singular(void **unused)
{
    (void)unused;
    double y0[MOST] = {1.0, 1.0, -1.0, -2.0, 0.79};
    for (int m = 0; m < METHOD_COUNT; m++) {
        const way w = {METHODS[m], "index2"};
        dae_mechanical form = CONTACT;
        form.contact = cubic;
        form.constraint = plain_in_s;
        double y[MOST];
        dae_diag diag = {0};
        dae_status status = solve(mechanical(&form), &w, y0, NULL, 1.0, y, &diag);
        if (status == DAE_OK) fail_msg("%s passes a singular contact", w.method);
        expect_words(diag.text, "s", &w);
        assert_true(diag.t > 0.1 && diag.t < 0.9); /* x = 1/2 at about t = 0.5 */
    }
}

/* ---- kinds ---- */

static int pendulum(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[0] * y[4];
    f[3] = yp[3] + y[1] * y[4] + 1.0;
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static int pendulum_velocity(double t, const double *y, const double *yp, double *f, void *user)
{
    pendulum(t, y, yp, f, user);
    f[4] = y[0] * y[2] + y[1] * y[3];
    return 0;
}

static int pendulum_second(double t, const double *x, const double *xp, const double *xpp,
                           double *f, void *user)
{
    (void)t, (void)xp, (void)user;
    f[0] = xpp[0] + x[0] * x[2];
    f[1] = xpp[1] + x[1] * x[2] + 1.0;
    f[2] = x[0] * x[0] + x[1] * x[1] - 1.0;
    return 0;
}

static const char *const NAMES[] = {"x", "y", "vx", "vy", "lambda"};
static const int VELOCITY[] = {2, 3, -1, -1, -1};

static dae_problem *residual(const dae_kind *kinds, dae_residual_fn f)
{
    const dae_residual form = {
        .n = 5, .f = f, .variable_names = NAMES, .kinds = kinds, .velocity = VELOCITY};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_residual(&form, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static dae_problem *second_order(const dae_kind *kinds)
{
    const char *const names[] = {"x", "y", "lambda"};
    const dae_kind of_x[] = {kinds[0], kinds[1], kinds[4]};
    const dae_kind of_v[] = {kinds[2], kinds[3], DAE_KIND_AUTO};
    const bool second[] = {true, true, false};
    const dae_second_order form = {.n = 3,
                                   .f = pendulum_second,
                                   .second = second,
                                   .variable_names = names,
                                   .kinds = of_x,
                                   .velocity_kinds = of_v};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_second_order(&form, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

typedef struct declaration {
    dae_kind kinds[5];
    const char *words;  /* NULL: it is right */
    const char *second; /* of the second order form, where velocities have other names */
} declaration;

#define D DAE_KIND_DIFFERENTIAL
#define I1 DAE_KIND_INDEX1
#define I2 DAE_KIND_INDEX2
#define I3 DAE_KIND_INDEX3
#define AU DAE_KIND_AUTO

static const declaration DECLARED[] = {
    {{D, D, I2, I2, I3}, NULL, NULL},
    {{AU, AU, I2, I2, I3}, NULL, NULL},
    {{D, D, D, D, I3}, NULL, NULL}, /* stricter than need be */
    {{D, D, I2, I2, D}, "lambda is declared DAE_KIND_DIFFERENTIAL|not in F", NULL},
    {{D, D, I2, I2, I1},
     "lambda is declared DAE_KIND_INDEX1|DAE_KIND_INDEX3|multiplied by h^-2",
     NULL},
    {{D, D, D, D, I2}, "lambda is declared DAE_KIND_INDEX2|DAE_KIND_INDEX3", NULL},
    {{D, I1, I2, I2, I3}, "y is declared DAE_KIND_INDEX1|depends on its derivative", NULL},
    {{I3, D, I2, I2, I3}, "x is declared DAE_KIND_INDEX3|DAE_KIND_DIFFERENTIAL", NULL},
    {{D, I2, I2, I2, I3}, "y is declared DAE_KIND_INDEX2|DAE_KIND_DIFFERENTIAL", NULL},
    {{D, D, I3, I2, I3},
     "vx is declared DAE_KIND_INDEX3|DAE_KIND_INDEX2",
     "der(x) is declared DAE_KIND_INDEX3|DAE_KIND_INDEX2"},
    {{D, D, I1, I2, I3},
     "vx is declared DAE_KIND_INDEX1|depends on its derivative",
     "der(x) is declared DAE_KIND_INDEX1|depends on its derivative"},
};

static void expect_declaration(dae_problem *p, const way *w, const double *y0, const double *yp0,
                               const char *words)
{
    if (words) {
        expect_failure(p, w, y0, yp0, DAE_ERR_ARGUMENT, words);
        return;
    }
    double y[MOST];
    dae_diag diag = {0};
    if (solve(p, w, y0, yp0, 0.1, y, &diag) != DAE_OK) fail_msg("%s: %s", w->method, diag.text);
}

static void wrong_kinds(void **unused)
{
    (void)unused;
    const double y0[5] = {1.0}, yp0[5] = {0.0, 0.0, 0.0, -1.0}, xp0[5] = {0.0, 0.0, 0.0, 0.0, -1.0};
    for (size_t k = 0; k < sizeof DECLARED / sizeof DECLARED[0]; k++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            const declaration *d = &DECLARED[k];
            const way w = {METHODS[m], "auto"};
            if (m == 0 && !d->words) /* variable steps of bdf are no good at index 3 */
                expect_failure(residual(d->kinds, pendulum), &w, y0, yp0, DAE_ERR_UNSUPPORTED,
                               "lambda is declared DAE_KIND_INDEX3|use radau");
            else
                expect_declaration(residual(d->kinds, pendulum), &w, y0, yp0, d->words);
            expect_declaration(second_order(d->kinds), &w, y0, xp0,
                               d->second ? d->second : d->words);
        }
}

/* Of index 2 lambda is of index 2, and the velocities are as differential as the positions. */
static void wrong_kinds_at_index_2(void **unused)
{
    (void)unused;
    const double y0[5] = {1.0}, yp0[5] = {0.0, 0.0, 0.0, -1.0};
    const declaration list[] = {
        {{D, D, D, D, I2}, NULL, NULL},
        {{D, D, D, D, I1}, "lambda is declared DAE_KIND_INDEX1|DAE_KIND_INDEX2", NULL},
        {{D, D, D, D, I3}, "lambda is declared DAE_KIND_INDEX3|DAE_KIND_INDEX2", NULL},
        {{D, D, I2, D, I2}, "vx is declared DAE_KIND_INDEX2|DAE_KIND_DIFFERENTIAL", NULL}};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            const way w = {METHODS[m], "auto"};
            expect_declaration(residual(list[k].kinds, pendulum_velocity), &w, y0, yp0,
                               list[k].words);
        }
}

/* ---- what is declared constant ---- */

static int growing(const dae_mechanical_point *at, double *M, void *user)
{
    (void)user;
    M[0] = 1.0;
    M[3] = 2.0 + at->q[0];
    return 0;
}

static int steady(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = 1.0;
    M[3] = 2.0;
    return 0;
}

static int turning(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)user;
    E[0] = 1.0;
    E[3] = 1.0 + at->x[0] * at->x[0];
    return 0;
}

static int decay(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->x[0];
    f[1] = -at->x[1];
    return 0;
}

static void wrong_constants(void **unused)
{
    (void)unused;
    const dae_mechanical *const forms[] = {&BEAD, &RUBBING, &CONTACT};
    const dae_quasilinear quasilinear = {
        .n = 2, .ne = 2, .E = turning, .f = decay, .E_constant = true};
    const double x0[2] = {1.0, 1.0};
    for (int m = 0; m < METHOD_COUNT; m++) {
        const way w = {METHODS[m], "auto"};
        for (int k = 0; k < 3; k++) {
            dae_mechanical form = *forms[k];
            double y[MOST];
            dae_diag diag = {0};
            form.mass_constant = true;
            form.mass = growing;
            expect_failure(mechanical(&form), &w, BEAD_START, NULL, DAE_ERR_ARGUMENT,
                           "mass_constant|mass|column of height|(1, 1)");
            form.mass = steady;
            if (solve(mechanical(&form), &w, BEAD_START, NULL, 0.1, y, &diag) != DAE_OK)
                fail_msg("%s: %s", w.method, diag.text);
        }
    }
    for (int k = 0; k < 2; k++) {
        const way w = {k == 0 ? "herk" : "dopri:5", "auto"};
        dae_problem *p = NULL;
        assert_int_equal(dae_problem_from_quasilinear(&quasilinear, &p, NULL), DAE_OK);
        expect_failure(p, &w, x0, NULL, DAE_ERR_ARGUMENT, "E_constant|(1, 1)|x[1]");
    }
}

/* ---- NaN at a stage ---- */

/* One of the callbacks fails: once, at its call number `at`, or always from time `from` on. */
static struct {
    const char *who;
    long at, calls, late; /* late: behind `from` */
    double from;
} fault;

static void play(const char *who, double t, double *out)
{
    if (!fault.who || strcmp(who, fault.who) != 0) return;
    fault.late += t > fault.from;
    if (fault.calls++ == fault.at || t > fault.from) out[0] = NAN;
}

static int p_mass(const dae_mechanical_point *at, double *M, void *user)
{
    (void)user;
    M[0] = M[3] = 1.0;
    play("mass", at->t, M);
    return 0;
}

static int p_force(const dae_mechanical_point *at, double *f, void *user)
{
    pendulum_weight(at, f, user);
    play("force", at->t, f);
    return 0;
}

static int p_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    play("constraint", at->t, g);
    return 0;
}

static int p_gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    G[0] = at->q[0];
    G[1] = at->q[1];
    play("gradient", at->t, G);
    return 0;
}

static int p_curvature(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    c[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    play("curvature", at->t, c);
    return 0;
}

static int p_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    pendulum(t, y, yp, f, user);
    play("f", t, f);
    return 0;
}

static int p_second(double t, const double *x, const double *xp, const double *xpp, double *f,
                    void *user)
{
    pendulum_second(t, x, xp, xpp, f, user);
    play("f", t, f);
    return 0;
}

/* The pendulum as mechanical, residual or second order callbacks. */
static dae_problem *open_pendulum(int form)
{
    static const dae_kind kinds[] = {D, D, I2, I2, I3};
    static const bool second[] = {true, true, false};
    const dae_mechanical m = {.nq = 2,
                              .nlambda = 1,
                              .mass = p_mass,
                              .force = p_force,
                              .constraint = p_constraint,
                              .gradient = p_gradient,
                              .curvature = p_curvature,
                              .scleronomic = true};
    const dae_second_order s = {.n = 3,
                                .f = p_second,
                                .second = second,
                                .kinds = (const dae_kind[]){D, D, I3},
                                .velocity_kinds = (const dae_kind[]){I2, I2, AU}};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (form == 0) return mechanical(&m);
    if (form == 1) return residual(kinds, p_residual);
    if (dae_problem_from_second_order(&s, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static const double Y0[] = {1.0, 0.0, 0.0, 0.0, 0.0};

/* y' of each form: (q, v, lambda), or (x, lambda, v) */
static const double *slopes(int form)
{
    static const double plain[] = {0.0, 0.0, 0.0, -1.0, 0.0}, second[] = {0.0, 0.0, 0.0, 0.0, -1.0};
    return form == 2 ? second : plain;
}

/* Energy is kept to the accuracy of the run. */
static double energy(int form, const double *y)
{
    const double *v = form == 2 ? y + 3 : y + 2;
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) + y[1];
}

/* NaN from t = 0.5 on: an error there that names the callback; NaN once: the run goes on. */
static void stage(int form, const way *w, const char *who, long at)
{
    double y[MOST];
    dae_diag diag = {0};
    fault.who = who;
    fault.calls = fault.late = 0;
    fault.at = -1;
    fault.from = 0.5;
    dae_status status = solve(open_pendulum(form), w, Y0, slopes(form), 1.0, y, &diag);
    if (status == DAE_OK) { /* no use for it any more, as for a constant mass */
        assert_true(fault.late == 0);
        return;
    }
    if (status != DAE_ERR_EVALUATION || !strstr(diag.text, who))
        fail_msg("%s, form %d, %s: %s, %s", w->method, form, who, dae_status_name(status),
                 diag.text);
    if (!(diag.t > 0.2 && diag.t <= 1.0)) fail_msg("%s: t = %g: %s", w->method, diag.t, diag.text);
    fault.calls = 0;
    fault.at = at;
    fault.from = INFINITY;
    status = solve(open_pendulum(form), w, Y0, slopes(form), 1.0, y, &diag);
    if (status != DAE_OK) fail_msg("%s, form %d, %s once: %s", w->method, form, who, diag.text);
    if (!(fabs(energy(form, y)) < 1e-3))
        fail_msg("%s, form %d, %s: energy %g", w->method, form, who, energy(form, y));
}

static void nan_at_a_stage(void **unused)
{
    (void)unused;
    const char *const callbacks[] = {"mass", "force", "constraint", "gradient", "curvature"};
    const way ways[] = {{"bdf2nd", "auto"},   {"colloc2nd", "auto"},   {"glm", "index1"},
                        {"bdf2nd", "index1"}, {"colloc2nd", "index2"}, {"bdf", "auto"},
                        {"radau", "auto"}};
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
        for (int c = 0; c < 5; c++) stage(0, &ways[k], callbacks[c], 200);
    for (size_t k = 0; k < 2; k++)
        for (int form = 1; form < 3; form++) stage(form, &ways[k], "f", 60);
    fault.who = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_masses),
        cmocka_unit_test(masses_that_constraints_make_up_for),
        cmocka_unit_test(callbacks_without_counts),
        cmocka_unit_test(contact_that_determines_nothing),
        cmocka_unit_test(contact_that_becomes_singular),
        cmocka_unit_test(wrong_kinds),
        cmocka_unit_test(wrong_kinds_at_index_2),
        cmocka_unit_test(wrong_constants),
        cmocka_unit_test(nan_at_a_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
