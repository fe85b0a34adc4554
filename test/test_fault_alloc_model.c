/* Every allocation in the life of a model fails once: from its text to the last event of its run.
 * The answer is DAE_ERR_MEMORY, nothing leaks, and a solver works again once there is memory. */
#include "fault_alloc.h"

#include <math.h>
#include <stdio.h>

/* Aliases, definitions, higher derivatives, initial equations of both kinds, all kinds of events.
 */
static const char *const text =
    "model M\n"
    "  parameter Real g = 9.81, w(fixed = false, start = 1);\n"
    "  Real h(start = 1, fixed = true), v(start = 0, fixed = true), e, y, c, q(start = 1), z(start "
    "= 1), d, a, b, s(start = 0, fixed = true);\n"
    "  Integer n(start = 0), k;\n  Boolean low;\n  discrete Real last(start = 0);\n"
    "initial equation\n  der(z) = -2;\n  k = 3;\n"
    "equation\n  der(h) = v;\n  der(v) = -g;\n  e = g*h + v^2/2;\n  y = -h;\n  c = 2*g;\n"
    "  d = h^2;\n  der(s) = -d*a;\n  a = 1 + b^2/9;\n  b = a*d;\n"
    "  der(der(q)) = -q;\n  der(z) = -w*z;\n  low = h < 0.25;\n"
    "  when h <= 0 then\n    reinit(v, -0.5*pre(v));\n    n = pre(n) + 1;\n"
    "  elsewhen sample(0.1, 0.1) then\n    k = pre(k) + 1;\n  end when;\n"
    "  assert(h < 9, \"high \" + String(h));\n"
    "  when terminal() then\n    last = h;\n  end when;\n"
    "end M;\n";

/* A pendulum as written, index 3, that loops: hidden constraints, states chosen anew; and a mode of
 * index 2 that comes and goes. */
static const char *const hidden =
    "model N\n"
    "  parameter Real g = 1;\n"
    "  Real x(start = 1), h(start = 0, fixed = true), vx, vy(start = 9, fixed = true), f, fx;\n"
    "  Real p(start = 0, fixed = true), w(start = 0, fixed = true), z;\n"
    "  Boolean held(start = false, fixed = true);\n"
    "equation\n  der(x) = vx;\n  der(h) = vy;\n  der(vx) = -fx;\n  fx = f*x;\n  der(vy) = -f*h - "
    "g;\n"
    "  x^2 + h^2 = 1;\n  der(p) = w;\n  der(w) = 1 - z;\n"
    "  if held then\n    w = 0.1;\n  else\n    z = 0;\n  end if;\n"
    "  when w > 0.1 then\n    held = true;\n  elsewhen time > 0.3 then\n    held = false;\n"
    "  end when;\n"
    "end N;\n";

/* Delays: of a state, and of what jumps, with a delay time that moves. */
static const char *const delayed =
    "model D\n"
    "  parameter Real g = 9.81;\n"
    "  Real h(start = 1, fixed = true), a;\n"
    "equation\n  der(h) = -delay(h, g/25);\n"
    "  a = delay(if time < 0.12 then h else 0, 0.3 + 0.02*sin(time), 0.4);\n"
    "end D;\n";

/* A way from simplified equations to actual ones, to one of three solutions. */
static const char *const way =
    "model W\n  parameter Real g = 1;\n  Real h(start = 0.5, fixed = true), u, v;\n"
    "equation\n  der(h) = -g*h;\n  u = v/2 + h;\n"
    "  v = homotopy(if noEvent(9*u > 1) then 1 else if noEvent(9*u < -1) then -1 else 9*u, 1);\n"
    "end W;\n";

/* Translate, set, solve and emit. */
static dae_status life(void *text_at_hand)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = text_at_hand, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status == DAE_OK) status = dae_problem_set_parameter(p, "g", 10.0, &diag);
    if (status == DAE_OK)
        status = dae_problem_set_start(p, "h", text_at_hand == text ? 0.5 : 0.6, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, NULL, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_ERR_MEMORY && s) { /* only one fails: there is memory again */
        dae_status again = dae_solver_start(s, 0.0, NULL, NULL);
        if (again != DAE_OK) status = DAE_ERR_STATE;
    }
    if (status == DAE_OK) status = dae_solver_run(s, 0.5, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_finish(s);
    if (status < 0 && status != DAE_ERR_MEMORY)
        print_error("%s\n", s ? dae_solver_diag(s)->text : diag.text);
    char *code = status == DAE_OK ? dae_problem_emit(p) : NULL;
    if (status == DAE_OK && !code) status = DAE_ERR_MEMORY;
    dae_text_free(code);
    code = status == DAE_OK ? dae_problem_emit_modelica(p, &diag) : NULL;
    if (status == DAE_OK && !code) status = diag.status;
    dae_text_free(code);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

/* Inputs that a file, an expression and a function drive; the last one is differentiated twice. */
static const char *const driven =
    "model D\n  input Real u, v, w;\n  input Boolean b;\n  Real x, y, f, z(start = 0, fixed = "
    "true);\nequation\n  der(x) = y;\n  der(y) = f;\n  x = w;\n"
    "  der(z) = u + v + (if b then 1 else 0);\nend D;\n";

static int sine(double t, int order, double jump, double *value, void *user)
{
    (void)jump, (void)user;
    *value = sin(t + 1.5707963267948966 * order);
    return 0;
}

static dae_status driven_life(void *path)
{
    const dae_input inputs[] = {{.file = path, .mode = DAE_INPUT_CUBIC},
                                {.name = "v", .expression = "2*u"},
                                {.name = "w", .value = sine, .derivatives = 2}};
    dae_model model = {.text = driven,
                       .file = "m.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .inputs = inputs,
                       .input_count = 3};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, NULL, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    while (status >= DAE_OK && dae_solver_time(s) < 1.5) status = dae_solver_step(s, 1.5);
    if (status > DAE_OK) status = DAE_OK;
    if (status < 0 && status != DAE_ERR_MEMORY)
        print_error("%s\n", s ? dae_solver_diag(s)->text : diag.text);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void inputs_of_a_model(void **state)
{
    char path[] = "/tmp/daedal-fault-XXXXXX";
    (void)state;
    int file = mkstemp(path);
    FILE *f = file >= 0 ? fdopen(file, "w") : NULL;
    assert_non_null(f);
    fputs("time,u,b\n0,0,0\n0.5,1,1\n1,1,0\n2,3,0\n", f);
    assert_int_equal(fclose(f), 0);
    heap_faults faults = fail_each("inputs", driven_life, path);
    remove(path);
    assert_int_equal(faults.status, DAE_OK);
    assert_true(faults.unnoticed < faults.requests / 2);
}

/* A boost converter: its current goes on through the diode after the transistor opens. That is
 * found by trial, and where a trial has no memory the current must not vanish without a word. */
static const char *const boost =
    "model B\n  Real i(start = 1, fixed = true), v(start = 0.5, fixed = true), u, a, w, d, q;\n"
    "  Boolean off(start = true);\nequation\n"
    "  if time < 0.3 then u = 0; else a = 0; end if;\n  off = q < 0;\n"
    "  w = if off then q else 0;\n  d = if off then 0 else q;\n  i = a + d;\n"
    "  der(i) = 1 - u;\n  w = u - v;\n  der(v) = d - v;\nend B;\n";

static dae_status boost_life(void *unused)
{
    (void)unused;
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_model model = {.text = boost, .file = "b.mo", .engine = DAE_ENGINE_TAPE};
    double x[8] = {0.0};
    dae_status status = dae_problem_from_model(&model, &p, NULL);
    if (status == DAE_OK) status = dae_solver_new(p, NULL, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.4, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_variables(s, 0.4, x);
    if (status == DAE_OK && !(x[0] > 1.3)) status = DAE_ERR_STATE;
    if (status < 0 && status != DAE_ERR_MEMORY)
        print_error("i = %g: %s\n", x[0], s ? dae_solver_diag(s)->text : "");
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void currents_go_on(void **state)
{
    (void)state;
    heap_faults f = fail_each("boost", boost_life, NULL);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.unnoticed < f.requests / 2);
}

static void every_allocation_fails_once(void **state)
{
    heap_faults f = fail_each(*state == text     ? "events"
                              : *state == hidden ? "hidden constraints"
                              : *state == way    ? "a way"
                                                 : "delays",
                              life, *state);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.requests > 100);
    /* Values of expressions are computed anew if there was no memory for them. */
    assert_true(f.unnoticed < f.requests / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"every_kind_of_event", every_allocation_fails_once, NULL, NULL, (void *)text},
        {"hidden_constraints", every_allocation_fails_once, NULL, NULL, (void *)hidden},
        {"delays", every_allocation_fails_once, NULL, NULL, (void *)delayed},
        {"way_to_actual_equations", every_allocation_fails_once, NULL, NULL, (void *)way},
        cmocka_unit_test(inputs_of_a_model),
        cmocka_unit_test(currents_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
