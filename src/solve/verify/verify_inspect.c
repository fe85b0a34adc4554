/* Equations and constraints of all levels, evaluated at the rows of a run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "solve/verify/verify_parts.h"
#include "structure/index/equation_names.h"
#include "structure/rewrite/constraints.h"

/* Sizes come from so many moves of all variables at once, up and down at random: by half to all of
 * their tolerances, and of this part of their values. (By all of it, equal terms would cancel.) */
enum { MOVES = 4 };
static const double PART = 1e-4;
/* Modes of a model beyond these are not analysed; derivatives beyond these have no value. */
enum { MOST_MODES = 16, MOST_ORDERS = 3 };

/* out = values of functions of (t, y, y') of the base form; false: they have none there */
typedef bool (*sample_fn)(inspector *x, const void *of, double t, const double *y, const double *yp,
                          double *out);

/* Functions that are to vanish, and what was found of them so far. */
typedef struct watched {
    sample_fn sample;
    const void *of;
    int count;
    finding *list;                     /* owned, as the work space behind it: */
    double *value, *moved, *by, *part; /* count each, one block at value */
} watched;

/* The constraints of a model in one mode. */
typedef struct mode {
    double *key; /* memory that decides the structure; owned */
    model_analysis analysis;
    tape *tape;
    double *work;
    double **x; /* x[p][j] = x_j^(p); owned */
    watched set;
} mode;

struct inspector {
    const dae_problem *problem;
    dae_stats stats;
    evaluator eval;
    form_instance *forms;                /* of callbacks in another form; owned */
    model_instance *instance;            /* of the base form; owned */
    const double *memory, *parameters;   /* where the run stands; borrowed */
    double *weight;                      /* n: rtol, then n: atol of the unknowns; owned */
    double *y, *yp, *y_moved, *yp_moved; /* n each, one block at y */
    double *form_work;                   /* of the constraints of callbacks; owned */
    unsigned random;
    watched equations, constraints;
    mode_slots slots;
    bool slots_known;
    mode **modes;
    int mode_count;
    finding *merged;  /* constraints of all modes; owned */
    bool has_outputs; /* variables that are evaluated after the solve */
    double *unit;     /* per variable: the least meaningful error, 0 but for outputs; owned */
    arena *notes;
};

/* ---- life ---- */

static void watched_free(watched *w)
{
    dae_free_all(w->list, w->value);
    *w = (watched){0};
}

static bool watched_new(watched *w, int count, sample_fn sample, const void *of)
{
    size_t n = (size_t)count;
    *w = (watched){.sample = sample, .of = of, .count = count};
    w->list = DAE_ARRAY(finding, n);
    w->value = DAE_ARRAY(double, 4 * n);
    if (!w->list || !w->value) return false;
    w->moved = w->value + n;
    w->by = w->value + 2 * n;
    w->part = w->value + 3 * n;
    for (int i = 0; i < count; i++) w->list[i].t = NAN;
    return true;
}

static void mode_free(mode *m)
{
    if (!m) return;
    dae_free_all(m->key, m->work, m->x);
    tape_free(m->tape);
    model_analysis_free(&m->analysis);
    watched_free(&m->set);
    dae_free(m);
}

void inspector_free(inspector *x)
{
    if (!x) return;
    for (int k = 0; k < x->mode_count; k++) mode_free(x->modes[k]);
    dae_free(x->modes);
    mode_slots_free(&x->slots);
    watched_free(&x->equations);
    watched_free(&x->constraints);
    form_instance_free(x->forms);
    model_instance_free(x->instance);
    arena_free(x->notes);
    dae_free_all(x->weight, x->y, x->form_work, x->merged, x->unit, x);
}

/* ---- sizes and findings ---- */

/* In [-1, -0.5] or [0.5, 1] */
static double random_move(inspector *x)
{
    x->random = x->random * 1664525u + 1013904223u;
    double size = 0.5 + 0.5 * (double)(x->random >> 8 & 0x3fffffu) / 4194304.0;
    return x->random >> 31 ? size : -size;
}

/* most[i] = max(most[i], |moved[i] - value[i]| / by): what a move does */
static void note_moved(const watched *w, double by, double *most)
{
    for (int i = 0; i < w->count; i++) {
        double change = fabs(w->moved[i] - w->value[i]) / by;
        if (change > most[i]) most[i] = change;
    }
}

/* by[i]: what errors of one tolerance leave; part[i]: size of the terms */
static void find_sizes(inspector *x, watched *w, double t)
{
    int n = x->problem->form.n;
    vector_zero(2 * w->count, w->by); /* and part, behind it */
    for (int move = 0; move < 2 * MOVES; move++) {
        bool tolerance = move < MOVES;
        for (int j = 0; j < n; j++) {
            double y = x->y[j], yp = x->yp[j];
            double by = tolerance ? x->weight[j] * fabs(y) + x->weight[n + j] : PART * fabs(y);
            x->y_moved[j] = y + random_move(x) * by;
            x->yp_moved[j] = tolerance ? yp : yp * (1.0 + PART * random_move(x));
        }
        if (w->sample(x, w->of, t, x->y_moved, x->yp_moved, w->moved))
            note_moved(w, tolerance ? 1.0 : PART, tolerance ? w->by : w->part);
    }
}

/* Which of them contain derivatives: they change if those do. */
static void find_differential(inspector *x, watched *w, double t)
{
    for (int j = 0; j < x->problem->form.n; j++)
        x->yp_moved[j] = x->yp[j] + random_move(x) * PART * fmax(1.0, fabs(x->yp[j]));
    if (!w->sample(x, w->of, t, x->y, x->yp_moved, w->moved)) return;
    for (int i = 0; i < w->count; i++)
        if (w->moved[i] != w->value[i]) w->list[i].differential = true;
}

static void watch(inspector *x, watched *w, double t)
{
    if (w->count == 0 || !w->sample(x, w->of, t, x->y, x->yp, w->value)) return;
    find_sizes(x, w, t);
    find_differential(x, w, t);
    for (int i = 0; i < w->count; i++) {
        finding *f = &w->list[i];
        double r = fabs(w->value[i]);
        if (!isfinite(r)) continue; /* the run shows that itself */
        if (isnan(f->t) || r > f->residual) f->residual = r, f->t = t;
        f->terms = fmax(f->terms, fmax(w->part[i], r));
        f->relative = f->residual > 0.0 ? f->residual / f->terms : 0.0;
        /* rounding of the terms is no error */
        f->by = fmax(f->by, fmax(w->by[i], 1e-14 * f->terms));
        f->tolerances = f->residual > 0.0 ? f->residual / f->by : 0.0;
    }
}

/* ---- the equations as given ---- */

static bool sample_equations(inspector *x, const void *of, double t, const double *y,
                             const double *yp, double *out)
{
    (void)of;
    if (x->instance) return model_residual(t, y, yp, out, x->instance) == 0;
    return evaluate_residual(&x->eval, t, y, yp, out, &x->stats.residuals) == EVAL_OK;
}

static bool watch_equations(inspector *x)
{
    const dae_problem *p = x->problem;
    bool rests = p->model && p->model->resting;
    if (!watched_new(&x->equations, rests ? 0 : p->form.n, sample_equations, NULL)) return false;
    for (int i = 0; i < x->equations.count; i++) {
        x->equations.list[i].name = problem_equation(p, i);
        if (p->model && p->model->equation_lines)
            x->equations.list[i].line = p->model->equation_lines[i];
    }
    return true;
}

/* ---- constraints of callbacks ---- */

/* out = g, then G v + g_t */
static bool sample_mechanical(inspector *x, const void *of, double t, const double *y,
                              const double *yp, double *out)
{
    const mechanical_form *f = of;
    const double *v = y + f->nq;
    (void)yp;
    bool ok =
        f->g(f->context, t, y, out) == EVAL_OK &&
        f->evaluate(f->context, t, y, v, NULL, NULL, x->form_work, out + f->nl, NULL) == EVAL_OK;
    if (ok) form_matrix_multiply(&f->G_matrix, x->form_work, 1.0, v, out + f->nl);
    return ok;
}

/* out = g, then g_y f + g_t */
static bool sample_hessenberg(inspector *x, const void *of, double t, const double *y,
                              const double *yp, double *out)
{
    const hessenberg_form *f = of;
    const double *z = y + f->ny, *u = z + f->nz;
    double *slope = x->form_work, *J = slope + f->ny;
    (void)yp;
    bool ok =
        f->g(f->context, t, y, out) == EVAL_OK && f->f(f->context, t, y, z, u, slope) == EVAL_OK &&
        f->g_y(f->context, t, y, J) == EVAL_OK && f->g_t(f->context, t, y, out + f->nz) == EVAL_OK;
    if (ok) form_matrix_multiply(&f->g_y_matrix, J, 1.0, slope, out + f->nz);
    return ok;
}

static bool sample_quasilinear(inspector *x, const void *of, double t, const double *y,
                               const double *yp, double *out)
{
    const quasilinear_form *f = of;
    (void)x;
    (void)yp;
    return f->g(f->context, t, y, out) == EVAL_OK;
}

/* Constraint i of two levels of nl each, or of levels that are known. */
static void name_constraints(inspector *x, int nl, const int *level)
{
    for (int i = 0; i < x->constraints.count; i++) {
        finding *f = &x->constraints.list[i];
        int row;
        const char *name = form_constraint(x->forms, i % nl, &row);
        f->name = name ? name : "constraint";
        f->level = i / nl + (level ? level[i] : 0);
    }
}

static bool watch_forms(inspector *x)
{
    const form_source *source = x->problem->forms;
    unsigned wanted = FORM_MECHANICAL | FORM_HESSENBERG | FORM_QUASILINEAR | FORM_MANIFOLD;
    x->forms = form_instance_new(source, wanted, &x->eval);
    if (!x->forms) return false;
    x->eval.forms = x->forms;
    const form_set *s = form_instance_set(x->forms);
    const form_kind kind = form_source_kind(source);
    size_t work = 1;
    bool ok = true;
    if (kind == KIND_MECHANICAL && s->mechanical && s->mechanical->nl > 0) {
        work += s->mechanical->G_matrix.count;
        ok = watched_new(&x->constraints, 2 * s->mechanical->nl, sample_mechanical, s->mechanical);
        if (ok) name_constraints(x, s->mechanical->nl, NULL);
    } else if (kind == KIND_HESSENBERG && s->hessenberg && s->hessenberg->nz > 0) {
        work += (size_t)s->hessenberg->ny + s->hessenberg->g_y_matrix.count;
        ok = watched_new(&x->constraints, 2 * s->hessenberg->nz, sample_hessenberg, s->hessenberg);
        if (ok) name_constraints(x, s->hessenberg->nz, NULL);
    } else if (s->quasilinear && s->quasilinear->ng > 0) {
        const int *level = s->manifold ? s->manifold->level : NULL;
        ok = watched_new(&x->constraints, s->quasilinear->ng, sample_quasilinear, s->quasilinear);
        if (ok) name_constraints(x, s->quasilinear->ng, level);
    }
    x->form_work = DAE_ARRAY(double, work);
    return ok && x->form_work;
}

/* ---- constraints of models ---- */

/* m->x from values of the base form; what has none stays 0, and no constraint asks for it */
static void place_values(const mode *m, const double *y, const double *yp)
{
    const equation_set *set = &m->analysis.reduced.set;
    for (int j = 0; j < set->n; j++) {
        if (set->model[j] < 0) continue;
        m->x[0][j] = y[set->model[j]];
        m->x[1][j] = yp[set->model[j]];
    }
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->order <= MOST_ORDERS) m->x[v->order][v->variable] = v->sign * y[v->model];
        if (v->order < MOST_ORDERS) m->x[v->order + 1][v->variable] = v->sign * yp[v->model];
    }
}

static bool sample_mode(inspector *x, const void *of, double t, const double *y, const double *yp,
                        double *out)
{
    const mode *m = of;
    tape_inputs in = {.time = t, .parameters = x->parameters, .memory = x->memory};
    place_values(m, y, yp);
    for (int p = 0; p <= MOST_ORDERS; p++) in.values[p] = m->x[p];
    tape_prepare(m->tape, &in, m->work);
    tape_run(m->tape, &in, m->work, out);
    return true;
}

typedef struct leaf_check {
    const equation_set *set;
    bool known;
} leaf_check;

/* Whether the run has a value for x_j^(p). */
static void check_leaf(void *context, const expr_node *q)
{
    leaf_check *c = context;
    if (q->op != EXPR_VARIABLE) return;
    bool known = q->order <= 1 && c->set->model[q->index] >= 0;
    for (int k = 0; k < c->set->synonym_count && !known; k++) {
        const equation_synonym *v = &c->set->synonym[k];
        known = v->variable == (int)q->index && (v->order == q->order || v->order + 1 == q->order);
    }
    if (!known || q->order > MOST_ORDERS) c->known = false;
}

/* Keep those whose values are known, and compile them. */
static bool compile_mode(inspector *x, mode *m, const constraint_list *list)
{
    const equation_set *set = &m->analysis.reduced.set;
    size_t rows = (size_t)MOST_ORDERS + 1, n = (size_t)set->n;
    expr *e = DAE_ARRAY(expr, list->count);
    bool ok = e && watched_new(&m->set, list->count, sample_mode, m);
    int kept = 0;
    for (int k = 0; ok && k < list->count; k++) {
        const constraint *c = &list->item[k];
        const equation_row *row = &set->row[c->row];
        leaf_check check = {set, true};
        ok = graph_leaves(set->graph, &c->residual, 1, check_leaf, &check);
        if (!check.known) continue;
        const char *name = row->name ? row->name : "";
        m->set.list[kept].name = arena_text(x->notes, name, strlen(name));
        m->set.list[kept].line = row->line;
        m->set.list[kept].level = c->times + row->times;
        e[kept++] = c->residual;
    }
    m->set.count = kept;
    if (ok) m->tape = tape_new(set->graph, e, (size_t)kept);
    dae_free(e);
    m->x = dae_calloc(rows * sizeof(double *) + rows * n * sizeof(double), 1);
    if (!ok || !m->tape || !m->x || arena_failed(x->notes)) return false;
    for (size_t p = 0; p < rows; p++) m->x[p] = (double *)(void *)(m->x + rows) + p * n;
    m->work = DAE_ARRAY(double, tape_work_size(m->tape));
    return m->work;
}

/* Analyse the equations in the mode at hand. */
static bool make_mode(inspector *x, mode *m, double t)
{
    const model_form *f = x->problem->model;
    constraint_list list = {0};
    model_point at = {t, x->y, x->yp, x->parameters, x->memory};
    m->key = DAE_ARRAY(double, x->slots.count);
    bool ok = m->key;
    for (int k = 0; ok && k < x->slots.count; k++) m->key[k] = x->memory[x->slots.slot[k]];
    dae_status status = ok ? model_analyse(f, &x->slots, &at, &m->analysis, NULL) : DAE_ERR_MEMORY;
    if (status == DAE_ERR_MEMORY) return false;
    if (status != DAE_OK || m->analysis.written.singular || !m->analysis.numbers_agree) return true;
    ok = constraints_find(&m->analysis.reduced.set, &m->analysis.reduced.structure, &list) &&
         compile_mode(x, m, &list);
    constraint_list_free(&list);
    return ok;
}

static bool same_mode(const inspector *x, const mode *m)
{
    for (int k = 0; k < x->slots.count; k++)
        if (m->key[k] != x->memory[x->slots.slot[k]]) return false;
    return true;
}

/* The constraints of the mode at hand in *found, NULL: not analysed; false: memory */
static bool find_mode(inspector *x, double t, mode **found)
{
    *found = NULL;
    for (int k = 0; k < x->mode_count && !*found; k++)
        if (same_mode(x, x->modes[k])) *found = x->modes[k];
    if (*found || x->mode_count == MOST_MODES) return true;
    graph *g = x->problem->model->flat->graph;
    mode *m = DAE_NEW(mode);
    if (!m) return false;
    graph_enter(g);
    bool ok = x->slots_known || mode_slots_find(&x->slots, x->problem->model);
    x->slots_known = ok;
    ok = ok && make_mode(x, m, t);
    graph_recover(g);
    graph_leave(g);
    x->modes[x->mode_count++] = m;
    if (!m->key) m->key = DAE_ARRAY(double, 1);
    *found = m;
    return ok && m->key;
}

/* ---- outputs ---- */

/* Whether variable i is evaluated after the solve, from others. */
static bool is_output(const inspector *x, int i)
{
    const model_form *f = x->problem->model;
    return f && f->alias[f->alias[f->visible[i]].top].evaluated;
}

static bool find_outputs(inspector *x)
{
    int n = dae_problem_variable_count(x->problem);
    x->unit = DAE_ARRAY(double, 3 * (size_t)n);
    for (int i = 0; i < n; i++) x->has_outputs = x->has_outputs || is_output(x, i);
    return x->unit;
}

/* unit = what errors of one tolerance make of outputs: energy, the difference of large terms, is
 * not more certain than these. */
static void find_units(inspector *x, double t)
{
    int n = x->problem->form.n, all = dae_problem_variable_count(x->problem);
    double *here = x->unit + all, *moved = here + all;
    if (!x->has_outputs) return;
    vector_zero(all, x->unit);
    model_instance_outputs(x->instance, t, x->y, x->yp, here);
    for (int move = 0; move < MOVES; move++) {
        for (int j = 0; j < n; j++) {
            double rtol = x->weight[j], atol = x->weight[n + j];
            x->y_moved[j] = x->y[j] + random_move(x) * (rtol * fabs(x->y[j]) + atol);
            x->yp_moved[j] = x->yp[j] + random_move(x) * (rtol * fabs(x->yp[j]) + atol);
        }
        model_instance_outputs(x->instance, t, x->y_moved, x->yp_moved, moved);
        for (int i = 0; i < all; i++) {
            double change = fabs(moved[i] - here[i]);
            if (is_output(x, i) && change > x->unit[i]) x->unit[i] = change;
        }
    }
}

void inspector_units(const inspector *x, double *unit)
{
    vector_copy(dae_problem_variable_count(x->problem), x->unit, unit);
}

/* ---- looking ---- */

/* The memory of the run, for equations of the base form. */
static void follow_memory(inspector *x, const dae_solver *s)
{
    model_instance_follow(x->instance, s->hybrid->instance);
    x->memory = x->instance->memory;
    x->parameters = x->instance->parameters;
}

bool inspector_look(inspector *x, dae_solver *s, double t)
{
    mode *m = NULL;
    if (dae_solver_at(s, t, 0, x->y) < 0 || dae_solver_at(s, t, 1, x->yp) < 0) return true;
    if (x->instance) follow_memory(x, s);
    if (x->instance) model_instance_recall(x->instance, t, x->y, x->yp);
    find_units(x, t);
    watch(x, &x->equations, t);
    watch(x, &x->constraints, t);
    if (!x->instance || !is_formulated(s)) return true;
    if (!find_mode(x, t, &m)) return false;
    if (m && m->tape) watch(x, &m->set, t);
    return true;
}

inspector *inspector_new(const dae_problem *problem, const dae_options *options)
{
    inspector *x = DAE_NEW(inspector);
    size_t n = (size_t)problem->form.n;
    if (!x) return NULL;
    x->problem = problem;
    x->random = 12345;
    x->eval = (evaluator){.problem = problem, .stats = &x->stats};
    x->notes = arena_new(0);
    x->weight = DAE_ARRAY(double, 2 * n);
    x->y = DAE_ARRAY(double, 4 * n);
    x->modes = DAE_ARRAY(mode *, MOST_MODES);
    bool ok = x->notes && x->weight && x->y && x->modes;
    for (size_t j = 0; ok && j < n; j++) {
        x->weight[j] = options->rtol_by_unknown ? options->rtol_by_unknown[j] : options->rtol;
        x->weight[n + j] = options->atol_by_unknown ? options->atol_by_unknown[j]
                                                    : options->atol * nominal_size(problem, (int)j);
    }
    if (ok && problem->model) ok = (x->instance = model_instance_new(problem->model)) != NULL;
    if (ok && problem->forms) ok = watch_forms(x);
    if (ok && watch_equations(x) && find_outputs(x)) {
        x->yp = x->y + n;
        x->y_moved = x->yp + n;
        x->yp_moved = x->y_moved + n;
        return x;
    }
    inspector_free(x);
    return NULL;
}

/* ---- what was found ---- */

const finding *inspector_equations(const inspector *x, int *count)
{
    *count = x->equations.count;
    return x->equations.list;
}

/* Those of all modes, one behind the other. */
const finding *inspector_constraints(inspector *x, int *count)
{
    size_t all = (size_t)x->constraints.count;
    for (int k = 0; k < x->mode_count; k++) all += (size_t)x->modes[k]->set.count;
    *count = 0;
    dae_free(x->merged);
    x->merged = DAE_ARRAY(finding, all);
    if (!x->merged) return NULL;
    for (int i = 0; i < x->constraints.count; i++) x->merged[(*count)++] = x->constraints.list[i];
    for (int k = 0; k < x->mode_count; k++)
        for (int i = 0; i < x->modes[k]->set.count; i++)
            x->merged[(*count)++] = x->modes[k]->set.list[i];
    return x->merged;
}
