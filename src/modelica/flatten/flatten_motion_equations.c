/* Equations of motion: constraints with their multipliers, then the derivatives of the energies. */
#include "base/memory.h"
#include "expr/derive.h"
#include "modelica/flatten/flatten_motion.h"

/* sum + term or sum - term, without terms that are 0 */
static expr add_term(motion *m, expr sum, expr_op op, expr term)
{
    graph *g = m->f->g;
    if (term == EXPR_NONE || graph_is_number(g, term, 0.0)) return sum;
    return graph_binary(g, op, sum, term);
}

/* ---- derivatives by coordinates and multipliers ---- */

/* One sweep for all of them: cost is the size of e, however many coordinates there are. */
void motion_slopes(motion *m, expr e, slope_taker take, void *context)
{
    gradient slopes = {0};
    if (e == EXPR_NONE || m->broken || m->f->failed) return;
    if (!derive_gradient(m->f->g, e, &slopes)) m->f->failed = true;
    for (size_t k = 0; k < slopes.count && !m->f->failed; k++) {
        const expr_node *x = graph_node(m->f->g, slopes.leaf[k]);
        if (m->variables[x->index].role != ROLE_OTHER && x->order <= 1)
            take(m, context, x, slopes.derivative[k]);
    }
    gradient_free(&slopes);
}

/* ---- constraints ---- */

typedef struct reads {
    const motion *m;
    bool position, velocity;
} reads;

static void note_reads(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    reads *r = context;
    if (n->op != EXPR_VARIABLE) return;
    motion_role role = r->m->variables[n->index].role;
    if (role == ROLE_COORDINATE && n->order == 1) r->velocity = true;
    if (n->order == 0 && (role == ROLE_COORDINATE || role == ROLE_MASSLESS)) r->position = true;
}

static reads motion_reads(motion *m, expr e)
{
    reads r = {.m = m};
    visit_begin(m->f);
    visit_leaves(m->f, e, note_reads, &r);
    return r;
}

/* Equation k of the model over coordinates, 0 = g; EXPR_NONE: it is der(q) = v, a definition, or
 * not over Reals. */
static expr own_equation(motion *m, size_t k)
{
    const equation_pair *p = &m->f->equations.items[k];
    if (p->type != VALUE_REAL || m->kinematic[k]) return EXPR_NONE;
    if (p->residual != EXPR_NONE) return motion_expand(m, p->residual);
    return motion_expand(m, graph_binary(m->f->g, EXPR_SUB, p->left, p->right));
}

/* Constraint g of the next multiplier that has none; *next is where to look. */
static bool take_constraint(motion *m, size_t *next, expr g, source_place place, bool added)
{
    while (*next < m->multiplier_count && m->lambda[*next].constraint != EXPR_NONE) (*next)++;
    if (*next == m->multiplier_count) return false;
    multiplier *l = &m->lambda[*next];
    l->constraint = g;
    l->place = place;
    l->added = added;
    return true;
}

/* g = -dL/dlambda where L contains lambda [Wun05 (1.3), (1.4)] */
static void take_from_lagrangian(motion *m, void *context, const expr_node *x, expr slope)
{
    (void)context;
    const motion_variable *v = &m->variables[x->index];
    if (v->role != ROLE_MULTIPLIER) return;
    multiplier *l = &m->lambda[v->place];
    l->constraint = motion_made(m, graph_unary(m->f->g, EXPR_NEG, slope));
    l->in_lagrangian = l->added = true;
}

static void constraints_of_field(motion *m)
{
    value v;
    size_t next = 0;
    if (!motion_field(m, m->constraints, &v)) return;
    for (size_t k = 0; k < v.count; k++) {
        expr g = motion_expand(m, value_element(&v, k));
        if (take_constraint(m, &next, g, motion_place(m->constraints, k, v.count), true)) continue;
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
    size_t next = 0;
    for (size_t k = 0; k < all->count && m->multiplier_count > 0 && !m->broken; k++) {
        expr g = own_equation(m, k);
        if (g == EXPR_NONE) continue;
        reads r = motion_reads(m, g);
        if ((r.position || r.velocity) && motion_check(m, quiet, g))
            m->kinematic[k] = take_constraint(m, &next, g, all->items[k].place, false);
    }
}

/* What an equation ties together. */
typedef struct ties {
    const motion *m;
    bool open, coordinate; /* it determines something else; it contains a coordinate */
    int state;             /* a variable of the energies that is no coordinate, or -1 */
} ties;

static void note_ties(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    ties *t = context;
    if (n->op != EXPR_VARIABLE) return;
    const motion_variable *x = &t->m->variables[n->index];
    if (x->role == ROLE_COORDINATE || x->role == ROLE_MASSLESS)
        t->coordinate = true;
    else if (x->role == ROLE_MULTIPLIER || !x->derived || n->order > 0)
        t->open = true;
    else if (x->in_energies)
        t->state = n->index;
}

/* A state of its own has no derivative by coordinates. A variable that some equation makes depend
 * on them has: it must be told. */
static void check_states(motion *m)
{
    const pair_list *all = &m->f->equations;
    for (size_t k = 0; k < all->count && !m->broken && !m->f->failed; k++) {
        ties t = {.m = m, .state = -1};
        expr g = own_equation(m, k);
        if (g == EXPR_NONE) continue;
        visit_begin(m->f);
        visit_leaves(m->f, g, note_ties, &t);
        if (t.open || !t.coordinate || t.state < 0) continue;
        const char *name = motion_name(m, t.state);
        motion_error(m, all->items[k].place,
                     "'%s' is part of the energies, and this equation makes it depend on "
                     "coordinates: define it by '%s = ..', or list it under massless",
                     name, name);
    }
}

/* A constraint on velocities must be linear in them, or its force has no direction. */
static void check_linear(motion *m, void *context, const expr_node *x, expr slope)
{
    const multiplier *l = context;
    if (x->order == 0 || m->broken || !motion_reads(m, slope).velocity) return;
    motion_error(m, l->place,
                 "the constraint of '%s' is not linear in the velocities, so that its force has no "
                 "direction",
                 motion_name(m, l->variable));
}

static void check_constraint(motion *m, multiplier *l)
{
    const char *name = motion_name(m, l->variable);
    if (l->constraint == EXPR_NONE) {
        motion_error(m, l->place,
                     "the multiplier '%s' has no constraint: give it in constraints, as an "
                     "equation among coordinates, or as a term -%s*g of the Lagrangian",
                     name, name);
        return;
    }
    const char *what = flatten_text(m->f, "the constraint of '%s'", name);
    leaf_check c = {.what = what ? what : name, .place = l->place};
    if (!motion_check(m, c, l->constraint)) return;
    reads r = motion_reads(m, l->constraint);
    l->on_velocities = r.velocity;
    if (r.velocity && l->in_lagrangian) {
        motion_error(m, l->place,
                     "the constraint of '%s' is on velocities, and what Lagrange's equations make "
                     "of it in the Lagrangian is not its force: give it in constraints",
                     name);
        return;
    }
    if (!r.position && !r.velocity)
        motion_error(m, l->place, "the constraint of '%s' contains no coordinate", name);
    if (r.velocity) motion_slopes(m, l->constraint, check_linear, l);
}

void motion_constraints(motion *m)
{
    if (m->multiplier_count > 0) motion_slopes(m, m->lagrangian, take_from_lagrangian, NULL);
    if (m->constraints)
        constraints_of_field(m);
    else
        constraints_of_equations(m);
    for (size_t j = 0; j < m->multiplier_count && !m->broken && !m->f->failed; j++)
        check_constraint(m, &m->lambda[j]);
    check_states(m);
}

/* ---- what acts on a coordinate ---- */

/* L_q and L_q' */
static void take_energy(motion *m, void *context, const expr_node *x, expr slope)
{
    (void)context;
    const motion_variable *v = &m->variables[x->index];
    if (v->role == ROLE_MULTIPLIER) return;
    *(x->order == 0 ? &m->q[v->place].slope : &m->q[v->place].momentum) = slope;
}

/* R_q' */
static void take_loss(motion *m, void *context, const expr_node *x, expr slope)
{
    (void)context;
    if (x->order == 1) m->q[m->variables[x->index].place].loss = slope;
}

/* dg_j/dq or dg_j/dq' times lambda_j */
static void take_reaction(motion *m, void *context, const expr_node *x, expr slope)
{
    const multiplier *l = context;
    graph *g = m->f->g;
    if (x->order != (l->on_velocities ? 1 : 0)) return;
    expr force = graph_binary(g, EXPR_MUL, slope, graph_variable(g, l->variable, 0));
    coordinate *q = &m->q[m->variables[x->index].place];
    q->reaction = q->reaction == EXPR_NONE ? force : graph_binary(g, EXPR_ADD, q->reaction, force);
}

/* What stands in L itself comes with L_q. */
static void collect_forces(motion *m)
{
    motion_slopes(m, m->lagrangian, take_energy, NULL);
    motion_slopes(m, m->energies[DISSIPATION].e, take_loss, NULL);
    for (size_t j = 0; j < m->multiplier_count; j++)
        if (!m->lambda[j].in_lagrangian)
            motion_slopes(m, m->lambda[j].constraint, take_reaction, &m->lambda[j]);
}

/* ---- equations ---- */

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

/* 2 (m/2), as the derivative of m/2 v^2 comes out, is m. */
static expr tidy_mass(graph *g, expr mass)
{
    const expr_node *n = graph_node(g, mass);
    double c, d;
    if (n->op != EXPR_MUL || !graph_is_constant(g, n->a, &c)) return mass;
    const expr_node *half = graph_node(g, n->b);
    bool cancels = half->op == EXPR_DIV && graph_is_constant(g, half->b, &d) && c == d;
    return cancels ? half->a : mass;
}

/* + p_q'_l q''_l for a momentum p */
static void take_mass(motion *m, void *context, const expr_node *x, expr mass)
{
    expr *sum = context;
    graph *g = m->f->g;
    if (x->order == 0) return;
    expr term = graph_binary(g, EXPR_MUL, tidy_mass(g, mass), graph_variable(g, x->index, 2));
    *sum = *sum == EXPR_NONE ? term : graph_binary(g, EXPR_ADD, *sum, term);
}

static void add_equation(motion *m, expr left, expr right, source_place place, const char *what,
                         int variable)
{
    const char *file = m->f->file_name ? m->f->file_name : m->f->m->name;
    const char *name = flatten_text(m->f, "%s %s, from the energies (%.300s:%d)", what,
                                    motion_name(m, variable), file, place.line);
    push_pair(m->f, &m->f->equations,
              (equation_pair){.left = motion_contract(m, left),
                              .right = motion_contract(m, right),
                              .type = VALUE_REAL,
                              .place = place,
                              .comment = name});
}

/* The left side of an equation of motion, sum_l L_q'_k q'_l q''_l; it must not be empty. */
static expr inertia_of(motion *m, const coordinate *q)
{
    expr sum = EXPR_NONE;
    motion_slopes(m, q->momentum, take_mass, &sum);
    if (sum == EXPR_NONE && !m->f->failed)
        motion_error(m, q->place,
                     "the Lagrangian has no kinetic energy in '%s', so that nothing gives its "
                     "acceleration; list it under massless if it has none",
                     motion_name(m, q->variable));
    return sum;
}

static void add_motion(motion *m, const coordinate *q)
{
    graph *g = m->f->g;
    expr left = graph_constant(g, 0.0), right = left;
    if (!q->massless) left = inertia_of(m, q);
    if (m->broken || m->f->failed) return;
    if (q->slope != EXPR_NONE) right = q->slope;
    if (q->momentum != EXPR_NONE)
        right = add_term(m, right, EXPR_SUB,
                         motion_made(m, derive_direction(g, q->momentum, drift_seed, m)));
    right = add_term(m, right, EXPR_SUB, q->loss);
    right = add_term(m, right, EXPR_ADD, q->force);
    right = add_term(m, right, EXPR_SUB, q->reaction);
    add_equation(m, left, right, q->place, "equation of motion of", q->variable);
}

void motion_add(motion *m)
{
    collect_forces(m);
    for (size_t k = 0; k < m->count && !m->broken && !m->f->failed; k++) add_motion(m, &m->q[k]);
    if (!m->broken && !m->f->failed) motion_check_inertia(m);
    for (size_t j = 0; j < m->multiplier_count && !m->broken && !m->f->failed; j++)
        if (m->lambda[j].added)
            add_equation(m, graph_constant(m->f->g, 0.0), m->lambda[j].constraint,
                         m->lambda[j].place, "constraint of", m->lambda[j].variable);
}
