/* Methods by family, order and variant: what is found, what is refused and in which words, and the
 * names of version 0.1, which work with a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "method/registry.h"
#include "solve/bind/solver.h"

static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

static void keep_message(const char *text, void *user)
{
    snprintf(user, 300, "%s", text);
}

/* A solver with these options, or its refusal; its method's name goes to `name`. */
static dae_status open_solver(const char *which, int order, const char *kind, char *name,
                              char *note, dae_diag *diag)
{
    dae_problem *problem = NULL;
    dae_solver *s = NULL;
    dae_residual form = {.n = 1, .f = residual};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    dae_options o = dae_options_default();
    o.method = which;
    o.order = order;
    o.variant = kind;
    o.message = keep_message;
    o.user = note;
    *note = '\0';
    dae_status status = dae_solver_new(problem, &o, &s, diag);
    snprintf(name, 40, "%s", s ? dae_solver_method(s) : "");
    int held = order > 0 ? order : method_order(which);
    if (s && held > 0 && strcmp(name, "bdf") == 0) {
        assert_int_equal(s->base_options.min_order, held);
        assert_int_equal(s->base_options.max_order, held);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return status;
}

static void found(const char *which, int order, const char *kind, const char *expected)
{
    char name[40], note[300];
    dae_diag diag = {0};
    dae_status status = open_solver(which, order, kind, name, note, &diag);
    if (status != DAE_OK) fail_msg("%s, order %d: %s", which, order, diag.text);
    assert_string_equal(name, expected);
    assert_string_equal(note, "");
}

static void test_orders_and_variants_are_options(void **state)
{
    (void)state;
    found("radau", 0, NULL, "radau");
    found("radau", 9, NULL, "radau:9");
    found("radau", 9, "", "radau:9");
    found("radau:9", 0, NULL, "radau:9");
    found("radau:9", 9, NULL, "radau:9");
    found("gauss", 0, NULL, "gauss:6");
    found("rodas", 0, NULL, "rodas:4");
    found("rodas", 4, NULL, "rodas:4");
    found("rodas", 4, "p", "rodas:p");
    found("rodas", 0, "p2", "rodas:p2");
    found("glm", 3, NULL, "glm");
    found("bdf", 3, NULL, "bdf");
    found("bdf:2", 0, NULL, "bdf");
}

static void refused(const char *which, int order, const char *kind, const char *words)
{
    char name[40], note[300];
    dae_diag diag = {0};
    assert_int_equal(open_solver(which, order, kind, name, note, &diag), DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, words)) fail_msg("%s", diag.text);
}

static void test_what_there_is_not_is_refused_with_what_there_is(void **state)
{
    (void)state;
    refused("radau", 7, NULL, "Method radau has no order 7; orders are 5, 9, 13.");
    refused("gauss", 3, NULL, "Method gauss has no order 3; orders are 2, 4, 6, 8, 10.");
    refused("bdf", 7, NULL, "Method bdf has no order 7; orders are 1 to 6.");
    refused("glm", 4, NULL, "Method glm has no order 4; orders are 3.");
    refused("prk", 8, NULL, "orders are its own choice, by the tolerance.");
    refused("radau", 0, "thesis", "Method radau has no variant \"thesis\"; it has none.");
    refused("bdf2nd", 0, "p", "Method bdf2nd has no variant \"p\"; variants are modified, thesis.");
    refused("herk", 5, "thesis", "has no order 5 in variant thesis; orders are 1, 2, 3, 4.");
    refused("radau:9", 5, NULL, "\"radau:9\" names one order, and option order another");
    refused("rodas:p", 0, "p2", "\"rodas:p\" names one variant, and option variant another");
    refused("radau:x", 0, NULL, "no variant \"x\"");
    refused("radau:9x", 0, NULL, "There is no method \"radau:9x\"");
    refused("radau:", 0, NULL, "There is no method \"radau:\". `daedal methods` lists them");
    refused("radau:9:", 0, NULL, "There is no method \"radau:9:\"");
    refused("leapday", 0, NULL, "There is no method \"leapday\"");
    refused("auto", 5, NULL, "name one in option method");
    refused("auto", 0, "thesis", "name one in option method");
    refused("bdf", -1, NULL, "Option order is -1");
}

/* Name, and family with order and variant, lead to the same member. */
static void test_every_name_leads_back(void **state)
{
    (void)state;
    for (int i = 0; dae_method_at(i).name; i++) {
        dae_method_info m = dae_method_at(i);
        dae_diag diag = {0};
        assert_string_equal(m.name, dae_method_name(i));
        char copy[80]; /* found by its address, and by reading it */
        snprintf(copy, sizeof copy, "%s", m.name);
        assert_ptr_equal(method_find(m.name), method_member_at(i));
        assert_ptr_equal(method_find(copy), method_member_at(i));
        assert_ptr_equal(method_select(m.family, m.order, m.variant, &diag), method_member_at(i));
        if (m.order > 0) assert_int_equal(m.order, m.max_order);
    }
}

/* Each family says when to use it and for whom it is there, in lines that fit a screen. */
static void test_every_family_earns_its_place(void **state)
{
    (void)state;
    for (int i = 0; dae_method_at(i).name; i++) {
        dae_method_info m = dae_method_at(i);
        assert_true(strlen(m.use) > 10 && strlen(m.use) <= 61);
        bool best = strncmp(m.reason, "best on ", 8) == 0;
        bool source = strncmp(m.reason, "source: ", 8) == 0;
        assert_true(best || source || strncmp(m.reason, "classic: ", 9) == 0);
        assert_true(*m.group && *m.summary && *m.citation && *m.forms && *m.index_range);
        bool again = i > 0 && strcmp(dae_method_at(i - 1).family, m.family) == 0;
        for (int k = 0; k < i && !again; k++) /* members of a family follow each other */
            assert_string_not_equal(dae_method_at(k).family, m.family);
    }
    assert_null(dae_method_at(-1).name);
    assert_null(dae_method_at(1000).name);
}

/* The names of version 0.1, and what replaces them. */
static const char *const old_names[][2] = {
    {"radau5", "radau:5"},       {"radau13", "radau:13"}, {"gauss10", "gauss:10"},
    {"lobattoc2", "lobattoc:2"}, {"sirk22", "sirk:2"},    {"sirk23", "sirk:3"},
    {"sdirk4", "sdirk:4"},       {"rodas3", "rodas:3"},   {"rodasp", "rodas:p"},
    {"rodas4p2", "rodas:p2"},    {"glm3", "glm"},
};

static void test_old_names_work_with_a_note(void **state)
{
    (void)state;
    char name[40], note[300], words[60];
    dae_diag diag = {0};
    for (size_t k = 0; k < sizeof old_names / sizeof *old_names; k++) {
        assert_int_equal(open_solver(old_names[k][0], 0, NULL, name, note, &diag), DAE_OK);
        assert_string_equal(name, old_names[k][1]);
        snprintf(words, sizeof words, "note: method \"%s\" is now \"%s\"", old_names[k][0],
                 old_names[k][1]);
        assert_non_null(strstr(note, words));
    }
    for (int i = 0; dae_method_at(i).name; i++) {
        const char *old = dae_method_at(i).old_name;
        if (*old) assert_ptr_equal(method_find(old), method_member_at(i));
    }
    assert_ptr_equal(method_find("auto"), method_find("bdf"));
    assert_ptr_equal(method_find("herk-faithful"), method_find("herk:thesis"));
    assert_ptr_equal(method_find("herk-faithful-rk4"), method_find("herk:4:thesis"));
    assert_ptr_equal(method_find("colloc2nd_radau5"), method_find("colloc2nd"));
    assert_ptr_equal(method_find("colloc2nd_gauss3"), method_find("colloc2nd:6"));
    assert_ptr_equal(method_find("bdf2nd_faithful"), method_find("bdf2nd:thesis"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_and_variants_are_options),
        cmocka_unit_test(test_what_there_is_not_is_refused_with_what_there_is),
        cmocka_unit_test(test_every_name_leads_back),
        cmocka_unit_test(test_every_family_earns_its_place),
        cmocka_unit_test(test_old_names_work_with_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
