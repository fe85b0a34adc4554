#include "model/initial_roles.h"

#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/walk.h"

analysed_place *analysed_places(const equation_set *set, const model_form *f)
{
    analysed_place *place = DAE_ARRAY(analysed_place, f->n);
    if (!place) return NULL;
    for (int i = 0; i < f->n; i++) place[i].variable = -1;
    for (int j = 0; j < set->n; j++)
        if (set->model[j] >= 0) place[set->model[j]] = (analysed_place){j, 0, 1};
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        place[v->model] = (analysed_place){v->variable, v->order, v->sign};
    }
    return place;
}

/* The rows of the system of initial values as they come. */
typedef struct pattern {
    initial_roles *roles;
    const equation_set *set;
    const structure *s;
    const analysed_place *places; /* of leaves of initial equations; NULL: leaves of the set */
    signature sigma;
    size_t capacity;
    int *seen; /* per column: 1 + the last row that has it */
    walk w;
} pattern;

static bool add_entry(pattern *p, int column)
{
    signature *g = &p->sigma;
    int count = g->start[g->m + 1];
    if (p->seen[column] == g->m + 1) return true;
    p->seen[column] = g->m + 1;
    if (!dae_grow(&g->column, &p->capacity, (size_t)count + 1, sizeof *g->column)) return false;
    g->column[g->start[g->m + 1]++] = column;
    return true;
}

/* The row at hand is complete. */
static void end_row(pattern *p)
{
    signature *g = &p->sigma;
    g->m++;
    g->start[g->m + 1] = g->start[g->m];
}

/* x_j^(order), if it is not beyond what is determined */
static bool add_leaf(pattern *p, int j, int order)
{
    return order > p->s->d[j] || add_entry(p, p->roles->place[j] + order);
}

static bool add_row(pattern *p, expr e)
{
    const graph *g = p->set->graph;
    if (e == EXPR_NONE || !walk_from(&p->w, g, &e, 1)) return false;
    for (size_t k = 0; k < p->w.count; k++) {
        const expr_node *n = graph_node(g, p->w.order[k]);
        if (n->op != EXPR_VARIABLE) continue;
        analysed_place at = p->places ? p->places[n->index] : (analysed_place){n->index, 0, 1};
        if (at.variable >= 0 && !add_leaf(p, at.variable, at.order + n->order)) return false;
    }
    end_row(p);
    return true;
}

/* f_i^(k), k = 0 .. c_i */
static bool add_levels(pattern *p)
{
    for (int i = 0; i < p->set->m; i++) {
        expr e = p->set->row[i].residual;
        for (int k = 0; k <= p->s->c[i]; k++) {
            if (k > 0) e = derive_time(p->set->graph, e);
            if (!add_row(p, e)) return false;
        }
    }
    return true;
}

/* x_j^(p) = start for what is fixed */
static bool add_fixed(pattern *p, const model_form *f)
{
    initial_roles *r = p->roles;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int unknown = q->discrete || !q->fixed ? -1 : f->first_unknown[f->alias[v].top];
        const analysed_place *at = unknown < 0 ? NULL : &p->places[unknown];
        if (!at || at->variable < 0 || at->order > p->s->d[at->variable]) continue;
        int column = r->place[at->variable] + at->order;
        if (r->fixed[column]) continue;
        r->fixed[column] = true;
        r->fixed_count++;
        if (!add_entry(p, column)) return false;
        end_row(p);
    }
    return true;
}

static bool explain(pattern *p)
{
    signature *g = &p->sigma;
    singular_report report;
    g->order = DAE_ARRAY(int, g->start[g->m]);
    if (!g->order || !signature_explain(g, &report)) return false;
    for (int k = 0; k < report.count; k++) {
        const singular_part *part = &report.part[k];
        if (part->over) {
            p->roles->unsettled++;
            continue;
        }
        p->roles->to_choose += part->columns - part->rows;
        for (int c = 0; c < part->columns; c++) p->roles->open[part->column[c]] = true;
    }
    singular_report_free(&report);
    return true;
}

bool initial_roles_find(initial_roles *r, const equation_set *set, const structure *s,
                        const model_form *f, const analysed_place *places)
{
    pattern p = {.roles = r, .set = set, .s = s};
    size_t rows = f->condition_count;
    int columns = 0;
    *r = (initial_roles){.place = DAE_ARRAY(int, set->n)};
    for (int i = 0; i < set->m; i++) rows += (size_t)s->c[i] + 1;
    for (int j = 0; r->place && j < set->n; j++) {
        r->place[j] = columns;
        columns += s->d[j] + 1;
    }
    r->open = DAE_ARRAY(bool, columns);
    r->fixed = DAE_ARRAY(bool, columns);
    p.seen = DAE_ARRAY(int, columns);
    p.sigma.n = columns;
    p.sigma.start = DAE_ARRAY(int, rows + (size_t)columns + 3);
    bool ok = r->place && r->open && r->fixed && p.seen && p.sigma.start && add_levels(&p);
    p.places = places;
    for (size_t k = 0; ok && k < f->condition_count; k++) ok = add_row(&p, f->condition.e[k]);
    ok = ok && add_fixed(&p, f) && explain(&p);
    signature_free(&p.sigma);
    walk_free(&p.w);
    dae_free(p.seen);
    if (!ok) initial_roles_free(r);
    return ok;
}

void initial_roles_free(initial_roles *r)
{
    dae_free_all(r->place, r->open, r->fixed);
    *r = (initial_roles){0};
}
