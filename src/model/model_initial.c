/* The system of initial values of a model. */
#include "model/model_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model_structure.h"
#include "structure/index/matching.h"

/* The discrete variable whose current or previous value e is; -1. */
static int discrete_leaf(const flat_model *m, expr e)
{
    const expr_node *node = e == EXPR_NONE ? NULL : graph_node(m->graph, e);
    if (!node || node->op != EXPR_MEMORY) return -1;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete &&
            (m->variables[v].memory == node->index || m->variables[v].memory_pre == node->index))
            return (int)v;
    return -1;
}

/* Take the initial equations of discrete variables, v = value or pre(v) = value, out of the list of
 * those for the continuous ones, which come first afterwards. */
bool build_split_initials(model_form *f)
{
    flat_model *m = f->flat;
    f->settings = DAE_ARRAY(model_setting, m->initial_count);
    if (!f->settings) return false;
    for (size_t i = 0; i < m->initial_count; i++) {
        flat_equation q = m->initial_equations[i];
        int left = discrete_leaf(m, q.left), right = discrete_leaf(m, q.right);
        if (left < 0 && right < 0) {
            m->initial_equations[i] = m->initial_equations[f->condition_count];
            m->initial_equations[f->condition_count++] = q;
        } else if (left != right) { /* else pre(v) = v, which holds anyway */
            int v = left >= 0 ? left : right;
            expr of = left >= 0 ? q.left : q.right, value = left >= 0 ? q.right : q.left;
            bool previous = graph_node(m->graph, of)->index == m->variables[v].memory_pre;
            f->settings[f->settings_count++] = (model_setting){v, previous, value, q.place};
        }
    }
    return true;
}

/* What the variables that stand for an unknown say about its start. */
typedef struct start_word {
    bool fixed;
    int wish; /* 0: there is no start value; else 1 to 5, the more the rather it shall be a state */
} start_word;

static void mark_starts(const model_form *f, start_word *word)
{
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[model_alias_root(f, (int)v, &sign)];
        if (first < 0) continue;
        int wish = q->has_start ? 1 + (int)q->state_select : 0;
        word[first].fixed = word[first].fixed || q->fixed;
        word[first].wish = wish > word[first].wish ? wish : word[first].wish;
    }
}

typedef struct slope_map {
    int n;
    const int *place; /* per unknown: index of its slope in the initial system */
} slope_map;

/* y'_i becomes an unknown of its own. */
static expr map_slope(void *context, graph *g, expr leaf)
{
    const slope_map *map = context;
    const expr_node *node = graph_node(g, leaf);
    if (node->op != EXPR_VARIABLE || node->order == 0) return leaf;
    return graph_variable(g, map->place[node->index], 0);
}

static void note_unknown(void *context, const expr_node *node)
{
    bool *seen = context;
    if (node->op == EXPR_VARIABLE) seen[node->index] = true;
}

/* Unknowns that only rest, der(p) = 0: parameters with fixed = false among them. */
static void mark_resting(const model_form *f, bool *resting)
{
    for (size_t r = 0; r < f->residual.outputs; r++) {
        const expr_node *node = graph_node(f->flat->graph, f->residual.e[r]);
        if (node->op == EXPR_VARIABLE && node->order == 1) resting[node->index] = true;
    }
}

enum { WISHES = 6, RANK_FIXED = 3 * WISHES + 1 };

/* Whether an algebraic unknown shall be a state, and says where it begins. */
static bool is_wished(const model_form *f, const start_word *word, int i)
{
    return !f->differential[i] && word[i].wish > 1 + (int)SELECT_DEFAULT;
}

/* Why start values of algebraic unknowns have a say: one is fixed; or one is wished as a state, and
 * rather than some state is. */
typedef struct algebraic_starts {
    bool fixed, wished;
} algebraic_starts;

static algebraic_starts find_algebraic(const model_form *f, const start_word *word)
{
    algebraic_starts a = {false, false};
    int highest = 0, lowest = WISHES;
    for (int i = 0; i < f->n; i++) {
        a.fixed = a.fixed || (word[i].fixed && !f->differential[i]);
        if (is_wished(f, word, i) && word[i].wish > highest) highest = word[i].wish;
        if (f->differential[i] && !word[i].fixed && word[i].wish < lowest) lowest = word[i].wish;
    }
    a.wished = highest > lowest;
    return a;
}

/* How willingly the start value of a state is kept: fixed ones first, then states that no initial
 * equation mentions, then others, then those that rest; among these by stateSelect, algebraic
 * variables that shall be states included, and what has no start value last; 0: not at all. */
static bool rank_starts(const model_form *f, int *rank, algebraic_starts *algebraic)
{
    int n = f->n;
    bool *mentioned = DAE_ARRAY(bool, n), *resting = DAE_ARRAY(bool, n);
    start_word *word = DAE_ARRAY(start_word, n);
    bool ok =
        word && mentioned && resting &&
        graph_leaves(f->flat->graph, f->condition.e, f->condition.outputs, note_unknown, mentioned);
    if (ok) {
        mark_starts(f, word);
        mark_resting(f, resting);
    }
    for (int i = 0; ok && i < n; i++) {
        int kind = resting[i] ? 0 : mentioned[i] ? 1 : 2;
        if (word[i].fixed)
            rank[i] = RANK_FIXED;
        else if (f->differential[i] || is_wished(f, word, i))
            rank[i] = 1 + kind * WISHES + word[i].wish;
    }
    if (ok) *algebraic = find_algebraic(f, word);
    dae_free_all(word, mentioned, resting);
    return ok;
}

/* Choose what start values to keep beside the equations b has: greedily by rank, each only if the
 * equations leave it free, which is best (what a matching can cover is a matroid, Edmonds and
 * Fulkerson 1965). *square: all equations and fixed values are independent, and there is an unknown
 * for each. */
static bool choose_pinned(const build *b, const int *rank, int n, bool *square)
{
    model_form *initial = b->f;
    int rows = (int)b->equations, all = rows + n;
    size_t entries = b->entry_count;
    size_t *start = build_row_starts(b, (size_t)all);
    int *column = DAE_ARRAY(int, entries + (size_t)n);
    matching m = {0};
    initial->pinned = DAE_ARRAY(int, n);
    bool ok = start && column && initial->pinned;
    for (size_t k = 0; ok && k < entries; k++) column[k] = b->column[k];
    for (int i = 0; ok && i < n; i++) {
        column[entries + (size_t)i] = i;
        start[rows + i + 1] = entries + (size_t)i + 1;
    }
    ok = ok && matching_new(&m, start, column, all, initial->n);
    *square = ok;
    for (int r = 0; r < rows && *square; r++) *square = matching_add(&m, r);
    for (int level = RANK_FIXED; level > 0 && *square; level--)
        for (int i = 0; i < n && *square; i++) {
            if (rank[i] != level) continue;
            bool free = rows + initial->pinned_count < initial->n && matching_add(&m, rows + i);
            if (free) initial->pinned[initial->pinned_count++] = i;
            if (!free && level == RANK_FIXED) *square = false;
        }
    *square = *square && rows + initial->pinned_count == initial->n;
    matching_free(&m);
    dae_free_all(start, column);
    return ok;
}

/* F and the initial equations over y and y' as unknowns. */
static bool collect_conditions(build *b, const model_form *f, const int *place)
{
    model_form *initial = b->f;
    graph *g = f->flat->graph;
    slope_map map = {f->n, place};
    size_t total = (size_t)initial->n + f->condition_count;
    b->residuals = DAE_ARRAY(expr, total);
    initial->equation_names = DAE_ARRAY(const char *, total);
    initial->equation_lines = DAE_ARRAY(int, total);
    bool ok = b->residuals && initial->equation_names && initial->equation_lines &&
              model_name_equations(f);
    for (int i = 0; ok && i < f->rows; i++)
        ok = build_add_row(b, f->equation_names[i], f->equation_lines[i], -1,
                           graph_substitute(g, f->residual.e[i], map_slope, &map));
    for (size_t k = 0; ok && k < f->condition_count; k++) {
        const flat_equation *q = &f->flat->initial_equations[k];
        char text[300], *name = flat_equation_name(f->flat, q);
        snprintf(text, sizeof text, "initial %.280s", name ? name : "");
        ok = name && build_add_row(b, build_text(initial, "", text, ""), q->place.line, -1,
                                   graph_substitute(g, f->condition.e[k], map_slope, &map));
        dae_free(name);
    }
    return ok && !graph_failed(g);
}

/* y_j = start_j for the start values that are kept. */
static bool collect_pinned(build *b, const model_form *f)
{
    model_form *initial = b->f;
    graph *g = f->flat->graph;
    bool ok = true;
    for (int k = 0; ok && k < initial->pinned_count; k++) {
        int j = initial->pinned[k];
        char name[256];
        snprintf(name, sizeof name, "start value of %.200s", f->unknown_names[j]);
        int v = f->unknown_variable[j];
        expr start = graph_parameter(g, (int)f->flat->parameter_count + k);
        ok = build_add_row(b, build_text(initial, "", name, ""),
                           v >= 0 ? f->flat->variables[v].place.line : 0, -1,
                           graph_binary(g, EXPR_SUB, graph_variable(g, j, 0), start));
    }
    return ok && !graph_failed(g);
}

static bool name_initial(model_form *initial, const model_form *f)
{
    initial->unknown_names = DAE_ARRAY(const char *, initial->n);
    if (!initial->unknown_names) return false;
    for (int i = 0; i < initial->n; i++) {
        int of = i < f->n ? i : initial->slope_of[i];
        bool taken =
            of + 1 < f->n && f->unknown_order[of + 1] > 0; /* der(x) is an unknown itself */
        initial->unknown_names[i] = i < f->n ? f->unknown_names[of]
                                    : taken
                                        ? build_text(initial, "slope of ", f->unknown_names[of], "")
                                        : build_text(initial, "der(", f->unknown_names[of], ")");
        if (!initial->unknown_names[i]) return false;
    }
    return true;
}

/* Unknowns of the initial system: y, then y' of the differential ones. */
static bool number_slopes(model_form *initial, const model_form *f, int *place)
{
    int at = f->n;
    for (int i = 0; i < f->n; i++) initial->n += f->differential[i];
    initial->n += f->n;
    initial->slope_of = DAE_ARRAY(int, initial->n);
    initial->differential = DAE_ARRAY(bool, initial->n);
    if (!initial->slope_of || !initial->differential) return false;
    for (int i = 0; i < f->n; i++)
        if (f->differential[i]) {
            initial->slope_of[at] = i;
            place[i] = at++;
        }
    return true;
}

/* Pattern, programs and names of an initial system whose equations are complete. */
static bool finish_initial(build *b, const model_form *f)
{
    model_form *initial = b->f;
    initial->rows = (int)b->equations;
    graph_make_room(f->flat->graph); /* the programs of all levels are the largest there are */
    bool ok = build_pattern(b) && build_rows(b) && name_initial(initial, f);
    for (int k = 2; ok && k < PROGRAMS; k++)
        ok = build_program(initial, model_program_at(initial, k), initial->residual.e, 0);
    return ok;
}

/* The initial system into b->f; *square is false if it is none. */
static bool assemble_initial(build *b, const model_form *f, const int *rank, int *place,
                             bool *square)
{
    model_form *initial = b->f;
    initial->flat = f->flat;
    initial->code = f->code;
    initial->borrowed = true;
    initial->starts = f;
    bool ok = number_slopes(initial, f, place) && collect_conditions(b, f, place) &&
              build_differentiate(b, 0);
    ok = ok && choose_pinned(b, rank, f->n, square);
    if (!ok || !*square) return ok;
    size_t first = b->equations;
    ok = collect_pinned(b, f);
    return ok && build_differentiate(b, first) && finish_initial(b, f);
}

bool build_levels(model_form *f)
{
    int *place = DAE_ARRAY(int, f->n);
    build b = {.f = DAE_NEW(model_form)};
    bool ok = place && b.f;
    if (ok) {
        b.f->flat = f->flat;
        b.f->code = f->code;
        b.f->borrowed = true;
        b.f->starts = f;
        ok = number_slopes(b.f, f, place) && collect_conditions(&b, f, place) &&
             build_differentiate(&b, 0) && finish_initial(&b, f);
    }
    build_free(&b);
    dae_free(place);
    if (ok)
        f->initial = b.f;
    else
        model_form_free(b.f);
    return ok;
}

/* Build f->initial where it is needed and square; otherwise f->initial stays NULL. */
bool build_initial(model_form *f)
{
    algebraic_starts algebraic = {false, false};
    bool square = false;
    int *rank = DAE_ARRAY(int, f->n), *place = DAE_ARRAY(int, f->n);
    bool ok = rank && place && rank_starts(f, rank, &algebraic);
    const bool asked = f->condition_count > 0 || algebraic.fixed,
               needed = asked || algebraic.wished;
    build b = {.f = ok && needed ? DAE_NEW(model_form) : NULL};
    if (ok && needed) ok = b.f && assemble_initial(&b, f, rank, place, &square);
    build_free(&b);
    dae_free_all(place, rank);
    f->overdetermined = asked && !square;
    if (ok && square)
        f->initial = b.f;
    else
        model_form_free(b.f);
    return ok;
}
