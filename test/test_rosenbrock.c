/* Rosenbrock methods: conditions of order and of index 1 and 2 for every table, orders on problems
 * of index 0 to 2 against closed forms, accuracy on stiff models, dense output, failures. */
#include "closed_forms.h"
#include "method/rosenbrock.h"
#include "models.h"

/* ---- tables ---- */

enum { S = ROSENBROCK_STAGES };

typedef struct square {
    long double x[S][S];
} square;

typedef struct column {
    long double x[S];
} column;

static const rosenbrock_table *const tables[] = {&rosenbrock_rodas, &rosenbrock_rodasp,
                                                 &rosenbrock_rodas4p2, &rosenbrock_rodas3};
static const char *const names[] = {"rodas", "rodasp", "rodas4p2", "rodas3"};
enum { TABLES = 4 };

/* X^-1 of a lower triangular matrix */
static square inverse(int s, const square *X)
{
    square Y = {0};
    for (int j = 0; j < s; j++)
        for (int i = j; i < s; i++) {
            long double sum = i == j ? 1.0L : 0.0L;
            for (int k = j; k < i; k++) sum -= X->x[i][k] * Y.x[k][j];
            Y.x[i][j] = sum / X->x[i][i];
        }
    return Y;
}

static square times(const square *X, const square *Y)
{
    square Z = {0};
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++)
            for (int k = 0; k < S; k++) Z.x[i][j] += X->x[i][k] * Y->x[k][j];
    return Z;
}

static column apply(const square *X, column v)
{
    column w = {0};
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) w.x[i] += X->x[i][j] * v.x[j];
    return w;
}

static column multiply(column v, column w)
{
    for (int i = 0; i < S; i++) v.x[i] *= w.x[i];
    return v;
}

/* A table in the variables of the theory [HW96 IV.7, VI.4]: B = (alpha_ij + gamma_ij), W = B^-1 */
typedef struct theory {
    int s;
    square alpha, gamma, B, W;
    column one, a, b; /* 1, row sums of alpha and of B */
} theory;

static theory theory_of(const rosenbrock_table *t)
{
    theory h = {.s = t->stages};
    square back = {0}, a = {0};
    for (int i = 0; i < h.s; i++) {
        back.x[i][i] = 1.0L / t->gamma;
        h.one.x[i] = 1.0L;
        for (int j = 0; j < i; j++) {
            back.x[i][j] = -t->c[i * (i - 1) / 2 + j];
            a.x[i][j] = t->a[i * (i - 1) / 2 + j];
        }
    }
    h.gamma = inverse(h.s, &back);
    h.alpha = times(&a, &h.gamma);
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) h.B.x[i][j] = h.alpha.x[i][j] + h.gamma.x[i][j];
    h.W = inverse(h.s, &h.B);
    h.a = apply(&h.alpha, h.one);
    h.b = apply(&h.B, h.one);
    return h;
}

/* Weights b of sum m_i U_i */
static column weights_of(const theory *h, const long double *m)
{
    column b = {0};
    for (int j = 0; j < h->s; j++)
        for (int i = j; i < h->s; i++) b.x[j] += m[i] * h->gamma.x[i][j];
    return b;
}

static void require(const char *name, const char *what, column b, column v, long double value)
{
    long double sum = 0.0L;
    for (int i = 0; i < S; i++) sum += b.x[i] * v.x[i];
    if (!(fabsl(sum - value) <= 1e-13L))
        fail_msg("%s, condition %s: %.18Lg instead of %.18Lg", name, what, sum, value);
}

/* The trees of order 1 to 4 at x; for x = 1 those of a step. */
static void require_order(const char *name, const theory *h, column b, int order, long double x)
{
    column a2 = multiply(h->a, h->a), a3 = multiply(a2, h->a), Bb = apply(&h->B, h->b);
    require(name, "1", b, h->one, x);
    require(name, "2", b, h->b, x * x / 2.0L);
    if (order < 3) return;
    require(name, "3a", b, a2, x * x * x / 3.0L);
    require(name, "3b", b, Bb, x * x * x / 6.0L);
    if (order < 4) return;
    require(name, "4a", b, a3, 1.0L / 4.0L);
    require(name, "4b", b, multiply(h->a, apply(&h->alpha, h->b)), 1.0L / 8.0L);
    require(name, "4c", b, apply(&h->B, a2), 1.0L / 12.0L);
    require(name, "4d", b, apply(&h->B, Bb), 1.0L / 24.0L);
}

/* Index 1, up to order 4 [HW96 VI.4 (4.12), Table 4.1] */
static void require_index1(const char *name, const theory *h, column b, int order)
{
    column a2 = multiply(h->a, h->a), W2 = apply(&h->W, a2);
    require(name, "index 1, 2", b, W2, 1.0L);
    if (order < 4) return;
    require(name, "index 1, 3a", b, apply(&h->W, multiply(a2, h->a)), 1.0L);
    require(name, "index 1, 3b", b, apply(&h->W, multiply(h->a, apply(&h->alpha, h->b))), 0.5L);
    require(name, "index 1, 4", b, multiply(h->a, apply(&h->alpha, W2)), 0.25L);
}

/* b W^2 alpha^2 = 2, b W^2 alpha^3 = 3: linear systems of index 2 with constant coefficients
 * [LR90; Ste20] */
static void require_index2(const char *name, const theory *h, column b)
{
    column a2 = multiply(h->a, h->a), a3 = multiply(a2, h->a);
    require(name, "index 2, 2", b, apply(&h->W, apply(&h->W, a2)), 2.0L);
    require(name, "index 2, 3", b, apply(&h->W, apply(&h->W, a3)), 3.0L);
}

static void order_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        const rosenbrock_table *t = tables[k];
        theory h = theory_of(t);
        long double m[S], embedded[S];
        for (int i = 0; i < S; i++) {
            m[i] = t->m[i];
            embedded[i] = (long double)t->m[i] - t->e[i];
        }
        column b = weights_of(&h, m), c = weights_of(&h, embedded);
        require_order(names[k], &h, b, t->order, 1.0L);
        require_order("embedded", &h, c, t->order - 1, 1.0L);
        require_index1(names[k], &h, b, t->order);
        require_index1("embedded", &h, c, 3);
        if (k == 1 || k == 2) require_index2(names[k], &h, b);
        for (int i = 0; i < t->stages; i++) {
            long double sum = 0.0L;
            for (int j = 0; j <= i; j++) sum += h.gamma.x[i][j];
            assert_true(fabsl(h.a.x[i] - t->alpha[i]) < 1e-14L);
            assert_true(fabsl(sum - t->gamma_sum[i]) < 1e-14L);
        }
    }
}

/* Stiffly accurate and L-stable: b is the last row of B, so that R(infinity) = 0. */
static void stiff_accuracy(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        const rosenbrock_table *t = tables[k];
        theory h = theory_of(t);
        long double m[S];
        for (int i = 0; i < S; i++) m[i] = t->m[i];
        column b = weights_of(&h, m);
        for (int j = 0; j < t->stages; j++)
            assert_true(fabsl(b.x[j] - h.B.x[t->stages - 1][j]) < 1e-13L);
    }
}

/* The cubics between steps: order 3, and for algebraic variables of index 1. */
static void dense_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++)
        for (int j = 1; tables[k]->dense && j < 4; j++) {
            const rosenbrock_table *t = tables[k];
            theory h = theory_of(t);
            long double m[S], x = j / 4.0L;
            for (int i = 0; i < S; i++)
                m[i] = x * t->m[i] + x * (1.0L - x) * (t->d1[i] + x * t->d2[i]);
            column b = weights_of(&h, m);
            require_order(names[k], &h, b, 3, x);
            require(names[k], "dense, index 1", b, apply(&h.W, multiply(h.a, h.a)), x * x);
        }
}

/* ---- orders ---- */

static const double floors[3] = {1e-11, 1e-11, 1e-10};

static void orders_index_0_and_1(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        double p = tables[k]->order, least[3] = {p, p, p};
        check_orders(&rotation, names[k], 9, floors, least);
        check_orders(&ode, names[k], 9, (double[3]){3e-12}, least);
        check_orders(&index1, names[k], 9, (double[3]){3e-12, 3e-12}, least);
    }
}

/* Index 1 that is not semi-explicit has derivatives of index 2: order 2, or 3 with the conditions
 * of index 2. */
static void orders_mixed(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        bool higher = k == 1 || k == 2;
        check_orders(&mixed, names[k], 8, floors, (double[3]){higher ? 3.0 : 2.0, 0.0, 0.0});
    }
}

/* Index 2: order 2 in y; in z 2 with the conditions of index 2, else 1. */
static void orders_index_2(void **state)
{
    (void)state;
    for (int k = 1; k < 3; k++) {
        check_orders(&linear2, names[k], 8, floors, (double[3]){2.0, 2.0, 0.0});
        check_orders(&index2, names[k], 10, floors, (double[3]){2.0, 2.0, 0.0});
    }
    check_orders(&linear2, "rodas", 9, floors, (double[3]){2.0, 1.0, 0.0});
}

/* ---- adaptive runs ---- */

/* Largest error at tend over rtol |y| + atol. */
static double weighted_error(const model *m, const char *name, double rtol, dae_stats *stats)
{
    int n = m->form.n;
    double *atol = malloc((size_t)n * sizeof *atol), *y = malloc((size_t)n * sizeof *y);
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    for (int i = 0; i < n; i++) atol[i] = rtol * (m->atol_factor ? m->atol_factor[i] : 1.0);
    o.method = name;
    o.rtol = rtol;
    o.atol_by_variable = atol;
    o.stop_time = m->tend;
    o.max_steps = 0;
    assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
    dae_status status = dae_solver_run(s, m->tend, y, NULL);
    if (status != DAE_OK) fail_msg("%s: %s", m->name, dae_solver_diag(s)->text);
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double e = fabs(y[i] - m->reference[i]) / (rtol * fabs(m->reference[i]) + atol[i]);
        most = isnan(e) ? INFINITY : fmax(most, e);
    }
    *stats = *dae_solver_stats(s);
    dae_solver_free(s);
    dae_problem_free(p);
    free(atol);
    free(y);
    return most;
}

static void stiff_models(void **state)
{
    (void)state;
    static const char *const models[] = {"robertson", "hires", "akzo", "transamp", "pendulum1"};
    for (int k = 0; k < TABLES; k++)
        for (int j = 0; j < 5; j++)
            for (int digits = 3; digits <= (tables[k]->order == 4 ? 7 : 5); digits++) {
                model *m = model_new(models[j], 0);
                dae_stats stats;
                double e = weighted_error(m, names[k], pow(10.0, -digits), &stats);
                if (!(e <= 30.0))
                    fail_msg("%s, %s at rtol = 1e-%d: error %.3g tolerances", names[k], models[j],
                             digits, e);
                assert_true(stats.jacobians <= stats.steps + 3); /* once a step, and to start */
                assert_int_equal(stats.newton_iterations, 0);
                model_free(m);
            }
}

/* y1' = y2, y2' = mu ((1 - y1^2) y2 - y1); reference by radau13 at rtol = 1e-11 */
static int vanderpol_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] / *(const double *)user - ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    return 0;
}

static void vanderpol_run(const char *name, double mu, double rtol, double y[2])
{
    const double y0[2] = {2.0, -2.0 / 3.0}, yp0[2] = {-2.0 / 3.0, 0.0};
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = o.atol = rtol;
    o.stop_time = 2.0;
    o.max_steps = 0;
    dae_residual form = {.n = 2, .f = vanderpol_f, .user = &mu};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
    if (dae_solver_run(s, 2.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void van_der_pol(void **state)
{
    (void)state;
    double exact[2], y[2];
    vanderpol_run("radau13", 1e6, 1e-11, exact);
    for (int k = 0; k < TABLES; k++)
        for (double rtol = 1e-3; rtol > (k < 3 ? 1e-7 : 1e-5); rtol *= 0.1) {
            vanderpol_run(names[k], 1e6, rtol, y);
            for (int i = 0; i < 2; i++)
                if (!(fabs(y[i] - exact[i]) <= 30.0 * rtol * (1.0 + fabs(exact[i]))))
                    fail_msg("%s at %g: error %g", names[k], rtol, y[i] - exact[i]);
        }
}

/* ---- inside ---- */

static dae_solver *solver_for(const closed_form *c, dae_problem **p, const char *name,
                              dae_dense dense, double rtol)
{
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST];
    *p = problem_of(c);
    o.method = name;
    o.rtol = o.atol = rtol;
    o.dense = dense;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(*p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

/* Between steps errors are within 100 tolerances, algebraic variables included; the smooth
 * interpolant has no jumps of its slope. */
static void dense_output(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++)
        for (int smooth = 0; smooth < 2; smooth++) {
            dae_problem *p;
            dae_solver *s = solver_for(&index1, &p, names[k],
                                       smooth ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS, 1e-7);
            double y[MOST], exact[MOST], slope[MOST], a, b, before[MOST];
            for (int step = 0; dae_solver_step(s, 2.0) == DAE_STEPPED; step++) {
                dae_solver_last_step(s, &a, &b);
                for (int j = 0; j <= 4; j++) {
                    double t = a + (b - a) * j / 4.0;
                    index1.solution(t, exact, slope);
                    dae_solver_at(s, t, 0, y);
                    for (int i = 0; i < 3; i++)
                        if (!(fabs(y[i] - exact[i]) < 1e-5))
                            fail_msg("%s at %g: error %g", names[k], t, y[i] - exact[i]);
                    dae_solver_at(s, t, 1, y);
                    for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - slope[i]) < 1e-2);
                    for (int i = 0; smooth && step > 0 && j == 0 && i < 3; i++)
                        assert_true(fabs(y[i] - before[i]) < 1e-9);
                    memcpy(before, y, sizeof before);
                }
            }
            assert_true(dae_solver_time(s) == 2.0);
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* An attempt writes scratch only; the step after rejected ones is the one without them. */
static void attempts_leave_state(void **state)
{
    (void)state;
    dae_problem *p;
    dae_solver *s = solver_for(&index1, &p, "rodas", DAE_DENSE_CONTINUOUS, 1e-6);
    size_t size, scratch;
    attempt a;
    double first[MOST];
    for (int k = 0; k < 3; k++) assert_int_equal(dae_solver_step(s, 2.0), DAE_STEPPED);
    s->method->size(s->n, &size, &scratch);
    unsigned char *copy = malloc(size);
    memcpy(copy, s->state, size);
    s->method->attempt(s->state, s->scratch, &s->context, 0.01, 4, &a);
    assert_int_equal(a.status, ATTEMPT_OK);
    memcpy(first, a.y, 3 * sizeof(double));
    for (double h = 1e-3; h < 1e3; h *= 10.0) {
        s->method->attempt(s->state, s->scratch, &s->context, h, 4, &a);
        assert_memory_equal(copy, s->state, size);
        assert_true(a.status != ATTEMPT_OK || a.error > 0.0);
    }
    s->method->attempt(s->state, s->scratch, &s->context, 0.01, 4, &a);
    for (int i = 0; i < 3; i++) assert_true(fabs(a.y[i] - first[i]) < 1e-13);
    free(copy);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y' = -sqrt(y), which exists for y >= 0 only; F says so, or gives NaN */
static int root_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (user && y[0] < 0.0) return 1;
    f[0] = yp[0] + sqrt(y[0]);
    return 0;
}

static void recoverable_errors(void **state)
{
    (void)state;
    int flag = 1;
    for (int k = 0; k < 2 * TABLES; k++) {
        double y0 = 1.0, yp0 = -1.0, y, tend = 1.9;
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        o.method = names[k / 2];
        o.initial_step = 3.0;
        o.stop_time = tend;
        dae_residual form = {.n = 1, .f = root_f, .user = k % 2 ? &flag : NULL};
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
        assert_int_equal(dae_solver_run(s, tend, &y, NULL), DAE_OK);
        assert_true(fabs(y - (1.0 - tend / 2.0) * (1.0 - tend / 2.0)) < 1e-5);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* y' = -y^3 up to t = 1, NaN beyond: the failure tells equation, time and stage. */
static int hole_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = t > 1.0 ? NAN : yp[0] + y[0] * y[0] * y[0];
    return 0;
}

static void failing_stage(void **state)
{
    (void)state;
    double y0 = 1.0, yp0 = -1.0, y;
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "rodas";
    dae_residual form = {.n = 1, .f = hole_f};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(s, 2.0, &y, NULL), DAE_ERR_EVALUATION);
    assert_true(dae_solver_diag(s)->t >= 1.0 && dae_solver_diag(s)->t < 1.001);
    assert_int_equal(dae_solver_diag(s)->equation, 0);
    assert_in_range(s->last.stage, 0, 6);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y' = -50 y, y >= 0: F is never asked below 0, and y stays there. */
static int decay_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (y[0] < 0.0) *(int *)user = 1;
    f[0] = yp[0] + 50.0 * y[0];
    return 0;
}

static void bounds(void **state)
{
    (void)state;
    int left = 0;
    double y0 = 1.0, yp0 = -50.0, y, zero = 0.0;
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "rodas";
    o.rtol = o.atol = 1e-3;
    dae_residual form = {.n = 1, .f = decay_f, .lower_bounds = &zero, .user = &left};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    while (dae_solver_step(s, 5.0) > 0) {
        dae_solver_at(s, dae_solver_time(s), 0, &y);
        assert_true(y >= 0.0 && y <= 1.0);
    }
    assert_true(dae_solver_time(s) == 5.0);
    assert_false(left);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* GMRES has no factors: that is said. */
static void no_gmres(void **state)
{
    (void)state;
    double y[MOST], yp[MOST];
    dae_problem *p = problem_of(&ode);
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "rodas";
    o.linear_solver = DAE_LINEAR_GMRES;
    ode.solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_SINGULAR);
    assert_non_null(strstr(dae_solver_diag(s)->text, "linear solver"));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Backwards, where differences in t look backwards too. */
static void backwards(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&index1);
    dae_solver *s;
    dae_options o = dae_options_default();
    double y[MOST], yp[MOST], exact[MOST];
    o.method = "rodasp";
    o.rtol = o.atol = 1e-8;
    o.stop_time = 0.0;
    index1.solution(2.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 2.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 0.0, y, NULL), DAE_OK);
    index1.solution(0.0, exact, yp);
    for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - exact[i]) < 1e-6);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(stiff_accuracy),
        cmocka_unit_test(dense_conditions),
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_mixed),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(stiff_models),
        cmocka_unit_test(van_der_pol),
        cmocka_unit_test(dense_output),
        cmocka_unit_test(attempts_leave_state),
        cmocka_unit_test(recoverable_errors),
        cmocka_unit_test(failing_stage),
        cmocka_unit_test(bounds),
        cmocka_unit_test(no_gmres),
        cmocka_unit_test(backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
