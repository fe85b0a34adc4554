/* Discrete parts: relations, when, pre, sample, algorithms with when, rounding; and their order. */
#include "test_modelica_flatten.h"

static const flat_branch *branch(const flattened *f, size_t w, size_t b)
{
    assert_true(w < f->m->when_count);
    assert_true(b < f->m->whens[w].branch_count);
    return &f->m->whens[w].branches[b];
}

static int slot(const flattened *f, const char *name)
{
    return f->m->variables[variable_index(f, name)].memory;
}

static int slot_pre(const flattened *f, const char *name)
{
    return f->m->variables[variable_index(f, name)].memory_pre;
}

/* ---- relations ---- */

static void relations(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  Real x, y;\n  parameter Real p = 1;\n  Integer k;\n"
                     "  Boolean a, b, c, d, e, g;\n  Real h;\n"
                     "equation\n  der(x) = 1;\n  der(y) = 2;\n"
                     "  a = x > y;\n  b = y < x;\n  c = x >= y;\n  d = not x <= y;\n"
                     "  e = p > 2;\n  g = k > 2;\n  h = if noEvent(x > 3) then 1 else 0;\n"
                     "  k = if a and b then 1 else 2;\n"
                     "end M;\n");
    assert_int_equal(f.m->relation_count, 3); /* y < x, y <= x, x <= y */
    assert_text(&f, f.m->relations[0].crossing, "y - x");
    assert_true(f.m->relations[0].strict);
    assert_text(&f, f.m->relations[1].crossing, "y - x");
    assert_false(f.m->relations[1].strict);
    assert_text(&f, f.m->relations[2].crossing, "x - y");
    assert_int_equal(f.m->discrete_count, 7);
    assert_int_equal(f.m->equation_count, 3);
    give(&f, "x", 2.0);
    give(&f, "y", 1.0);
    assert_near(number(&f, "a"), 1.0);
    assert_near(number(&f, "d"), 1.0);
    assert_near(number(&f, "e"), 0.0);
    assert_near(number(&f, "k"), 1.0);
    assert_near(number(&f, "g"), 0.0);
    release(&f);
}

/* Discrete equations are sorted, whatever their order and side in the text. */
static void sorted_discretes(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Integer a, b, c, d;\n  Boolean p, q;\nequation\n"
                               "  d = c + 1;\n  b + 1 = c;\n  a = b;\n  a = if q then 3 else 4;\n"
                               "  not p = q;\n  p = time > 1;\nend M;\n");
    assert_int_equal(f.m->discrete_count, 6);
    bool known[16] = {false};
    for (size_t k = 0; k < f.m->discrete_count; k++) {
        const flat_discrete *d = &f.m->discretes[k];
        static const char *const order[] = {"p", "q", "a", "b", "c", "d"};
        assert_string_equal(f.m->variables[d->variable].name, order[k]);
        known[d->variable] = true;
    }
    for (int k = 0; k < 6; k++) assert_true(known[k]);
    f.time = 2.0;
    assert_near(number(&f, "d"), 6.0); /* q false: a = 4, b = 4, c = 5 */
    f.time = 0.0;
    assert_near(number(&f, "d"), 5.0);
    release(&f);
}

/* ---- when ---- */

static void bouncing_ball(void **state)
{
    (void)state;
    flattened f = flatten_good("model Ball\n  parameter Real e = 0.8;\n"
                               "  Real h(start = 1, fixed = true), v;\n"
                               "  Integer n(start = 0, fixed = true);\n  discrete Real last;\n"
                               "equation\n  der(h) = v;\n  der(v) = -9.81;\n"
                               "  when h < 0 then\n    reinit(v, -e*pre(v));\n"
                               "    last = n*time;\n    n = pre(n) + 1;\n  end when;\nend Ball;\n");
    const flat_branch *b = branch(&f, 0, 0);
    assert_int_equal(f.m->when_count, 1);
    assert_int_equal(f.m->equation_count, 2);
    assert_text(&f, b->condition, "relation 0");
    assert_false(b->at_initial);
    assert_int_equal(b->action_count, 3);
    assert_int_equal(b->actions[0].kind, ACTION_REINIT);
    assert_int_equal(b->actions[0].variable, variable_index(&f, "v"));
    assert_text(&f, b->actions[0].value, "-e*v");
    assert_int_equal(b->actions[1].variable, variable_index(&f, "n")); /* before last reads it */
    assert_text(&f, b->actions[1].value, "pre(n) + 1");
    assert_int_equal(b->actions[2].variable, variable_index(&f, "last"));
    assert_true(f.m->variables[variable_index(&f, "last")].discrete);
    assert_int_equal(f.m->variables[variable_index(&f, "n")].type, FLAT_INTEGER);
    assert_true(b->memory >= 0 && b->memory_pre >= 0 && b->memory != b->memory_pre);
    release(&f);
}

static void when_forms(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  Integer k(start = 0), m(start = 0);\n  Real x(start = 0);\n"
                     "equation\n  der(x) = 1;\n"
                     "  when {x > 1, initial(), x > 2} then\n    k = pre(k) + 1;\n"
                     "  elsewhen sample(0, 0.5) then\n    k = 0;\n  end when;\n"
                     "  when k > 2 then\n"
                     "    if x > 3 then\n      m = 1;\n    elseif x > 2 then\n"
                     "      m = k;\n    else\n      m = pre(m);\n    end if;\n"
                     "    if x > 5 then\n      reinit(x, 0);\n      terminate(\"far\");\n"
                     "      assert(x < 6, \"too far\");\n    end if;\n"
                     "  end when;\n"
                     "  when terminal() then\n    terminate(\"done\");\n  end when;\n"
                     "end M;\n");
    assert_int_equal(f.m->when_count, 3);
    assert_int_equal(f.m->whens[0].branch_count, 3); /* x > 1, x > 2, sample */
    assert_true(branch(&f, 0, 0)->at_initial);
    assert_false(branch(&f, 0, 1)->at_initial);
    assert_text(&f, branch(&f, 0, 1)->actions[0].value, "pre(k) + 1");
    assert_text(&f, branch(&f, 0, 2)->condition, "sample");
    assert_int_equal(f.m->sample_count, 1);
    const flat_branch *b = branch(&f, 1, 0);
    assert_int_equal(b->action_count, 4);
    static const double xs[] = {1.0, 2.5, 3.5, 5.5};
    static const double ms[] = {7.0, 9.0, 1.0, 1.0}, reinits[] = {1.0, 2.5, 3.5, 0.0};
    f.memory[slot(&f, "k")] = 9.0;
    f.memory[slot_pre(&f, "m")] = 7.0;
    for (int k = 0; k < 4; k++) {
        give(&f, "x", xs[k]);
        assert_near(number_of(&f, b->actions[0].value), ms[k]);
        assert_near(number_of(&f, b->actions[1].value), reinits[k]);
        assert_near(number_of(&f, b->actions[2].guard), xs[k] > 5.0);
        assert_near(number_of(&f, b->actions[3].value), 1.0);
    }
    give(&f, "x", 7.0);
    assert_near(number_of(&f, b->actions[3].value), 0.0);
    assert_string_equal(b->actions[2].message, "far");
    assert_text(&f, branch(&f, 2, 0)->condition, "terminal");
    /* k's clause comes before the one that reads k */
    assert_int_equal(f.m->event_count, 3);
    assert_true(f.m->event_order[0].is_when);
    assert_int_equal(f.m->event_order[0].index, 0);
    release(&f);
}

/* Whens and discrete equations in one order. */
static void mixed_order(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Integer k(start = 0), n, m(start = 0);\nequation\n"
                               "  when n > 2 then\n    m = n;\n  end when;\n"
                               "  n = 2*k;\n"
                               "  when time > 1 then\n    k = pre(k) + 1;\n  end when;\nend M;\n");
    assert_int_equal(f.m->event_count, 3);
    assert_true(f.m->event_order[0].is_when && f.m->event_order[0].index == 1);
    assert_true(!f.m->event_order[1].is_when);
    assert_true(f.m->event_order[2].is_when && f.m->event_order[2].index == 0);
    release(&f);
}

static void pre_edge_change(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Boolean b, c, d, s;\n  Integer k(start = 1), n;\n"
                               "equation\n  b = time > 1;\n  c = edge(b);\n  d = change(k);\n"
                               "  k = if pre(b) then 2 else 1;\n  n = pre(k);\n"
                               "  s = sample(0.1, 0.2) or initial() and not terminal();\nend M;\n");
    f.memory[slot_pre(&f, "b")] = 0.0;
    f.memory[slot_pre(&f, "k")] = 2.0;
    f.time = 2.0;
    assert_near(number(&f, "c"), 1.0);
    assert_near(number(&f, "k"), 1.0);
    assert_near(number(&f, "d"), 1.0);
    assert_near(number(&f, "n"), 2.0);
    f.memory[slot_pre(&f, "b")] = 1.0;
    assert_near(number(&f, "c"), 0.0);
    assert_near(number(&f, "k"), 2.0);
    assert_near(number(&f, "d"), 0.0);
    assert_int_equal(f.m->sample_count, 1);
    assert_near(number_of(&f, f.m->samples[0].interval), 0.2);
    f.memory[f.m->samples[0].memory] = 0.0;
    f.memory[f.m->memory_initial] = 1.0;
    f.memory[f.m->memory_terminal] = 0.0;
    assert_near(number(&f, "s"), 1.0);
    f.memory[f.m->memory_terminal] = 1.0;
    assert_near(number(&f, "s"), 0.0);
    release(&f);
}

/* ---- algorithms ---- */

/* k counts events of time > 1 and restarts above 2, statement after statement. */
static void algorithm_with_when(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Integer k(start = 0), m(start = 5);\n  Boolean up;\n"
                               "algorithm\n  up := time > 1;\n"
                               "  when up then\n    k := pre(k) + 1;\n"
                               "    if k > 2 then\n      k := 0;\n      m := m - 1;\n    end if;\n"
                               "    assert(k < 10, \"k\");\n"
                               "  elsewhen initial() then\n    k := 7;\n  end when;\nend M;\n");
    assert_int_equal(f.m->equation_count, 0);
    f.time = 2.0;
    f.memory[f.m->memory_initial] = 0.0;
    f.memory[slot_pre(&f, "m")] = 5.0;
    for (int k = 0; k < f.m->memory_count; k++) /* the hidden copy of the condition */
        if (strncmp(f.m->variables[f.m->variable_count - 1].name, "$when", 5) == 0)
            f.memory[f.m->variables[f.m->variable_count - 1].memory_pre] = 0.0;
    static const double before[] = {0.0, 1.0, 2.0}, after[] = {1.0, 2.0, 0.0};
    for (int k = 0; k < 3; k++) {
        f.memory[slot_pre(&f, "k")] = before[k];
        assert_near(number(&f, "k"), after[k]);
        assert_near(number(&f, "m"), k == 2 ? 4.0 : 5.0);
    }
    assert_int_equal(f.m->when_count, 1); /* of the assert */
    f.time = 0.0;
    assert_near(number(&f, "k"), 2.0);
    f.memory[f.m->memory_initial] = 1.0;
    assert_near(number(&f, "k"), 7.0);
    release(&f);
}

/* ---- rounding makes events ---- */

static void rounding_events(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x, y, z;\nequation\n  der(x) = 1;\n"
                               "  y = floor(x) + 10*integer(x) + 100*ceil(x);\n"
                               "  z = noEvent(floor(x));\nend M;\n");
    assert_int_equal(f.m->discrete_count, 2); /* floor(x), floor(-x) */
    assert_int_equal(f.m->relation_count, 4);
    give(&f, "x", 2.5);
    assert_near(number(&f, "y"), 2.0 + 20.0 + 300.0);
    const flat_discrete *d = &f.m->discretes[0];
    int k = f.m->variables[d->variable].memory;
    assert_true(f.m->variables[d->variable].protected_);
    f.memory[k] = 2.0;
    assert_true(number_of(&f, f.m->relations[0].crossing) > 0.0); /* x - k */
    assert_true(number_of(&f, f.m->relations[1].crossing) > 0.0); /* k + 1 - x */
    give(&f, "x", 3.5);
    assert_true(number_of(&f, f.m->relations[1].crossing) < 0.0);
    give(&f, "x", 1.5);
    assert_true(number_of(&f, f.m->relations[0].crossing) < 0.0);
    release(&f);
}

/* ---- assertions and initial equations ---- */

static void assertions(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  parameter String who = \"tank\";\n  Real x;\n"
                     "  function half\n    input Real u;\n    output Real v;\n  algorithm\n"
                     "    assert(u > -1, \"half of \" + String(u));\n    v := u/2;\n  end half;\n"
                     "equation\n  der(x) = half(x);\n"
                     "  assert(x < 2, who + \": level \" + String(x) + \" above \" + String(2.0), "
                     "level = AssertionLevel.warning);\n"
                     "  if time > 1 then\n    assert(x > 1, \"late\");\n  end if;\nend M;\n");
    assert_int_equal(f.m->assert_count, 3);
    assert_int_equal(f.m->relation_count, 1); /* of the if alone */
    const flat_action *a = &f.m->asserts[1];
    assert_true(a->warning);
    assert_string_equal(a->message, "tank: level {x} above 2");
    assert_int_equal(a->hole_count, 1);
    assert_int_equal(a->holes[0].offset, 12);
    assert_int_equal(a->holes[0].length, 3);
    assert_text(&f, a->holes[0].value, "x");
    assert_int_equal(f.m->parameters[0].type, FLAT_STRING);
    assert_string_equal(f.m->parameters[0].text, "tank");
    give(&f, "x", 0.5);
    f.time = 0.0;
    assert_near(number_of(&f, f.m->asserts[0].value), 1.0);
    assert_near(number_of(&f, f.m->asserts[2].value), 1.0);
    f.time = 2.0;
    assert_near(number_of(&f, f.m->asserts[2].value), 0.0);
    give(&f, "x", 3.0);
    assert_near(number_of(&f, a->value), 0.0);
    release(&f);
}

static void initial_sections(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x, y;\n  Integer k(start = 0);\n"
                               "initial equation\n  der(x) = 0;\n  pre(k) = 3;\n"
                               "initial algorithm\n  y := 2;\n  y := y*x;\n"
                               "equation\n  der(x) = -x;\n  der(y) = 1;\n"
                               "  when x > 1 then\n    k = pre(k) + 1;\n  end when;\nend M;\n");
    assert_int_equal(f.m->initial_count, 3);
    assert_int_equal(f.m->equation_count, 2);
    assert_text(&f, f.m->initial_equations[0].residual, "der(x)");
    assert_text(&f, f.m->initial_equations[1].residual, "pre(k) - 3");
    assert_text(&f, f.m->initial_equations[2].right, "2*x");
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations),           cmocka_unit_test(sorted_discretes),
        cmocka_unit_test(bouncing_ball),       cmocka_unit_test(when_forms),
        cmocka_unit_test(mixed_order),         cmocka_unit_test(pre_edge_change),
        cmocka_unit_test(algorithm_with_when), cmocka_unit_test(rounding_events),
        cmocka_unit_test(assertions),          cmocka_unit_test(initial_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
