/* Accelerations of small mechanisms as one program: the same as by matrices, and refused where
 * pivots have to be chosen by numbers. */
#include "model_run.h"

#include "method/common/mechanism.h"
#include "solve/bind/solver.h"

enum { MOST = 64 };

static void open_file(run *r, const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    char path[1024];
    snprintf(path, sizeof path, "%.*s../models/%s.mo", slash ? (int)(slash - __FILE__) + 1 : 0,
             __FILE__, name);
    memset(r, 0, sizeof *r);
    assert_int_equal(dae_problem_from_file(path, &r->problem, &r->diag), DAE_OK);
    r->options = dae_options_default();
    r->options.method = "prk";
    assert_int_equal(start_at(r, 0.0), DAE_OK);
}

static const mechanical_form *form_of(const run *r)
{
    const form_set *set = r->solver->bound.form_set;
    assert_true(set && set->mechanical);
    return set->mechanical;
}

/* v' by the matrices; false: these are singular */
static bool by_matrices(const mechanical_form *f, double t, const double *q, const double *v,
                        double *a)
{
    double M[MOST * MOST], G[MOST * MOST], curvature[MOST];
    saddle_shape shape = mechanism_shape(f);
    saddle *s = saddle_new(&shape);
    assert_non_null(s);
    assert_int_equal(f->evaluate(f->context, t, q, v, M, a, G, NULL, curvature), EVAL_OK);
    bool regular = saddle_factor(s, M, G, G) == SADDLE_OK;
    for (int i = 0; i < f->nl; i++) curvature[i] = -curvature[i];
    if (regular) saddle_solve_x(s, a, curvature);
    saddle_free(s);
    return regular;
}

/* A point near the start, another one for every k */
static void point(const run *r, const mechanical_form *f, int k, double *q, double *v)
{
    const form_places *places = &r->solver->bound.form_set->mechanical_places;
    unsigned state = 12345u + 977u * (unsigned)k;
    double y[4 * MOST];
    assert_true(r->solver->bound.n <= 4 * MOST && places->q);
    memcpy(y, r->solver->bound.y, (size_t)r->solver->bound.n * sizeof *y);
    for (int i = 0; i < 2 * f->nq; i++) {
        state = state * 1664525u + 1013904223u;
        double off = 0.05 * ((double)(state >> 8) / 8388608.0 - 1.0);
        int at = i < f->nq ? places->q[i] : places->v[i - f->nq];
        *(i < f->nq ? &q[i] : &v[i - f->nq]) = y[at] + off * fmax(1.0, fabs(y[at]));
    }
}

/* Where the factors take many multiplications loops over arrays are faster on the tape. */
static void test_many_multiplications(void **state)
{
    (void)state;
    run r;
    open_file(&r, "andrews");
    assert_null(form_of(&r)->accelerations);
    end(&r);
}

static void test_as_by_matrices(void **state)
{
    (void)state;
    static const char *const names[] = {"pendulum",         "caraxis",      "truck",
                                        "pendulumloop",     "pendulumwall", "traps/crankrocker",
                                        "structure/fourbar"};
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        run r;
        open_file(&r, names[m]);
        const mechanical_form *f = form_of(&r);
        if (!f->accelerations) print_error("%s: none\n", names[m]);
        assert_non_null(f->accelerations);
        for (int k = 0; k < 20; k++) {
            double q[MOST], v[MOST], a[MOST], b[MOST], size = 0.0;
            point(&r, f, k, q, v);
            assert_true(by_matrices(f, 0.3, q, v, a));
            assert_true(f->accelerations(f->context, 0.3, q, v, b));
            for (int i = 0; i < f->nq; i++) size = fmax(size, fabs(a[i]));
            for (int i = 0; i < f->nq; i++) {
                if (fabs(a[i] - b[i]) <= 1e-10 * size) continue;
                print_error("%s, %d: %.17g, not %.17g\n", names[m], i, b[i], a[i]);
                fail();
            }
        }
        end(&r);
    }
}

/* ---- where it is refused ---- */

/* Two constraints on a body, which differ by a; its mass in one direction is 2 + z. */
static const char *const two_constraints =
    MODEL("  parameter Real a = 1;\n"
          "  Real x(start = 0, fixed = true), y, z, u(start = 0.1, fixed = true), v, w, k, l;\n"
          "equation\n  der(x) = u; der(y) = v; der(z) = w;\n"
          "  2*der(u) = -2*x*k - 2*x*l;\n  2*der(v) = -k - l - 1;\n"
          "  (2 + z)*der(w) = -k - (1 + a)*l;\n"
          "  x^2 + y + z = 0;\n  x^2 + y + (1 + a)*z = 0;");

static bool accepts(double z, double angle)
{
    const double q[3] = {0.1, 0.2, z}, v[3] = {1.0, 2.0, -1.0};
    double a[3];
    run r;
    prepare(&r, two_constraints);
    assert_int_equal(dae_problem_set_parameter(r.problem, "a", angle, NULL), DAE_OK);
    r.options.method = "prk";
    assert_int_equal(start_at(&r, 0.0), DAE_OK);
    const mechanical_form *f = form_of(&r);
    assert_non_null(f->accelerations);
    bool accepted = f->accelerations(f->context, 0.0, q, v, a);
    end(&r);
    return accepted;
}

static void test_small_pivots(void **state)
{
    (void)state;
    assert_true(accepts(0.0, 1.0));
    assert_true(accepts(0.0, 0.1));
    assert_false(accepts(0.0, 1e-4)); /* the constraints are nearly the same */
    assert_false(accepts(-3.0, 1.0)); /* no mass is negative */
}

/* The rod of a pendulum has no direction at its support; what is not finite is no acceleration. */
static void test_no_acceleration(void **state)
{
    (void)state;
    run r;
    open_file(&r, "pendulum");
    const mechanical_form *f = form_of(&r);
    const double v[2] = {1.0, 2.0}, centre[2] = {0.0, 0.0}, nowhere[2] = {NAN, 1.0};
    double a[2];
    assert_false(f->accelerations(f->context, 0.0, centre, v, a));
    assert_false(f->accelerations(f->context, 0.0, nowhere, v, a));
    end(&r);
}

/* Runs go through points where it is refused: nearly the same constraints all the time. */
static void test_run_without(void **state)
{
    (void)state;
    double z[2];
    for (int k = 0; k < 2; k++) {
        run r;
        prepare(&r, two_constraints);
        assert_int_equal(dae_problem_set_parameter(r.problem, "a", 1e-4, NULL), DAE_OK);
        r.options.method = k ? "hem:5" : "prk";
        assert_int_equal(start_at(&r, 0.0), DAE_OK);
        assert_int_equal(step_to(&r, 1.0), DAE_OK);
        z[k] = value(&r, "y");
        end(&r);
    }
    assert_true(fabs(z[0] - z[1]) <= 1e-6);
}

/* Long chains are for sparse matrices. */
static void test_only_small(void **state)
{
    (void)state;
    static const char *const chain = MODEL(
        "  parameter Integer n = 20;\n"
        "  Real x[n](start = 1:n), y[n](each start = 0), vx[n], vy[n](each start = 0), k[n];\n"
        "equation\n  for i in 1:n loop\n    der(x[i]) = vx[i]; der(y[i]) = vy[i];\n"
        "    der(vx[i]) = -x[i]*k[i] ; der(vy[i]) = -y[i]*k[i] - 1;\n"
        "    x[i]^2 + y[i]^2 = i^2;\n  end for;");
    run r;
    prepare(&r, chain);
    r.options.method = "prk";
    assert_int_equal(start_at(&r, 0.0), DAE_OK);
    assert_null(form_of(&r)->accelerations);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_multiplications), cmocka_unit_test(test_as_by_matrices),
        cmocka_unit_test(test_small_pivots),         cmocka_unit_test(test_no_acceleration),
        cmocka_unit_test(test_run_without),          cmocka_unit_test(test_only_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
