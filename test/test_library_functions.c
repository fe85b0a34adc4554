/* Functions of the Standard Library that are texts of ours: against closed forms, published check
 * values, and implementations in C. */
#include "base/arena.h"
#include "model_run.h"
#include "modelica/library/library.h"
#include "modelica/syntax/parser.h"

#define MEDIA "'Modelica.Media.Common."
#define IF97 "'Modelica.Media.Water.IF97_Utilities."
#define BASE IF97 "BaseIF97."
#define FLUID "'Modelica.Fluid.Utilities."
#define FILTER "'Modelica.Blocks.Continuous.Internal.Filter.coefficients."
#define SPICE "'Modelica.Electrical.Spice3.Internal."
#define FRAMES "'Modelica.Mechanics.MultiBody.Frames."
#define RANDOM "'Modelica.Math.Random."

static const double PI = 3.14159265358979323846;

/* ---- values of expressions ---- */

/* y of a model with these declarations; its functions stand before. */
static double value_of(const char *functions, const char *declarations)
{
    char text[8192];
    run r;
    int n = snprintf(text, sizeof text, "%smodel M\n  %s;\nend M;\n", functions, declarations);
    assert_true(n > 0 && (size_t)n < sizeof text);
    OK(begin(&r, text));
    double y = value(&r, "y");
    end(&r);
    return y;
}

/* The expression, whose %s stand for numbers. Those are variables of the run, not literals. */
static double at2(const char *format, double a, double b)
{
    char text[4096], all[4300];
    snprintf(text, sizeof text, format, "a", "b");
    snprintf(all, sizeof all, "Real a = %.17g + 0*time, b = %.17g + 0*time, y = %s", a, b, text);
    return value_of("", all);
}

static void expect(double found, double expected, double relative, int line)
{
    if (fabs(found - expected) <= relative * fmax(fabs(expected), 1e-300)) return;
    print_error("line %d: %.17g, not %.17g\n", line, found, expected);
    fail();
}
#define Y(expression, expected, relative)                                                          \
    expect(value_of("", "Real y = " expression), expected, relative, __LINE__)
#define AT(format, a, b, expected, relative) expect(at2(format, a, b), expected, relative, __LINE__)

/* ---- the texts ---- */

static void parse_whole(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    arena *a = arena_new(1 << 24);
    message_list *messages = message_list_new("library", copy, length, 0);
    ast_class *c = parse_class_text(a, copy, messages);
    if (!c) print_error("%s\n", message_text(messages));
    assert_non_null(c);
    assert_int_equal(message_errors(messages), 0);
    message_list_free(messages);
    arena_free(a);
    free(copy);
}

/* Where a class begins at this line, it is found by its name and parses; 1, or 0: no class here. */
static int check_line(const char *line)
{
    char kind[16], name[600], query[640];
    size_t length = 0;
    if (sscanf(line, "%15[a-z] '%599[^\n;]", kind, name) != 2) return 0;
    if (strcmp(kind, "function") != 0 && strcmp(kind, "record") != 0) return 0;
    name[strlen(name) - 1] = '\0'; /* the quote behind it */
    snprintf(query, sizeof query, "'%s%s'", name[0] == '*' ? "any.prefix" : "",
             name[0] == '*' ? name + 1 : name);
    const char *found = library_find(query, &length);
    if (found != line) print_error("%s is not found where it stands\n", query);
    assert_ptr_equal(found, line);
    parse_whole(found, length);
    return 1;
}

static void test_every_class_is_found_and_parses(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t k = 0; library_text(k); k++)
        for (const char *at = library_text(k); at; at = strchr(at, '\n')) {
            if (*at == '\n') at++;
            count += (size_t)check_line(at);
        }
    assert_true(count > 120);
}

/* ---- Utilities, Complex, Polyphase ---- */

static void test_error_stops_the_run(void **state)
{
    (void)state;
    const char *text = "function f\n  input Real u;\n  output Real y;\nalgorithm\n  if u > 1 then\n"
                       "    'Modelica.Utilities.Streams.error'(\"too much: \" + String(u));\n"
                       "  end if;\n  y := u;\nend f;\nmodel M\n  Real y = f(time);\nend M;\n";
    run r;
    OK(begin(&r, text));
    assert_true(step_to(&r, 2.0) < 0);
    assert_non_null(strstr(diag_of(&r)->text, "too much: 1"));
    end(&r);
}

/* A model changes no files: what would write one says so, and goes on. */
static void test_no_file_is_written(void **state)
{
    (void)state;
    const char *text =
        "function f\n  input Real u;\n  output Boolean y;\nalgorithm\n"
        "  'Modelica.Utilities.Files.removeFile'(\"never-there.mat\");\n"
        "  y := 'Modelica.Utilities.Streams.writeRealMatrix'('Modelica.Utilities.Files."
        "fullPathName'(\"never-there.mat\"), \"A\", {{u}});\nend f;\n"
        "model M\n  discrete Boolean y(start = true);\nalgorithm\n  when time > 0.5 then\n"
        "    y := f(time);\n  end when;\nend M;\n";
    run r;
    OK(begin(&r, text));
    assert_true(value(&r, "y") == 1.0);
    assert_true(step_to(&r, 1.0) >= 0);
    assert_true(value(&r, "y") == 0.0);
    FILE *file = fopen("never-there.mat", "r");
    assert_null(file);
    end(&r);
}

static void test_complex_and_phases(void **state)
{
    (void)state;
    Y("('Complex.\\'constructor\\'.fromReal'(3)).re + 10*'Complex.\\'constructor\\'.fromReal'(1, "
      "2).im",
      23.0, 1e-15);
    Y("sum('Modelica.Electrical.Polyphase.Functions.symmetricOrientation'(3).*{1, 10, 100})",
      (10.0 + 200.0) * 2.0 * PI / 3.0, 1e-14);
    Y("'Modelica.Electrical.Polyphase.Functions.symmetricOrientation'(2)[2]", PI / 2.0, 1e-15);
    /* two systems of three, turned by 30 degrees */
    Y("sum('Modelica.Electrical.Polyphase.Functions.symmetricOrientation'(6).*{0, 1, 0, 0, 10, 0})",
      2.0 * PI / 3.0 + 10.0 * (2.0 * PI / 3.0 - PI / 6.0), 1e-14);
}

/* ---- filters: factors at s = 3 ---- */

#define COEFFICIENTS(kind, frequencies)                                                            \
    "Real r[1], c0[1], c1[1], y;\nequation\n  (r, c0, c1) = " FILTER kind                          \
    "'({2}, {5}, {3}, " frequencies ");\n  y = (3 + r[1])*(9 + 3*c1[1] + c0[1])"
#define BANDS(kind, results)                                                                       \
    "Real r[0], c0[3], c1[3], n = 1, y;\nequation\n  " results " = " FILTER kind                   \
    "'({2}, {5}, {3}, 1, 4);\n  y = n*product(9 + 3*c1[i] + c0[i] for i in 1:3)"

static void test_filters(void **state)
{
    (void)state;
    double w = 4.0 * PI, s = 3.0 / w, b = 1.5; /* the middle and width of a band from 1 to 4 */
    double z = (s + 1.0 / s) / b;
    expect(value_of("", COEFFICIENTS("lowPass", "2")),
           w * w * w * (s + 2.0) * (s * s + 3.0 * s + 5.0), 1e-13, __LINE__);
    expect(value_of("", COEFFICIENTS("highPass", "2")),
           27.0 * (1.0 / s + 2.0) * (1.0 / (s * s) + 3.0 / s + 5.0) / (2.0 * 5.0), 1e-13, __LINE__);
    expect(value_of("", BANDS("bandStop", "(r, c0, c1)")),
           pow(9.0 + w * w, 3.0) * (1.0 / z + 2.0) * (1.0 / (z * z) + 3.0 / z + 5.0) / 10.0, 1e-12,
           __LINE__);
    expect(value_of("", "Real r[0], c0[3], c1[3], n, y;\nequation\n  (r, c0, c1, n) = " FILTER
                        "bandPass'({2}, {5}, {3}, 1, 4);\n"
                        "  y = (9 + 3*c1[1] + c0[1])*(9 + 3*c1[2] + c0[2])*(9 + 3*c1[3] + c0[3])/"
                        "(3*n)^3"),
           (z + 2.0) * (z * z + 3.0 * z + 5.0), 1e-12, __LINE__);
}

/* ---- gases ---- */

#define GAS "'Modelica.Media.IdealGases.Common.Functions."
#define REFERENCE "'Modelica.Media.Interfaces.Choices.ReferenceEnthalpy'"
static const char CHOICES[] =
    "type " REFERENCE " = enumeration('ZeroAt0K', 'ZeroAt25C', 'UserDefined');\n";
/* a = 1/T^2 .. T^4 in turn; R = 2, formation 7, from 0 K 3; from 100 K on cp is 5/2 R. */
#define MADE_UP                                                                                    \
    "'Modelica.Media.IdealGases.Common.DataRecord'(\"\", 1, 7, 3, 100, {1, 2, 3, 4, 5, 6, 7}, "    \
    "{11, "                                                                                        \
    "13}, {0, 0, 2.5, 0, 0, 0, 0}, {0, 1}, 2)"
/* nitrogen [MZG02] */
#define NITROGEN                                                                                   \
    "'Modelica.Media.IdealGases.Common.DataRecord'(\"N2\", 0.0280134, 0, 309498.4543111511, "      \
    "1000, "                                                                                       \
    "{22103.71497, -381.846182, 6.08273836, -0.00853091441, 1.384646189e-5, -9.62579362e-9, "      \
    "2.519705809e-12}, {710.846086, -10.76003744}, {587712.406, -2239.249073, 6.06694922, "        \
    "-6.1396855e-4, 1.491806679e-7, -1.923105485e-11, 1.061954386e-15}, {12832.10415, "            \
    "-15.86640027}, 296.80474344420884)"

static double gas_value(const char *expression)
{
    char text[2048];
    snprintf(text, sizeof text, "Real y = %s", expression);
    return value_of(CHOICES, text);
}
#define G(expression, expected, relative)                                                          \
    expect(gas_value(expression), expected, relative, __LINE__)

static void test_gases(void **state)
{
    (void)state;
    double l = log(2.0);
    G(GAS "cp_T'(" MADE_UP ", 2)", 2.0 * (0.25 + 1 + 3 + 8 + 20 + 48 + 112), 1e-14);
    G(GAS "cp_T'(" MADE_UP ", 200)", 5.0, 1e-14);
    G(GAS "h_T'(" MADE_UP ", 2)",
      2.0 * (11 - 0.5 + 2 * l + 6 + 8 + 40.0 / 3 + 24 + 7 * 32 / 5.0) - 7 + 3, 1e-14);
    G(GAS "h_T'(" MADE_UP ", 200, false, " REFERENCE ".'ZeroAt25C', 17)", 1000.0, 1e-14);
    G(GAS "h_T'(" MADE_UP ", 200, true, " REFERENCE ".'UserDefined', 17)", 1010.0, 1e-14);
    G(GAS "h_Tlow'(" MADE_UP ", 200) - " GAS "h_Tlow'(" MADE_UP ", 2)",
      2.0 * (0.495 + 2 * log(100.0) + 3 * 198 + 2 * 39996.0 + 5 / 3.0 * 7999992.0 +
             1.5 * 1599999984.0 + 1.4 * 319999999968.0),
      1e-13);
    G(GAS "s0_T'(" MADE_UP ", 2)", 2.0 * (13 - 0.125 - 1 + 3 * l + 8 + 10 + 16 + 28), 1e-14);
    /* JANAF: cp, s at 298.15 K and 1 bar, in J/(mol K) */
    G("0.0280134*" GAS "cp_T'(" NITROGEN ", 298.15)", 29.124, 1e-4);
    G("0.0280134*" GAS "s0_T'(" NITROGEN ", 298.15)", 191.609, 1e-5);
    G(GAS "h_T'(" NITROGEN ", 298.15)", 309498.4543111511, 1e-7);
    G("'any.T_h.f_nonlinear'(298.15, " NITROGEN ", 309498.4543111511 - 1000)", 1000.0, 1e-6);
    G("'any.T_ps.f_nonlinear'(200, " MADE_UP ", 202650, 1)",
      2.0 * (1.0 + 2.5 * log(200.0)) - 2.0 * l - 1.0, 1e-14);
}

/* SO2 at 300 degrees: 24.55e-6 Pa s by this method [PPO01, example 9-1], and mixtures of equals. */
static void test_transport_of_gases(void **state)
{
    (void)state;
    G(GAS "dynamicViscosityLowPressure'(573.15, 430.8, 0.064063, 122e-6, 0.257, 1.6)", 24.55e-6,
      2e-3);
    G(GAS "thermalConductivityEstimate'(5, 3, 1, " MADE_UP ")", 3.0 * (3 + 4.5), 1e-14);
    G(GAS "thermalConductivityEstimate'(5, 3, 2, " MADE_UP ")", 3.0 * (3 * 1.32 + 1.77 * 2), 1e-14);
    G("'any.gasMixtureViscosity'({0.3, 0.7}, {2, 2}, {5, 5})", 5.0, 1e-14);
    double f = sqrt(5.0 / 3.0) * pow(4.0, 0.25);
    double p12 = (1 + f) * (1 + f) / sqrt(8 * 1.25),
           p21 = (1 + 1 / f) * (1 + 1 / f) / sqrt(8 * 5.0);
    G("'any.gasMixtureViscosity'({0.3, 0.7}, {1, 4}, {5, 3})",
      0.3 * 5 / (0.3 + 0.7 * p12) + 0.7 * 3 / (0.3 * p21 + 0.7), 1e-14);
    double e1 = exp(0.0464) - exp(-0.2412), e2 = exp(0.0928) - exp(-0.4824);
    f = sqrt(e1 / e2 * pow(0.5 * 64.0 / 16.0, 1.0 / 6.0)) * pow(0.25, 0.25);
    p12 = (1 + f) * (1 + f) / sqrt(8 * 1.25);
    p21 = (1 + 1 / f) * (1 + 1 / f) / sqrt(8 * 5.0);
    G("'any.lowPressureThermalConductivity'({0.3, 0.7}, 100, {100, 50}, {1, 2}, {1, 4}, {5, 3})",
      0.3 * 5 / (0.3 + 0.7 * p12) + 0.7 * 3 / (0.3 * p21 + 0.7), 1e-13);
    G("'any.massToMoleFractions'({0.2, 0.8}, {2, 4})*{1, 10}", (0.1 + 2.0) / 0.3, 1e-14);
}

/* At the triple point, 100 degrees (0.101418 MPa [WP93]), and over ice at 230 K (8.947 Pa). */
static void test_water_in_air(void **state)
{
    (void)state;
    static const char *const liquid = "function 'any.sublimationPressureIce'\n  input Real u;\n"
                                      "  output Real y;\nalgorithm\n  y := u;\n"
                                      "end 'any.sublimationPressureIce';\n";
#define MOIST(expression, expected, relative)                                                      \
    expect(value_of(liquid, "Real y = " expression), expected, relative, __LINE__)
    MOIST("'any.saturationPressure'(273.16)", 611.657, 1e-6);
    MOIST("'any.saturationPressure'(373.15)", 101418.0, 1e-5);
    MOIST("'any.saturationPressure'(230)", 8.947, 1e-3);
    MOIST("'any.saturationTemperature.f_nonlinear'(273.16, 600)", 11.657, 1e-4);
    MOIST("'any.enthalpyOfWater'(283.15)", 42000.0, 1e-12);
    MOIST("'any.enthalpyOfWater'(263.15)", -353500.0, 1e-12);
    run r; /* without the function beside it, it is another package's */
    assert_int_equal(load(&r, "model M\n  Real y = 'any.saturationPressure'(300);\nend M;\n"),
                     DAE_ERR_MODEL);
}

/* ---- dry air ---- */

#define AIR "'Modelica.Media.Air.ReferenceAir.Air_Utilities."

/* The critical region's reference: p = 3.7850 MPa at 132.6312 K and 10.4477 mol/dm3, where the
 * equation was fitted to [LJPF00]; and the ideal gas with its second virial coefficient, -7.3e-6
 * m3/mol at 300 K. Each derivative against a difference of what it is one of. */
static void test_air(void **state)
{
    (void)state;
    double n = 101325.0 / (8.31451 * 300.0);
    Y(AIR "Inverses.dofpT'(0.101325e6, 300, 1e-3)", 0.0289586 * n * (1.0 + 7.3e-6 * n), 3e-5);
    Y("{1, 0, 0}*'air.properties'(0.0289586*10447.7, 132.6312)*{1, 0, 0}", 3.7850e6, 1e-3);
    static const char *const parts[6] = {"f",    "fdelta",  "fdeltadelta",
                                         "ftau", "ftautau", "fdeltatau"};
    static const int from[6] = {-1, 0, 1, 0, 3, 1}; /* what it is the derivative of */
    double unit[2] = {0.0289586 * 10447.7, 132.6312};
    for (int k = 1; k < 6; k++) {
        bool by_tau = k > 2;
        double e = 1e-5, value[3], delta = 0.8, tau = 0.6;
        for (int i = 0; i < 3; i++) {
            char text[400];
            double d = delta + (by_tau ? 0.0 : e * (i - 1)), t = tau + (by_tau ? e * (i - 1) : 0.0);
            snprintf(text, sizeof text,
                     "'Modelica.Media.Common.HelmholtzDerivs' f = " AIR
                     "Basic.Helmholtz'(%.17g, %.17g); Real y = f.%s",
                     d * unit[0], unit[1] / t, parts[i == 1 ? k : from[k]]);
            value[i] = value_of("", text);
        }
        expect(value[1], (value[2] - value[0]) / (2.0 * e), 1e-7, __LINE__);
    }
}

/* There and back: p and h, p and s of a density and a temperature. */
static void test_air_backwards(void **state)
{
    (void)state;
    static const char *const there =
        "function state\n  input Real d;\n  input Real T;\n  input Integer row;\n  output Real x;\n"
        "  output Real p;\nprotected\n  Real y[3, 3];\nalgorithm\n  y := 'air.properties'(d, T);\n"
        "  p := y[1, 1];\n  x := y[row, 1];\nend state;\n";
    expect(value_of(there, "Real x, p, d, T, y = d + 1000*T; equation (x, p) = state(2.5, 400, 2); "
                           "(d, T) = " AIR "Inverses.dTofph'(p, x, 1e-3, 1e-9)"),
           400002.5, 1e-12, __LINE__);
    expect(value_of(there, "Real x, p, d, T, y = d + 1000*T; equation (x, p) = state(60, 250, 3); "
                           "(d, T) = " AIR "Inverses.dTofps'(p, x, 1e-3, 1e-9)"),
           250060.0, 1e-12, __LINE__);
    /* h and s are those of an ideal gas in their slopes: cp = 1005 J/(kg K) at 300 K, 1 atm */
    expect(value_of(there,
                    "Real x, p, x2, p2, y = (x2 - x)/2; equation (x, p) = state(1.1807, 299, "
                    "2); (x2, p2) = state(1.17283, 301, 2)"),
           1006.6, 1e-3, __LINE__);
}

/* ---- Fourier ---- */

/* Amplitudes and phases of n samples of 4 + cos(2 pi 2 j/n + 0.3) + 2 cos(2 pi 3 j/n - 1), in sum
 * by powers of 10: a mean, two cosines, and nothing between. n/2 + 1 divides, not n/2. */
static void check_cosines(int n)
{
    char text[2048];
    int half = n / 2;
    snprintf(text, sizeof text,
             "Integer info; Real a[%d], p[%d], y;\nequation\n  (info, a, p) = "
             "'Modelica.Math.FastFourierTransform.Internal.rawRealFFT'({4 + cos(%.17g*2*j + 0.3) + "
             "2*cos(%.17g*3*j - 1) + 0*time for j in 0:%d});\n  y = a[1] + 100*a[2] + 10*a[3] + "
             "100*a[4] + 1000*p[3] + 10000*p[4] + 1e5*info",
             half + 1, half + 1, 2.0 * PI / n, 2.0 * PI / n, n - 1);
    double unit = (double)half / (half + 1);
    expect(value_of("", text), unit * (8.0 + 10.0 + 200.0) + 300.0 - 10000.0, 1e-11, __LINE__);
}

static void test_fourier(void **state)
{
    (void)state;
    check_cosines(8);
    check_cosines(12);
    check_cosines(30);
    check_cosines(22); /* a prime factor of 11 */
    expect(value_of("", "Integer info; Real a[2], p[2], y = info + sum(a) + sum(p);\nequation\n  "
                        "(info, a, p) = "
                        "'Modelica.Math.FastFourierTransform.Internal.rawRealFFT'({1, 2, time})"),
           1.0, 0.0, __LINE__);
}

/* ---- matrices, rotations ---- */

static void test_linear_equations(void **state)
{
    (void)state;
    /* a zero pivot, in constants and in the run */
    Y("sum('Modelica.Math.Matrices.solve'({{0, 2, 1}, {1, 0, 0}, {3, 1, 1}}, {7, 1, 8}).*{1, 10, "
      "100})",
      1.0 + 20.0 + 300.0, 1e-14);
    AT("sum('Modelica.Math.Matrices.solve'({{%s, 2, 1}, {1, 0, 0}, {3, 1, 1}}, {%s, 1, 8}).*{1, "
       "10, 100})",
       0.0, 7.0, 321.0, 1e-14);
    run r;
    prepare(&r, "model M\n  Real a = time, x[2] = 'Modelica.Math.Matrices.solve'({{a, 0}, {0, 1}}, "
                "{1, 1});\nend M;\n");
    assert_int_not_equal(start_at(&r, 0.0), DAE_OK);
    end(&r);
}

static void test_rotations(void **state)
{
    (void)state;
    AT(FRAMES "planarRotationAngle'({0.6, 0, 0.8}, {1, 2, 3}, " FRAMES
              "TransformationMatrices.resolve2'(" FRAMES
              "TransformationMatrices.planarRotation'({0.6, 0, 0.8}, %s), {1, 2, %s}))",
       -2.5, 3.0, -2.5, 1e-13);
    AT("sum(" FRAMES "TransformationMatrices.resolve1'(" FRAMES
       "TransformationMatrices.planarRotation'({0, 0, 1}, %s), {1, 0, 0}).*{1, 10, %s})",
       0.3, 1.0, cos(0.3) + 10.0 * sin(0.3), 1e-14);
}

/* ---- random numbers, in words of 64 bits ---- */

static double uniform(uint64_t x)
{
    return (double)(int64_t)x * ldexp(1.0, -64) + 0.5;
}

static uint64_t star64(uint64_t x)
{
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    return x * UINT64_C(2685821657736338717);
}

static uint64_t word(int32_t low, int32_t high)
{
    return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static int32_t half(uint64_t x, int k)
{
    uint32_t u = (uint32_t)(x >> 32 * k);
    return u < UINT32_C(0x80000000) ? (int32_t)u : -1 - (int32_t)(UINT32_MAX - u);
}

static uint64_t seeded(int32_t local, int32_t global)
{
    uint64_t x = word(local, global);
    for (int k = 0; k < 10; k++) x = star64(x);
    return x;
}

static void test_xorshift64star(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "model M\n  Integer a = -7 + integer(time), s[2], t[2], z[2];\n  Real u;\n"
                 "equation\n  s = " RANDOM "Generators.Xorshift64star.initialState'(a, 12345);\n"
                 "  (u, t) = " RANDOM "Generators.Xorshift64star.random'(s);\n"
                 "  z = " RANDOM "Generators.Xorshift64star.initialState'(0, 0);\nend M;\n"));
    uint64_t x = seeded(-7, 12345), next = star64(x), zero = seeded(126247697, 0);
    EXACTLY("s[1]", half(x, 0));
    EXACTLY("s[2]", half(x, 1));
    EXACTLY("t[1]", half(next, 0));
    EXACTLY("t[2]", half(next, 1));
    EXACTLY("u", uniform(next));
    EXACTLY("z[1]", half(zero, 0));
    EXACTLY("z[2]", half(zero, 1));
    end(&r);
}

static void test_xorshift128plus(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "model M\n  Integer a = 5 + integer(time), s[4], t[4];\n  Real u;\nequation\n"
                 "  s = " RANDOM "Generators.Xorshift128plus.initialState'(a, -9);\n"
                 "  (u, t) = " RANDOM "Generators.Xorshift128plus.random'(s);\nend M;\n"));
    uint64_t s1 = seeded(5, -9), s0 = star64(s1), kept = s0;
    s1 ^= s1 << 23;
    uint64_t sum = (s1 ^ s0 ^ s1 >> 17 ^ s0 >> 26) + s0;
    EXACTLY("t[1]", half(kept, 0));
    EXACTLY("t[2]", half(kept, 1));
    EXACTLY("t[3]", half(sum, 0));
    EXACTLY("t[4]", half(sum, 1));
    EXACTLY("u", uniform(sum));
    end(&r);
}

static void test_xorshift1024star(void **state)
{
    (void)state;
    uint64_t s[16], x = seeded(1, 2);
    for (int k = 0; k < 16; k++, x = star64(x)) s[k] = x;
    int p = half(x, 0) & 15, q = (p + 1) & 15;
    uint64_t s0 = s[p], s1 = s[q];
    s1 ^= s1 << 31;
    s1 ^= s1 >> 11;
    s0 ^= s0 >> 30;
    uint64_t next = s0 ^ s1;
    char text[1024], changed[16];
    snprintf(text, sizeof text,
             "model M\n  Integer a = 1 + integer(time), t[33], c[2], k;\n  Real u;\nequation\n"
             "  (u, t) = " RANDOM "Generators.Xorshift1024star.random'(" RANDOM
             "Generators.Xorshift1024star.initialState'(a, 2));\n  c = t[%d:%d];\n  k = t[33];\n"
             "end M;\n",
             2 * q + 1, 2 * q + 2);
    run r;
    OK(begin(&r, text));
    EXACTLY("u", uniform(next * UINT64_C(1181783497276652981)));
    EXACTLY("c[1]", half(next, 0));
    EXACTLY("c[2]", half(next, 1));
    EXACTLY("k", q);
    snprintf(changed, sizeof changed, "t[%d]", 2 * p + 1);
    EXACTLY(changed, half(s[p], 0));
    end(&r);
}

static void test_normal_distribution(void **state)
{
    (void)state;
    for (double x = -4.5; x < 5.0; x += 0.75)
        AT("'Modelica.Math.Special.erf'(%s) + 0*%s", x, 0.0, erf(x), 4e-15);
    for (double x = 0.125; x < 4.0; x += 0.6)
        AT("'Modelica.Math.Special.Internal.erfInvUtil'(%s, %s)", erf(x), erfc(x), x, 1e-13);
    AT("'Modelica.Math.Special.Internal.erfInvUtil'(%s, %s)", 1.0, erfc(6.0), 6.0, 1e-13);
    for (double u = 0.03; u < 1.0; u += 0.19)
        AT("'Modelica.Math.Distributions.Normal.cumulative'('Modelica.Math.Distributions.Normal."
           "quantile'(%s, 2, %s), 2, 3)",
           u, 3.0, u, 1e-13);
}

/* ---- Fluid ---- */

static void test_cubics_at_zero(void **state)
{
    (void)state;
    /* y = 2*x - 3*x^2 + x^3 is the cubic of its own data */
    AT(FLUID "evaluatePoly3_derivativeAtZero'(%s, -2, -24, %s, 2)", -0.7, 26.0, -1.4 - 1.47 - 0.343,
       1e-13);
    double h = 1e-6;
    const char *root = FLUID "regRoot2'(%s, 0.5, 4, 1, true, %s)";
    AT(root, 0.5, 3.0, sqrt(2.0), 1e-14);
    AT(root, -2.0, 3.0, -sqrt(2.0), 1e-14);
    AT(root, -0.13, 3.0, -sqrt(0.13), 1e-14); /* x2 = -0.125 */
    expect((at2(root, h, 3.0) - at2(root, -h, 3.0)) / (2.0 * h), 3.0, 1e-5, __LINE__);
    /* the bound of the slope, 0.9*sqrt(8.75*k/x) */
    expect((at2(root, h, 99.0) - at2(root, -h, 99.0)) / (2.0 * h), 0.9 * sqrt(8.75 * 8.0), 1e-5,
           __LINE__);
    AT(FLUID "regRoot2'(%s, 0.5, 1, 4, true, %s)", 0.13, 3.0, sqrt(0.13), 1e-14);
    const char *square = FLUID "regSquare2'(%s, 0.5, 4, 1, true, %s)";
    AT(square, 0.5, 0.7, 1.0, 1e-14);
    AT(square, -2.0, 0.7, -4.0, 1e-14);
    expect((at2(square, h, 0.7) - at2(square, -h, 0.7)) / (2.0 * h), 0.7, 1e-5, __LINE__);
    expect((at2(square, h, 99.0) - at2(square, -h, 99.0)) / (2.0 * h), 0.45 * sqrt(5.0), 1e-5,
           __LINE__);
}

/* Without a given slope both cubics have one second derivative at zero. */
static void test_smooth_at_zero(void **state)
{
    (void)state;
    double h = 1e-3, y[7];
    const char *square = FLUID "regSquare2'(%s, 0.5, 4, %s)";
    for (int k = 0; k < 7; k++) y[k] = at2(square, (k - 3) * h, 3.5);
    double right = (2.0 * y[3] - 5.0 * y[4] + 4.0 * y[5] - y[6]) / (h * h);
    double left = (2.0 * y[3] - 5.0 * y[2] + 4.0 * y[1] - y[0]) / (h * h);
    expect(right, left, 1e-6, __LINE__);
    y[0] = at2(FLUID "regRoot2'(%s, 0.5, 4, %s)", h, 3.0);
    y[1] = at2(FLUID "regRoot2'(%s, 0.5, 4, %s)", -h, 3.0);
    y[2] = at2(FLUID "regRoot2'(%s, 0.5, 4, %s)", 2 * h, 3.0);
    y[3] = at2(FLUID "regRoot2'(%s, 0.5, 4, %s)", -2 * h, 3.0);
    /* the two cubics of a root are images of each other: the second derivatives are zero */
    expect((y[2] + y[3]) / (y[0] + y[1]), 8.0, 1e-6, __LINE__);
}

#define REGFUN FLUID "regFun3'(%s, 0, 1, 0, 1, %s, "

static void test_monotone_interpolant(void **state)
{
    (void)state;
    /* a gentle cubic: y = t*(y0d + t*(c2 + t*c3)) */
    AT(REGFUN "1.2)", 0.3, 0.9, 0.3 * (0.9 + 0.3 * (0.0 + 0.3 * 0.1)), 1e-14);
    /* a flat pair of points */
    Y(FLUID "regFun3'(0.4, 0, 1, 2, 2, 1, 1)", 2.0, 1e-15);
    /* steep ends: increasing, with the given slopes, and a line in the middle */
    double last = -1.0, h = 1e-6;
    for (double x = 0.0; x <= 1.0; x += 0.0625) {
        double y = at2(REGFUN "5)", x, 9.0);
        assert_true(y > last);
        last = y;
    }
    AT(REGFUN "5)", 0.0, 9.0, 0.0, 1e-14);
    AT(REGFUN "5)", 1.0, 9.0, 1.0, 1e-14);
    expect(at2(REGFUN "5)", h, 9.0) / h, 9.0, 1e-3, __LINE__);
    expect((1.0 - at2(REGFUN "5)", 1.0 - h, 9.0)) / h, 5.0, 1e-3, __LINE__);
    double c =
        value_of("", "Real y, z;\nequation\n  (z, y) = " FLUID "regFun3'(0.5, 0, 1, 0, 1, 9, 5)");
    expect((at2(REGFUN "5)", 0.5 + h, 9.0) - at2(REGFUN "5)", 0.5 - h, 9.0)) / (2.0 * h), c, 1e-6,
           __LINE__);
    run r;
    prepare(&r, "model M\n  Real y = " FLUID "regFun3'(time, 1, 0, 0, 1, 1, 1);\nend M;\n");
    assert_int_not_equal(start_at(&r, 0.0), DAE_OK);
    assert_non_null(strstr(diag_of(&r)->text, "x0 < x1"));
    end(&r);
}

/* ---- friction in pipes: length 10, diameter 0.1, water and something thicker ---- */

#define PIPE ", 1000, 800, 1e-3, 2e-3, 10, 0.1, 0.008, 700, 4000, %s)"
/* The package is known by another function of it. */
#define DETAILED "/* 'x.WallFriction.pressureLoss_m_flow.interpolateInRegion2' */ "
#define FLOW DETAILED "'x.WallFriction.Internal.m_flow_of_dp_fric'(%s" PIPE
#define LOSS DETAILED "'x.WallFriction.Internal.dp_fric_of_m_flow'(%s" PIPE

static const char *second_of(const char *call)
{
    static char text[1024];
    snprintf(text, sizeof text, "Real x = time, z, y;\nequation\n  (z, y) = %s", call);
    return text;
}

static void expect_slope(const char *call, double at, int line)
{
    char both[512], names[512];
    double h = 1e-5 * fabs(at);
    snprintf(both, sizeof both, call, "%.17g + 0*x", "1e-3");
    snprintf(names, sizeof names, both, at);
    expect(value_of("", second_of(names)),
           (at2(call, at + h, 1e-3) - at2(call, at - h, 1e-3)) / (2.0 * h), 1e-6, line);
}

/* Other laws of friction have functions of the same name: without a sign none is taken. */
static void test_friction_of_another_package(void **state)
{
    (void)state;
    run r;
    assert_int_equal(
        load(&r,
             "model M\n  Real y = /* 'z.WallFriction.pressureLoss_m_flow.interpolateInRegion2' */\n"
             "    'x.WallFriction.Internal.m_flow_of_dp_fric'(1, 1000, 800, 1e-3, 2e-3, 10, 0.1, "
             "0.008, 700, "
             "4000, 1e-3);\nend M;\n"),
        DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, "unknown function"));
}

static void test_friction(void **state)
{
    (void)state;
    double factor = 2.0 * 1e-3 * 1000.0 / (10.0 * 1e-6), area = 0.008 * 1e-3 / 0.1;
    AT(FLOW, 0.1, 1e-3, area * 0.1 * factor / 64.0, 1e-13);
    AT(LOSS, area * 500.0, 1e-3, 64.0 * 500.0 / factor, 1e-13);
    /* Colebrook and White; Swamee and Jain */
    double lambda2 = 1e3 * factor;
    AT(FLOW, 1e3, 1e-3, -2.0 * area * sqrt(lambda2) * log10(2.51 / sqrt(lambda2) + 0.27e-3), 1e-13);
    AT(LOSS, area * 1e5, 1e-3,
       0.25 * pow(1e5 / log10(1e-3 / 3.7 + 5.74 / pow(1e5, 0.9)), 2.0) / factor, 1e-13);
    /* the other way, with the other fluid */
    AT(FLOW, -0.1, 1e-3, -0.008 * 2e-3 / 0.1 * 0.1 * (2e-3 * 800.0 / (10.0 * 4e-6)) / 64.0, 1e-13);
    /* between them without jumps, and derivatives of all pieces */
    AT(LOSS, area * 700.0 * (1.0 + 1e-9), 1e-3, 64.0 * 700.0 / factor, 1e-7);
    double end_lambda2 = 0.25 * pow(4000.0 / log10(1e-3 / 3.7 + 5.74 / pow(4000.0, 0.9)), 2.0);
    AT(LOSS, area * 4000.0 * (1.0 - 1e-9), 1e-3, end_lambda2 / factor, 1e-7);
    AT("'x.WallFriction.pressureLoss_m_flow.interpolateInRegion2'(%s, 700, 4000, %s)", 2000.0, 1e-3,
       factor * at2(LOSS, area * 2000.0, 1e-3), 1e-12);
    static const double losses[] = {0.1, -0.1, 1.0, -1.0, 1e3, -1e3};
    static const double flows[] = {0.03, -0.03, 0.15, -0.3, 5.0, -9.0};
    for (int k = 0; k < 6; k++) {
        expect_slope(FLOW, losses[k], __LINE__);
        expect_slope(LOSS, flows[k], __LINE__);
    }
}

/* ---- water: the check values of the release ---- */

static void test_water_regions(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        double p, T, v, h;
    } cases[] = {
        {"g1", 3e6, 300, 0.100215168e-2, 0.115331273e6},
        {"g1", 80e6, 300, 0.971180894e-3, 0.184142828e6},
        {"g1", 3e6, 500, 0.120241800e-2, 0.975542239e6},
        {"g2", 0.0035e6, 300, 0.394913866e2, 0.254991145e7},
        {"g2", 0.0035e6, 700, 0.923015898e2, 0.333568375e7},
        {"g2", 30e6, 700, 0.542946619e-2, 0.263149474e7},
        {"g5", 0.5e6, 1500, 0.138455354e1, 0.521976332e7},
        {"g5", 8e6, 1500, 0.865156616e-1, 0.520609634e7},
        {"g5", 8e6, 2000, 0.115743146e0, 0.658380291e7},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[512];
        snprintf(text, sizeof text, "'water.enthalpy'(" BASE "Basic.%s'(%%s, %%s))",
                 cases[k].function);
        AT(text, cases[k].p, cases[k].T, cases[k].h, 1e-8);
        snprintf(text, sizeof text, "1/'water.density'(" BASE "Basic.%s'(%%s, %%s))",
                 cases[k].function);
        AT(text, cases[k].p, cases[k].T, cases[k].v, 1e-8);
    }
    const char *pressure = "461.526*%1$s*%2$s*(%1$s/322)*" BASE "Basic.f3'(%1$s, %2$s).fdelta";
    AT(pressure, 500, 650, 0.255837018e8, 1e-8);
    AT(pressure, 200, 650, 0.222930643e8, 1e-8);
    AT(pressure, 500, 750, 0.783095639e8, 1e-8);
}

/* Other properties of the same points: entropy and heat capacities, through the boundary records.
 */
static void test_water_derivatives(void **state)
{
    (void)state;
#define AS_LIQUID MEDIA "gibbsToBoundaryProps'(" BASE "Basic.g1'(%1$s, %2$s))"
#define AS_STEAM MEDIA "gibbsToBoundaryProps'(" BASE "Basic.g2'(%1$s, %2$s))"
#define AS_DENSE MEDIA "helmholtzToBoundaryProps'(" BASE "Basic.f3'(%s, %s))"
    AT(AS_LIQUID ".s", 3e6, 300, 0.392294792e3, 1e-8);
    AT(AS_LIQUID ".u", 3e6, 300, 0.112324818e6, 1e-8);
    AT(AS_LIQUID ".cp", 3e6, 300, 0.417301218e4, 1e-8);
    AT(AS_STEAM ".s", 30e6, 700, 0.517540298e4, 1e-8);
    AT(AS_STEAM ".u", 30e6, 700, 0.246861076e7, 1e-8);
    AT(AS_STEAM ".cp", 30e6, 700, 0.103505092e5, 1e-8);
    AT(AS_DENSE ".h", 500, 650, 0.186343019e7, 1e-8);
    AT(AS_DENSE ".s", 500, 650, 0.405427273e4, 1e-8);
    AT(AS_DENSE ".u", 500, 650, 0.181226279e7, 1e-8);
    AT(AS_DENSE ".cp", 500, 650, 0.138935717e5, 1e-8);
    /* cv = cp - T*(dp/dT)^2/(d^2*dp/dd) */
    AT("(" AS_LIQUID ".cp - " AS_LIQUID ".cv)", 3e6, 300,
       300.0 * pow(at2(AS_LIQUID ".pt", 3e6, 300), 2.0) /
           (pow(at2(AS_LIQUID ".d", 3e6, 300), 2.0) * at2(AS_LIQUID ".pd", 3e6, 300)),
       1e-9);
}

static void test_water_saturation(void **state)
{
    (void)state;
    AT(BASE "Basic.psat'(%s) + 0*%s", 300, 0, 0.353658941e4, 1e-8);
    AT(BASE "Basic.psat'(%s) + 0*%s", 600, 0, 0.123443146e8, 1e-8);
    AT(BASE "Basic.tsat'(%s) + 0*%s", 0.1e6, 0, 372.755919, 1e-8);
    AT(BASE "Basic.tsat'(%s) + 0*%s", 10e6, 0, 584.149488, 1e-8);
    double h = 1e-3, slope = at2(BASE "Basic.psat'(%s + %s)", 450, h);
    slope = (slope - at2(BASE "Basic.psat'(%s + %s)", 450, -h)) / (2.0 * h);
    AT(BASE "Basic.dptofT'(%s) + 0*%s", 450, 0, slope, 1e-7);
    AT(BASE "Basic.dtsatofp'(" BASE "Basic.psat'(%s)) + 0*%s", 450, 0, 1.0 / slope, 1e-7);
    /* both branches of the boundary agree at 623.15 K up to the accuracy of the polynomials */
    double p = at2(BASE "Basic.psat'(%s) + 0*%s", 623.15, 0);
    AT(IF97 "hl_p'(%s) + 0*%s", p * (1 + 1e-9), 0, at2(IF97 "hl_p'(%s) + 0*%s", p * 0.999999, 0),
       1e-4);
    AT(IF97 "hv_p'(%s) + 0*%s", p * (1 + 1e-9), 0, at2(IF97 "hv_p'(%s) + 0*%s", p * 0.999999, 0),
       1e-4);
    AT(IF97 "rhol_T'(%s) + 0*%s", 623.2, 0, at2(IF97 "rhol_T'(%s) + 0*%s", 623.1, 0), 3e-3);
    AT(IF97 "rhov_T'(%s) + 0*%s", 623.2, 0, at2(IF97 "rhov_T'(%s) + 0*%s", 623.1, 0), 3e-3);
}

static void test_water_backwards(void **state)
{
    (void)state;
    static const struct {
        double p, h, T;
    } steam[] = {{0.001, 3000, 534.433241}, {3, 3000, 575.373370},  {3, 4000, 1010.77577},
                 {5, 3500, 801.299102},     {5, 4000, 1015.31583},  {25, 3500, 875.279054},
                 {40, 2700, 743.056411},    {60, 2700, 791.137067}, {60, 3200, 882.756860}};
    for (size_t k = 0; k < sizeof steam / sizeof *steam; k++)
        AT(BASE "Basic.tph2'(%s, %s)", steam[k].p * 1e6, steam[k].h * 1e3, steam[k].T, 1e-8);
    AT(BASE "Basic.tph1'(%s, %s)", 3e6, 500e3, 391.798509, 1e-8);
    AT(BASE "Basic.tph1'(%s, %s)", 80e6, 500e3, 378.108626, 1e-8);
    AT(BASE "Basic.tph1'(%s, %s)", 80e6, 1500e3, 611.041229, 1e-8);
    AT(BASE "Inverses.tofph5'(%s, %s, 1e-7)", 8e6, 0.658380291e7, 2000, 1e-8);
    /* region 3, from the pressures and enthalpies of its points */
    AT(BASE "Inverses.dtofph3'(%s, %s, 1e-7, 1e-6)", 0.255837018e8, 0.186343019e7, 500, 1e-7);
    AT(BASE "Inverses.dtofph3'(%s, %s, 1e-7, 1e-6)", 0.783095639e8, 0.225868845e7, 500, 1e-7);
    AT(BASE "Inverses.dofpt3'(%s, %s, 1e-7)", 0.255837018e8, 650, 500, 1e-7);
    AT(BASE "Inverses.dofpt3'(%s, %s, 1e-7)", 0.783095639e8, 750, 500, 1e-7);
}

/* An iteration that does not come to its end is no result: h of steam asked for in region 5, h of
 * another region in region 3. */
static void test_water_that_is_not_found(void **state)
{
    (void)state;
    static const char *const calls[] = {BASE "Inverses.tofph5'(8e6 + time, 3e6, 1e-7)",
                                        BASE "Inverses.dtofph3'(25e6 + time, 3.6e6, 1e-7, 1e-6)"};
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        char text[400];
        run r;
        snprintf(text, sizeof text, "model M\n  Real y = %s;\nend M;\n", calls[k]);
        prepare(&r, text);
        assert_int_not_equal(start_at(&r, 0.0), DAE_OK);
        assert_non_null(strstr(diag_of(&r)->text, "of IF97 is found"));
        end(&r);
    }
}

static void test_regions_of_water(void **state)
{
    (void)state;
    static const struct {
        double p, h;
        int region;
    } cases[] = {{3e6, 115e3, 1},   {1e5, 2e6, 4},      {1e5, 1e6, 4},    {1e5, 2.8e6, 2},
                 {12e6, 3e6, 2},    {1e6, 5.2e6, 5},    {25e6, 1.9e6, 3}, {25e6, 2.3e6, 3},
                 {20e6, 1.5e6, 1},  {20e6, 1.75e6, 3},  {20e6, 2.2e6, 4}, {20e6, 1.9e6, 4},
                 {20e6, 2.45e6, 3}, {20e6, 3e6, 2},     {20e6, 5e6, -1},  {1e5, 8e6, -1},
                 {1e5, -1e5, -1},   {101e6, 1.5e6, -1}, {500, 1e5, -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        AT(BASE "Regions.region_ph'(%s, %s)", cases[k].p, cases[k].h, cases[k].region, 0.0);
    AT(BASE "Regions.region_ph'(%s, %s, 1)", 1e5, 2e6, 1, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 1e5, 300, 1, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 1e5, 400, 2, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 1e5, 1500, 5, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 20e6, 600, 1, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 20e6, 630, 3, 0.0);
    AT(BASE "Regions.region_pT'(%s, %s)", 20e6, 700, 2, 0.0);
}

#define TWO_PHASES                                                                                 \
    "function u_of\n  input Real T;\n  input Real v;\n  output Real u;\n  output Real cv;\n"       \
    "protected\n  Real p = " BASE "Basic.psat'(T);\n  " MEDIA                                      \
    "PhaseBoundaryProperties' l;\n  " MEDIA "PhaseBoundaryProperties' g;\n  Real x;\nalgorithm\n"  \
    "  l := " MEDIA "gibbsToBoundaryProps'(" BASE "Basic.g1'(p, T));\n"                            \
    "  g := " MEDIA "gibbsToBoundaryProps'(" BASE "Basic.g2'(p, T));\n"                            \
    "  x := (v - 1/l.d)/(1/g.d - 1/l.d);\n  u := l.u + x*(g.u - l.u);\n"                           \
    "  cv := " MEDIA "cv2Phase'(l, g, x, T, p);\nend u_of;\n"

static void test_water_of_two_phases(void **state)
{
    (void)state;
    double slope = value_of(TWO_PHASES, "Real y = u_of(450.01, 0.05)") -
                   value_of(TWO_PHASES, "Real y = u_of(449.99, 0.05)");
    double cv = value_of(TWO_PHASES, "Real u, y;\nequation\n  (u, y) = u_of(450, 0.05)");
    expect(cv, slope / 0.02, 1e-3, __LINE__);
    /* values of the formulation of 2008, which differs by less than the uncertainty */
    AT(BASE "Transport.visc_dTp'(%s, %s, 1e5)", 998, 298.15, 889.735100e-6, 1e-3);
    AT(BASE "Transport.visc_dTp'(%s, %s, 1e5)", 1000, 373.15, 307.883622e-6, 5e-3);
    AT(BASE "Transport.visc_dTp'(%s, %s, 1e5)", 1, 433.15, 14.538324e-6, 5e-3);
    AT(BASE "Transport.visc_dTp'(%s, %s, 1e5)", 100, 873.15, 35.802262e-6, 1e-2);
    AT(BASE "Transport.visc_dTp'(%s, %s, 1e5)", 600, 873.15, 77.430195e-6, 1e-2);
}

/* ---- semiconductors ---- */

static void test_junctions(void **state)
{
    (void)state;
    double vt = 1.380649e-23 / 1.6021918e-19 * 300.0;
#define JUNCTION2 SPICE "Functions.junction2'(%s, 300, %s, 1e-14)"
#define JUNCTION3 SPICE "Functions.junction3'(%s, 300, %s, 1e-14, 6)"
#define MOSFET SPICE "Functions.junction2SPICE3MOSFETRevised'(%s, 300, %s, 1e-14)"
    AT(JUNCTION2, 0.5, 1.0, 1e-14 * expm1(0.5 / vt) + 0.5e-12, 1e-12);
    AT(JUNCTION2, -1.0, 1.0, -1e-14 * (1.0 + pow(-3.0 * vt / exp(1.0), 3.0)) - 1e-12, 1e-12);
    AT(JUNCTION3, 0.5, 1.0, 1e-14 * expm1(0.5 / vt) + 0.5e-12, 1e-12);
    AT(JUNCTION3, -6.5, 1.0, -1e-14 * exp(0.5 / vt) - 6.5e-12, 1e-12);
    AT(MOSFET, 0.5, 1.0, 1e-14 * expm1(0.5 / vt), 1e-12);
    AT(MOSFET, -0.5, 1.0, -0.5e-14 / vt, 1e-12);
    /* the line from 1e4 A on */
    double most = log(1e18), v = 2.0;
    double line = 1e4 - 1e-14 + 1e4 / vt * (v - most * vt);
    AT(JUNCTION2, v, 1.0, line, 1e-9);
    AT(JUNCTION3, v, 1.0, line, 1e-9);
    AT(MOSFET, v, 1.0, line, 1e-9);
    AT(JUNCTION3, -8.0, 1.0, -line, 1e-9);
    AT(SPICE "Functions.junction2'(%s, 300, %s, 0)", 0.5, 1.0, 0.0, 0.0);
}

static void test_conductances(void **state)
{
    (void)state;
    static const double at[] = {0.6, 0.1, -0.5, 1.2, -6.6};
    static const char *const calls[] = {SPICE "Functions.junction2'(%s, 300, 1, 1e-14 + 0*%s)",
                                        SPICE "Functions.junction3'(%s, 300, 1, 1e-14 + 0*%s, 6)"};
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++) {
            char call[256], all[256];
            double h = 1e-6;
            snprintf(all, sizeof all, calls[i], "%.17g + 0*x", "1");
            snprintf(call, sizeof call, all, at[k]);
            expect(value_of("", second_of(call)),
                   (at2(calls[i], at[k] + h, 1) - at2(calls[i], at[k] - h, 1)) / (2.0 * h), 1e-4,
                   __LINE__);
        }
    /* bipolar: the second pair is the leakage */
    double vt = 1.380649e-23 / 1.6021918e-19 * 300.0;
    const char *bipolar = "Real a, b, c, d, y;\nequation\n  (a, b, c, d) = " SPICE
                          "Functions.junction2SPICE3BJT'(%s, 300, 1, 2, 1e-14, 1e-12);\n"
                          "  y = a + 10*b + 100*c + 1000*d";
    char text[512];
    snprintf(text, sizeof text, bipolar, "0.4 + 0*time");
    double e = exp(0.4 / vt), e2 = exp(0.2 / vt);
    expect(value_of("", text),
           1e-14 * (e - 1) + 0.4e-12 + 10 * (1e-14 * e / vt + 1e-12) + 100 * 1e-12 * (e2 - 1) +
               1000 * 1e-12 * e2 / (2 * vt),
           1e-11, __LINE__);
    snprintf(text, sizeof text, bipolar, "-2 + 0*time");
    expect(value_of("", text), -1e-14 - 2e-12 + 10 * (0.5e-14 + 1e-12) - 1e-10 + 0.5e-9, 1e-11,
           __LINE__);
}

static void test_charges(void **state)
{
    (void)state;
    /* C = C0*(1 - v/phi)^(-m), Q its integral from zero; f1, f2, f3 continue both at 0.4 */
    double phi = 0.8, m = 0.3, f2 = pow(0.5, 1.3), f3 = 1.0 - 0.5 * 1.3;
    double f1 = phi * (1.0 - pow(0.5, 0.7)) / 0.7, h = 1e-6;
    char call[512];
    snprintf(call, sizeof call,
             "Real x, y;\nequation\n  (x, y) = " SPICE "Functions.junctionCapTransTime'(2, -1 + "
             "0*time, 0.4, 0.3, 0.8, %.17g, %.17g, %.17g, 0.5, 3, 7)",
             f1, f2, f3);
    expect(value_of("", call), 2.0 * phi * (1.0 - pow(1.0 + 1.0 / phi, 1.0 - m)) / (1.0 - m) + 3.5,
           1e-13, __LINE__);
    snprintf(call, sizeof call,
             SPICE "Functions.junctionCapRevised'(2, %%s, 0.4, 0.3, %%s, %.17g, %.17g, %.17g)", f1,
             f2, f3);
    AT(call, -1.0, phi, 2.0 * pow(1.0 + 1.0 / phi, -m), 1e-13);
    AT(call, 0.4 + h, phi, at2(call, 0.4 - h, phi), 1e-5);
    AT(call, 0.4 + 0.01, phi, 2.0 * (pow(0.5, -m) + 0.01 * m / phi * pow(0.5, -m - 1.0)), 1e-13);
    snprintf(call, sizeof call,
             SPICE "Functions.junctionCapRevised'(2, %%s, 0.4, 0.5, %%s, %.17g, %.17g, %.17g)", f1,
             f2, f3);
    AT(call, -1.0, phi, 2.0 / sqrt(1.0 + 1.0 / phi), 1e-13);
}

/* ---- transistors: records as an export has them, as far as they are used ---- */

#define CHANNELS                                                                                   \
    "record " SPICE "Mos1.Mos1Calc'\n  Real m_tPhi, m_tVbi, m_Beta, m_von, m_vdsat, m_capOx, "     \
    "m_cdrain, m_gm, m_gds, m_gmbs;\nend " SPICE "Mos1.Mos1Calc';\n"                               \
    "record " SPICE "Mos1.Mos1ModelLineParams'\n  Real m_lambda;\nend " SPICE                      \
    "Mos1.Mos1ModelLineParams';\n"                                                                 \
    "record " SPICE "SpiceConstants'\n  Real unused;\nend " SPICE "SpiceConstants';\n"             \
    "record " SPICE "Mos.MosModelLineVariables'\n  Real m_gamma;\nend " SPICE                      \
    "Mos.MosModelLineVariables';\n"                                                                \
    "record " SPICE                                                                                \
    "Mos.DEVqmeyer'\n  Real qm_capgs, qm_capgd, qm_capgb, qm_qgs, qm_qgd, qm_qgb, "                \
    "qm_vgs, qm_vgd, qm_vgb;\nend " SPICE "Mos.DEVqmeyer';\n"                                      \
    "function mos\n  input Real vb;\n  input Real vg;\n  input Real vds;\n  output Real y[6];\n"   \
    "protected\n  " SPICE "Mos1.Mos1Calc' c;\nalgorithm\n"                                         \
    "  c := " SPICE "Mos1.drainCur'(vb, vg, vds, " SPICE                                           \
    "Mos1.Mos1Calc'(0.6, 0.7, 2e-3, 0, 0, 0, 0, 0, 0, 0), " SPICE                                  \
    "Mos1.Mos1ModelLineParams'(0.02), " SPICE "SpiceConstants'(0), " SPICE                         \
    "Mos.MosModelLineVariables'(0.4), 1);\n"                                                       \
    "  y := {c.m_cdrain, c.m_gm, c.m_gds, c.m_gmbs, c.m_von, c.m_vdsat};\nend mos;\n"              \
    "function meyer\n  input Real von;\n  input Real vdsat;\n  output Real y;\nprotected\n "       \
    " " SPICE "Mos.DEVqmeyer' q;\nalgorithm\n  q := " SPICE                                        \
    "Mos.mosCalcDEVqmeyer'(2, 1, 0, " SPICE                                                        \
    "Mos1.Mos1Calc'(0.6, 0, 0, von, vdsat, 3, 0, 0, 0, 0));\n"                                     \
    "  y := q.qm_capgs + 10*q.qm_capgd + 100*q.qm_capgb;\nend meyer;\n"

static double channel(const char *arguments, int k)
{
    char text[256];
    snprintf(text, sizeof text, "Real z[6] = mos(%s), y = z[%d]", arguments, k);
    return value_of(CHANNELS, text);
}

static void test_field_effect(void **state)
{
    (void)state;
    double root = sqrt(1.1), von = 0.7 + 0.4 * root, over = 3.0 - von;
    double sat = 2e-3 * (1.0 + 0.02 * 4.0), lin = 2e-3 * (1.0 + 0.02 * 0.5);
    expect(channel("-0.5, 3, 4", 5), von, 1e-14, __LINE__);
    expect(channel("-0.5, 3, 4", 6), over, 1e-14, __LINE__);
    expect(channel("-0.5, 3, 4", 1), sat * over * over / 2.0, 1e-13, __LINE__);
    expect(channel("-0.5, 3, 4", 2), sat * over, 1e-13, __LINE__);
    expect(channel("-0.5, 3, 4", 3), 0.02 * 2e-3 * over * over / 2.0, 1e-13, __LINE__);
    expect(channel("-0.5, 3, 4", 4), sat * over * 0.4 / (2.0 * root), 1e-13, __LINE__);
    expect(channel("-0.5, 3, 0.5", 1), lin * 0.5 * (over - 0.25), 1e-13, __LINE__);
    expect(channel("-0.5, 3, 0.5", 2), lin * 0.5, 1e-13, __LINE__);
    expect(channel("-0.5, 3, 0.5", 3),
           (channel("-0.5, 3, 0.500001", 1) - channel("-0.5, 3, 0.499999", 1)) / 2e-6, 1e-7,
           __LINE__);
    expect(channel("-0.5, 0.5, 1", 1), 0.0, 0.0, __LINE__);
    expect(channel("0.3, 3, 4", 5), 0.7 + 0.4 * (sqrt(0.6) - 0.15 / sqrt(0.6)), 1e-14, __LINE__);
    /* capacities: accumulation, depletion, weak inversion, saturation, linear */
    expect(value_of(CHANNELS, "Real y = meyer(3, 0)"), 150.0, 1e-13, __LINE__);
    expect(value_of(CHANNELS, "Real y = meyer(2.4, 0)"), 100.0, 1e-13, __LINE__);
    expect(value_of(CHANNELS, "Real y = meyer(2.15, 0)"), 100.0 * 0.375 + 0.5, 1e-12, __LINE__);
    expect(value_of(CHANNELS, "Real y = meyer(1, 0.5)"), 1.0, 1e-13, __LINE__);
    expect(value_of(CHANNELS, "Real y = meyer(0.5, 1.5)"),
           1.0 - 1.0 / 16.0 + 10.0 * (1.0 - 9.0 / 16.0), 1e-13, __LINE__);
}

#define JFETS                                                                                      \
    "record " SPICE "Fet.Fet'\n  Real m_cdrain, m_gm, m_gds, m_tCGS, m_tCGD, m_corDepCap, "        \
    "m_tGatePot, m_f1, m_f2, m_f3;\nend " SPICE "Fet.Fet';\n"                                      \
    "record " SPICE "Jfet.JfetModelLine'\n  Real m_threshold, m_beta, m_lModulation, m_b, m_bFac;" \
    "\nend " SPICE "Jfet.JfetModelLine';\n"                                                        \
    "function jfet\n  input Real vgs;\n  input Real vds;\n  output Real y[3];\nprotected\n "       \
    " " SPICE "Fet.Fet' f;\nalgorithm\n  f := " SPICE "Jfet.drainCur'(vds, vgs, vgs - vds, " SPICE \
    "Fet.Fet'(0, 0, 0, 1, 1, 1, 1, 1, 1, 1), " SPICE                                               \
    "Jfet.JfetModelLine'(-2, 1e-3, 0.01, 0.8, 0.1));\n"                                            \
    "  y := {f.m_cdrain, f.m_gm, f.m_gds};\nend jfet;\n"

static double jfet(double vgs, double vds, int k)
{
    char text[256];
    snprintf(text, sizeof text, "Real z[3] = jfet(%.17g, %.17g), y = z[%d]", vgs, vds, k);
    return value_of(JFETS, text);
}

static void test_junction_field_effect(void **state)
{
    (void)state;
    expect(jfet(-0.5, 3.0, 1), 1e-3 * 1.03 * 2.25 * (0.8 + 0.15), 1e-13, __LINE__);
    expect(jfet(-3.0, 3.0, 1), 0.0, 0.0, __LINE__);
    /* no jump where it saturates, and the same with drain and source exchanged */
    expect(jfet(-0.5, 1.5 + 1e-9, 1), jfet(-0.5, 1.5 - 1e-9, 1), 1e-8, __LINE__);
    expect(jfet(-0.5 - 3.0, -3.0, 1), -jfet(-0.5, 3.0, 1), 1e-13, __LINE__);
    static const double v[][2] = {{-0.5, 3.0}, {-0.5, 0.7}, {-3.5, -3.0}, {-1.2, -0.7}};
    double h = 1e-6;
    for (int k = 0; k < 4; k++) {
        double gate = (jfet(v[k][0] + h, v[k][1], 1) - jfet(v[k][0] - h, v[k][1], 1)) / (2 * h);
        double drain = (jfet(v[k][0], v[k][1] + h, 1) - jfet(v[k][0], v[k][1] - h, 1)) / (2 * h);
        expect(jfet(v[k][0], v[k][1], 2), gate, 1e-6, __LINE__);
        expect(jfet(v[k][0], v[k][1], 3), drain, 1e-6, __LINE__);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_class_is_found_and_parses),
        cmocka_unit_test(test_error_stops_the_run),
        cmocka_unit_test(test_no_file_is_written),
        cmocka_unit_test(test_complex_and_phases),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_gases),
        cmocka_unit_test(test_transport_of_gases),
        cmocka_unit_test(test_water_in_air),
        cmocka_unit_test(test_air),
        cmocka_unit_test(test_air_backwards),
        cmocka_unit_test(test_fourier),
        cmocka_unit_test(test_linear_equations),
        cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_xorshift64star),
        cmocka_unit_test(test_xorshift128plus),
        cmocka_unit_test(test_xorshift1024star),
        cmocka_unit_test(test_normal_distribution),
        cmocka_unit_test(test_cubics_at_zero),
        cmocka_unit_test(test_smooth_at_zero),
        cmocka_unit_test(test_monotone_interpolant),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_friction_of_another_package),
        cmocka_unit_test(test_water_regions),
        cmocka_unit_test(test_water_derivatives),
        cmocka_unit_test(test_water_saturation),
        cmocka_unit_test(test_water_backwards),
        cmocka_unit_test(test_water_that_is_not_found),
        cmocka_unit_test(test_regions_of_water),
        cmocka_unit_test(test_water_of_two_phases),
        cmocka_unit_test(test_junctions),
        cmocka_unit_test(test_conductances),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_field_effect),
        cmocka_unit_test(test_junction_field_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
