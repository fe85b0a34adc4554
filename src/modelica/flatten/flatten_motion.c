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
#include <math.h>
#include <string.h>

#include "expr/derive.h"
#include "modelica/flatten/flatten_internal.h"

typedef enum motion_role {
    ROLE_OTHER,
    ROLE_COORDINATE,
    ROLE_MASSLESS,
    ROLE_MULTIPLIER
} motion_role;

typedef struct coordinate {
    int variable;
    int velocity; /* v of der(q) = v; -1: none */
    bool massless;
    expr force; /* EXPR_NONE: none */
    source_place place;
} coordinate;

typedef struct multiplier {
    int variable;
    expr constraint; /* g, over coordinates; EXPR_NONE: not yet known */
    bool in_lagrangian, on_velocities, added;
    source_place place; /* of the constraint */
} multiplier;

/* What is known of a variable. */
typedef struct motion_variable {
    motion_role role;
    int position;       /* q of der(q) = v; -1: it is no velocity */
    expr definition;    /* right side of name = .. */
    expr expanded;      /* the same over coordinates */
    bool busy, derived; /* being expanded; der(name) is in an equation */
} motion_variable;

enum { LAGRANGIAN, KINETIC, POTENTIAL, DISSIPATION, ENERGIES };

/* A scalar field of the annotation; EXPR_NONE: not given. */
typedef struct energy {
    expr e;
    source_place place;
} energy;

typedef struct motion {
    flattener *f;
    source_place place;
    motion_variable *variables;
    bool *kinematic; /* per equation: der(q) = v, or a definition */
    coordinate *q;
    multiplier *lambda;
    size_t count, multiplier_count;
    energy energies[ENERGIES];
    expr lagrangian; /* over coordinates */
    const ast_modification *constraints, *forces;
    bool broken; /* an error is reported */
    int depth;
} motion;

static const char *variable_name(const motion *m, int variable)
{
    return m->f->m->variables[variable].name;
}

static const expr_node *bare(const motion *m, expr e, int order)
{
    if (e == EXPR_NONE) return NULL;
    const expr_node *n = graph_node(m->f->g, e);
    return n->op == EXPR_VARIABLE && n->order == order ? n : NULL;
}

/* A node that was asked for; without it memory has run out, unless an error is reported. */
static expr made(motion *m, expr e)
{
    if (e == EXPR_NONE && !m->broken) m->f->failed = true;
    return e;
}

static expr partial_by(motion *m, expr e, int variable, int order)
{
    graph *g = m->f->g;
    return made(m, derive_partial(g, e, graph_variable(g, variable, order)));
}

#define motion_error(m, ...) ((m)->broken = true, report_error((m)->f, __VA_ARGS__))

/* ---- what the annotation says ---- */

/* The value of a field; false: an error is reported. */
static bool field_value(motion *m, const ast_modification *field, value *out)
{
    *out = field->value ? evaluate(m->f, field->value) : value_error();
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
    if (!field_value(m, field, &v)) return;
    if (v.rank > 0) {
        motion_error(m, field->place, "%s is one expression, but this is an array with sizes %s",
                     field->name, value_shape(v.rank, v.dims).text);
        return;
    }
    *into = value_element(&v, 0);
}

/* The place of element k of {a, b, ..}, or of the whole. */
static source_place element_place(const ast_modification *field, size_t k, size_t count)
{
    const ast_expr *e = field->value;
    return e && e->arg_count == count && e->args[k] ? e->args[k]->place : field->place;
}

/* The variable that element k names, with its new role; -1: an error is reported. */
static int named_variable(motion *m, const ast_modification *field, const value *v, size_t k,
                          motion_role role)
{
    source_place place = element_place(field, k, v->count);
    const expr_node *n = bare(m, value_element(v, k), 0);
    if (!n) {
        motion_error(m, place, "element %zu of %s is not the name of a continuous variable", k + 1,
                     field->name);
        return -1;
    }
    motion_variable *x = &m->variables[n->index];
    if (x->role != ROLE_OTHER) {
        motion_error(m, place, "'%s' is named twice among coordinates, massless and multipliers",
                     variable_name(m, n->index));
        return -1;
    }
    x->role = role;
    return n->index;
}

static void read_coordinates(motion *m, const ast_modification *field, motion_role role)
{
    value v;
    if (!field_value(m, field, &v)) return;
    coordinate *all = flatten_take(m->f, (m->count + v.count) * sizeof *all);
    if (!all) return;
    if (m->count) memcpy(all, m->q, m->count * sizeof *all);
    for (size_t k = 0; k < v.count; k++)
        all[m->count + k] = (coordinate){.variable = named_variable(m, field, &v, k, role),
                                         .velocity = -1,
                                         .massless = role == ROLE_MASSLESS,
                                         .place = element_place(field, k, v.count)};
    m->q = all;
    m->count += v.count;
}

static void read_multipliers(motion *m, const ast_modification *field)
{
    value v;
    if (!field_value(m, field, &v)) return;
    m->lambda = flatten_take(m->f, v.count * sizeof *m->lambda);
    if (!m->lambda) return;
    m->multiplier_count = v.count;
    for (size_t k = 0; k < v.count; k++)
        m->lambda[k] = (multiplier){.variable = named_variable(m, field, &v, k, ROLE_MULTIPLIER),
                                    .place = element_place(field, k, v.count)};
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
    for (size_t k = 0; k < given->nested_count; k++) read_field(m, &given->nested[k], seen);
    if (m->broken || m->f->failed) return;
    if (!seen[0]) motion_error(m, m->place, "equations of motion need coordinates = {..}");
    check_energies(m);
}

/* ---- generalised forces ---- */

static void forces_in_order(motion *m)
{
    value v;
    if (!field_value(m, m->forces, &v)) return;
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
        if (strcmp(variable_name(m, m->q[k].variable), field->name) != 0) continue;
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
    if (m->variables[d->index].role != ROLE_COORDINATE) return false;
    for (size_t k = 0; k < m->count; k++)
        if (m->q[k].variable == d->index && m->q[k].velocity < 0) {
            m->q[k].velocity = v->index;
            m->variables[v->index].position = d->index;
            return true;
        }
    return false;
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
        if (p->type != VALUE_REAL || p->left == EXPR_NONE) continue;
        visit_leaves(m->f, p->left, note_derived, m);
        visit_leaves(m->f, p->right, note_derived, m);
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

static expr expand(motion *m, expr e);

/* The definition of a variable over coordinates; EXPR_NONE: a circle, which is reported. */
static expr expand_definition(motion *m, int variable)
{
    motion_variable *x = &m->variables[variable];
    if (x->expanded != EXPR_NONE || m->broken) return x->expanded;
    if (x->busy || m->depth >= FLATTEN_MAX_DEPTH) {
        motion_error(m, m->f->m->variables[variable].place,
                     "'%s' is part of the energies, and its definition leads back to itself",
                     variable_name(m, variable));
        return EXPR_NONE;
    }
    x->busy = true;
    m->depth++;
    x->expanded = expand(m, x->definition);
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

static expr expand(motion *m, expr e)
{
    return e == EXPR_NONE ? EXPR_NONE : made(m, graph_substitute(m->f->g, e, expand_leaf, m));
}

/* der(q) -> v where there is a v, der(der(q)) -> der(v) */
static expr contract_leaf(void *context, graph *g, expr leaf)
{
    const motion *m = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE || n->order == 0 || m->variables[n->index].role != ROLE_COORDINATE)
        return leaf;
    for (size_t k = 0; k < m->count; k++)
        if (m->q[k].variable == n->index && m->q[k].velocity >= 0)
            return graph_variable(g, m->q[k].velocity, n->order - 1);
    return leaf;
}

static expr contract(motion *m, expr e)
{
    return made(m, graph_substitute(m->f->g, e, contract_leaf, m));
}

/* ---- what may stand in an energy or a constraint ---- */

typedef struct leaf_check {
    motion *m;
    const char *what; /* "the Lagrangian" */
    source_place place;
    bool multipliers; /* may stand in it */
    bool silent, bad;
} leaf_check;

static void check_leaf(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    leaf_check *c = context;
    motion *m = c->m;
    if (n->op != EXPR_VARIABLE || c->bad) return;
    const motion_variable *x = &m->variables[n->index];
    const char *name = variable_name(m, n->index), *why = NULL;
    if (x->role == ROLE_COORDINATE && n->order > 1)
        why = "the second derivative of '%s': only coordinates and velocities may stand there";
    else if (x->role != ROLE_COORDINATE && n->order > 0)
        why = "the derivative of '%s', which is no coordinate with mass";
    else if (x->role == ROLE_MULTIPLIER && !c->multipliers)
        why = "the multiplier '%s'";
    else if (x->role == ROLE_OTHER && !x->derived && !m->f->m->variables[n->index].input)
        why = "'%s', which is no coordinate: define it by an equation '%s = ..', or list it as "
              "coordinate or massless";
    c->bad = why != NULL;
    if (!why || c->silent) return;
    const char *reason = flatten_text(m->f, why, name, name);
    motion_error(m, c->place, "%s contains %s", c->what, reason ? reason : name);
}

static bool check_leaves(motion *m, leaf_check c, expr e)
{
    c.m = m;
    visit_begin(m->f);
    visit_leaves(m->f, e, check_leaf, &c);
    return !c.bad;
}

/* ---- constraints ---- */

typedef struct reads {
    const motion *m;
    bool position, velocity;
    int wanted; /* a variable; -1 */
    bool found;
} reads;

static void note_reads(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    reads *r = context;
    if (n->op != EXPR_VARIABLE) return;
    motion_role role = r->m->variables[n->index].role;
    if (n->index == r->wanted) r->found = true;
    if (role == ROLE_COORDINATE && n->order == 1) r->velocity = true;
    if (n->order == 0 && (role == ROLE_COORDINATE || role == ROLE_MASSLESS)) r->position = true;
}

static reads motion_reads(motion *m, expr e, int wanted)
{
    reads r = {.m = m, .wanted = wanted};
    visit_begin(m->f);
    visit_leaves(m->f, e, note_reads, &r);
    return r;
}

/* Constraint g of the next multiplier that has none. */
static bool take_constraint(motion *m, expr g, source_place place, bool added)
{
    for (size_t j = 0; j < m->multiplier_count; j++) {
        multiplier *l = &m->lambda[j];
        if (l->constraint != EXPR_NONE) continue;
        l->constraint = g;
        l->place = place;
        l->added = added;
        return true;
    }
    return false;
}

/* g = -dL/dlambda where L contains lambda [Wun05 (1.3), (1.4)] */
static void constraints_of_lagrangian(motion *m)
{
    graph *g = m->f->g;
    for (size_t j = 0; j < m->multiplier_count; j++) {
        multiplier *l = &m->lambda[j];
        if (!motion_reads(m, m->lagrangian, l->variable).found) continue;
        expr slope = partial_by(m, m->lagrangian, l->variable, 0);
        l->constraint = graph_unary(g, EXPR_NEG, slope);
        l->in_lagrangian = l->added = true;
    }
}

static void constraints_of_field(motion *m)
{
    value v;
    if (!field_value(m, m->constraints, &v)) return;
    for (size_t k = 0; k < v.count; k++)
        if (!take_constraint(m, expand(m, value_element(&v, k)),
                             element_place(m->constraints, k, v.count), true)) {
            motion_error(m, m->constraints->place, "there are %zu constraints for %zu multipliers",
                         v.count, m->multiplier_count);
            return;
        }
}

/* An equation of the model among coordinates alone, neither der(q) = v nor a definition, is the
 * constraint of the next multiplier. */
static void constraints_of_equations(motion *m)
{
    const pair_list *all = &m->f->equations;
    leaf_check quiet = {.silent = true};
    for (size_t k = 0; k < all->count && !m->broken; k++) {
        const equation_pair *p = &all->items[k];
        if (p->type != VALUE_REAL || p->left == EXPR_NONE || m->kinematic[k]) continue;
        expr g = expand(m, graph_binary(m->f->g, EXPR_SUB, p->left, p->right));
        reads r = motion_reads(m, g, -1);
        if ((r.position || r.velocity) && check_leaves(m, quiet, g))
            take_constraint(m, g, p->place, false);
    }
}

/* A constraint on velocities must be linear in them, or its force has no direction. */
static void check_velocity_constraint(motion *m, const multiplier *l)
{
    for (size_t k = 0; k < m->count; k++) {
        expr slope = partial_by(m, l->constraint, m->q[k].variable, 1);
        if (motion_reads(m, slope, -1).velocity) {
            motion_error(m, l->place,
                         "the constraint of '%s' is not linear in the velocities, so that its "
                         "force has no direction",
                         variable_name(m, l->variable));
            return;
        }
    }
}

static void check_constraint(motion *m, multiplier *l)
{
    const char *name = variable_name(m, l->variable);
    if (l->constraint == EXPR_NONE) {
        motion_error(m, l->place,
                     "the multiplier '%s' has no constraint: give it in constraints, as an "
                     "equation among coordinates, "
                     "or as a term -%s*g of the Lagrangian",
                     name, name);
        return;
    }
    const char *what = flatten_text(m->f, "the constraint of '%s'", name);
    leaf_check c = {.what = what ? what : name, .place = l->place};
    if (!check_leaves(m, c, l->constraint)) return;
    reads r = motion_reads(m, l->constraint, -1);
    l->on_velocities = r.velocity;
    if (!r.position && !r.velocity)
        motion_error(m, l->place, "the constraint of '%s' contains no coordinate", name);
    if (r.velocity) check_velocity_constraint(m, l);
}

static void find_constraints(motion *m)
{
    constraints_of_lagrangian(m);
    if (m->constraints)
        constraints_of_field(m);
    else
        constraints_of_equations(m);
    for (size_t j = 0; j < m->multiplier_count && !m->broken && !m->f->failed; j++)
        check_constraint(m, &m->lambda[j]);
}

/* ---- equations of motion ---- */

/* d leaf/dt but for accelerations: q -> q', q' -> 0, others -> their derivative, time -> 1. */
static expr drift_seed(void *context, graph *g, expr leaf)
{
    const motion *m = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op == EXPR_TIME) return graph_constant(g, 1.0);
    if (n->op != EXPR_VARIABLE) return EXPR_NONE;
    if (n->order == 1 && m->variables[n->index].role == ROLE_COORDINATE) return EXPR_NONE;
    return graph_variable(g, n->index, n->order + 1);
}

/* sum + sign*term, without terms that are 0 */
static expr add_term(motion *m, expr sum, expr_op op, expr term)
{
    graph *g = m->f->g;
    if (term == EXPR_NONE || graph_is_number(g, term, 0.0)) return sum;
    return graph_binary(g, op, sum, term);
}

/* sum_l p_{q'_l} q''_l for a momentum p; *found: some factor is not 0. */
static expr inertia_of(motion *m, expr momentum, bool *found)
{
    graph *g = m->f->g;
    expr sum = graph_constant(g, 0.0);
    *found = false;
    for (size_t l = 0; l < m->count && !graph_failed(g); l++) {
        if (m->q[l].massless) continue;
        expr mass = partial_by(m, momentum, m->q[l].variable, 1);
        if (mass == EXPR_NONE || graph_is_number(g, mass, 0.0)) continue;
        *found = true;
        sum = graph_binary(g, EXPR_ADD, sum,
                           graph_binary(g, EXPR_MUL, mass, graph_variable(g, m->q[l].variable, 2)));
    }
    return sum;
}

/* - sum_j lambda_j dg_j/dq_k, added to `sum`; what stands in L itself comes with L_{q_k}. */
static expr add_constraint_forces(motion *m, const coordinate *q, expr sum)
{
    graph *g = m->f->g;
    for (size_t j = 0; j < m->multiplier_count && !graph_failed(g); j++) {
        const multiplier *l = &m->lambda[j];
        if (l->in_lagrangian || (l->on_velocities && q->massless)) continue;
        expr slope = partial_by(m, l->constraint, q->variable, l->on_velocities);
        if (graph_is_number(g, slope, 0.0)) continue;
        sum = add_term(m, sum, EXPR_SUB,
                       graph_binary(g, EXPR_MUL, slope, graph_variable(g, l->variable, 0)));
    }
    return sum;
}

static const char *place_text(motion *m, source_place place)
{
    const char *file = m->f->file_name ? m->f->file_name : m->f->m->name;
    return flatten_text(m->f, "%.300s:%d", file, place.line);
}

static void add_equation(motion *m, expr left, expr right, source_place place, const char *what,
                         int variable)
{
    const char *at = place_text(m, place);
    const char *name = at ? flatten_text(m->f, "%s %s, from the energies (%s)", what,
                                         variable_name(m, variable), at)
                          : NULL;
    push_pair(m->f, &m->f->equations,
              (equation_pair){.left = contract(m, left),
                              .right = contract(m, right),
                              .type = VALUE_REAL,
                              .place = place,
                              .comment = name});
}

static void add_motion(motion *m, const coordinate *q)
{
    graph *g = m->f->g;
    expr left = graph_constant(g, 0.0);
    expr right = partial_by(m, m->lagrangian, q->variable, 0);
    if (!q->massless) {
        bool found;
        expr momentum = partial_by(m, m->lagrangian, q->variable, 1);
        left = inertia_of(m, momentum, &found);
        if (!found)
            motion_error(m, q->place,
                         "the Lagrangian has no kinetic energy in '%s', so that nothing gives its "
                         "acceleration; "
                         "list it under massless if it has none",
                         variable_name(m, q->variable));
        right = add_term(m, right, EXPR_SUB, made(m, derive_direction(g, momentum, drift_seed, m)));
        expr loss = m->energies[DISSIPATION].e;
        if (loss != EXPR_NONE)
            right = add_term(m, right, EXPR_SUB, partial_by(m, loss, q->variable, 1));
    }
    right = add_term(m, right, EXPR_ADD, q->force);
    right = add_constraint_forces(m, q, right);
    if (!m->broken) add_equation(m, left, right, q->place, "equation of motion of", q->variable);
}

static void add_constraints(motion *m)
{
    for (size_t j = 0; j < m->multiplier_count && !m->f->failed; j++)
        if (m->lambda[j].added)
            add_equation(m, graph_constant(m->f->g, 0.0), m->lambda[j].constraint,
                         m->lambda[j].place, "constraint of", m->lambda[j].variable);
}

/* All energies over coordinates; L = T - U [Wun05 (1.1)]. */
static void expand_energies(motion *m)
{
    static const char *const names[] = {"the Lagrangian", "the kinetic energy",
                                        "the potential energy", "the dissipation"};
    energy *all = m->energies;
    for (int k = 0; k < ENERGIES && !m->broken && !graph_failed(m->f->g); k++) {
        if (all[k].e == EXPR_NONE) continue;
        all[k].e = expand(m, all[k].e);
        leaf_check c = {.what = names[k], .place = all[k].place, .multipliers = k == LAGRANGIAN};
        if (!m->broken) check_leaves(m, c, all[k].e);
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
    if (!m.broken && !f->failed) find_constraints(&m);
    for (size_t k = 0; k < m.count && !m.broken && !f->failed; k++) add_motion(&m, &m.q[k]);
    if (!m.broken && !f->failed) add_constraints(&m);
}
