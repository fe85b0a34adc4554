#include "solve/run/rank_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "linalg/singular_values.h"
#include "solve/bind/reform_parts.h"
#include "solve/hybrid/hybrid_parts.h"
#include "structure/rewrite/certificate.h"

enum {
    LARGEST_BLOCK = 20, /* its factors cost what a step of so many unknowns does */
    MOST_ENTRIES = 400, /* of all blocks that are watched */
    NAMES = 400
};
/* What a determinant comes down to at its zero, against the most that it was. Where a branch or a
 * pole makes it jump, it does not. */
static const double VANISHES = 1e-6;
/* Of the time run so far: nothing touches zero within a step of this part unseen. */
static const double BRIEF = 1e-6;
/* What is left of a speed at rest. */
static const double RESTS = 1e-6;
/* Golden sections to a zero of |x| have come to 0.618^SIGHT of where they began: a least value
 * above this part is none. */
static const double SEEN = 0.05;
enum { SIGHT = 12 };
enum { BISECTIONS = 100, NARROWINGS = 80 };

/* One diagonal block. */
typedef struct watched {
    int size, first;             /* entries from `first` on: size x size, by columns */
    bool leading;                /* all of its unknowns are derivatives */
    bool own;                    /* its entries depend on its own unknowns: nonlinear in these */
    bool told;                   /* that it comes to rest */
    int unknown[LARGEST_BLOCK];  /* of the base form: i for y_i, n + i for y'_i */
    double fastest;              /* the most that one of them was */
    double before, most;         /* determinant where the last step ended; 0: not known; largest */
    double trend;                /* its mean slope in the step before; NAN: not known */
    char rows[NAMES], of[NAMES]; /* names of its equations and unknowns */
    int line;
} watched;

/* An unknown of the base form that entries depend on, or its derivative. */
typedef struct needed {
    int unknown;
    bool slope;
} needed;

struct rank_watch {
    watched *block; /* owned */
    int count, entries;
    expr_code code;        /* of the entries; owned */
    double *value, *dense; /* entries; work of a determinant; owned: one block */
    needed *need;          /* of the entries; owned */
    int need_count;
    double *y, *own; /* y, y' of the base form, and of the form at work; owned: one block */
    int n, own_n;    /* for which there is room */
    double t;        /* where `before` was taken */
    bool fresh;      /* nothing was looked at since the method started */
};

void rank_watch_free(rank_watch *w)
{
    if (!w) return;
    dae_free(w->block);
    dae_free(w->value);
    dae_free(w->need);
    dae_free(w->y);
    if (w->code.tape) code_free(&w->code);
    dae_free(w);
}

int rank_watch_blocks(const rank_watch *w)
{
    return w ? w->count : 0;
}

/* ---- signs of expressions ---- */

/* What is known of a value whatever the leaves are. */
typedef enum sign_of { SIGN_OPEN = 0, SIGN_NOT_NEGATIVE, SIGN_POSITIVE } sign_of;

/* Expressions share their parts, and a walk that takes each of them as often as it is used may
 * have no end: nothing is known of an expression with more parts than these. */
enum { MOST_PARTS = 1000 };

static sign_of find_sign(const graph *g, expr e, int *parts_left);

static sign_of sign_of_product(const graph *g, const expr_node *n, int *parts_left)
{
    sign_of a = find_sign(g, n->a, parts_left), b = find_sign(g, n->b, parts_left);
    if (n->a == n->b) return a == SIGN_POSITIVE ? SIGN_POSITIVE : SIGN_NOT_NEGATIVE;
    if (a == SIGN_OPEN || b == SIGN_OPEN) return SIGN_OPEN;
    return a < b ? a : b;
}

static sign_of sign_of_power(const graph *g, const expr_node *n, int *parts_left)
{
    double power;
    if (find_sign(g, n->a, parts_left) == SIGN_POSITIVE) return SIGN_POSITIVE;
    bool even = graph_is_constant(g, n->b, &power) && fmod(power, 2.0) == 0.0 && power > 0.0;
    return even ? SIGN_NOT_NEGATIVE : SIGN_OPEN;
}

static sign_of find_sign(const graph *g, expr e, int *parts_left)
{
    const expr_node *n = graph_node(g, e);
    sign_of a, b;
    if ((*parts_left)-- <= 0) return SIGN_OPEN;
    switch (n->op) {
    case EXPR_CONSTANT: return n->value > 0.0 ? SIGN_POSITIVE : n->value == 0.0;
    case EXPR_EXP:
    case EXPR_COSH: return SIGN_POSITIVE;
    case EXPR_ABS:
    case EXPR_SQRT: return SIGN_NOT_NEGATIVE;
    case EXPR_ADD:
        a = find_sign(g, n->a, parts_left), b = find_sign(g, n->b, parts_left);
        if (a == SIGN_OPEN || b == SIGN_OPEN) return SIGN_OPEN;
        return a > b ? a : b;
    case EXPR_MUL:
    case EXPR_DIV: return sign_of_product(g, n, parts_left);
    case EXPR_POW: return sign_of_power(g, n, parts_left);
    default: return SIGN_OPEN;
    }
}

/* Whether e keeps its sign for certain: what it says of parameters holds for all steps. */
static bool keeps_sign(const graph *g, expr e, int *parts_left)
{
    const expr_node *n = graph_node(g, e);
    if ((*parts_left)-- <= 0) return false;
    if (n->op == EXPR_NEG) return keeps_sign(g, n->a, parts_left);
    if (n->op == EXPR_MUL || n->op == EXPR_DIV)
        return keeps_sign(g, n->a, parts_left) && keeps_sign(g, n->b, parts_left);
    if (n->op == EXPR_PARAMETER || n->op == EXPR_MEMORY) return true;
    return find_sign(g, e, parts_left) == SIGN_POSITIVE ||
           (n->op == EXPR_CONSTANT && n->value != 0.0);
}

/* ---- blocks ---- */

/* Entries over the unknowns of the base form. */
typedef struct collector {
    const equation_set *set;
    const structure *s;
    const system_jacobian *J;
    bool varies, reachable; /* of the entries walked over */
    int block;              /* at hand, */
    bool own;               /* and whether they depend on its unknowns */
} collector;

/* VARIABLE(j, p) of the set as an unknown of the base form, or a derivative of one */
static expr base_leaf(void *context, graph *g, expr leaf)
{
    const equation_set *set = ((const collector *)context)->set;
    const expr_node n = *graph_node(g, leaf);
    if (n.op != EXPR_VARIABLE) return leaf;
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->variable != n.index || n.order < v->order || n.order > v->order + 1) continue;
        expr e = graph_variable(g, v->model, n.order - v->order);
        return v->sign < 0 ? graph_unary(g, EXPR_NEG, e) : e;
    }
    return graph_variable(g, set->model[n.index], n.order);
}

static bool is_reachable(const equation_set *set, int j, int order)
{
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->variable == j && (order == v->order || order == v->order + 1)) return true;
    }
    return set->model[j] >= 0 && order <= 1;
}

static void note_leaf(void *context, expr leaf)
{
    collector *c = context;
    const expr_node *n = graph_node(c->set->graph, leaf);
    if (n->op == EXPR_VARIABLE || n->op == EXPR_TIME) c->varies = true;
    if (n->op == EXPR_VARIABLE && c->s->blocks.of_column[n->index] == c->block)
        c->own = c->own || n->order == c->s->d[n->index];
    if (n->op == EXPR_VARIABLE && !is_reachable(c->set, n->index, n->order)) c->reachable = false;
}

static int place_in(const block_form *f, int b, int column)
{
    int k = f->start[b];
    while (f->columns[k] != column) k++;
    return k - f->start[b];
}

/* Whether block b can and need be watched. False in *ok: memory */
static bool is_worth_it(collector *c, int b, bool *ok)
{
    const block_form *f = &c->s->blocks;
    int size = f->start[b + 1] - f->start[b];
    if (size > LARGEST_BLOCK) return false;
    c->varies = c->own = false;
    c->reachable = true;
    c->block = b;
    for (int k = f->start[b]; k < f->start[b + 1]; k++)
        for (int e = c->J->start[f->rows[k]]; e < c->J->start[f->rows[k] + 1]; e++) {
            if (f->of_column[c->J->column[e]] != b) continue;
            *ok = *ok && graph_leaves(c->set->graph, &c->J->entry[e], 1, note_leaf, c);
            int parts_left = MOST_PARTS;
            if (size == 1 && keeps_sign(c->set->graph, c->J->entry[e], &parts_left)) return false;
        }
    return c->varies && c->reachable;
}

/* "a, b, c and 2 more" at the end of a text of NAMES characters */
static void add_name(char *text, int k, int count, const char *name)
{
    enum { MOST = 4 };
    size_t used = strlen(text);
    if (k < MOST)
        snprintf(text + used, NAMES - used, "%s%.90s", k ? ", " : "", name);
    else if (k == MOST)
        snprintf(text + used, NAMES - used, " and %d more", count - MOST);
}

/* VARIABLE(j, p) among y, y' of the base form, which has n of each; -1: it is not there */
static int base_place(const equation_set *set, int j, int p, int n)
{
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->variable == j && (p == v->order || p == v->order + 1))
            return v->model + (p - v->order) * n;
    }
    return set->model[j] >= 0 && p <= 1 ? set->model[j] + p * n : -1;
}

static void describe_block(const collector *c, int b, int n, watched *w)
{
    const block_form *f = &c->s->blocks;
    char name[160];
    w->leading = true;
    w->line = c->set->row[f->rows[f->start[b]]].line;
    for (int k = 0; k < w->size; k++) {
        int i = f->rows[f->start[b] + k], j = f->columns[f->start[b] + k], p = c->s->d[j];
        if (p == 0) w->leading = false;
        w->unknown[k] = base_place(c->set, j, p, n);
        add_name(w->rows, k, w->size, c->set->row[i].name);
        const char *of = equation_set_variable(c->set, j, p, name, sizeof name);
        add_name(w->of, k, w->size, of[0] == '-' ? of + 1 : of);
    }
}

/* Entries of block b by columns, zeros too, behind those that are there. */
static void put_entries(collector *c, int b, watched *w, expr *entry)
{
    graph *g = c->set->graph;
    const block_form *f = &c->s->blocks;
    expr *to = entry + w->first;
    for (int k = 0; k < w->size * w->size; k++) to[k] = graph_constant(g, 0.0);
    for (int k = 0; k < w->size; k++) {
        int row = f->rows[f->start[b] + k];
        for (int e = c->J->start[row]; e < c->J->start[row + 1]; e++) {
            int column = c->J->column[e];
            if (f->of_column[column] != b) continue;
            to[k + place_in(f, b, column) * w->size] =
                graph_substitute(g, c->J->entry[e], base_leaf, c);
        }
    }
}

/* The blocks, their entries in `entry`, which has room for MOST_ENTRIES. */
static bool collect_blocks(rank_watch *w, collector *c, int n, expr *entry)
{
    const block_form *f = &c->s->blocks;
    bool ok = true;
    for (int b = 0; b < f->count && ok; b++) {
        int size = f->start[b + 1] - f->start[b];
        if (!is_worth_it(c, b, &ok) || w->entries + size * size > MOST_ENTRIES) continue;
        watched *next = &w->block[w->count++];
        *next = (watched){.size = size, .first = w->entries};
        w->entries += size * size;
        describe_block(c, b, n, next);
        next->own = c->own;
        put_entries(c, b, next, entry);
    }
    return ok && !graph_failed(c->set->graph);
}

static void add_need(rank_watch *w, int unknown, bool slope)
{
    if (w->need) w->need[w->need_count] = (needed){unknown, slope};
    w->need_count++;
}

typedef struct need_list {
    const graph *g;
    rank_watch *w;
} need_list;

static void note_need(void *context, expr leaf)
{
    const need_list *list = context;
    const expr_node *n = graph_node(list->g, leaf);
    if (n->op == EXPR_VARIABLE) add_need(list->w, n->index, n->order > 0);
}

/* What entries depend on, and the unknowns of blocks that may come to rest. */
static bool note_needs(rank_watch *w, const graph *g, const expr *entry, int n)
{
    need_list list = {g, w};
    w->need_count = 0;
    for (int b = 0; b < w->count; b++)
        for (int k = 0; w->block[b].own && k < w->block[b].size; k++) {
            int at = w->block[b].unknown[k];
            if (at >= 0) add_need(w, at % n, at >= n);
        }
    return graph_leaves(g, entry, (size_t)w->entries, note_need, &list);
}

/* These are counted first, then noted. */
static bool list_needs(rank_watch *w, const graph *g, const expr *entry, int n)
{
    if (!note_needs(w, g, entry, n)) return false;
    w->need = DAE_ARRAY(needed, w->need_count > 0 ? w->need_count : 1);
    return w->need && note_needs(w, g, entry, n);
}

bool rank_watch_new(rank_watch **result, const analysed *a, int n)
{
    graph *g = a->set.graph;
    system_jacobian J = {0};
    rank_watch *w = DAE_NEW(rank_watch);
    expr *entry = DAE_ARRAY(expr, MOST_ENTRIES);
    *result = NULL;
    bool ok = w && entry && system_jacobian_new(&J, &a->set, &a->structure);
    collector c = {.set = &a->set, .s = &a->structure, .J = &J};
    int most = a->structure.blocks.count < MOST_ENTRIES ? a->structure.blocks.count : MOST_ENTRIES;
    if (ok) w->block = DAE_ARRAY(watched, most > 0 ? most : 1);
    ok = ok && w->block && collect_blocks(w, &c, n, entry);
    if (ok && w->count > 0) {
        ok = code_new(&w->code, g, entry, (size_t)w->entries) && list_needs(w, g, entry, n);
        w->value = DAE_ARRAY(double, w->entries + LARGEST_BLOCK * LARGEST_BLOCK);
        ok = ok && w->value;
        w->dense = ok ? w->value + w->entries : NULL;
        w->fresh = true;
    }
    system_jacobian_free(&J);
    dae_free(entry);
    if (ok && w->count > 0)
        *result = w;
    else
        rank_watch_free(w);
    return ok;
}

/* ---- determinants ---- */

/* det A by elimination with pivots; A is used up */
static double determinant(int n, double *A)
{
    double det = 1.0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i + k * n]) > fabs(A[best + k * n])) best = i;
        if (!(fabs(A[best + k * n]) > 0.0)) return A[best + k * n] == 0.0 ? 0.0 : (double)NAN;
        if (best != k) det = -det;
        for (int j = k; j < n && best != k; j++) {
            double swap = A[k + j * n];
            A[k + j * n] = A[best + j * n];
            A[best + j * n] = swap;
        }
        det *= A[k + k * n];
        for (int i = k + 1; i < n; i++) {
            double factor = A[i + k * n] / A[k + k * n];
            for (int j = k + 1; factor != 0.0 && j < n; j++) A[i + j * n] -= factor * A[k + j * n];
        }
    }
    return det;
}

static double block_determinant(rank_watch *w, const watched *b)
{
    memcpy(w->dense, w->value + b->first, (size_t)(b->size * b->size) * sizeof *w->dense);
    return determinant(b->size, w->dense);
}

/* Unknowns of the base form that entries depend on. Those that a formulation sees through are
 * evaluated, with all others of their kind. */
static void take_values(const dae_solver *s, rank_watch *w, double t, const double *own,
                        const double *slope)
{
    double *y = w->y, *yp = w->y + w->n;
    const model_form *f = reform_active(s) ? s->reform->current->form : NULL;
    for (int k = 0; k < w->need_count; k++) {
        int i = w->need[k].unknown;
        if (f && f->seen_at[i] >= 0) {
            solver_to_base(s, t, own, slope, y, yp);
            return;
        }
        (w->need[k].slope ? yp : y)[i] =
            reform_value_at(reform_place(s, i, w->need[k].slope), own, slope);
    }
}

/* Entries where the unknowns have these values. */
static void evaluate(dae_solver *s, rank_watch *w, double t, const double *own, const double *slope)
{
    const model_instance *m = s->reform->base_instance;
    take_values(s, w, t, own, slope);
    tape_inputs in = {t, {w->y, w->y + w->n}, m->parameters, s->hybrid->instance->memory};
    if (w->fresh) code_prepare(&w->code, &in);
    w->fresh = false;
    code_run(&w->code, &in, w->value);
}

/* Entries at a time of the last step. */
static void evaluate_at(dae_solver *s, rank_watch *w, double t)
{
    solver_interpolate(s, t, 0, w->own);
    solver_interpolate(s, t, 1, w->own + s->bound.n);
    evaluate(s, w, t, w->own, w->own + s->bound.n);
}

static double determinant_at(dae_solver *s, rank_watch *w, const watched *b, double t)
{
    evaluate_at(s, w, t);
    return block_determinant(w, b);
}

/* ---- zeros ---- */

/* A change of sign between the ends of the step: *t where it is; false: it jumps there. */
static bool locate_sign(dae_solver *s, rank_watch *w, const watched *b, double end, double *t)
{
    double lo = w->t, hi = s->run.t_new, at_lo = b->before, at_hi = end;
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = lo + 0.5 * (hi - lo);
        if (middle == lo || middle == hi) break;
        double value = determinant_at(s, w, b, middle);
        if (!isfinite(value)) return false;
        bool left = value * at_lo > 0.0;
        if (left) lo = middle, at_lo = value;
        if (!left) hi = middle, at_hi = value;
        if (value == 0.0) break;
    }
    *t = hi;
    return fmin(fabs(at_lo), fabs(at_hi)) <= VANISHES * b->most;
}

/* The least |det| within the step, by golden sections around its middle: whether it is zero. */
static bool locate_touch(dae_solver *s, rank_watch *w, const watched *b, double *t)
{
    double lo = w->t, hi = s->run.t_new;
    double p = lo + (1.0 - GOLDEN) * (hi - lo), q = lo + GOLDEN * (hi - lo);
    double at_p = fabs(determinant_at(s, w, b, p)), at_q = fabs(determinant_at(s, w, b, q));
    const double far = fmax(fabs(b->before), fmax(at_p, at_q));
    for (int k = 0; k < NARROWINGS && at_p != at_q; k++) {
        if (k == SIGHT && fmin(at_p, at_q) > SEEN * far) return false;
        if (at_p < at_q) {
            hi = q, q = p, at_q = at_p, p = lo + (1.0 - GOLDEN) * (hi - lo);
            at_p = fabs(determinant_at(s, w, b, p));
        } else {
            lo = p, p = q, at_p = at_q, q = lo + GOLDEN * (hi - lo);
            at_q = fabs(determinant_at(s, w, b, q));
        }
    }
    *t = at_p < at_q ? p : q;
    return fmin(at_p, at_q) <= VANISHES * VANISHES * b->most;
}

/* Whether |det| falls into the step from both of its ends, so that it has a least value within. It
 * comes to zero there only if it was on its way: c |t - t0|^p falls by p/a of its value in a step
 * that begins at the part a of it before t0, if it goes on as it did in the step before. */
static bool may_touch(dae_solver *s, rank_watch *w, const watched *b, double end)
{
    static const double BESIDE = 1e-3, ON_ITS_WAY = 0.5;
    double h = BESIDE * (s->run.t_new - w->t), change = fabs(b->trend * (s->run.t_new - w->t));
    /* of a step that short the ends tell what is within */
    bool brief = fabs(s->run.t_new - w->t) <= BRIEF * fabs(s->run.t_new - s->hybrid->started);
    if (!b->leading || brief) return false;
    if (change < ON_ITS_WAY * fmin(fabs(b->before), fabs(end))) return false;
    return fabs(determinant_at(s, w, b, w->t + h)) < fabs(b->before) &&
           fabs(determinant_at(s, w, b, s->run.t_new - h)) < fabs(end);
}

static dae_status report(dae_solver *s, const watched *b, double t)
{
    diag_equation(&s->diag, -1, b->rows);
    s->diag.line = b->line;
    s->diag.t = t;
    s->hybrid->branch_ended = strstr(b->of, "der(") == NULL; /* algebraic ones only */
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index changes at t = %.9g: there %s cannot be solved any more for %s, as "
                    "a factor passes through zero. What comes next is not determined by the model, "
                    "or not in this way.",
                    t, b->rows, b->of);
}

/* The largest of the unknowns of a block where entries were evaluated last. */
static double speed_of(const rank_watch *w, const watched *b)
{
    double most = 0.0;
    for (int k = 0; k < b->size; k++) {
        if (b->unknown[k] < 0) return INFINITY;
        most = fmax(most, fabs(w->y[b->unknown[k]]));
    }
    return most;
}

/* Whether the block is singular at t because its unknowns are zero there, as q |q| = p1 - p2 where
 * a flow between two tanks ends: that is a rest, and to stay there a solution. Where the sign of
 * the determinant changes it is not looked for. */
static bool comes_to_rest(dae_solver *s, rank_watch *w, watched *b, double t)
{
    char text[NAMES + 400];
    if (!b->own) return false;
    evaluate_at(s, w, t);
    if (!(speed_of(w, b) <= RESTS * b->fastest)) return false;
    snprintf(text, sizeof text,
             "note: %.300s cannot be solved for %.100s from t = %.6g on, where that comes to rest. "
             "It stays there; if other solutions leave the rest, the model does not choose.",
             b->rows, b->of, t);
    if (!b->told) hybrid_tell(s, text);
    b->told = true;
    return true;
}

/* One block at the end of the step, where its determinant is `end`. */
static dae_status look_at_block(dae_solver *s, rank_watch *w, watched *b, double end)
{
    double t = s->run.t_new, before = b->before;
    bool found = false;
    if (isfinite(end)) b->most = fmax(b->most, fabs(end));
    if (b->own) b->fastest = fmax(b->fastest, speed_of(w, b));
    if (!isfinite(end) || before == 0.0 || !isfinite(before)) {
        b->before = isfinite(end) ? end : 0.0;
        b->trend = NAN;
        return DAE_OK;
    }
    /* An algebraic equation that touches zero there, as q |q| = p does where a flow ends, leaves q
     * to the derivative of p, and goes on; behind a change of its sign it would not. */
    if (end == 0.0 && !b->leading) return DAE_OK;
    if (end * before < 0.0)
        found = locate_sign(s, w, b, end, &t);
    else if (end == 0.0)
        found = !comes_to_rest(s, w, b, t);
    else if (may_touch(s, w, b, end))
        found = locate_touch(s, w, b, &t) && !comes_to_rest(s, w, b, t);
    b->trend = (end - before) / (s->run.t_new - w->t);
    b->before = end;
    return found ? report(s, b, t) : DAE_OK;
}

/* ---- the driver's calls ---- */

static rank_watch *watch_of(const dae_solver *s)
{
    if (!s->hybrid || !s->reform || !s->reform->slots_known || s->hybrid->instance->array)
        return NULL;
    variant *v = s->reform->current;
    if (!v) v = variant_find(s->reform, s->hybrid->instance->memory);
    return v ? v->watch : NULL;
}

bool rank_watch_may_fold(const dae_solver *s)
{
    const rank_watch *w = watch_of(s);
    bool any = s->base->form.n > LARGEST_BLOCK; /* it does not watch all of them then */
    for (int k = 0; w && k < w->count; k++) any = any || !w->block[k].leading;
    return any;
}

void rank_watch_restart(dae_solver *s)
{
    rank_watch *w = watch_of(s);
    if (!w) return;
    w->fresh = true;
    for (int k = 0; k < w->count; k++) {
        w->block[k].before = w->block[k].most = 0.0;
        w->block[k].trend = NAN;
    }
}

static bool make_room(const dae_solver *s, rank_watch *w)
{
    int n = s->base->form.n;
    if (w->y && w->n == n && w->own_n >= s->bound.n) return true;
    dae_free(w->y);
    w->y = DAE_ARRAY(double, 2 * (size_t)(n + s->bound.n));
    w->own = w->y ? w->y + 2 * n : NULL;
    w->n = n;
    w->own_n = s->bound.n;
    return w->y;
}

dae_status rank_watch_step(dae_solver *s)
{
    rank_watch *w = watch_of(s);
    dae_status status = DAE_OK;
    /* a derivative array is at work where the blocks are singular all along, and takes no part of
     * them: the signs of their determinants are rounding */
    if (!w || s->hybrid->instance->array) return DAE_OK;
    if (!make_room(s, w))
        return diag_set(&s->diag, DAE_ERR_MEMORY,
                        "Out of memory for the watch of singular points.");
    double end[MOST_ENTRIES];
    if (w->fresh || w->t != s->run.t_old) {
        evaluate_at(s, w, s->run.t_old);
        for (int k = 0; k < w->count; k++) {
            watched *b = &w->block[k];
            b->most = fabs(b->before = block_determinant(w, b));
            b->trend = NAN;
        }
        w->t = s->run.t_old;
    }
    evaluate(s, w, s->run.t_new, s->run.last.y, s->run.last.yp);
    for (int k = 0; k < w->count; k++) end[k] = block_determinant(w, &w->block[k]);
    for (int k = 0; k < w->count && status == DAE_OK; k++)
        status = look_at_block(s, w, &w->block[k], end[k]);
    w->t = s->run.t_new;
    return status;
}
