#include "structure/mechanical/mechanical.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "expr/code.h"
#include "expr/derive.h"
#include "structure/mechanical/mechanical_parts.h"

/* ---- life ---- */

void mechanical_free(mechanical *m)
{
    dae_free_all(m->q, m->dynamic, m->lambda, m->constraint, m->other, m->other_row, m->contact,
                 m->contact_row, m->h, m->slope, m->force, m->M.entry, m->C.entry, m->G.entry, m->f,
                 m->g, m->scale, m->factor, m->steady, m->divisor, m->zero, m->tested.entry);
    if (m->test.tape) code_free(&m->test);
    *m = (mechanical){0};
}

static bool mechanical_new(mechanical *m, int n, int rows)
{
    int most = n > rows ? n : rows;
    *m = (mechanical){.q = DAE_ARRAY(int, most),
                      .dynamic = DAE_ARRAY(int, most),
                      .lambda = DAE_ARRAY(int, most),
                      .constraint = DAE_ARRAY(int, most),
                      .other = DAE_ARRAY(int, most),
                      .other_row = DAE_ARRAY(int, most),
                      .contact = DAE_ARRAY(int, most),
                      .contact_row = DAE_ARRAY(int, most),
                      .h = DAE_ARRAY(expr, most),
                      .slope = DAE_ARRAY(expr, most),
                      .force = DAE_ARRAY(expr, most),
                      .f = DAE_ARRAY(expr, most),
                      .g = DAE_ARRAY(expr, most),
                      .scale = DAE_ARRAY(double, most),
                      .factor = DAE_ARRAY(double, most),
                      .steady = DAE_ARRAY(bool, most),
                      .divisor = DAE_ARRAY(expr, most)};
    bool lists = m->q && m->dynamic && m->lambda && m->constraint && m->other && m->other_row;
    bool contact = m->contact && m->contact_row && m->h && m->slope;
    return lists && contact && m->force && m->f && m->g && m->scale && m->factor && m->steady &&
           m->divisor;
}

bool mechanical_add(mechanical_matrix *a, int row, int column, expr value)
{
    if (!dae_grow(&a->entry, &a->room, (size_t)a->count + 1, sizeof *a->entry)) return false;
    a->entry[a->count++] = (mechanical_entry){row, column, value};
    return true;
}

mechanical_status mechanical_refuse(mechanical_search *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->reason, s->size, format, arguments);
    va_end(arguments);
    return MECHANICAL_NOT;
}

bool mechanical_compile(const equation_set *set, const mechanical_matrix *a, expr_code *code)
{
    expr *e = DAE_ARRAY(expr, a->count);
    for (int k = 0; e && k < a->count; k++) e[k] = a->entry[k].value;
    *code = (expr_code){0};
    bool ok = e && code_new(code, set->graph, e, (size_t)a->count);
    dae_free(e);
    return ok;
}

void mechanical_run(expr_code *code, const equation_point *at, double *value)
{
    tape_inputs in = {.time = at->time, .parameters = at->parameters, .memory = at->memory};
    for (int p = 0; p <= at->orders && p <= 2; p++) in.values[p] = at->x[p];
    code_prepare(code, &in);
    code_run(code, &in, value);
}

bool mechanical_evaluate(const equation_set *set, const mechanical_matrix *a,
                         const equation_point *at, double *value)
{
    expr_code code;
    if (!mechanical_compile(set, a, &code)) return false;
    mechanical_run(&code, at, value);
    code_free(&code);
    return true;
}

/* ---- positions ---- */

static void note_highest(void *context, const expr_node *node)
{
    mechanical_search *s = context;
    if (node->op == EXPR_VARIABLE && node->order > s->highest[node->index])
        s->highest[node->index] = node->order;
}

typedef struct acceleration_scan {
    const mechanical_search *s;
    bool *found;
} acceleration_scan;

static void note_acceleration(void *context, const expr_node *node)
{
    const acceleration_scan *scan = context;
    bool position = node->op == EXPR_VARIABLE && scan->s->role[node->index] == ROLE_POSITION;
    if (position && node->order == 2) *scan->found = true;
}

/* Positions: second derivatives and no higher ones. Rows with accelerations define nothing. */
static mechanical_status find_positions(mechanical_search *s)
{
    const equation_set *set = s->set;
    for (int i = 0; i < set->m; i++)
        if (!graph_leaves(set->graph, &set->row[i].residual, 1, note_highest, s))
            return MECHANICAL_MEMORY;
    for (int j = 0; j < set->n; j++) {
        if (s->highest[j] > 2)
            return mechanical_refuse(s, "%s appears with its derivative of order %d", set->name[j],
                                     s->highest[j]);
        if (s->highest[j] < 2) continue;
        s->role[j] = ROLE_POSITION;
        s->place[j] = s->m->nq;
        s->m->q[s->m->nq++] = j;
    }
    if (s->m->nq == 0)
        return mechanical_refuse(s, "no variable appears with its second derivative, so that there "
                                    "are no positions (der(q) = v and der(v) = .. would do)");
    for (int i = 0; i < set->m; i++) {
        bool found = false;
        acceleration_scan scan = {s, &found};
        if (!graph_leaves(set->graph, &set->row[i].residual, 1, note_acceleration, &scan))
            return MECHANICAL_MEMORY;
        if (found) s->use[i] = USE_DYNAMIC;
    }
    return MECHANICAL_OK;
}

/* ---- matrices ---- */

typedef struct entry_scan {
    const mechanical_search *s;
    int highest;    /* derivative of a position */
    int multiplier; /* -1: none */
} entry_scan;

static void note_entry(void *context, const expr_node *node)
{
    entry_scan *e = context;
    if (node->op != EXPR_VARIABLE) return;
    if (e->s->role[node->index] == ROLE_MULTIPLIER) e->multiplier = node->index;
    if (e->s->role[node->index] == ROLE_POSITION && node->order > e->highest)
        e->highest = node->order;
}

/* M may depend on positions and time, and on other variables; C on lambda, too, which is friction.
 */
static mechanical_status check_entry(mechanical_search *s, bool mass, const mechanical_entry *entry)
{
    entry_scan e = {s, 0, -1};
    const mechanical *m = s->m;
    const char *name = s->set->row[m->dynamic[entry->row]].name;
    int j = mass ? m->q[entry->column] : m->lambda[entry->column];
    if (!graph_leaves(s->set->graph, &entry->value, 1, note_entry, &e)) return MECHANICAL_MEMORY;
    if (e.highest == 2) return mechanical_refuse(s, "%s is not linear in the accelerations", name);
    if (mass && (e.highest > 0 || e.multiplier >= 0))
        return mechanical_refuse(s,
                                 "the factor of the acceleration of %s in %s depends on more "
                                 "than positions",
                                 s->set->name[j], name);
    if (!mass && e.multiplier >= 0 && !m->friction) {
        s->m->friction = true;
        mechanical_refuse(s, "%s is not linear in %s", name, s->set->name[j]);
    }
    return MECHANICAL_OK;
}

static mechanical_status check_entries(mechanical_search *s)
{
    mechanical_status status = MECHANICAL_OK;
    for (int k = 0; status == MECHANICAL_OK && k < s->m->M.count; k++)
        status = check_entry(s, true, &s->m->M.entry[k]);
    for (int k = 0; status == MECHANICAL_OK && k < s->m->C.count; k++)
        status = check_entry(s, false, &s->m->C.entry[k]);
    return status;
}

/* Entries of M, and of C by all algebraic variables, which may be multipliers: `candidates`. */
static bool add_motion(mechanical_search *s, int row, const gradient *d)
{
    bool ok = true;
    for (size_t k = 0; ok && k < d->count; k++) {
        const expr_node node = *graph_node(s->set->graph, d->leaf[k]);
        int j = node.index;
        if (s->role[j] == ROLE_POSITION && node.order == 2)
            ok = mechanical_add(&s->m->M, row, s->place[j], d->derivative[k]);
        if (s->role[j] != ROLE_OPEN || s->highest[j] > 0) continue;
        if (s->place[j] < 0) s->place[j] = s->candidates++;
        ok = mechanical_add(&s->m->C, row, s->place[j], d->derivative[k]);
    }
    return ok;
}

static mechanical_status collect_motion(mechanical_search *s)
{
    const equation_set *set = s->set;
    gradient d = {0};
    bool ok = true;
    for (int j = 0; j < set->n; j++)
        if (s->role[j] == ROLE_OPEN) s->place[j] = -1;
    for (int r = 0; ok && r < s->m->nq; r++)
        ok = derive_gradient(set->graph, s->row[s->m->dynamic[r]], &d) && add_motion(s, r, &d);
    gradient_free(&d);
    return ok ? MECHANICAL_OK : MECHANICAL_MEMORY;
}

static expr drop_acceleration(void *context, graph *g, expr leaf)
{
    const mechanical_search *s = context;
    const expr_node node = *graph_node(g, leaf);
    bool leads = node.op == EXPR_VARIABLE && s->role[node.index] == ROLE_POSITION;
    return leads && node.order == 2 ? graph_constant(g, 0.0) : leaf;
}

static expr drop_multiplier(void *context, graph *g, expr leaf)
{
    const mechanical_search *s = context;
    const expr_node node = *graph_node(g, leaf);
    bool leads = node.op == EXPR_VARIABLE && s->role[node.index] == ROLE_MULTIPLIER;
    return leads ? graph_constant(g, 0.0) : leaf;
}

/* M q'' = force(.., lambda), and f without lambda. */
static mechanical_status collect_forces(mechanical_search *s)
{
    graph *g = s->set->graph;
    mechanical *m = s->m;
    for (int i = 0; i < m->nq; i++) {
        expr e = graph_substitute(g, s->row[m->dynamic[i]], drop_acceleration, s);
        if (e != EXPR_NONE) m->force[i] = graph_unary(g, EXPR_NEG, e);
        if (e != EXPR_NONE) e = graph_substitute(g, m->force[i], drop_multiplier, s);
        m->f[i] = e;
        if (e == EXPR_NONE) return MECHANICAL_MEMORY;
    }
    return graph_failed(g) ? MECHANICAL_MEMORY : check_entries(s);
}

/* ---- levels ---- */

static expr put_slope(void *context, graph *g, expr leaf)
{
    const mechanical *m = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order != 1) return leaf;
    for (int k = 0; k < m->ns; k++)
        if (m->contact[k] == node.index) return m->slope[k];
    return leaf;
}

expr mechanical_level(const equation_set *set, const mechanical *m, int l, int k)
{
    expr e = m->g[l];
    mechanical known = *m; /* for a context that is not const */
    for (int n = 0; n < k && e != EXPR_NONE; n++) {
        e = derive_time(set->graph, e);
        if (m->ns > 0 && e != EXPR_NONE) e = graph_substitute(set->graph, e, put_slope, &known);
    }
    return e;
}

/* ---- all of it ---- */

static mechanical_status search(mechanical_search *s)
{
    mechanical_status status = find_positions(s);
    if (status == MECHANICAL_OK) status = mechanical_define(s);
    if (status == MECHANICAL_OK) status = mechanical_sort_rows(s);
    if (status == MECHANICAL_OK) status = mechanical_contact(s);
    if (status == MECHANICAL_OK) status = collect_motion(s);
    if (status == MECHANICAL_OK) status = mechanical_order_motion(s);
    if (status == MECHANICAL_OK) status = mechanical_sort_variables(s);
    if (status == MECHANICAL_OK) status = collect_forces(s);
    if (status == MECHANICAL_OK) status = mechanical_match(s);
    return status;
}

static mechanical_status recognise(const equation_set *set, const equation_point *at,
                                   bool unconstrained, mechanical *m, char *reason, size_t size)
{
    mechanical_search s = {.unconstrained = unconstrained,
                           .set = set,
                           .at = at,
                           .m = m,
                           .row = DAE_ARRAY(expr, set->m),
                           .highest = DAE_ARRAY(int, set->n),
                           .role = DAE_ARRAY(int, set->n),
                           .use = DAE_ARRAY(int, set->m),
                           .value = DAE_ARRAY(expr, set->n),
                           .place = DAE_ARRAY(int, set->n),
                           .surface = DAE_ARRAY(int, set->m),
                           .reason = reason,
                           .size = size};
    bool ok = mechanical_new(m, set->n, set->m) && s.row && s.highest && s.role && s.use &&
              s.value && s.place && s.surface;
    mechanical_status status = ok ? search(&s) : MECHANICAL_MEMORY;
    dae_free_all(s.row, s.highest, s.role, s.use, s.value, s.place, s.surface, s.J.entry);
    bool looked = m->looked;
    if (status != MECHANICAL_OK) mechanical_free(m);
    m->looked = looked;
    return status;
}

/* *m := the other one, which was found without parameters that are zero */
static void take_other(mechanical *m, mechanical *other, int **zero, int count)
{
    mechanical_free(m);
    *m = *other;
    *other = (mechanical){0};
    m->looked = true;
    m->zero = *zero;
    m->zero_count = count;
    *zero = NULL;
}

/* The equations as they are, and, if no form is found, or one in which multipliers act as they
 * like, without parameters that are zero. */
static mechanical_status recognise_both(const equation_set *set, const equation_point *at,
                                        bool unconstrained, mechanical *m, char *reason,
                                        size_t size)
{
    mechanical_status status = recognise(set, at, unconstrained, m, reason, size);
    if (status == MECHANICAL_MEMORY || (status == MECHANICAL_OK && !m->friction)) return status;
    equation_set reduced;
    mechanical other = {0};
    char why[256] = "";
    int *zero, count = 0;
    int zeros = mechanical_without_zeros(set, at, &reduced, &zero, &count);
    if (zeros < 0) mechanical_free(m);
    if (zeros <= 0) return zeros < 0 ? MECHANICAL_MEMORY : status;
    mechanical_status found = recognise(&reduced, at, unconstrained, &other, why, sizeof why);
    if (found == MECHANICAL_OK && (status != MECHANICAL_OK || !other.friction)) {
        take_other(m, &other, &zero, count);
        snprintf(reason, size, "%s", why);
        status = MECHANICAL_OK;
    }
    if (found == MECHANICAL_MEMORY) mechanical_free(m), status = found;
    mechanical_free(&other);
    equation_set_free(&reduced);
    dae_free(zero);
    return status;
}

mechanical_status mechanical_recognise(const equation_set *set, const equation_point *at,
                                       mechanical *m, char *reason, size_t size)
{
    return recognise_both(set, at, false, m, reason, size);
}

mechanical_status mechanical_recognise_any(const equation_set *set, const equation_point *at,
                                           mechanical *m, char *reason, size_t size)
{
    return recognise_both(set, at, true, m, reason, size);
}
