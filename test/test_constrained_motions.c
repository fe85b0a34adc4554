/* Second order methods on the full mechanical form, against explicit equations in long double: the
 * ends of steps and what lies between them; and that units do not matter. */
#include "constrained_motions.h"

static dae_solver *solver_for(const motion *m, const char *method, double tol,
                              dae_problem **problem)
{
    dae_options options = dae_options_default();
    dae_solver *s;
    dae_diag diag = {0};
    real start[MOST_UNKNOWNS];
    double y[MOST_UNKNOWNS];
    options.method = method;
    options.rtol = options.atol = tol;
    motion_start(m, start);
    for (int i = 0; i < MOST_UNKNOWNS; i++) y[i] = (double)start[i];
    if (dae_problem_from_mechanical(&m->form, problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_new(*problem, &options, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    return s;
}

enum { BLOCKS = 3 }; /* q, v, and all that is algebraic */
static const char *const block_names[BLOCKS] = {"q", "v", "lambda"};

/* Largest errors over 1 + |y|, by blocks, at the ends of steps and at four points inside each */
typedef struct motion_errors {
    double ends[BLOCKS], inside[BLOCKS];
} motion_errors;

static void add_errors(const motion *m, const double *y, const real *exact, double *most)
{
    const int nq = m->form.nq, free = 2 * nq + m->form.nr;
    for (int i = 0; i < motion_size(m); i++) {
        double size = 1.0 + fabs((double)exact[i]);
        int block = i < nq ? 0 : i < free ? 1 : 2;
        most[block] = fmax(most[block], (double)fabsl(y[i] - exact[i]) / size);
    }
}

static motion_errors errors_of(const motion *m, const char *method, double tol)
{
    dae_problem *problem;
    dae_solver *s = solver_for(m, method, tol, &problem);
    motion_errors e = {{0.0}, {0.0}};
    real exact[MOST_UNKNOWNS];
    double y[MOST_UNKNOWNS], a = 0.0, b = 0.0;
    dae_status status = DAE_STEPPED;
    motion_start(m, exact);
    while (status == DAE_STEPPED) {
        status = dae_solver_step(s, m->tend);
        if (status < 0) fail_msg("%s, %s: %s", m->name, method, dae_solver_diag(s)->text);
        dae_solver_last_step(s, &a, &b);
        for (int k = 1; k <= 5; k++) {
            double from = a + (b - a) * (k - 1) / 5, to = k == 5 ? b : a + (b - a) * k / 5;
            motion_follow(m, from, to, exact);
            assert_int_equal(dae_solver_at(s, to, 0, y), DAE_OK);
            add_errors(m, y, exact, k == 5 ? e.ends : e.inside);
        }
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return e;
}

/* Global errors stay within 100 tolerances in q and v, which errors of the equations' growth over
 * the interval explain, and within 10^4 in what follows from second derivatives; between the ends
 * of steps they are not 10 times those at the ends, or the tolerance. */
static void check(const motion *m, const char *method, double tol)
{
    const double allowed[BLOCKS] = {100.0, 100.0, 1e4};
    motion_errors e = errors_of(m, method, tol);
    for (int i = 0; i < BLOCKS; i++) {
        if (!(e.ends[i] <= allowed[i] * tol))
            fail_msg("%s, %s, %g: error of %s is %.2e", m->name, method, tol, block_names[i],
                     e.ends[i]);
        if (!(e.inside[i] <= 10.0 * fmax(e.ends[i], tol)))
            fail_msg("%s, %s, %g: error of %s inside is %.2e, at the ends %.2e", m->name, method,
                     tol, block_names[i], e.inside[i], e.ends[i]);
    }
}

static void check_first(int count, const char *method)
{
    for (int k = 0; k < count; k++)
        for (double tol = 1e-5; tol > 1e-9; tol *= 1e-2) check(&motions[k], method, tol);
}

static void bdf2nd_is_right(void **state)
{
    (void)state;
    check_first(MOTIONS, "bdf2nd");
}

static void colloc2nd_is_right(void **state)
{
    (void)state;
    check_first(MOTIONS, "colloc2nd");
    check_first(MOTIONS, "colloc2nd:5");
}

static void glm3_is_right(void **state)
{
    (void)state;
    check_first(MOTIONS, "glm");
}

/* Multipliers that need a second correction as large as the first do not stop Newton's iteration,
 * whatever level of the constraint is solved. */
static void glm3_is_right_at_every_index(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "index3", "index2", "index1"};
    for (int k = 0; k < 2; k++) /* the slider crank and the hoop have no r, w, s */
        for (int f = 0; f < 4; f++) {
            dae_options options = dae_options_default();
            dae_problem *problem;
            dae_solver *s;
            real exact[MOST_UNKNOWNS];
            double y[MOST_UNKNOWNS], most[BLOCKS] = {0.0};
            motion_start(&motions[k], exact);
            for (int i = 0; i < MOST_UNKNOWNS; i++) y[i] = (double)exact[i];
            options.method = "glm";
            options.formulation = names[f];
            options.rtol = options.atol = 1e-7;
            assert_int_equal(dae_problem_from_mechanical(&motions[k].form, &problem, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
            if (dae_solver_run(s, motions[k].tend, y, NULL) != DAE_OK)
                fail_msg("%s, %s: %s", motions[k].name, names[f], dae_solver_diag(s)->text);
            motion_follow(&motions[k], 0, motions[k].tend, exact);
            add_errors(&motions[k], y, exact, most);
            /* At index 3 the order falls by one in v and by two in lambda. */
            if (!(most[0] < 1e-5 && most[1] < 1e-4 && most[2] < 1e-3))
                fail_msg("%s, %s: errors %.1e, %.1e, %.1e", motions[k].name, names[f], most[0],
                         most[1], most[2]);
            dae_solver_free(s);
            dae_problem_free(problem);
        }
}

/* ---- orders ---- */

/* Errors at tend with equal steps */
static void fixed_errors(const motion *m, const char *method, int steps, double most[BLOCKS])
{
    dae_problem *problem;
    dae_options options = dae_options_default();
    dae_solver *s;
    real exact[MOST_UNKNOWNS];
    double y[MOST_UNKNOWNS];
    options.method = method;
    options.rtol = options.atol = 1e-10; /* G is differenced */
    options.newton_iterations = 80;
    options.fixed_step = m->tend / steps;
    options.stop_time = m->tend;
    motion_start(m, exact);
    for (int i = 0; i < MOST_UNKNOWNS; i++) y[i] = (double)exact[i];
    assert_int_equal(dae_problem_from_mechanical(&m->form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    if (dae_solver_run(s, m->tend, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    motion_follow(m, 0, m->tend, exact);
    for (int i = 0; i < BLOCKS; i++) most[i] = 0.0;
    add_errors(m, y, exact, most);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Radau IIA keeps the order 2s - 1 in all parts of the full form, and Gauss at least s: what errors
 * of the multipliers did to q, v and r is undone in the direction in which it was done. */
static void projection_keeps_the_order(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double order;
        int steps;
        bool gauss;
    } claims[] = {{"colloc2nd:3", 3, 160, false},
                  {"colloc2nd:5", 5, 80, false},
                  {"colloc2nd:4", 2, 320, true}};
    for (int k = 0; k < MOTIONS; k++)
        for (size_t c = 0; c < sizeof claims / sizeof *claims; c++) {
            double coarse[BLOCKS], fine[BLOCKS];
            if (claims[c].gauss && motions[k].form.nr > 0) continue; /* refused */
            fixed_errors(&motions[k], claims[c].method, claims[c].steps, coarse);
            fixed_errors(&motions[k], claims[c].method, 2 * claims[c].steps, fine);
            for (int i = 0; i < BLOCKS; i++) {
                double order = log2(coarse[i] / fine[i]);
                bool above = fine[i] > 1e-9; /* ten times what Newton's iteration may leave */
                if (above && !(order > claims[c].order - 0.5))
                    fail_msg("%s, %s: order of %s is %.2f (%.1e)", motions[k].name,
                             claims[c].method, block_names[i], order, fine[i]);
            }
        }
}

static void gauss_is_refused_where_multipliers_act_on_r(void **state)
{
    (void)state;
    dae_problem *problem;
    const motion *bead = &motions[MOTIONS - 1];
    dae_solver *s = solver_for(bead, "colloc2nd:6", 1e-6, &problem);
    assert_int_equal(dae_solver_run(s, bead->tend, NULL, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "choose colloc2nd"));
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- units ---- */

typedef struct units {
    double length, mass, time;
} units;

CALLBACK(unit_mass)
{
    (void)at;
    const units *u = user;
    out[0] = out[3] = u->mass;
    return 0;
}

CALLBACK(unit_force)
{
    (void)at;
    const units *u = user;
    out[0] = 0.0;
    out[1] = -GRAVITY * u->mass * u->length / (u->time * u->time);
    return 0;
}

CALLBACK(unit_constraint)
{
    const units *u = user;
    out[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] - u->length * u->length;
    return 0;
}

/* A pendulum at t = 5 in the given units, as in units of 1; returns the number of steps */
static long run_in_units(const char *method, const units *u, double y[5])
{
    const double tol = 1e-7, speed = u->length / u->time, nominal[2] = {u->length, u->length};
    const double atol[5] = {tol * u->length, tol * u->length, tol * speed, tol * speed,
                            tol * u->mass / (u->time * u->time)};
    const double start[5] = {u->length * sin(2.0), -u->length * cos(2.0), 0, 0, 0};
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .mass = unit_mass,
                           .force = unit_force,
                           .constraint = unit_constraint,
                           .scleronomic = true,
                           .nominal = nominal,
                           .user = (void *)(uintptr_t)u};
    dae_options options = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    options.method = method;
    options.rtol = tol;
    options.atol_by_unknown = atol;
    options.max_steps = 20000;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    if (dae_solver_run(s, 5.0 * u->time, y, NULL) != DAE_OK)
        fail_msg("%s, units %g, %g, %g: %s", method, u->length, u->mass, u->time,
                 dae_solver_diag(s)->text);
    for (int i = 0; i < 4; i++) y[i] /= i < 2 ? u->length : speed;
    long steps = dae_solver_stats(s)->steps;
    dae_solver_free(s);
    dae_problem_free(problem);
    return steps;
}

/* The same steps, but for rounding, and the same solution, whatever the units */
static void units_do_not_matter(void **state)
{
    (void)state;
    static const units other[] = {{1e6, 1, 1}, {1e-6, 1, 1}, {1, 1e6, 1},     {1, 1e-6, 1},
                                  {1, 1, 1e5}, {1, 1, 1e-5}, {1e3, 1e3, 1e3}, {1e-3, 1e6, 1e-3}};
    static const char *const methods[] = {"bdf2nd", "colloc2nd", "colloc2nd:5", "colloc2nd:8"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double y[5], z[5];
        long steps = run_in_units(methods[m], &(units){1, 1, 1}, y);
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            double more = (double)run_in_units(methods[m], &other[k], z) / (double)steps;
            double off = 0.0;
            for (int i = 0; i < 4; i++) off = fmax(off, fabs(z[i] - y[i]));
            if (!(more < 1.3 && more > 0.7 && off < 1e-4))
                fail_msg("%s, units %g, %g, %g: %.2f times as many steps, off by %.1e", methods[m],
                         other[k].length, other[k].mass, other[k].time, more, off);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bdf2nd_is_right),
        cmocka_unit_test(colloc2nd_is_right),
        cmocka_unit_test(glm3_is_right),
        cmocka_unit_test(glm3_is_right_at_every_index),
        cmocka_unit_test(projection_keeps_the_order),
        cmocka_unit_test(gauss_is_refused_where_multipliers_act_on_r),
        cmocka_unit_test(units_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
