/* The loop: certify, rewrite what is deficient, analyse again. */
#include "structure/rewrite/regularise.h"

#include "base/memory.h"
#include "base/vector.h"
#include "expr/derive.h"
#include "structure/rewrite/regularise_parts.h"
#include "structure/rewrite/zeros.h"

#include <limits.h>
#include <stdio.h>

enum { MOST_ROUNDS = 200 };

void rewrite_list_free(rewrite_list *steps)
{
    for (int k = 0; k < steps->count; k++) dae_free(steps->step[k].text);
    for (int k = 0; k < steps->name_count; k++) dae_free(steps->names[k]);
    dae_free_all(steps->step, steps->names);
    *steps = (rewrite_list){0};
}

/* ---- the point, with values for everything ------------------------------------------------------
 */

/* A point that grows with the set: derivatives that were not given, and new variables. */
typedef struct private_point {
    equation_point point; /* x refers to `rows` */
    double *values;       /* owned: (orders + 1) n */
    const double **rows;  /* owned */
    bool *zero;           /* of the `zeros` variables that were given: zero by zeros.h; owned */
    int n, zeros;
} private_point;

static void private_point_free(private_point *p)
{
    dae_free_all(p->values, p->rows, p->zero);
    *p = (private_point){0};
}

/* A size like the nominal one that has nothing to do with the equations. */
static double generic_value(const equation_set *set, int j, int p)
{
    return set->nominal[j] * (0.5 + 0.37 * sin(1.0 + 2.3 * j + 1.7 * p));
}

/* Values of the first `known` variables from `at`, generic where it has none. */
static bool private_point_new(private_point *p, const equation_set *set, const equation_point *at,
                              int known, int orders)
{
    const size_t n = (size_t)set->n;
    *p = (private_point){.point = *at, .n = set->n};
    p->values = DAE_ARRAY(double, n *(size_t)(orders + 1));
    p->rows = DAE_ARRAY(const double *, orders + 1);
    if (!p->values || !p->rows) {
        private_point_free(p);
        return false;
    }
    for (int q = 0; q <= orders; q++) {
        p->rows[q] = p->values + (size_t)q * n;
        for (int j = 0; j < set->n; j++) {
            bool given = j < known && q <= at->orders && at->x[q];
            p->values[(size_t)q * n + (size_t)j] = given ? at->x[q][j] : generic_value(set, j, q);
        }
    }
    p->point.x = p->rows;
    p->point.orders = orders;
    return true;
}

/* y^(q), q <= orders, from its definition -y + g = 0, as far as that can be evaluated. */
static bool define_value(private_point *p, const equation_set *set, int y, expr residual)
{
    graph *g = set->graph;
    for (int q = 0; q <= p->point.orders; q++) {
        double *slot = p->values + (size_t)q * (size_t)p->n + y;
        *slot = 0.0; /* so that the residual is g^(q) */
        double value = equation_set_value(set, residual, &p->point);
        *slot = isfinite(value) ? value : generic_value(set, y, q);
        residual = derive_time(g, residual);
        if (residual == EXPR_NONE) return !graph_failed(g);
    }
    return true;
}

/* Values of variables that a substitution added: rows from `first` on define them, one each. */
static bool private_point_extend(private_point *p, const equation_set *set)
{
    private_point larger;
    const int known = p->n;
    if (!private_point_new(&larger, set, &p->point, known, p->point.orders)) return false;
    bool ok = true;
    larger.zero = p->zero;
    larger.zeros = p->zeros;
    p->zero = NULL;
    for (int y = known; ok && y < set->n; y++)
        ok = define_value(&larger, set, y, set->row[y].residual);
    private_point_free(p);
    *p = larger;
    return ok;
}

/* ---- one round ----------------------------------------------------------------------------------
 */

/* Everything that a round works with. */
typedef struct round_data {
    system_jacobian J;
    certify_watch watch;
    int *defect;   /* by blocks, owned */
    double *value; /* owned */
    int *place;    /* of rows within their blocks; owned */
} round_data;

static void round_free(round_data *d)
{
    certify_watch_free(&d->watch);
    system_jacobian_free(&d->J);
    dae_free_all(d->defect, d->value, d->place);
}

static bool round_new(round_data *d, const equation_set *set, const structure *s, double tolerance)
{
    *d = (round_data){0};
    d->defect = DAE_ARRAY(int, s->blocks.count);
    bool ok = d->defect && system_jacobian_new(&d->J, set, s);
    ok = ok && certify_watch_new(&d->watch, &d->J, s, tolerance);
    if (ok) d->value = DAE_ARRAY(double, d->J.start[d->J.n]);
    d->place = DAE_ARRAY(int, set->n);
    ok = ok && d->value && d->place;
    for (int b = 0; ok && b < s->blocks.count; b++)
        for (int k = s->blocks.start[b]; k < s->blocks.start[b + 1]; k++)
            d->place[s->blocks.rows[k]] = k - s->blocks.start[b];
    if (!ok) round_free(d);
    return ok;
}

/* Rewrite because of one block: first what holds for any parameters, then for those given. */
static int rewrite_block(rewriting *r, int b)
{
    int (*const methods[])(rewriting *, int) = {rewrite_idle, rewrite_combination,
                                                rewrite_substitution};
    r->singular_point = true;
    for (int vary = 1; vary >= 0; vary--) {
        r->sample.parameters = vary;
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            int done = methods[k](r, b);
            if (done && !vary) r->steps->everywhere = false;
            if (done) return done;
        }
    }
    return 0;
}

static void tell_stuck(rewriting *r, int b)
{
    char *text = r->steps->reason;
    const size_t size = sizeof r->steps->reason;
    const block_form *f = &r->s->blocks;
    text[0] = '\0';
    text_add(text, size, "the system Jacobian of ");
    text_list list = {.text = text, .size = size, .most = 5};
    for (int k = f->start[b]; k < f->start[b + 1]; k++) {
        char name[200] = "";
        text_add_row(r->set, name, sizeof name, f->rows[k]);
        text_list_add(&list, "%s", name);
    }
    text_list_end(&list);
    text_add(text, size, "%s",
             r->singular_point
                 ? " is singular at this point, but not around it"
                 : " is singular everywhere, and neither a linear combination nor a substitution"
                   " with the conditions that make it safe was found");
}

/* All deficient blocks; a substitution renumbers nothing but ends the round. 1: something was
 * rewritten, 0: nothing, -1: memory */
static int rewrite_round(rewriting *r, const int *defect)
{
    int done = 0, stuck = -1;
    const int n = r->set->n;
    for (int b = 0; b < r->s->blocks.count && r->set->n == n; b++) {
        if (defect[b] == 0) continue;
        int state = rewrite_block(r, b);
        if (state < 0) return -1;
        if (state) done = 1;
        if (!state && stuck < 0) {
            stuck = b;
            tell_stuck(r, b);
        }
    }
    return done;
}

/* Mark blocks whose leading derivatives are needed once more: those with a variable of offset 0,
 * of which x_j' is asked, and what they use. An equation uses columns of its own and of earlier
 * blocks, so that one sweep from the last block does. */
static void mark_needed(const equation_set *set, const structure *s, bool *needed)
{
    const block_form *f = &s->blocks;
    for (int k = 0; k < set->synonym_count; k++) { /* v = x_j^(d_j) has offset 0 itself */
        const equation_synonym *v = &set->synonym[k];
        if (v->order == s->d[v->variable]) needed[f->of_column[v->variable]] = true;
    }
    for (int b = f->count - 1; b >= 0; b--) {
        for (int k = f->start[b]; k < f->start[b + 1]; k++)
            if (s->d[f->columns[k]] == 0) needed[b] = true;
        for (int k = f->start[b]; needed[b] && k < f->start[b + 1]; k++) {
            const int i = f->rows[k];
            for (int e = s->sigma.start[i]; e < s->sigma.start[i + 1]; e++) {
                const int j = s->sigma.column[e];
                if (s->sigma.order[e] == s->d[j] - s->c[i]) needed[f->of_column[j]] = true;
            }
        }
    }
}

int regularised_index(const equation_set *set, const structure *s)
{
    int most = 0;
    bool *needed = DAE_ARRAY(bool, s->blocks.count);
    if (!needed) return -1;
    mark_needed(set, s, needed);
    for (int i = 0; i < set->n; i++) {
        int times = set->row[i].times + s->c[i] + needed[s->blocks.of_row[i]];
        if (times > most) most = times;
    }
    dae_free(needed);
    return most;
}

/* ---- the loop -----------------------------------------------------------------------------------
 */

static int highest_order(const structure *s, int n)
{
    int most = 1;
    for (int j = 0; j < n; j++)
        if (s->d[j] > most) most = s->d[j];
    return most;
}

/* Certify, and rewrite if that fails: 1: goes on, 0: over (solved or not), -1: memory */
static int one_round(equation_set *set, structure *s, private_point *p, double tolerance,
                     rewrite_list *steps)
{
    round_data d;
    if (!round_new(&d, set, s, tolerance)) return -1;
    int state = 0;
    steps->solved = certify_watch_check(&d.watch, &p->point, d.defect);
    if (!steps->solved && !d.watch.finite) {
        snprintf(steps->reason, sizeof steps->reason,
                 "the system Jacobian could not be evaluated at this point");
    } else if (!steps->solved) {
        rewriting r = {.set = set,
                       .s = s,
                       .J = &d.J,
                       .place = d.watch.place,
                       .place_of_row = d.place,
                       .value = d.value,
                       .sample = {.set = set,
                                  .at = &p->point,
                                  .variables = p->n,
                                  .zero = p->zero,
                                  .zeros = p->zeros},
                       .steps = steps};
        state = rewrite_round(&r, d.defect);
        sampling_free(&r.sample);
    }
    round_free(&d);
    return state;
}

/* Structure of the new equations; false: memory */
static bool analyse_again(structure *s, const equation_set *set)
{
    structure_free(s);
    return structure_analyse(s, set);
}

/* How much the signature says: its value, then the number of occurrences. */
typedef struct progress {
    long value, entries;
} progress;

static progress measure_progress(const structure *s)
{
    return (progress){.value = s->freedom, .entries = s->sigma.start[s->sigma.m]};
}

static bool has_fallen(progress now, progress before)
{
    return now.value < before.value || (now.value == before.value && now.entries < before.entries);
}

static int run_rounds(equation_set *set, structure *s, private_point *p, double tolerance,
                      rewrite_list *steps)
{
    int state = 1;
    for (int k = 0; k < MOST_ROUNDS && state == 1; k++) {
        progress before = measure_progress(s);
        state = one_round(set, s, p, tolerance, steps);
        if (state != 1) break;
        if (!analyse_again(s, set)) return -1;
        if (s->singular) {
            snprintf(steps->reason, sizeof steps->reason,
                     "after the rewriting no equation is left for some variable: equations follow "
                     "from others or contradict them");
            return 0;
        }
        if (set->n > p->n && !private_point_extend(p, set)) return -1;
        if (!has_fallen(measure_progress(s), before)) {
            snprintf(steps->reason, sizeof steps->reason, "the rewriting did not simplify");
            return 0;
        }
    }
    return state < 0 ? -1 : 0;
}

/* Identities that hold at samples hold everywhere if the equations are analytic. False: memory */
static bool look_for_pieces(const equation_set *set, rewrite_list *steps)
{
    walk w = {0};
    bool ok = true;
    for (int i = 0; ok && steps->everywhere && i < set->m; i++) {
        ok = walk_from(&w, set->graph, &set->row[i].residual, 1);
        for (size_t k = 0; ok && k < w.count; k++) {
            expr_op op = (expr_op)graph_node(set->graph, w.order[k])->op;
            bool piece = op == EXPR_SELECT || op == EXPR_ABS || op == EXPR_MIN || op == EXPR_MAX ||
                         op == EXPR_RESULT || op == EXPR_SIGNAL || expr_is_step(op);
            if (piece) steps->everywhere = false;
        }
    }
    walk_free(&w);
    return ok;
}

bool regularise(equation_set *set, structure *s, const equation_point *at, double tolerance,
                rewrite_list *steps)
{
    equation_set original = {0};
    private_point p = {0};
    *steps = (rewrite_list){.everywhere = true};
    if (!s->match && !structure_analyse(s, set)) return false;
    if (s->singular) {
        snprintf(steps->reason, sizeof steps->reason, "the equations are structurally singular");
        return true;
    }
    const int orders =
        highest_order(s, set->n) > at->orders ? highest_order(s, set->n) : at->orders;
    bool ok = equation_set_copy(&original, set) && private_point_new(&p, set, at, set->n, orders);
    if (ok) p.zero = equation_zeros(set, at->parameters);
    p.zeros = set->n;
    ok = ok && p.zero && run_rounds(set, s, &p, tolerance, steps) >= 0;
    if (steps->solved) steps->reason[0] = '\0';
    if (steps->solved) ok = look_for_pieces(&original, steps) && ok;
    if (!steps->solved || !ok) {
        equation_set given = *set;
        if (original.row) {
            *set = original;
            original = given;
        }
        ok = analyse_again(s, set) && ok;
    }
    equation_set_free(&original);
    private_point_free(&p);
    if (!ok) rewrite_list_free(steps);
    return ok;
}
