/* Where steps end the equations without derivatives hold: with every kind of method, at all
 * tolerances, a run is within ten tolerances of them at the end of every step, or fails. */
#include "model_run.h"

/* A diode in series with 1 kOhm: exponentials that are larger by powers of ten where steps guess.
 */
static const char DIODE[] = MODEL("Real v, i, x(start=0, fixed=true);\nequation\n"
                                  "i = 1e-14*(exp(v/0.025) - 1);\nv + 1e3*i = 5*sin(time);\n"
                                  "der(x) = i - x;");

/* Newton's correction of v, for the two equations with i eliminated */
static double off_diode(run *r)
{
    const double v = value(r, "v"), e = 1e-11 * exp(v / 0.025);
    return fabs(v + e - 1e-11 - 5.0 * sin(dae_solver_time(r->solver))) / (1.0 + e / 0.025);
}

/* A cubic between two states: no stage of the end is exact. */
static const char CUBIC[] =
    MODEL("Real x(start=1, fixed=true), y(start=0, fixed=true), z;\nequation\nder(x) = -y*z;\n"
          "der(y) = x*z;\nz^3 + z = 2 + x;");

static double off_cubic(run *r)
{
    const double z = value(r, "z");
    return fabs(z * z * z + z - 2.0 - value(r, "x")) / (3.0 * z * z + 1.0);
}

typedef struct trial {
    const char *text, *variable;
    double (*off)(run *r);
    double tend;
} trial;

static void run_one(const trial *q, const char *method, double rtol)
{
    run r;
    prepare(&r, q->text);
    r.options.rtol = rtol;
    r.options.atol = 1e-3 * rtol;
    r.options.method = method;
    OK(start_at(&r, 0.0));
    dae_status status = DAE_STEPPED;
    while (status > 0) {
        status = dae_solver_step(r.solver, q->tend);
        if (status < 0) break; /* it says so */
        const double most = 10.0 * (rtol * fabs(value(&r, q->variable)) + 1e-3 * rtol);
        if (q->off(&r) <= most) continue;
        print_error("%s at %g: %s is off by %.3g, not %.3g, at t = %.9g\n", method, rtol,
                    q->variable, q->off(&r), most, dae_solver_time(r.solver));
        fail();
    }
    end(&r);
}

static void run_all(const trial *q)
{
    static const char *const methods[] = {
        "herk",  "herk:2", "herk:3", "herk:5", "herk:8", "liex",  "liex:scheme2", "sirk:3",
        "rodas", "gauss",  "dopri",  "taylor", "glm",    "sdirk", "bdf",          "radau"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (double rtol = 1e-3; rtol > 5e-9; rtol *= 0.1) run_one(q, methods[m], rtol);
}

static void test_diode(void **state)
{
    (void)state;
    run_all(&(trial){DIODE, "v", off_diode, 20.0});
}

static void test_cubic(void **state)
{
    (void)state;
    run_all(&(trial){CUBIC, "z", off_cubic, 20.0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diode),
        cmocka_unit_test(test_cubic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
