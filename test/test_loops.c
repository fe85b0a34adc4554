/* Loops that stay loops: equations of later passes made from the first, rows differentiated by
 * their shape, tapes and emitted C with loops. Each gives what the text and every row by itself
 * give. */
#include "base/memory.h"
#include "expr/derive.h"
#include "expr/emit.h"
#include "expr/native.h"
#include "expr/tape_code.h"
#include "test_modelica_flatten.h"

#include <stdio.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* In the place of '@' comes nothing, or a term that is 0 and has a function of the counter: then
 * each pass is evaluated from the text. */
static const struct {
    const char *name, *text;
} cases[] = {
    {"line", "model M parameter Integer n = 300; parameter Real a = 2; Real u[n];\nequation\n"
             "der(u[1]) = a*(u[2] - 2*u[1]);\n"
             "for i in 2:n - 1 loop\n der(u[i]) = a*(u[i + 1] - 2*u[i] + u[i - 1])@;\nend for;\n"
             "der(u[n]) = u[n - 1] - u[n];\nend M;\n"},
    {"grid",
     "model M parameter Integer n = 25; parameter Real c = 3; Real u[n, n], v[n, n];\n"
     "equation\nfor j in 2:n - 1 loop for i in 2:n - 1 loop\n"
     "der(u[j, i]) = 1 + u[j, i]^2*v[j, i] - 4*u[j, i] + c*(u[j + 1, i] + u[j - 1, i] + "
     "u[j, i + 1] + u[j, i - 1] - 4*u[j, i])@;\n"
     "der(v[j, i]) = sin(v[j, i])*cos(v[j, i]) - u[j, i]^2*v[j, i] + c*v[j, i + 1]@;\n"
     "end for; end for;\n"
     "for i in 1:n loop\n u[1, i] = time@; u[n, i] = 2*v[n, i]@; v[1, i] = i*0.5; v[n, i] = "
     "u[1, n + 1 - i]@;\nend for;\n"
     "for i in 2:n - 1 loop\n u[i, 1] = 1@; u[i, n] = u[i, 1]@; v[i, 1] = u[i, n]^3@; "
     "v[i, n] = 2@;\nend for;\nend M;\n"},
    {"grid with an edge",
     "model M parameter Integer n = 24; parameter Real h = 1/(n + 1), p = 3;\n"
     "Real u[n, n](start = {{sin(p*i*h)*cos(2*p*j*h)/2 + (if i > j then h*i^2 else -j)@ for j in "
     "1:n} for i in 1:n}, fixed = {{mod(i + j, 2) == 0 for j in 1:n} for i in 1:n});\n"
     "equation\nfor i in 1:n loop for j in 1:n loop\n"
     "(if mod(i + j, 2) == 0 then p*der(u[i, j]) else 0) + u[i, j] = (if i + j == 2 then sin(time) "
     "else 0) + ((if i > 1 then u[i - 1, j] else 0) + (if i < n then u[i + 1, j] else 0) + (if j > "
     "1 then u[i, j - 1] else 0) + (if j < n then u[i, j + 1] else 0) - 4*u[i, j])/h^2@;\n"
     "end for; end for;\nend M;\n"},
    {"subscripts with an edge",
     "model M parameter Integer n = 24; final parameter Real h = 1/(n - 1);\n"
     "Real u[n, n](start = {{22*((j - 1)*h)*(1 - (j - 1)*h)^1.5@ for j in 1:n} for i in 1:n});\n"
     "equation\nfor i in 1:n loop for j in 1:n loop\n"
     "der(u[i, j]) = 2*u[i, j]^2 + h*(u[if i > 1 then i - 1 else 2, j] + u[if i < n then i + 1 "
     "else n - 1, j] + u[i, if j > 1 then j - 1 else end - 22] + u[i, rem(j, n) + 1])@;\n"
     "end for; end for;\nend M;\n"},
    {"numbers of counters",
     "model M parameter Integer n = 300, k = 4; parameter Real h = 1/n; constant Real c[n] = "
     "{0.1*i "
     "for i in 1:n}; Real u[n](start = {-sqrt(i)*k/n + 0.5*i - i*i@ for i in 1:n}), v[n];\n"
     "equation\nfor i in 1:n loop\n der(u[i]) = (i - 7)*u[i]/(2*i + 1) + (3 - i)*h*v[n + 1 - i]*"
     "(if div(i, 10) == 3 or i > 290 then c[i] elseif i == 77 then n else i)@;\n"
     "v[i] = u[i]*c[i] - exp(-i*h)@;\nend for;\nend M;\n"},
    {"strides",
     "model M parameter Integer n = 400; parameter Real R[n] = {1 + 0.1*k for k in 1:n}; "
     "Real u[n];\nequation\nfor i in 1:2:n - 1 loop\n"
     "R[i]*der(u[i]) = -u[i]*R[2*div(n, 2) - i + 1 - 1 + 1]@;\nend for;\n"
     "for i in 2:2:n loop\n der(u[i]) = u[n + 1 - i]/R[i] - exp(-u[i - 1])@;\nend for;\n"
     "end M;\n"},
    {"counters",
     "model M parameter Integer n = 400; Real u[n];\nequation\nfor i in 1:n - 1 loop\n"
     "der(u[i]) = i*u[i] - u[i + 1]/(2*i + 1)@;\nend for;\nder(u[n]) = u[1];\nend M;\n"},
    {"passes that differ",
     "model M parameter Integer n = 301; Real u[n], s;\nequation\n"
     "for i in 1:n loop\n der(u[i]) = u[i]*u[7] - u[i] + s*u[n + 1 - i]@;\nend for;\n"
     "s = u[1] - u[2];\nend M;\n"},
    {"functions", "model M\nfunction f input Real x; input Real y; output Real z; algorithm\n"
                  "z := x*y; for k in 1:3 loop z := z + sin(z)/k; end for; end f;\n"
                  "parameter Integer n = 300; Real u[n];\nequation\n"
                  "for i in 1:n - 1 loop\n der(u[i]) = f(u[i], u[i + 1])@;\nend for;\n"
                  "der(u[n]) = f(u[n], 1);\nend M;\n"},
    {"deciding parameters",
     "model M\nfunction f input Real x; input Integer k; output Real z; algorithm\n"
     "z := x; for j in 1:k loop z := z + sin(z)/j; end for; end f;\n"
     "parameter Integer n = 300; parameter Integer N[n] = {if k < 100 then 2 else 4 for k in "
     "1:n};\n"
     "parameter Real c[n] = {if k < 50 then 1 else 2 for k in 1:n};\nReal u[n], v[n];\nequation\n"
     "for i in 1:n loop\n der(u[i]) = f(u[i], N[i])@;\n"
     "der(v[i]) = f(v[i], integer(c[i]))@;\nend for;\nend M;\n"},
    {"events", "model M parameter Integer n = 200; Real u[n];\nequation\nfor i in 1:n loop\n"
               "der(u[i]) = (if u[i] > 0.5 then -u[i] else 1)@;\nend for;\nend M;\n"},
    /* the first passes have the same j, and so the same memory, which no element of the text is */
    {"memory before events",
     "model M parameter Integer n = 6; Real w[n, n]; discrete Real d[n];\nequation\n"
     "for j in 1:n loop\n when time > 0.1*j then d[j] = pre(d[j]) + j; end when;\nend for;\n"
     "for j in 1:n loop for i in 1:n loop\n der(w[j, i]) = pre(d[j])*w[j, i]@;\nend for; end for;\n"
     "end M;\n"},
    {"memory of relations",
     "model M parameter Integer n = 6; Real w[n, n], u[n], y[n];\nequation\n"
     "for j in 1:n loop\n y[j] = if u[j] > 0.5 then 1 else 2; der(u[j]) = j;\nend for;\n"
     "for j in 1:n loop for i in 1:n loop\n der(w[j, i]) = (if u[j] > 0.5 then w[j, i] else 1)@;\n"
     "end for; end for;\nend M;\n"},
    {"ifs", "model M parameter Integer n = 300; Real u[n];\nequation\nfor i in 1:n - 1 loop\n"
            "der(u[i]) = noEvent(if u[i] > u[i + 1] then sqrt(abs(u[i])) else min(u[i], 2))@;\n"
            "end for;\nder(u[n]) = 1;\nend M;\n"},
    {"chain",
     "model M parameter Integer n = 60; parameter Real L = 0.1, g = 9.81; Real[n] x, y, vx, "
     "vy, T;\nequation\nfor i in 1:n loop\n der(x[i]) = vx[i]@; der(y[i]) = vy[i]@;\n"
     "end for;\nfor i in 2:n - 1 loop\n"
     "der(vx[i]) = -T[i]*(x[i] - x[i - 1]) + T[i + 1]*(x[i + 1] - x[i])@;\n"
     "der(vy[i]) = -T[i]*(y[i] - y[i - 1]) + T[i + 1]*(y[i + 1] - y[i]) - g@;\nend for;\n"
     "for i in 2:n loop\n (x[i] - x[i - 1])^2 + (y[i] - y[i - 1])^2 = L^2@;\nend for;\n"
     "x[1]^2 + y[1]^2 = L^2; der(vx[1]) = -T[1]*x[1]; der(vy[1]) = -T[1]*y[1];\n"
     "der(vx[n]) = -T[n]*x[n]; der(vy[n]) = -T[n]*y[n];\nend M;\n"},
    {"squares",
     "model M parameter Integer n = 100; Real u[n];\nequation\nfor i in 1:10 loop\n"
     "der(u[i*i]) = u[i]@;\nend for;\nfor i in 1:n loop\n"
     "if i <> 1 and i <> 4 and i <> 9 and i <> 16 and i <> 25 and i <> 36 and i <> 49 and "
     "i <> 64 and i <> 81 and i <> 100 then\n der(u[i]) = 1 - u[i]@;\nend if;\nend for;\n"
     "end M;\n"},
    /* GCC 12 finds the place of one operand from those of others, by an address that begins at 0,
     * takes that for an access to NULL, and leaves the call of the loop out. */
    {"crossing diagonals",
     "model M parameter Real p = 2, q = 3; Real x[120], v[2, 14];\nequation\n"
     "for j in 1:2 loop for i in 1:14 loop\n"
     "v[j, i] = sin(v[j, i]) + x[66 - 2*j - 2*i] - cos(x[4 + 2*j + 2*i]*x[j + i])@;\n"
     "end for; end for;\nfor i in 1:120 loop\n"
     "der(x[i]) = p*x[i]*x[121 - i] - q*(x[i] + sin(x[i])*x[i] - x[i]*exp(-x[i]))@;\nend for;\n"
     "end M;\n"},
};

enum { CASES = sizeof cases / sizeof *cases, LONGEST = 4000 };

static flattened flatten_case(int k, const char *term)
{
    char text[LONGEST], *to = text;
    for (const char *from = cases[k].text; *from; from++) {
        if (*from != '@') {
            *to++ = *from;
            continue;
        }
        for (const char *t = term; *t; t++) *to++ = *t;
    }
    *to = '\0';
    assert_true(to < text + LONGEST);
    return flatten_good(text);
}

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct place {
    double *value[3], *parameter, *memory;
} place;

static double number_at(size_t k, double shift)
{
    return sin(1.7 * (double)k + shift) * 1.5;
}

static double *numbers(size_t count, double shift)
{
    double *x = DAE_ARRAY(double, count + 1);
    assert_non_null(x);
    for (size_t k = 0; k < count; k++) x[k] = number_at(k, shift);
    return x;
}

static place place_of(const flat_model *m)
{
    return (place){{numbers(m->variable_count, 0.1), numbers(m->variable_count, 0.7),
                    numbers(m->variable_count, 2.0)},
                   numbers(m->parameter_count, 0.3),
                   numbers((size_t)m->memory_count, 0.9)};
}

static void place_free(place *p)
{
    dae_free_all(p->value[0], p->value[1], p->value[2], p->parameter, p->memory);
}

static tape_inputs inputs_of(const place *p)
{
    return (tape_inputs){.time = 0.4,
                         .values = {p->value[0], p->value[1], p->value[2]},
                         .parameters = p->parameter,
                         .memory = p->memory};
}

static double *run_tape(tape *t, const place *p, size_t count)
{
    assert_non_null(t);
    double *work = DAE_ARRAY(double, tape_work_size(t)), *out = DAE_ARRAY(double, count + 1);
    const tape_inputs in = inputs_of(p);
    tape_prepare(t, &in, work);
    tape_run(t, &in, work, out);
    dae_free(work);
    tape_free(t);
    return out;
}

static void assert_same_bits(const double *a, const double *b, size_t count, const char *what)
{
    for (size_t k = 0; k < count; k++)
        if (memcmp(&a[k], &b[k], sizeof *a) != 0 && !(a[k] != a[k] && b[k] != b[k]))
            fail_msg("%s: output %zu is %.17g and %.17g", what, k, a[k], b[k]);
}

static expr *residuals(const flat_model *m)
{
    expr *e = DAE_ARRAY(expr, m->equation_count + 1);
    for (size_t k = 0; k < m->equation_count; k++) e[k] = m->equations[k].residual;
    return e;
}

/* All partial derivatives; `apart`: each row by itself, so that none is like another. */
static expr *gradients(flat_model *m, bool apart, size_t *count)
{
    gradient of = {0};
    expr *all = NULL;
    size_t room = 0;
    *count = 0;
    for (size_t k = 0; k < m->equation_count; k++) {
        assert_true(derive_gradient(m->graph, m->equations[k].residual, &of));
        assert_true(dae_grow(&all, &room, *count + 2 * of.count + 1, sizeof *all));
        for (size_t j = 0; j < of.count; j++) all[(*count)++] = of.derivative[j];
        for (size_t j = 0; j < of.count; j++) all[(*count)++] = of.leaf[j];
        if (apart) gradient_free(&of);
    }
    gradient_free(&of);
    return all;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Start values, and whether they are fixed. */
static void assert_same_starts(const flat_model *m, const flat_model *n, const place *p,
                               const char *what)
{
    const size_t count = m->variable_count;
    expr *a = DAE_ARRAY(expr, count + 1), *b = DAE_ARRAY(expr, count + 1);
    size_t given = 0;
    assert_int_equal(n->variable_count, count);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(m->variables[k].fixed, n->variables[k].fixed);
        assert_int_equal(m->variables[k].has_start, n->variables[k].has_start);
        if (!m->variables[k].has_start) continue;
        a[given] = m->variables[k].start;
        b[given++] = n->variables[k].start;
    }
    double *x = run_tape(straight_tape(m->graph, a, given), p, given);
    double *y = run_tape(straight_tape(n->graph, b, given), p, given);
    assert_same_bits(x, y, given, what);
    dae_free_all(a, b, x, y);
}

/* Passes by the first one and passes by the text are the same equations, with the same names. */
static void test_passes(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        flattened f = flatten_case(k, ""), g = flatten_case(k, " + 0*max(i, 1)");
        place p = place_of(f.m);
        expr *a = residuals(f.m), *b = residuals(g.m);
        assert_int_equal(f.m->equation_count, g.m->equation_count);
        assert_int_equal(f.m->relation_count, g.m->relation_count);
        assert_int_equal(f.m->memory_count, g.m->memory_count);
        for (size_t i = 0; i < f.m->equation_count; i++) {
            const flat_equation *q = &f.m->equations[i], *r = &g.m->equations[i];
            assert_int_equal(q->place.line, r->place.line);
            assert_int_equal(q->pass != NULL, r->pass != NULL);
            if (q->pass) assert_string_equal(q->pass, r->pass);
        }
        double *x =
            run_tape(straight_tape(f.m->graph, a, f.m->equation_count), &p, f.m->equation_count);
        double *y =
            run_tape(straight_tape(g.m->graph, b, g.m->equation_count), &p, g.m->equation_count);
        assert_same_bits(x, y, f.m->equation_count, cases[k].name);
        dae_free_all(a, b, x, y);
        assert_same_starts(f.m, g.m, &p, cases[k].name);
        place_free(&p);
        release(&f);
        release(&g);
    }
}

/* What is left out of a pass that is no evaluation of the text is no message: products with 1 and
 * 2 keep their unit, and others may mean a quantity, so that two passes of these do not agree; a
 * subscript is outside of its array in the last one. */
static void test_passes_with_messages(void **state)
{
    static const struct {
        const char *text, *message;
    } texts[] = {
        {"model M parameter Integer n = 60; Real x[n](each unit = \"m\"), y[n](each unit = "
         "\"s\");\nequation\nfor i in 3:n loop\n y[i] = (i - 40)*x[i]; x[i] = 1;\nend for;\n"
         "for i in 1:2 loop y[i] = 1; x[i] = 1; end for;\nend M;\n",
         "m"},
        {"model M parameter Integer n = 60; Real x[n];\nequation\nfor i in 1:n loop\n"
         "x[i] = x[if i < n then i + 1 else i + 2] - 1;\nend for;\nend M;\n",
         "subscript 62 of 'x' is outside 1..60 (i = 60)"},
        {"model M parameter Integer n = 60; Real x[n](start = {sqrt(50.3 - i) for i in 1:n});\n"
         "equation\nfor i in 1:n loop\n der(x[i]) = 1;\nend for;\nend M;\n",
         "outside the domain (i = 51)"},
        {"model M parameter Real x[8, 9] = {{1/(8*i + j - 72 + 1) for j in 1:9} for i in 1:8};\n"
         "end M;\n",
         "division by zero (i = 8, j = 7)"},
        {"model M parameter Integer n = 60; Real x[n];\nequation\nfor i in 1:n loop\n"
         "x[i] = i^2*exp(15*i);\nend for;\nend M;\n",
         "this is infinite or too large for a number (i = 47)"},
        {"model M Integer k[20];\nequation\nfor i in 1:20 loop\n"
         "k[i] = (i - 30)*i*i*i*i*i*i*i*i*i*i*i*i*i;\nend for;\nend M;\n",
         "is beyond 2^53 (i = 14)"},
        {"model M parameter Integer n = 60; Real x[n];\nequation\nfor i in 1:n loop\n"
         "x[i] = 1/(i - 50);\nend for;\nend M;\n",
         "division by zero (i = 50)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        flattened f = flatten_with("test.mo", texts[k].text, NULL, 0);
        assert_true(message_errors(f.messages) + message_warnings(f.messages) > 0);
        if (!strstr(message_text(f.messages), texts[k].message))
            fail_msg("%s", message_text(f.messages));
        release(&f);
    }
}

/* Calls in texts that are evaluated count as passes, those in formulas do not: at most three passes
 * for each of 20 000 elements and equations, which have four calls and seven. */
static void test_formulas_are_used(void **state)
{
    static const char *const text =
        "model M parameter Integer n = 100; parameter Real h = 1/n;\n"
        "Real u[n, n](start = {{sin(i*h)*cos(j*h)*sin(2*i*h)*cos(3*j*h) for j in 1:n} for i in "
        "1:n});\nequation\nfor i in 1:n loop for j in 1:n loop\n"
        "der(u[i, j]) = sin(u[i, j]) + exp(u[if i > 1 then i - 1 else n, j])*cos(i*h) + (if j < n "
        "then tanh(u[i, j + 1]) else 0)*sqrt(j*h) + log(1 + u[i, j]^2);\nend for; end for;\n"
        "end M;\n";
    flatten_limits limits = {.elements = 100000,
                             .nodes = 1000000,
                             .passes = 60000,
                             .run_passes = 1000,
                             .bytes = (size_t)1 << 30,
                             .call_passes = 1000,
                             .call_bytes = (size_t)1 << 20,
                             .reach = 1e9};
    flattened f = {.tree = arena_new(0),
                   .messages = message_list_new("m.mo", text, strlen(text), 0)};
    (void)state;
    ast_file *file = parse_file(f.tree, text, strlen(text), f.messages);
    f.m = flatten_within(file, "m.mo", NULL, 0, limits, f.messages);
    if (!f.m) fail_msg("%s", message_text(f.messages));
    release(&f);
}

/* Rows that are like others have the derivatives that they have by themselves. */
static void test_gradients(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; k++) {
        flattened f = flatten_case(k, ""), g = flatten_case(k, "");
        place p = place_of(f.m);
        size_t count, alone;
        expr *a = gradients(f.m, false, &count), *b = gradients(g.m, true, &alone);
        assert_int_equal(count, alone);
        double *x = run_tape(straight_tape(f.m->graph, a, count), &p, count);
        double *y = run_tape(straight_tape(g.m->graph, b, count), &p, count);
        assert_same_bits(x, y, count, cases[k].name);
        dae_free_all(a, b, x, y);
        place_free(&p);
        release(&f);
        release(&g);
    }
}

/* Tapes with loops give the bits of those without, and are short. */
static void test_tapes(void **state)
{
    (void)state;
    size_t looped = 0;
    for (int k = 0; k < CASES; k++) {
        flattened f = flatten_case(k, "");
        place p = place_of(f.m);
        size_t count[2] = {f.m->equation_count, 0};
        expr *e[2] = {residuals(f.m), gradients(f.m, false, &count[1])};
        for (int what = 0; what < 2; what++) {
            tape *t = tape_new(f.m->graph, e[what], count[what]);
            assert_non_null(t);
            looped += t->rolled != NULL;
            if (k == 0) { /* a line: whatever its length, ten loops at most */
                assert_non_null(t->rolled);
                assert_true(t->rolled->family_count <= 10);
                assert_true(tape_size(t) < 100);
                assert_true(tape_length(t) >= count[what] - 20);
            }
            double *x = run_tape(t, &p, count[what]);
            double *y = run_tape(straight_tape(f.m->graph, e[what], count[what]), &p, count[what]);
            assert_same_bits(x, y, count[what], cases[k].name);
            dae_free_all(x, y, e[what]);
        }
        place_free(&p);
        release(&f);
    }
    assert_true(looped >= 12);
}

static emit_text c_of(const flat_model *m, const char *name)
{
    emit_text t = {0};
    expr *e = residuals(m);
    emit_function f = {.name = name, .e = e, .count = m->equation_count};
    emit_unit(&t, m->graph, &f, 1, NULL, NULL);
    assert_false(t.failed);
    dae_free(e);
    return t;
}

/* Native code of these expressions gives the bits of the tape. */
static void assert_native(const flat_model *m, const expr *e, size_t count, const char *what)
{
    emit_text t = {0};
    emit_function f = {.name = "rows", .e = e, .count = count};
    native_module *module;
    char reason[NATIVE_REASON];
    emit_unit(&t, m->graph, &f, 1, NULL, NULL);
    assert_false(t.failed);
    if (native_load(t.text, t.length, &module, reason) != NATIVE_OK) fail_msg("%s", reason);
    native_function run = native_find(module, "rows");
    assert_non_null(run);
    place p = place_of(m);
    double *y = DAE_ARRAY(double, count);
    for (size_t k = 0; k < count; k++) y[k] = NAN; /* what a loop leaves out shows */
    run(0.4, p.value[0], p.value[1], p.value[2], p.parameter, p.memory, y);
    double *x = run_tape(tape_new(m->graph, e, count), &p, count);
    assert_same_bits(x, y, count, what);
    native_free(module);
    emit_free(&t);
    dae_free_all(x, y);
    place_free(&p);
}

static void test_native(void **state)
{
    (void)state;
    if (!native_available()) skip();
    for (int k = 0; k < CASES; k++) {
        flattened f = flatten_case(k, "");
        size_t count;
        expr *rows = residuals(f.m), *partials = gradients(f.m, false, &count);
        assert_native(f.m, rows, f.m->equation_count, cases[k].name);
        if (count < 1000) assert_native(f.m, partials, count, cases[k].name);
        dae_free_all(rows, partials);
        release(&f);
    }
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* The text for n equations has the lines of that for 4 n. */
static void test_text_does_not_grow(void **state)
{
    (void)state;
    size_t lines[2];
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "model M parameter Integer n = %d; Real u[n];\nequation\nder(u[1]) = u[2];\n"
                 "for i in 2:n - 1 loop\n der(u[i]) = u[i + 1] - 2*u[i] + u[i - 1];\nend for;\n"
                 "der(u[n]) = u[n - 1];\nend M;\n",
                 k == 0 ? 2000 : 8000);
        flattened f = flatten_good(text);
        emit_text t = c_of(f.m, "rows");
        lines[k] = lines_of(t.text);
        emit_free(&t);
        release(&f);
    }
    assert_int_equal(lines[0], lines[1]);
    assert_true(lines[0] < 100);
}

/* A pass that fails is named: the element it asks for does not exist. */
static void test_messages(void **state)
{
    (void)state;
    flattened f = flatten_with("test.mo",
                               "model M Real u[50];\nequation\nfor i in 1:50 loop\n"
                               " der(u[i]) = u[i + 1];\nend for;\nend M;\n",
                               NULL, 0);
    assert_int_equal(message_errors(f.messages), 1);
    assert_non_null(strstr(message_text(f.messages), "test.mo:4:"));
    assert_non_null(
        strstr(message_text(f.messages), "subscript 51 of 'u' is outside 1..50 (i = 50)"));
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_passes_with_messages),
        cmocka_unit_test(test_formulas_are_used),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_tapes),
        cmocka_unit_test(test_native),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_text_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
