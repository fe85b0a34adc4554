/* Consistent values of a mode on all levels of its constraints. */
#include "solve/begin/begin_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "init/levels.h"
#include "model/model_structure.h"

/* The compiled rows of a mode and, at the start, its initial equations, as a level system. */
typedef struct level_context {
    model_instance *m;
    double t;
    int rows;                    /* of all that the programs give, the first ones count */
    int *colptr, *rowind, *from; /* pattern of those rows; value k is number from[k] of all; from
                                    is NULL where all count, and the pattern is the form's own */
    double *residual, *values;
} level_context;

/* Rows without a value are told by what they are: those at work must have one. */
static eval_status level_residual(void *user, const double *u, double *out)
{
    level_context *c = user;
    model_residual(c->t, u, NULL, c->residual, c->m);
    vector_copy(c->rows, c->residual, out);
    return EVAL_OK;
}

static eval_status level_jacobian(void *user, const double *u, double *values)
{
    level_context *c = user;
    int n = c->m->form->n, count = c->colptr[n];
    double *all = c->from ? c->values : values;
    memset(all, 0, (size_t)c->m->form->colptr[n] * sizeof *all);
    model_jacobian(c->t, u, NULL, all, NULL, c->m);
    for (int k = 0; c->from && k < count; k++) values[k] = all[c->from[k]];
    return EVAL_OK;
}

static void level_context_free(level_context *c)
{
    if (c->from) dae_free_all(c->colptr, c->rowind, c->from, c->values);
    dae_free(c->residual);
    *c = (level_context){0};
}

/* The pattern of the first rows in place of that of all. */
static bool choose_rows(level_context *c)
{
    const model_form *f = c->m->form;
    size_t n = (size_t)f->n, entries = (size_t)f->colptr[n];
    c->from = DAE_ARRAY(int, entries);
    if (!c->from) return false;
    c->colptr = DAE_ARRAY(int, n + 1);
    c->rowind = DAE_ARRAY(int, entries);
    c->values = DAE_ARRAY(double, entries);
    if (!c->colptr || !c->rowind || !c->values) return false;
    int count = 0;
    for (size_t j = 0; j < n; j++) {
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) {
            if (f->rowind[k] >= c->rows) continue;
            c->rowind[count] = f->rowind[k];
            c->from[count++] = k;
        }
        c->colptr[j + 1] = count;
    }
    return true;
}

static bool level_context_new(level_context *c, model_instance *m, double t, int rows)
{
    const model_form *f = m->form;
    *c = (level_context){.m = m, .t = t, .rows = rows, .colptr = f->colptr, .rowind = f->rowind};
    c->residual = DAE_ARRAY(double, f->rows);
    if (c->residual && (rows >= f->rows || choose_rows(c))) return true;
    level_context_free(c);
    return false;
}

/* What one search for consistent values needs beside the equations. */
typedef struct level_values {
    double *given, *scale, *reach, *u, *spare; /* spare: twice the number of unknowns */
    double *relative, *absolute;               /* corrections that do not matter */
    dae_tag *tag;
    int *rank, *fixed_by;
    bool *open, *state, *guessed;
    signed char *wish;
    int conflict; /* an unknown of the model whose fixed start value contradicts another's, -1 */
} level_values;

/* tag[i] = GUESS for unknowns that some variable gives a start value. */
static void tag_starts(const dae_solver *s, dae_tag *tag)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int i = q->discrete ? -1 : f->first_unknown[f->alias[v].top];
        bool given = q->has_start || !isnan(f->start[v]);
        if (i >= 0 && given && tag[i] == DAE_TAG_FREE) tag[i] = DAE_TAG_GUESS;
    }
}

/* given = values of the levels' unknowns where the form that is integrated sees through them, as
 * far as the model has a name for them; what has none is free. False: memory. */
static bool give_seen(const dae_solver *s, dae_tag *tag, double *given)
{
    const model_form *here = s->modes->current->plan.form, *f = form_of_levels(here);
    double *base = here->seen_count > 0 ? user_values(s) : NULL;
    if (here->seen_count == 0) return true;
    for (int i = 0; base && i < f->n; i++) {
        int model = f->formulated->set.model[i];
        if (here->level_place[i].unknown >= 0) continue;
        if (model >= 0)
            given[i] = base[model];
        else
            tag[i] = DAE_TAG_FREE;
    }
    dae_free(base);
    return base;
}

/* At the start the attributes tell what is fixed and what is a guess; later values are kept where
 * they can be: those of all variables whose derivative the analysis knows. */
static void tag_values(const dae_solver *s, bool initial, level_values *w)
{
    const mode_list *r = s->modes;
    const model_form *here = r->current->plan.form, *f = form_of_levels(here);
    dae_tag *tag = w->tag;
    double *given = w->given;
    for (int i = 0; i < f->initial->n; i++) {
        tag[i] = DAE_TAG_FREE;
        given[i] = 0.0;
    }
    w->conflict = initial ? modes_starts_of_form(r, f, given, w->fixed_by) : -1;
    for (int i = 0; initial && i < f->n; i++)
        if (w->fixed_by[i] >= 0) tag[i] = DAE_TAG_FIXED;
    for (int i = 0; !initial && i < f->n; i++) {
        model_place at = here->levels ? here->level_place[i] : (model_place){i, false, 1};
        bool fixed = at.unknown >= 0 && !at.slope && s->hybrid->is_held[at.unknown];
        tag[i] = fixed ? DAE_TAG_FIXED : f->differential[i] ? DAE_TAG_GUESS : DAE_TAG_FREE;
        given[i] = value_at_place(at, s->bound.y, s->bound.yp);
    }
    for (int i = f->n; i < f->initial->n; i++) {
        int of = f->initial->slope_of[i];
        model_place at = here->levels ? here->level_place[of] : (model_place){of, false, 1};
        if (at.unknown >= 0 && !at.slope) given[i] = at.sign * s->bound.yp[at.unknown];
    }
    if (initial) tag_starts(s, tag);
}

/* Unknown j of the levels is number i of the user, who allows start values a part of the tolerance;
 * nobody has asked for one of those that are none of the user's, i < 0. */
static void tolerate(const dae_solver *s, level_values *w, int j, int i)
{
    const double part = s->bound.options.init_tolerance;
    w->relative[j] = i < 0 ? 0.0 : part * model_rtol(s, i);
    w->absolute[j] = i < 0 ? (double)INFINITY : part * model_atol(s, i);
}

/* What does not matter of all unknowns. */
static void take_tolerances(const dae_solver *s, level_values *w)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    double *user[2] = {w->spare,
                       w->spare + f->initial->n}; /* of values, slopes: 1 + number, or 0 */
    for (int i = 0; i < s->base->form.n; i++)
        if (f->place[i].unknown >= 0) user[f->place[i].slope][f->place[i].unknown] = 1 + i;
    for (int j = 0; j < f->initial->n; j++) {
        bool slope = j >= f->n;
        tolerate(s, w, j, (int)user[slope][slope ? f->initial->slope_of[j] : j] - 1);
    }
}

/* Nominal sizes; where there are none, the size of the value given. That may be small by chance, as
 * of a position that passes zero, or sin(pi): such a value may move like others, as far as 1. */
static void size_values(const dae_solver *s, const level_values *w)
{
    const double *given = w->given;
    /* a value computed to be zero is no size: below this the absolute tolerance counts */
    double ratio =
        s->bound.options.rtol > 0.0 ? s->bound.options.atol / s->bound.options.rtol : 1.0;
    double least = fmin(1.0, fmax(ratio, 1e-6));
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    for (int i = 0; i < f->initial->n; i++) {
        int of = i < f->n ? i : f->initial->slope_of[i];
        double nominal = f->formulated->set.nominal[of];
        /* and where it is smaller for this one than for others, down to this one */
        double own = w->relative[i] > 0.0 ? w->absolute[i] / w->relative[i] : least;
        double size = fmax(fabs(given[i]), fmin(least, own));
        w->scale[i] = nominal != 1.0 || given[i] == 0.0 ? nominal : size;
        w->reach[i] = fmax(w->scale[i], nominal);
    }
}

/* How much farther a state that has no start value goes than one that has, for the same price: so
 * far that those keep theirs, with what put_back in init/levels.c takes for unmoved. */
static const double BEHIND = 1e6;

/* wish[i] = what stateSelect says of unknowns that have a start value: 1 to keep it before others,
 * -1 to keep it behind them. */
static void note_wishes(const dae_solver *s, signed char *wish)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    for (int i = 0; i < f->initial->n; i++) wish[i] = -1;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int i = q->discrete ? -1 : f->first_unknown[f->alias[v].top];
        bool outside = model_start_is_outside(f, v);
        if (i < 0 || !(q->has_start || outside)) continue;
        int here = outside || q->state_select > SELECT_DEFAULT ? 1
                   : q->state_select == SELECT_DEFAULT         ? 0
                                                               : -1;
        if (here > wish[i]) wish[i] = (signed char)here;
    }
}

/* Whether an algebraic variable shall be a state, and has a start value. */
static bool algebraic_wished(const model_form *f, const level_values *w)
{
    for (int i = 0; i < f->n; i++)
        if (!f->differential[i] && w->tag[i] == DAE_TAG_GUESS && w->wish[i] > 0) return true;
    return false;
}

/* States without a start value begin at 0 where they can: before algebraic variables, behind all
 * that was said; but they follow algebraic variables that shall be states. Start values of those
 * that had better be no states come there, too. */
static void prefer_states(const dae_solver *s, level_values *w)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    const bool wished = algebraic_wished(f, w);
    for (int i = 0; i < f->n; i++) {
        if (w->tag[i] == DAE_TAG_GUESS && w->wish[i] < 0) w->reach[i] *= BEHIND;
        if (w->tag[i] != DAE_TAG_FREE || !f->differential[i] || wished) continue;
        w->tag[i] = DAE_TAG_GUESS;
        w->reach[i] *= BEHIND;
        w->open[i] = true;
    }
}

/* What start values are guesses of: variables that equations determine, and no derivatives. */
static void note_guessed(const dae_solver *s, level_values *w)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    for (int i = 0; i < f->n; i++)
        w->guessed[i] = w->tag[i] != DAE_TAG_FIXED &&
                        !(f->formulated->variable[i] >= 0 && f->formulated->order[i] > 0);
}

/* The unknowns that are states of the model as it is written. */
static void note_states(const dae_solver *s, bool *state)
{
    const model_form *base = s->base->model, *f = form_of_levels(s->modes->current->plan.form);
    for (int i = 0; i < base->n; i++) {
        model_place at = f->place[i];
        if (base->differential[i] && at.unknown >= 0 && !at.slope) state[at.unknown] = true;
    }
}

/* Unknown i is x_j^(p): rank p - d_j, so that positions come before velocities and those before
 * accelerations. */
static void rank_values(const dae_solver *s, int *rank)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    const formulated *y = f->formulated;
    for (int i = 0; i < f->initial->n; i++) {
        int j = i < f->n ? y->variable[i] : -1;
        rank[i] = j >= 0 ? y->order[i] - f->analysed->structure.d[j] : 0;
    }
}

/* y, y' of the form with all levels from its initial system. */
static void unpack_levels(const model_form *f, const double *u, double *y, double *yp)
{
    vector_copy(f->n, u, y);
    vector_zero(f->n, yp);
    for (int i = f->n; i < f->initial->n; i++) yp[f->initial->slope_of[i]] = u[i];
    for (int k = 0; k < f->formulated->candidates; k++) {
        const kinematic *q = &f->formulated->candidate[k];
        yp[q->unknown] = q->sign * y[q->next];
    }
}

/* The consistent values for the form that is integrated; work: twice the size of all levels'. What
 * is new in it starts at 0. */
static void take_levels(dae_solver *s, const double *u, double *work)
{
    const model_form *f = s->modes->current->plan.form;
    if (!f->levels) {
        unpack_levels(f, u, s->bound.y, s->bound.yp);
        return;
    }
    double *y = work, *yp = work + f->levels->n;
    unpack_levels(f->levels, u, y, yp);
    for (int i = 0; i < s->bound.n; i++) {
        s->bound.y[i] = value_at_place(f->of_level[i], y, yp);
        s->bound.yp[i] = value_at_place(f->of_level_slope[i], y, yp);
    }
}

/* ---- aliases behind a conflict ---- */

typedef struct alias_list {
    const model_form *base;
    bool *seen; /* per flat equation */
} alias_list;

/* Mark the equations that made the variable of a leaf an alias of its root. */
static void mark_alias(void *context, const expr_node *node)
{
    alias_list *list = context;
    const model_form *f = list->base;
    int v = node->op == EXPR_VARIABLE ? node->index : -1;
    while (v >= 0 && f->alias[v].equation >= 0) {
        list->seen[f->alias[v].equation] = true;
        v = f->alias[v].root != v ? f->alias[v].root : -1;
    }
}

/* Equations x = y were eliminated before the levels saw them; where a conflict's equations use such
 * variables, they belong to it. */
static void append_aliases(dae_solver *s, const level_report *report)
{
    const model_form *base = s->base->model, *form = form_of_levels(s->modes->current->plan.form);
    alias_list list = {base, DAE_ARRAY(bool, base->flat->equation_count)};
    for (int k = 0; list.seen && k < report->equation_count; k++) {
        int r = report->equation[k];
        int row = r < form->rows ? form->formulated->set.row[r].source : -1;
        int flat = row >= 0 ? base->equation_source[row] : -1;
        if (flat >= 0)
            graph_leaves(base->flat->graph, &base->flat->equations[flat].residual, 1, mark_alias,
                         &list);
    }
    int listed = 0;
    for (size_t i = 0; list.seen && i < base->flat->equation_count; i++) {
        if (!list.seen[i]) continue;
        char *name = flat_equation_name(base->flat, &base->flat->equations[i]);
        diag_append(&s->diag, "%s %s", listed++ ? "," : " They use", name ? name : "?");
        dae_free(name);
    }
    if (listed) diag_append(&s->diag, ".");
    dae_free(list.seen);
}

/* Where the fixed values of a conflict are declared. */
static void append_places(dae_solver *s, const level_report *report, const int *fixed_by)
{
    enum { MOST = 6 };
    const flat_model *m = s->base->model->flat;
    text_list list = text_list_in(&s->diag, MOST);
    for (int k = 0; k < report->fixed_count; k++) {
        const int v = fixed_by[report->fixed[k]];
        if (v < 0) continue;
        if (list.count == 0) diag_append(&s->diag, " Declared as fixed: ");
        text_list_add(&list, "%s (%s:%d)", m->variables[v].name, model_file(s),
                      m->variables[v].place.line);
    }
    text_list_end(&list);
    if (list.count) diag_append(&s->diag, ".");
}

bool relations_agree(const dae_solver *s, double t)
{
    const hybrid *h = s->hybrid;
    const flat_model *m = h->instance->form->flat;
    if (m->relation_count == 0) return true;
    model_instance_crossings(h->instance, t, s->bound.y, s->bound.yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++) {
        bool held = h->instance->memory[m->relations[r].memory] != 0.0;
        if (h->crossing[r] != 0.0 && held != (h->crossing[r] < 0.0)) return false;
    }
    return true;
}

/* A note of the solution that was not taken, if the relations hold there, too; the start and events
 * tell it once they are done. */
static void note_other(dae_solver *s, const level_system *system, const double *u, double t,
                       const level_report *report, double *work)
{
    int j = report->other;
    if (j < 0) return;
    take_levels(s, report->other_u, work);
    if (!relations_agree(s, t)) return;
    snprintf(s->hybrid->other, sizeof s->hybrid->other,
             "note: the equations have more than one solution at t = %.9g: %.100s = %.9g was "
             "taken, %.9g is another. Give a start value near the one that is meant.",
             t, system->variable_names[j], u[j], report->other_u[j]);
}

static void level_values_free(level_values *w)
{
    dae_free_all(w->given, w->tag, w->rank, w->open, w->wish);
    *w = (level_values){0};
}

static bool level_values_new(level_values *w, int n)
{
    double *values = DAE_ARRAY(double, 8 * (size_t)n);
    bool *marks = DAE_ARRAY(bool, 3 * (size_t)n);
    *w = (level_values){.given = values,
                        .tag = DAE_ARRAY(dae_tag, n),
                        .rank = DAE_ARRAY(int, 2 * (size_t)n),
                        .open = marks,
                        .wish = DAE_ARRAY(signed char, n)};
    if (!values || !marks || !w->tag || !w->rank || !w->wish) {
        level_values_free(w);
        return false;
    }
    w->scale = values + n;
    w->reach = values + 2 * n;
    w->u = values + 3 * n;
    w->spare = values + 4 * n;
    w->relative = values + 6 * n;
    w->absolute = values + 7 * n;
    w->state = marks + n;
    w->guessed = marks + 2 * n;
    w->fixed_by = w->rank + n;
    return true;
}

/* The instance of all levels sees the parameters and discrete values of the one that runs. */
static void prepare_levels(model_mode *v)
{
    const flat_model *m = v->plan.form->flat;
    memcpy(v->levels->memory, v->instance->memory, (size_t)m->memory_count * sizeof(double));
    memcpy(v->levels->parameters, v->instance->parameters, m->parameter_count * sizeof(double));
    model_instance_prepare(v->levels);
}

/* Which values are fixed, which are guesses, and how far each may move. False: memory. */
static bool describe_values(const dae_solver *s, bool initial, level_values *w)
{
    tag_values(s, initial, w);
    if (!initial && !give_seen(s, w->tag, w->given)) return false;
    take_tolerances(s, w);
    size_values(s, w);
    if (initial) {
        note_wishes(s, w->wish);
        prefer_states(s, w);
    } else {
        rank_values(s, w->rank);
    }
    note_states(s, w->state);
    note_guessed(s, w);
    return true;
}

/* All that the values depend on: ranks, and which unknowns are states, belong to the plan. */
static fact_key levels_key(const dae_solver *s, const level_context *c, bool initial,
                           const level_values *w)
{
    const model_instance *m = c->m;
    const flat_model *flat = m->form->flat;
    const size_t n = (size_t)m->form->n;
    fact_key key = {.count = 0};
    fact_key_add_numbers(&key, &c->t, 1);
    fact_key_add(&key, initial ? "initial" : "later", 5);
    fact_key_add(&key, &s->hybrid->turned, sizeof s->hybrid->turned);
    fact_key_add(&key, &s->bound.options.init_iterations, sizeof(int));
    fact_key_add_numbers(&key, m->parameters,
                         flat->parameter_count + (size_t)m->form->pinned_count);
    fact_key_add_numbers(&key, m->memory, (size_t)flat->memory_count);
    fact_key_add_numbers(&key, w->given, n);
    fact_key_add_numbers(&key, w->scale, n);
    fact_key_add_numbers(&key, w->reach, n);
    fact_key_add_numbers(&key, w->relative, n);
    fact_key_add_numbers(&key, w->absolute, n);
    fact_key_add(&key, w->tag, n * sizeof *w->tag);
    fact_key_add(&key, w->open, n * sizeof *w->open);
    return key;
}

/* Whether unknown i was given a start value, and stateSelect says `wish` of it. */
static bool is_wished(const level_values *w, int i, int wish)
{
    return w->tag[i] == DAE_TAG_GUESS && !w->open[i] && w->wish[i] == wish;
}

/* How many unknowns have that wish, and are not where they were given. */
static int count_wished(const level_values *w, int n, int wish, bool moved)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (is_wished(w, i, wish) && (!moved || w->u[i] != w->given[i])) count++;
    return count;
}

/* The values nearest to start values, of which preferred states keep theirs first: others give way,
 * and then stay as near as they can while those that were kept are fixed. */
static dae_status solve_by_wishes(const level_system *system, const level_request *request,
                                  level_values *w, level_report *report, dae_diag *diag)
{
    const int n = system->n;
    if (count_wished(w, n, 1, false) == 0 || count_wished(w, n, 0, false) == 0)
        return levels_solve(system, request, w->u, report, diag);
    for (int i = 0; i < n; i++)
        if (is_wished(w, i, 0)) w->reach[i] *= BEHIND;
    dae_status status = levels_solve(system, request, w->u, report, diag);
    for (int i = 0; i < n; i++)
        if (is_wished(w, i, 0)) w->reach[i] /= BEHIND;
    if (status != DAE_OK || count_wished(w, n, 0, true) == 0) return status;
    level_report second = {.other = -1};
    level_request nearer = *request;
    dae_diag unused;
    nearer.unexplained = true;
    diag_clear(&unused);
    vector_copy(n, w->u, w->spare);
    for (int i = 0; i < n; i++)
        if (is_wished(w, i, 1) && w->u[i] == w->given[i]) w->tag[i] = DAE_TAG_FIXED;
    status = levels_solve(system, &nearer, w->u, &second, &unused);
    if (status != DAE_OK) vector_copy(n, w->spare, w->u);
    level_report_free(status == DAE_OK ? report : &second);
    if (status == DAE_OK) *report = second;
    return status == DAE_ERR_MEMORY ? status : DAE_OK;
}

/* Whether equations, initial ones too, and fixed values leave something for start values to decide,
 * by their numbers. */
static bool leaves_choice(const dae_solver *s)
{
    const model_form *f = form_of_levels(s->modes->current->plan.form);
    int open = f->analysed->structure.freedom - (int)s->base->model->condition_count;
    for (int i = 0; i < s->base->form.n; i++) open -= s->modes->fixed_by[i] >= 0;
    return open > 0;
}

/* Mark the unknowns of rows that zeros have made worse, so that they get their values back; whether
 * there are any */
static bool blame_zeros(const level_system *system, const double *before, const double *after,
                        bool *zero)
{
    bool any = false;
    for (int j = 0; j < system->n; j++)
        for (int k = system->colptr[j]; zero[j] && k < system->colptr[j + 1]; k++)
            if (!(fabs(after[system->rowind[k]]) <= fabs(before[system->rowind[k]])))
                any = true, zero[j] = false;
    return any;
}

/* u = 0 where iterations have left nothing but rounding of it, and the equations say so: no
 * residual grows. p = 1e4 time begins with 0, not with -1e-27, which is no pressure. False: memory
 */
static bool settle_zeros(const level_system *system, const level_values *w)
{
    const size_t n = (size_t)system->n, m = (size_t)system->m;
    double *before = DAE_ARRAY(double, 2 * m + n), *after = before ? before + m : NULL;
    double *u = after ? after + m : NULL;
    bool *zero = DAE_ARRAY(bool, n), ok = before && zero;
    int count = 0;
    for (int j = 0; ok && j < system->n; j++)
        count += zero[j] = w->tag[j] != DAE_TAG_FIXED && w->u[j] != w->given[j] && w->u[j] != 0.0 &&
                           fabs(w->u[j]) <= DBL_EPSILON * w->scale[j];
    if (ok && count > 0) system->residual(system->user, w->u, before);
    for (bool again = ok && count > 0; again;) {
        for (int j = 0; j < system->n; j++) u[j] = zero[j] ? 0.0 : w->u[j];
        system->residual(system->user, u, after);
        again = blame_zeros(system, before, after, zero);
    }
    if (ok && count > 0) vector_copy(system->n, u, w->u);
    dae_free_all(before, zero);
    return ok;
}

static dae_status solve_prepared(dae_solver *s, level_context *c, bool initial, level_values *w)
{
    const model_form *levels = c->m->form;
    level_system system = {.n = levels->n,
                           .m = c->rows,
                           .residual = level_residual,
                           .jacobian = level_jacobian,
                           .colptr = c->colptr,
                           .rowind = c->rowind,
                           .variable_names = (const char *const *)levels->unknown_names,
                           .equation_names = (const char *const *)levels->equation_names,
                           .equation_lines = levels->equation_lines,
                           .user = c};
    level_request request = {.tag = w->tag,
                             .given = w->given,
                             .scale = w->scale,
                             .reach = w->reach,
                             .tolerance = 1e-12,
                             .relative = w->relative,
                             .absolute = w->absolute,
                             .iterations = s->bound.options.init_iterations,
                             .rank = initial ? NULL : w->rank,
                             .open = w->open,
                             .state = w->state,
                             .guessed = initial ? w->guessed : NULL,
                             .kept = !initial,
                             .turned = s->hybrid->turned,
                             .unexplained = s->hybrid->unexplained};
    level_report report = {0};
    fact_key key = levels_key(s, c, initial, w);
    const size_t bytes = (size_t)levels->n * sizeof *w->u;
    vector_copy(levels->n, w->given, w->u);
    dae_status status = DAE_OK;
    report.other = -1;
    if (initial) s->hybrid->starts_chosen = leaves_choice(s);
    bool known = recalls(s, FACT_LEVELS, &key, w->u, bytes);
    if (!known && initial) status = solve_by_wishes(&system, &request, w, &report, &s->diag);
    if (!known && !initial) status = levels_solve(&system, &request, w->u, &report, &s->diag);
    s->diag.t = c->t;
    if (!known && status == DAE_OK && !settle_zeros(&system, w)) status = plan_exhausted(&s->diag);
    if (!known && status == DAE_OK && report.other < 0)
        remembers(s, FACT_LEVELS, &key, w->u, bytes);
    if (status == DAE_OK) note_other(s, &system, w->u, c->t, &report, w->spare);
    bool undefined = initial && status == DAE_ERR_EVALUATION; /* relations are looked at there */
    if (status == DAE_OK || undefined) take_levels(s, w->u, w->spare);
    if (status == DAE_ERR_INITIAL) append_aliases(s, &report);
    if (status == DAE_ERR_INITIAL && initial) append_places(s, &report, w->fixed_by);
    level_report_free(&report);
    return status;
}

/* Fixed start values of variables that are one and the same must agree. */
static dae_status refuse_start(dae_solver *s, const level_values *w)
{
    const mode_list *r = s->modes;
    const model_form *f = form_of_levels(r->current->plan.form);
    const int u = f->place[w->conflict].unknown, v = r->fixed_by[w->conflict];
    const flat_variable *q = &f->flat->variables[v], *p = &f->flat->variables[w->fixed_by[u]];
    diag_variable(&s->diag, v, q->name);
    s->diag.line = q->place.line;
    s->diag.value = hybrid_start_value(s->base->model, (size_t)v);
    return diag_set(&s->diag, DAE_ERR_INITIAL,
                    "The fixed start value %.9g of %s (%s:%d) contradicts that of %s (%s:%d): the "
                    "equations make both the same derivative.",
                    s->diag.value, q->name, model_file(s), q->place.line, p->name, model_file(s),
                    p->place.line);
}

/* Nearest values that satisfy all levels. */
dae_status solve_levels(dae_solver *s, double t, bool initial)
{
    model_mode *v = s->modes->current;
    const model_form *all = form_of_levels(v->plan.form);
    level_context c = {0};
    level_values w = {0};
    bool fits = level_values_new(&w, all->initial->n) &&
                level_context_new(&c, v->levels, t, initial ? all->initial->rows : all->rows);
    if (fits) prepare_levels(v);
    if (fits) fits = describe_values(s, initial, &w);
    dae_status status = !fits             ? plan_exhausted(&s->diag)
                        : w.conflict >= 0 ? refuse_start(s, &w)
                                          : solve_prepared(s, &c, initial, &w);
    level_context_free(&c);
    level_values_free(&w);
    return status;
}
