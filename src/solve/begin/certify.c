/* Whether the structure of a mode's equations keeps its promise where they hold.
 *
 * The analysis looks at a point in general position. A factor that vanishes on every solution, as
 * of f*x with f = 0, looks like a pivot there and is none: the structure is wrong everywhere it
 * matters. So the system Jacobian is looked at once more at consistent values, and a little further
 * along the solution; a point that is singular by itself alone is no reason to stop. */
#include "solve/begin/begin_parts.h"

#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "solve/prepare/vanishing.h"
#include "structure/rewrite/certificate.h"

/* As in the analysis. */
static const double SINGULAR = 1e-11;
/* The way along the solution, in units of time and in sizes of what moves. */
static const double ALONG = 1e-3;

static bool only_own_variables(const equation_set *set)
{
    for (int j = 0; j < set->n; j++)
        if (set->model[j] < 0) return false;
    return true;
}

/* Derivatives that are unknowns of the form, which base values do not tell. */
static void take_unknowns(const dae_solver *s, const model_form *f, int orders, double **x)
{
    const formulated *y = f->formulated;
    for (int i = 0; i < f->n; i++) {
        int j = y->variable[i], p = y->order[i];
        if (j < 0 || p < 0) continue;
        if (p <= orders) x[p][j] = y->sign[i] * s->bound.y[i];
        if (p < orders) x[p + 1][j] = y->sign[i] * s->bound.yp[i];
    }
}

/* x^(p) += h x^(p+1), no part by more than ALONG of its size; returns h */
static double go_along(const equation_set *set, int orders, double **x)
{
    double h = ALONG;
    for (int p = 0; p < orders; p++)
        for (int j = 0; j < set->n; j++) {
            double size = fmax(fabs(x[p][j]), set->nominal[j]);
            if (fabs(x[p + 1][j]) * h > ALONG * size) h = ALONG * size / fabs(x[p + 1][j]);
        }
    for (int p = 0; p < orders; p++)
        for (int j = 0; j < set->n; j++) x[p][j] += h * x[p + 1][j];
    return h;
}

/* A parameter of the equations that cannot be solved which is zero, the first one; -1: none */
typedef struct zero_scan {
    const flat_model *m;
    const double *values;
    int found;
} zero_scan;

static void note_zero(void *context, const expr_node *node)
{
    zero_scan *scan = context;
    if (scan->found >= 0 || node->op != EXPR_PARAMETER) return;
    const flat_parameter *q = &scan->m->parameters[node->index];
    if (q->type == FLAT_REAL && !q->constant && scan->values[node->index] == 0.0)
        scan->found = (int)node->index;
}

static int zero_parameter(const model_mode *v, const certificate *c, const double *values)
{
    const equation_set *set = &v->plan.form->analysed->set;
    zero_scan scan = {v->plan.form->flat, values, -1};
    for (int k = 0; k < c->row_count && scan.found < 0; k++)
        if (!graph_leaves(set->graph, &set->row[c->row[k]].residual, 1, note_zero, &scan)) break;
    return scan.found;
}

/* "equation 9 (..) cannot be solved for x" of a certificate that does not hold */
static void note_broken_promise(model_mode *v, const certificate *c, const model_point *at)
{
    enum { MOST = 6 };
    const equation_set *set = &v->plan.form->analysed->set;
    const structure *s = &v->plan.form->analysed->structure;
    dae_diag text = {0};
    char name[160];
    int zero = zero_parameter(v, c, at->parameters);
    const flat_parameter *q = zero >= 0 ? &v->plan.form->flat->parameters[zero] : NULL;
    diag_set(&text, DAE_ERR_SINGULAR, "%s", q ? "" : "The index");
    if (q) diag_append(&text, "With %s = 0 (line %d) the index", q->name, q->place.line);
    diag_append(
        &text, " at t = %.9g and beside it is not what the structure of the equations says: there ",
        at->t);
    text_list rows = text_list_in(&text, MOST), columns = rows;
    for (int k = 0; k < c->row_count; k++) text_list_add(&rows, "%s", set->row[c->row[k]].name);
    text_list_end(&rows);
    diag_append(&text, " cannot be solved for ");
    for (int k = 0; k < c->column_count; k++)
        text_list_add(
            &columns, "%s",
            equation_set_variable(set, c->column[k], s->d[c->column[k]], name, sizeof name));
    text_list_end(&columns);
    diag_append(&text, "%s",
                q ? ". Is that value meant?"
                  : ", as a factor vanishes wherever the equations hold. Write them without it: "
                    "each equation by itself, not multiplied by another one.");
    snprintf(v->plan.doubt, sizeof v->plan.doubt, "%s", text.text);
    v->plan.doubt_line = c->row_count > 0 ? set->row[c->row[0]].line : 0;
}

/* 1: regular at the point, or beside it; 0: singular, noted in v; -1: memory */
static int look_along(dae_solver *s, model_mode *v, const model_point *at)
{
    const analysed *a = v->plan.form->analysed;
    int orders = 1, regular = 0;
    for (int j = 0; j < a->set.n; j++)
        if (a->structure.d[j] >= orders) orders = a->structure.d[j] + 1;
    double **x = analysed_values(&a->set, at, orders), t = at->t;
    system_jacobian own = {0};
    const system_jacobian *J = a->jacobian ? a->jacobian : &own;
    certificate c = {0};
    bool ok = x && (J != &own || system_jacobian_new(&own, &a->set, &a->structure));
    if (ok && !v->plan.form->levels) take_unknowns(s, v->plan.form, orders, x);
    ok = ok && drop_rounding(&a->set, at, orders, x);
    for (int k = 0; ok && k < 2 && !regular; k++) {
        if (k > 0) t += go_along(&a->set, orders, x);
        equation_point point = {t, (const double *const *)x, orders, at->parameters, at->memory};
        certificate_free(&c);
        ok = certify(J, &a->structure, &point, SINGULAR, &c);
        regular = c.valid || !c.finite;
    }
    if (ok && !regular) note_broken_promise(v, &c, at);
    certificate_free(&c);
    system_jacobian_free(&own);
    dae_free(x);
    return ok ? regular : -1;
}

/* 1: the structure is right at the point, or the equations do without it; 0: neither; -1: memory */
static int look_at_mode(dae_solver *s, model_mode *v, const model_point *at)
{
    int regular = look_along(s, v, at);
    if (regular != 0 || !v->plan.runs_base) return regular;
    int implicit = implicit_at(s->base->model, &s->modes->slots, at);
    if (implicit == 1) v->plan.doubt[0] = '\0';
    return implicit;
}

dae_status certify_mode(dae_solver *s, double t)
{
    model_mode *v = s->modes->current;
    const model_instance *m = s->modes->base_instance;
    graph *g = s->base->model->flat->graph;
    if (v->certified || v->plan.doubt[0] || !only_own_variables(&v->plan.form->analysed->set))
        return DAE_OK;
    v->certified = true;
    double *y = user_values(s);
    if (!y) return plan_exhausted(&s->diag);
    model_point at = {t, y, y + s->base->form.n, m->parameters, v->instance->memory};
    fact_key key = key_at(s, &at);
    fact_key_add_numbers(&key, s->bound.y, (size_t)s->bound.n);
    fact_key_add_numbers(&key, s->bound.yp, (size_t)s->bound.n);
    int regular = recalls(s, FACT_REGULAR, &key, NULL, 0);
    if (!regular) {
        graph_enter(g);
        regular = look_at_mode(s, v, &at);
        graph_recover(g);
        graph_leave(g);
        if (regular == 1) remembers(s, FACT_REGULAR, &key, NULL, 0);
    }
    dae_free(y);
    if (regular < 0) return plan_exhausted(&s->diag);
    bool stuck = !regular && method_needs_form(s->bound.method);
    return stuck ? explain_doubt(&v->plan, t, &s->diag) : DAE_OK;
}
