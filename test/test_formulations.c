/* Formulations by name: their rows vanish on the true solution, BDF reaches the references with
 * them, they start on all levels, and they drift or do not, as the literature says. The mechanical
 * form is recognised without being told, and what is none says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "daedal.h"
#include "model/analyse.h"
#include "solve/bind/solver.h"
#include "structure/mechanical/mechanical.h"

enum { MOST = 64, ORDERS = 2 };

/* A file of models/, which is beside the directory of this file. */
static void model_path(char *path, size_t size, const char *name, const char *ending)
{
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s../models/%s%s", length, __FILE__, name, ending);
}

/* ---- models and their equations ------------------------------------------------------------- */

typedef struct loaded {
    dae_problem *problem;
    model_instance *instance;
    model_analysis analysis;
    double x[ORDERS + 1][MOST]; /* of the analysed set */
    const double *rows[ORDERS + 1];
    equation_point point;
} loaded;

/* Analyse a text, or a model of models/, at its start values. */
static void load(loaded *m, const char *text, const char *name)
{
    char path[512] = "m.mo";
    dae_diag diag = {0};
    mode_slots slots;
    double y[2 * MOST] = {0};
    memset(m, 0, sizeof *m);
    if (name) model_path(path, sizeof path, name, ".mo");
    dae_model model = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &m->problem, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    const model_form *f = m->problem->model;
    assert_in_range(f->n, 1, MOST);
    m->instance = model_instance_new(f);
    assert_non_null(m->instance);
    for (int i = 0; i < f->n; i++) {
        int v = f->unknown_variable[i];
        double start = v < 0 ? NAN : model_form_constant(f, f->flat->variables[v].start);
        y[i] = isfinite(start) ? start : 0.0;
    }
    assert_true(mode_slots_find(&slots, f));
    model_point at = {0.0, y, y + MOST, m->instance->parameters, m->instance->memory};
    assert_int_equal(model_analyse(f, &slots, &at, &m->analysis, &diag), DAE_OK);
    mode_slots_free(&slots);
    double **x = analysed_values(&m->analysis.reduced.set, &at, ORDERS);
    assert_non_null(x);
    for (int p = 0; p <= ORDERS; p++) {
        memcpy(m->x[p], x[p], (size_t)m->analysis.reduced.set.n * sizeof(double));
        m->rows[p] = m->x[p];
    }
    dae_free(x);
    m->point = (equation_point){0.0, m->rows, ORDERS, m->instance->parameters, m->instance->memory};
}

static void unload(loaded *m)
{
    model_analysis_free(&m->analysis);
    model_instance_free(m->instance);
    dae_problem_free(m->problem);
}

static int variable(const equation_set *set, const char *name)
{
    for (int j = 0; j < set->n; j++)
        if (strcmp(set->name[j], name) == 0) return j;
    fail_msg("no variable %s", name);
    return -1;
}

/* x = value, wherever a variable of the model is among the derivatives. */
static void set_value(loaded *m, const char *name, double value)
{
    const equation_set *set = &m->analysis.reduced.set;
    for (int k = 0; k < set->synonym_count; k++)
        if (strcmp(set->synonym[k].name, name) == 0) {
            m->x[set->synonym[k].order][set->synonym[k].variable] = set->synonym[k].sign * value;
            return;
        }
    m->x[0][variable(set, name)] = value;
}

/* The values of a .ref file at its time. */
static void set_reference(loaded *m, const char *name)
{
    char path[512], line[512], word[64];
    double v;
    bool at_time = false;
    model_path(path, sizeof path, name, ".ref");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%63s %lf", word, &v) != 2) continue;
        if (strcmp(word, "t") == 0) {
            m->point.time = v;
            at_time = true;
        } else if (at_time) {
            set_value(m, word, v);
        }
    }
    fclose(file);
    assert_true(at_time);
}

/* ---- mechanical form ------------------------------------------------------------------------ */

static double value_of(const loaded *m, expr e)
{
    return equation_set_value(&m->analysis.reduced.set, e, &m->point);
}

static mechanical recognise(const loaded *m)
{
    mechanical q;
    char reason[400] = "";
    mechanical_status status =
        mechanical_recognise(&m->analysis.reduced.set, &m->point, &q, reason, sizeof reason);
    if (status != MECHANICAL_OK) print_error("%s\n", reason);
    assert_int_equal(status, MECHANICAL_OK);
    return q;
}

/* a x = b by elimination with pivoting; the solution is in b. */
static void solve_dense(int n, double (*a)[MOST], double *b)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
        for (int j = 0; j < n; j++) {
            double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        double swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        for (int i = k + 1; i < n; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < n; j++) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

/* q'' = M^-1 (f - C lambda) */
static void set_accelerations(loaded *m)
{
    static double M[MOST][MOST];
    double b[MOST];
    mechanical q = recognise(m);
    memset(M, 0, sizeof M);
    for (int i = 0; i < q.nq; i++) b[i] = value_of(m, q.f[i]);
    for (int e = 0; e < q.M.count; e++)
        M[q.M.entry[e].row][q.M.entry[e].column] = value_of(m, q.M.entry[e].value);
    for (int e = 0; e < q.C.count; e++)
        b[q.C.entry[e].row] -=
            value_of(m, q.C.entry[e].value) * m->x[0][q.lambda[q.C.entry[e].column]];
    solve_dense(q.nq, M, b);
    for (int i = 0; i < q.nq; i++) m->x[2][q.q[i]] = b[i];
    mechanical_free(&q);
}

static void expect_sizes(const char *model, int nq, int nlambda, int nother)
{
    loaded m;
    load(&m, NULL, model);
    mechanical q = recognise(&m);
    assert_int_equal(q.nq, nq);
    assert_int_equal(q.nlambda, nlambda);
    assert_int_equal(q.nother, nother);
    for (int k = 0; k < nlambda; k++) assert_true(q.factor[k] != 0.0);
    mechanical_free(&q);
    unload(&m);
}

static void test_mechanisms_are_recognised(void **state)
{
    (void)state;
    expect_sizes("pendulum", 2, 1, 0);
    expect_sizes("andrews", 7, 6, 0);
    expect_sizes("caraxis", 4, 2, 2); /* the wheel is seen through */
    expect_sizes("structure/fourbar", 4, 3, 0);
    expect_sizes("structure/slidercrank", 3, 2, 0);
    expect_sizes("structure/pendulumwind", 2, 1, 2); /* length and wind, given in time */
}

/* M, C and G of the car axis by its formulas: C = -G' with b(t) in them, M = m I. */
static void test_matrices_of_the_car_axis(void **state)
{
    (void)state;
    loaded m;
    load(&m, NULL, "caraxis");
    mechanical q = recognise(&m);
    m.point.time = 0.2;
    double b[2] = {0.0, 0.1 * sin(2.0)}, mass = 10 * 1e-4 / 2;
    b[0] = sqrt(1.0 - b[1] * b[1]);
    assert_int_equal(q.M.count, 4);
    for (int e = 0; e < 4; e++) {
        assert_int_equal(q.M.entry[e].row, q.M.entry[e].column);
        assert_true(fabs(value_of(&m, q.M.entry[e].value) - mass) < 1e-15);
    }
    const equation_set *set = &m.analysis.reduced.set;
    assert_string_equal(set->name[q.lambda[0]], "lambda[1]");
    assert_int_equal(q.G.count, 2 + 4);
    for (int e = 0; e < 2; e++) {
        bool first = q.q[q.G.entry[e].column] == variable(set, "pl[1]");
        assert_true(fabs(value_of(&m, q.G.entry[e].value) - (first ? b[0] : b[1])) < 1e-15);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(q.steady[k]);
        assert_true(fabs(q.factor[k] + 1.0) < 1e-12);
    }
    mechanical_free(&q);
    unload(&m);
}

/* The same pendulum, written in other ways. */
static const char *const WRITTEN[] = {
    /* divided by masses, which differ: the equations have factors of their own */
    "model A\n"
    "  parameter Real m1 = 2, m2 = 5;\n"
    "  Real x(start = 1), y, vx, vy, f;\n"
    "equation\n"
    "  der(y) = vy; der(x) = vx;\n"
    "  der(vy) = -f*y/m2 - 1; der(vx) = -f*x/m1;\n"
    "  x^2 + y^2 = 1;\n"
    "end A;\n",
    /* forces as variables of their own, second derivatives, a multiplier with a parameter */
    "model B\n"
    "  parameter Real k = 3;\n"
    "  Real x(start = 1), y, fx, fy, lambda;\n"
    "equation\n"
    "  fx = -k*lambda*x; fy = -k*lambda*y;\n"
    "  der(der(x)) = fx; der(der(y)) = fy - 1;\n"
    "  sqrt(x^2 + y^2) = 1;\n"
    "end B;\n",
    /* equations in the wrong order, coordinates that turn, a mass matrix that is not diagonal */
    "model C\n"
    "  Real a(start = 1), b, va, vb, lambda;\n"
    "equation\n"
    "  a + b^2 = 1;\n"
    "  (2 + sin(a))*der(va) + b*der(vb) = va*vb - lambda;\n"
    "  b*der(va) + (3 + b^2)*der(vb) = -2*b*lambda - time;\n"
    "  der(b) = vb; der(a) = va;\n"
    "end C;\n",
};

static void test_ways_of_writing(void **state)
{
    (void)state;
    const int others[] = {0, 0, 0}; /* fx and fy are definitions */
    for (int k = 0; k < 3; k++) {
        loaded m;
        load(&m, WRITTEN[k], NULL);
        mechanical q = recognise(&m);
        assert_int_equal(q.nq, 2);
        assert_int_equal(q.nlambda, 1);
        assert_int_equal(q.nother, others[k]);
        if (k == 0) /* of the equations of x and y: as the masses */
            assert_true(fabs(q.scale[0] * 5.0 - q.scale[1] * 2.0) < 1e-9 ||
                        fabs(q.scale[1] * 5.0 - q.scale[0] * 2.0) < 1e-9);
        assert_true(q.steady[0] == (k != 1)); /* lambda / r */
        mechanical_free(&q);
        unload(&m);
    }
}

typedef struct refusal {
    const char *text, *model, *words[2];
} refusal;

#define PENDULUM(first, second, third)                                                             \
    "model M\n  Real x(start = 1), y(start = 0.3), vx, vy(start = 0.2), l(start = 1), w;\n"        \
    "equation\n  der(x) = vx; der(y) = vy; w = 2*time;\n"                                          \
    "  " first ";\n  " second ";\n  " third ";\nend M;\n"

static const refusal REFUSALS[] = {
    {PENDULUM("(1 + vx)*der(vx) = -x*l", "der(vy) = -y*l - 1", "x^2 + y^2 = 1"),
     NULL,
     {"acceleration of x", "more than positions"}},
    {PENDULUM("der(vx)^3 = -x*l", "der(vy) = -y*l - 1", "x^2 + y^2 = 1"),
     NULL,
     {"not linear in the accelerations", "m.mo:5"}},
    {PENDULUM("der(vx) + y*der(vy) = -x*l", "der(vy) = -y*l - 1", "x^2 + y^2 = 1"),
     NULL,
     {"not symmetric", "m.mo"}},
    {NULL, "springchain", {"F in", "does not act along the gradient"}},
    {NULL, "structure/hessenberg3", {"no variable appears with its second derivative", ""}},
    {NULL, "trajectory3", {"no variable appears with its second derivative", ""}},
    {NULL, "structure/twopendula", {"kappa in", "does not act along the gradient"}},
};

static void test_other_forms_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof REFUSALS / sizeof *REFUSALS; k++) {
        loaded m;
        mechanical q;
        char reason[400] = "";
        load(&m, REFUSALS[k].text, REFUSALS[k].model);
        assert_int_equal(
            mechanical_recognise(&m.analysis.reduced.set, &m.point, &q, reason, sizeof reason),
            MECHANICAL_NOT);
        for (int w = 0; w < 2; w++)
            if (!strstr(reason, REFUSALS[k].words[w]))
                fail_msg("%zu: \"%s\" is not in: %s", k, REFUSALS[k].words[w], reason);
        unload(&m);
    }
}

/* Multipliers that act otherwise than along the gradient, or not linearly: [M C; G 0] is regular,
 * so that this is friction [Wun05 (1.18)]; and a constraint on velocities [Wun05 (1.14)]. */
static void test_full_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool friction;
        int nvelocity;
    } list[] = {
        {PENDULUM("der(vx) = -x*l", "der(vy) = -x*l - 1", "x^2 + y^2 = 1"), true, 0},
        {PENDULUM("der(vx) = -x*l", "der(vy) = -y*l^2 - 1", "x^2 + y^2 = 1"), true, 0},
        {PENDULUM("der(vx) = -x*l", "der(vy) = -y*l - 1", "x^2 + y^2 = 1"), false, 0},
        {PENDULUM("der(vx) = -x*l", "der(vy) = -y*l - 1", "x*vx + y*vy = 0"), false, 1},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        loaded m;
        load(&m, list[k].text, NULL);
        mechanical q = recognise(&m);
        assert_int_equal(q.nlambda, 1);
        assert_int_equal(q.friction, list[k].friction);
        assert_int_equal(q.nvelocity, list[k].nvelocity);
        mechanical_free(&q);
        unload(&m);
    }
}

/* ---- rows on the true solution -------------------------------------------------------------- */

typedef struct row_values {
    const double *y, *yp;
    const loaded *m;
} row_values;

static double leaf_value(void *context, const expr_node *leaf)
{
    const row_values *v = context;
    switch (leaf->op) {
    case EXPR_CONSTANT: return leaf->value;
    case EXPR_TIME: return v->m->point.time;
    case EXPR_PARAMETER: return v->m->point.parameters[leaf->index];
    case EXPR_MEMORY: return v->m->point.memory[leaf->index];
    default: return leaf->order == 0 ? v->y[leaf->index] : v->yp[leaf->index];
    }
}

/* y and y' of a formulation from x, x', x''; what is new in it is 0. Higher derivatives are not
 * known: NAN, so that a row which needed them would show. */
static void fill(const loaded *m, const formulated *f, double *y, double *yp)
{
    for (int i = 0; i < f->set.n; i++) {
        int j = f->variable[i], p = f->order[i];
        y[i] = j < 0 || p < 0 ? 0.0 : p <= ORDERS ? f->sign[i] * m->x[p][j] : NAN;
        yp[i] = j < 0 ? 0.0 : p < ORDERS ? f->sign[i] * m->x[p + 1][j] : NAN;
        bool known = j < 0 || p + 1 <= m->analysis.reduced.structure.d[j];
        if (!known) yp[i] = NAN;
    }
}

static double largest_row(const loaded *m, const formulated *f)
{
    double y[4 * MOST], yp[4 * MOST], most = 0.0;
    row_values v = {y, yp, m};
    assert_in_range(f->set.n, 1, 4 * MOST);
    fill(m, f, y, yp);
    for (int r = 0; r < f->set.m; r++) {
        double value = graph_value(f->set.graph, f->set.row[r].residual, leaf_value, &v);
        if (isnan(value))
            fail_msg("row %d (%s) needs too high a derivative", r, f->set.row[r].name);
        most = fmax(most, fabs(value));
    }
    return most;
}

/* n unknowns, rows and candidates as the formulation should have; residual below bound. */
static void expect_rows(const loaded *m, const char *name, int n, int rows, double bound)
{
    formulated f;
    dae_diag diag = {0};
    formulation_setting setting = {.at = &m->point};
    dae_status status =
        formulation_apply(formulation_find(name, NULL), &m->analysis.reduced, &setting, &f, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    assert_int_equal(f.set.n, n);
    assert_int_equal(f.set.m, rows);
    double most = largest_row(m, &f);
    if (!(most <= bound)) print_error("%s: residual %g\n", name, most);
    assert_true(most <= bound);
    assert_true((formulation_find(name, NULL)->needs != NULL) ==
                (strcmp(name, "overdetermined") == 0 || strcmp(name, "manifold") == 0));
    formulated_free(&f);
}

/* With nq positions, l constraints, o algebraic variables that are given in time: the sizes that
 * the definitions of the formulations give. c: differentiations in all. */
static void expect_all_rows(const loaded *m, int nq, int l, int o, int c, double bound)
{
    int n = 2 * nq + l + o;
    expect_rows(m, "index3", n, n, bound);
    expect_rows(m, "ggl", n + l, n + l, bound);
    expect_rows(m, "minimal", n + l, n + l, bound);
    expect_rows(m, "integral", n, n, bound);
    if (o > 0) return; /* sizes of the others depend on what is given */
    expect_rows(m, "index2", n, n, bound);
    expect_rows(m, "index1", n + nq, n + nq, bound);
    expect_rows(m, "baumgarte", n + nq, n + nq, bound);
    expect_rows(m, "manifold", n + nq, n + nq + c, bound);
    expect_rows(m, "overdetermined", 3 * nq + l, 2 * nq + nq + 3 * l, bound);
}

static void test_rows_of_the_pendulum(void **state)
{
    (void)state;
    loaded m;
    load(&m, NULL, "pendulum");
    set_reference(&m, "pendulum");
    set_accelerations(&m);
    expect_all_rows(&m, 2, 1, 0, 2, 1e-13);
    unload(&m);
}

static void test_rows_of_andrews(void **state)
{
    (void)state;
    loaded m;
    load(&m, NULL, "andrews");
    set_reference(&m, "andrews");
    set_accelerations(&m);
    expect_all_rows(&m, 7, 6, 0, 12, 1e-8); /* g'' has terms of 1e5 */
    unload(&m);
}

static void test_rows_of_the_car_axis(void **state)
{
    (void)state;
    loaded m;
    load(&m, NULL, "caraxis");
    set_reference(&m, "caraxis");
    double s = sin(30.0), c = cos(30.0), b1 = sqrt(1.0 - 0.01 * s * s);
    double db1 = -0.1 * s * c / b1, db2 = 10.0 * 0.1 * c;
    set_value(&m, "b[2]", 0.1 * s);
    set_value(&m, "b[1]", b1);
    const equation_set *set = &m.analysis.reduced.set;
    m.x[1][variable(set, "b[2]")] = db2;
    m.x[2][variable(set, "b[2]")] = -100.0 * 0.1 * s;
    m.x[1][variable(set, "b[1]")] = db1;
    m.x[2][variable(set, "b[1]")] =
        -(db1 * db1 + db2 * db2 - 10.0 * s * 0.1 * s) / b1; /* (b1 b1' + b2 b2')' = 0 */
    set_accelerations(&m);
    expect_all_rows(&m, 4, 2, 2, 8, 1e-12);
    /* b is differentiated twice with the constraints: unknowns b, b', b'' */
    expect_rows(&m, "index1", 20, 20, 1e-12);
    expect_rows(&m, "manifold", 20, 20 + 8, 1e-12);
    unload(&m);
}

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct run {
    dae_problem *problem;
    dae_solver *solver;
    dae_diag diag;
    double values[MOST];
} run;

static dae_options tolerances(const char *name, double rtol)
{
    dae_options o = dae_options_default();
    o.formulation = name;
    o.rtol = rtol;
    o.atol = 1e-3 * rtol;
    o.max_steps = 0;
    return o;
}

static void begin(run *r, const char *text, const char *name, const dae_options *options)
{
    char path[512] = "m.mo";
    memset(r, 0, sizeof *r);
    if (name) model_path(path, sizeof path, name, ".mo");
    dae_model model = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &r->problem, &r->diag);
    if (status == DAE_OK) status = dae_solver_new(r->problem, options, &r->solver, &r->diag);
    if (status != DAE_OK) print_error("%s\n", r->diag.text);
    assert_int_equal(status, DAE_OK);
    status = dae_solver_start(r->solver, 0.0, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(r->solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void finish(run *r)
{
    dae_solver_free(r->solver);
    dae_problem_free(r->problem);
}

static void run_to(run *r, double t)
{
    dae_status status = dae_solver_run(r->solver, t, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(r->solver)->text);
    assert_int_equal(status, DAE_OK);
    assert_in_range(dae_problem_variable_count(r->problem), 1, MOST);
    assert_int_equal(dae_solver_variables(r->solver, t, r->values), DAE_OK);
}

static double value(const run *r, const char *name)
{
    int i = dae_problem_find_variable(r->problem, name);
    assert_true(i >= 0);
    return r->values[i];
}

/* max |y - reference| / max |reference| over the variables that begin with prefix. */
static double reference_error(run *r, const char *model, const char *prefix)
{
    char path[512], line[512], name[64];
    double t = NAN, v, error = 0.0, size = 0.0;
    model_path(path, sizeof path, model, ".ref");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%63s %lf", name, &v) != 2) continue;
        if (strcmp(name, "t") == 0) {
            t = v;
            run_to(r, t);
        } else if (!isnan(t) && strncmp(name, prefix, strlen(prefix)) == 0) {
            error = fmax(error, fabs(value(r, name) - v));
            size = fmax(size, fabs(v));
        }
    }
    fclose(file);
    assert_true(size > 0.0);
    return error / size;
}

typedef struct run_line {
    const char *model, *prefix, *formulation;
    double rtol, bound;
    long steps; /* at most */
} run_line;

static const run_line RUNS[] = {
    {"pendulum", "x", "index3", 1e-5, 1e-3, 500},
    {"pendulum", "", "index2", 1e-8, 1e-6, 2500},
    {"pendulum", "", "index1", 1e-8, 1e-6, 2000},
    {"pendulum", "", "baumgarte", 1e-8, 1e-6, 2000},
    {"pendulum", "", "baumgarte:1", 1e-8, 1e-6, 2000},
    {"pendulum", "", "baumgarte:100", 1e-6, 1e-4, 2000},
    {"pendulum", "", "ggl", 1e-8, 1e-6, 2000},
    {"pendulum", "", "tangent", 1e-8, 1e-6, 2000},
    {"andrews", "q", "tangent", 1e-8, 1e-5, 4000},
    {"pendulum", "", "integral", 1e-6, 1e-3, 1000},
    {"pendulum", "x", "penalty", 1e-6, 1e-4, 4000},
    {"pendulum", "x", "regularised", 1e-6, 1e-4, 1000},
    {"caraxis", "p", "index3", 1e-5, 1e-3, 2000},
    {"caraxis", "p", "index2", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "index1", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "baumgarte", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "ggl", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "minimal", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "penalty", 1e-6, 1e-4, 10000},
    {"andrews", "q", "index3", 1e-6, 1e-3, 2000},
    {"andrews", "q", "index2", 1e-8, 1e-4, 4000},
    {"andrews", "q", "index1", 1e-8, 1e-4, 4000},
    {"andrews", "q", "baumgarte", 1e-8, 1e-4, 4000},
    {"andrews", "q", "ggl", 1e-8, 1e-5, 4000},
    {"andrews", "q", "minimal", 1e-8, 1e-5, 4000},
    {"andrews", "q", "penalty:1e-10", 1e-6, 1e-4, 4000},
    {"springchain", "p", "index2", 1e-6, 1e-3, 4000},
    {"springchain", "p", "index1", 1e-6, 1e-3, 4000},
    {"pendulum", "", "overdetermined", 1e-8, 1e-6, 2000},
    {"pendulum", "", "manifold", 1e-8, 1e-6, 2000},
    {"pendulum", "", "array", 1e-8, 1e-6, 2000},
    {"caraxis", "p", "overdetermined", 1e-8, 1e-5, 10000},
    {"caraxis", "p", "manifold", 1e-8, 1e-5, 10000},
    {"andrews", "q", "overdetermined", 1e-8, 1e-5, 4000},
    {"andrews", "q", "manifold", 1e-8, 1e-5, 4000},
    {"springchain", "", "overdetermined", 1e-6, 1e-3, 4000},
    {"springchain", "", "manifold", 1e-6, 1e-3, 4000},
    {"springchain", "", "array", 1e-6, 1e-3, 4000}, /* index 5: derivatives up to order 4 */
};

static void test_runs_reach_the_references(void **state)
{
    (void)state;
    bool all = true;
    for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; k++) {
        const run_line *q = &RUNS[k];
        run r;
        dae_options o = tolerances(q->formulation, q->rtol);
        begin(&r, NULL, q->model, &o);
        double error = reference_error(&r, q->model, q->prefix);
        long steps = dae_solver_stats(r.solver)->steps;
        bool good = error <= q->bound && steps <= q->steps;
        if (!good)
            print_error("%s, %s: error %.2g, %ld steps\n", q->model, q->formulation, error, steps);
        if (getenv("FORMULATIONS_TABLE"))
            print_message("| %s | %s | %.0e | %ld | %.1e |\n", q->model, q->formulation, q->rtol,
                          steps, error);
        all = all && good;
        finish(&r);
    }
    assert_true(all);
}

/* ---- every one with auto -------------------------------------------------------------------- */

/* The pendulum from (1, 0) at rest with m = l = g = 1 [BH93], at t = 10. */
static const char *const REST = "model Rest\n"
                                "  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0);\n"
                                "  Real vy(start = 0, fixed = true), lambda;\n"
                                "equation\n"
                                "  der(x) = vx; der(y) = vy;\n"
                                "  der(vx) = -x*lambda;\n"
                                "  der(vy) = -y*lambda - 1;\n"
                                "  x^2 + y^2 = 1;\n"
                                "end Rest;\n";
static const double AT_10[] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697};

static int rest_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 0.0, f[1] = -1.0;
    return 0;
}

/* Half of x^2 + y^2 - 1, so that its multiplier is that of REST. */
static int rest_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

/* Springs of compliance 1e-6 and the regularisation by 1e-6 stand for constraints: errors of that
 * times the time; the others keep rtol = 1e-6 but for what adds up. Multipliers of index 3 are a
 * second difference. */
static void expect_rest(const char *name, const double *y)
{
    for (int i = 0; i < 4; i++)
        if (!(fabs(y[i] - AT_10[i]) <= 2e-4))
            fail_msg("%s: unknown %d is %.9g, not %.9g", name, i, y[i], AT_10[i]);
}

static void run_rest(dae_problem *p, const char *name, const double *y0)
{
    double y[8] = {0};
    dae_diag diag = {0};
    dae_solver *s = NULL;
    dae_options o = tolerances(name, 1e-6);
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s: %s", name, diag.text);
    if (dae_solver_start(s, 0.0, y0, NULL) != DAE_OK || dae_solver_run(s, 10.0, y, NULL) != DAE_OK)
        fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    expect_rest(name, y);
    const char *needs = formulation_find(name, NULL)->needs;
    if (needs && strncmp(dae_solver_method(s), needs, strlen(needs)) != 0)
        fail_msg("%s runs with %s", name, dae_solver_method(s));
    if (needs && !strstr(dae_solver_choice(s), name)) fail_msg("%s", dae_solver_choice(s));
    dae_solver_free(s);
}

/* Whether callbacks in another form than the residual one have it. */
static bool on_offer(const dae_problem *p, const char *name)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = tolerances(name, 1e-6);
    dae_status status = dae_solver_new(p, &o, &s, &diag);
    dae_solver_free(s);
    if (status != DAE_OK && !strstr(diag.text, "is not on offer")) fail_msg("%s", diag.text);
    return status == DAE_OK;
}

static void refuse_by_method(const dae_problem *p, const char *name, const char *by,
                             const char *words)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = tolerances(name, 1e-6);
    o.method = by;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    if (!strstr(diag.text, words)) fail_msg("%s", diag.text);
}

/* Nothing is rewritten at index 1, also where a start looks at derivatives of equations. */
static void test_idle_with_auto(void **state)
{
    (void)state;
    static const char *const names[] = {"overdetermined", "manifold", "array", "ggl"};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    char path[512];
    model_path(path, sizeof path, "transamp", ".mo");
    assert_int_equal(dae_problem_from_file(path, &p, &diag), DAE_OK);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        dae_solver *s = NULL;
        dae_options o = tolerances(names[k], 1e-6);
        assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
        dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
        if (status != DAE_OK) fail_msg("%s: %s", names[k], dae_solver_diag(s)->text);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

static void test_every_one_runs_with_auto(void **state)
{
    (void)state;
    static const double start[] = {1.0, 0.0, 0.0, 0.0, 0.0};
    dae_problem *model = NULL, *callbacks = NULL;
    dae_model text = {.text = REST, .file = "rest.mo", .engine = DAE_ENGINE_TAPE};
    dae_mechanical form = {
        .nq = 2, .nlambda = 1, .force = rest_force, .constraint = rest_constraint};
    assert_int_equal(dae_problem_from_model(&text, &model, NULL), DAE_OK);
    assert_int_equal(dae_problem_from_mechanical(&form, &callbacks, NULL), DAE_OK);
    for (int f = 0; dae_formulation_name(f); f++) {
        run_rest(model, dae_formulation_name(f), NULL);
        if (on_offer(callbacks, dae_formulation_name(f)))
            run_rest(callbacks, dae_formulation_name(f), start);
    }
    assert_true(on_offer(callbacks, "manifold") && on_offer(callbacks, "overdetermined"));
    refuse_by_method(callbacks, "manifold", "bdf", "such as dopri, and not for bdf");
    refuse_by_method(callbacks, "manifold", "herk", "such as dopri, and not for herk");
    refuse_by_method(callbacks, "overdetermined", "dopri", "such as herk, and not for dopri");
    dae_problem_free(model);
    dae_problem_free(callbacks);
}

/* ---- starts and drift ----------------------------------------------------------------------- */

static const char *const LOOSE =
    "model Pendulum\n"
    "  Real x(start = 0.6, fixed = true), y(start = -1), vx(start = 0);\n"
    "  Real vy(start = 0.3, fixed = true), lambda;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy;\n"
    "  der(vx) = -x*lambda;\n"
    "  der(vy) = -y*lambda - 1;\n"
    "  x^2 + y^2 = 1;\n"
    "end Pendulum;\n";

static double position_residual(const run *r)
{
    double x = value(r, "x"), y = value(r, "y");
    return fabs(x * x + y * y - 1.0);
}

static double velocity_residual(const run *r)
{
    return fabs(value(r, "x") * value(r, "vx") + value(r, "y") * value(r, "vy"));
}

static double acceleration_residual(const run *r)
{
    double vx = value(r, "vx"), vy = value(r, "vy");
    return fabs(vx * vx + vy * vy - value(r, "y") - value(r, "lambda"));
}

/* The start satisfies all levels, whatever the formulation keeps of them: x = 0.6, y = -0.8 from
 * the start value -1, vx = 0.4. */
static void test_starts_on_all_levels(void **state)
{
    (void)state;
    static const char *const names[] = {"index3", "index2",   "index1",  "baumgarte",
                                        "ggl",    "integral", "minimal", "regularised"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        run r;
        dae_options o = tolerances(names[k], 1e-6);
        begin(&r, LOOSE, NULL, &o);
        assert_int_equal(dae_solver_variables(r.solver, 0.0, r.values), DAE_OK);
        assert_true(fabs(value(&r, "x") - 0.6) < 1e-14);
        assert_true(fabs(value(&r, "y") + 0.8) < 1e-11);
        assert_true(fabs(value(&r, "vx") - 0.4) < 1e-11);
        assert_true(acceleration_residual(&r) < 1e-10);
        finish(&r);
    }
}

/* A restart on values off the constraints comes back to them. */
static void test_restarts_on_all_levels(void **state)
{
    (void)state;
    static const char *const names[] = {"index3", "index1", "ggl", "integral"};
    const double y[5] = {0.8, -0.61, 0.0, 0.0, 0.0};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        run r;
        dae_options o = tolerances(names[k], 1e-6);
        begin(&r, LOOSE, NULL, &o);
        run_to(&r, 0.5);
        assert_int_equal(dae_solver_restart(r.solver, y, NULL), DAE_OK);
        assert_int_equal(dae_solver_variables(r.solver, 0.5, r.values), DAE_OK);
        assert_true(fabs(value(&r, "x") - 0.8) < 0.02);
        assert_true(position_residual(&r) < 1e-11);
        assert_true(velocity_residual(&r) < 1e-11);
        assert_true(acceleration_residual(&r) < 1e-10);
        run_to(&r, 0.7);
        finish(&r);
    }
}

/* Residuals at t = 100 with rtol 1e-6: [HW96 VII.2, Fig. 2.1], [BCP96 6.2]. */
static void drift(const char *name, double *position, double *velocity)
{
    run r;
    dae_options o = tolerances(name, 1e-6);
    begin(&r, LOOSE, NULL, &o);
    run_to(&r, 100.0);
    *position = position_residual(&r);
    *velocity = velocity_residual(&r);
    finish(&r);
}

static void test_drift(void **state)
{
    (void)state;
    double p[7], v[7];
    static const char *const names[] = {"index1", "index2", "baumgarte", "index3", "ggl", "auto"};
    for (int k = 0; k < 6; k++) {
        drift(names[k], &p[k], &v[k]);
        if (getenv("FORMULATIONS_TABLE"))
            print_message("| %s | %.1e | %.1e |\n", names[k], p[k], v[k]);
    }
    for (int k = 2; k < 6; k++) assert_true(100.0 * p[k] < p[0]); /* stabilised or imposed */
    assert_true(10.0 * p[1] < p[0]);                              /* one level less to drift by */
    assert_true(10.0 * v[1] < v[0] && v[4] < 1e-5 && v[5] < 1e-9);
}

/* ---- the tables of the book, through formulations of one text -------------------------------- */

static const char *const BOOK =
    "model Book\n"
    "  Real z1(start = 1), z2(start = 0, fixed = true), z3(start = 0);\n"
    "  Real z4(start = 1, fixed = true), lambda(start = 1);\n"
    "equation\n"
    "  der(z1) = z3; der(z2) = z4;\n"
    "  der(z3) = -z1*lambda;\n"
    "  der(z4) = -z2*lambda + 1;\n"
    "  z1^2 + z2^2 = 1;\n"
    "end Book;\n";

typedef struct book_line {
    double tolerance;
    long steps, functions;
} book_line;

/* [BCP96 Tables 6.2.2, 6.2.3]: errors of 300 tolerances, twice the steps of DASSL, 1.5 times its
 * evaluations, as for the equations written by hand. */
static void expect_book(const char *name, const book_line *line, double g1, double g2)
{
    static const char *const names[] = {"z1", "z2", "z3", "z4", "lambda"};
    static const double truth[] = {0.1349949261, 0.9908462897, -1.710951582, 0.2331035448,
                                   3.972538869};
    run r;
    dae_options o = tolerances(name, line->tolerance);
    o.atol = line->tolerance;
    begin(&r, BOOK, NULL, &o);
    run_to(&r, 1.0);
    const dae_stats *s = dae_solver_stats(r.solver);
    if (getenv("FORMULATIONS_TABLE"))
        print_message("| %s | %.0e | %ld/%ld | %ld/%ld |\n", name, line->tolerance, s->steps,
                      s->residuals, line->steps, line->functions);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(value(&r, names[i]) / truth[i] - 1.0) <=
                    fmax(300.0 * line->tolerance, 1e-9));
    assert_true(s->steps <= 2 * line->steps);
    assert_true(2 * s->residuals <= 3 * line->functions);
    double z1 = value(&r, "z1"), z2 = value(&r, "z2");
    assert_true(fabs(z1 * z1 + z2 * z2 - 1.0) <= g1);
    assert_true(fabs(z1 * value(&r, "z3") + z2 * value(&r, "z4")) <= g2);
    finish(&r);
}

static void test_tables_of_the_book(void **state)
{
    (void)state;
    static const book_line index1[] = {{1e-5, 43, 89},    {1e-6, 53, 114},  {1e-7, 84, 164},
                                       {1e-8, 90, 197},   {1e-9, 116, 254}, {1e-10, 155, 359},
                                       {1e-11, 233, 524}, {1e-12, 369, 642}};
    static const book_line ggl[] = {{1e-5, 35, 101}, {1e-6, 45, 123}, {1e-7, 80, 225}};
    for (size_t k = 0; k < sizeof index1 / sizeof *index1; k++) {
        double bound = fmax(300.0 * index1[k].tolerance, 1e-9);
        expect_book("index1", &index1[k], bound, bound);
    }
    for (size_t k = 0; k < sizeof ggl / sizeof *ggl; k++)
        expect_book("ggl", &ggl[k], ggl[k].tolerance, ggl[k].tolerance);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void refuse_with(const char *by, const char *text, const char *file, const char *name,
                        dae_status wanted, const char *a, const char *b)
{
    char path[512] = "m.mo";
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    if (file) model_path(path, sizeof path, file, ".mo");
    dae_model model = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    dae_options o = tolerances(name, 1e-6);
    o.method = by;
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    dae_status status = dae_solver_new(problem, &o, &solver, &diag);
    const char *told = diag.text;
    if (status == DAE_OK) {
        status = dae_solver_start(solver, 0.0, NULL, NULL);
        told = dae_solver_diag(solver)->text;
    }
    assert_int_equal(status, wanted);
    if (!strstr(told, a) || !strstr(told, b)) fail_msg("\"%s\" and \"%s\" in: %s", a, b, told);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static void refuse(const char *text, const char *file, const char *name, dae_status wanted,
                   const char *a, const char *b)
{
    refuse_with("auto", text, file, name, wanted, a, b);
}

static void test_names(void **state)
{
    (void)state;
    refuse(LOOSE, NULL, "baumgart", DAE_ERR_ARGUMENT, "no formulation \"baumgart\"", "ggl");
    refuse(LOOSE, NULL, "baumgarte:", DAE_ERR_ARGUMENT, "no formulation", "baumgarte:10");
    refuse(LOOSE, NULL, "baumgarte:-1", DAE_ERR_ARGUMENT, "no formulation", "positive number");
    refuse(LOOSE, NULL, "index1:3", DAE_ERR_ARGUMENT, "no formulation", "index1");
    refuse_with("bdf", LOOSE, NULL, "overdetermined", DAE_ERR_UNSUPPORTED, "overdetermined",
                "herk");
    refuse_with("bdf", LOOSE, NULL, "manifold", DAE_ERR_UNSUPPORTED, "manifold", "dopri");
    refuse_with("hem", LOOSE, NULL, "manifold", DAE_ERR_UNSUPPORTED, "for methods such as dopri",
                "not for hem");
    refuse_with("gauss", LOOSE, NULL, "array", DAE_ERR_UNSUPPORTED, "gauss", "radau");
    refuse(NULL, "springchain", "ggl", DAE_ERR_UNSUPPORTED, "Formulation ggl needs a mechanical",
           "F in equation 4");
    refuse(NULL, "structure/hessenberg3", "minimal", DAE_ERR_UNSUPPORTED, "minimal",
           "second derivative");
    refuse(NULL, "structure/opamp3", "manifold", DAE_ERR_UNSUPPORTED, "function of time alone",
           "dopri");
    refuse(NULL, "structure/arm2", "penalty", DAE_ERR_UNSUPPORTED, "penalty", "u1");
    refuse(WRITTEN[1], NULL, "penalty", DAE_ERR_UNSUPPORTED, "constant factors", "lambda");
}

/* Name, summary and citation of all, no name twice. */
static void test_list(void **state)
{
    (void)state;
    int count = 0;
    for (; dae_formulation_name(count); count++) {
        assert_true(strlen(dae_formulation_summary(count)) > 10);
        assert_true(strlen(dae_formulation_citation(count)) > 10);
        for (int k = 0; k < count; k++)
            assert_string_not_equal(dae_formulation_name(k), dae_formulation_name(count));
        assert_ptr_equal(formulation_find(dae_formulation_name(count), NULL)->name,
                         dae_formulation_name(count));
    }
    assert_true(count > 1);
    assert_null(dae_formulation_name(-1));
    assert_null(dae_formulation_summary(count));
    assert_null(dae_formulation_citation(count));
}

/* The parameter may be given as a number, too, and the text wins. */
static void test_parameter(void **state)
{
    (void)state;
    double x[3];
    for (int k = 0; k < 3; k++) {
        run r;
        dae_options o = tolerances(k == 0 ? "baumgarte:3" : "baumgarte", 1e-4);
        o.formulation_parameter = k == 0 ? 50.0 : k == 1 ? 3.0 : 0.0;
        begin(&r, LOOSE, NULL, &o);
        run_to(&r, 5.0);
        x[k] = value(&r, "x");
        finish(&r);
    }
    assert_true(x[0] == x[1]);
    assert_true(x[0] != x[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mechanisms_are_recognised),
        cmocka_unit_test(test_matrices_of_the_car_axis),
        cmocka_unit_test(test_ways_of_writing),
        cmocka_unit_test(test_other_forms_are_refused),
        cmocka_unit_test(test_full_form),
        cmocka_unit_test(test_rows_of_the_pendulum),
        cmocka_unit_test(test_rows_of_andrews),
        cmocka_unit_test(test_rows_of_the_car_axis),
        cmocka_unit_test(test_runs_reach_the_references),
        cmocka_unit_test(test_idle_with_auto),
        cmocka_unit_test(test_every_one_runs_with_auto),
        cmocka_unit_test(test_starts_on_all_levels),
        cmocka_unit_test(test_restarts_on_all_levels),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_tables_of_the_book),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
