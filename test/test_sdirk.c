/* SDIRK methods: conditions of order for every table, orders on problems of index 0 to 2 against
 * closed forms, accuracy on stiff models, dense output, failures. */
#include "method/implicit/sdirk.h"
#include "one_step_checks.h"

static const sdirk_table *const tables[] = {&sdirk_sdirk2, &sdirk_sdirk3, &sdirk_sdirk4,
                                            &sdirk_houbak};
static const char *const names[] = {"sdirk:2", "sdirk:3", "sdirk:4", "sdirk:2:houbak"};
enum { TABLES = 4, STIFFLY_ACCURATE = 3, S = SDIRK_STAGES };

typedef struct column {
    long double x[S];
} column;

static long double entry(const sdirk_table *t, int i, int j)
{
    return i == j ? t->gamma : j < i ? t->a[i * (i - 1) / 2 + j] : 0.0;
}

/* A v */
static column apply(const sdirk_table *t, column v)
{
    column w = {0};
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j <= i; j++) w.x[i] += entry(t, i, j) * v.x[j];
    return w;
}

/* A^-1 v */
static column solve(const sdirk_table *t, column v)
{
    for (int i = 0; i < t->stages; i++) {
        for (int j = 0; j < i; j++) v.x[i] -= entry(t, i, j) * v.x[j];
        v.x[i] /= t->gamma;
    }
    return v;
}

static column power(const sdirk_table *t, int k)
{
    column v = {0};
    for (int i = 0; i < t->stages; i++) v.x[i] = powl(t->c[i], k);
    return v;
}

static column multiply(column v, column w)
{
    for (int i = 0; i < S; i++) v.x[i] *= w.x[i];
    return v;
}

static void require(const char *name, const char *what, column b, column v, long double value)
{
    long double sum = 0.0L;
    for (int i = 0; i < S; i++) sum += b.x[i] * v.x[i];
    if (!(fabsl(sum - value) <= 1e-14L))
        fail_msg("%s, condition %s: %.18Lg instead of %.18Lg", name, what, sum, value);
}

/* The trees up to an order, at x. */
static void require_order(const char *name, const sdirk_table *t, column b, int order,
                          long double x)
{
    column c = power(t, 1), Ac = apply(t, c);
    require(name, "1", b, power(t, 0), x);
    if (order >= 2) require(name, "2", b, c, x * x / 2.0L);
    if (order < 3) return;
    require(name, "3a", b, power(t, 2), x * x * x / 3.0L);
    require(name, "3b", b, Ac, x * x * x / 6.0L);
    if (order < 4) return;
    require(name, "4a", b, power(t, 3), 1.0L / 4.0L);
    require(name, "4b", b, multiply(c, Ac), 1.0L / 8.0L);
    require(name, "4c", b, apply(t, power(t, 2)), 1.0L / 12.0L);
    require(name, "4d", b, apply(t, Ac), 1.0L / 24.0L);
}

static void order_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        const sdirk_table *t = tables[k];
        int s = t->stages;
        column b = {0}, embedded = {0}, c = apply(t, power(t, 0));
        for (int j = 0; j < s; j++) {
            b.x[j] = k < STIFFLY_ACCURATE ? entry(t, s - 1, j) : t->b[j];
            if (k < STIFFLY_ACCURATE) assert_true(t->b[j] == 0.0);
            embedded.x[j] = b.x[j] - t->e[j];
            assert_true(fabsl(c.x[j] - t->c[j]) < 1e-15L);
        }
        assert_true(t->c[s - 1] == 1.0); /* stiffly accurate: algebraic variables of index 1 */
        require_order(names[k], t, b, t->order, 1.0L);
        require_order("embedded", t, embedded, t->order - 1, 1.0L);
    }
}

/* Order 3 between steps with 5 stages, else 2, and from 3 stages on the condition of index 1. */
static void dense_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++)
        for (int j = 1; j <= 4; j++) {
            const sdirk_table *t = tables[k];
            long double x = j / 4.0L;
            column b = {0};
            for (int i = 0; i < t->stages; i++)
                for (int q = SDIRK_DENSE - 1; q >= 0; q--) b.x[i] = (b.x[i] + t->dense[q][i]) * x;
            require_order(names[k], t, b, t->stages == 5 ? 3 : 2, x);
            if (t->stages > 2 && k < STIFFLY_ACCURATE)
                require(names[k], "index 1", b, solve(t, power(t, 2)), x * x);
        }
}

/* The row of Houbak and Thomsen in [BCP96 Table 4.3.1]: r = 1 - b' A^-1 1 = 0 and b' A^-1 c = 1,
 * but b' A^-1 c^2 is not 1: k_a1 = 1; stage order 1. */
static void houbak_conditions(void **state)
{
    (void)state;
    const sdirk_table *t = &sdirk_houbak;
    column b = {0};
    long double sum = 0.0L;
    for (int j = 0; j < t->stages; j++) b.x[j] = t->b[j];
    require("houbak", "r = 0", b, solve(t, power(t, 0)), 1.0L);
    require("houbak", "A_1(1)", b, solve(t, power(t, 1)), 1.0L);
    for (int j = 0; j < t->stages; j++) sum += b.x[j] * solve(t, power(t, 2)).x[j];
    assert_true(fabsl(sum - 1.0L) > 0.1L);
    assert_true(fabsl(apply(t, power(t, 1)).x[0] - t->c[0] * t->c[0] / 2.0L) > 0.01L);
}

/* ---- orders ---- */

static const double floors[3] = {3e-12, 3e-12, 1e-10};

/* Semi-explicit index 1: p for all variables [HW96 VI.1]. */
static void orders_index_0_and_1(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        double p = tables[k]->order, least[3] = {p, p, p};
        check_orders(&rotation, names[k], 9, floors, least);
        check_orders(&ode, names[k], 9, floors, least);
        check_orders(&index1, names[k], 9, floors, least);
    }
}

/* Stage order 1: order 2 on (4.3.33), as [BCP96 Table 4.3.1] has it for DIRK methods, and not more.
 */
static void orders_mixed(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        double order[3];
        check_orders(&mixed, names[k], 9, floors, (double[3]){2.0, 0.0, 0.0});
        grid_orders(&mixed, names[k], 0, 9, floors, order);
        assert_true(order[0] < 2.3);
    }
}

/* Index 2: y 2, z 1 [BCP96 Theorem 4.4.1], as Tables 4.4.1 and 4.4.2 have it for a DIRK method of 5
 * stages. */
static void orders_index_2(void **state)
{
    (void)state;
    for (int k = 0; k < STIFFLY_ACCURATE; k++) {
        check_orders(&linear2, names[k], 9, floors, (double[3]){2.0, 1.0, 0.0});
        check_orders(&index2, names[k], 10, floors, (double[3]){2.0, 1.0, 0.0});
    }
}

/* Stage order 1 leaves no order at index 3: refused, with the variable's name. */
static void index_3_is_refused(void **state)
{
    (void)state;
    dae_problem *p;
    double y[MOST];
    dae_solver *s = solver_for(&index3, &p, "sdirk:4", DAE_DENSE_CONTINUOUS, 1e-6);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "index 3"));
    assert_int_equal(dae_solver_diag(s)->variable, 4);
    close_solver(s, p);
}

/* ---- runs ---- */

static void stiff_models(void **state)
{
    (void)state;
    static const char *const models[] = {"robertson", "hires", "akzo", "transamp", "pendulum1"};
    for (int k = 0; k < STIFFLY_ACCURATE; k++) {
        int last = 3 + tables[k]->order;
        for (int j = 0; j < 5; j++) check_model(names[k], models[j], 3, last > 6 ? 6 : last, 30.0);
        check_vanderpol(names[k], last > 6 ? 6 : last);
    }
}

static void conduct(void **state)
{
    (void)state;
    for (int k = 0; k < STIFFLY_ACCURATE; k++) {
        check_dense(names[k], 1e-4, 0.1); /* algebraic variables: order 2, slopes 1 */
        check_conduct(names[k]);
    }
}

/* GMRES will do: one real matrix is all that is asked for. */
static void matrix_free(void **state)
{
    (void)state;
    double y[MOST], yp[MOST], exact[MOST];
    dae_problem *p = problem_of(&ode);
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "sdirk:4";
    o.rtol = o.atol = 1e-6;
    o.linear_solver = DAE_LINEAR_GMRES;
    o.stop_time = 1.0;
    ode.solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    if (dae_solver_run(s, 1.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    ode.solution(1.0, exact, yp);
    for (int i = 0; i < 2; i++) assert_true(fabs(y[i] - exact[i]) < 3e-5);
    close_solver(s, p);
}

static int square_of_slope(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] * yp[0] - y[0];
    return 0;
}

/* y'^2 = y: Newton's method from y' = 0 is too slow with every step size, so steps are as long as
 * the order asks for only if it begins elsewhere. y = (1 + t/2)^2, which order 2 and above follow
 * exactly, but for the stages. */
static void implicit_slope(void **state)
{
    (void)state;
    for (int k = 0; k < STIFFLY_ACCURATE; k++) {
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        double y = 1.0, yp = 1.0;
        o.method = names[k];
        dae_residual r = {.n = 1, .f = square_of_slope};
        assert_int_equal(dae_problem_from_residual(&r, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
        if (dae_solver_run(s, 1.0, &y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
        assert_true(fabs(y - 2.25) < 1e-4);
        const dae_stats *stats = dae_solver_stats(s);
        if (stats->steps > 2000 || stats->attempts > stats->steps + 10)
            fail_msg("%s: %ld steps, %ld attempts", names[k], stats->steps, stats->attempts);
        close_solver(s, p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(dense_conditions),
        cmocka_unit_test(houbak_conditions),
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_mixed),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(index_3_is_refused),
        cmocka_unit_test(stiff_models),
        cmocka_unit_test(conduct),
        cmocka_unit_test(matrix_free),
        cmocka_unit_test(implicit_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
