/* Initial equations of discrete variables.
 *
 * pre(v) = value gives the value before the start. v = value gives it, too, where a when-clause
 * defines v, since v keeps pre(v) there. Where an equation defines v, v = f(pre(w)), say, the
 * values before the start are unknowns of the initial system (Modelica 3.6, section 8.6): the
 * equation is solved for one of them. Where that one is pre(w) = f(pre(u)) by an initial equation
 * of its own, the value passes through it to pre(u). */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "solve/hybrid/hybrid_parts.h"

/* Parts of an equation that are looked at on the way to the pre(w) that decides it. Expressions
 * share their parts: a walk that takes each of them as often as it is used may have no end. */
enum { MOST_PARTS = 1000 };

/* The discrete equation of variable v; NULL: a when-clause has it. */
static const flat_discrete *equation_of(const flat_model *m, int v)
{
    for (size_t k = 0; k < m->discrete_count; k++)
        if (m->discretes[k].variable == v) return &m->discretes[k];
    return NULL;
}

/* The initial equation that gives pre(v); NULL: there is none. */
static const model_setting *previous_of(const model_form *f, int v)
{
    for (size_t k = 0; k < f->settings_count; k++)
        if (f->settings[k].variable == v && f->settings[k].previous) return &f->settings[k];
    return NULL;
}

static const expr_node *node_of(const dae_solver *s, expr e)
{
    graph *g = flat_of(s)->graph;
    graph_enter(g);
    const expr_node *node = graph_node(g, e);
    graph_leave(g);
    return node;
}

static bool solve_for_previous(dae_solver *s, double t, expr e, double target, int *parts_left);

/* pre(v) takes the value, if it is free or the right side of its initial equation can be made so.
 */
static bool solve_previous(dae_solver *s, double t, int v, double target, int *parts_left)
{
    const model_form *f = s->hybrid->instance->form;
    const model_setting *setting = previous_of(f, v);
    if (setting) return solve_for_previous(s, t, setting->value, target, parts_left);
    return !f->flat->variables[v].fixed;
}

/* A memory slot: pre(w) takes the value, a variable with an equation passes it on. */
static bool solve_slot(dae_solver *s, double t, int slot, double target, int *parts_left)
{
    const flat_model *m = flat_of(s);
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || (q->memory != slot && q->memory_pre != slot)) continue;
        const flat_discrete *equation = equation_of(m, (int)v);
        bool free = q->memory == slot
                        ? equation && solve_for_previous(s, t, equation->value, target, parts_left)
                        : solve_previous(s, t, (int)v, target, parts_left);
        if (free) s->hybrid->instance->memory[slot] = target; /* for the settings that follow */
        return free;
    }
    return false;
}

/* a op b = target, by a or by b with the other as it is. */
static bool solve_binary(dae_solver *s, double t, const expr_node *n, double target,
                         int *parts_left)
{
    double a = value_at(s, t, n->a), b = value_at(s, t, n->b), for_a = NAN, for_b = NAN;
    switch (n->op) {
    case EXPR_ADD: for_a = target - b, for_b = target - a; break;
    case EXPR_SUB: for_a = target + b, for_b = a - target; break;
    case EXPR_MUL: for_a = target / b, for_b = target / a; break;
    case EXPR_DIV: for_a = target * b, for_b = a / target; break;
    case EXPR_AND:
        if (target == 0.0 || b != 0.0) for_a = target;
        if (target == 0.0 || a != 0.0) for_b = target;
        break;
    case EXPR_OR:
        if (target != 0.0 || b == 0.0) for_a = target;
        if (target != 0.0 || a == 0.0) for_b = target;
        break;
    default: break;
    }
    return (isfinite(for_a) && solve_for_previous(s, t, n->a, for_a, parts_left)) ||
           (isfinite(for_b) && solve_for_previous(s, t, n->b, for_b, parts_left));
}

/* Make e equal to target by the value of one pre(w) in it; whether there is such a one. */
static bool solve_for_previous(dae_solver *s, double t, expr e, double target, int *parts_left)
{
    if ((*parts_left)-- <= 0) return false;
    if (value_at(s, t, e) == target) return true;
    const expr_node *n = node_of(s, e);
    switch (n->op) {
    case EXPR_MEMORY: return solve_slot(s, t, n->index, target, parts_left);
    case EXPR_NEG: return solve_for_previous(s, t, n->a, -target, parts_left);
    case EXPR_NOT: return solve_for_previous(s, t, n->a, target == 0.0, parts_left);
    case EXPR_SELECT: {
        expr branch = value_at(s, t, n->a) != 0.0 ? n->b : n->c;
        return solve_for_previous(s, t, branch, target, parts_left);
    }
    default: return graph_arity(n->op) == 2 && solve_binary(s, t, n, target, parts_left);
    }
}

void settings_take(dae_solver *s, double t)
{
    const model_form *f = s->hybrid->instance->form;
    double *memory = s->hybrid->instance->memory;
    for (size_t k = 0; k < f->settings_count; k++) {
        const model_setting *q = &f->settings[k];
        const flat_variable *v = &f->flat->variables[q->variable];
        const flat_discrete *equation = equation_of(f->flat, q->variable);
        double value = value_at(s, t, q->value);
        if (!equation || q->previous)
            memory[v->memory_pre] = value;
        else
            solve_for_previous(s, t, equation->value, value, &(int){MOST_PARTS});
        if (!q->previous || !equation) memory[v->memory] = value;
    }
}

dae_status settings_check(dae_solver *s, double t)
{
    const model_form *f = s->hybrid->instance->form;
    const double *memory = s->hybrid->instance->memory;
    for (size_t k = 0; k < f->settings_count; k++) {
        const model_setting *q = &f->settings[k];
        const flat_variable *v = &f->flat->variables[q->variable];
        double wanted = value_at(s, t, q->value);
        double is = memory[q->previous ? v->memory_pre : v->memory];
        if (fabs(is - wanted) <= 1e-9 * fmax(fabs(is), fabs(wanted))) continue;
        diag_variable(&s->diag, q->variable, v->name);
        s->diag.t = t;
        s->diag.line = q->place.line;
        s->diag.value = is;
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "%s:%d: the initial equation wants %s%s%s to be %g, but the equations of "
                        "the model give it %g at the start.",
                        model_file(s), q->place.line, q->previous ? "pre(" : "", v->name,
                        q->previous ? ")" : "", wanted, is);
    }
    return DAE_OK;
}
