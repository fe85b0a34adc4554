/* The public analysis of models: tables of known answers, constraints, roles, singular parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daedal.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 512 };

/* Path of a file below the models: they are beside the directory of this file. */
static const char *model_path(const char *name, const char *ending)
{
    static char path[PATH_SIZE];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    int used = snprintf(path, sizeof path, "%.*s../models/%s%s", length, __FILE__, name, ending);
    assert_true(used > 0 && used < PATH_SIZE);
    return path;
}

static dae_analysis *analyse_file(const char *name)
{
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_model_analyse(&(dae_model){.file = model_path(name, ".mo")}, NAN, &a, &diag);
    if (status != DAE_OK) fail_msg("%s: %s", name, diag.text);
    assert_non_null(a);
    return a;
}

static dae_analysis *analyse_text(const char *text)
{
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "m.mo"};
    dae_status status = dae_model_analyse(&m, NAN, &a, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    return a;
}

/* ---- models/structure.txt ---- */

typedef struct answer {
    char model[128];
    int equations, index, freedom;
} answer;

static int check_answer(const answer *e)
{
    dae_analysis *a = analyse_file(e->model);
    /* The equations of Campbell and Gear have index 1 only on their solution, which is zero: around
     * it the index is that of the structure. */
    int index = strcmp(e->model, "structure/campbellgear") == 0 ? a->structural_index : e->index;
    bool right = !a->singular && a->agree && a->equations == e->equations &&
                 a->unknowns == e->equations && a->index == index && a->freedom == e->freedom;
    if (!right)
        print_error("%s: %d equations for %d unknowns, agree %d, index %d, freedom %d; known %d, "
                    "%d, %d\n",
                    e->model, a->equations, a->unknowns, a->agree, a->index, a->freedom,
                    e->equations, e->index, e->freedom);
    dae_analysis_free(a);
    return !right;
}

/* Index and degrees of freedom of all models whose answers are known from the literature. */
static void test_known_structure(void **state)
{
    (void)state;
    char line[LINE_SIZE], word[32], rest[LINE_SIZE];
    answer e = {0};
    int count = 0, wrong = 0;
    FILE *file = fopen(model_path("structure", ".txt"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %511[^\n]", word, rest) != 2 || word[0] == '#') continue;
        if (strcmp(word, "model") == 0) snprintf(e.model, sizeof e.model, "%.100s", rest);
        if (strcmp(word, "equations") == 0) e.equations = atoi(rest);
        if (strcmp(word, "index") == 0) e.index = atoi(rest);
        if (strcmp(word, "freedom") == 0) e.freedom = atoi(rest);
        if (strcmp(word, "source") != 0 || strchr(e.model, ' ')) continue;
        wrong += check_answer(&e);
        count++;
    }
    fclose(file);
    assert_true(count >= 50);
    assert_int_equal(wrong, 0);
}

/* ---- constraints ---- */

static const dae_analysis_constraint *find_constraint(const dae_analysis *a, const char *text)
{
    for (int k = 0; k < a->constraint_count; k++)
        if (strcmp(a->constraints[k].text, text) == 0) return &a->constraints[k];
    for (int k = 0; k < a->constraint_count; k++) print_error("%s\n", a->constraints[k].text);
    fail_msg("no constraint %s", text);
    return NULL;
}

/* The pendulum: x^2 + y^2 = L^2 and its derivatives, x'' and y'' eliminated. */
static void test_pendulum_constraints(void **state)
{
    (void)state;
    dae_analysis *a = analyse_file("pendulum");
    assert_int_equal(a->constraint_count, 3);
    assert_int_equal(a->hidden_count, 2);
    const dae_analysis_constraint *c = find_constraint(a, "x^2 + y^2 = L^2");
    assert_false(c->hidden);
    assert_int_equal(c->times, 0);
    assert_int_equal(a->equation[c->equation].line, 15);
    c = find_constraint(a, "x*vx + y*vy = 0");
    assert_true(c->hidden && !c->derivatives);
    assert_int_equal(c->times, 1);
    c = find_constraint(a, "lambda*x^2 + m*g*y + lambda*y^2 = m*vx^2 + m*vy^2");
    assert_int_equal(c->times, 2);
    assert_int_equal(c->line_count, 3); /* with both equations of motion */
    assert_int_equal(c->lines[0], 13);
    assert_int_equal(c->lines[2], 15);
    assert_int_equal(a->positions, 2); /* a mechanism with one multiplier */
    assert_int_equal(a->multipliers, 1);
    dae_analysis_free(a);
}

/* S. Baese 2017, example 2.7: 2 e1 + 2 iV + e2 + 100 cos(100 t) = 0, where e2 = q2. */
static void test_circuit_constraint(void **state)
{
    (void)state;
    dae_analysis *a = analyse_file("structure/cvloop");
    assert_int_equal(a->hidden_count, 1);
    const dae_analysis_constraint *c = find_constraint(a, "q2 + 2*e1 + 2*iV = -100*cos(100*time)");
    assert_true(c->hidden && !c->derivatives);
    assert_int_equal(c->times, 1);
    assert_non_null(a->pencil);
    assert_int_equal(a->pencil->index, 2);
    assert_int_equal(a->pencil->finite, 1);
    assert_true(fabs(a->pencil->re[0] + 0.5) < 1e-12);
    dae_analysis_free(a);
}

/* Five levels of the spring-mass chain; F is found after four differentiations. */
static void test_chain_constraints(void **state)
{
    (void)state;
    dae_analysis *a = analyse_file("springchain");
    assert_int_equal(a->hidden_count, 4);
    for (int k = 0; k < a->constraint_count; k++) assert_false(a->constraints[k].derivatives);
    assert_int_equal(a->constraints[a->constraint_count - 1].times, 4);
    find_constraint(a, "v[2] = a*omega*cos(omega*time)");
    dae_analysis_free(a);
}

/* A constraint with an implicit pair of derivatives: x' + y' and x' - y' are given. */
static void test_linear_elimination(void **state)
{
    (void)state;
    dae_analysis *a = analyse_text("model M\n  Real x, y, z;\nequation\n  der(x) + der(y) = z;\n"
                                   "  der(x) - der(y) = 3*z + x;\n  x + 2*y = time;\nend M;\n");
    /* x' = 2 z + x/2, y' = -z - x/2; x' + 2 y' = -x/2 = 1: z is not in it */
    assert_int_equal(a->index, 3);
    find_constraint(a, "x = -2");
    dae_analysis_free(a);
    a = analyse_text("model M\n  Real x, y, z;\nequation\n  der(x) + der(y) = z;\n"
                     "  der(x) - der(y) = 5*z + x;\n  x + 2*y = time;\nend M;\n");
    assert_int_equal(a->index, 2);
    assert_int_equal(a->hidden_count, 1);
    const dae_analysis_constraint *written = find_constraint(a, "x + 2*y = time");
    assert_int_equal(written->line_count, 1);
    assert_int_equal(written->lines[0], 6);
    find_constraint(a, "x + 2*z = -2"); /* 3 z + x/2 + 2 (-2 z - x/2) = 1 */
    dae_analysis_free(a);
}

/* ---- variables and roles ---- */

static const dae_analysis_variable *find_variable(const dae_analysis *a, const char *name)
{
    for (int k = 0; k < a->variable_count; k++)
        if (strcmp(a->variables[k].name, name) == 0) return &a->variables[k];
    fail_msg("no variable %s", name);
    return NULL;
}

#define PENDULUM(attributes)                                                                       \
    "model M\n  Real x(start = 0.6" attributes                                                     \
    "), y(start = -0.8), vx, vy, f;\nequation\n  der(x) = vx;\n  der(y) = vy;\n"                   \
    "  der(vx) = -x*f;\n  der(vy) = -y*f - 1;\n  x^2 + y^2 = 1;\nend M;\n"

static void test_roles(void **state)
{
    (void)state;
    dae_analysis *a = analyse_text(PENDULUM(""));
    assert_int_equal(a->freedom, 2);
    assert_int_equal(a->to_choose, 2);
    assert_int_equal(find_variable(a, "x")->role, DAE_ROLE_FREE);
    assert_int_equal(find_variable(a, "y")->role, DAE_ROLE_FREE);
    assert_int_equal(find_variable(a, "vx")->role, DAE_ROLE_FREE);
    assert_int_equal(find_variable(a, "f")->role, DAE_ROLE_IMPLIED);
    assert_int_equal(find_variable(a, "f")->index, 3);
    assert_true(find_variable(a, "vy")->differential);
    dae_analysis_free(a);
    a = analyse_text(PENDULUM(", fixed = true"));
    assert_int_equal(a->fixed_count, 1);
    assert_int_equal(a->to_choose, 1);
    assert_int_equal(find_variable(a, "x")->role, DAE_ROLE_FIXED);
    assert_int_equal(find_variable(a, "y")->role, DAE_ROLE_IMPLIED);
    assert_int_equal(find_variable(a, "vx")->role, DAE_ROLE_FREE);
    assert_true(a->consistent);
    assert_true(fabs(find_variable(a, "y")->value + 0.8) < 1e-12);
    dae_analysis_free(a);
}

/* How often u = sin(t) is differentiated until a variable is known, through blocks that are solved
 * one after the other; q and r need none of that. */
static void test_index_of_variables(void **state)
{
    (void)state;
    dae_analysis *a = analyse_text("model M\n  Real u, v, w, z, q, r, s(start = 0, fixed = true);\n"
                                   "equation\n  u + u^3 = sin(time);\n  v + v^3 = der(u);\n"
                                   "  w + w^3 = v;\n  z + z^3 = der(w);\n  q + q^3 = s + time;\n"
                                   "  r + r^3 = u + 1;\n  der(s) = z + q + w + r;\nend M;\n");
    assert_int_equal(find_variable(a, "u")->index, 0);
    assert_int_equal(find_variable(a, "v")->index, 2);
    assert_int_equal(find_variable(a, "w")->index, 0);
    assert_int_equal(find_variable(a, "z")->index, 3);
    assert_int_equal(find_variable(a, "q")->index, 1);
    assert_int_equal(find_variable(a, "r")->index, 1); /* u itself does */
    assert_int_equal(a->index, 3);
    dae_analysis_free(a);
}

/* y is an alias, z a constant, w the name of a derivative. (w = -x*z would be a definition.) */
static void test_names(void **state)
{
    (void)state;
    dae_analysis *a = analyse_text("model M\n  parameter Real p = 2;\n  Real x(start = 1, fixed = "
                                   "true), y, z, w;\nequation\n  der(x) = w;\n  y = -x;\n  z = p;\n"
                                   "  w + w^3 = -x*z;\nend M;\n");
    const dae_analysis_variable *x = find_variable(a, "x"), *y = find_variable(a, "y");
    assert_int_equal(a->unknowns, 4);
    assert_int_equal(a->analysed, 1);
    assert_int_equal(x->unknown, 0);
    assert_int_equal(y->unknown, 0);
    assert_int_equal(x->sign * y->sign, -1);
    assert_int_equal(find_variable(a, "z")->unknown, -1);
    assert_int_equal(find_variable(a, "w")->order, 1);
    assert_true(find_variable(a, "z")->value == 2.0);
    dae_analysis_free(a);
}

/* Blocks are a permutation, and no equation contains the highest derivative of a later block. */
static void test_blocks(void **state)
{
    (void)state;
    dae_analysis *a = analyse_file("trajectory3");
    int n = a->analysed, seen[64] = {0};
    assert_int_equal(a->block_start[a->block_count], n);
    for (int k = 0; k < n; k++) seen[a->block_equation[k]]++;
    for (int k = 0; k < n; k++) assert_int_equal(seen[k], 1);
    for (int i = 0; i < n; i++)
        for (int k = a->entry_start[i]; k < a->entry_start[i + 1]; k++) {
            const dae_analysis_unknown *x = &a->unknown[a->entry_unknown[k]];
            assert_true(a->entry_order[k] <= x->offset - a->equation[i].offset);
            if (a->entry_order[k] == x->offset - a->equation[i].offset)
                assert_true(x->block <= a->equation[i].block);
        }
    dae_analysis_free(a);
}

/* The mode that is analysed is told, and counts. */
static void test_modes(void **state)
{
    (void)state;
    static const char *const text =
        "model M\n  parameter Real a = %s;\n  Real x(start = 1), y(start = 1);\nequation\n"
        "  der(x) = y;\n  if x > a then\n    x = 2;\n  else\n    y = -x;\n  end if;\nend M;\n";
    char model[400];
    snprintf(model, sizeof model, text, "3");
    dae_analysis *a = analyse_text(model);
    assert_int_equal(a->mode_count, 1);
    assert_int_equal(a->index, 1);
    assert_int_equal(a->freedom, 1);
    double other = a->modes[0].value;
    dae_analysis_free(a);
    snprintf(model, sizeof model, text, "0");
    a = analyse_text(model);
    assert_true(a->modes[0].value != other);
    assert_int_equal(a->freedom, 0);
    dae_analysis_free(a);
}

/* ---- wrong models ---- */

/* Whether "5 6 7" are the lines of a part. */
static bool same_lines(const dae_analysis_part *p, const char *lines)
{
    int k = 0;
    for (int used, line; sscanf(lines, "%d%n", &line, &used) == 1; lines += used, k++)
        if (k >= p->equation_count || p->lines[k] != line) return false;
    return k == p->equation_count;
}

/* Whether "q s" are the unknowns of a part, in any order. */
static bool same_names(const dae_analysis_part *p, const char *names)
{
    char name[64];
    int count = 0;
    for (int used; sscanf(names, "%63s%n", name, &used) == 1; names += used, count++) {
        bool found = false;
        for (int k = 0; k < p->unknown_count; k++)
            found = found || strcmp(p->unknowns[k], name) == 0;
        if (!found) return false;
    }
    return count == p->unknown_count;
}

/* A part with exactly these lines and names. */
static int check_parts(const char *model, bool over, const char *lines, const char *names)
{
    char path[160];
    snprintf(path, sizeof path, "broken/%.100s", model);
    dae_analysis *a = analyse_file(path);
    bool found = false;
    for (int k = 0; k < a->part_count; k++)
        found = found || (a->parts[k].over == over && same_lines(&a->parts[k], lines) &&
                          same_names(&a->parts[k], names));
    if (!a->singular || !found) print_error("%s: no part of lines %s\n", model, lines);
    for (int k = 1; k < a->part_count; k++) { /* too many first, then smallest first */
        const dae_analysis_part *p = &a->parts[k - 1], *q = &a->parts[k];
        assert_true(p->over || !q->over);
        assert_true(p->over != q->over ||
                    p->equation_count + p->unknown_count <= q->equation_count + q->unknown_count);
    }
    dae_analysis_free(a);
    return !found;
}

/* Over- and under-determined parts of models/broken.txt, exactly. */
static void test_singular_parts(void **state)
{
    (void)state;
    char line[LINE_SIZE], word[32], rest[LINE_SIZE];
    char model[128] = "", kind[32] = "", lines[128] = "", names[LINE_SIZE] = "";
    int count = 0, wrong = 0;
    FILE *file = fopen(model_path("broken", ".txt"), "r");
    assert_non_null(file);
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, file);
        bool item = more && sscanf(line, "%31s %511[^\n]", word, rest) == 2 && word[0] != '#';
        if (!more || (item && strcmp(word, "model") == 0)) {
            bool over = strcmp(kind, "over") == 0;
            if (over || strcmp(kind, "under") == 0) {
                wrong += check_parts(model, over, lines, names);
                count++;
            }
            kind[0] = lines[0] = names[0] = '\0';
            if (more) snprintf(model, sizeof model, "%.100s", rest);
        }
        if (item && strcmp(word, "kind") == 0) snprintf(kind, sizeof kind, "%.30s", rest);
        if (item && strcmp(word, "lines") == 0) snprintf(lines, sizeof lines, "%.100s", rest);
        if (item && strcmp(word, "names") == 0) snprintf(names, sizeof names, "%s", rest);
    }
    fclose(file);
    assert_true(count >= 9);
    assert_int_equal(wrong, 0);
}

/* Equations that follow from one another: who depends on whom, and what stays open. */
static void test_dependent(void **state)
{
    (void)state;
    dae_analysis *a = analyse_file("broken/pressure");
    assert_false(a->singular);
    assert_false(a->agree);
    assert_int_equal(a->index, -1);
    assert_int_equal(a->culprit_equation_count, 4);
    for (int k = 0; k < 4; k++) {
        int line = a->equation[a->culprit_equations[k]].line;
        assert_true(line >= 12 && line <= 15);
    }
    assert_int_equal(a->culprit_unknown_count, 4);
    for (int k = 0; k < 4; k++) assert_true(strncmp(a->culprit_unknowns[k], "p[", 2) == 0);
    dae_analysis_free(a);
}

static void test_arguments(void **state)
{
    (void)state;
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_analyse(NULL, 0.0, &a, &diag), DAE_ERR_ARGUMENT);
    assert_null(a);
    assert_int_equal(dae_problem_analyse(NULL, 0.0, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_model_analyse(&(dae_model){.text = "model M"}, NAN, &a, &diag),
                     DAE_ERR_MODEL);
    assert_null(a);
    dae_analysis_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_structure),
        cmocka_unit_test(test_pendulum_constraints),
        cmocka_unit_test(test_circuit_constraint),
        cmocka_unit_test(test_chain_constraints),
        cmocka_unit_test(test_linear_elimination),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_index_of_variables),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_singular_parts),
        cmocka_unit_test(test_dependent),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
