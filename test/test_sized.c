/* Programs built with an older or a newer daedal.h: every struct that a caller fills is read by one
 * policy. Blocks have the caller's size to the byte, so that a sanitizer sees reads behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

static int second_order(double t, const double *x, const double *xp, const double *xpp, double *f,
                        void *user)
{
    (void)t, (void)xp, (void)user;
    f[0] = xpp[0] + x[0];
    return 0;
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->q[0];
    return 0;
}

static int hessenberg(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->y[0];
    return 0;
}

static int decay(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->x[0];
    return 0;
}

/* ---- each way in: what comes out of it with a struct of that size ---- */

#define PROBLEM_FROM(form)                                                                         \
    static dae_status from_##form(const void *given, size_t size, dae_diag *diag)                  \
    {                                                                                              \
        dae_problem *problem = NULL;                                                               \
        dae_status status = dae_problem_from_##form##_sized(given, size, &problem, diag);          \
        assert_int_equal(status == DAE_OK, problem != NULL);                                       \
        dae_problem_free(problem);                                                                 \
        return status;                                                                             \
    }

PROBLEM_FROM(residual)
PROBLEM_FROM(second_order)
PROBLEM_FROM(mechanical)
PROBLEM_FROM(hessenberg)
PROBLEM_FROM(quasilinear)
PROBLEM_FROM(manifold)
PROBLEM_FROM(model)
PROBLEM_FROM(lagrangian)

static dae_status analyse_model(const void *given, size_t size, dae_diag *diag)
{
    dae_analysis *analysis = NULL;
    dae_status status = dae_model_analyse_sized(given, size, 0.0, &analysis, diag);
    dae_analysis_free(analysis);
    return status;
}

static dae_status analyse_pencil(const void *given, size_t size, dae_diag *diag)
{
    dae_pencil_report *report = NULL;
    dae_status status = dae_pencil_analyse_sized(given, size, &report, diag);
    dae_pencil_report_free(report);
    return status;
}

static dae_status pencil_values(const void *given, size_t size, dae_diag *diag)
{
    double u = 1.0;
    return dae_pencil_consistent_sized(given, size, 0, NULL, &u, NULL, diag);
}

static dae_problem *small_problem(void)
{
    dae_problem *problem = NULL;
    dae_residual form = {.n = 1, .f = residual};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    return problem;
}

static const double one = 1.0, minus_one = -1.0;

static dae_status verify(const dae_options *options, const void *request, size_t size,
                         dae_diag *diag)
{
    dae_problem *problem = small_problem();
    dae_verify_report *report = NULL;
    dae_status status = dae_verify_sized(problem, options, request, size, &report, diag);
    dae_verify_report_free(report);
    dae_problem_free(problem);
    return status;
}

static dae_status verify_request(const void *given, size_t size, dae_diag *diag)
{
    return verify(NULL, given, size, diag);
}

static const dae_verify_request request = {.tend = 0.1, .y0 = &one, .yp0 = &minus_one};

/* Options carry their size themselves; none at all stand for the defaults. */
static dae_status verify_options(const void *given, size_t size, dae_diag *diag)
{
    (void)size;
    return verify(given, &request, sizeof request, diag);
}

static dae_status solver_options(const void *given, size_t size, dae_diag *diag)
{
    dae_problem *problem = small_problem();
    dae_solver *solver = NULL;
    (void)size;
    dae_status status = dae_solver_new(problem, given, &solver, diag);
    assert_int_equal(status == DAE_OK, solver != NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

/* ---- the policy ---- */

typedef struct way_in {
    const char *name;
    dae_status (*call)(const void *given, size_t size, dae_diag *diag);
    const void *good;
    size_t size, older; /* bytes today, and of a header that ends before some field */
    bool carries;       /* its size is its first field */
} way_in;

static dae_status call_with(const way_in *w, size_t block, size_t said, int last, dae_diag *diag)
{
    unsigned char *bytes = calloc(1, block);
    assert_non_null(bytes);
    memcpy(bytes, w->good, block < w->size ? block : w->size);
    if (last) bytes[block - 1] = (unsigned char)last;
    if (w->carries) memcpy(bytes, &said, sizeof said);
    dae_status status = w->call(bytes, said, diag);
    free(bytes);
    return status;
}

static void check(const way_in *w)
{
    dae_diag diag = {0};
    print_message("%s\n", w->name);
    assert_int_equal(call_with(w, w->size, w->size, 0, &diag), DAE_OK);
    assert_int_equal(call_with(w, w->older, w->older, 0, &diag), DAE_OK);
    assert_int_equal(call_with(w, w->size + 16, w->size + 16, 0, &diag), DAE_OK);
    assert_int_equal(call_with(w, w->size + 16, w->size + 16, 1, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "newer daedal.h"));
    assert_int_equal(call_with(w, w->size, 0, 0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "size"));
    assert_int_equal(call_with(w, w->size, SIZE_MAX / 2, 0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "size"));
    dae_status none = w->call(NULL, w->size, &diag);
    assert_int_equal(none, w->carries ? DAE_OK : DAE_ERR_ARGUMENT);
}

static void test_one_policy_for_every_struct(void **state)
{
    (void)state;
    dae_residual r = {.n = 1, .f = residual};
    dae_second_order s = {.n = 1, .f = second_order};
    dae_mechanical m = {.nq = 1, .force = force};
    dae_hessenberg h = {.ny = 1, .f = hessenberg};
    dae_quasilinear q = {.n = 1, .ne = 1, .f = decay};
    dae_manifold c = {.n = 1, .phi = decay};
    dae_model text = {.text = "model A Real x; equation der(x) = 1; end A;"};
    static const char *const coordinates[] = {"x"};
    dae_lagrangian l = {.n = 1, .coordinates = coordinates, .lagrangian = "v_x^2"};
    dae_pencil p = {.n = 1, .a = &one, .b = &one};
    dae_options o = dae_options_default();
    const way_in ways[] = {
        {"residual", from_residual, &r, sizeof r, offsetof(dae_residual, event_count), false},
        {"second order", from_second_order, &s, sizeof s, offsetof(dae_second_order, kinds), false},
        {"mechanical", from_mechanical, &m, sizeof m, offsetof(dae_mechanical, event_count), false},
        {"hessenberg", from_hessenberg, &h, sizeof h, offsetof(dae_hessenberg, event_count), false},
        {"quasilinear", from_quasilinear, &q, sizeof q, offsetof(dae_quasilinear, nominal), false},
        {"manifold", from_manifold, &c, sizeof c, offsetof(dae_manifold, nominal), false},
        {"model", from_model, &text, sizeof text, offsetof(dae_model, engine), false},
        {"lagrangian", from_lagrangian, &l, sizeof l, offsetof(dae_lagrangian, engine), false},
        {"analysis", analyse_model, &text, sizeof text, offsetof(dae_model, engine), false},
        {"pencil", analyse_pencil, &p, sizeof p, offsetof(dae_pencil, variable_names), false},
        {"its values", pencil_values, &p, sizeof p, offsetof(dae_pencil, variable_names), false},
        {"request", verify_request, &request, sizeof request, offsetof(dae_verify_request, rows),
         false},
        {"options", solver_options, &o, sizeof o, offsetof(dae_options, norm), true},
        {"options of a judge", verify_options, &o, sizeof o, offsetof(dae_options, norm), true},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) check(&ways[i]);
}

/* What an older caller does not know is the default, not what lies behind its struct. */
static void test_missing_fields_are_defaults(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    o.size = offsetof(dae_options, krylov_tolerance);
    o.krylov_tolerance = -1.0;
    dae_diag diag = {0};
    assert_int_equal(solver_options(&o, o.size, &diag), DAE_OK);
    o.size = sizeof o;
    assert_int_equal(solver_options(&o, o.size, &diag), DAE_ERR_ARGUMENT);
    dae_residual r = {.n = 1, .f = residual, .event_count = 5};
    assert_int_equal(from_residual(&r, offsetof(dae_residual, event_count), &diag), DAE_OK);
    assert_int_equal(from_residual(&r, sizeof r, &diag), DAE_ERR_ARGUMENT);
}

/* A newer header asks this library for its defaults: it gets them, and zeros behind them. */
static void test_defaults_for_a_newer_caller(void **state)
{
    (void)state;
    struct {
        dae_options known;
        unsigned char tail[16];
    } future;
    memset(&future, 7, sizeof future);
    dae_options_fill(&future.known, sizeof future);
    assert_int_equal(future.known.size, sizeof future);
    for (size_t k = 0; k < sizeof future.tail; k++) assert_int_equal(future.tail[k], 0);
    dae_diag diag = {0};
    assert_int_equal(solver_options(&future.known, sizeof future, &diag), DAE_OK);
}

/* What the library fills in: an older caller gets what it has room for, a newer one zeros behind.
 */
static void test_structs_that_the_library_fills(void **state)
{
    (void)state;
    dae_problem *problem = small_problem();
    struct {
        dae_counts known;
        unsigned char tail[8];
    } counts;
    memset(&counts, 7, sizeof counts);
    dae_problem_counts_fill(problem, &counts.known, offsetof(dae_counts, states));
    assert_int_equal(counts.known.equations, 1);
    assert_int_equal(((unsigned char *)&counts)[offsetof(dae_counts, states)], 7);
    dae_problem_counts_fill(problem, &counts.known, sizeof counts);
    assert_int_equal(counts.known.variables, 1);
    for (size_t k = 0; k < sizeof counts.tail; k++) assert_int_equal(counts.tail[k], 0);
    dae_variable_info info = dae_problem_variable_info(problem, 0);
    dae_variable_info part = {.max = 7.0};
    dae_problem_variable_info_fill(problem, 0, &part, offsetof(dae_variable_info, max));
    assert_true(part.min == info.min && part.max == 7.0);
    dae_method_info method = {.citation = "mine"};
    dae_method_info_fill(0, &method, offsetof(dae_method_info, citation));
    assert_string_equal(method.name, dae_method_name(0));
    assert_string_equal(method.citation, "mine");
    dae_problem_free(problem);
}

/* What the library makes says its size. */
static void test_structs_that_the_library_makes(void **state)
{
    (void)state;
    dae_problem *problem = small_problem();
    dae_solver *solver = NULL;
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, &one, NULL), DAE_OK);
    assert_int_equal(dae_solver_stats(solver)->size, sizeof(dae_stats));
    dae_solver_free(solver);
    dae_pencil_report *pencil = NULL;
    dae_pencil p = {.n = 1, .a = &one, .b = &one};
    assert_int_equal(dae_pencil_analyse(&p, &pencil, NULL), DAE_OK);
    assert_int_equal(pencil->size, sizeof *pencil);
    dae_pencil_report_free(pencil);
    dae_index_report *index = NULL;
    assert_int_equal(dae_problem_diagnose(problem, 0.0, &one, NULL, &index, NULL), DAE_OK);
    assert_int_equal(index->size, sizeof *index);
    dae_index_report_free(index);
    dae_analysis *analysis = NULL;
    dae_model text = {.text = "model A Real x; equation der(x) = 1; end A;"};
    assert_int_equal(dae_model_analyse(&text, 0.0, &analysis, NULL), DAE_OK);
    assert_int_equal(analysis->size, sizeof *analysis);
    dae_analysis_free(analysis);
    dae_verify_report *report = NULL;
    assert_int_equal(dae_verify(problem, NULL, &request, &report, NULL), DAE_OK);
    assert_int_equal(report->size, sizeof *report);
    dae_verify_report_free(report);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_policy_for_every_struct),
        cmocka_unit_test(test_missing_fields_are_defaults),
        cmocka_unit_test(test_defaults_for_a_newer_caller),
        cmocka_unit_test(test_structs_that_the_library_fills),
        cmocka_unit_test(test_structs_that_the_library_makes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
