/* Which index is which, on a model: the public call. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/hybrid/hybrid.h"
#include "structure/linear/linear.h"
#include "structure/linear/notions.h"

enum { NOTIONS = 6, LARGEST = 150, LARGEST_LINEAR = 120, DERIVATIVES = 6 };

/* Ranks, as where derivative arrays are integrated; and how much later they are looked at again, in
 * units of time. */
static const double RANK = 1e-9, LATER = 1e-3;

/* What the caller sees, and behind it what it points to. */
typedef struct notions_record {
    dae_index_notions report; /* first: the caller's pointer is this one's */
    dae_index_notion notion[NOTIONS];
    arena *texts;
    dae_condensed *condensed; /* linear with constant coefficients; else NULL */
} notions_record;

/* One model at a point. */
typedef struct looking {
    notions_record *r;
    const dae_problem *problem;
    const dae_analysis *analysis;
    dae_solver *solver;
    equation_set set;
    derivative_array array;
    double *x, *matrices; /* coefficients at the point; A and B if linear; owned */
    bool linear, arrayed; /* constant coefficients; the array could be analysed */
    bool changes;         /* .. and says something else a little later */
    array_report report;
} looking;

/* Definitions are no unknowns of the form that is looked at, but of the model. In v - e(..) in
 * place of v, which is a change of variables, each is an algebraic equation of index 1 apart from
 * all others: a block (0, 1) of the matrices, one more in a. */
static int definitions(const looking *w)
{
    return w->problem->model->definition_count;
}

/* The next notion; the sentence is copied. */
static void add(looking *w, const char *name, int low, int high, const char *citation,
                const char *text)
{
    dae_index_notion *to = &w->r->notion[w->r->report.count++];
    *to = (dae_index_notion){.name = name,
                             .low = low,
                             .high = high,
                             .text = arena_text(w->r->texts, text, strlen(text)),
                             .citation = citation};
}

/* ---- each notion ---- */

/* Why the derivative array tells nothing; NULL: it does. */
static const char *why_untold(const looking *w)
{
    if (w->changes) return "cannot be told: ranks change with time, just here";
    if (w->arrayed) return NULL;
    return w->problem->model->n > LARGEST
               ? "cannot be told: the model is too large for its derivative array"
               : "cannot be told: equations and derivatives have no values at the point, or none "
                 "that satisfy them were found near it";
}

static void add_structural(looking *w)
{
    char text[400];
    const dae_analysis *a = w->analysis;
    snprintf(text, sizeof text,
             "counts differentiations by which variables occur where, numbers aside; %s",
             a->agree && a->rewrite_count > 0
                 ? "the numbers do not agree with it: terms cancel, and a rewriting is needed"
             : !a->agree ? "the numbers do not agree with it, so that it may be too small or too "
                           "large"
             : !a->consistent ? "the numbers agree with it in general"
             : a->agree_here  ? "the numbers at the point agree with it"
                              : "the numbers agree with it in general, but not at this very point");
    add(w, "structural", a->structural_index, a->structural_index, "Pryce 2001", text);
}

static void add_differentiation(looking *w)
{
    char text[500];
    const array_report *r = &w->report;
    int index = w->arrayed ? r->index : w->analysis->index;
    if (index < 0)
        snprintf(text, sizeof text, "cannot be told: %s",
                 w->arrayed && r->dependent ? "combinations of the equations contain no unknown"
                 : w->changes               ? "ranks change with time, just here"
                 : w->arrayed               ? "ranks of the derivative array change here, or need "
                                              "more derivatives than are tried"
                                            : "there is no derivative array, and numbers and "
                                              "structure disagree");
    else if (!w->arrayed)
        snprintf(text, sizeof text, "from the structure, with which the numbers agree");
    else if (r->uniform_index > index)
        snprintf(text, sizeof text,
                 "F and its derivatives up to order %d determine y' on the solutions; beside them "
                 "it takes %d, so that computed solutions, which are beside, behave as of index %d",
                 index, r->uniform_index, r->uniform_index);
    else
        snprintf(text, sizeof text, "F and its derivatives up to order %d determine y'", index);
    add(w, "differentiation", index, index, "Brenan, Campbell, Petzold 1996, 2.4", text);
}

/* a, d, u, v, r: of the array, or, for singular ones, of the matrices */
static void take_values(looking *w)
{
    dae_index_notions *to = &w->r->report;
    const array_report *r = &w->report;
    const dae_condensed *c = w->r->condensed;
    to->strangeness = to->a = to->d = to->u = to->v = to->r = -1;
    if (c) {
        const dae_characteristic *last = &c->steps[c->index];
        to->strangeness = c->index;
        to->a = last->a, to->d = last->d1, to->u = last->left, to->v = last->right;
        to->steps = c->steps, to->step_count = c->index + 1;
    } else if (w->arrayed && r->strangeness >= 0) {
        to->strangeness = r->strangeness;
        to->a = r->a, to->d = r->d, to->u = to->v = 0;
    }
    /* of the array: all its rows but those that the equations without unknowns take */
    if (to->strangeness >= 0) to->r = to->n * (to->strangeness + 1) - to->u;
}

static void add_strangeness(looking *w)
{
    char text[500];
    const dae_index_notions *r = &w->r->report;
    const char *untold = why_untold(w);
    take_values(w);
    if (r->strangeness < 0)
        snprintf(text, sizeof text, "%s",
                 untold ? untold
                        : "cannot be told: its hypothesis does not hold at the point, or "
                          "needs more derivatives than are tried");
    else
        snprintf(text, sizeof text,
                 "%d algebraic and %d differential equations are in the equations and their "
                 "derivatives up to order %d (a = %d, d = %d, u = %d, v = %d, r = %d)%s",
                 r->a, r->d, r->strangeness, r->a, r->d, r->u, r->v, r->r,
                 r->u + r->v > 0 ? "; some equations have no unknown, or some unknowns no equation"
                                 : "");
    add(w, "strangeness", r->strangeness, r->strangeness, "Kunkel, Mehrmann 1998", text);
}

static const char *const perturbation_words[] = {
    [PERTURBATION_ODE] = "dF/dy' is regular: the solution depends on integrals of a perturbation",
    [PERTURBATION_LEADING] = "dF/dy' does not depend on unknowns, so that derivatives of a "
                             "perturbation enter as often as the differentiation index around the "
                             "solution says, less 1",
    [PERTURBATION_EXPLICIT] = "the equations with derivatives can be solved for them, so that "
                              "derivatives of a perturbation enter as often as the "
                              "differentiation index around the solution says, less 1",
    [PERTURBATION_POINTWISE] = "no initial value is free: the solution is a function of "
                               "perturbations and their derivatives, as many as the "
                               "differentiation index around the solution says, less 1",
    [PERTURBATION_CLOSED] = "what stands before y' is a total differential where constraints are "
                            "perturbed, so that no derivative of a perturbation is left",
    [PERTURBATION_AREA] = "what stands before y' is no total differential: perturbations of two "
                          "constraints enclose an area, and that depends on their derivatives",
    [PERTURBATION_BOUNDS] = "the differentiation index around the solution, or one more: dF/dy' "
                            "depends on unknowns",
    [PERTURBATION_UNKNOWN] = "cannot be told: ranks of the derivative array around the solution "
                             "change, or need more derivatives than are tried",
};

/* False: memory. */
static bool add_perturbation(looking *w)
{
    perturbation_index p = {-1, -1, PERTURBATION_UNKNOWN};
    if (!why_untold(w)) {
        leading_term leading = leading_term_of(&w->set);
        array_status status =
            leading == LEADING_MEMORY
                ? ARRAY_MEMORY
                : perturbation_index_of(&w->array, w->r->report.t, w->x, &w->report, leading, &p);
        if (status == ARRAY_MEMORY) return false;
    }
    if (definitions(w) > 0 && p.high == 0)
        p = (perturbation_index){1, 1, PERTURBATION_EXPLICIT}; /* of an ODE's */
    add(w, "perturbation", p.low, p.high, "Hairer, Wanner 1996, VII.1; Campbell, Gear 1995",
        why_untold(w) ? why_untold(w) : perturbation_words[p.reason]);
    return true;
}

/* False: memory. */
static bool add_tractability(looking *w)
{
    const int n = w->r->report.n;
    const char *text = why_untold(w);
    int index = -1;
    if (w->linear) {
        index = tractability_of_pencil(n, w->matrices, w->matrices + n * n, RANK);
        text = index < 0 ? "is not defined: no chain of projectors ends, as the pencil is singular"
                         : "so many projectors are needed until the matrix chain is regular; for "
                           "constant matrices that is Kronecker's index";
    } else if (!text) {
        const double t = w->r->report.t;
        leading_shape shape = leading_shape_at(&w->array, t, w->x, RANK);
        bool fixed = shape.unit_kernel;
        if (shape.memory) return false;
        index = tractability_index_of(&w->array, t, w->x, fixed, RANK);
        if (index == 0 && definitions(w) > 0) index = 1;
        text = index == 0   ? "dF/dy' is regular"
               : index == 1 ? "dF/dy' + dF/dy Q is regular, Q a projector on the kernel of dF/dy'"
               : index == 2 ? "a second projector makes the matrix chain regular"
               : fixed      ? "above 2, and for that derivatives of projectors along the solution "
                              "would be needed, which are not computed"
                            : "above 1, and beyond that it is defined for a properly stated "
                              "leading term: here the kernel of dF/dy' may move";
        if (index > 2) index = -1;
    }
    if (index == TRACTABILITY_MEMORY) return false;
    add(w, "tractability", index, index, "Maerz 1992", text);
    return true;
}

static void add_kronecker(looking *w)
{
    char text[300];
    const dae_pencil_report *p = w->analysis->pencil;
    int index = p && p->regular ? p->index : -1;
    if (index == 0 && definitions(w) > 0) index = 1;
    if (p && p->regular)
        snprintf(text, sizeof text,
                 "the largest nilpotent block of the pencil has this size; %d finite eigenvalues",
                 p->finite);
    else
        snprintf(text, sizeof text, "is not defined: %s",
                 p ? "the pencil is singular"
                   : "the equations are not linear with constant coefficients, or too many");
    add(w, "Kronecker", index, index, "Weierstrass 1868, Kronecker 1890", text);
}

/* ---- the point ---- */

/* Unknowns at consistent initial values, or the start values. */
static dae_status find_point(looking *w, dae_diag *diag)
{
    const model_form *f = w->problem->model;
    dae_index_notions *r = &w->r->report;
    w->x = DAE_ARRAY(double, (size_t)f->n *(DERIVATIVES + 2));
    if (!w->x) return DAE_ERR_MEMORY;
    dae_status status = solver_new(w->problem, NULL, &w->solver, diag);
    if (status != DAE_OK) return status;
    hybrid_start_values(w->solver);
    vector_copy(f->n, w->solver->bound.y, w->x);
    status = dae_solver_start(w->solver, r->t, NULL, NULL);
    if (status == DAE_ERR_MEMORY) return status;
    r->consistent = status == DAE_OK && dae_solver_at(w->solver, r->t, 0, w->x) == DAE_OK &&
                    dae_solver_at(w->solver, r->t, 1, w->x + f->n) == DAE_OK;
    return DAE_OK;
}

/* Whether the array says something else of solutions a little later; what cannot be found there
 * says nothing. */
static array_status look_later(looking *w, bool *changes)
{
    const array_report *now = &w->report;
    const size_t size = (size_t)w->array.n * (DERIVATIVES + 2);
    series_scaling scaling;
    array_report later;
    double *x = dae_copy(w->x, size, sizeof *x), t = w->r->report.t;
    array_status status = x ? derivative_array_scaling(&w->array, t, x, &scaling) : ARRAY_MEMORY;
    if (status == ARRAY_OK) {
        t += LATER * scaling.unit;
        series_scaling_free(&scaling);
        status = derivative_array_analyse(&w->array, t, x, RANK, &later);
    }
    *changes = status == ARRAY_OK && (later.index != now->index || later.a != now->a ||
                                      later.strangeness != now->strangeness);
    dae_free(x);
    return status == ARRAY_MEMORY ? status : ARRAY_OK;
}

/* .. with the definitions */
static void count_definitions(looking *w)
{
    array_report *r = &w->report;
    if (definitions(w) == 0) return;
    if (r->strangeness >= 0) r->a += definitions(w);
    if (r->index == 0) r->index = 1;
}

/* The derivative array of the equations there, if they are not too many. Neighbours of the point
 * are at its time: ranks that change with time show later. */
static dae_status look_at_array(looking *w, const model_instance *m)
{
    const model_form *f = w->problem->model;
    if (f->n > LARGEST) return DAE_OK;
    array_status status = derivative_array_new(&w->array, &w->set, DERIVATIVES);
    if (status == ARRAY_MEMORY) return DAE_ERR_MEMORY;
    if (status != ARRAY_OK || w->array.n != f->n) return DAE_OK;
    w->array.parameters = m->parameters;
    w->array.memory = m->memory;
    status = derivative_array_analyse(&w->array, w->r->report.t, w->x, RANK, &w->report);
    w->arrayed = status == ARRAY_OK;
    if (w->arrayed) status = look_later(w, &w->changes);
    if (w->changes) w->report.index = w->report.uniform_index = w->report.strangeness = -1;
    return status == ARRAY_MEMORY ? DAE_ERR_MEMORY : DAE_OK;
}

/* X, n x n, as the first block of a matrix of more unknowns, diag(X, I) or diag(X, 0) */
static void widen(int n, int more, const double *X, double diagonal, double *to)
{
    const int all = n + more;
    for (int j = 0; j < n; j++) vector_copy(n, X + j * n, to + j * all);
    for (int j = n; j < all; j++) to[j + j * all] = diagonal;
}

/* matrices = A and B of the model, definitions behind the unknowns; LINEARITY_UNKNOWN: memory */
static linearity fill_matrices(looking *w, const model_instance *m, int all)
{
    const int n = w->problem->model->n, size = all * all;
    double *part = DAE_ARRAY(double, 2 * (size_t)n * (size_t)n);
    w->matrices = DAE_ARRAY(double, 2 * (size_t)size);
    equation_point at = {.time = w->r->report.t, .parameters = m->parameters, .memory = m->memory};
    linearity linear = part && w->matrices ? equation_set_linear(&w->set, &at, part, part + n * n)
                                           : LINEARITY_UNKNOWN;
    if (linear == LINEARITY_CONSTANT) {
        widen(n, all - n, part, 1.0, w->matrices);
        widen(n, all - n, part + n * n, 0.0, w->matrices + size);
    }
    dae_free(part);
    return linear;
}

/* Matrices and condensed form, where the equations are linear with constant coefficients. */
static dae_status look_at_matrices(looking *w, const model_instance *m, dae_diag *diag)
{
    const int n = w->r->report.n;
    if (n > LARGEST_LINEAR) return DAE_OK;
    linearity linear = fill_matrices(w, m, n);
    if (linear == LINEARITY_UNKNOWN) return DAE_ERR_MEMORY;
    w->linear = linear == LINEARITY_CONSTANT;
    dae_linear_system s = {
        .m = n, .n = n, .order = 1, .a = {w->matrices, w->matrices + n * n, NULL}};
    dae_status status = w->linear ? dae_linear_condense(&s, &w->r->condensed, diag) : DAE_OK;
    return status == DAE_ERR_SINGULAR ? DAE_OK : status; /* ranks not clear: the array may tell */
}

static dae_status look(looking *w, dae_diag *diag)
{
    const model_form *f = w->problem->model;
    mode_slots slots = {0};
    dae_status status = find_point(w, diag);
    if (status != DAE_OK) return status;
    const model_instance *m = w->solver->hybrid->instance;
    graph_enter(f->flat->graph);
    bool ok = mode_slots_find(&slots, f) && model_equations(f, &slots, m->memory, &w->set);
    status = ok ? look_at_matrices(w, m, diag) : DAE_ERR_MEMORY;
    if (status == DAE_OK) status = look_at_array(w, m);
    if (status == DAE_OK) {
        add_structural(w);
        count_definitions(w);
        add_differentiation(w);
        add_strangeness(w);
        ok = add_perturbation(w) && add_tractability(w);
        add_kronecker(w);
        if (!ok || arena_failed(w->r->texts)) status = DAE_ERR_MEMORY;
    }
    graph_recover(f->flat->graph);
    graph_leave(f->flat->graph);
    mode_slots_free(&slots);
    return status;
}

static dae_status find_indices(const dae_problem *problem, double t, dae_index_notions **notions,
                               dae_diag *diag)
{
    const flat_experiment *e = &problem->model->flat->experiment;
    dae_analysis *analysis = NULL;
    dae_status status = dae_problem_analyse(problem, t, &analysis, diag);
    if (status != DAE_OK) return status;
    looking w = {.problem = problem, .analysis = analysis, .r = DAE_NEW(notions_record)};
    if (w.r) w.r->texts = arena_new(0);
    status = w.r && w.r->texts ? DAE_OK : DAE_ERR_MEMORY;
    if (status == DAE_OK) {
        w.r->report = (dae_index_notions){
            .size = sizeof w.r->report,
            .t = isnan(t) ? (e->has_start ? e->start : 0.0) : t,
            .model = arena_text(w.r->texts, analysis->model, strlen(analysis->model)),
            .n = problem->model->n + definitions(&w),
            .notion = w.r->notion};
        status = look(&w, diag);
    }
    dae_solver_free(w.solver);
    derivative_array_free(&w.array);
    equation_set_free(&w.set);
    dae_free_all(w.x, w.matrices);
    dae_analysis_free(analysis);
    *notions = status == DAE_OK ? &w.r->report : NULL;
    if (status != DAE_OK) dae_index_notions_free(w.r ? &w.r->report : NULL);
    if (status == DAE_ERR_MEMORY) diag_set(diag, status, "Out of memory for the indices.");
    return status;
}

dae_status dae_problem_indices(const dae_problem *problem, double t, dae_index_notions **notions,
                               dae_diag *diag)
{
    diag_clear(diag);
    if (!notions) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_indices: notions is NULL.");
    *notions = NULL;
    if (!problem || !problem->model)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_problem_indices needs a problem from a model text; for callbacks, "
                        "use dae_problem_diagnose.");
    interrupt_scope scope;
    interrupt_open(&scope, problem->interrupt, problem->interrupt_user);
    dae_status status = find_indices(problem, t, notions, diag);
    if (!interrupt_close(&scope)) return status;
    dae_index_notions_free(*notions);
    *notions = NULL;
    return interrupt_explain(diag, "the indices of the model");
}

void dae_index_notions_free(dae_index_notions *notions)
{
    notions_record *r = (notions_record *)notions;
    if (!r) return;
    dae_condensed_free(r->condensed);
    arena_free(r->texts);
    dae_free(r);
}
