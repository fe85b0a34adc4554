/* The syntax tree of every construct, the messages for wrong texts, and the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/fuzz_parser.c" /* the checks of the fuzz target, for its corpus */
#include "modelica/syntax/parser.h"

/* ---- parsing for a test ---- */

typedef struct parsed {
    arena *memory;
    message_list *messages;
    ast_file *file;
} parsed;

static parsed parse_bytes(const char *name, const char *text, size_t length)
{
    parsed p = {.memory = arena_new(FIXED_BYTES + BYTES_PER_BYTE * length),
                .messages = message_list_new(name, text, length, 0)};
    assert_non_null(p.memory);
    assert_non_null(p.messages);
    p.file = parse_file(p.memory, text, length, p.messages);
    assert_non_null(p.file);
    return p;
}

static void release(parsed *p)
{
    message_list_free(p->messages);
    arena_free(p->memory);
}

/* A text without errors and warnings. */
static parsed parse_clean(const char *text)
{
    parsed p = parse_bytes("t.mo", text, strlen(text));
    const char *messages = message_text(p.messages);
    if (*messages) print_message("%s", messages);
    assert_string_equal(messages, "");
    return p;
}

/* ---- expressions as text with all brackets ---- */

typedef struct printed {
    char text[4096];
    size_t length;
} printed;

static void say(printed *out, const char *text)
{
    int n = snprintf(out->text + out->length, sizeof out->text - out->length, "%s", text);
    assert_true(n >= 0 && out->length + (size_t)n < sizeof out->text);
    out->length += (size_t)n;
}

static void print_expr(printed *out, const ast_expr *e);

static void print_list(printed *out, ast_expr *const *args, size_t count, const char *open,
                       const char *close)
{
    say(out, open);
    for (size_t i = 0; i < count; i++) {
        if (i) say(out, ",");
        if (args[i]) print_expr(out, args[i]);
    }
    say(out, close);
}

static void print_parts(printed *out, const ast_expr *e)
{
    for (size_t i = 0; i < e->part_count; i++) {
        if (i) say(out, ".");
        say(out, e->parts[i].name);
        if (e->parts[i].subscript_count)
            print_list(out, e->parts[i].subscripts, e->parts[i].subscript_count, "[", "]");
    }
}

static void print_call(printed *out, const ast_expr *e)
{
    print_parts(out, e);
    print_list(out, e->args, e->arg_count, "(", "");
    for (size_t i = 0; i < e->named_count; i++) {
        if (i || e->arg_count) say(out, ",");
        say(out, e->named[i].name);
        say(out, "=");
        print_expr(out, e->named[i].value);
    }
    say(out, ")");
}

static void print_comprehension(printed *out, const ast_expr *e)
{
    print_parts(out, e);
    print_list(out, e->args, e->arg_count, "{", "");
    for (size_t i = 0; i < e->iterator_count; i++) {
        say(out, i ? "," : " for ");
        say(out, e->iterators[i].name);
        say(out, " in ");
        if (e->iterators[i].range) print_expr(out, e->iterators[i].range);
    }
    say(out, "}");
}

static void print_number(printed *out, const ast_expr *e)
{
    char number[40];
    snprintf(number, sizeof number, e->integer ? "%.0f" : "%.17g!", e->value);
    say(out, number);
}

static void print_expr(printed *out, const ast_expr *e)
{
    static const char *const ops[] = {
        "+",  "-", "*",  "/",  "^",  ".+",  ".-", ".*",  "./", ".^", "<",
        "<=", ">", ">=", "==", "<>", "and", "or", "not", "+",  "-"};
    switch (e->kind) {
    case AST_NUMBER: print_number(out, e); break;
    case AST_STRING: say(out, "\""), say(out, e->text), say(out, "\""); break;
    case AST_BOOLEAN: say(out, e->value != 0.0 ? "T" : "F"); break;
    case AST_REFERENCE: print_parts(out, e); break;
    case AST_CALL: print_call(out, e); break;
    case AST_FUNCTION: say(out, "function "), print_call(out, e); break;
    case AST_UNARY:
        say(out, "("), say(out, ops[e->op]), say(out, " ");
        print_expr(out, e->args[0]);
        say(out, ")");
        break;
    case AST_BINARY:
        say(out, "("), print_expr(out, e->args[0]);
        say(out, " "), say(out, ops[e->op]), say(out, " ");
        print_expr(out, e->args[1]), say(out, ")");
        break;
    case AST_IF: print_list(out, e->args, e->arg_count, "if(", ")"); break;
    case AST_RANGE: print_list(out, e->args, e->arg_count, "range(", ")"); break;
    case AST_ARRAY: print_list(out, e->args, e->arg_count, "{", "}"); break;
    case AST_MATRIX: print_list(out, e->args, e->arg_count, "matrix(", ")"); break;
    case AST_ROW: print_list(out, e->args, e->arg_count, "row(", ")"); break;
    case AST_COMPREHENSION: print_comprehension(out, e); break;
    case AST_MEMBER: print_list(out, e->args, 1, "(", ")."), print_parts(out, e); break;
    case AST_TUPLE: print_list(out, e->args, e->arg_count, "tuple(", ")"); break;
    case AST_COLON: say(out, ":"); break;
    case AST_END: say(out, "end"); break;
    case AST_SUBSCRIPT: print_list(out, e->args, e->arg_count, "sub(", ")"); break;
    }
}

static void check_printed(const ast_expr *e, const char *expected)
{
    printed out = {0};
    assert_non_null(e);
    print_expr(&out, e);
    assert_string_equal(out.text, expected);
}

/* The text as the right side of an equation, and how it is understood. */
typedef struct expression_case {
    const char *text, *meaning;
} expression_case;

static void check_expressions(const expression_case *cases, size_t count, int warnings)
{
    for (size_t i = 0; i < count; i++) {
        char text[512];
        snprintf(text, sizeof text, "model M equation x = %s; end M;", cases[i].text);
        parsed p = parse_bytes("t.mo", text, strlen(text));
        if (message_errors(p.messages)) print_message("%s", message_text(p.messages));
        assert_int_equal(message_errors(p.messages), 0);
        assert_int_equal(message_warnings(p.messages), warnings);
        assert_int_equal(p.file->model->sections[0].item_count, 1);
        check_printed(p.file->model->sections[0].items[0]->right, cases[i].meaning);
        release(&p);
    }
}
#define CHECK_EXPRESSIONS(cases, warnings)                                                         \
    check_expressions(cases, sizeof(cases) / sizeof *(cases), warnings)

/* Precedences and associativity of the Modelica specification, 3.2: by hand. */
static void precedence(void **state)
{
    (void)state;
    static const expression_case cases[] = {
        {"1 + 2 * 3", "(1 + (2 * 3))"},
        {"a - b - c", "((a - b) - c)"},
        {"a / b * c", "((a / b) * c)"},
        {"-a + b", "((- a) + b)"},
        {"-a * b", "(- (a * b))"},
        {"-a ^ 2", "(- (a ^ 2))"},
        {"2 * a ^ b", "(2 * (a ^ b))"},
        {"(a ^ b) ^ c", "((a ^ b) ^ c)"},
        {"a .+ b .- c .* d ./ e .^ f", "((a .+ b) .- ((c .* d) ./ (e .^ f)))"},
        {".-a .* b", "(- (a .* b))"},
        {"a or b and not c", "(a or (b and (not c)))"},
        {"not a < b", "(not (a < b))"},
        {"a + 1 <= b and c <> d or e == f", "((((a + 1) <= b) and (c <> d)) or (e == f))"},
        {"a >= -b", "(a >= (- b))"},
        {"(a or b) and c", "((a or b) and c)"},
        {"1:n", "range(1,n)"},
        {"1:2:n + 1", "range(1,2,(n + 1))"},
        {"not a and b", "((not a) and b)"},
    };
    CHECK_EXPRESSIONS(cases, 0);
}

static void signs_behind_operators(void **state)
{
    (void)state;
    static const expression_case cases[] = {
        {"2 * -a * b", "((2 * (- a)) * b)"}, {"a ^ -b", "(a ^ (- b))"},
        {"a - -b", "(a - (- b))"},           {"- -a", "(- (- a))"},
        {"a == not b", "(a == (not b))"},
    };
    CHECK_EXPRESSIONS(cases, 1);
}

static void primaries(void **state)
{
    (void)state;
    static const expression_case cases[] = {
        {"3", "3"},
        {"3.0", "3!"},
        {"1e3", "1000!"},
        {"true", "T"},
        {"false", "F"},
        {"\"a\\\"b\"", "\"a\"b\""},
        {"\"a\" + \"b\"", "(\"a\" + \"b\")"},
        {"a.b[i, :].'c d'", "a.b[i,:].'c d'"},
        {".a.b", "a.b"},
        {"x[end - 1, 2:end]", "x[(end - 1),range(2,end)]"},
        {"x[y[end], end]", "x[y[end],end]"},
        {"f()", "f()"},
        {"f(function g(a=1), h=function k())", "f(function g(a=1),h=function k())"},
        {"A.f(1, b, c = 2, d = g(3))", "A.f(1,b,c=2,d=g(3))"},
        {"der(der(q[1]))", "der(der(q[1]))"},
        {"initial()", "initial()"},
        {"pure(f(1))", "pure(f(1))"},
        {"{1, 2, {3}}", "{1,2,{3}}"},
        {"[1, 2; 3, 4]", "matrix(row(1,2),row(3,4))"},
        {"[a]", "matrix(row(a))"},
        {"sum(i ^ 2 for i in 1:n)", "sum{(i ^ 2) for i in range(1,n)}"},
        {"{i * j for i in 1:2, j in v}", "{(i * j) for i in range(1,2),j in v}"},
        {"{i for i}", "{i for i in }"},
        {"((a))", "a"},
        {"(a, b)", "tuple(a,b)"},
        {"(, a, )", "tuple(,a,)"},
        {"(a)[1]", "sub(a,1)"},
        {"f(x)[1, :]", "sub(f(x),1,:)"},
        {"if a then 1 else 2", "if(a,1,2)"},
        {"if a then 1 elseif b then 2 else 3", "if(a,1,b,2,3)"},
        {"if a then 1 else if b then 2 else 3", "if(a,1,b,2,3)"},
        {"if a then if b then 1 else 2 else 3", "if(a,if(b,1,2),3)"},
        {"(if a then 1 else 2) + 3", "(if(a,1,2) + 3)"},
        {"1 @12", "1"},
    };
    CHECK_EXPRESSIONS(cases, 0);
}

static void places_of_expressions(void **state)
{
    (void)state;
    parsed p = parse_clean("model M\nequation\n  x = foo(a) +\n    b;\nend M;");
    const ast_item *item = p.file->model->sections[0].items[0];
    assert_int_equal(item->place.line, 3);
    assert_int_equal(item->place.column, 3);
    assert_int_equal(item->right->place.line, 3); /* the operator */
    assert_int_equal(item->right->place.column, 14);
    assert_int_equal(item->right->end.line, 4);
    assert_int_equal(item->right->end.column, 6);
    assert_int_equal(item->right->args[0]->place.column, 7);
    assert_int_equal(item->right->args[0]->end.column, 13);
    release(&p);
}

/* ---- equations and statements ---- */

static const ast_item *only_item(const parsed *p)
{
    assert_int_equal(p->file->model->section_count, 1);
    assert_int_equal(p->file->model->sections[0].item_count, 1);
    return p->file->model->sections[0].items[0];
}

static void simple_items(void **state)
{
    (void)state;
    parsed p =
        parse_clean("model M equation der(x) = -x \"decay\" + \"!\" annotation(A(b = {1}));\n"
                    "(a, , b) = f(x); assert(x > 0, \"no\"); @3 x = 1;\n"
                    "algorithm y := 2; (u, v) := g(y); h(); break; return; end M;");
    const ast_class *m = p.file->model;
    assert_int_equal(m->section_count, 2);
    assert_false(m->sections[0].algorithm);
    assert_true(m->sections[1].algorithm);
    ast_item **e = m->sections[0].items, **s = m->sections[1].items;
    assert_int_equal(m->sections[0].item_count, 4);
    assert_int_equal(m->sections[1].item_count, 5);
    assert_int_equal(e[0]->kind, ITEM_EQUATION);
    assert_string_equal(e[0]->comment, "decay!");
    check_printed(e[0]->left, "der(x)");
    check_printed(e[0]->right, "(- x)");
    check_printed(e[1]->left, "tuple(a,,b)");
    assert_null(e[1]->comment);
    assert_int_equal(e[2]->kind, ITEM_CALL);
    check_printed(e[2]->left, "assert((x > 0),\"no\")");
    assert_int_equal(s[0]->kind, ITEM_ASSIGN);
    check_printed(s[0]->left, "y");
    check_printed(s[1]->left, "tuple(u,v)");
    check_printed(s[1]->right, "g(y)");
    assert_int_equal(s[2]->kind, ITEM_CALL);
    assert_int_equal(s[3]->kind, ITEM_BREAK);
    assert_int_equal(s[4]->kind, ITEM_RETURN);
    release(&p);
}

static void if_items(void **state)
{
    (void)state;
    parsed p = parse_clean("model M equation if a then x = 1; y = 2; elseif b then elseif c then "
                           "x = 3; else z = 4; end if \"which\"; end M;");
    const ast_item *item = only_item(&p);
    assert_int_equal(item->kind, ITEM_IF);
    assert_string_equal(item->comment, "which");
    assert_int_equal(item->branch_count, 4);
    check_printed(item->branches[0].condition, "a");
    assert_int_equal(item->branches[0].item_count, 2);
    check_printed(item->branches[1].condition, "b");
    assert_int_equal(item->branches[1].item_count, 0);
    check_printed(item->branches[2].condition, "c");
    assert_null(item->branches[3].condition);
    check_printed(item->branches[3].items[0]->right, "4");
    release(&p);
}

static void for_items(void **state)
{
    (void)state;
    parsed p = parse_clean("model M equation for i in 1:3, j loop for k in {1} loop x[i, j] = k; "
                           "end for; end for; end M;");
    const ast_item *item = only_item(&p);
    assert_int_equal(item->kind, ITEM_FOR);
    assert_int_equal(item->iterator_count, 2);
    assert_string_equal(item->iterators[0].name, "i");
    check_printed(item->iterators[0].range, "range(1,3)");
    assert_null(item->iterators[1].range);
    assert_int_equal(item->branch_count, 1);
    assert_int_equal(item->branches[0].items[0]->kind, ITEM_FOR);
    release(&p);
}

static void when_and_while_items(void **state)
{
    (void)state;
    parsed p = parse_clean("model M algorithm when {a, b} then reinit(x, 1); elsewhen c then "
                           "terminate(\"end\"); end when; while n > 1 loop n := n / 2; break; "
                           "end while; end M;");
    const ast_section *s = &p.file->model->sections[0];
    assert_int_equal(s->item_count, 2);
    assert_int_equal(s->items[0]->kind, ITEM_WHEN);
    assert_int_equal(s->items[0]->branch_count, 2);
    check_printed(s->items[0]->branches[0].condition, "{a,b}");
    check_printed(s->items[0]->branches[1].items[0]->left, "terminate(\"end\")");
    assert_int_equal(s->items[1]->kind, ITEM_WHILE);
    check_printed(s->items[1]->branches[0].condition, "(n > 1)");
    assert_int_equal(s->items[1]->branches[0].item_count, 2);
    release(&p);
}

static void sections(void **state)
{
    (void)state;
    parsed p = parse_clean("model M Real x; parameter equation guess(x) = prioritize(1, 2); "
                           "initial equation x = 1; equation algorithm initial algorithm "
                           "equation y = 2; end M;");
    const ast_class *m = p.file->model;
    assert_int_equal(m->section_count, 6);
    assert_true(m->sections[0].parameter);
    check_printed(m->sections[0].items[0]->left, "guess(x)");
    check_printed(m->sections[0].items[0]->right, "prioritize(1,2)");
    assert_true(m->sections[1].initial && !m->sections[1].algorithm);
    assert_int_equal(m->sections[2].item_count, 0);
    assert_true(!m->sections[3].initial && m->sections[3].algorithm);
    assert_true(m->sections[4].initial && m->sections[4].algorithm);
    assert_int_equal(m->sections[5].item_count, 1);
    release(&p);
}

/* ---- declarations and classes ---- */

/* x, y, z, r, hidden and shown of the next test. */
static void check_later_components(const ast_component *c)
{
    assert_true(c[4].modifications[0].each && !c[4].modifications[0].final_);
    assert_true(c[4].modifications[1].each && c[4].modifications[1].final_);
    assert_int_equal(c[5].size_count, 1);
    check_printed(c[6].sizes[0], ":");
    check_printed(c[6].sizes[1], "3");
    assert_string_equal(c[7].type, "A.B");
    check_printed(c[7].condition, "(n > 2)");
    assert_string_equal(c[7].modifications[0].nested[0].name, "start");
    check_printed(c[7].modifications[0].value, "2");
    assert_string_equal(c[7].modifications[1].name, "q.w");
    assert_true(c[8].protected_);
    check_printed(c[8].value, "4");
    assert_false(c[9].protected_);
}

static void components(void **state)
{
    (void)state;
    parsed p = parse_clean(
        "model M\n"
        "  final parameter Real p(min = 0, max = 1) = 0.5 \"a\" annotation(Evaluate = true);\n"
        "  constant Integer n = 3; discrete input Boolean b; output String s = \"t\";\n"
        "  Real[3] x[2](each start = 1, each final fixed = true), y, z[:] = {1};\n"
        "  A.B r(re(start = 1) = 2, q.w = 3) if n > 2;\n"
        "protected\n  Real hidden := 4;\npublic\n  Real shown;\nend M;");
    const ast_class *m = p.file->model;
    const ast_component *c = m->components;
    assert_int_equal(m->component_count, 10);
    assert_true(c[0].final_ && c[0].variability == VAR_PARAMETER);
    assert_string_equal(c[0].name, "p");
    assert_string_equal(c[0].type, "Real");
    assert_string_equal(c[0].comment, "a");
    assert_int_equal(c[0].modification_count, 2);
    assert_string_equal(c[0].modifications[1].name, "max");
    check_printed(c[0].modifications[1].value, "1");
    check_printed(c[0].value, "0.5!");
    assert_int_equal(c[0].place.line, 2);
    assert_int_equal(c[0].place.column, 24);
    assert_int_equal(c[1].variability, VAR_CONSTANT);
    assert_true(c[2].variability == VAR_DISCRETE && c[2].input && !c[2].output);
    assert_true(c[3].output);
    assert_int_equal(c[4].size_count, 2); /* x[2, 3] */
    check_printed(c[4].sizes[0], "2");
    check_printed(c[4].sizes[1], "3");
    check_later_components(c);
    release(&p);
}

static void types_and_records(void **state)
{
    (void)state;
    parsed p = parse_clean("type V = Real[2, n](unit = \"V\") \"voltage\";\n"
                           "type E = enumeration(low \"l\", 'high');\n"
                           "record R \"a record\" Real a; V b; end R;\n"
                           "model M end M;");
    ast_class **c = p.file->classes;
    assert_int_equal(p.file->class_count, 4);
    assert_int_equal(c[0]->kind, CLASS_TYPE);
    assert_string_equal(c[0]->base, "Real");
    assert_string_equal(c[0]->comment, "voltage");
    assert_int_equal(c[0]->size_count, 2);
    assert_string_equal(c[0]->modifications[0].name, "unit");
    assert_int_equal(c[1]->literal_count, 2);
    assert_string_equal(c[1]->literals[1], "'high'");
    assert_int_equal(c[2]->kind, CLASS_RECORD);
    assert_int_equal(c[2]->component_count, 2);
    assert_string_equal(c[2]->components[1].type, "V");
    assert_ptr_equal(p.file->model, c[3]);
    assert_null(p.file->version);
    release(&p);
}

static void functions(void **state)
{
    (void)state;
    parsed p = parse_clean("pure function f input Real u[:]; output Real y = 1; protected Real s; "
                           "algorithm y := u[1]; annotation(Inline = true); end f;\n"
                           "impure function g output Real y; algorithm y := 1; end g;\n"
                           "function h = f;\nmodel M function k end k; Real x; end M;");
    ast_class **c = p.file->classes;
    assert_true(c[0]->pure && !c[0]->impure);
    assert_int_equal(c[0]->component_count, 3);
    assert_true(c[0]->components[0].input && c[0]->components[1].output);
    assert_true(c[0]->components[2].protected_);
    assert_int_equal(c[0]->section_count, 1);
    assert_true(c[1]->impure);
    assert_string_equal(c[2]->base, "f");
    assert_int_equal(p.file->model->class_count, 1);
    assert_string_equal(p.file->model->classes[0]->name, "k");
    assert_int_equal(p.file->model->component_count, 1);
    release(&p);
}

static void package_wrapper(void **state)
{
    (void)state;
    parsed p = parse_clean("//! base 0.1.0\npackage 'P'\n  type 'T' = Real;\n"
                           "  @1 constant Real 'c' = 3.0 \"global\";\n  model 'P' \"a model\"\n"
                           "    'T' 'a.b[1]'(start = 1 @2) = 'c';\n  end 'P';\n"
                           "  annotation(SourceLocations(x = [1; 2]));\nend 'P';\n");
    assert_string_equal(p.file->version, "0.1.0");
    assert_int_equal(p.file->class_count, 1);
    assert_int_equal(p.file->classes[0]->kind, CLASS_PACKAGE);
    assert_int_equal(p.file->classes[0]->class_count, 2);
    assert_ptr_equal(p.file->model, p.file->classes[0]->classes[1]);
    assert_string_equal(p.file->model->name, "'P'");
    assert_string_equal(p.file->model->comment, "a model");
    assert_int_equal(p.file->constant_count, 1);
    assert_string_equal(p.file->constants[0].name, "'c'");
    assert_string_equal(p.file->constants[0].comment, "global");
    assert_string_equal(p.file->model->components[0].name, "'a.b[1]'");
    release(&p);
}

static void experiment_annotation(void **state)
{
    (void)state;
    parsed p =
        parse_clean("model M Real x; annotation(Icon(graphics = {Line(points = {{1, 2}})}), "
                    "experiment(StopTime = 10, Tolerance = 1e-6), uses(M(version = \"3\"))); "
                    "end M;");
    const ast_class *m = p.file->model;
    assert_int_equal(m->annotation_count, 1);
    assert_string_equal(m->annotation[0].name, "experiment");
    assert_int_equal(m->annotation[0].nested_count, 2);
    assert_string_equal(m->annotation[0].nested[1].name, "Tolerance");
    check_printed(m->annotation[0].nested[0].value, "10");
    release(&p);
}

/* A component whose declaration is wrong keeps its name, and the rest of the file is read. */
static void tree_after_errors(void **state)
{
    (void)state;
    const char *text = "model M Real x(start = ) = 1; Real y = 2 +; equation x = ; y = 1; "
                       "for i in loop y = i; end for; end M;";
    parsed p = parse_bytes("t.mo", text, strlen(text));
    const ast_class *m = p.file->model;
    assert_int_equal(message_errors(p.messages), 4);
    assert_int_equal(m->component_count, 2);
    assert_string_equal(m->components[1].name, "y");
    assert_null(m->components[1].value);
    assert_int_equal(m->sections[0].item_count, 1);
    release(&p);
}

/* A function of the file may have the name of one that is not supported. */
static void own_delay(void **state)
{
    (void)state;
    parsed p = parse_clean("model M Real x = delay(1); function delay end delay; end M;");
    release(&p);
}

/* ---- bounds ---- */

/* Time of this process alone, since tests share the machine. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* head unit unit .. unit tail */
static char *repeat(const char *head, const char *unit, size_t count, const char *tail)
{
    size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
    char *text = malloc(h + u * count + t + 1);
    assert_non_null(text);
    memcpy(text, head, h);
    for (size_t i = 0; i < count; i++) memcpy(text + h + i * u, unit, u);
    memcpy(text + h + u * count, tail, t + 1);
    return text;
}

static size_t left_spine(const ast_expr *e)
{
    size_t length = 0;
    for (; e->kind == AST_BINARY; e = e->args[0]) length++;
    return length;
}

/* A million terms, a million branches, a million statements: no recursion, and no seconds. */
static void long_texts(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    double begin = seconds();
    char *text = repeat("model M equation x = a", " + b", MANY, "; end M;");
    parsed p = parse_clean(text);
    assert_int_equal(left_spine(only_item(&p)->right), MANY);
    release(&p), free(text);
    text = repeat("model M equation x = ", "if a then b else ", MANY / 4, "c; end M;");
    p = parse_clean(text);
    assert_int_equal(only_item(&p)->right->arg_count, MANY / 2 + 1);
    release(&p), free(text);
    text = repeat("model M equation ", "x=1;", MANY / 4, " end M;");
    p = parse_clean(text);
    assert_int_equal(p.file->model->sections[0].item_count, MANY / 4);
    release(&p), free(text);
    text = repeat("model M Real a", ",a", MANY / 4, "; end M;");
    p = parse_clean(text);
    assert_int_equal(p.file->model->component_count, MANY / 4 + 1);
    release(&p), free(text);
    assert_true(seconds() - begin < 60.0); /* about 1 s without sanitizers; quadratic: hours */
}

/* Texts that are wrong a million times end as quickly. */
static void long_wrong_texts(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    static const char *const units[] = {
        "(",         "[",        "{",    "\"",    "'",  "/*",          "x = ", "if ",
        "else ",     "end ",     "x;",   "a.",    "-",  "not ",        "\\",   "\xFF",
        "\xC3\xA9 ", "model M ", "der(", "1..2 ", "; ", "annotation(", "for "};
    double begin = seconds();
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char *text = repeat("model M equation x = ", units[i], MANY, "");
        parsed p = parse_bytes("t.mo", text, strlen(text));
        assert_true(message_errors(p.messages) > 0);
        assert_true(strlen(message_text(p.messages)) < 100000);
        release(&p), free(text);
    }
    assert_true(seconds() - begin < 120.0);
}

static void depth_of(const char *open, const char *close, size_t fits)
{
    for (int deep = 0; deep < 2; deep++) {
        size_t n = deep ? PARSER_DEPTH + 1 : fits;
        char *head = repeat("model M equation x = ", open, n, "y"),
             *tail = repeat("", close, n, "");
        char *text = repeat(head, "", 0, tail);
        char *whole = repeat(text, "; end M;", 1, "");
        parsed p = parse_bytes("t.mo", whole, strlen(whole));
        assert_int_equal(message_errors(p.messages), deep);
        release(&p);
        free(head), free(tail), free(text), free(whole);
    }
}

static void nesting(void **state)
{
    (void)state;
    depth_of("(", ")", 200);
    depth_of("{", "}", 200);
    depth_of("f(", ")", 200);
    depth_of("a[", "]", 200);
    depth_of("1 + 2 * 3 ^ (", ")", 200);
}

/* With little memory the parser says so, at whatever point it runs out. */
static void little_memory(void **state)
{
    (void)state;
    static const char text[] =
        "package P model M parameter Real p(min = 0) = {1, 2}[1] \"a\" + \"b\"; "
        "equation der(x) = f(a, b = 2) + [1, 2; 3, 4]; if a then x = 1; "
        "end if; annotation(experiment(StopTime = 1)); end M; end P;";
    int failed = 0;
    for (size_t limit = 64; limit < 1 << 17; limit += limit / 8 + 64) {
        arena *a = arena_new(limit);
        message_list *m = message_list_new("t.mo", text, sizeof text - 1, 0);
        assert_non_null(m);
        if (!a) {
            message_list_free(m);
            continue;
        }
        ast_file *file = parse_file(a, text, sizeof text - 1, m);
        failed += file == NULL;
        assert_true(file == NULL || message_errors(m) == 0);
        message_list_free(m);
        arena_free(a);
    }
    assert_true(failed > 3);
}

/* ---- messages ---- */

static void message_order_and_limit(void **state)
{
    (void)state;
    static const char text[] = "one\n\ttwo three\n";
    message_list *m = message_list_new("f.mo", text, sizeof text - 1, 3);
    assert_non_null(m);
    message_error(m, (source_place){2, 6}, "second %d", 2);
    message_note(m, (source_place){1, 1}, "see here");
    message_warning(m, (source_place){1, 1}, "first");
    message_error(m, (source_place){2, 6}, "second %d", 2); /* said before */
    message_note(m, (source_place){1, 1}, "of a repeated one");
    message_error(m, (source_place){2, 2}, "tab");
    message_error(m, (source_place){0, 0}, "nowhere");
    assert_true(message_full(m));
    message_error(m, (source_place){1, 1}, "too many");
    message_note(m, (source_place){1, 1}, "of one too many");
    assert_int_equal(message_errors(m), 3);
    assert_int_equal(message_warnings(m), 1);
    assert_string_equal(message_text(m), "f.mo: error: nowhere\n"
                                         "f.mo:1:1: warning: first\n"
                                         "    1 | one\n"
                                         "      | ^~~\n"
                                         "f.mo:2:2: error: tab\n"
                                         "    2 | \ttwo three\n"
                                         "      | \t^~~\n"
                                         "f.mo:2:6: error: second 2\n"
                                         "    2 | \ttwo three\n"
                                         "      | \t    ^~~~~\n"
                                         "f.mo:1:1: note: see here\n"
                                         "    1 | one\n"
                                         "      | ^~~\n"
                                         "f.mo: stopped after 3 errors\n");
    int line = -1;
    assert_string_equal(message_first(m, &line), "f.mo: error: nowhere");
    assert_int_equal(line, 0);
    message_list_free(m);
}

static void no_messages(void **state)
{
    (void)state;
    int line = -1;
    message_list *m = message_list_new(NULL, "", 0, 0);
    assert_non_null(m);
    assert_string_equal(message_text(m), "");
    assert_null(message_first(m, &line));
    assert_int_equal(line, 0);
    message_warning(m, (source_place){7, 9}, "beyond the text");
    assert_string_equal(message_text(m), "model:7:9: warning: beyond the text\n");
    message_list_free(m);
    message_list_free(NULL);
}

static void nearest_names(void **state)
{
    (void)state;
    static const char *const names[] = {"velocity", "position", "mass", "'length'",
                                        "x",        "x1",       NULL};
    assert_string_equal(nearest_name("velocitiy", names, 7), "velocity");
    assert_string_equal(nearest_name("vleocity", names, 7), "velocity");
    assert_string_equal(nearest_name("Position", names, 7), "position");
    assert_string_equal(nearest_name("postion", names, 7), "position");
    assert_string_equal(nearest_name("mas", names, 7), "mass");
    assert_string_equal(nearest_name("length", names, 7), "'length'");
    assert_string_equal(nearest_name("X", names, 7), "x");
    assert_string_equal(nearest_name("amss", names, 7), "mass");
    assert_null(nearest_name("lass", names, 7)); /* another word */
    assert_null(nearest_name("y", names, 7));
    assert_null(nearest_name("x2", names, 7)); /* a number is no misspelling */
    assert_null(nearest_name("temperature", names, 7));
    assert_null(nearest_name("velocity", names, 0));
    assert_null(nearest_name("", names, 7));
}

/* ---- golden messages and the corpus ---- */

/* A path beside this file. */
static void beside(char *path, size_t size, const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    int n = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s%s", n, __FILE__, name);
}

/* A whole file, terminated; NULL if there is none. */
static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long length = ftell(f);
    rewind(f);
    char *text = calloc((size_t)length + 1, 1);
    assert_non_null(text);
    *size = fread(text, 1, (size_t)length, f);
    fclose(f);
    return text;
}

/* name.mo gives exactly the messages in name.txt. DAEDAL_GOLDEN=write writes them instead. */
static int check_golden(const char *directory, const char *name)
{
    char path[8192];
    size_t size, expected_size;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *text = read_all(path, &size);
    assert_non_null(text);
    parsed p = parse_bytes(name, text, size);
    const char *got = message_text(p.messages);
    memcpy(path + strlen(path) - 3, ".txt", 5);
    const char *mode = getenv("DAEDAL_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(path, "wb");
        if (f) fputs(got, f), fclose(f);
    }
    char *expected = read_all(path, &expected_size);
    int differs = !expected || strcmp(expected, got) != 0;
    if (differs) print_message("%s: expected\n%sgot\n%s", name, expected ? expected : "", got);
    free(expected);
    free(text);
    release(&p);
    return differs;
}

static void golden_messages(void **state)
{
    (void)state;
    char directory[4096];
    int count = 0, differ = 0;
    beside(directory, sizeof directory, "errors/syntax");
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        size_t n = strlen(entry->d_name);
        if (n < 4 || strcmp(entry->d_name + n - 3, ".mo") != 0) continue;
        count++;
        differ += check_golden(directory, entry->d_name);
    }
    closedir(d);
    assert_true(count >= 60);
    assert_int_equal(differ, 0);
}

/* Every file of the corpus passes the checks of the fuzz target. */
static void fuzz_corpus(void **state)
{
    (void)state;
    char directory[4096], path[8192];
    int count = 0;
    beside(directory, sizeof directory, "fuzz/corpus");
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        size_t size;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        char *text = read_all(path, &size);
        assert_non_null(text);
        assert_int_equal(LLVMFuzzerTestOneInput((const uint8_t *)text, size), 0);
        free(text);
        count++;
    }
    closedir(d);
    assert_true(count >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(signs_behind_operators),
        cmocka_unit_test(primaries),
        cmocka_unit_test(places_of_expressions),
        cmocka_unit_test(simple_items),
        cmocka_unit_test(if_items),
        cmocka_unit_test(for_items),
        cmocka_unit_test(when_and_while_items),
        cmocka_unit_test(sections),
        cmocka_unit_test(components),
        cmocka_unit_test(types_and_records),
        cmocka_unit_test(functions),
        cmocka_unit_test(package_wrapper),
        cmocka_unit_test(experiment_annotation),
        cmocka_unit_test(tree_after_errors),
        cmocka_unit_test(own_delay),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(long_wrong_texts),
        cmocka_unit_test(nesting),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(message_order_and_limit),
        cmocka_unit_test(no_messages),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(golden_messages),
        cmocka_unit_test(fuzz_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
