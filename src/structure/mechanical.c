#include "structure/mechanical.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "expr/code.h"
#include "expr/derive.h"
#include "structure/mechanical_parts.h"

/* ---- life ---- */

void mechanical_free(mechanical *m)
{
    dae_free(m->q);
    dae_free(m->dynamic);
    dae_free(m->lambda);
    dae_free(m->constraint);
    dae_free(m->other);
    dae_free(m->other_row);
    dae_free(m->M.entry);
    dae_free(m->C.entry);
    dae_free(m->G.entry);
    dae_free(m->f);
    dae_free(m->g);
    dae_free(m->scale);
    dae_free(m->factor);
    dae_free(m->steady);
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
                      .f = DAE_ARRAY(expr, most),
                      .g = DAE_ARRAY(expr, most),
                      .scale = DAE_ARRAY(double, most),
                      .factor = DAE_ARRAY(double, most),
                      .steady = DAE_ARRAY(bool, most)};
    return m->q && m->dynamic && m->lambda && m->constraint && m->other && m->other_row && m->f &&
           m->g && m->scale && m->factor && m->steady;
}

bool mechanical_add(mechanical_matrix *a, int row, int column, expr value)
{
    if (a->count == a->room) {
        int room = 2 * a->room + 16;
        mechanical_entry *more = DAE_ARRAY(mechanical_entry, room);
        if (!more) return false;
        for (int k = 0; k < a->count; k++) more[k] = a->entry[k];
        dae_free(a->entry);
        a->entry = more;
        a->room = room;
    }
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

bool mechanical_evaluate(const equation_set *set, const mechanical_matrix *a,
                         const equation_point *at, double *value)
{
    expr_code code = {0};
    expr *e = DAE_ARRAY(expr, a->count);
    for (int k = 0; e && k < a->count; k++) e[k] = a->entry[k].value;
    bool ok = e && code_new(&code, set->graph, e, (size_t)a->count);
    if (ok) {
        tape_inputs in = {.time = at->time, .parameters = at->parameters, .memory = at->memory};
        for (int p = 0; p <= at->orders && p <= 2; p++) in.values[p] = at->x[p];
        code_prepare(&code, &in);
        code_run(&code, &in, value);
        code_free(&code);
    }
    dae_free(e);
    return ok;
}

/* ---- positions ---- */

static void note_highest(void *context, expr leaf)
{
    mechanical_search *s = context;
    const expr_node *node = graph_node(s->set->graph, leaf);
    if (node->op == EXPR_VARIABLE && node->order > s->highest[node->index])
        s->highest[node->index] = node->order;
}

/* What a row contains. */
typedef struct row_content {
    const mechanical_search *s;
    bool accelerations, velocities, positions;
    int foreign; /* a variable that is no position; -1: none */
    int moving;  /* a position whose velocity is there; -1: none */
} row_content;

static void note_content(void *context, expr leaf)
{
    row_content *c = context;
    const expr_node *node = graph_node(c->s->set->graph, leaf);
    if (node->op != EXPR_VARIABLE) return;
    if (c->s->role[node->index] != ROLE_POSITION) {
        c->foreign = node->index;
        return;
    }
    c->accelerations |= node->order == 2;
    c->velocities |= node->order == 1;
    c->positions |= node->order == 0;
    if (node->order == 1) c->moving = node->index;
}

static bool row_content_of(const mechanical_search *s, expr e, row_content *c)
{
    *c = (row_content){.s = s, .foreign = -1, .moving = -1};
    return graph_leaves(s->set->graph, &e, 1, note_content, c);
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
        row_content c;
        if (!row_content_of(s, set->row[i].residual, &c)) return MECHANICAL_MEMORY;
        if (c.accelerations) s->use[i] = USE_DYNAMIC;
    }
    return MECHANICAL_OK;
}

/* ---- rows and multipliers ---- */

static void mark_foreign(void *context, expr leaf)
{
    mechanical_search *s = context;
    const expr_node *node = graph_node(s->set->graph, leaf);
    if (node->op == EXPR_VARIABLE && s->role[node->index] == ROLE_OPEN)
        s->role[node->index] = ROLE_OTHER;
}

/* Constraints are over positions and time alone; variables of other rows are no multipliers. */
static mechanical_status sort_rows(mechanical_search *s)
{
    mechanical *m = s->m;
    int dynamic = 0;
    m->nother = m->explicit_count;
    int rows = m->nother;
    for (int i = 0; i < s->set->m; i++) {
        row_content c;
        if (s->use[i] == USE_DEFINITION) continue;
        if (!row_content_of(s, s->row[i], &c)) return MECHANICAL_MEMORY;
        if (c.accelerations) {
            if (dynamic == m->nq)
                return mechanical_refuse(
                    s,
                    "%s contains accelerations, but there are as many equations of motion as "
                    "positions without it",
                    s->set->row[i].name);
            s->use[i] = USE_DYNAMIC;
            m->dynamic[dynamic++] = i;
        } else if (c.positions && !c.velocities && c.foreign < 0) {
            s->use[i] = USE_CONSTRAINT;
            m->g[m->nlambda] = s->row[i];
            m->constraint[m->nlambda++] = i;
        } else {
            s->use[i] = USE_OTHER;
            m->other_row[rows++] = i;
            if (!graph_leaves(s->set->graph, &s->row[i], 1, mark_foreign, s))
                return MECHANICAL_MEMORY;
        }
    }
    if (dynamic < m->nq)
        return mechanical_refuse(s,
                                 "only %d equations contain accelerations, for %d positions (%s, "
                                 "..)",
                                 dynamic, m->nq, s->set->name[m->q[0]]);
    return MECHANICAL_OK;
}

/* Why rows that are neither constraints nor definitions are too many, or multipliers too few. */
static mechanical_status refuse_counts(mechanical_search *s, int multipliers)
{
    const mechanical *m = s->m;
    for (int i = 0; i < s->set->m; i++) {
        row_content c;
        if (s->use[i] != USE_OTHER) continue;
        if (!row_content_of(s, s->row[i], &c)) return MECHANICAL_MEMORY;
        const char *name = s->set->row[i].name;
        if (c.foreign < 0 && c.moving >= 0)
            return mechanical_refuse(s,
                                     "%s restricts velocities, der(%s) among them, and not "
                                     "positions",
                                     name, s->set->name[c.moving]);
        if (c.positions && c.foreign >= 0)
            return mechanical_refuse(s,
                                     "%s contains %s besides positions, so that it is no "
                                     "constraint g(q, t) = 0",
                                     name, s->set->name[c.foreign]);
    }
    if (m->nlambda == 0)
        return mechanical_refuse(s, "no equation restricts the positions %s, ..",
                                 s->set->name[m->q[0]]);
    return mechanical_refuse(s,
                             "there are %d constraints (%s, ..), but %d multipliers in the "
                             "equations of motion",
                             m->nlambda, s->set->row[m->constraint[0]].name, multipliers);
}

static mechanical_status sort_variables(mechanical_search *s)
{
    mechanical *m = s->m;
    int multipliers = 0, open_rows = 0, others = m->explicit_count;
    for (int i = 0; i < s->set->m; i++) open_rows += s->use[i] == USE_OTHER;
    for (int j = 0; j < s->set->n; j++) {
        if (s->role[j] == ROLE_OPEN && s->highest[j] > 0) s->role[j] = ROLE_OTHER;
        if (s->role[j] == ROLE_OPEN) {
            s->role[j] = ROLE_MULTIPLIER;
            s->place[j] = multipliers;
            m->lambda[multipliers++] = j;
        } else if (s->role[j] == ROLE_OTHER) {
            m->other[others++] = j;
        }
    }
    m->nother = others;
    bool fits =
        m->nlambda > 0 && multipliers == m->nlambda && open_rows == others - m->explicit_count;
    return fits ? MECHANICAL_OK : refuse_counts(s, multipliers);
}

/* ---- matrices ---- */

typedef struct entry_scan {
    const mechanical_search *s;
    int highest;    /* derivative of a position */
    int multiplier; /* -1: none */
} entry_scan;

static void note_entry(void *context, expr leaf)
{
    entry_scan *e = context;
    const expr_node *node = graph_node(e->s->set->graph, leaf);
    if (node->op != EXPR_VARIABLE) return;
    if (e->s->role[node->index] == ROLE_MULTIPLIER) e->multiplier = node->index;
    if (e->s->role[node->index] == ROLE_POSITION && node->order > e->highest)
        e->highest = node->order;
}

/* M and C may depend on positions and time, and on other variables. */
static mechanical_status check_entry(mechanical_search *s, int row, int j, expr entry)
{
    entry_scan e = {s, 0, -1};
    const char *name = s->set->row[s->m->dynamic[row]].name;
    if (!graph_leaves(s->set->graph, &entry, 1, note_entry, &e)) return MECHANICAL_MEMORY;
    bool mass = s->role[j] == ROLE_POSITION;
    if (e.multiplier >= 0 && !mass)
        return mechanical_refuse(s, "%s is not linear in %s", name, s->set->name[j]);
    if (e.highest == 2) return mechanical_refuse(s, "%s is not linear in the accelerations", name);
    if (mass && (e.highest > 0 || e.multiplier >= 0))
        return mechanical_refuse(s,
                                 "the factor of the acceleration of %s in %s depends on more "
                                 "than positions",
                                 s->set->name[j], name);
    return MECHANICAL_OK;
}

static mechanical_status add_motion(mechanical_search *s, int row, const gradient *d)
{
    for (size_t k = 0; k < d->count; k++) {
        const expr_node node = *graph_node(s->set->graph, d->leaf[k]);
        bool mass = s->role[node.index] == ROLE_POSITION && node.order == 2;
        if (!mass && s->role[node.index] != ROLE_MULTIPLIER) continue;
        mechanical_status status = check_entry(s, row, node.index, d->derivative[k]);
        if (status != MECHANICAL_OK) return status;
        if (!mechanical_add(mass ? &s->m->M : &s->m->C, row, s->place[node.index],
                            d->derivative[k]))
            return MECHANICAL_MEMORY;
    }
    return MECHANICAL_OK;
}

static mechanical_status add_gradient(mechanical_search *s, int row, const gradient *d)
{
    for (size_t k = 0; k < d->count; k++) {
        const expr_node node = *graph_node(s->set->graph, d->leaf[k]);
        if (!mechanical_add(&s->m->G, row, s->place[node.index], d->derivative[k]))
            return MECHANICAL_MEMORY;
    }
    return MECHANICAL_OK;
}

static expr drop_leading(void *context, graph *g, expr leaf)
{
    const mechanical_search *s = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    bool leads = s->role[node.index] == ROLE_MULTIPLIER ||
                 (s->role[node.index] == ROLE_POSITION && node.order == 2);
    return leads ? graph_constant(g, 0.0) : leaf;
}

/* M, C, f from the equations of motion, G from the constraints. */
static mechanical_status collect_matrices(mechanical_search *s)
{
    graph *g = s->set->graph;
    mechanical *m = s->m;
    derive_scratch *scratch = derive_scratch_new();
    gradient d = {0};
    mechanical_status status = scratch ? MECHANICAL_OK : MECHANICAL_MEMORY;
    for (int r = 0; status == MECHANICAL_OK && r < m->nq + m->nlambda; r++) {
        bool motion = r < m->nq;
        int row = motion ? r : r - m->nq;
        expr e = motion ? s->row[m->dynamic[row]] : m->g[row];
        if (!derive_gradient(g, scratch, e, &d)) {
            status = MECHANICAL_MEMORY;
            break;
        }
        status = motion ? add_motion(s, row, &d) : add_gradient(s, row, &d);
        if (!motion) continue;
        m->f[row] = graph_unary(g, EXPR_NEG, graph_substitute(g, e, drop_leading, s));
        if (m->f[row] == EXPR_NONE) status = MECHANICAL_MEMORY;
    }
    gradient_free(&d);
    derive_scratch_free(scratch);
    return status;
}

/* ---- all of it ---- */

static mechanical_status search(mechanical_search *s)
{
    mechanical_status status = find_positions(s);
    if (status == MECHANICAL_OK) status = mechanical_define(s);
    if (status == MECHANICAL_OK) status = sort_rows(s);
    if (status == MECHANICAL_OK) status = sort_variables(s);
    if (status == MECHANICAL_OK) status = collect_matrices(s);
    if (status == MECHANICAL_OK) status = mechanical_match(s);
    return status;
}

mechanical_status mechanical_recognise(const equation_set *set, const equation_point *at,
                                       mechanical *m, char *reason, size_t size)
{
    mechanical_search s = {.set = set,
                           .at = at,
                           .m = m,
                           .row = DAE_ARRAY(expr, set->m),
                           .highest = DAE_ARRAY(int, set->n),
                           .role = DAE_ARRAY(int, set->n),
                           .use = DAE_ARRAY(int, set->m),
                           .value = DAE_ARRAY(expr, set->n),
                           .place = DAE_ARRAY(int, set->n),
                           .reason = reason,
                           .size = size};
    bool ok = mechanical_new(m, set->n, set->m) && s.row && s.highest && s.role && s.use &&
              s.value && s.place;
    mechanical_status status = ok ? search(&s) : MECHANICAL_MEMORY;
    dae_free(s.row);
    dae_free(s.highest);
    dae_free(s.role);
    dae_free(s.use);
    dae_free(s.value);
    dae_free(s.place);
    if (status != MECHANICAL_OK) mechanical_free(m);
    return status;
}
