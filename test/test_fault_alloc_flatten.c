/* Every allocation of the flattener fails once: no model comes back, nothing leaks. */
#include "fault_alloc.h"

#include "test_modelica_flatten.h"

/* Something of everything. */
static const char *const usual =
    "model M\n"
    "  type Size = enumeration(small, large);\n"
    "  record Point\n    Real x;\n    Real y[2];\n  end Point;\n"
    "  function f\n    input Real x;\n    input Integer n = 3;\n    output Real y;\n    output "
    "Point p;\n"
    "  protected\n    Real v[n];\n  algorithm\n    for i in 1:n loop\n      v[i] := x^i;\n"
    "      if v[i] > 5 then\n        break;\n      end if;\n    end for;\n"
    "    assert(x > -9, \"small \" + String(x));\n"
    "    y := sum(v[1:2]) + max(v[1], 2);\n    p := Point(x, {y, 2});\n  end f;\n"
    "  parameter Size s = Size.large;\n  parameter String name = \"a\" + \"b\";\n"
    "  parameter Integer n = 4;\n  parameter Point q(x = 1, y = {2, 3});\n"
    "  Real u[n](each start = 1, each unit = \"V\"), w[n, 2] = fill(time, n, 2);\n"
    "  Point a, b;\n  Boolean on(start = false), late;\n  Integer k(start = 0), m(start = 0);\n"
    "  discrete Real c1, c2, c3;\n"
    "  Real z, r, r2, e1(start = 1), e2, v1, force, energy = v1^2/2 + der(e2)^2;\n"
    "initial equation\n  u[1] = 2;\n"
    "equation\n  der(e1) = v1;\n  e1^2 + e2^2 = 1;\n"
    "  for i in 1:n loop\n    der(u[i]) = -u[i] + floor(time);\n  end for;\n"
    "  (z, a) = f(u[1]);\n  b = a;\n  r2 = f(u[1]);\n"
    "  late = time > 2 and not pre(on);\n"
    "  when {late, sample(0, 0.1), initial()} then\n    on = not pre(on);\n"
    "    reinit(u[2], 0);\n    if z > 1 then\n      terminate(\"end\");\n    end if;\n"
    "  end when;\n"
    "  when late then\n    c1 = time;\n    c2 = c3;\n  end when;\n"
    "  when late then\n    c3 = c1;\n  end when;\n"
    "  if late then\n    r = 1;\n  else\n    r = u[k + 1]*size(w, 1);\n  end if;\n"
    "  k = if s == Size.large then 2 else 1;\n"
    "algorithm\n  when time > 3 then\n    m := pre(m) + k;\n  end when;\n"
    "  annotation(experiment(StopTime = 1), __Daedal(coordinates = {e1, e2}, kinetic = energy,\n"
    "    potential = e2, multipliers = {force}, forces(e1 = -v1), dissipation = v1^2));\n"
    "end M;\n";

/* What exported models have beside that: wholes, subscripts in quotes, functions of the library, an
 * external object, functions as arguments, parameters that initial equations and algorithms define.
 */
static const char exported[] =
    "record Complex\n  Real 're';\n  Real 'im';\nend Complex;\n"
    "partial function 'shape'\n  input Real u;\n  output Real y;\nend 'shape';\n"
    "function 'line'\n  input Real u;\n  input Real a;\n  output Real y;\nalgorithm\n  y := "
    "a*u;\nend 'line';\n"
    "function 'twice'\n  input 'shape' 'f';\n  input Real u;\n  output Real y;\nalgorithm\n"
    "  y := 'f'('f'(u));\nend 'twice';\n"
    "function size_of\n  input Complex z[:];\n  output Real y;\nalgorithm\n  y := sum(z.re) + "
    "sum(z.im);\n"
    "end size_of;\n"
    "model M\n  Real 'z[1].re' = 1, 'z[1].im' = 2, 'z[2].re' = time, 'z[2].im' = 4;\n"
    "  Real 'x[1]'(start = 1, fixed = true), 'x[2]'(start = 2, fixed = true), y, 'r[1]', 'r[2]';\n"
    "  parameter Real t0(fixed = false), a(fixed = false);\n"
    "initial equation\n  t0 = time;\ninitial algorithm\n  a := 2;\n  if a > 1 then\n    a := a + "
    "1;\n  end if;\n"
    "equation\n  der('x') = -a*'x';\n"
    "  y = size_of('z') + sum('z[\\'k\\'].re' for 'k' in 1:2) + "
    "'Modelica.Math.Vectors.length'('x') +\n"
    "    'twice'(function 'line'(a = 3), 'x[1]') + semiLinear('x[1]', 1, 2) + t0;\n"
    "algorithm\n  'r' := 2*'x';\n  'r[2]' := 'r[1]';\nend M;\n";

static const char driven[] =
    "model M\n  input Real u, v, w[2];\n  input Boolean b;\n  Real x(start = 0, fixed = true);\n"
    "equation\n  der(x) = u + v + w[1] + w[2] + (if b then 1 else 0);\nend M;\n";

/* Texts that conditions choose, and draws from a hidden state. */
static const char texts[] =
    "type Mode = enumeration(low, high);\n"
    "function name\n  input Real x;\n  output String s;\nprotected\n  String t;\nalgorithm\n"
    "  if x > 2 then\n    s := \"big\";\n    t := s + \"!\";\n  else\n    s := \"small\";\n"
    "  end if;\n  if x > 3 then\n    s := t;\n  end if;\nend name;\n"
    "model M\n  Real x = time, y;\n  Mode m = if x > 1 then Mode.high else Mode.low;\n"
    "  String s = if x > 1 then \"high\" else \"low\", t;\n  discrete Real c(start = 0);\n"
    "equation\n  t = s + name(x);\n  y = if s == \"low\" then 1 else 2;\n"
    "  assert(x < 2, t + String(m));\n  when x > 1 then\n"
    "    c = 'Modelica.Math.Random.Utilities.impureRandom'(5);\n  end when;\nend M;\n";

/* C code: called with what is known, and with a variable. */
static const char own_code[] =
    "function f\n  input Real u;\n  input Integer n[2];\n  input String s;\n  output Real y;\n"
    "external \"C\" y = f_of(u, n, s) annotation(Include = \"static double f_of(double u, "
    "const int *n, const char *s) { return u*n[1] + *s; }\");\nend f;\n"
    "model M\n  Real x = f(2, {3, 4}, \"a\"), y = f(time, {5, 6}, \"b\");\nend M;\n";

/* The same with inputs that a table, an expression and a function drive. */
static int no_value(double t, int order, double jump, double *out, void *user)
{
    (void)t, (void)order, (void)jump, (void)user;
    *out = 0.0;
    return 0;
}

static double no_jump(double t, void *user)
{
    (void)user;
    return t + 1.0;
}

static dae_status everything_driven(void *context)
{
    static const double time[] = {0.0, 1.0, 2.0, 3.0}, rows[] = {0.0, 1.0, 1.0, 0.0};
    static const flatten_table table = {.name = "u.csv", .rows = 4, .time = time};
    static const graph_signal signal = {.value = no_value};
    const char *text = context;
    arena *tree = arena_new(0);
    message_list *messages = message_list_new("m.mo", text, strlen(text), 0);
    ast_file *file = tree && messages ? parse_file(tree, text, strlen(text), messages) : NULL;
    static ast_part part = {.name = "v"};
    static const ast_expr reference = {.kind = AST_REFERENCE, .parts = &part, .part_count = 1};
    const flatten_input inputs[] = {
        {.name = "u", .source = "u.csv", .table = &table, .values = rows, .curve = CURVE_CUBIC},
        {.name = "b", .source = "u.csv", .table = &table, .values = rows},
        {.name = "no", .source = "u.csv", .table = &table, .values = rows, .optional = true},
        {.name = "v", .source = "f", .signal = &signal, .jump = no_jump},
        {.name = "w[1]", .source = "w", .expression = &reference},
        {.name = "w[2]", .source = "w", .expression = &reference}};
    flatten_given given = {.inputs = inputs, .input_count = 6};
    flat_model *m = file ? flatten_driven(file, "m.mo", &given, messages) : NULL;
    dae_status status = m ? DAE_OK : DAE_ERR_MEMORY;
    if (messages && message_errors(messages) > 0) status = DAE_ERR_MODEL;
    flat_model_free(m);
    message_list_free(messages);
    arena_free(tree);
    return status;
}

/* Parse and flatten. Lack of memory is not a mistake of the model. */
static dae_status everything(void *context)
{
    const char *text = context;
    arena *tree = arena_new(0);
    message_list *messages = message_list_new("m.mo", text, strlen(text), 0);
    ast_file *file = tree && messages ? parse_file(tree, text, strlen(text), messages) : NULL;
    flatten_setting set = {"n", 5.0};
    flat_model *m = file ? flatten(file, "m.mo", &set, text == usual, messages) : NULL;
    dae_status status = m ? DAE_OK : DAE_ERR_MEMORY;
    if (messages && message_errors(messages) > 0) status = DAE_ERR_MODEL;
    flat_model_free(m);
    message_list_free(messages);
    arena_free(tree);
    return status;
}

static dae_status everything_allowed(void *context)
{
    const char *text = context;
    arena *tree = arena_new(0);
    message_list *messages = message_list_new("m.mo", text, strlen(text), 0);
    ast_file *file = tree && messages ? parse_file(tree, text, strlen(text), messages) : NULL;
    flatten_given given = {.allow_external = true};
    flat_model *m = file ? flatten_driven(file, "m.mo", &given, messages) : NULL;
    dae_status status = m ? DAE_OK : DAE_ERR_MEMORY;
    if (messages && message_errors(messages) > 0) status = DAE_ERR_MODEL;
    flat_model_free(m);
    message_list_free(messages);
    arena_free(tree);
    return status;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    every_failure_is_told("flattener", everything, (void *)(uintptr_t)usual, 50);
    every_failure_is_told("texts", everything, (void *)(uintptr_t)texts, 50);
    assert_int_equal(everything_allowed((void *)(uintptr_t)own_code),
                     DAE_OK); /* now it is loaded */
    every_failure_is_told("C code", everything_allowed, (void *)(uintptr_t)own_code, 20);
    every_failure_is_told("exported model", everything, (void *)(uintptr_t)exported, 50);
    every_failure_is_told("driven model", everything_driven, (void *)(uintptr_t)driven, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
