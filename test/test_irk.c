/* Fully implicit methods (Gauss with projection, Lobatto IIIC, singly implicit): conditions of
 * order for every table, orders on problems of index 0 to 3 against closed forms and the tables of
 * the literature, accuracy on stiff models, dense output, failures, refusals. */
#include "method/implicit/irk.h"
#include "one_step_checks.h"
#include "pendulum.h"

typedef struct entry {
    const char *name;
    const irk_table *table;
    int quadrature, stage, transposed; /* B(p), C(q), D(r) */
} entry;

static const entry entries[] = {
    {"gauss:2", &irk_gauss2, 2, 1, 1},        {"gauss:4", &irk_gauss4, 4, 2, 2},
    {"gauss:6", &irk_gauss6, 6, 3, 3},        {"gauss:8", &irk_gauss8, 8, 4, 4},
    {"gauss:10", &irk_gauss10, 10, 5, 5},     {"lobattoc:2", &irk_lobattoc2, 2, 1, 1},
    {"lobattoc:4", &irk_lobattoc4, 4, 2, 2},  {"lobattoc:6", &irk_lobattoc6, 6, 3, 3},
    {"sirk:2", &irk_sirk22, 2, 2, 0},         {"sirk:3", &irk_sirk23, 3, 2, 0},
    {"sirk:3:lstable", &irk_sirk33, 3, 2, 0},
};
enum { ENTRIES = sizeof entries / sizeof entries[0], S = IRK_STAGES };

static void near(const char *name, long double value, long double expected, double size)
{
    if (!(fabsl(value - expected) <= 8.0L * 2.3e-16L * (size + 1.0L)))
        fail_msg("%s: %.20Lg instead of %.20Lg", name, value, expected);
}

static double largest(int count, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* B(p), C(q) and D(r), which give order p if p <= q + r + 1 and p <= 2q + 2 [HW96 IV.5,
 * Theorem 5.1]; not B(p+1). */
static void simplifying_assumptions(void **state)
{
    (void)state;
    for (int m = 0; m < ENTRIES; m++) {
        const entry *e = &entries[m];
        const collocation *t = e->table->m;
        const int s = t->stages;
        double size = largest(s * s, t->A);
        assert_int_equal(t->order, e->quadrature);
        assert_int_equal(e->table->stage_order, e->stage);
        assert_true(t->order <= e->stage + e->transposed + 1 && t->order <= 2 * e->stage + 2);
        for (int k = 1; k <= t->order + 1; k++) {
            long double sum = 0.0L;
            for (int i = 0; i < s; i++) sum += t->b[i] * powl(t->nodes[i], k - 1);
            if (k <= t->order)
                near(e->name, sum, 1.0L / k, 20.0);
            else
                assert_true(fabsl(sum - 1.0L / k) > 1e-7L);
        }
        for (int i = 0; i < s; i++)
            for (int k = 1; k <= e->stage; k++) {
                long double sum = 0.0L;
                for (int j = 0; j < s; j++) sum += t->A[i * s + j] * powl(t->nodes[j], k - 1);
                near(e->name, sum, powl(t->nodes[i], k) / k, 20.0 * size);
            }
        for (int j = 0; j < s; j++)
            for (int k = 1; k <= e->transposed; k++) {
                long double sum = 0.0L;
                for (int i = 0; i < s; i++)
                    sum += t->b[i] * powl(t->nodes[i], k - 1) * t->A[i * s + j];
                near(e->name, sum, t->b[j] * (1.0L - powl(t->nodes[j], k)) / k, 1.0);
            }
    }
}

/* Those of order 3 have no D(1): their trees of order 3 one by one; order 2 of all by B(2). */
static void trees_of_order_3(void **state)
{
    (void)state;
    const collocation *const both[] = {irk_sirk23.m, irk_sirk33.m};
    for (int m = 0; m < 2; m++) {
        const collocation *t = both[m];
        const int s = t->stages;
        long double sum = 0.0L;
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s; j++) sum += (long double)t->b[i] * t->A[i * s + j] * t->nodes[j];
        near("sirk:3", sum, 1.0L / 6.0L, 20.0);
    }
}

/* Entry (i, j) of Lambda. */
static double block_entry(const collocation *t, int i, int j)
{
    if (i < t->reals || j < t->reals)
        return i < t->reals && (j == i || j == i - 1) ? t->gamma : 0.0;
    int p = (i - t->reals) / 2;
    if (p != (j - t->reals) / 2) return 0.0;
    double a = t->pair[2 * p], b = t->pair[2 * p + 1];
    return i == j ? a : i > j ? b : -b;
}

/* A^-1 A = 1, T^-1 T = 1, T^-1 A^-1 T = Lambda, d' A = b' */
static void transformations(void **state)
{
    (void)state;
    for (int m = 0; m < ENTRIES; m++) {
        const collocation *t = entries[m].table->m;
        const int s = t->stages;
        double size = s * largest(s * s, t->T_inverse) * largest(s * s, t->T) *
                      (1.0 + largest(s * s, t->inverse));
        assert_int_equal(t->reals + 2 * t->pairs, s);
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s; j++) {
                long double one = 0.0L, unit = 0.0L, block = 0.0L;
                for (int k = 0; k < s; k++) {
                    one += (long double)t->inverse[i * s + k] * t->A[k * s + j];
                    unit += (long double)t->T_inverse[i * s + k] * t->T[k * s + j];
                    for (int l = 0; l < s; l++)
                        block += (long double)t->T_inverse[i * s + k] * t->inverse[k * s + l] *
                                 t->T[l * s + j];
                }
                near(entries[m].name, one, i == j, size);
                near(entries[m].name, unit, i == j, size);
                near(entries[m].name, block, block_entry(t, i, j), size);
            }
        for (int j = 0; j < s; j++) {
            long double sum = 0.0L;
            for (int i = 0; i < s; i++) sum += (long double)t->d[i] * t->A[i * s + j];
            near(entries[m].name, sum, t->b[j], size);
        }
    }
}

/* R(infinity) = 1 - b' A^-1 1: +1 and -1 for Gauss, 0 for Lobatto IIIC and SIRK22, 1 - sqrt 3 for
 * SIRK23 [BCP96 6.3]; b is the last row of A where it says so. */
static void limits_of_stability(void **state)
{
    (void)state;
    for (int m = 0; m < ENTRIES; m++) {
        const collocation *t = entries[m].table->m;
        const int s = t->stages;
        long double r = 1.0L;
        for (int i = 0; i < s; i++) r -= t->d[i];
        long double expected = m < 5 ? (s % 2 ? -1.0L : 1.0L) : m == 9 ? 1.0L - sqrtl(3.0L) : 0.0L;
        near(entries[m].name, r, expected, 100.0);
        for (int j = 0; collocation_ends(t) && j < s; j++)
            near(entries[m].name, t->A[(s - 1) * s + j], t->b[j], 1.0);
    }
}

/* ---- orders ---- */

static const double floors[3] = {1e-12, 1e-12, 1e-10};

/* So many halvings that the last pair is above round-off. */
static int halvings(int order)
{
    return order <= 2 ? 9 : order <= 4 ? 8 : order <= 6 ? 7 : 6;
}

/* Index 0 and semi-explicit index 1: p for all variables, with the projection of Gauss. SIRK23 is
 * not stiffly accurate: q + 1 = 3 for z. [HW96 VI.1] */
static void orders_index_0_and_1(void **state)
{
    (void)state;
    for (int m = 0; m < ENTRIES; m++) {
        double p = entries[m].table->m->order, least[3] = {p, p, p};
        int most = halvings((int)p);
        double low = p > 8.0 ? 1e-13 : 1e-12; /* order 10 leaves few pairs above */
        check_orders(&rotation, entries[m].name, 9, (double[3]){low, low}, least);
        if (p <= 6.0) check_orders(&ode, entries[m].name, most, floors, least);
        if (p <= 6.0) check_orders(&index1, entries[m].name, most, floors, least);
    }
}

/* [BCP96 (4.3.33)]: Table 4.3.1 has 2 for the two-stage SIRK, 4 for Lobatto IIIC, and 2 for the
 * midpoint rule; 2 for Gauss with two stages, which becomes 4 by projection. */
static void orders_mixed(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double order;
    } rows[] = {{"sirk:2", 2.0},  {"sirk:3", 3.0},  {"sirk:3:lstable", 3.0}, {"lobattoc:2", 2.0},
                {"gauss:2", 2.0}, {"gauss:4", 4.0}, {"lobattoc:4", 4.0},     {"radau:5", 5.0}};
    for (int k = 0; k < 8; k++) {
        double order[3];
        int most = rows[k].order > 3.0 ? 6 : 8;
        check_orders(&mixed, rows[k].name, most, (double[3]){1e-13}, (double[3]){rows[k].order});
        grid_orders(&mixed, rows[k].name, 0, most, (double[3]){1e-13}, order);
        assert_true(order[0] < rows[k].order + 0.3);
    }
}

/* Index 2: Lobatto IIIC y 2s - 2, z s - 1; SIRK22 y 2, z 2; projected Gauss y and z 2s [HLR89 4;
 * AP91]. SIRK23, with R(infinity) = -0.73, y 3 and z 2 at constant steps. */
static void orders_index_2(void **state)
{
    (void)state;
    double z_floor[3] = {1e-12, 2e-9, 0.0}, order[3];
    for (int m = 0; m < 9; m++) {
        const collocation *t = entries[m].table->m;
        double p = t->order, q = entries[m].table->project ? p : entries[m].table->stage_order;
        if (p > 6.0) continue;
        check_orders(&linear2, entries[m].name, 9, z_floor, (double[3]){p, q});
    }
    check_orders(&index2, "lobattoc:4", 8, z_floor, (double[3]){4.0, 2.0});
    check_orders(&index2, "gauss:4", 8, z_floor, (double[3]){4.0, 4.0});
    check_orders(&index2, "sirk:2", 8, z_floor, (double[3]){2.0, 2.0});
    check_orders(&linear2, "sirk:3:lstable", 9, z_floor, (double[3]){3.0, 2.0});
    check_orders(&index2, "sirk:3:lstable", 8, z_floor, (double[3]){3.0, 2.0});
    grid_orders(&linear2, "sirk:3", 0, 9, z_floor, order);
    assert_true(order[0] > 2.7 && order[1] > 1.7);
}

/* Index 3: y, z of stage order q, u of q - 1 [BCP96 (4.4); HLR89 6] */
static void orders_index_3(void **state)
{
    (void)state;
    double low[3] = {1e-11, 1e-9, 1e-7}, order[3];
    const char *const names[] = {"lobattoc:4", "lobattoc:6", "sirk:2", "sirk:3:lstable"};
    for (int k = 0; k < 4; k++) {
        double q = k == 1 ? 3.0 : 2.0;
        check_orders(&linear3, names[k], 8, low, (double[3]){q, q, q - 1.0});
    }
    grid_orders(&linear3, "sirk:3", 0, 8, low, order);
    assert_true(order[0] > 1.7 && order[1] > 1.7 && order[2] > 0.7);
}

/* [BCP96 Table 4.2.1]: linear systems with constant coefficients, index 2. Radau IIA and SIRK22
 * have k_a2 = 2 and more; x' = z, 0 = x - sin t gives it by the order of z: min(k_d, k_a2). */
static int chain_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = y[0] - sin(t);
    return 0;
}

static void chain_solution(double t, double *y, double *yp)
{
    y[0] = sin(t);
    y[1] = yp[0] = cos(t);
    yp[1] = -sin(t);
}

static void orders_constant_coefficients(void **state)
{
    (void)state;
    static const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
    const closed_form chain = {
        "x' = z, 0 = x - sin t", 2, chain_f, chain_solution, kinds, 1.0, {0, 1}, 2};
    const struct {
        const char *name;
        double order; /* k_a2 */
    } rows[] = {{"sirk:2", 2.0},
                {"sirk:3:lstable", 2.0},
                {"sdirk:4", 1.0},
                {"radau:5", 3.0},
                {"lobattoc:4", 2.0}};
    for (int k = 0; k < 5; k++) {
        double order[3];
        grid_orders(&chain, rows[k].name, 0, 7, (double[3]){1e-15, 1e-10}, order);
        if (!(fabs(order[1] - rows[k].order) < 0.3))
            fail_msg("%s: order %.2f, not %.0f", rows[k].name, order[1], rows[k].order);
    }
}

/* y1' = 1e6 y2, y2' = -1e-6 y1, 0 = z - y1 y2 from y1 = z = 0: the second correction of z is larger
 * than the first, in units of a tolerance that knows nothing of its size yet. Constant steps leave
 * no other. */
static int growing_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - 1e6 * y[1];
    f[1] = yp[1] + 1e-6 * y[0];
    f[2] = y[2] - y[0] * y[1];
    return 0;
}

static void algebraic_variables_follow(void **state)
{
    (void)state;
    const char *const names[] = {"lobattoc:4", "lobattoc:6", "gauss:4",
                                 "gauss:6",    "sirk:2",     "radau:5"};
    for (int k = 0; k < 6; k++) {
        double y[3] = {0.0, 1.0, 0.0}, yp[3] = {1e6, 0.0, 1e6};
        dae_residual form = {.n = 3, .f = growing_f};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        o.method = names[k];
        o.rtol = o.atol = 1e-4;
        o.fixed_step = 0.03;
        o.stop_time = 0.3;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
        if (dae_solver_run(s, 0.3, y, NULL) != DAE_OK)
            fail_msg("%s: %s", names[k], dae_solver_diag(s)->text);
        assert_true(fabs(y[2] - 1e6 * sin(0.3) * cos(0.3)) < 1e3);
        close_solver(s, p);
    }
}

/* ---- what is refused ---- */

/* Index 2 that is not declared: Gauss would lose its order, and says so; with its kind it does not.
 */
static void undeclared_index_is_refused(void **state)
{
    (void)state;
    const closed_form *both[] = {&index2, &index3};
    for (int k = 0; k < 2; k++) {
        closed_form blind = *both[k];
        dae_problem *p;
        double y[MOST];
        blind.kinds = NULL;
        dae_solver *s = solver_for(&blind, &p, "gauss:4", DAE_DENSE_CONTINUOUS, 1e-6);
        assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_UNSUPPORTED);
        assert_non_null(strstr(dae_solver_diag(s)->text, "loses its order"));
        assert_int_equal(dae_solver_diag(s)->variable, k ? 4 : 2);
        close_solver(s, p);
    }
}

/* y1' + y2' = -y1, y1' + y2' = -y1 + sin y2 - t: no equation is without y', but their difference
 * is. Onto what cannot be seen nothing can be projected; written apart it can. */
static int hidden_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const bool apart = *(const bool *)user;
    double first = yp[0] + yp[1] + y[0], other = sin(y[1]) - t;
    f[0] = first;
    f[1] = apart ? other : first + other;
    return 0;
}

static void hidden_constraints_are_refused(void **state)
{
    (void)state;
    const char *const names[] = {"gauss:2", "gauss:4", "gauss:6", "gauss:8", "gauss:10"};
    for (int k = 0; k < 10; k++) {
        bool apart = k % 2;
        double y[2] = {1.0, 0.0}, yp[2] = {-2.0, 1.0};
        dae_residual form = {.n = 2, .f = hidden_f, .user = &apart};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        o.method = names[k / 2];
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
        assert_int_equal(dae_solver_run(s, 0.5, y, NULL), apart ? DAE_OK : DAE_ERR_UNSUPPORTED);
        if (!apart) assert_non_null(strstr(dae_solver_diag(s)->text, "equation of its own"));
        if (apart) assert_true(fabs(y[1] - asin(0.5)) < 1e-5);
        close_solver(s, p);
    }
}

static void index_3_is_refused(void **state)
{
    (void)state;
    const char *const names[] = {"gauss:4", "gauss:10", "lobattoc:2"};
    for (int k = 0; k < 3; k++) {
        dae_problem *p;
        double y[MOST];
        dae_solver *s = solver_for(&index3, &p, names[k], DAE_DENSE_CONTINUOUS, 1e-6);
        assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_UNSUPPORTED);
        assert_non_null(strstr(dae_solver_diag(s)->text, "index 3"));
        assert_int_equal(dae_solver_diag(s)->variable, 4);
        close_solver(s, p);
    }
}

/* ---- index 3 by formulation ---- */

/* Largest error of q and v at t = 10 after so many steps (models/pendulum.ref) */
static double ggl_error(const dae_problem *p, const char *name, int steps)
{
    const double exact[4] = {-8.115864461913038e-1, -5.842323513453959e-1, -6.315291490650178e-1,
                             8.772887988410693e-1};
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    double y[5], most = 0.0;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = name;
    o.formulation = "ggl";
    o.rtol = o.atol = 1e-11;
    o.fixed_step = 10.0 / steps;
    o.stop_time = 10.0;
    o.newton_iterations = 50;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
    if (dae_solver_run(s, 10.0, y, NULL) != DAE_OK)
        fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    for (int i = 0; i < 4; i++) most = fmax(most, fabs(y[i] - exact[i]));
    assert_true(fabs(hypot(y[0], y[1]) - 1.0) < 1e-9); /* both levels of the constraint */
    assert_true(fabs(y[0] * y[2] + y[1] * y[3]) < 1e-9);
    dae_solver_free(s);
    return most;
}

/* Formulation ggl of a mechanism of index 3 is of index 2: projected Gauss has order 2s in q and v.
 */
static void gauss_at_index_3(void **state)
{
    (void)state;
    dae_problem *p;
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = pendulum_weight,
                           .constraint = pendulum_rod,
                           .gradient = pendulum_gradient};
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    const char *const names[] = {"gauss:2", "gauss:4", "gauss:6"};
    for (int k = 0; k < 3; k++) {
        int steps = k == 0 ? 400 : k == 1 ? 200 : 100;
        double order = log2(ggl_error(p, names[k], steps) / ggl_error(p, names[k], 2 * steps));
        if (getenv("DAE_TEST_VERBOSE")) printf("%s, ggl: %.2f\n", names[k], order);
        if (!(order > 2 * k + 2 - 0.3)) fail_msg("%s: order %.2f", names[k], order);
    }
    dae_problem_free(p);
}

/* ---- runs ---- */

static void stiff_models(void **state)
{
    (void)state;
    static const char *const models[] = {"robertson", "hires", "akzo", "transamp", "pendulum1"};
    for (int m = 5; m < ENTRIES; m++) {
        int order = entries[m].table->m->order, last = order == 2 ? 4 : order == 3 ? 5 : 8;
        for (int j = 0; j < 5; j++)
            check_model(entries[m].name, models[j], 3, j == 3 && last > 6 ? 6 : last, 30.0);
        check_vanderpol(entries[m].name, last > 6 ? 6 : last);
    }
}

/* Gauss is for problems that are not stiff: the pendulum on acceleration level. */
static void gauss_models(void **state)
{
    (void)state;
    for (int m = 0; m < 5; m++) check_model(entries[m].name, "pendulum1", 3, m == 0 ? 6 : 9, 30.0);
}

/* Index 2 and 3 with error control: positions within 100 tolerances. */
static void higher_index_adaptive(void **state)
{
    (void)state;
    const struct {
        const char *name;
        const closed_form *c;
    } runs[] = {{"gauss:4", &index2},    {"gauss:6", &index2},    {"gauss:10", &index2},
                {"lobattoc:4", &index2}, {"lobattoc:6", &index2}, {"sirk:2", &index2},
                {"lobattoc:4", &index3}, {"lobattoc:6", &index3}};
    for (int k = 0; k < 8; k++)
        for (double rtol = 1e-4; rtol > 0.5e-7; rtol *= 0.1) {
            const closed_form *c = runs[k].c;
            dae_problem *p;
            dae_solver *s = solver_for(c, &p, runs[k].name, DAE_DENSE_CONTINUOUS, rtol);
            double y[MOST], error[3] = {0.0, 0.0, 0.0};
            dae_solver_set_stop_time(s, c->tend);
            if (dae_solver_run(s, c->tend, y, NULL) != DAE_OK)
                fail_msg("%s on %s: %s", runs[k].name, c->name, dae_solver_diag(s)->text);
            add_errors(c, c->tend, y, error);
            if (!(error[0] <= 100.0 * rtol))
                fail_msg("%s on %s at %g: error %g", runs[k].name, c->name, rtol, error[0]);
            close_solver(s, p);
        }
}

/* y' = -y with partial derivatives that are twice too large: each correction leaves a half. */
static int halving_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

static int halving_jacobian(double t, const double *y, const double *yp, double *dfdy,
                            double *dfdyp, void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    dfdy[0] = dfdyp[0] = 2.0;
    return 0;
}

/* Newton's iteration ends after as many corrections as are asked for: 2^-24 is no tolerance. */
static void iterations_end(void **state)
{
    (void)state;
    dae_residual form = {.n = 1, .f = halving_f, .jacobian = halving_jacobian};
    for (int m = 0; m < ENTRIES; m++)
        for (int most = 2; most < 24; most += most < 6 ? 3 : 5) {
            dae_problem *p;
            dae_options o = dae_options_default();
            attempt a;
            o.method = entries[m].name;
            o.rtol = o.atol = 1e-12;
            o.newton_iterations = most;
            dae_solver *s = solver_of_one(&form, &p, &o, 1.0, -1.0);
            start_point at = {.t = 0.0, .h = 0.5, .y = s->bound.y, .yp = s->bound.yp};
            s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
            s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, 0.5,
                                     s->bound.method->max_order, &a);
            assert_int_equal(a.status, ATTEMPT_CONVERGENCE);
            assert_int_equal(s->bound.newton.iterations, most);
            close_solver(s, p);
        }
}

static void conduct(void **state)
{
    (void)state;
    for (int m = 0; m < ENTRIES; m++) {
        /* between steps the order is lower: k in place of p */
        double k = entries[m].table->m->stages + (m < 5), p = entries[m].table->m->order;
        check_dense(entries[m].name, fmax(1e-4, 30.0 * pow(1e-7, k / p)), 1.0);
        check_conduct(entries[m].name);
        check_no_gmres(entries[m].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simplifying_assumptions),
        cmocka_unit_test(trees_of_order_3),
        cmocka_unit_test(transformations),
        cmocka_unit_test(limits_of_stability),
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_mixed),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(orders_index_3),
        cmocka_unit_test(orders_constant_coefficients),
        cmocka_unit_test(algebraic_variables_follow),
        cmocka_unit_test(undeclared_index_is_refused),
        cmocka_unit_test(hidden_constraints_are_refused),
        cmocka_unit_test(index_3_is_refused),
        cmocka_unit_test(gauss_at_index_3),
        cmocka_unit_test(stiff_models),
        cmocka_unit_test(gauss_models),
        cmocka_unit_test(higher_index_adaptive),
        cmocka_unit_test(iterations_end),
        cmocka_unit_test(conduct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
