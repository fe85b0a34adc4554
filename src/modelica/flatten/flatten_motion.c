/* Equations of motion from energies: annotation(__Daedal(coordinates = {..}, lagrangian = ..)).
 *
 * Notation: q are the coordinates, q' their velocities (der(q), or v where the model has der(q) =
 * v), L(q, q', t) the Lagrange function, g_j constraints with multipliers lambda_j, F generalised
 * forces, R(q') a function of dissipation. For each coordinate the flattener adds
 *
 *     sum_l L_{q'_k q'_l} q''_l = L_{q_k} - (d/dt L_{q'_k} without q'') + F_k - R_{q'_k}
 *                                 - sum_j lambda_j dg_j/dq_k
 *
 * [Wun05 (1.9)], in the sign of M q'' = f - G'lambda [Wun05 (1.13)]; a constraint on velocities
 * that is linear in them, 0 = g(q, q', t), acts along dg_j/dq'_k (d'Alembert). A coordinate without
 * mass has no left side: contact points, [Wun05 (1.5)]. */
#include "modelica/flatten/flatten_motion.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/walk.h"

const char *motion_name(const motion *m, int variable)
{
    return m->f->m->variables[variable].name;
}

static const expr_node *bare(const motion *m, expr e, int order)
{
    if (e == EXPR_NONE) return NULL;
    const expr_node *n = graph_node(m->f->g, e);
    return n->op == EXPR_VARIABLE && n->order == order ? n : NULL;
}

expr motion_made(motion *m, expr e)
{
    if (e == EXPR_NONE && !m->broken) m->f->failed = true;
    return e;
}

/* ---- what the annotation says ---- */

/* The value of a field; false: an error is reported. */
bool motion_field(motion *m, const ast_modification *field, value *out)
{
    bool list = field->nested_count > 0;
    *out = field->value && !list ? evaluate(m->f, field->value) : value_error();
    if (list)
        return motion_error(m, field->place, "'%s' takes a value: %s = .., and no list in brackets",
                            field->name, field->name);
    if (!field->value)
        motion_error(m, field->place, "'%s' needs a value: %s = ..", field->name, field->name);
    if (value_is_error(out)) m->broken = true;
    if (value_is_error(out)) return false;
    return value_is_numeric(out) ||
           motion_error(m, field->place, "%s must be a Real expression, found %s", field->name,
                        value_describe(out).text);
}

static void read_scalar(motion *m, const ast_modification *field, expr *into)
{
    value v;
    if (!motion_field(m, field, &v)) return;
    if (v.rank > 0) {
        motion_error(m, field->place, "%s is one expression, but this is an array with sizes %s",
                     field->name, value_shape(v.rank, v.dims).text);
        return;
    }
    *into = value_element(&v, 0);
}

/* The place of element k of {a, b, ..}, or of the whole. */
source_place motion_place(const ast_modification *field, size_t k, size_t count)
{
    const ast_expr *e = field->value;
    return e && e->arg_count == count && e->args[k] ? e->args[k]->place : field->place;
}

/* The variable that element k names, with its new role; -1: an error is reported. */
static int named_variable(motion *m, const ast_modification *field, const value *v, size_t k,
                          motion_role role)
{
    source_place place = motion_place(field, k, v->count);
    const expr_node *n = bare(m, value_element(v, k), 0);
    if (!n) {
        motion_error(m, place, "element %zu of %s is not the name of a continuous variable", k + 1,
                     field->name);
        return -1;
    }
    motion_variable *x = &m->variables[n->index];
    if (x->role != ROLE_OTHER) {
        motion_error(m, place, "'%s' is named twice among coordinates, massless and multipliers",
                     motion_name(m, n->index));
        return -1;
    }
    x->role = role;
    x->place = (int)(role == ROLE_MULTIPLIER ? k : m->count + k);
    return n->index;
}

static void read_coordinates(motion *m, const ast_modification *field, motion_role role)
{
    value v;
    if (!motion_field(m, field, &v)) return;
    coordinate *all = flatten_take(m->f, (m->count + v.count) * sizeof *all);
    if (!all) return;
    if (m->count) memcpy(all, m->q, m->count * sizeof *all);
    for (size_t k = 0; k < v.count; k++)
        all[m->count + k] = (coordinate){.variable = named_variable(m, field, &v, k, role),
                                         .velocity = -1,
                                         .massless = role == ROLE_MASSLESS,
                                         .place = motion_place(field, k, v.count)};
    m->q = all;
    m->count += v.count;
}

static void read_multipliers(motion *m, const ast_modification *field)
{
    value v;
    if (!motion_field(m, field, &v)) return;
    m->lambda = flatten_take(m->f, v.count * sizeof *m->lambda);
    if (!m->lambda) return;
    m->multiplier_count = v.count;
    for (size_t k = 0; k < v.count; k++)
        m->lambda[k] = (multiplier){.variable = named_variable(m, field, &v, k, ROLE_MULTIPLIER),
                                    .place = motion_place(field, k, v.count)};
}

static void read_energy(motion *m, const ast_modification *field, int which)
{
    m->energies[which].place = field->place;
    read_scalar(m, field, &m->energies[which].e);
}

static const char *const motion_fields[] = {"coordinates", "massless",    "lagrangian",
                                            "kinetic",     "potential",   "dissipation",
                                            "forces",      "constraints", "multipliers"};
enum { MOTION_FIELDS = sizeof motion_fields / sizeof motion_fields[0] };

static size_t field_number(motion *m, const ast_modification *field)
{
    for (size_t k = 0; k < MOTION_FIELDS; k++)
        if (field->name && strcmp(field->name, motion_fields[k]) == 0) return k;
    const char *name = field->name ? field->name : "";
    motion_error(m, field->place, "the annotation __Daedal has no field '%s'%s", name,
                 did_you_mean(m->f, nearest_name(name, motion_fields, MOTION_FIELDS)));
    return MOTION_FIELDS;
}

static void read_field(motion *m, const ast_modification *field, bool seen[])
{
    size_t k = field_number(m, field);
    if (k == MOTION_FIELDS) return;
    if (seen[k]) motion_error(m, field->place, "'%s' is given twice", field->name);
    seen[k] = true;
    switch (k) {
    case 0: read_coordinates(m, field, ROLE_COORDINATE); break;
    case 1: read_coordinates(m, field, ROLE_MASSLESS); break;
    case 2: read_energy(m, field, LAGRANGIAN); break;
    case 3: read_energy(m, field, KINETIC); break;
    case 4: read_energy(m, field, POTENTIAL); break;
    case 5: read_energy(m, field, DISSIPATION); break;
    case 6: m->forces = field; break;
    case 7: m->constraints = field; break;
    default: read_multipliers(m, field); break;
    }
}

static void check_energies(motion *m)
{
    const energy *all = m->energies;
    bool whole = all[LAGRANGIAN].e != EXPR_NONE, kinetic = all[KINETIC].e != EXPR_NONE;
    if (whole && (kinetic || all[POTENTIAL].e != EXPR_NONE))
        motion_error(m, all[LAGRANGIAN].place, "give either lagrangian, or kinetic and potential");
    else if (!whole && !kinetic)
        motion_error(
            m, m->place,
            "equations of motion need lagrangian = .., or kinetic = .. and potential = ..");
}

static void read_fields(motion *m, const ast_modification *given)
{
    bool seen[MOTION_FIELDS] = {false};
    for (size_t k = 0; k < given->nested_count; k++)
        if (!is_terminal(&given->nested[k])) read_field(m, &given->nested[k], seen);
    if (m->broken || m->f->failed) return;
    if (!seen[0]) motion_error(m, m->place, "equations of motion need coordinates = {..}");
    check_energies(m);
}

/* ---- generalised forces ---- */

static void forces_in_order(motion *m)
{
    value v;
    if (!motion_field(m, m->forces, &v)) return;
    if (v.count != m->count) {
        motion_error(
            m, m->forces->place,
            "there are %zu forces for %zu coordinates: give one for each, 0 where there is none",
            v.count, m->count);
        return;
    }
    for (size_t k = 0; k < m->count; k++) m->q[k].force = value_element(&v, k);
}

/* forces(x = .., y = ..) */
static void force_by_name(motion *m, const ast_modification *field)
{
    for (size_t k = 0; k < m->count; k++) {
        if (strcmp(motion_name(m, m->q[k].variable), field->name) != 0) continue;
        if (m->q[k].force != EXPR_NONE)
            motion_error(m, field->place, "the force of '%s' is given twice", field->name);
        else
            read_scalar(m, field, &m->q[k].force);
        return;
    }
    motion_error(m, field->place, "a force is given for '%s', which is none of the coordinates",
                 field->name);
}

static void read_forces(motion *m)
{
    if (!m->forces) return;
    if (m->forces->nested_count && m->forces->value)
        motion_error(m, m->forces->place, "forces are given in order and by name: give one list");
    if (!m->forces->nested_count) forces_in_order(m);
    for (size_t k = 0; k < m->forces->nested_count; k++) force_by_name(m, &m->forces->nested[k]);
}

/* ---- the model's own equations ---- */

/* der(q) = v */
static bool note_velocity(motion *m, expr derivative, expr velocity)
{
    const expr_node *d = bare(m, derivative, 1), *v = bare(m, velocity, 0);
    if (!d || !v || m->variables[v->index].role != ROLE_OTHER ||
        m->variables[v->index].position >= 0)
        return false;
    const motion_variable *x = &m->variables[d->index];
    if (x->role != ROLE_COORDINATE || m->q[x->place].velocity >= 0) return false;
    m->q[x->place].velocity = v->index;
    m->variables[v->index].position = d->index;
    return true;
}

/* name = expression */
static bool note_definition(motion *m, expr side, expr other)
{
    const expr_node *n = bare(m, side, 0);
    motion_variable *x = n ? &m->variables[n->index] : NULL;
    if (!x || x->role != ROLE_OTHER || x->position >= 0 || x->definition != EXPR_NONE) return false;
    x->definition = other;
    return true;
}

static void note_derived(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    motion *m = context;
    if (n->op == EXPR_VARIABLE && n->order > 0) m->variables[n->index].derived = true;
}

static void read_equations(motion *m)
{
    const pair_list *all = &m->f->equations;
    m->kinematic = flatten_take(m->f, (all->count + 1) * sizeof *m->kinematic);
    if (!m->kinematic) return;
    visit_begin(m->f);
    for (size_t k = 0; k < all->count; k++) {
        const equation_pair *p = &all->items[k];
        if (p->type != VALUE_REAL) continue;
        visit_leaves(m->f, p->left, note_derived, m);
        visit_leaves(m->f, p->right, note_derived, m);
        visit_leaves(m->f, p->residual, note_derived, m);
        m->kinematic[k] =
            note_velocity(m, p->left, p->right) || note_velocity(m, p->right, p->left);
    }
    for (size_t k = 0; k < all->count; k++) {
        const equation_pair *p = &all->items[k];
        if (p->type != VALUE_REAL || p->left == EXPR_NONE || m->kinematic[k]) continue;
        m->kinematic[k] =
            note_definition(m, p->left, p->right) || note_definition(m, p->right, p->left);
    }
}

/* ---- expressions over coordinates ---- */

/* The definition of a variable over coordinates; EXPR_NONE: a circle, which is reported. */
static expr expand_definition(motion *m, int variable)
{
    motion_variable *x = &m->variables[variable];
    if (x->expanded != EXPR_NONE || m->broken) return x->expanded;
    if (x->busy || m->depth >= FLATTEN_MAX_DEPTH) {
        motion_error(m, m->f->m->variables[variable].place,
                     "'%s' is part of the energies, and its definition leads back to itself",
                     motion_name(m, variable));
        return EXPR_NONE;
    }
    x->busy = true;
    m->depth++;
    x->expanded = motion_expand(m, x->definition);
    m->depth--;
    x->busy = false;
    return x->expanded;
}

/* v -> der(q), a name -> its definition, derivatives of both likewise. */
static expr expand_leaf(void *context, graph *g, expr leaf)
{
    motion *m = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE) return leaf;
    const motion_variable *x = &m->variables[n->index];
    if (x->position >= 0) return graph_variable(g, x->position, n->order + 1);
    if (x->definition == EXPR_NONE) return leaf;
    expr e = expand_definition(m, n->index);
    for (int k = 0; k < n->order && e != EXPR_NONE; k++) e = derive_time(g, e);
    return e;
}

expr motion_expand(motion *m, expr e)
{
    return e == EXPR_NONE ? EXPR_NONE
                          : motion_made(m, graph_substitute(m->f->g, e, expand_leaf, m));
}

/* der(q) -> v where there is a v, der(der(q)) -> der(v) */
static expr contract_leaf(void *context, graph *g, expr leaf)
{
    const motion *m = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE || n->order == 0) return leaf;
    const motion_variable *x = &m->variables[n->index];
    int velocity = x->role == ROLE_COORDINATE ? m->q[x->place].velocity : -1;
    return velocity >= 0 ? graph_variable(g, velocity, n->order - 1) : leaf;
}

/* ---- names in place of their definitions ---- */

static void note_moving(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    if (n->op == EXPR_VARIABLE && n->order > 0) *(bool *)context = true;
}

static int by_node(const void *x, const void *y)
{
    expr a = ((const known_value *)x)->e, b = ((const known_value *)y)->e;
    return (a > b) - (a < b);
}

/* Definitions over positions that were seen through, by their nodes: r = sqrt(x^2 + y^2). */
static void motion_know_values(motion *m)
{
    size_t count = 0, n = m->f->m->variable_count;
    m->known = flatten_take(m->f, (n + 1) * sizeof *m->known);
    for (size_t k = 0; m->known && k < n; k++) {
        expr e = m->variables[k].expanded;
        bool moves = false;
        if (e == EXPR_NONE || graph_node(m->f->g, e)->arity == 0) continue;
        visit_begin(m->f);
        visit_leaves(m->f, e, note_moving, &moves);
        if (!moves) m->known[count++] = (known_value){e, (int)k};
    }
    m->known_count = count;
    if (count > 1) qsort(m->known, count, sizeof *m->known, by_node);
}

/* The variable whose definition e is, or e. */
static expr name_of(motion *m, expr e)
{
    const known_value key = {e, 0};
    const known_value *found =
        m->known_count ? bsearch(&key, m->known, m->known_count, sizeof key, by_node) : NULL;
    return found ? graph_variable(m->f->g, found->variable, 0) : e;
}

/* A node of the walk with the images of its operands; loops stay as they are. */
static expr rebuilt(motion *m, const walk *w, const expr *image, expr e)
{
    const expr_node *n = graph_node(m->f->g, e);
    if (n->arity == 0 || n->op >= EXPR_OP_COUNT) return e;
    const expr of[3] = {n->a, n->b, n->c};
    expr now[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    bool kept = true;
    for (int k = 0; k < n->arity; k++) {
        now[k] = image[walk_place(w, of[k])];
        kept = kept && now[k] == of[k];
    }
    return kept ? e : graph_build(m->f->g, (expr_op)n->op, now[0], now[1], now[2]);
}

/* e with names in place of the definitions that it contains. */
static expr with_names(motion *m, expr e)
{
    walk w = {0};
    expr result = e;
    if (m->known_count == 0 || e == EXPR_NONE) return e;
    expr *image = walk_from(&w, m->f->g, &e, 1) ? DAE_ARRAY(expr, w.count) : NULL;
    for (size_t k = 0; image && k < w.count; k++) {
        expr name = name_of(m, w.order[k]);
        image[k] = name != w.order[k] ? name : rebuilt(m, &w, image, w.order[k]);
    }
    if (image) result = image[w.count - 1];
    if (!image) m->f->failed = true;
    dae_free(image);
    walk_free(&w);
    return result;
}

expr motion_contract(motion *m, expr e)
{
    expr named = with_names(m, e);
    return motion_made(m, graph_substitute(m->f->g, named, contract_leaf, m));
}

/* ---- what may stand in an energy or a constraint ---- */

static void check_leaf(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    leaf_check *c = context;
    motion *m = c->m;
    if (n->op != EXPR_VARIABLE || c->bad) return;
    const motion_variable *x = &m->variables[n->index];
    const char *name = motion_name(m, n->index), *why = NULL;
    if (x->role == ROLE_COORDINATE && n->order > 1)
        why = "the second derivative of '%s': only coordinates and velocities may stand there";
    else if (x->role != ROLE_COORDINATE && n->order > 0)
        why = "the derivative of '%s', which is no coordinate with mass";
    else if (x->role == ROLE_MULTIPLIER && !c->multipliers)
        why = "the multiplier '%s'";
    else if (x->role == ROLE_OTHER && !x->derived && !m->f->m->variables[n->index].input)
        why = "'%s', which is no coordinate: define it by an equation '%s = ..', or list it as "
              "coordinate or massless";
    if (!why && !c->silent && x->role == ROLE_OTHER) m->variables[n->index].in_energies = true;
    c->bad = why != NULL;
    if (!why || c->silent) return;
    const char *reason = flatten_text(m->f, why, name, name);
    motion_error(m, c->place, "%s contains %s", c->what, reason ? reason : name);
}

bool motion_check(motion *m, leaf_check c, expr e)
{
    c.m = m;
    visit_begin(m->f);
    visit_leaves(m->f, e, check_leaf, &c);
    return !c.bad;
}

/* All energies over coordinates; L = T - U [Wun05 (1.1)]. */
static void expand_energies(motion *m)
{
    static const char *const names[] = {"the Lagrangian", "the kinetic energy",
                                        "the potential energy", "the dissipation"};
    energy *all = m->energies;
    for (int k = 0; k < ENERGIES && !m->broken && !graph_failed(m->f->g); k++) {
        if (all[k].e == EXPR_NONE) continue;
        all[k].e = motion_expand(m, all[k].e);
        leaf_check c = {.what = names[k], .place = all[k].place, .multipliers = k == LAGRANGIAN};
        if (!m->broken) motion_check(m, c, all[k].e);
    }
    m->lagrangian = all[LAGRANGIAN].e;
    if (m->broken || m->lagrangian != EXPR_NONE) return;
    m->lagrangian = all[POTENTIAL].e == EXPR_NONE
                        ? all[KINETIC].e
                        : graph_binary(m->f->g, EXPR_SUB, all[KINETIC].e, all[POTENTIAL].e);
}

void motion_equations(flattener *f, const ast_modification *given)
{
    motion m = {.f = f, .place = given->place};
    m.variables = flatten_take(f, (f->m->variable_count + 1) * sizeof *m.variables);
    if (!m.variables) return;
    for (size_t k = 0; k < f->m->variable_count; k++) m.variables[k].position = -1;
    read_fields(&m, given);
    if (!m.broken && !f->failed) read_forces(&m);
    if (!m.broken && !f->failed) read_equations(&m);
    if (!m.broken && !f->failed) expand_energies(&m);
    if (!m.broken && !f->failed) motion_constraints(&m);
    if (!m.broken && !f->failed) motion_know_values(&m);
    if (!m.broken && !f->failed) motion_add(&m);
}
