/* Whose checkpoint is it? The equations, the values of parameters, and the options. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_delay.h"
#include "solve/checkpoint/checkpoint.h"

/* ---- the equations of a model ---- */

/* A node by what it does, and by the places of its operands in the walk. */
static uint64_t hash_node(uint64_t hash, const walk *w, const expr_node *n)
{
    struct {
        uint32_t op, order, arity, operand[3];
        int32_t index;
        double value;
    } key;
    memset(&key, 0, sizeof key);
    key.op = n->op;
    key.order = n->order;
    key.arity = n->arity;
    for (int k = 0; k < n->arity && k < 3; k++)
        key.operand[k] = (uint32_t)walk_place(w, expr_operand(n, k));
    if (n->op == EXPR_CONSTANT)
        key.value = n->value;
    else if (n->arity < 2)
        key.index = n->index;
    return checksum(hash, &key, sizeof key);
}

/* Expressions of a model; without a list they are counted. */
typedef struct root_list {
    expr *list;
    size_t count;
} root_list;

static void add_root(root_list *r, expr e)
{
    if (r->list) r->list[r->count] = e;
    r->count++;
}

static void add_equations(root_list *r, const flat_equation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) add_root(r, list[i].residual);
}

static void add_actions(root_list *r, const flat_action *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_root(r, list[i].value);
        add_root(r, list[i].guard);
    }
}

static void add_whens(root_list *r, const flat_model *m)
{
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *branch = &m->whens[w].branches[b];
            add_root(r, branch->condition);
            add_actions(r, branch->actions, branch->action_count);
        }
}

static void add_delays(root_list *r, const flat_model *m)
{
    for (size_t i = 0; i < m->delay_count; i++) {
        add_root(r, m->delays[i].value);
        add_root(r, m->delays[i].lag);
        add_root(r, m->delays[i].most);
    }
}

static void add_variables(root_list *r, const flat_model *m)
{
    for (size_t i = 0; i < m->variable_count; i++) {
        add_root(r, m->variables[i].start);
        add_root(r, m->variables[i].nominal);
        add_root(r, m->variables[i].min);
        add_root(r, m->variables[i].max);
    }
}

/* Roots of all that a run computes, and of where it began. */
static size_t collect_roots(const flat_model *m, expr *list)
{
    root_list r = {list, 0};
    add_equations(&r, m->equations, m->equation_count);
    add_equations(&r, m->initial_equations, m->initial_count);
    for (size_t i = 0; i < m->relation_count; i++) add_root(&r, m->relations[i].crossing);
    for (size_t i = 0; i < m->discrete_count; i++) add_root(&r, m->discretes[i].value);
    for (size_t i = 0; i < m->sample_count; i++) {
        add_root(&r, m->samples[i].start);
        add_root(&r, m->samples[i].interval);
    }
    add_delays(&r, m);
    add_whens(&r, m);
    add_actions(&r, m->asserts, m->assert_count);
    add_variables(&r, m);
    return r.count;
}

static uint64_t hash_number(uint64_t hash, int64_t number)
{
    return checksum(hash, &number, sizeof number);
}

static uint64_t hash_actions(uint64_t hash, const flat_action *list, size_t count)
{
    hash = hash_number(hash, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        hash = hash_number(hash, (int64_t)list[i].kind);
        hash = hash_number(hash, list[i].variable);
        hash = hash_number(hash, list[i].warning);
    }
    return hash;
}

static uint64_t hash_numbers(uint64_t hash, const double *list, size_t count)
{
    return count > 0 && list ? checksum(hash, list, count * sizeof *list) : hash;
}

static uint64_t hash_schedule(uint64_t hash, const flat_schedule *s)
{
    hash = hash_number(hash, (int64_t)s->rows);
    hash = hash_number(hash, s->hold);
    hash = hash_numbers(hash, s->time, s->rows);
    for (size_t k = 0; k < s->track_count; k++) {
        hash = hash_number(hash, (int64_t)s->tracks[k].curve);
        hash = hash_numbers(hash, s->tracks[k].value, s->rows);
    }
    return hash;
}

/* Inputs that follow tables: all rows, those to come too. Jumps of functions cannot be known. */
static uint64_t hash_inputs(const flat_model *m)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < m->sample_count; i++)
        if (m->samples[i].schedule) hash = hash_schedule(hash, m->samples[i].schedule);
    return hash;
}

/* What events set, and in which order: the numbers beside the expressions. */
static uint64_t hash_events(uint64_t hash, const flat_model *m)
{
    for (size_t i = 0; i < m->relation_count; i++) hash = hash_number(hash, m->relations[i].strict);
    for (size_t i = 0; i < m->discrete_count; i++)
        hash = hash_number(hash, m->discretes[i].variable);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *branch = &m->whens[w].branches[b];
            hash = hash_number(hash, branch->at_initial);
            hash = hash_actions(hash, branch->actions, branch->action_count);
        }
    return hash_actions(hash, m->asserts, m->assert_count);
}

/* A hash of the equations; false: memory */
static bool hash_equations(const flat_model *m, uint64_t *hash)
{
    expr *roots = DAE_ARRAY(expr, collect_roots(m, NULL) + 1);
    walk w = {0};
    if (!roots) return false;
    const size_t count = collect_roots(m, roots);
    graph_enter(m->graph);
    const bool ok = walk_from(&w, m->graph, roots, count);
    for (size_t i = 0; ok && i < w.count; i++)
        *hash = hash_node(*hash, &w, graph_node(m->graph, w.order[i]));
    for (size_t i = 0; ok && i < count; i++) {
        const uint64_t place = roots[i] == EXPR_NONE ? 0 : 1 + walk_place(&w, roots[i]);
        *hash = checksum(*hash, &place, sizeof place);
    }
    *hash = hash_events(*hash, m);
    walk_free(&w);
    graph_leave(m->graph);
    dae_free(roots);
    return ok;
}

/* ---- the problem ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    if (!text) text = "";
    return checksum(hash, text, strlen(text) + 1);
}

/* Unknowns by number and name, the form of callbacks, the equations of a model; false: memory */
static bool hash_problem(const dae_problem *problem, uint64_t *hash)
{
    const dae_residual *form = &problem->form;
    const int kind[] = {form->n, form->event_count, problem->model != NULL, problem->forms != NULL};
    *hash = checksum(0, kind, sizeof kind);
    for (int i = 0; i < form->n; i++) *hash = hash_text(*hash, problem_variable(problem, i));
    if (problem->forms) *hash = hash_text(*hash, form_source_kind_name(problem->forms));
    return !problem->model || hash_equations(problem->model->flat, hash);
}

/* Parameters, each by name where it differs. */
static dae_status parameters_persist(dae_solver *s, persist *p)
{
    const model_form *f = s->base->model;
    const size_t count = f->flat->parameter_count;
    persist_same(p, count, "the model has other parameters");
    for (size_t k = 0; k < count && persist_ok(p); k++) {
        double value = f->parameters[k];
        PERSIST(p, value);
        if (!persist_ok(p) || memcmp(&value, &f->parameters[k], sizeof value) == 0) continue;
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The checkpoint is of a run with parameter %s = %.17g; here it is %.17g.",
                        f->parameter_names[k], value, f->parameters[k]);
    }
    return DAE_OK;
}

/* Start values from outside, each by name where it differs. */
static dae_status starts_persist(dae_solver *s, persist *p)
{
    const model_form *f = s->base->model;
    for (size_t k = 0; k < f->flat->variable_count && persist_ok(p); k++) {
        double value = f->start[k];
        PERSIST(p, value);
        if (!persist_ok(p) || memcmp(&value, &f->start[k], sizeof value) == 0) continue;
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The checkpoint is of a run with another start value of %s: %.17g, here "
                        "%.17g (nan: that of the model).",
                        f->flat->variables[k].name, value, f->start[k]);
    }
    return DAE_OK;
}

/* ---- options ---- */

/* A number of the options that must be the same. */
static dae_status number_persist(dae_solver *s, persist *p, const char *name, double now)
{
    double then = now;
    PERSIST(p, then);
    if (memcmp(&then, &now, sizeof now) == 0) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "The checkpoint is of a run with %s = %.17g; here it is %.17g.", name, then,
                    now);
}

/* Which method and formulation, in words. */
static dae_status word_persist(dae_solver *s, persist *p, const char *name, const char *now)
{
    char then[64];
    memset(then, 0, sizeof then);
    strncpy(then, now, sizeof then - 1);
    PERSIST(p, then);
    then[sizeof then - 1] = '\0';
    if (!p->reading || strncmp(then, now, sizeof then - 1) == 0) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "The checkpoint is of a run with %s = %s; here it is %s.", name, then, now);
}

static uint64_t hash_table(uint64_t hash, const dae_table *t)
{
    if (!t) return hash;
    const int64_t whole[] = {t->stages, t->order, t->index, t->embedded_order, t->has_embedded};
    hash = checksum(hash, whole, sizeof whole);
    hash = checksum(hash, t->A, sizeof t->A);
    hash = checksum(hash, t->b, sizeof t->b);
    hash = checksum(hash, t->c, sizeof t->c);
    return checksum(hash, t->embedded, sizeof t->embedded);
}

static uint64_t hash_herk(uint64_t hash, const dae_herk_options *h)
{
    if (!h) return hash;
    const double numbers[] = {h->adaptive_steps,  h->safety,           h->newton_tolerance,
                              h->pivot_tolerance, h->increment,        h->given_jacobian,
                              h->constant_E,      h->simplified_newton};
    return checksum(hash, numbers, sizeof numbers);
}

/* What options point to: arrays per unknown, tables, names. */
static uint64_t hash_behind(const dae_options *o, size_t n, uint64_t hash)
{
    hash = hash_numbers(hash, o->rtol_by_unknown, n);
    hash = hash_numbers(hash, o->atol_by_unknown, n);
    if (o->y_tags) hash = checksum(hash, o->y_tags, n * sizeof *o->y_tags);
    if (o->yp_tags) hash = checksum(hash, o->yp_tags, n * sizeof *o->yp_tags);
    hash = hash_numbers(hash, o->step_sequence, (size_t)o->step_count);
    hash = hash_text(hash, o->variant);
    return hash_herk(hash_table(hash, o->table), o->herk);
}

/* All that has no name above, in one number. */
static uint64_t hash_options(const dae_solver *s, bool *no_memory)
{
    const dae_options *o = &s->base_options;
    const size_t n = (size_t)s->base->form.n;
    persist all = {0};
    dae_options copy = *o;
    uint64_t hash = 0;
    PERSIST_STRUCT(&all, &copy, GAPS(dae_options, method, formulation),
                   GAPS(dae_options, rtol, atol_by_unknown), GAPS(dae_options, y_tags, yp_tags),
                   GAP(dae_options, stop_time), GAP(dae_options, max_steps),
                   GAPS(dae_options, norm, message), GAP(dae_options, threads),
                   GAPS(dae_options, invariant_function, invariants), GAP(dae_options, variant),
                   GAP(dae_options, step_sequence), GAP(dae_options, table),
                   GAP(dae_options, herk));
    *no_memory = all.no_memory;
    if (!all.no_memory) hash = checksum(0, all.bytes, all.count);
    persist_free(&all);
    for (int k = 0; s->monitors && s->monitors->names && k < o->invariant_count; k++)
        hash = hash_text(hash, s->monitors->names[k]);
    return hash_behind(o, n, hash);
}

static dae_status options_persist(dae_solver *s, persist *p)
{
    const dae_options *o = &s->base_options;
    dae_status status = word_persist(s, p, "method", s->wishes.open ? "auto" : o->method);
    if (status == DAE_OK) status = word_persist(s, p, "formulation", o->formulation);
    if (status == DAE_OK) status = number_persist(s, p, "rtol", o->rtol);
    if (status == DAE_OK) status = number_persist(s, p, "atol", o->atol);
    if (status == DAE_OK) status = number_persist(s, p, "stop_time", o->stop_time);
    if (status != DAE_OK) return status;
    bool no_memory;
    const uint64_t others = hash_options(s, &no_memory);
    if (no_memory) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a checkpoint.");
    persist_same(p, others, "the run had other options");
    return DAE_OK;
}

dae_status identity_persist(dae_solver *s, persist *p)
{
    uint64_t hash = 0;
    if (!hash_problem(s->base, &hash))
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a checkpoint.");
    persist_same(p, hash, "it is of another model or problem");
    if (s->base->model)
        persist_same(p, hash_inputs(s->base->model->flat), "its inputs follow other tables");
    if (!persist_ok(p)) return DAE_OK;
    dae_status status = s->base->model ? parameters_persist(s, p) : DAE_OK;
    if (status == DAE_OK && persist_ok(p) && s->base->model) status = starts_persist(s, p);
    return status == DAE_OK && persist_ok(p) ? options_persist(s, p) : status;
}

uint64_t layout_signature(void)
{
    const size_t sizes[] = {sizeof(dae_solver),    sizeof(run_state),      sizeof(hybrid),
                            sizeof(binding),       sizeof(model_mode),     sizeof(rank_block),
                            sizeof(error_norm),    sizeof(relation_trace), sizeof(sample_clock),
                            sizeof(delay_piece),   sizeof(dae_options),    sizeof(dae_stats),
                            sizeof(dae_diag),      sizeof(step_control),   sizeof(attempt),
                            sizeof(method_memory), sizeof(long),           sizeof(void *)};
    return checksum(0, sizes, sizeof sizes);
}
