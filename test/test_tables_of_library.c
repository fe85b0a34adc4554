#define _XOPEN_SOURCE 700 /* mkdtemp */
/* Tables of the Standard Library: every smoothness and extrapolation against interpolants that are
 * written down here again, jumps, periods and events against what they must be, and files. */
#include <stdlib.h>
#include <unistd.h>

#include "model_run.h"

#define OBJECT1                                                                                    \
    "class T1 extends ExternalObject;\n  function constructor\n    input String tableName;\n"      \
    "    input String fileName;\n    input Real table[:, :];\n    input Integer columns[:];\n"     \
    "    input Integer smoothness;\n    input Integer extrapolation;\n    input Boolean "          \
    "verboseRead = false;\n"                                                                       \
    "    input String delimiter = \",\";\n    input Integer nHeaderLines = 0;\n"                   \
    "    output T1 o;\n"                                                                           \
    "  external \"C\" o = ModelicaStandardTables_CombiTable1D_init3(fileName, tableName);\n"       \
    "  end constructor;\n  function destructor\n    input T1 o;\n"                                 \
    "  external \"C\" ModelicaStandardTables_CombiTable1D_close(o);\n  end destructor;\nend T1;\n" \
    "function value1\n  input T1 t;\n  input Integer c;\n  input Real u;\n  output Real y;\n"      \
    "external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(t, c, u);\nend value1;\n"     \
    "function slope1\n  input T1 t;\n  input Integer c;\n  input Real u;\n  input Real du;\n"      \
    "  output Real y;\n"                                                                           \
    "external \"C\" y = ModelicaStandardTables_CombiTable1D_getDerValue(t, c, u, du);\n"           \
    "end slope1;\n"

#define OBJECT_TIME                                                                                \
    "class TT extends ExternalObject;\n  function constructor\n    input String tableName;\n"      \
    "    input String fileName;\n    input Real table[:, :];\n    input Real startTime;\n"         \
    "    input Integer columns[:];\n    input Integer smoothness;\n"                               \
    "    input Integer extrapolation;\n    input Real shiftTime;\n    input Integer timeEvents;\n" \
    "    input Boolean verboseRead = false;\n"                                                     \
    "    input String delimiter = \",\";\n    input Integer nHeaderLines = 0;\n"                   \
    "    output TT o;\n"                                                                           \
    "  external \"C\" o = ModelicaStandardTables_CombiTimeTable_init3(fileName, tableName);\n"     \
    "  end constructor;\n  function destructor\n    input TT o;\n"                                 \
    "  external \"C\" ModelicaStandardTables_CombiTimeTable_close(o);\n  end destructor;\n"        \
    "end TT;\nfunction valueT\n  input TT t;\n  input Integer c;\n  input Real u;\n"               \
    "  input Real next;\n  input Real before;\n  output Real y;\n"                                 \
    "external \"C\" y = ModelicaStandardTables_CombiTimeTable_getValue(t, c, u, next, before);\n"  \
    "end valueT;\nfunction nextT\n  input TT t;\n  input Real u;\n  output Real y;\n"              \
    "external \"C\" y = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, u);\nend nextT;\n"

#define OBJECT2                                                                                    \
    "class T2 extends ExternalObject;\n  function constructor\n    input String tableName;\n"      \
    "    input String fileName;\n    input Real table[:, :];\n    input Integer smoothness;\n"     \
    "    input Integer extrapolation;\n    input Boolean verboseRead = false;\n"                   \
    "    input String delimiter = \",\";\n    input Integer nHeaderLines = 0;\n"                   \
    "    output T2 o;\n"                                                                           \
    "  external \"C\" o = ModelicaStandardTables_CombiTable2D_init3(fileName, tableName);\n"       \
    "  end constructor;\n  function destructor\n    input T2 o;\n"                                 \
    "  external \"C\" ModelicaStandardTables_CombiTable2D_close(o);\n  end destructor;\nend T2;\n" \
    "function value2\n  input T2 t;\n  input Real u;\n  input Real v;\n  output Real y;\n"         \
    "external \"C\" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);\nend value2;\n"     \
    "function slope2\n  input T2 t;\n  input Real u;\n  input Real v;\n  input Real du;\n"         \
    "  input Real dv;\n  output Real y;\n"                                                         \
    "external \"C\" y = ModelicaStandardTables_CombiTable2D_getDerValue(t, u, v, du, dv);\n"       \
    "end slope2;\n"

/* ---- interpolants, written down again ---- */

enum { POINTS = 6 };
static const double X[POINTS] = {-1.0, 0.0, 0.5, 2.0, 3.0, 3.5};
static const double Y[POINTS] = {2.0, 1.0, 1.15, 4.0, 3.0, 3.25};

static double chord(int i)
{
    double first = (Y[1] - Y[0]) / (X[1] - X[0]), second = (Y[2] - Y[1]) / (X[2] - X[1]);
    int n = POINTS;
    double last = (Y[n - 1] - Y[n - 2]) / (X[n - 1] - X[n - 2]);
    double previous = (Y[n - 2] - Y[n - 3]) / (X[n - 2] - X[n - 3]);
    if (i < 0) return first + (first - second) * -i;
    if (i > n - 2) return last + (last - previous) * (i - n + 2);
    return (Y[i + 1] - Y[i]) / (X[i + 1] - X[i]);
}

static double akima(int i, bool modified)
{
    double a = chord(i - 2), b = chord(i - 1), c = chord(i), d = chord(i + 1);
    double left = fabs(b - a), right = fabs(d - c);
    if (modified) left += fabs(a + b) / 2.0, right += fabs(c + d) / 2.0;
    return left + right > 0.0 ? (right * b + left * c) / (left + right) : (b + c) / 2.0;
}

/* [FB84]: a harmonic mean; [Ste90]: a parabola's slope, within twice the smaller chord. */
static double monotone(int i, bool steffen)
{
    if (i == 0) return chord(0);
    if (i == POINTS - 1) return chord(POINTS - 2);
    double b = chord(i - 1), c = chord(i), h = X[i] - X[i - 1], k = X[i + 1] - X[i];
    if (b * c <= 0.0) return 0.0;
    if (!steffen) {
        double alpha = (h + 2.0 * k) / (3.0 * (h + k));
        return b * c / (alpha * c + (1.0 - alpha) * b);
    }
    double p = (b * k + c * h) / (h + k), sign = b > 0.0 ? 1.0 : -1.0;
    return 2.0 * sign * fmin(fmin(fabs(b), fabs(c)), fabs(p) / 2.0);
}

static double slope_at(int i, int smoothness)
{
    if (smoothness == 4 || smoothness == 5) return monotone(i, smoothness == 5);
    return akima(i, smoothness == 6);
}

/* Hermite's basis. */
static double inside(double u, int i, int smoothness)
{
    double h = X[i + 1] - X[i], t = (u - X[i]) / h;
    if (smoothness == 3) return Y[i];
    if (smoothness == 1) return (1.0 - t) * Y[i] + t * Y[i + 1];
    double a = slope_at(i, smoothness), b = slope_at(i + 1, smoothness);
    return (1.0 + 2.0 * t) * (1.0 - t) * (1.0 - t) * Y[i] + t * (1.0 - t) * (1.0 - t) * h * a +
           t * t * (3.0 - 2.0 * t) * Y[i + 1] + t * t * (t - 1.0) * h * b;
}

static double expected(double u, int smoothness, int extrapolation)
{
    const double first = X[0], last = X[POINTS - 1];
    bool smooth = smoothness != 1 && smoothness != 3;
    while (extrapolation == 3 && u > last) u -= last - first;
    while (extrapolation == 3 && u < first) u += last - first;
    if (u < first && extrapolation == 1) return Y[0];
    if (u < first) return Y[0] + (u - first) * (smooth ? slope_at(0, smoothness) : chord(0));
    if (u >= last && extrapolation != 2) return Y[POINTS - 1];
    if (u >= last)
        return Y[POINTS - 1] +
               (u - last) * (smooth ? slope_at(POINTS - 1, smoothness) : chord(POINTS - 2));
    int i = 0;
    while (u >= X[i + 1]) i++;
    return inside(u, i, smoothness);
}

#define MATRIX "{{-1, 9, 2}, {0, 9, 1}, {0.5, 9, 1.15}, {2, 9, 4}, {3, 9, 3}, {3.5, 9, 3.25}}"

static double number(const char *text)
{
    run r;
    OK(begin(&r, text));
    double y = value(&r, "y");
    end(&r);
    return y;
}

static void test_all_modes(void **state)
{
    (void)state;
    static const double at[] = {-9.3, -1.5, -1.0, -0.4, 0.0, 0.2, 0.5, 1.7,
                                2.0,  2.6,  3.0,  3.45, 3.5, 4.1, 12.2};
    char text[4096];
    for (int s = 1; s <= 6; s++)
        for (int e = 1; e <= 3; e++)
            for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
                snprintf(text, sizeof text,
                         OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", " MATRIX
                                 ", {2, 3}, %d, %d);\n  Real y = value1(t, 2, %.17g);\nend M;\n",
                         s, e, at[k]);
                double y = number(text), want = expected(at[k], s, e);
                if (fabs(y - want) > 1e-13 * (1.0 + fabs(want)))
                    fail_msg("smoothness %d, extrapolation %d, u = %g: %.15g, not %.15g", s, e,
                             at[k], y, want);
            }
}

/* Slopes are those of the values, from the side that u comes to. */
static void test_slopes(void **state)
{
    (void)state;
    static const double at[] = {-1.5, -0.4, 0.2, 1.7, 2.6, 3.45, 4.1};
    char text[4096];
    for (int s = 1; s <= 6; s++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            snprintf(text, sizeof text,
                     OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", " MATRIX
                             ", {3}, %d, 2);\n  Real y = slope1(t, 1, %.17g, 3);\nend M;\n",
                     s, at[k]);
            double h = 1e-5;
            double want = 1.5 * (expected(at[k] + h, s, 2) - expected(at[k] - h, s, 2)) / h;
            assert_true(fabs(number(text) - want) < 1e-6);
        }
#define SIDE(u, du)                                                                                \
    number(OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", " MATRIX                \
                   ", {3}, 1, 1);\n  Real y = slope1(t, 1, " #u ", " #du ");\nend M;\n")
    assert_true(fabs(SIDE(0.5, 1) - 2.85 / 1.5) < 1e-14);
    assert_true(fabs(SIDE(0.5, -1) + 0.3) < 1e-14);
    assert_true(SIDE(7, 1) == 0.0);
}

/* ---- tables over time ---- */

#define TIMED(matrix, start, smooth, extra, shift, kind)                                           \
    OBJECT_TIME "model M\n  parameter TT t = TT(\"NoName\", \"NoName\", " matrix ", " start        \
                ", {2}, " smooth ", " extra ", " shift ", " kind                                   \
                ");\n  discrete Real next(start = 0, fixed = true);\n"                             \
                "  Real y, x(start = 0, fixed = true);\nequation\n"                                \
                "  when {time >= pre(next), initial()} then\n    next = nextT(t, time);\n"         \
                "  end when;\n  y = valueT(t, 1, time, next, pre(next));\n  der(x) = y;\nend M;\n"

/* y at a time, and x, its integral, there. */
static void timed(const char *text, double t, double y, double x, int line)
{
    run r;
    OK(begin(&r, text));
    OK(step_to(&r, t));
    expect_near(&r, "y", y, 1e-9, line);
    expect_near(&r, "x", x, 1e-6, line);
    end(&r);
}
#define AT(text, t, y, x) timed(text, t, y, x, __LINE__)

#define JUMPS "{{0, 0}, {1, 1}, {1, 3}, {2, 3}, {3, 0}}"

static void test_jumps(void **state)
{
    (void)state;
    AT(TIMED(JUMPS, "0", "1", "1", "0", "1"), 0.75, 0.75, 0.28125);
    AT(TIMED(JUMPS, "0", "1", "1", "0", "1"), 4.0, 0.0, 0.5 + 3.0 + 1.5);
    AT(TIMED(JUMPS, "0", "1", "1", "0", "2"), 2.5, 1.5, 0.5 + 3.0 + 1.125);
    AT(TIMED(JUMPS, "0", "1", "2", "0", "3"), 4.0, -3.0, 5.0 - 1.5);
    AT(TIMED(JUMPS, "0", "3", "1", "0", "1"), 1.5, 3.0, 0.0 + 1.5);
    AT(TIMED(JUMPS, "0", "3", "1", "0", "1"), 2.5, 3.0, 0.0 + 4.5);
    /* a jump where it begins: what exported tables of Booleans are */
    AT(TIMED("{{2, 0}, {2, 1}, {4, 0}}", "-1e60", "3", "1", "0", "1"), 3.0, 1.0, 1.0);
    AT(TIMED("{{2, 0}, {2, 1}, {4, 0}}", "-1e60", "3", "1", "0", "1"), 5.0, 0.0, 2.0);
}

static void test_start_and_shift(void **state)
{
    (void)state;
    AT(TIMED("{{0, 1}, {1, 2}}", "0.5", "1", "2", "0.5", "1"), 0.25, 0.0, 0.0);
    AT(TIMED("{{0, 1}, {1, 2}}", "0.5", "1", "2", "0.5", "1"), 1.0, 1.5, 0.5 * 1.25);
    AT(TIMED("{{0, 1}, {1, 2}}", "0.5", "1", "2", "0", "1"), 1.0, 2.0, 0.5 * 1.75);
    AT(TIMED("{{0, 1}, {1, 2}}", "0", "1", "2", "-1", "1"), 1.0, 3.0, 2.5);
    AT(TIMED("{{0, 7}}", "0", "1", "2", "0", "1"), 1.0, 7.0, 7.0);
}

static void test_periods(void **state)
{
    (void)state;
#define SAW "{{0, 0}, {0.7, 1.4}}"
    AT(TIMED(SAW, "0", "1", "3", "0", "1"), 0.35, 0.7, 0.35 * 0.35);
    AT(TIMED(SAW, "0", "1", "3", "0", "1"), 7.35, 0.7, 10 * 0.49 + 0.35 * 0.35);
    AT(TIMED(SAW, "0", "1", "3", "0", "3"), 7.35, 0.7, 10 * 0.49 + 0.35 * 0.35);
    AT(TIMED(SAW, "-9", "1", "3", "0.35", "1"), 1.4, 0.7, 2 * 0.49);
    /* after a hundred periods events still come */
    AT(TIMED("{{0, 1}, {0.1, -1}, {0.3, 1}}", "0", "3", "3", "0", "1"), 30.05, 1.0, -10.0 + 0.05);
}

/* A table may be long: then events choose the segment. */
static void test_long_table(void **state)
{
    (void)state;
    size_t size = 100000, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    used += (size_t)snprintf(text, size,
                             "%smodel M\n  parameter TT t = TT(\"NoName\", \"NoName\", {{0, 0}",
                             OBJECT_TIME);
    for (int k = 1; k <= 1000; k++)
        used += (size_t)snprintf(text + used, size - used, ", {%g, %d}", 0.001 * k, k % 2);
    snprintf(text + used, size - used,
             "}, 0, {2}, 1, 1, 0, 3);\n  discrete Real next(start = 0, fixed = true);\n"
             "  Real y, x(start = 0, fixed = true);\nequation\n"
             "  when {time >= pre(next), initial()} then\n    next = nextT(t, time);\n"
             "  end when;\n  y = valueT(t, 1, time, next, pre(next));\n  der(x) = y;\nend M;\n");
    AT(text, 0.99925, 0.75, 0.5 * 0.999 + 0.00025 * 0.875);
    free(text);
}

/* ---- two variables ---- */

#define SURFACE(matrix, s, e, u, v)                                                                \
    number(OBJECT2 "model M\n  parameter T2 t = T2(\"NoName\", \"NoName\", " matrix ", " #s        \
                   ", " #e ");\n  Real y = value2(t, " #u ", " #v ");\nend M;\n")
#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void test_surfaces(void **state)
{
    (void)state;
#define PLAIN "{{0, 1, 2, 4}, {1, 1, 3, 5}, {3, 2, 8, 6}}"
    CLOSE(SURFACE(PLAIN, 1, 2, 2.0, 1.5), (1 + 3 + 2 + 8) / 4.0);
    CLOSE(SURFACE(PLAIN, 1, 2, 1.0, 3.0), 4.0);
    CLOSE(SURFACE(PLAIN, 1, 2, 5.0, 2.0), 13.0);
    CLOSE(SURFACE(PLAIN, 1, 2, 5.0, 0.0), 2 * (2.0 - 6.0) - (1.0 - 2.0));
    CLOSE(SURFACE(PLAIN, 1, 1, 5.0, 9.0), 6.0);
    CLOSE(SURFACE(PLAIN, 1, 3, 4.0, 4.5), (1 + 3 + 2 + 8) / 4.0);
    CLOSE(SURFACE(PLAIN, 3, 1, 2.9, 2.1), 3.0);
    CLOSE(SURFACE(PLAIN, 3, 1, 3.0, 4.0), 6.0);
    /* constant pieces go on as linear ones do, in both directions */
    CLOSE(SURFACE(PLAIN, 3, 2, 2.0, 5.0), (5.0 + 6.0 + 1.0 - 1.0) / 2.0);
    CLOSE(SURFACE("{{0, 1, 2}, {1, 4, 6}}", 1, 2, 77.0, 1.5), 5.0);
    CLOSE(SURFACE("{{0, 1}, {1, 4}, {2, 8}}", 1, 2, 3.0, 77.0), 12.0);
    CLOSE(SURFACE("{{0, 1}, {1, 4}}", 2, 2, 3.0, 77.0), 4.0);
}

/* A product of two of Akima's curves is Akima's surface. */
static double curve(const char *x, const char *y, const char *u)
{
    char text[4096];
    snprintf(text, sizeof text,
             OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", transpose({%s, %s}), "
                     "{2}, 2, 2);\n  Real y = value1(t, 1, %s);\nend M;\n",
             x, y, u);
    return number(text);
}

static void test_akimas_surface(void **state)
{
    (void)state;
    static const char *const at[] = {"-0.5", "0.3", "1.5", "2.5", "3.7", "5"};
    char text[4096];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            snprintf(text, sizeof text,
                     OBJECT2 "model M\n  parameter Real a[5] = {1, 3, 2, 2.5, 7}, b[4] = {2, 1, 5, "
                             "4};\n  parameter T2 t = T2(\"NoName\", \"NoName\", "
                             "cat(1, {cat(1, {0}, {0, 1, 3, 4})}, "
                             "cat(2, transpose({{0, 1, 2, 3.5, 4}}), transpose({a})*{b})), 2, 2);\n"
                             "  Real y = value2(t, %s, %s);\nend M;\n",
                     at[i], at[j]);
            double want = curve("{0, 1, 2, 3.5, 4}", "{1, 3, 2, 2.5, 7}", at[i]) *
                          curve("{0, 1, 3, 4}", "{2, 1, 5, 4}", at[j]);
            CLOSE(number(text), want);
        }
#define TWIST "{{0, 0, 1, 2}, {0, 1, 4, 2}, {1, 3, 5, 0}, {2, 1, 9, 9}, {3, 4, 4, 1}}"
    /* derivatives are those of the values */
    double y = number(OBJECT2 "model M\n  parameter T2 t = T2(\"NoName\", \"NoName\", " TWIST
                              ", 2, 2);\n  Real y = slope2(t, 1.3, 0.6, 2, -1);\nend M;\n");
    double up = SURFACE(TWIST, 2, 2, 1.30002, 0.59999),
           down = SURFACE(TWIST, 2, 2, 1.29998, 0.60001);
    assert_true(fabs(y - (up - down) / 2e-5) < 1e-6);
}

/* ---- files ---- */

static char folder[] = "/tmp/daedal_tables_XXXXXX";

static void store(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

#define FILED(file, name, columns, u)                                                              \
    OBJECT1 "model M\n  parameter T1 t = T1(\"" name "\", \"" file "\", {{0, 0}}, {" columns       \
            "}, 1, 2);\n  Real y = value1(t, 1, " #u ");\nend M;\n"

/* y of a model beside the files; or why there is none. */
static double from_file(const char *text, char *why, size_t size)
{
    char path[128];
    run r = {0};
    double y = NAN;
    snprintf(path, sizeof path, "%s/m.mo", folder);
    dae_model m = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&m, &r.problem, &r.diag);
    if (status == DAE_OK) status = dae_solver_new(r.problem, NULL, &r.solver, &r.diag);
    if (status == DAE_OK) {
        status = dae_solver_start(r.solver, 0.0, NULL, NULL);
        snprintf(why, size, "%s", dae_solver_diag(r.solver)->text);
    } else
        snprintf(why, size, "%s", r.diag.text);
    if (status == DAE_OK) y = value(&r, "y");
    end(&r);
    return y;
}

static void expect_why(const char *text, const char *words, int line)
{
    char why[1024];
    from_file(text, why, sizeof why);
    if (!strstr(why, words)) fail_msg("line %d: '%s' lacks '%s'", line, why, words);
}
#define WHY(text, words) expect_why(text, words, __LINE__)

static void test_files(void **state)
{
    (void)state;
    char why[1024];
    static const char lines[] =
        "#1\n# two tables\ndouble a(1,2)\n 5 6\ndouble b(3, 3) # the second\n"
        "0 0 1\n1, 0, 3; 2 0\n-1e0\n";
    store("t.txt", lines, sizeof lines - 1);
    CLOSE(from_file(FILED("t.txt", "b", "3", 1.5), why, sizeof why), 1.0);
    static const char separated[] = "a,b\r\n0;1.5\r\n 1 ; 2.5\r\n";
    store("t.csv", separated, sizeof separated - 1);
    WHY(FILED("t.csv", "b", "2", 1.5), "t.csv:1:1: 'a' is not a finite number");
    CLOSE(from_file(OBJECT1 "model M\n  parameter T1 t = T1(\"\", \"t.csv\", {{0, 0}}, {2}, 1, 2, "
                            "false, \";\", 1);\n  Real y = value1(t, 1, 0.25);\nend M;\n",
                    why, sizeof why),
          1.75);
    store("blank.csv", "0 1.5  9\n1   2.5 9 \n", 19);
    CLOSE(from_file(OBJECT1
                    "model M\n  parameter T1 t = T1(\"\", \"blank.csv\", {{0, 0}}, {2}, 1, 2, "
                    "false, \" \", 0);\n  Real y = value1(t, 1, 0.25);\nend M;\n",
                    why, sizeof why),
          1.75);
    static const int32_t head[5] = {0, 2, 2, 0, 2};
    static const double numbers[4] = {0.0, 2.0, 1.0, 5.0};
    char mat[20 + 2 + 32];
    memcpy(mat, head, 20);
    memcpy(mat + 20, "m", 2);
    memcpy(mat + 22, numbers, 32);
    store("t.mat", mat, sizeof mat);
    CLOSE(from_file(FILED("t.mat", "m", "2", 0.5), why, sizeof why), 2.0);
    WHY(FILED("t.mat", "k", "2", 0.5), "has no matrix 'k'");
    store("cut.mat", mat, sizeof mat - 1);
    WHY(FILED("cut.mat", "m", "2", 0.5), "cut short");
}

static void test_bad_files(void **state)
{
    (void)state;
    WHY(FILED("none.txt", "b", "2", 1), "none.txt: No such file");
    WHY(FILED("modelica://A/b.txt", "b", "2", 1), "named by a URI of a library");
    store("b.txt", "#1\ndouble b(2,2)\n0 1\n1 x\n", 25);
    WHY(FILED("b.txt", "b", "2", 1), "b.txt:4:3: 'x' is not a finite number");
    WHY(FILED("b.txt", "c", "2", 1), "b.txt:4:3");
    store("d.txt", "#1\ndouble b(2,2)\n1 1\n0 2\n", 25);
    WHY(FILED("d.txt", "b", "2", 1), "d.txt:4:1: row 2 begins with 0, not above 1");
    WHY(FILED("d.txt", "c", "2", 1), "d.txt: it has no table 'c'");
    store("e.txt", "#1\ndouble b(2,2)\n1 1\n2\n", 23);
    WHY(FILED("e.txt", "b", "2", 1), "the file ends at number 4 of 4");
    store("h.csv", "0,1\n1,,2\n", 9);
    WHY(FILED("h.csv", "b", "2", 1), "h.csv:2:3: a number is missing here");
    store("s.csv", "0,1,2\n1,2\n", 10);
    WHY(FILED("s.csv", "b", "2", 1), "2 numbers in this line, 3 in those above");
    store("c.csv", "0,1\n1,2\n", 8);
    WHY(FILED("c.csv", "b", "3", 1), "it has 2 columns: column 3 is asked for");
    store("x.txt", "double b(1,1)\n1\n", 16);
    WHY(FILED("x.txt", "b", "2", 1), "x.txt:1:1: the first line of a table in text format is '#1'");
    WHY(OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", {{0, 1}, {0, 2}}, {2}, 1, "
                "1);\n  Real y = value1(t, 1, 0.5);\nend M;\n",
        "row 2 does not");
    WHY(OBJECT1 "model M\n  parameter T1 t = T1(\"NoName\", \"NoName\", {{0, 1}, {1, 2}}, {2}, 1, "
                "4);\n  Real y = value1(t, 1, 1.5);\nend M;\n",
        "has no extrapolation");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"t.txt", "t.csv", "blank.csv", "t.mat", "cut.mat", "b.txt",
                                        "d.txt", "e.txt", "h.csv",     "s.csv", "c.csv",   "x.txt"};
    char path[128];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_modes), cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_jumps),     cmocka_unit_test(test_start_and_shift),
        cmocka_unit_test(test_periods),   cmocka_unit_test(test_long_table),
        cmocka_unit_test(test_surfaces),  cmocka_unit_test(test_akimas_surface),
        cmocka_unit_test(test_files),     cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
