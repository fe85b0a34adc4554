/* radau: convergence of every variable, limits of the order, and kinds that a diagnosis tells. */
#include "closed_problems.h"

#include "models.h"

#include <string.h>

/* y1' = y1 cos t, y2' = -y2^2, 0 = z^3 - (y1 y2)^3, 0 = w - y1 cos 5t. w is predicted badly and
 * comes right at once, by so much that the corrections of z look small beside it: Newton's method
 * must not end there. */
static int beside_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double product = y[0] * y[1];
    f[0] = yp[0] - y[0] * cos(t);
    f[1] = yp[1] + y[1] * y[1];
    f[2] = y[2] * y[2] * y[2] - product * product * product;
    f[3] = y[3] - y[0] * cos(5.0 * t);
    return 0;
}

static void beside_solution(double t, double *y)
{
    y[0] = exp(sin(t));
    y[1] = 1.0 / (1.0 + t);
    y[2] = y[0] * y[1];
    y[3] = y[0] * cos(5.0 * t);
}

/* At the end of every step all variables are within 30 tolerances. */
static void every_variable_converges(void **state)
{
    (void)state;
    static const char *const names[] = {"radau", "radau:5", "radau:9", "radau:13"};
    dae_residual form = {.n = 4, .f = beside_f};
    for (int c = 0; c < 4; c++)
        for (double rtol = 1e-4; rtol > 1e-11; rtol *= 0.1) {
            dae_problem *p;
            dae_solver *s;
            dae_options o = dae_options_default();
            double y[4], exact[4];
            o.method = names[c];
            o.rtol = o.atol = rtol;
            beside_solution(0.0, y);
            assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
            while (dae_solver_step(s, 10.0) == DAE_STEPPED) {
                beside_solution(dae_solver_time(s), exact);
                assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
                for (int i = 0; i < 4; i++)
                    if (!(fabs(y[i] - exact[i]) <= 30.0 * rtol * (1.0 + fabs(exact[i]))))
                        fail_msg("%s, %g: variable %d at t = %g is wrong by %.2e", names[c], rtol,
                                 i, dae_solver_time(s), y[i] - exact[i]);
            }
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* min_order and max_order are heeded, and the statistics tell the order of the next step. */
typedef struct orders_seen {
    int least, most, next;
} orders_seen;

static void see_order(const dae_step_info *info, void *user)
{
    orders_seen *o = user;
    if (info->order < o->least) o->least = info->order;
    if (info->order > o->most) o->most = info->order;
    if (o->next > 0) assert_int_equal(info->order, o->next);
    o->next = 0;
}

static void order_limits(void **state)
{
    (void)state;
    static const int limits[][4] = {/* asked for; seen: of 1, 5, 9 and 13 those
                                     * that fit, from 9 on if that does */
                                    {0, 0, 9, 13}, {0, 5, 5, 5},    {0, 8, 5, 5}, {0, 1, 1, 1},
                                    {0, 9, 9, 9},  {6, 0, 9, 13},   {9, 9, 9, 9}, {9, 12, 9, 9},
                                    {5, 5, 5, 5},  {13, 0, 13, 13}, {2, 5, 5, 5}};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        model *m = model_new("akzo", 0);
        orders_seen seen = {99, 0, 0};
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        o.method = "radau";
        o.rtol = o.atol = limits[k][1] == 1 ? 1e-4 : 1e-10;
        o.min_order = limits[k][0];
        o.max_order = limits[k][1];
        o.monitor = see_order;
        o.user = &seen;
        assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
        while (dae_solver_step(s, m->tend) > 0) seen.next = dae_solver_stats(s)->order;
        assert_true(dae_solver_time(s) == m->tend);
        if (seen.least != limits[k][2] || seen.most != limits[k][3])
            fail_msg("orders %d to %d asked for: %d to %d", limits[k][0], limits[k][1], seen.least,
                     seen.most);
        dae_solver_free(s);
        dae_problem_free(p);
        model_free(m);
    }
}

/* Index 3 without kinds fails, and the failure says what to do: the kinds that a diagnosis tells
 * serve. */
static void kinds_by_diagnosis(void **state)
{
    (void)state;
    double y0[MOST], yp0[MOST], y[MOST], exact[MOST], yp[MOST];
    dae_residual form = {.n = index3.n, .f = index3.f};
    dae_index_report *report = NULL;
    index3.solution(0.0, y0, yp0);
    index3.solution(index3.tend, exact, yp);
    for (int known = 0; known < 2; known++) {
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        o.method = "radau";
        o.rtol = o.atol = 1e-8;
        o.stop_time = index3.tend;
        if (known) form.kinds = report->kinds;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
        dae_status status = dae_solver_run(s, index3.tend, y, NULL);
        if (!known) {
            assert_true(status < 0);
            assert_non_null(
                strstr(dae_solver_diag(s)->text, "is 3 (equation F[4]; variable y[4])"));
            assert_non_null(strstr(dae_solver_diag(s)->text, "declare the kinds"));
            assert_int_equal(dae_problem_diagnose(p, 0.0, y0, yp0, &report, NULL), DAE_OK);
            assert_int_equal(report->kinds[4], DAE_KIND_INDEX3);
        } else {
            assert_int_equal(status, DAE_OK);
            for (int i = 0; i < 2; i++)
                assert_true(fabs(y[i] - exact[i]) < 1e-6 * (1.0 + exact[i]));
        }
        dae_solver_free(s);
        dae_problem_free(p);
    }
    dae_index_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variable_converges),
        cmocka_unit_test(order_limits),
        cmocka_unit_test(kinds_by_diagnosis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
