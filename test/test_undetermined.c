/* Where nothing but the rounding of F determines some variables, runs go on with all else right,
 * and name them: bridges of four diodes without a conductance beside them. By symmetry va + vb =
 * vc, so that one equation remains for the source's current: values of vc are those of SciPy's
 * Radau at 1e-10 with a bracketed root of it. */
#include "model_run.h"

/* Parameters of a bridge, and vc at some times */
typedef struct bridge {
    double is, vt, r, c, rs, v0;
    double at[2], vc[2];
} bridge;

static const bridge BRIDGES[] = {
    {1e-9, 0.0468, 100, 470e-6, 0.5, 12, {0.013, 0.04}, {12.81626214, 13.66157772}},
    {1e-14, 0.0259, 1000, 100e-6, 1, 9, {0.013, 0.04}, {10.40752591, 10.72452673}},
    {1e-6, 0.1, 50, 1000e-6, 0.1, 24, {0.013, 0.04}, {26.73892752, 28.39238257}},
};
enum { BRIDGE_COUNT = sizeof BRIDGES / sizeof *BRIDGES };

static const char DECLARATIONS[] =
    "model M\nparameter Real Is=%g, Vt=%g, R=%g, C=%g, Rs=%g, V0=%g;\n"
    "Real vs, va, vb, vc(start=0, fixed=true), i, i1, i2, i3, i4;\n%sequation\n"
    "vs = V0*sqrt(2)*sin(100*3.14159265358979*time);\nva - vb = vs - Rs*i;\ni = i1 - i3;\n"
    "i + i2 - i4 = 0;\nC*der(vc) = i1 + i2 - vc/R;\n%send M;\n";

/* Currents as a function of the voltage, and spelled out */
static const char FUNCTION[] =
    "function diode\ninput Real v; input Real Is; input Real Vt; output Real i;\nalgorithm\n"
    "i := Is*(exp(v/Vt) - 1);\nend diode;\n";
static const char CALLS[] = "i1 = diode(va - vc, Is, Vt);\ni2 = diode(vb - vc, Is, Vt);\n"
                            "i3 = diode(-va, Is, Vt);\ni4 = diode(-vb, Is, Vt);\n";
static const char INLINE[] = "i1 = Is*(exp((va - vc)/Vt) - 1);\ni2 = Is*(exp((vb - vc)/Vt) - 1);\n"
                             "i3 = Is*(exp(-va/Vt) - 1);\ni4 = Is*(exp(-vb/Vt) - 1);\n";

static void write_bridge(char *text, size_t size, const bridge *b, bool function)
{
    snprintf(text, size, DECLARATIONS, b->is, b->vt, b->r, b->c, b->rs, b->v0,
             function ? FUNCTION : "", function ? CALLS : INLINE);
}

/* All rows are within 30 tolerances of the sources' largest voltage. */
static void run_bridge(const bridge *b, bool function, const char *method, double rtol)
{
    char text[2000];
    run r;
    write_bridge(text, sizeof text, b, function);
    prepare(&r, text);
    r.options.rtol = rtol;
    r.options.atol = 1e-3 * rtol;
    r.options.method = method;
    OK(start_at(&r, 0.0));
    for (int k = 0; k < 2; k++) {
        OK(step_to(&r, b->at[k]));
        expect_near(&r, "vc", b->vc[k], 30.0 * rtol * 1.5 * b->v0 + 1e-6, __LINE__);
        const double sum = value(&r, "i1") - value(&r, "i3") + value(&r, "i2") - value(&r, "i4");
        if (!(fabs(sum) <= 10.0 * rtol))
            fail_msg("%s at %g: currents add to %g", method, rtol, sum);
    }
    WORDS(r.messages, "nothing but rounding determines|va|vb|small conductance");
    end(&r);
}

static void test_tolerances(void **state)
{
    (void)state;
    for (int k = 0; k < BRIDGE_COUNT; k++)
        for (double rtol = 1e-3; rtol > 5e-10; rtol *= 0.1)
            run_bridge(&BRIDGES[k], k % 2 == 0, "auto", rtol);
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas", "sdirk", "liex"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int k = 0; k < BRIDGE_COUNT; k++)
            run_bridge(&BRIDGES[k], k % 2 == 1, methods[m], 1e-6);
}

/* Values between the ends of steps, also those of steps that were made before a term was there */
static void test_rows(void **state)
{
    (void)state;
    char text[2000];
    run r;
    write_bridge(text, sizeof text, &BRIDGES[0], true);
    prepare(&r, text);
    r.options.rtol = 1e-6;
    r.options.atol = 1e-9;
    OK(start_at(&r, 0.0));
    for (int k = 1; k <= 200; k++) {
        OK(step_to(&r, 2e-4 * k));
        const double off =
            value(&r, "va") - value(&r, "vb") - value(&r, "vs") + 0.5 * value(&r, "i");
        assert_true(fabs(off) <= 1e-4);
    }
    expect_near(&r, "vc", 13.66157772, 1e-4, __LINE__);
    end(&r);
}

/* A sum of states determines its third variable well, though its tolerance at 0 is below the
 * rounding of the sum: nothing is held. */
static void test_sum(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real S(start=99990, fixed=true), I(start=10, fixed=true), R;\nequation\n"
                      "der(S) = -0.4*S*I/1e5;\nder(I) = 0.4*S*I/1e5 - 0.1*I;\nS + I + R = 1e5;"));
    r.options.rtol = 1e-8;
    r.options.atol = 1e-11;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 100.0));
    expect_near(&r, "R", 97822.179086, 1e-2, __LINE__);
    assert_null(strstr(r.messages, "determines"));
    end(&r);
}

/* With the conductance that the note asks for nothing is left to tell. */
static void test_conductance(void **state)
{
    (void)state;
    run r;
    prepare(
        &r,
        MODEL("Real vs, va, vb, vc(start=0, fixed=true), i, i1, i2, i3, i4;\n"
              "function diode\ninput Real v; output Real i;\nalgorithm\n"
              "i := 1e-9*(exp(v/0.0468) - 1) + 1e-9*v;\nend diode;\nequation\n"
              "vs = 12*sqrt(2)*sin(100*3.14159265358979*time);\nva - vb = vs - 0.5*i;\n"
              "i = i1 - i3;\ni + i2 - i4 = 0;\n470e-6*der(vc) = i1 + i2 - vc/100;\n"
              "i1 = diode(va - vc);\ni2 = diode(vb - vc);\ni3 = diode(-va);\ni4 = diode(-vb);"));
    r.options.rtol = 1e-6;
    r.options.atol = 1e-9;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 0.04));
    expect_near(&r, "vc", 13.66157772, 1e-4, __LINE__);
    assert_null(strstr(r.messages, "determines"));
    end(&r);
}

/* A current that has flown through a resistor has to find its way through a diode that was off,
 * whose equation is flat there: it goes on, and the voltage jumps by closed form. */
static void test_flat(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real vc, i(start=0.0992, fixed=true), id, g;\nequation\n"
                      "g = if time < 1e-3 then 1 else 0;\nid = 1e-9*(exp((vc - 12)/0.05) - 1);\n"
                      "i = id + g*vc;\n0.1*der(i) = 12 - vc - 120*i;"));
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 1e-3));
    const double before = value(&r, "i");
    OK(step_to(&r, 1e-3 + 1e-9));
    const double i = value(&r, "i");
    expect_near(&r, "i", before, 1e-6, __LINE__);
    expect_near(&r, "vc", 12.0 + 0.05 * log(i / 1e-9 + 1.0), 1e-6, __LINE__);
    OK(step_to(&r, 2e-3));
    end(&r);
}

/* The same at a start: fixed values do not contradict equations that are flat there. */
static void test_flat_start(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real vc, i(start=0.0992, fixed=true), id;\nequation\n"
                       "id = 1e-9*(exp((vc - 12)/0.05) - 1);\ni = id;\n"
                       "0.1*der(i) = 12 - vc - 120*i;")));
    NEAR("i", 0.0992);
    NEAR("vc", 12.0 + 0.05 * log(0.0992 / 1e-9 + 1.0));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tolerances),  cmocka_unit_test(test_methods),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_conductance), cmocka_unit_test(test_flat),
        cmocka_unit_test(test_flat_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
