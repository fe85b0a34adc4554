/* Tolerances mean what they say: with every method that `auto` may choose, all variables of models
 * with references end within 100 tolerances, rtol times the largest value on the way, from rtol =
 * 1e-4 to 1e-8. So a tolerance that is a hundred times tighter gains accordingly. Where the
 * equations themselves magnify what is off, as motions over many turns do, a hundred is no measure:
 * there a run may be off by what ten starts do that are off by a tolerance each. */
#include "model_run.h"
#include "sanitized.h"

enum { MOST_REFERENCES = 256, MOST_VARIABLES = 600, MOST_STEPS = 20000 };
static const double ALLOWED = 100.0, STARTS = 10.0;

/* Numbers are the same with sanitizers, and take ten times as long: one tolerance there. */
static const double TIGHTEST = SANITIZED ? 5e-5 : 5e-9;

typedef struct reference {
    double t;
    int count;
    char name[MOST_REFERENCES][48];
    double value[MOST_REFERENCES];
} reference;

static void path_of(char *path, size_t size, const char *model, const char *ending)
{
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s../models/%s.%s", length, __FILE__, model, ending);
}

/* "t 10", "x -0.8", and comments. */
static void read_reference(const char *model, reference *r)
{
    char path[512], line[256], name[48];
    double value;
    path_of(path, sizeof path, model, "ref");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s", path);
    *r = (reference){.t = NAN};
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%47s %lf", name, &value) != 2) continue;
        if (strcmp(name, "t") == 0)
            r->t = value;
        else if (strcmp(name, "index") != 0 && strcmp(name, "accuracy") != 0) {
            assert_true(r->count < MOST_REFERENCES);
            snprintf(r->name[r->count], sizeof r->name[0], "%s", name);
            r->value[r->count++] = value;
        }
    }
    fclose(file);
    assert_true(r->count > 0 && !isnan(r->t));
}

static double start_time(const dae_problem *p)
{
    double t = dae_problem_experiment(p).start;
    return isnan(t) ? 0.0 : t;
}

/* Runs to the end, with the largest values on the way; < 0: it failed. */
static dae_status run_model(dae_solver *s, double t0, double tend, int count, double *values,
                            double *size)
{
    dae_status status = dae_solver_start(s, t0, NULL, NULL);
    for (int k = 0; status >= 0 && k < MOST_STEPS; k++) {
        status = dae_solver_step(s, tend);
        if (status < 0 || dae_solver_variables(s, dae_solver_time(s), values) != DAE_OK) break;
        for (int i = 0; i < count; i++) size[i] = fmax(size[i], fabs(values[i]));
        if (status == DAE_OK) return status;
    }
    return status < 0 ? status : DAE_ERR_MAX_STEPS;
}

/* The largest error in tolerances; NAN: the method does not take it, or gives up. */
static double worst_error(const dae_problem *p, const reference *r, const char *method, double rtol,
                          const char **which)
{
    static double values[MOST_VARIABLES], size[MOST_VARIABLES];
    int count = dae_problem_variable_count(p);
    dae_options o = dae_options_default();
    dae_solver *s;
    double worst = 0.0;
    o.method = method;
    o.rtol = rtol;
    o.atol = rtol * 1e-3;
    o.stop_time = r->t;
    assert_true(count <= MOST_VARIABLES);
    memset(size, 0, sizeof size);
    if (dae_solver_new(p, &o, &s, NULL) != DAE_OK) return NAN;
    dae_status status = run_model(s, start_time(p), r->t, count, values, size);
    dae_solver_free(s);
    if (status != DAE_OK) return NAN;
    for (int k = 0; k < r->count; k++) {
        int i = dae_problem_find_variable(p, r->name[k]);
        if (i < 0) continue;
        double error = fabs(values[i] - r->value[k]) / (rtol * size[i] + o.atol);
        if (!(error <= worst)) {
            worst = error;
            *which = r->name[k];
        }
    }
    return worst;
}

static dae_problem *load_model(const char *name)
{
    char path[512];
    dae_problem *p;
    dae_diag diag;
    path_of(path, sizeof path, name, "mo");
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* Start values as the equations have them. */
static void values_at_start(const dae_problem *p, double *values)
{
    dae_solver *s;
    assert_int_equal(dae_solver_new(p, NULL, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, start_time(p), NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_variables(s, start_time(p), values), DAE_OK);
    dae_solver_free(s);
}

/* What becomes of a start value that is off by a tolerance, in tolerances at the end, at most: the
 * solution of the variational equation, by differences. Those that are no more than guesses change
 * nothing. */
static double growth(const char *name, const reference *r, const char *method, double rtol)
{
    static double start[MOST_VARIABLES];
    const double precise = 1e-11;
    double most = 0.0, sizes = 1e-3 * rtol;
    dae_problem *p = load_model(name);
    const char *which;
    if (!(worst_error(p, r, method, precise, &which) * precise <= rtol))
        most = NAN; /* no measure */
    values_at_start(p, start);
    for (int k = 0; k < r->count; k++) {
        int i = dae_problem_find_variable(p, r->name[k]);
        if (i < 0) continue;
        double off = rtol * fabs(start[i]) + sizes;
        if (dae_problem_set_start(p, r->name[k], start[i] + off, NULL) != DAE_OK) continue;
        double moved = worst_error(p, r, method, precise, &which) * precise / rtol;
        if (moved > most) most = moved;
        dae_problem_set_start(p, r->name[k], start[i], NULL);
    }
    dae_problem_free(p);
    return most;
}

static void models_end_within_tolerances(void **state)
{
    (void)state;
    static const char *const models[] = {"akzo",
                                         "andrews",
                                         "andrews1",
                                         "ball",
                                         "caraxis",
                                         "caraxis1",
                                         "circle",
                                         "cycloid",
                                         "heat2d",
                                         "hires",
                                         "ladder",
                                         "pendulum",
                                         "pendulum1",
                                         "pendulumloop",
                                         "rectifier",
                                         "ringmod",
                                         "robertson",
                                         "springchain",
                                         "structure/arm2",
                                         "structure/campbellgear",
                                         "structure/cancel",
                                         "structure/caploop",
                                         "structure/circletrack",
                                         "structure/coilcut",
                                         "structure/cvloop",
                                         "structure/flexiblejoint",
                                         "structure/floatcap",
                                         "structure/fourbar",
                                         "structure/hessenberg2",
                                         "structure/hessenberg3",
                                         "structure/hessenberg4",
                                         "structure/hessenberg5",
                                         "structure/hessenberg6",
                                         "structure/lubich",
                                         "structure/nilpotent3",
                                         "structure/opamp1",
                                         "structure/opamp3",
                                         "structure/opampcancel",
                                         "structure/opampcapacitor",
                                         "structure/opampresistors",
                                         "structure/order1",
                                         "structure/order2",
                                         "structure/pendulum2nd",
                                         "structure/pendulumggl",
                                         "structure/pendulumvelocity",
                                         "structure/pendulumwind",
                                         "structure/reactor",
                                         "structure/reactor1",
                                         "structure/robotarm",
                                         "structure/selector",
                                         "structure/steering",
                                         "structure/unicursal",
                                         "structure/unitcircle",
                                         "thermostat",
                                         "trajectory2",
                                         "trajectory3",
                                         "transamp",
                                         "truck",
                                         "violin",
                                         "wheel"};
    static const char *const methods[] = {"auto", "prk", "hem:5", "dopri:8", "taylor", "radau"};
    int bad = 0, runs = 0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        reference r;
        dae_problem *p = load_model(models[m]);
        read_reference(models[m], &r);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            for (double rtol = 1e-4; rtol > TIGHTEST; rtol *= 0.01) {
                const char *which = "";
                double error = worst_error(p, &r, methods[k], rtol, &which);
                if (k == 0 && isnan(error)) fail_msg("%s, %g: auto fails", models[m], rtol);
                if (isnan(error)) continue;
                runs++;
                if (error <= ALLOWED) continue;
                if (error <= STARTS * growth(models[m], &r, methods[k], rtol)) continue;
                print_error("%s, %s, %g: %s is off by %.3g tolerances\n", models[m], methods[k],
                            rtol, which, error);
                bad++;
            }
        dae_problem_free(p);
    }
    assert_int_equal(bad, 0);
    assert_true(runs > (TIGHTEST < 1e-6 ? 700 : 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models_end_within_tolerances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
