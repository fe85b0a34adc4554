#include "solve/run/released_watch.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "solve/bind/reform_parts.h"

/* A constraint that is not met by so many tolerances, and by so much more than those that are kept,
 * does not follow from them: what drift and projections leave is of their size. */
static const double FAR = 1e3, MORE = 1e2;
/* So are fewer tolerances, if they are this part of what is in the constraint: small values, whose
 * absolute tolerance is large for them. */
static const double NEAR = 10.0, PART = 1e-2;

/* One constraint: its residual is value[first], then come its derivatives. */
typedef struct row {
    int first, count;
    bool released;
    const char *name; /* borrowed from the base form */
    int line;
} row;

/* A derivative by unknown `index`, or by its derivative. */
typedef struct slot {
    int index, order;
} slot;

struct released_watch {
    row *rows; /* owned */
    int count;
    slot *slots;     /* of the values; owned */
    expr_code code;  /* owned */
    double *value;   /* owned */
    double *y, *own; /* y, y' of the base form and of the one at work; owned: one block */
    int own_n;
};

void released_watch_free(released_watch *w)
{
    if (!w) return;
    dae_free(w->rows);
    dae_free(w->slots);
    dae_free(w->value);
    dae_free(w->y);
    if (w->code.tape) code_free(&w->code);
    dae_free(w);
}

/* ---- making ---- */

/* Constraint i of the set as row of w, its expressions behind the `used` ones; false: memory, or no
 * more room */
static bool add_row(released_watch *w, const model_form *base, const equation_row *from,
                    bool released, derive_scratch *scratch, expr *e, int *used, int room)
{
    graph *g = base->flat->graph;
    gradient d = {0};
    expr residual = base->residual.e[from->source];
    bool ok = derive_gradient(g, scratch, residual, &d) && *used + 1 + (int)d.count <= room;
    if (ok) {
        w->rows[w->count++] = (row){*used, (int)d.count, released, from->name, from->line};
        e[(*used)++] = residual;
        for (size_t k = 0; k < d.count; k++) {
            const expr_node *leaf = graph_node(g, d.leaf[k]);
            w->slots[*used] = (slot){leaf->index, leaf->order};
            e[(*used)++] = d.derivative[k];
        }
    }
    gradient_free(&d);
    return ok;
}

/* Whether equation i is a constraint that is kept. */
static bool is_kept(const analysed *a, int i)
{
    return a->structure.c[i] > 0 && a->set.row[i].times == 0;
}

static bool fill(released_watch *w, const model_form *base, const analysed *a, const bool *rows)
{
    int m = a->set.m, room = m + base->colptr[base->n], used = 0;
    derive_scratch *scratch = derive_scratch_new();
    expr *e = DAE_ARRAY(expr, room);
    w->rows = DAE_ARRAY(row, m);
    w->slots = DAE_ARRAY(slot, room);
    w->value = DAE_ARRAY(double, room);
    bool ok = scratch && e && w->rows && w->slots && w->value;
    for (int i = 0; ok && i < m; i++)
        if (a->set.row[i].source >= 0 && (rows[i] || is_kept(a, i)))
            ok = add_row(w, base, &a->set.row[i], rows[i], scratch, e, &used, room);
    ok = ok && code_new(&w->code, base->flat->graph, e, (size_t)used);
    derive_scratch_free(scratch);
    dae_free(e);
    return ok;
}

bool released_watch_new(released_watch **result, const model_form *base, const analysed *a,
                        const bool *rows)
{
    released_watch *w = DAE_NEW(released_watch);
    bool ok = w && fill(w, base, a, rows);
    if (!ok) released_watch_free(w);
    *result = ok ? w : NULL;
    return ok;
}

/* ---- looking ---- */

/* |F| over what the tolerances of its variables make of it; *part: over what their sizes do */
static double misfit(const dae_solver *s, const released_watch *w, const row *r, double *part)
{
    const dae_options *o = &s->base_options;
    int n = s->base->form.n;
    double size = 0.0, whole = 0.0, f = fabs(w->value[r->first]);
    for (int k = r->first + 1; k <= r->first + r->count; k++) {
        const slot *at = &w->slots[k];
        double seen = at->order > 0 ? 0.0 : s->run.sizes[at->index];
        double value = fmax(fabs(w->y[at->order > 0 ? n + at->index : at->index]), seen);
        size += fabs(w->value[k]) * (o->rtol * value + o->atol);
        whole += fabs(w->value[k]) * value;
    }
    *part = whole > 0.0 ? f / whole : 0.0;
    return size > 0.0 ? f / size : 0.0;
}

static bool evaluate(dae_solver *s, released_watch *w, double t)
{
    const model_instance *m = s->reform->base_instance;
    int n = s->base->form.n;
    if (!w->y || w->own_n < s->bound.n) {
        dae_free(w->y);
        w->y = DAE_ARRAY(double, 2 * (size_t)(n + s->bound.n));
        if (!w->y) return false;
        w->own = w->y + 2 * n;
        w->own_n = s->bound.n;
    }
    solver_interpolate(s, t, 0, w->own);
    solver_interpolate(s, t, 1, w->own + s->bound.n);
    solver_to_base(s, t, w->own, w->own + s->bound.n, w->y, w->y + n);
    tape_inputs in = {t, {w->y, w->y + n}, m->parameters, s->hybrid->instance->memory};
    code_prepare(&w->code, &in);
    code_run(&w->code, &in, w->value);
    return true;
}

static dae_status report(dae_solver *s, const released_watch *w, const row *r, double t)
{
    enum { MOST = 4 };
    int listed = 0;
    diag_equation(&s->diag, -1, r->name);
    s->diag.line = r->line;
    s->diag.t = t;
    s->diag.value = w->value[r->first];
    diag_set(&s->diag, DAE_ERR_SINGULAR, "These constraints cannot hold together any more: %s and",
             r->name);
    for (int k = 0; k < w->count; k++)
        if (!w->rows[k].released && listed++ < MOST)
            diag_append(&s->diag, "%s %s", listed > 1 ? "," : "", w->rows[k].name);
    diag_append(&s->diag,
                "%s. They restrict the same motion and did agree before, but at t = %.9g the first "
                "is off by %.6g where the other%s. Correct one of them, or leave it out.",
                listed > MOST ? ", .." : "", t, w->value[r->first],
                listed == 1 ? " holds" : "s hold");
    return DAE_ERR_SINGULAR;
}

static dae_status look_at(dae_solver *s, released_watch *w, double t)
{
    double kept = 0.0, worst = 0.0, part, share = 0.0;
    int at = -1;
    if (!evaluate(s, w, t)) return reform_exhausted(s);
    for (int k = 0; k < w->count; k++) {
        double off = misfit(s, w, &w->rows[k], &part);
        if (!w->rows[k].released) kept = fmax(kept, off);
        if (w->rows[k].released && off > worst) worst = off, share = part, at = k;
    }
    bool far = worst > FAR || (worst > NEAR && share > PART);
    bool apart = at >= 0 && far && worst > MORE * kept;
    return apart ? report(s, w, &w->rows[at], t) : DAE_OK;
}

/* The same for constraints of callbacks. */
static dae_status look_at_forms(dae_solver *s)
{
    double off = 0.0;
    int l = form_instance_apart(s->bound.forms, s->run.t_new, s->run.last.y, s->bound.norm.weights,
                                FAR, MORE, &off);
    if (l < 0) return DAE_OK;
    diag_equation(&s->diag, -1, form_instance_constraint_name(s->bound.forms, l));
    s->diag.t = s->run.t_new;
    s->diag.value = off;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Constraint %s cannot hold any more together with the constraints that it "
                    "followed from before: at t = %.9g it is off by %.6g where they hold. Correct "
                    "one of them, or leave it out.",
                    s->diag.equation_name, s->run.t_new, off);
}

dae_status released_watch_step(dae_solver *s)
{
    if (s->bound.forms && !s->hybrid && !solver_uses_forms(s)) return look_at_forms(s);
    if (!reform_active(s) || !s->reform->current->released) return DAE_OK;
    released_watch *w = s->reform->current->released;
    dae_status status = look_at(s, w, s->run.t_new);
    if (status == DAE_OK) return status;
    dae_diag later = s->diag;
    dae_status before = look_at(s, w, s->run.t_old); /* where they part */
    if (before == DAE_OK) s->diag = later;
    return status;
}
