#include "model/analyse.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/walk.h"
#include "structure/rewrite/zeros.h"

/* Blocks of the system Jacobian whose reciprocal condition is below this count as singular. */
static const double SINGULAR = 1e-11;

/* ---- modes ---- */

typedef struct leaf_orders {
    const graph *g;
    int *order;   /* per unknown: 1 + highest order seen by the walk at hand, 0: none */
    int *touched; /* unknowns seen */
    int count;
} leaf_orders;

static void note_leaf_order(void *context, const expr_node *node)
{
    leaf_orders *seen = context;
    if (node->op != EXPR_VARIABLE) return;
    if (seen->order[node->index] == 0) seen->touched[seen->count++] = node->index;
    if (node->order + 1 > seen->order[node->index]) seen->order[node->index] = node->order + 1;
}

/* Whether the branches of a SELECT contain the same variables in the same orders. */
static bool same_leaves(leaf_orders seen[2], expr a, expr b, bool *ok)
{
    *ok = graph_leaves(seen[0].g, &a, 1, note_leaf_order, &seen[0]) &&
          graph_leaves(seen[1].g, &b, 1, note_leaf_order, &seen[1]);
    bool same = seen[0].count == seen[1].count;
    for (int k = 0; same && k < seen[0].count; k++)
        same = seen[0].order[seen[0].touched[k]] == seen[1].order[seen[0].touched[k]];
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < seen[side].count; k++) seen[side].order[seen[side].touched[k]] = 0;
        seen[side].count = 0;
    }
    return same;
}

static void note_slot(void *context, const expr_node *node)
{
    bool *decides = context;
    if (node->op == EXPR_MEMORY) decides[node->index] = true;
}

/* Per place of the walk, bits 1u << op of the kinds of leaves below: what most questions end at.
 * Owned; NULL: memory. */
static unsigned *kinds_below(const graph *g, const walk *w)
{
    unsigned *kinds = DAE_ARRAY(unsigned, w->count);
    for (size_t i = 0; kinds && i < w->count; i++) {
        const expr_node *node = graph_node(g, w->order[i]);
        kinds[i] = node->arity ? 0u : 1u << node->op;
        for (int k = 0; k < node->arity; k++)
            kinds[i] |= kinds[walk_place(w, expr_operand(node, k))];
    }
    return kinds;
}

/* Whether the branches of a SELECT have other variables, so that its condition decides the
 * structure. */
static bool branches_differ(leaf_orders seen[2], const walk *w, const unsigned *kinds,
                            const expr_node *node, bool *ok)
{
    const unsigned memory = 1u << EXPR_MEMORY,
                   then = kinds[walk_place(w, node->b)] & READS_VARIABLES;
    if (!(kinds[walk_place(w, node->a)] & memory)) return false; /* it is no event's */
    if (then != (kinds[walk_place(w, node->c)] & READS_VARIABLES)) return true;
    return then && !same_leaves(seen, node->b, node->c, ok);
}

/* decides[k]: memory slot k is in the condition of a branch that matters. */
static bool mark_slots(const model_form *f, bool *decides)
{
    const graph *g = f->flat->graph;
    walk w = {0};
    int *work = DAE_ARRAY(int, 4 * (size_t)f->n);
    bool ok = work && walk_from(&w, g, f->residual.e, f->residual.outputs);
    unsigned *kinds = ok ? kinds_below(g, &w) : NULL;
    ok = ok && kinds;
    leaf_orders seen[2] = {{g, work, ok ? work + f->n : NULL, 0},
                           {g, ok ? work + 2 * f->n : NULL, ok ? work + 3 * f->n : NULL, 0}};
    for (size_t k = 0; ok && k < w.count; k++) {
        const expr_node *node = graph_node(g, w.order[k]);
        if (node->op == EXPR_SELECT && branches_differ(seen, &w, kinds, node, &ok) && ok)
            ok = graph_leaves(g, &node->a, 1, note_slot, decides);
    }
    walk_free(&w);
    dae_free_all(work, kinds);
    return ok;
}

bool mode_slots_find(mode_slots *slots, const model_form *f)
{
    size_t count = (size_t)f->flat->memory_count;
    bool *decides = DAE_ARRAY(bool, count);
    *slots = (mode_slots){.slot = DAE_ARRAY(int, count)};
    bool ok = decides && slots->slot && mark_slots(f, decides);
    for (size_t k = 0; ok && k < count; k++)
        if (decides[k]) slots->slot[slots->count++] = (int)k;
    dae_free(decides);
    if (!ok) mode_slots_free(slots);
    return ok;
}

/* What equations and crossing functions read. */
static bool find_reads(mode_slots *slots, const model_form *f)
{
    const graph *g = f->flat->graph;
    const model_program *const of[2] = {&f->residual, &f->crossing};
    bool **const by[2] = {&slots->read, &slots->crossed};
    bool ok = true;
    for (int k = 0; ok && k < 2; k++) {
        *by[k] = DAE_ARRAY(bool, f->flat->memory_count);
        ok = *by[k] &&
             (of[k]->outputs == 0 || graph_leaves(g, of[k]->e, of[k]->outputs, note_slot, *by[k]));
    }
    slots->felt = ok ? slots_felt(f, slots->read) : NULL;
    return slots->felt;
}

const mode_slots *mode_slots_of(model_form *f)
{
    graph *g = f->flat->graph;
    graph_enter(g);
    if (!f->slots) {
        f->slots = DAE_NEW(mode_slots);
        if (f->slots && !(mode_slots_find(f->slots, f) && find_reads(f->slots, f))) {
            mode_slots_free(f->slots);
            dae_free(f->slots);
            f->slots = NULL;
        }
    }
    graph_leave(g);
    return f->slots;
}

void mode_slots_free(mode_slots *slots)
{
    dae_free_all(slots->slot, slots->read, slots->crossed, slots->felt);
    *slots = (mode_slots){0};
}

typedef struct mode_map {
    const mode_slots *slots;
    const double *memory;
} mode_map;

/* Memory that decides the structure becomes its value. */
static expr map_mode(void *context, graph *g, expr leaf)
{
    const mode_map *map = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_MEMORY) return leaf;
    for (int k = 0; k < map->slots->count; k++)
        if (map->slots->slot[k] == node.index) return graph_constant(g, map->memory[node.index]);
    return leaf;
}

/* ---- equations ---- */

double model_variable_nominal(const model_form *f, int v)
{
    double nominal = fabs(model_form_constant(f, f->flat->variables[v].nominal));
    return isfinite(nominal) && nominal > 0.0 ? nominal : 1.0;
}

double model_form_nominal(const model_form *f, int unknown)
{
    int v = f->unknown_variable[unknown];
    return v < 0 ? 1.0 : model_variable_nominal(f, v);
}

bool model_equations(const model_form *f, const mode_slots *slots, const double *memory,
                     equation_set *set)
{
    graph *g = f->flat->graph;
    mode_map map = {slots, memory};
    if (!model_name_equations(f) || !equation_set_new(set, g, f->n, f->rows)) return false;
    set->parameter_name = f->parameter_names;
    set->memory_name = f->memory_names;
    for (int i = 0; i < f->rows; i++) {
        expr e = f->residual.e[i];
        if (slots->count > 0) e = graph_substitute(g, e, map_mode, &map);
        set->row[i] = (equation_row){e, i, 0, f->equation_names[i], f->equation_lines[i]};
    }
    for (int i = 0; i < f->n; i++) {
        set->model[i] = i;
        set->name[i] = f->unknown_names[i];
        set->nominal[i] = model_form_nominal(f, i);
    }
    if (!graph_failed(g)) return true;
    equation_set_free(set);
    return false;
}

/* ---- values ---- */

double **analysed_values(const equation_set *set, const model_point *at, int orders)
{
    size_t n = (size_t)set->n, count = (size_t)orders + 1;
    char *block = dae_calloc(count * sizeof(double *) + count * n * sizeof(double), 1);
    if (!block) return NULL;
    double **x = (double **)(void *)block, *values = (double *)(void *)(x + count);
    for (size_t p = 0; p < count; p++) x[p] = values + p * n;
    for (int j = 0; j < set->n; j++) {
        if (set->model[j] < 0) continue;
        x[0][j] = at->y[set->model[j]];
        if (orders > 0) x[1][j] = at->yp[set->model[j]];
    }
    for (int k = 0; k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->order <= orders) x[v->order][v->variable] = v->sign * at->y[v->model];
        if (v->order < orders) x[v->order + 1][v->variable] = v->sign * at->yp[v->model];
    }
    return x;
}

/* A point in general position: what is true there is true almost everywhere. Start values are often
 * zero or equal to each other, and not consistent, so that rank at the very point says little. What
 * the equations say to be zero is so there, too. False: memory */
static bool shake(double **x, const equation_set *set, int orders, const double *parameters)
{
    unsigned state = 12345;
    bool *zero = equation_zeros(set, parameters);
    if (!zero) return false;
    for (int p = 0; p <= orders; p++)
        for (int j = 0; j < set->n; j++) {
            state = state * 1664525u + 1013904223u;
            double unit = (double)(state >> 8) / 16777216.0; /* in [0, 1) */
            double size = fmax(fabs(x[p][j]), set->nominal[j]);
            x[p][j] += 1e-2 * size * (0.5 + unit);
        }
    hold_zeros(set, zero, orders, x);
    dae_free(zero);
    return true;
}

/* ---- analysis ---- */

static int largest(const int *v, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        if (v[i] > most) most = v[i];
    return most;
}

/* Above this size only the block that is singular is looked at. */
enum { LARGEST_WHOLE = 500 };

/* Name the culprits by the null vectors of the whole system Jacobian: what a singular block leaves
 * open may be determined by another one, which leaves open something else. */
static bool certify_whole(model_analysis *r, const equation_point *point)
{
    const equation_set *set = &r->reduced.set;
    structure whole = r->reduced.structure; /* with one block */
    int start[2] = {0, set->n}, *zeros = DAE_ARRAY(int, set->n);
    whole.blocks.count = 1;
    whole.blocks.start = start;
    whole.blocks.of_row = whole.blocks.of_column = zeros;
    system_jacobian J = {0};
    certificate c = {0};
    bool ok =
        zeros && system_jacobian_new(&J, set, &whole) && certify(&J, &whole, point, SINGULAR, &c);
    if (ok && !c.valid && c.row_count > 0) {
        certificate_free(&r->certificate);
        r->certificate = c;
        c = (certificate){0};
    }
    certificate_free(&c);
    system_jacobian_free(&J);
    dae_free(zeros);
    return ok;
}

/* Whether variables that were analysed have the nominal values that they had. */
static bool nominals_hold(const model_form *f, const equation_set *set)
{
    for (int j = 0; j < set->n; j++) {
        int model = set->model[j], v = model >= 0 ? f->unknown_variable[model] : -1;
        double constant;
        expr e = v >= 0 ? f->flat->variables[v].nominal : EXPR_NONE;
        if (e == EXPR_NONE || graph_is_constant(f->flat->graph, e, &constant)) continue;
        if (model_form_nominal(f, model) != set->nominal[j]) return false;
    }
    return true;
}

int model_analysis_holds(const model_form *f, const analysed *a, const model_point *at)
{
    const equation_set *set = &a->set;
    if (!a->jacobian || !nominals_hold(f, set)) return 0;
    int orders = largest(a->structure.d, set->n) + 1;
    double **x = analysed_values(set, at, orders);
    if (!x) return -1;
    equation_point point = {at->t, (const double *const *)x, orders, at->parameters, at->memory};
    certify_watch w;
    bool ok = shake(x, set, orders, at->parameters) &&
              certify_watch_new(&w, a->jacobian, &a->structure, SINGULAR);
    int holds = ok ? certify_watch_check(&w, &point, NULL) : -1;
    if (ok) certify_watch_free(&w);
    dae_free(x);
    return holds;
}

/* The system Jacobian of equations that were rewritten, for all who look at it. */
static bool renew_jacobian(analysed *a)
{
    a->jacobian = DAE_NEW(system_jacobian);
    return a->jacobian && system_jacobian_new(a->jacobian, &a->set, &a->structure);
}

bool model_analysis_settle(model_analysis *r, const model_point *at)
{
    equation_set *set = &r->reduced.set;
    structure *s = &r->reduced.structure;
    certificate_free(&r->certificate);
    rewrite_list_free(&r->rewrites);
    int orders = largest(s->d, set->n) + 1;
    double **x = analysed_values(set, at, orders);
    if (!x) return false;
    bool ok = shake(x, set, orders, at->parameters);
    equation_point point = {at->t, (const double *const *)x, orders, at->parameters, at->memory};
    analysed_drop_derived(&r->reduced);
    system_jacobian *J = r->reduced.jacobian = DAE_NEW(system_jacobian);
    if (!r->reduced.mechanism) r->reduced.mechanism = DAE_NEW(mechanical);
    ok = ok && r->reduced.mechanism && J && system_jacobian_new(J, set, s) &&
         certify(J, s, &point, SINGULAR, &r->certificate);
    r->numbers_agree = ok && r->certificate.valid;
    if (!r->numbers_agree) analysed_drop_derived(&r->reduced);
    if (ok && !r->numbers_agree && r->certificate.finite) {
        ok = regularise(set, s, &point, SINGULAR, &r->rewrites);
        r->numbers_agree = ok && r->rewrites.solved;
        if (r->numbers_agree) ok = renew_jacobian(&r->reduced);
        if (ok && !r->numbers_agree && set->n <= LARGEST_WHOLE) ok = certify_whole(r, &point);
    }
    dae_free(x);
    return ok;
}

/* The equations with derivatives joined to their variables, where that leaves each equation an
 * unknown; else as they are written: of x' = v, x' = w and v - w = f only 0 = f would be left, and
 * numbers tell which equations depend on each other. */
static bool join_where_regular(const model_form *f, const mode_slots *slots, const double *memory,
                               analysed *a)
{
    if (!equation_set_join_derivatives(&a->set) || !structure_analyse(&a->structure, &a->set))
        return false;
    if (!a->structure.singular) return true;
    structure_free(&a->structure);
    equation_set_free(&a->set);
    return model_equations(f, slots, memory, &a->set) && structure_analyse(&a->structure, &a->set);
}

dae_status model_analyse(const model_form *f, const mode_slots *slots, const model_point *at,
                         model_analysis *r, dae_diag *diag)
{
    *r = (model_analysis){0};
    equation_set *set = &r->reduced.set;
    bool ok = model_equations(f, slots, at->memory, set) && structure_analyse(&r->written, set);
    if (ok && !r->written.singular) {
        ok = join_where_regular(f, slots, at->memory, &r->reduced) && model_analysis_settle(r, at);
        r->index = ok ? regularised_index(set, &r->reduced.structure) : 0;
        ok = ok && r->index >= 0;
    }
    if (ok) return DAE_OK;
    model_analysis_free(r);
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the structural analysis.");
}

void model_analysis_free(model_analysis *a)
{
    structure_free(&a->written);
    analysed_free(&a->reduced);
    rewrite_list_free(&a->rewrites);
    certificate_free(&a->certificate);
    *a = (model_analysis){0};
}
