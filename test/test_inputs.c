#define _XOPEN_SOURCE 700 /* mkdtemp */
/* Inputs of models: expressions, files and functions against closed forms, events where they must
 * be, index reduction through them, and what is refused. */
#include <stdlib.h>
#include <unistd.h>

#include "model_run.h"

static char place[64] = "/tmp/daedal-inputs-XXXXXX";
static char path[128];

/* The file u.csv with this text. */
static const char *file_of(const char *text)
{
    snprintf(path, sizeof path, "%s/u.csv", place);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

static int make_place(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/u.csv", place);
    remove(path);
    return rmdir(place);
}

static dae_status load_with(run *r, const char *text, const dae_input *inputs, int count)
{
    memset(r, 0, sizeof *r);
    dae_model model = {.text = text,
                       .file = "m.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .message = note,
                       .user = r,
                       .inputs = inputs,
                       .input_count = count};
    return dae_problem_from_model(&model, &r->problem, &r->diag);
}

/* The model, driven, from 0 to tend. */
static dae_status run_with(run *r, const char *text, const dae_input *inputs, int count,
                           double tend)
{
    dae_status status = load_with(r, text, inputs, count);
    if (status != DAE_OK) return status;
    r->options = dae_options_default();
    r->options.rtol = 1e-10;
    r->options.atol = 1e-12;
    r->options.message = note;
    r->options.user = r;
    status = start_at(r, 0.0);
    return status == DAE_OK ? step_to(r, tend) : status;
}

#define ONE(...) (&(dae_input){__VA_ARGS__}), 1
#define INTEGRAL MODEL("input Real u; Real x(start = 0, fixed = true);\nequation\n  der(x) = u;")

/* ---- expressions ---- */

static void integral_of_a_sine(void **state)
{
    (void)state;
    run r;
    OK(run_with(&r, INTEGRAL, ONE(.name = "u", .expression = "sin(time)"), 2.0));
    NEAR("x", 1.0 - cos(2.0));
    NEAR("u", sin(2.0));
    end(&r);
}

/* An expression may read the model, as a controller does, and takes the place of a binding. */
static void expressions_see_the_model(void **state)
{
    (void)state;
    run r;
    const char *text = MODEL("parameter Real k = 2; input Real u = 7; Real x(start = 1, fixed = "
                             "true);\nequation\n  der(x) = u;");
    OK(run_with(&r, text, ONE(.name = "u", .expression = "-k*x"), 1.0));
    NEAR("x", exp(-2.0));
    end(&r);
    OK(run_with(&r, text, NULL, 0, 1.0));
    NEAR("x", 8.0);
    end(&r);
}

static void arrays_records_and_parts(void **state)
{
    (void)state;
    run r;
    const char *text = "record R Real a; Real b; end R;\n" MODEL(
        "input Real u[2]; input R p; input Integer n; input Boolean on; input Real 'c.d';\n"
        "Real y = u[1] + 10*u[2] + 100*p.a + 1000*p.b + 1e4*n + (if on then 1e5 else 0) + "
        "1e6*'c.d';\nReal x(start = 0, fixed = true);\nequation\n  der(x) = y;");
    const dae_input inputs[] = {{.name = "u", .expression = "{1, 2}"},
                                {.name = "p.a", .expression = "3"},
                                {.name = "p.b", .expression = "p.a + 1"},
                                {.name = "n", .expression = "if time > 0.5 then 6 else 5"},
                                {.name = "on", .expression = "time > 0.5"},
                                {.name = "c.d", .expression = "7"}};
    OK(run_with(&r, text, inputs, 6, 1.0));
    EXACTLY("y", 7164321.0);
    NEAR("x", 0.5 * (7054321.0 + 7164321.0));
    end(&r);
}

/* ---- files ---- */

#define ROWS "time [s],u [V]\n0,0\n1,2\n1,5\n3,1\n"

static void file_is_followed(void **state)
{
    (void)state;
    run r;
    const char *file = file_of(ROWS);
    OK(run_with(&r, INTEGRAL, ONE(.file = file), 3.0));
    NEAR("x", 1.0 + 6.0);
    EXACTLY("u", 1.0);
    assert_int_equal(r.events, 2 * 2); /* at the jump and at the end, with a row on both sides */
    end(&r);
    OK(run_with(&r, INTEGRAL, ONE(.file = file, .mode = DAE_INPUT_STEP), 3.0));
    NEAR("x", 0.0 + 10.0);
    EXACTLY("u", 1.0);
    end(&r);
}

/* Two rows of one time: the events lie there to the last bit, with both values. */
static void jumps_are_events(void **state)
{
    (void)state;
    run r;
    double seen = NAN;
    const char *file = file_of("time,u\n0,0\n0.3,1\n0.3,4\n1,4\n");
    OK(load_with(&r, INTEGRAL, ONE(.file = file)));
    r.options = dae_options_default();
    OK(start_at(&r, 0.0));
    dae_status status;
    while ((status = dae_solver_step(r.solver, 1.0)) > 0)
        if (status == DAE_EVENT && r.events++ < 2) {
            seen = dae_solver_time(r.solver);
            assert_true(seen == 0.3);
            NEAR("u", r.events == 1 ? 1.0 : 4.0);
        }
    OK(status);
    assert_true(seen == 0.3);
    NEAR("x", 0.15 + 0.7 * 4.0);
    end(&r);
}

/* A spline through four points or more reproduces every cubic: here t^3 - 2 t^2 + 3. */
static void spline_reproduces_cubics(void **state)
{
    (void)state;
    run r;
    char text[400] = "t;u\n";
    const double times[] = {0.0, 0.5, 1.25, 1.5, 3.0, 4.0};
    for (int k = 0; k < 6; k++) {
        double t = times[k];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%g;%.17g\n", t, t * t * t - 2.0 * t * t + 3.0);
    }
    OK(run_with(&r, INTEGRAL, ONE(.file = file_of(text), .mode = DAE_INPUT_CUBIC), 4.0));
    NEAR("x", 64.0 - 2.0 * 64.0 / 3.0 + 12.0);
    end(&r);
    OK(run_with(&r, INTEGRAL, ONE(.file = path, .mode = DAE_INPUT_CUBIC), 2.0));
    NEAR("u", 3.0);
    end(&r);
    /* three points: a parabola, 1 + t - t^2 */
    OK(run_with(&r, INTEGRAL,
                ONE(.file = file_of("time\tu\n0\t1\n1\t1\n3\t-5\n"), .mode = DAE_INPUT_CUBIC),
                3.0));
    NEAR("x", 3.0 + 4.5 - 9.0);
    end(&r);
}

/* A cubic spline is smooth where it has no jump: sin through 41 points, its integral to 1e-6. */
static void spline_of_a_sine(void **state)
{
    (void)state;
    run r;
    char text[2000] = "time,u\n";
    for (int k = 0; k <= 40; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%.17g,%.17g\n", 0.1 * k, sin(0.1 * k));
    }
    OK(run_with(&r, INTEGRAL, ONE(.file = file_of(text), .mode = DAE_INPUT_CUBIC), 4.0));
    expect_near(&r, "x", 1.0 - cos(4.0), 1e-6, __LINE__);
    end(&r);
}

/* Boolean, Integer and enumeration inputs keep the value of the last row, whatever the mode. */
static void discrete_inputs_step(void **state)
{
    (void)state;
    run r;
    const char *text = "type Gear = enumeration(low, high);\n" MODEL(
        "input Boolean on; input Integer n; input Gear g; Integer ups(start = 0, fixed = true);\n"
        "Real x(start = 0, fixed = true);\nequation\n"
        "  der(x) = (if on then 1 else 0) + n + (if g == Gear.high then 100 else 0);\n"
        "  when on then\n    ups = pre(ups) + 1;\n  end when;");
    const char *file = file_of("time,on,n,g\n0,0,10,1\n1,1,20,1\n2,0,20,2\n3,1,20,2\n4,1,20,2\n");
    OK(run_with(&r, text, ONE(.file = file), 4.0));
    NEAR("x", 10.0 + 21.0 + 120.0 + 121.0);
    EXACTLY("ups", 2.0);
    end(&r);
    const char *wrong[] = {"time,on,n,g\n0,0,1,1\n1,0.5,1,1\n", "time,on,n,g\n0,0,1,1\n1,1,1.5,1\n",
                           "time,on,n,g\n0,0,1,1\n1,1,1,0\n"};
    const char *words[] = {"u.csv:3|column 'on'|a Boolean, 0 or 1, not 0.5",
                           "u.csv:3|column 'n'|whole number, not 1.5",
                           "u.csv:3|column 'g'|enumeration, 1 or more, not 0"};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(load_with(&r, text, ONE(.file = file_of(wrong[k]))), DAE_ERR_MODEL);
        WORDS(r.diag.text, words[k]);
    }
}

static void columns_have_other_names(void **state)
{
    (void)state;
    run r;
    const char *file = file_of("a,time,torque\n1,0,2\n1,2,2\n");
    OK(run_with(&r, INTEGRAL, ONE(.name = "u", .file = file, .column = "torque"), 2.0));
    NEAR("x", 4.0);
    end(&r);
    assert_int_equal(load_with(&r, INTEGRAL, ONE(.name = "u", .file = file)), DAE_ERR_ARGUMENT);
    WORDS(r.diag.text, "u.csv: it has no column 'u', but a, torque.");
    const char *some = file_of("time,u,other\n0,2,1\n2,2,1\n");
    OK(run_with(&r, INTEGRAL, ONE(.file = some), 2.0));
    NEAR("x", 4.0);
    WORDS(r.messages, "columns of|u.csv that are no inputs of the model: other");
    end(&r);
}

/* ---- where a file has no rows ---- */

static void ends_of_files(void **state)
{
    (void)state;
    run r;
    const char *file = file_of("time,u\n0,1\n2,3\n");
    assert_int_equal(run_with(&r, INTEGRAL, ONE(.file = file), 3.0), DAE_ERR_ASSERT);
    WORDS(diag_of(&r)->text, "u.csv have times from 0 to 2: there is no value at 2");
    assert_true(dae_solver_time(r.solver) <= 2.0 + 1e-9);
    end(&r);
    OK(run_with(&r, INTEGRAL, ONE(.file = file, .hold = true), 3.0));
    NEAR("x", 4.0 + 3.0);
    end(&r);
    const char *late = file_of("time,u\n1,1\n2,3\n");
    assert_int_equal(run_with(&r, INTEGRAL, ONE(.file = late), 2.0), DAE_ERR_ASSERT);
    WORDS(diag_of(&r)->text, "u.csv have times from 1 to 2|there is no value at 0");
    end(&r);
    OK(run_with(&r, INTEGRAL, ONE(.file = late, .hold = true), 2.0));
    NEAR("x", 1.0 + 2.0);
    end(&r);
}

/* Backwards the pieces that are behind are not found again: refused, not wrong. */
static void no_way_back(void **state)
{
    (void)state;
    run r;
    const char *file = file_of("time,u\n0,1\n1,2\n2,5\n");
    OK(load_with(&r, INTEGRAL, ONE(.file = file)));
    r.options = dae_options_default();
    OK(start_at(&r, 1.5));
    dae_status status = step_to(&r, 0.5);
    assert_int_equal(status, DAE_ERR_ASSERT);
    WORDS(diag_of(&r)->text, "followed forwards in time");
    end(&r);
}

/* ---- index reduction ---- */

/* x = u(t): the velocity is u', and the force has u''. */
#define GUIDED                                                                                     \
    MODEL("input Real u; Real x; Real v; Real f;\nequation\n  der(x) = v;\n  der(v) = f;\n  x = "  \
          "u;")

static void input_is_differentiated(void **state)
{
    (void)state;
    run r;
    OK(run_with(&r, GUIDED, ONE(.name = "u", .expression = "sin(3*time)"), 1.0));
    NEAR("v", 3.0 * cos(3.0));
    NEAR("f", -9.0 * sin(3.0));
    end(&r);
    char text[400] = "time,u\n"; /* t^3 by its spline */
    for (int k = 0; k <= 6; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%g,%.17g\n", 0.25 * k, pow(0.25 * k, 3.0));
    }
    OK(run_with(&r, GUIDED, ONE(.file = file_of(text), .mode = DAE_INPUT_CUBIC), 1.1));
    NEAR("v", 3.0 * 1.1 * 1.1);
    NEAR("f", 6.0 * 1.1);
    end(&r);
    /* straight pieces: the velocity jumps at the rows, and is that of the last piece at the end */
    OK(run_with(&r, GUIDED, ONE(.file = file_of("time,u\n0,0\n1,2\n2,3\n")), 2.0));
    NEAR("v", 1.0);
    NEAR("f", 0.0);
    NEAR("x", 3.0);
    assert_true(r.events >= 1);
    end(&r);
}

/* ---- functions ---- */

/* sin(w t), and a jump by 1 at every whole second */
typedef struct wave {
    double w;
    int steps; /* 1: with jumps */
    int asked; /* the highest order so far */
} wave;

static int wave_value(double t, int order, double jump, double *value, void *user)
{
    wave *q = user;
    if (order > q->asked) q->asked = order;
    if (t > 1e6) return 1;
    *value = pow(q->w, order) * sin(q->w * t + 1.5707963267948966 * order);
    if (q->steps && order == 0) *value += jump - 1.0;
    return 0;
}

static double wave_jump(double t, void *user)
{
    (void)user;
    return floor(t) + 1.0;
}

static void function_is_called(void **state)
{
    (void)state;
    run r;
    wave q = {.w = 3.0};
    OK(run_with(&r, INTEGRAL, ONE(.name = "u", .value = wave_value, .user = &q), 2.0));
    NEAR("x", (1.0 - cos(6.0)) / 3.0);
    NEAR("u", sin(6.0));
    assert_int_equal(q.asked, 0);
    end(&r);
    q.steps = 1; /* + 0, 1, 2 in the seconds */
    const dae_input stepping = {.name = "u", .value = wave_value, .jump = wave_jump, .user = &q};
    OK(run_with(&r, INTEGRAL, &stepping, 1, 2.5));
    NEAR("x", (1.0 - cos(7.5)) / 3.0 + 1.0 + 1.0);
    assert_int_equal(r.events, 2 * 2);
    end(&r);
}

static int standing_value(double t, int order, double jump, double *value, void *user)
{
    (void)t, (void)order, (void)jump, (void)user;
    *value = 1.0;
    return 0;
}

/* Tells of a jump at *user, and there, or at once, of one that is not later. */
static double standing_jump(double t, void *user)
{
    const double *at = user;
    return t < *at ? *at : t;
}

static void next_jump_is_later(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        run r;
        char words[100];
        double at = k;
        const dae_input in = {
            .name = "u", .value = standing_value, .jump = standing_jump, .user = &at};
        assert_int_equal(run_with(&r, INTEGRAL, &in, 1, 2.0), DAE_ERR_EVENT);
        snprintf(words, sizeof words,
                 "the next jump of an input behind t = %d is said to be at %d.", k, k);
        assert_non_null(strstr(diag_of(&r)->text, words));
        assert_true(diag_of(&r)->t == k);
        end(&r);
    }
}

/* Derivatives of an input that is a function: as many as the index asks for, or none at all. */
static void function_is_differentiated(void **state)
{
    (void)state;
    run r;
    wave q = {.w = 2.0};
    dae_input in = {.name = "u", .value = wave_value, .derivatives = 2, .user = &q};
    OK(run_with(&r, GUIDED, &in, 1, 1.0));
    NEAR("x", sin(2.0));
    NEAR("v", 2.0 * cos(2.0));
    NEAR("f", -4.0 * sin(2.0));
    end(&r);
    in.derivatives = 1;
    dae_status status = load_with(&r, GUIDED, &in, 1);
    r.options = dae_options_default();
    if (status == DAE_OK) status = dae_solver_new(r.problem, &r.options, &r.solver, &r.diag);
    if (status == DAE_OK) {
        status = dae_solver_start(r.solver, 0.0, NULL, NULL);
        r.diag = *diag_of(&r);
    }
    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(r.diag.text, "derivative 2 of input u, a function that gives 1"));
    end(&r);
}

/* Taylor series take all derivatives that a function has; every engine gives the same. */
static void methods_and_engines(void **state)
{
    (void)state;
    wave q = {.w = 1.0};
    const dae_input in = {.name = "u", .value = wave_value, .derivatives = 100, .user = &q};
    const char *methods[] = {"taylor", "bdf", "radau", "dopri"};
    for (int k = 0; k < 4; k++)
        for (int engine = 0; engine < 2; engine++) {
            run r = {0};
            dae_model model = {.text = INTEGRAL,
                               .file = "m.mo",
                               .engine = engine ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE,
                               .inputs = &in,
                               .input_count = 1};
            OK(dae_problem_from_model(&model, &r.problem, &r.diag));
            r.options = dae_options_default();
            r.options.method = methods[k];
            r.options.rtol = 1e-9;
            r.options.atol = 1e-10;
            OK(start_at(&r, 0.0));
            OK(step_to(&r, 2.0));
            expect_near(&r, "x", 1.0 - cos(2.0), 1e-6, __LINE__);
            end(&r);
        }
}

/* ---- what is refused ---- */

static void wrong_inputs(void **state)
{
    (void)state;
    run r;
    wave q = {.w = 1.0};
    const char *two = MODEL("input Real u; input Real v; Real x(start = 0, fixed = true);\n"
                            "equation\n  der(x) = u + v;");
    const struct {
        dae_input inputs[2];
        int count;
        dae_status status;
        const char *words;
    } cases[] = {
        {{{.name = "w", .expression = "1"}}, 1, DAE_ERR_MODEL, "no input 'w'|its inputs are u, v"},
        {{{.name = "x", .expression = "1"}}, 1, DAE_ERR_MODEL, "no input 'x'"},
        {{{.name = "u", .expression = "sin(tim)"}}, 1, DAE_ERR_MODEL, "'tim' is not declared"},
        {{{.name = "u", .expression = "sin("}}, 1, DAE_ERR_ARGUMENT, "'sin(' is not an expression"},
        {{{.name = "u", .expression = "{1, 2}"}}, 1, DAE_ERR_MODEL, "m.mo:2"},
        {{{.name = "u", .expression = "u + 1"}}, 1, DAE_ERR_MODEL, "themselves: u -> u"},
        {{{.name = "u", .expression = "v"}, {.name = "v", .expression = "2*u"}},
         2,
         DAE_ERR_MODEL,
         "themselves: u -> v -> u"},
        {{{.name = "u", .expression = "1"}, {.name = "u", .expression = "2"}},
         2,
         DAE_ERR_MODEL,
         "input 'u' is given twice: by 'u = 1' and by 'u = 2'"},
        {{{.name = "u"}}, 1, DAE_ERR_ARGUMENT, "inputs[0], u: it needs one of"},
        {{{.expression = "1"}}, 1, DAE_ERR_ARGUMENT, "inputs[0]: an expression needs a name"},
        {{{.name = "u", .value = wave_value, .derivatives = -1, .user = &q}},
         1,
         DAE_ERR_ARGUMENT,
         "derivatives = -1"},
        {{{.name = "u", .expression = "1", .mode = (dae_input_mode)7}},
         1,
         DAE_ERR_ARGUMENT,
         "mode = 7 is not a dae_input_mode"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(load_with(&r, two, cases[k].inputs, cases[k].count), cases[k].status);
        WORDS(r.diag.text, cases[k].words);
    }
    assert_int_equal(load_with(&r,
                               MODEL("Real x(start = 1, fixed = true);\nequation\n der(x) = -x;"),
                               ONE(.name = "u", .expression = "1")),
                     DAE_ERR_MODEL);
    WORDS(r.diag.text, "no input 'u'|it has no inputs");
    assert_int_equal(load_with(&r, MODEL("input Boolean u; Real y = if u then 1 else 0;"),
                               ONE(.name = "u", .value = wave_value, .user = &q)),
                     DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, "input 'u' changes at events only"));
}

static void wrong_files(void **state)
{
    (void)state;
    run r;
    const struct {
        const char *text, *words;
    } cases[] = {
        {"time,u\n0,1\n1,\n", "u.csv:3:3: a number is missing here"},
        {"time,u\n0,1\n1,two\n", "u.csv:3:3: 'two' is not a finite number"},
        {"time,u\n0,1\n1\n", "u.csv:3|1 numbers in this line, 2 in those above"},
        {"time,u\n0,1\n1,nan\n", "u.csv:3:3"},
        {"time,u\n0,1\n2,1\n1,1\n", "u.csv:4: time 1 follows 2: times must not decrease"},
        {"0,1\n1,1\n", "u.csv:1: the first line has numbers"},
        {"u\n0\n1\n", "u.csv: its only column, 'u', is that of the times"},
        {"time,u\n0,1\n1,1\n1,2\n1,3\n2,3\n", "u.csv:5: a third row with time 1"},
        {"time,u\n", "the file has no numbers"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_status status = load_with(&r, INTEGRAL, ONE(.file = file_of(cases[k].text)));
        assert_int_equal(status, DAE_ERR_ARGUMENT);
        WORDS(r.diag.text, cases[k].words);
    }
    assert_int_equal(load_with(&r, INTEGRAL, ONE(.file = file_of("time,v,w\n0,1,1\n1,1,1\n"))),
                     DAE_ERR_MODEL);
    WORDS(r.diag.text, "no input 'v, w'|u.csv|its inputs are u");
    assert_int_equal(load_with(&r, INTEGRAL, ONE(.file = file_of("time,u,u\n0,1,1\n1,1,1\n"))),
                     DAE_ERR_MODEL);
    WORDS(r.diag.text, "input 'u' is given twice");
    assert_int_equal(load_with(&r, INTEGRAL, ONE(.file = "/nowhere/u.csv")), DAE_ERR_FILE);
    WORDS(r.diag.text, "/nowhere/u.csv");
}

/* Without anything an input keeps its start value; without that, too, nothing starts. */
static void inputs_without_a_value(void **state)
{
    (void)state;
    run r;
    const char *rests = MODEL("input Real u(start = 3); Real x(start = 0, fixed = true);\n"
                              "equation\n  der(x) = u;");
    OK(run_with(&r, rests, NULL, 0, 1.0));
    NEAR("x", 3.0);
    WORDS(r.messages, "input 'u' is not connected: it keeps its start value");
    end(&r);
    assert_int_equal(run_with(&r, INTEGRAL, NULL, 0, 1.0), DAE_ERR_ASSERT);
    WORDS(diag_of(&r)->text, "m.mo:2|input 'u' has no value");
    end(&r);
    const char *array = MODEL("input Real u[2]; Real x(start = 0, fixed = true);\n"
                              "equation\n  der(x) = u[1] + u[2];");
    assert_int_equal(run_with(&r, array, ONE(.name = "u[1]", .expression = "1"), 1.0),
                     DAE_ERR_ASSERT);
    assert_non_null(strstr(diag_of(&r)->text, "input 'u[2]' has no value"));
    end(&r);
}

/* A flat text cannot say what a file or a function says, and C names its slots. */
static void emitted_texts(void **state)
{
    (void)state;
    run r;
    wave q = {.w = 1.0};
    const char *file = file_of(ROWS);
    OK(load_with(&r, INTEGRAL, ONE(.file = file)));
    assert_null(dae_problem_emit_modelica(r.problem, &r.diag));
    assert_int_equal(r.diag.status, DAE_ERR_UNSUPPORTED);
    WORDS(r.diag.text, "an input that follows a file");
    char *c = dae_problem_emit(r.problem);
    assert_non_null(c);
    assert_non_null(strstr(c, "coefficient 1 of number 1"));
    dae_text_free(c);
    end(&r);
    OK(load_with(&r, INTEGRAL, ONE(.name = "u", .value = wave_value, .user = &q)));
    assert_null(dae_problem_emit_modelica(r.problem, &r.diag));
    WORDS(r.diag.text, "an input by a function");
    c = dae_problem_emit(r.problem);
    assert_non_null(c);
    assert_non_null(
        strstr(c, "double model_input(int number, int order, double time, double jump)"));
    assert_non_null(strstr(c, "model_input(0, 0, time, "));
    dae_text_free(c);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integral_of_a_sine),
        cmocka_unit_test(expressions_see_the_model),
        cmocka_unit_test(arrays_records_and_parts),
        cmocka_unit_test(file_is_followed),
        cmocka_unit_test(jumps_are_events),
        cmocka_unit_test(spline_reproduces_cubics),
        cmocka_unit_test(spline_of_a_sine),
        cmocka_unit_test(discrete_inputs_step),
        cmocka_unit_test(columns_have_other_names),
        cmocka_unit_test(ends_of_files),
        cmocka_unit_test(no_way_back),
        cmocka_unit_test(input_is_differentiated),
        cmocka_unit_test(function_is_called),
        cmocka_unit_test(next_jump_is_later),
        cmocka_unit_test(function_is_differentiated),
        cmocka_unit_test(methods_and_engines),
        cmocka_unit_test(wrong_inputs),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(inputs_without_a_value),
        cmocka_unit_test(emitted_texts),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
