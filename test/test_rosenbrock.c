/* Rosenbrock methods: conditions of order and of index 1 and 2 for every table, orders on problems
 * of index 0 to 2 against closed forms, accuracy on stiff models, dense output, failures. */
#include "method/implicit/rosenbrock.h"
#include "one_step_checks.h"

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
static const char *const names[] = {"rodas", "rodas:p", "rodas:p2", "rodas:3"};
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

/* Stiffly accurate and L-stable: b is the last row of B, so that R(infinity) = 0; the embedded
 * method is where the last stage evaluates F [HW96 IV.7]. */
static void stiff_accuracy(void **state)
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
        const int last = t->stages - 1;
        for (int j = 0; j < t->stages; j++) {
            assert_true(fabsl(b.x[j] - h.B.x[last][j]) < 1e-13L);
            assert_true(fabsl(c.x[j] - (h.B.x[last][j] - h.gamma.x[last][j])) < 1e-13L);
        }
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

/* ---- runs ---- */

static void stiff_models(void **state)
{
    (void)state;
    static const char *const models[] = {"robertson", "hires", "akzo", "transamp", "pendulum1"};
    for (int k = 0; k < TABLES; k++) {
        int last = tables[k]->order == 4 ? 7 : 5;
        for (int j = 0; j < 5; j++) check_model(names[k], models[j], 3, last, 30.0);
        check_vanderpol(names[k], last);
    }
}

/* One Jacobian and one factorisation a step, and no Newton iteration. */
static void work(void **state)
{
    (void)state;
    model *m = model_new("hires", 0);
    dae_stats stats;
    weighted_error(m, "rodas", 1e-6, &stats);
    assert_int_equal(stats.newton_iterations, 0);
    assert_true(stats.jacobians <= stats.steps + 2);
    assert_true(stats.factorisations <= stats.attempts + 2);
    assert_true(stats.residuals <= 6 * stats.attempts + 10);
    model_free(m);
}

/* Beyond t = 1 there is no y: jumps without events exempt variables from the error test, but not
 * from their equations. Where there is one, the run goes on. */
static void exempt_variables_meet_their_equations(void **state)
{
    (void)state;
    static const char *const offered[] = {"rodas", "rodas:p", "rodas:p2", "rodas:3"};
    static const char *const texts[] = {
        "model Fold Real x(start=0,fixed=true); Real y(start=1); equation der(x) = 1 + 0*y; "
        "y^2 + x = 1; end Fold;",
        "model Jump Real x(start=0,fixed=true); Real y(start=0.5); equation der(x) = 1 + 0*y; "
        "y^3 + y = noEvent(if time > 1 then 1.3 else 1); end Jump;"};
    for (int k = 0; k < 8; k++) {
        dae_model m = {.text = texts[k % 2], .file = "text"};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        double y[2];
        o.method = offered[k / 2];
        o.stop_time = 2.0;
        assert_int_equal(dae_problem_from_model(&m, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        dae_status status = dae_solver_run(s, 2.0, y, NULL);
        if (k % 2 == 0) {
            if (status >= 0) fail_msg("%s: y = %g", offered[k / 2], y[1]);
            assert_true(dae_solver_time(s) < 1.001);
        } else {
            if (status != DAE_OK) fail_msg("%s: %s", offered[k / 2], dae_solver_diag(s)->text);
            assert_true(fabs(y[1] * y[1] * y[1] + y[1] - 1.3) < 1e-4);
        }
        close_solver(s, p);
    }
}

static void conduct(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        check_dense(names[k], 1e-5, 1e-2);
        check_conduct(names[k]);
        check_no_gmres(names[k]);
    }
}

/* The rows of the mixed table against the recursion of V_i, for one variable and h = 0.5. */
static void mixed_tables(void **state)
{
    (void)state;
    const double h = 0.5, z = 0.7, U[S] = {0.31, -0.42, 0.53, -0.64, 0.75, -0.86};
    for (int k = 0; k < TABLES; k++) {
        const rosenbrock_table *t = tables[k];
        rosenbrock_mix mix;
        double V[S], z_end = z;
        rosenbrock_mix_of(t, &mix);
        for (int i = 0; i < t->stages; i++) {
            const double *a = t->a + i * (i - 1) / 2, *c = t->c + i * (i - 1) / 2;
            const double *row = mix.stage[i];
            double Y = 0.0, Z = z, slope = 0.0, sums[3] = {0};
            for (int j = 0; j < i; j++)
                Y += a[j] * U[j], Z += a[j] * V[j], slope += c[j] * U[j] / h;
            slope += Z;
            V[i] = U[i] / (t->gamma * h) - slope;
            z_end += t->m[i] * V[i];
            for (int r = 0; r < 3; r++)
                for (int j = 0; j <= i; j++)
                    sums[r] += row[r * (i + 1) + j] * (j == 0 ? h * z : U[j - 1]);
            assert_true(fabs(sums[0] - Y) <= 1e-13 * (1.0 + fabs(Y)));
            assert_true(fabs(sums[1] / h - Z) <= 1e-11 * (1.0 + fabs(Z)));
            assert_true(fabs(sums[2] / h - slope) <= 1e-11 * (1.0 + fabs(slope)));
        }
        double sum = mix.end[t->stages + 1] * h * z;
        for (int i = 0; i < t->stages; i++) sum += mix.end[t->stages + 2 + i] * U[i];
        assert_true(fabs(sum / h - z_end) <= 1e-11 * (1.0 + fabs(z_end)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(mixed_tables),
        cmocka_unit_test(stiff_accuracy),
        cmocka_unit_test(dense_conditions),
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_mixed),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(stiff_models),
        cmocka_unit_test(work),
        cmocka_unit_test(exempt_variables_meet_their_equations),
        cmocka_unit_test(conduct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
