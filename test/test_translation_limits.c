/* What the translation of a text costs: memory for each byte of it, and time in proportion; and the
 * limits beyond which a text is refused by a message that names them. */
#include "base/memory.h"
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "counted_memory.h"

/* ---- a text of any length, as tools export them ------------------------------------------------
 */

typedef struct text_writer {
    char *text;
    size_t length, room;
} text_writer;

static void put(text_writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->length += (size_t)vsnprintf(w->text + w->length, w->room - w->length, format, list);
    va_end(list);
    assert_true(w->length < w->room);
}

static const char functions[] =
    "package 'Ladder'\n"
    "function 'Medium.region'\n  input Real p;\n  input Real h;\n  output Integer "
    "region;\nalgorithm\n"
    "  region := if h < 1e5 + 0.1*p then 1 else 2;\nend 'Medium.region';\n"
    "function 'Medium.density'\n  input Real p;\n  input Real h;\n  output Real d;\nprotected\n"
    "  Real n[6] = {900, -1e-4, 2e-10, -1e-16, 3e-23, -1e-30};\nalgorithm\n  d := 0;\n"
    "  if 'Medium.region'(p, h) == 1 then\n    for i in 1:6 loop\n      d := d + n[i]*h^(i - 1);\n "
    "   end for;\n"
    "  else\n    for i in 1:6 loop\n      d := d + n[i]*(h/2)^(i - 1);\n    end for;\n  end if;\n"
    "  assert(d > 0, \"density \" + String(d));\nend 'Medium.density';\n";

static void put_declarations(text_writer *w, int n)
{
    for (int k = 1; k <= n; k++)
        put(w,
            "  parameter Real 'wall[%d].C'(min = 0.0, unit = \"J/K\") = 1.5 \"Heat capacity of a "
            "piece of the wall\";\n"
            "  parameter Real 'pipe[%d].G'(unit = \"W/K\") = 0.7 \"Conductance between this piece "
            "and the next one\";\n"
            "  Real 'wall[%d].T'(start = 293.15, fixed = true, unit = \"K\") \"Temperature of the "
            "piece\";\n"
            "  Real 'pipe[%d].Q'(unit = \"W\") \"Heat flow to the next piece\";\n"
            "  Real 'pipe[%d].d'(unit = \"kg/m3\") \"Density of what flows there\";\n"
            "  Boolean 'pipe[%d].warm';\n",
            k, k, k, k, k, k);
}

static void put_equations(text_writer *w, int n)
{
    for (int k = 1; k <= n; k++) {
        put(w, "  'wall[%d].C'*der('wall[%d].T') = ", k, k);
        put(w, k > 1 ? "'pipe[%d].Q' - 'pipe[%d].Q';\n" : "%d*sin(time) - 'pipe[%d].Q';\n",
            k > 1 ? k - 1 : 1, k);
        put(w, "  'pipe[%d].Q' = 'pipe[%d].G'*('wall[%d].T' - %s%d%s);\n", k, k, k,
            k < n ? "'wall[" : "", k < n ? k + 1 : 293, k < n ? "].T'" : "");
        put(w, "  'pipe[%d].d' = 'Medium.density'(1e5, 1000*('wall[%d].T' - 273.15));\n", k, k);
        put(w, "  'pipe[%d].warm' = 'wall[%d].T' > 300;\n", k, k);
    }
}

/* A ladder of n pieces: about 900 bytes each. */
static text_writer ladder(int n)
{
    const size_t room = 4000 + 1200 * (size_t)n;
    text_writer w = {.text = malloc(room), .room = room};
    assert_non_null(w.text);
    put(&w, "%smodel 'Ladder'\n", functions);
    put_declarations(&w, n);
    put(&w, "equation\n");
    put_equations(&w, n);
    put(&w, "  annotation(experiment(StopTime = 1));\nend 'Ladder';\nend 'Ladder';\n");
    return w;
}

/* Seconds of the processor for a translation. */
static double translate(const char *text, dae_diag *diag)
{
    dae_model model = {.text = text, .file = "ladder.bmo", .engine = DAE_ENGINE_TAPE};
    dae_problem *problem = NULL;
    bytes = held = most_held = 0.0;
    const clock_t before = clock();
    dae_status status = dae_problem_from_model(&model, &problem, diag);
    const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    dae_problem_free(problem);
    return status == DAE_OK ? seconds : -1.0;
}

/* The least of three: others use the machine, too. */
static double least_seconds(const char *text)
{
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        dae_diag diag = {0};
        const double seconds = translate(text, &diag);
        if (seconds < 0.0) fail_msg("%s", diag.text);
        least = fmin(least, seconds);
    }
    return least;
}

/* docs/language.md: at most 1 kB at a time for each byte of text, and ten times the text takes ten
 * times as much. */
static void cost_is_in_proportion(void **state)
{
    (void)state;
    text_writer small = ladder(160), large = ladder(1600);
    assert_true(large.length > 1000000);
    const double times = (double)large.length / (double)small.length;
    const double before = least_seconds(small.text), small_bytes = bytes;
    const double after = least_seconds(large.text), large_bytes = bytes;
    print_message("%zu bytes of text: %.0f bytes of memory each, %.2f us each; %.1f times the "
                  "text: %.1f times the "
                  "allocations, %.1f times the time\n",
                  large.length, most_held / (double)large.length,
                  1e6 * after / (double)large.length, times, large_bytes / small_bytes,
                  after / before);
    assert_true(most_held < 44.0 * (double)large.length);
    assert_true(large_bytes < 1.2 * times * small_bytes);
    assert_true(after < 4.0 * times * before); /* in proportion to its square: 10 */
    free(small.text);
    free(large.text);
}

/* ---- one long choice ---------------------------------------------------------------------------
 */

/* A function that chooses one of n pieces by its argument. */
static text_writer choice(int n)
{
    const size_t room = 1000 + 60 * (size_t)n;
    text_writer w = {.text = malloc(room), .room = room};
    assert_non_null(w.text);
    put(&w, "function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := if x < 0 then x\n");
    for (int k = 1; k <= n; k++) put(&w, "    elseif x < %d then %d + x/%d\n", k, k, k);
    put(&w, "    else 0;\nend f;\nmodel M\n  Real x(start = 0.5, fixed = true), y;\nequation\n"
            "  der(x) = y;\n  y = f(x) + x;\nend M;\n");
    return w;
}

/* Seconds of the processor from the text to the end of the start, the least of three. */
static double seconds_to_start(const char *text)
{
    dae_model model = {.text = text, .file = "choice.mo", .engine = DAE_ENGINE_TAPE};
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        dae_diag diag = {0};
        dae_options options = dae_options_default();
        dae_problem *problem = NULL;
        dae_solver *solver = NULL;
        const clock_t before = clock();
        dae_status status = dae_problem_from_model(&model, &problem, &diag);
        if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
        if (status != DAE_OK) fail_msg("%s", diag.text);
        if (dae_solver_start(solver, 0.0, NULL, NULL) != DAE_OK)
            fail_msg("%s", dae_solver_diag(solver)->text);
        least = fmin(least, (double)(clock() - before) / CLOCKS_PER_SEC);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
    return least;
}

/* Which branches matter for the structure is asked of all of them: once each, not of all behind
 * each. */
static void long_choices_are_linear(void **state)
{
    (void)state;
    text_writer small = choice(600), large = choice(6000);
    const double before = seconds_to_start(small.text), after = seconds_to_start(large.text);
    print_message("6000 pieces: %.3f s, %.1f times as long as 600\n", after, after / before);
    assert_true(after < 30.0 * before); /* in proportion to the square: 100 */
    free(small.text);
    free(large.text);
}

/* ---- values that contain each other ------------------------------------------------------------
 */

/* n discrete variables, each with the operations of all before it in its value. */
static text_writer discrete_chain(int n)
{
    text_writer w = {.text = malloc(1000), .room = 1000};
    assert_non_null(w.text);
    put(&w,
        "model M\n  Real x(start = 1, fixed = true);\n  discrete Real s[%d];\nequation\n"
        "  der(x) = -x;\nalgorithm\n  when sample(1, 1) and x > 0 then\n    s[1] := x;\n"
        "    for i in 2:%d loop\n      s[i] := sin(s[i - 1]) + i;\n    end for;\n  end when;\n"
        "end M;\n",
        n, n);
    return w;
}

/* What discrete equations read is asked of each of their operations once, not for each of them. */
static void shared_values_are_linear(void **state)
{
    (void)state;
    text_writer small = discrete_chain(1000), large = discrete_chain(10000);
    const double before = seconds_to_start(small.text), after = seconds_to_start(large.text);
    print_message("10000 values: %.3f s, %.1f times as long as 1000\n", after, after / before);
    assert_true(after < 30.0 * before); /* in proportion to the square: 100 */
    free(small.text);
    free(large.text);
}

/* ---- texts that want too much ------------------------------------------------------------------
 */

static void expect_refusal(const char *text, const char *words)
{
    dae_diag diag = {0};
    const double seconds = translate(text, &diag);
    if (seconds >= 0.0 || !strstr(diag.text, words))
        fail_msg("%s\nsays: %s\nnot: %s", text, diag.text, words);
}

/* The rows of the table of limits in docs/language.md, in its order. */
static void limits_have_names(void **state)
{
    (void)state;
    char deep[2000] = "model M\n  Real x = ";
    for (int k = 0; k < 300; k++) strcat(deep, "(");
    strcat(deep, "1;\nend M;\n");
    expect_refusal(deep, "nested more than 256 levels");
    expect_refusal(
        "function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := f(x + 1);\nend f;\n"
        "model M\n  Real x = f(time);\nend M;\n",
        "nested more than 200 deep");
    expect_refusal("model M\n  Real x[20000000];\nequation\n  x = zeros(20000000);\nend M;\n",
                   "at most 10000000 elements");
    expect_refusal("function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := x;\n  for i "
                   "in 1:5000000 loop\n"
                   "    y := y/2;\n  end for;\nend f;\nmodel M\n  Real x = f(time);\nend M;\n",
                   "takes more than 2000000 operations");
    expect_refusal(
        "function f\n  input Integer n;\n  output String s;\nprotected\n  String t = "
        "\"abcdefgh\";\n"
        "algorithm\n  for i in 1:12 loop\n    t := t + t;\n  end for;\n  for i in 1:n loop\n"
        "    s := t + String(i);\n  end for;\nend f;\n"
        "model M\n  parameter String s = f(10000);\n  Real x = 1;\nend M;\n",
        "takes more than 128 MiB");
    expect_refusal("function f\n  input Integer n;\n  output String s;\nalgorithm\n  s := \"ab\";\n"
                   "  for i in 1:n loop\n    s := s + s;\n  end for;\nend f;\n"
                   "model M\n  parameter String s = f(40);\n  Real x = 1;\nend M;\n",
                   "more than 65536 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cost_is_in_proportion), cmocka_unit_test(long_choices_are_linear),
        cmocka_unit_test(shared_values_are_linear), cmocka_unit_test(limits_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
