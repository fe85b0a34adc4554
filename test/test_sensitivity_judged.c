/* Sensitivities of the models against differences of whole runs in quadruple precision, against the
 * linearised constraints, and against published values. */
#include "model_run.h"

#include <complex.h>

/* ---- one run of a model of the corpus ---- */

enum { MOST_BY = 4 };

typedef struct trial {
    run r;
    dae_sensitivity *x;
    double slopes[MOST_BY][MOST_VALUES];
    int count;
} trial;

static void start_trial(trial *q, double rtol, int count, const char *const *by)
{
    q->r.options.rtol = rtol;
    q->r.options.atol = 1e-3 * rtol;
    q->count = count;
    assert_int_equal(dae_solver_new(q->r.problem, &q->r.options, &q->r.solver, &q->r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = count, .names = by};
    dae_status status = dae_sensitivity_new(q->r.solver, &request, &q->x, &q->r.diag);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_start(q->r.solver, 0.0, NULL, NULL), DAE_OK);
}

static void open_model(trial *q, const char *name, double rtol, int count, const char *const *by)
{
    char path[400];
    memset(q, 0, sizeof *q);
    int length = (int)(strrchr(__FILE__, '/') - __FILE__) + 1;
    snprintf(path, sizeof path, "%.*s../models/%s.mo", length, __FILE__, name);
    dae_model m = {.file = path, .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&m, &q->r.problem, &q->r.diag), DAE_OK);
    q->r.options = dae_options_default();
    start_trial(q, rtol, count, by);
}

static void shut(trial *q)
{
    dae_sensitivity_free(q->x);
    end(&q->r);
}

/* Values and derivatives at t, which the run goes to. */
static void go_to(trial *q, double t)
{
    dae_status status = step_to(&q->r, t);
    if (status != DAE_OK) print_error("%s\n", diag_of(&q->r)->text);
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_variables(q->r.solver, t, q->r.values), DAE_OK);
    for (int k = 0; k < q->count; k++)
        assert_int_equal(dae_sensitivity_variables(q->x, t, k, q->slopes[k]), DAE_OK);
}

static int place(const trial *q, const char *name)
{
    int i = dae_problem_find_variable(q->r.problem, name);
    assert_true(i >= 0 && i < MOST_VALUES);
    return i;
}

/* ---- as the judge has it ---- */

/* bench/sensitivity_judge/judge.py MODEL --keep FOLDER: runs at p + d and p - d with d = 1e-10 |p|,
 * nine stages of Radau IIA in quadruple precision on the equations as they are written, events and
 * starts found for each run. Of each model the three parameters with the largest effects, the
 * variable that they move most, where that is most, at a third of the run and at its end. Those of
 * the spring chain (index 5) are of its closed form: p[2] is given, m p[2]'' = c (p[1] + p[3] - 2
 * p[2]), and d = p[1] - p[3] is free, m d'' = -c d. */
typedef struct judged {
    const char *model, *by, *variable;
    double t, slope, largest; /* of |slope| over the run */
} judged;

static const judged judgements[] = {
    {"akzo", "Ks", "r[5]", 3.6000000000000001, 9.12111077845696e-06, 9.12e-06},
    {"akzo", "H", "CO2", 21.600000000000001, -1.79911123427928e-06, 1.80e-06},
    {"akzo", "pCO2", "CO2", 21.600000000000001, 1.47327219962648e-03, 1.47e-03},
    {"akzo", "H", "CO2", 61.200000000000003, -1.69575224917867e-06, 1.80e-06},
    {"akzo", "Ks", "r[5]", 61.200000000000003, 1.56320899714607e-07, 9.12e-06},
    {"akzo", "pCO2", "CO2", 61.200000000000003, 1.38863267516075e-03, 1.47e-03},
    {"akzo", "H", "CO2", 180, -1.66272025765790e-06, 1.80e-06},
    {"akzo", "Ks", "r[5]", 180, 1.39302174209984e-08, 9.12e-06},
    {"akzo", "pCO2", "CO2", 180, 1.36158314432653e-03, 1.47e-03},
    {"caraxis", "c", "vr[2]", 1.02, 2.39163238452449e+01, 6.15e+01},
    {"caraxis", "eps", "vr[2]", 1.02, -4.78326476904899e+03, 1.23e+04},
    {"caraxis", "w", "vl[2]", 1.02, -3.80011018446629e-03, 1.56e-01},
    {"caraxis", "c", "vr[2]", 2.7000000000000002, 6.15021888625185e+01, 6.15e+01},
    {"caraxis", "eps", "vr[2]", 2.7000000000000002, -1.23004377725037e+04, 1.23e+04},
    {"caraxis", "c", "vr[2]", 3, 5.74245901367186e+01, 6.15e+01},
    {"caraxis", "eps", "vr[2]", 3, -1.14849180273437e+04, 1.23e+04},
    {"caraxis", "w", "vl[2]", 3, 1.55658153687508e-01, 1.56e-01},
    {"cycloid", "m", "N", 0.69999999999999996, 1.20635061367399e+01, 1.21e+01},
    {"cycloid", "R", "vy", 1.7, 7.37475850407567e-01, 1.11e+01},
    {"cycloid", "g", "vy", 1.7, -8.67804321042628e-02, 5.72e-01},
    {"cycloid", "m", "N", 1.7, 9.87073986917902e+00, 1.21e+01},
    {"cycloid", "R", "vy", 5, -1.10578965387611e+01, 1.11e+01},
    {"cycloid", "g", "vy", 5, 5.71669915883429e-01, 5.72e-01},
    {"cycloid", "m", "N", 5, 1.20458235980683e+01, 1.21e+01},
    {"heat2d", "L", "u[9,2]", 0.01, -1.51077929142412e-01, 1.51e-01},
    {"heat2d", "a", "u[9,2]", 0.01, 7.55389645712062e-02, 7.55e-02},
    {"heat2d", "L", "u[9,2]", 0.035000000000000003, 4.46428332515618e-02, 1.51e-01},
    {"heat2d", "a", "u[9,2]", 0.035000000000000003, -2.23214166257809e-02, 7.55e-02},
    {"heat2d", "L", "u[9,2]", 0.10000000000000001, 6.47367310216316e-02, 1.51e-01},
    {"heat2d", "a", "u[9,2]", 0.10000000000000001, -3.23683655108158e-02, 7.55e-02},
    {"hires", "k4", "PfrX", 6.4362440000000003, -1.62704905413576e-01, 1.63e-01},
    {"hires", "k4", "PfrX", 109.41614800000001, -1.08452175472482e-02, 1.63e-01},
    {"hires", "kStar", "E", 109.41614800000001, 1.06632817810293e-04, 1.02e-01},
    {"hires", "oks", "E", 109.41614800000001, -1.17614846169754e-02, 1.89e+01},
    {"hires", "k4", "PfrX", 321.81220000000002, -1.74883701586755e-03, 1.63e-01},
    {"hires", "kStar", "E", 321.81220000000002, 1.02084210689547e-01, 1.02e-01},
    {"hires", "oks", "E", 321.81220000000002, -1.89384842878810e+01, 1.89e+01},
    {"pendulum", "L", "vy", 3.3999999999999999, 1.84238053194087e+00, 9.13e+00},
    {"pendulum", "g", "vy", 3.3999999999999999, -1.53464773971933e+00, 9.06e+00},
    {"pendulum", "m", "lambda", 3.3999999999999999, 1.42369842538834e-01, 3.00e+00},
    {"pendulum", "m", "lambda", 5.5999999999999996, 2.99572198155581e+00, 3.00e+00},
    {"pendulum", "L", "vy", 9.1999999999999993, -9.13401387661160e+00, 9.13e+00},
    {"pendulum", "g", "vy", 9.4000000000000004, 9.06149331188080e+00, 9.06e+00},
    {"pendulum", "L", "vy", 10, 3.18732794041986e-01, 9.13e+00},
    {"pendulum", "g", "vy", 10, 5.58556004799083e-01, 9.06e+00},
    {"pendulum", "m", "lambda", 10, 1.75269705403620e+00, 3.00e+00},
    {"pendulumloop", "m", "lambda", 1.6000000000000001, 1.19908390184941e+01, 1.20e+01},
    {"pendulumloop", "L", "vy", 3.3999999999999999, -1.31851797997858e+01, 1.07e+02},
    {"pendulumloop", "g", "vy", 3.3999999999999999, -6.33119163442639e-01, 2.60e+00},
    {"pendulumloop", "m", "lambda", 3.3999999999999999, 1.03587838004404e+01, 1.20e+01},
    {"pendulumloop", "L", "vy", 10, -1.07288669929948e+02, 1.07e+02},
    {"pendulumloop", "g", "vy", 10, -2.60476012285654e+00, 2.60e+00},
    {"pendulumloop", "m", "lambda", 10, 1.18929136977328e+01, 1.20e+01},
    {"pendulumwall", "L", "x", 6.7999999999999998, 1.53910239307676e+00, 1.65e+01},
    {"pendulumwall", "e", "x", 6.7999999999999998, 4.56135339893643e+00, 3.27e+01},
    {"pendulumwall", "g", "x", 6.7999999999999998, -6.68218296702370e-02, 1.69e+00},
    {"pendulumwall", "e", "x", 15.6, 3.27143931438062e+01, 3.27e+01},
    {"pendulumwall", "L", "x", 18.800000000000001, -1.65360896098691e+01, 1.65e+01},
    {"pendulumwall", "g", "x", 18.800000000000001, 1.68588465680009e+00, 1.69e+00},
    {"pendulumwall", "L", "x", 20, -1.33713870163830e+01, 1.65e+01},
    {"pendulumwall", "e", "x", 20, -1.97502450985165e+01, 3.27e+01},
    {"pendulumwall", "g", "x", 20, 1.39139329094956e+00, 1.69e+00},
    {"rectifier", "RL", "i", 0.017000000000000001, 0.00000000000000e+00, 3.98e-01},
    {"rectifier", "amplitude", "W", 0.017000000000000001, 1.55386489150205e-02, 4.75e-02},
    {"rectifier", "frequency", "e", 0.017000000000000001, 9.75795817473109e-01, 3.01e+00},
    {"rectifier", "RL", "i", 0.023000000000000003, -3.97808758147309e-01, 3.98e-01},
    {"rectifier", "amplitude", "W", 0.049000000000000002, 4.75386489150205e-02, 4.75e-02},
    {"rectifier", "frequency", "e", 0.049000000000000002, -3.01148249025997e+00, 3.01e+00},
    {"rectifier", "RL", "i", 0.050000000000000003, 0.00000000000000e+00, 3.98e-01},
    {"rectifier", "amplitude", "W", 0.050000000000000003, 4.75386489150205e-02, 4.75e-02},
    {"rectifier", "frequency", "e", 0.050000000000000003, -2.72069904635133e+00, 3.01e+00},
    {"relays", "high", "x[6]", 1.7, 0.00000000000000e+00, 4.08e+01},
    {"relays", "low", "x[7]", 1.7, 0.00000000000000e+00, 6.54e+01},
    {"relays", "tau[1]", "x[7]", 1.7, 0.00000000000000e+00, 9.61e+00},
    {"relays", "low", "x[7]", 4.0999999999999996, -6.54112039196136e+01, 6.54e+01},
    {"relays", "tau[1]", "x[7]", 4.0999999999999996, 9.61243823736481e+00, 9.61e+00},
    {"relays", "high", "x[6]", 4.7999999999999998, -4.07567436559287e+01, 4.08e+01},
    {"relays", "high", "x[6]", 5, -2.40781676917593e+01, 4.08e+01},
    {"relays", "low", "x[7]", 5, -5.36927858372904e+00, 6.54e+01},
    {"relays", "tau[1]", "x[7]", 5, 7.89036979486402e-01, 9.61e+00},
    {"robertson", "k1", "y2", 0.099999999999999992, 4.37928158299755e-04, 4.38e-04},
    {"robertson", "k3", "y2", 0.099999999999999992, -5.86533282638761e-13, 5.87e-13},
    {"robertson", "k2", "y1", 691.83097091893649, 2.32746238889787e-05, 2.33e-05},
    {"robertson", "k1", "y2", 1202.2644346174138, -3.75629542351976e-06, 4.38e-04},
    {"robertson", "k2", "y1", 1202.2644346174138, 2.28882561674656e-05, 2.33e-05},
    {"robertson", "k3", "y2", 1202.2644346174138, -3.23721192689935e-14, 5.87e-13},
    {"robertson", "k1", "y2", 100000000000, -2.08332906483242e-12, 4.38e-04},
    {"robertson", "k2", "y1", 100000000000, 4.16666906705097e-12, 2.33e-05},
    {"robertson", "k3", "y2", 100000000000, -2.77778504862889e-21, 5.87e-13},
    {"springchain", "m", "p[3]", 6.8, -4.10883218496290e+00, 1.02e+01},
    {"springchain", "c", "p[3]", 6.8, 2.46529931097774e+01, 6.13e+01},
    {"springchain", "omega", "p[3]", 6.8, -2.17924649930481e+01, 5.77e+01},
    {"springchain", "m", "p[3]", 20, -9.73482005718244e+00, 1.02e+01},
    {"springchain", "c", "p[3]", 20, 5.84089203430946e+01, 6.13e+01},
    {"springchain", "omega", "p[3]", 20, -4.04569121235669e+01, 5.77e+01},
    {"thermostat", "Thigh", "T", 680, 2.84367316023840e+00, 1.77e+01},
    {"thermostat", "Tlow", "T", 680, -1.57229547748631e+00, 1.96e+01},
    {"thermostat", "Toutside", "T", 680, 1.24840777574461e-01, 1.70e+00},
    {"thermostat", "Thigh", "T", 2000, -1.77081209998593e+01, 1.77e+01},
    {"thermostat", "Tlow", "T", 2000, 1.95819962379396e+01, 1.96e+01},
    {"thermostat", "Toutside", "T", 2000, -1.69631908007381e+00, 1.70e+00},
    {"trajectory2", "S", "rho", 102, -1.57592704391101e-05, 1.40e-03},
    {"trajectory2", "m", "D", 102, 3.39378127793762e+01, 6.26e+01},
    {"trajectory2", "radius", "g", 102, -3.04896487661332e-06, 3.08e-06},
    {"trajectory2", "m", "D", 186, 6.25798677467501e+01, 6.26e+01},
    {"trajectory2", "S", "rho", 300, -1.39619275920834e-03, 1.40e-03},
    {"trajectory2", "m", "D", 300, 2.46179112461632e+01, 6.26e+01},
    {"trajectory2", "radius", "g", 300, -3.07675191235303e-06, 3.08e-06},
    {"transamp", "R[2]", "U[1]", 0, -3.02934973842730e-05, 3.03e-05},
    {"transamp", "alpha", "U[8]", 0.032000000000000001, -5.33495153191173e+01, 5.33e+01},
    {"transamp", "R[2]", "U[1]", 0.068000000000000005, -4.82569828843744e-07, 3.03e-05},
    {"transamp", "alpha", "U[8]", 0.068000000000000005, 1.13310834881702e+00, 5.33e+01},
    {"transamp", "frequency", "U[1]", 0.068000000000000005, 8.79109333106857e-03, 1.05e-01},
    {"transamp", "R[2]", "U[1]", 0.20000000000000001, 3.80624236076218e-07, 3.03e-05},
    {"transamp", "alpha", "U[8]", 0.20000000000000001, 2.07430497167143e+00, 5.33e+01},
    {"transamp", "frequency", "U[1]", 0.20000000000000001, 1.04972563073430e-01, 1.05e-01},
    {"violin", "slipForce", "w[1]", 3.3999999999999999, -1.59908336719003e-02, 8.64e-02},
    {"violin", "stickForce", "w[1]", 3.3999999999999999, 2.63690632693224e-03, 1.29e-01},
    {"violin", "v", "w[1]", 3.3999999999999999, 7.09721581894554e-01, 5.39e+00},
    {"violin", "stickForce", "w[1]", 7.2000000000000002, 1.28561999951853e-01, 1.29e-01},
    {"violin", "v", "w[1]", 7.2000000000000002, -5.38550889745138e+00, 5.39e+00},
    {"violin", "slipForce", "w[1]", 7.5999999999999996, 8.63536106567463e-02, 8.64e-02},
    {"violin", "slipForce", "w[1]", 10, -2.95213918216755e-04, 8.64e-02},
    {"violin", "stickForce", "w[1]", 10, -6.89682860497550e-02, 1.29e-01},
    {"violin", "v", "w[1]", 10, 3.65540138461035e+00, 5.39e+00},
    {"wheel", "a", "vy", 1.7, -9.36220130044971e-01, 2.27e+01},
    {"wheel", "g", "vy", 1.7, -6.82796069716533e-02, 5.08e-01},
    {"wheel", "k", "vy", 1.7, -8.74706015115825e-01, 6.42e+00},
    {"wheel", "k", "vy", 3.3999999999999999, 6.41632836134472e+00, 6.42e+00},
    {"wheel", "a", "vy", 3.5, 2.27253802447995e+01, 2.27e+01},
    {"wheel", "g", "vy", 3.5, 5.08382784735400e-01, 5.08e-01},
    {"wheel", "a", "vy", 5, -1.23237017178464e+01, 2.27e+01},
    {"wheel", "g", "vy", 5, -2.62463431861817e-01, 5.08e-01},
    {"wheel", "k", "vy", 5, -3.35334570948348e+00, 6.42e+00},
};
enum { JUDGED = sizeof judgements / sizeof *judgements };

/* The parameters of the rows first .. last - 1, each once. */
static int collect(int first, int last, const char **by)
{
    int count = 0;
    for (int i = first; i < last; i++) {
        int k = 0;
        while (k < count && strcmp(by[k], judgements[i].by) != 0) k++;
        if (k == count) by[count++] = judgements[i].by;
    }
    return count;
}

static void expect_judged(const trial *q, const judged *w, const char *const *by)
{
    int k = 0;
    while (strcmp(by[k], w->by) != 0) k++;
    double found = q->slopes[k][place(q, w->variable)];
    double off = fabs(found - w->slope) / (q->r.options.rtol * w->largest);
    if (off > 100.0)
        print_error("%s, rtol %g: d(%s)/d(%s) at t = %.9g is %.14g, not %.14g: %.3g tolerances\n",
                    w->model, q->r.options.rtol, w->variable, w->by, w->t, found, w->slope, off);
    assert_true(off <= 100.0);
}

static void test_models_as_judged(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-6, 1e-9};
    for (int first = 0, last; first < JUDGED; first = last) {
        for (last = first; last < JUDGED; last++)
            if (strcmp(judgements[last].model, judgements[first].model) != 0) break;
        const char *by[MOST_BY];
        int count = collect(first, last, by);
        for (int i = 0; i < 2; i++) {
            trial q;
            open_model(&q, judgements[first].model, tolerances[i], count, by);
            for (int j = first; j < last; j++) {
                go_to(&q, judgements[j].t);
                expect_judged(&q, &judgements[j], by);
            }
            shut(&q);
        }
    }
}

/* ---- what must be zero ---- */

/* Relays act on those behind them only: x[2] does not know tau[3], whose events it passes. */
static void test_no_derivative_against_the_row(void **state)
{
    (void)state;
    trial q;
    open_model(&q, "relays", 1e-6, 1, (const char *[]){"tau[3]"});
    for (int i = 1; i <= 50; i++) {
        go_to(&q, 0.1 * i);
        assert_true(fabs(q.slopes[0][place(&q, "x[1]")]) <= 1e-14);
        assert_true(fabs(q.slopes[0][place(&q, "x[2]")]) <= 1e-14);
    }
    assert_true(dae_sensitivity_statistics(q.x)->events > 10);
    assert_true(fabs(q.slopes[0][place(&q, "x[3]")]) > 0.01);
    shut(&q);
}

/* ---- on the linearised constraints: G dq/dp + g_p = 0 ---- */

/* Constraints of a mechanism at complex values: g(v + i h s, p + i h)/h has the derivative along s
 * as its imaginary part, to rounding. */
typedef void (*constraints)(const trial *q, double t, const double complex *v, double complex p,
                            int by, double complex *g);

/* At t, which the run goes to; the positions are `moving` variables from `first` on. */
static void expect_constraints(trial *q, double t, constraints of, int count, const double *p,
                               const char *first, int moving)
{
    static const double H = 1e-30, ROUNDING = 1e-11; /* five digits below rtol */
    double complex v[MOST_VALUES], g[8];
    go_to(q, t);
    for (int k = 0; k < q->count; k++) {
        double most = 1.0;
        for (int i = 0; i < moving; i++) most = fmax(most, fabs(q->slopes[k][place(q, first) + i]));
        for (int i = 0; i < MOST_VALUES; i++) v[i] = q->r.values[i] + I * H * q->slopes[k][i];
        of(q, t, v, p[k] + I * H, k, g);
        for (int j = 0; j < count; j++) {
            double off = fabs(cimag(g[j]) / H);
            if (!(off <= ROUNDING * most))
                print_error("t = %g, by %d, constraint %d: %g\n", t, k, j, off);
            assert_true(off <= ROUNDING * most);
        }
    }
}

/* by: 0 the crank rr, 1 the coupler d, 2 the abscissa of B */
static void andrews(const trial *q, double t, const double complex *v, double complex p, int by,
                    double complex *g)
{
    (void)t;
    const double complex rr = by == 0 ? p : 0.007, d = by == 1 ? p : 0.028;
    const double complex xb = by == 2 ? p : -0.03635, *a = v + place(q, "q[1]");
    const double complex x = rr * ccos(a[0]) - d * ccos(a[0] + a[1]);
    const double complex y = rr * csin(a[0]) - d * csin(a[0] + a[1]);
    g[0] = x - 0.035 * csin(a[2]) - xb;
    g[1] = y + 0.035 * ccos(a[2]) - 0.03273;
    g[2] = x - 0.02 * csin(a[3] + a[4]) - 0.04 * ccos(a[4]) + 0.06934;
    g[3] = y + 0.02 * ccos(a[3] + a[4]) - 0.04 * csin(a[4]) + 0.00227;
    g[4] = x - 0.02 * ccos(a[5] + a[6]) - 0.04 * csin(a[6]) + 0.06934;
    g[5] = y - 0.02 * csin(a[5] + a[6]) + 0.04 * ccos(a[6]) + 0.00227;
}

static void test_andrews_stays_on_its_loops(void **state)
{
    (void)state;
    trial q;
    open_model(&q, "andrews", 1e-6, 3, (const char *[]){"rr", "d", "xb"});
    for (int i = 0; i <= 30; i++)
        expect_constraints(&q, 1e-3 * i, andrews, 6, (const double[]){0.007, 0.028, -0.03635},
                           "q[1]", 7);
    assert_true(fabs(q.slopes[0][place(&q, "q[1]")]) > 1.0);
    shut(&q);
}

/* by: 0 the length L, 1 the height r of the bumps, 2 their frequency w */
static void car_axis(const trial *q, double t, const double complex *v, double complex p, int by,
                     double complex *g)
{
    const double complex L = by == 0 ? p : 1.0, r = by == 1 ? p : 0.1, w = by == 2 ? p : 10.0;
    const double complex b2 = r * csin(w * t), b1 = csqrt(L * L - b2 * b2);
    const double complex *l = v + place(q, "pl[1]"), *e = v + place(q, "pr[1]");
    g[0] = b1 * l[0] + b2 * l[1];
    g[1] = (l[0] - e[0]) * (l[0] - e[0]) + (l[1] - e[1]) * (l[1] - e[1]) - L * L;
}

static void test_car_axis_stays_on_its_constraints(void **state)
{
    (void)state;
    trial q;
    open_model(&q, "caraxis", 1e-6, 3, (const char *[]){"L", "r", "w"});
    for (int i = 0; i <= 30; i++)
        expect_constraints(&q, 0.1 * i, car_axis, 2, (const double[]){1.0, 0.1, 10.0}, "pl[1]", 4);
    assert_true(fabs(q.slopes[0][place(&q, "pr[1]")]) > 0.1);
    shut(&q);
}

/* ---- published values ---- */

/* Robertson's kinetics by k1, k2, k3, as printed by the examples idasRoberts_FSA_dns (derivatives)
 * and idasRoberts_ASAi_dns (those of the integral of y3 up to 50) of [HBG05]; their runs have
 * rtol 1e-4 and 1e-6, the prints five digits. */
static void test_robertson_as_published(void **state)
{
    (void)state;
    static const struct {
        double t, slope[3][3];
    } printed[] = {{0.4,
                    {{-3.5595e-01, 3.9025e-04, 3.5556e-01},
                     {9.5424e-08, -2.1310e-10, -9.5211e-08},
                     {-1.5832e-11, -5.2900e-13, 1.6361e-11}}},
                   {4.0,
                    {{-1.8761e+00, 1.7922e-04, 1.8759e+00},
                     {2.9614e-06, -5.8305e-10, -2.9608e-06},
                     {-4.9334e-10, -2.7626e-13, 4.9362e-10}}},
                   {40.0,
                    {{-4.2476e+00, 4.5912e-05, 4.2475e+00},
                     {1.3731e-05, -2.3572e-10, -1.3731e-05},
                     {-2.2884e-09, -1.1381e-13, 2.2885e-09}}}};
    static const double integral[3] = {1.7341e+02, -5.0592e-04, 8.4323e-08};
    trial q = {0};
    prepare(&q.r, MODEL("parameter Real k1 = 0.04, k2 = 1e4, k3 = 3e7;\nReal y1(start=1, "
                        "fixed=true), y2(start=0, fixed=true, nominal=1e-5), y3, G(start=0, "
                        "fixed=true);\nequation\nder(y1) = -k1*y1 + k2*y2*y3;\n"
                        "der(y2) = k1*y1 - k2*y2*y3 - k3*y2^2;\ny1 + y2 + y3 = 1;\n"
                        "der(G) = y3;"));
    start_trial(&q, 1e-8, 3, (const char *[]){"k1", "k2", "k3"});
    const int y[3] = {place(&q, "y1"), place(&q, "y2"), place(&q, "y3")};
    for (int i = 0; i < 3; i++) {
        go_to(&q, printed[i].t);
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                assert_true(fabs(q.slopes[k][y[j]] / printed[i].slope[k][j] - 1.0) <= 3e-4);
    }
    go_to(&q, 50.0);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(q.slopes[k][place(&q, "G")] / integral[k] - 1.0) <= 3e-4);
    shut(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_as_judged),
        cmocka_unit_test(test_no_derivative_against_the_row),
        cmocka_unit_test(test_andrews_stays_on_its_loops),
        cmocka_unit_test(test_car_axis_stays_on_its_constraints),
        cmocka_unit_test(test_robertson_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
