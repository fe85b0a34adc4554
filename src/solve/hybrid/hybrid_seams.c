/* Seams: times at which relations of time alone change that are no events.
 *
 * Inside noEvent and smooth a relation is a comparison like any other. Where its sides contain time
 * and nothing that moves, the times at which it changes are known before the run gets there; but a
 * pulse between two of them may be shorter than a step, and no method sees what lies between its
 * stages. So steps end before a seam and begin anew behind it. States stay as they are, nothing is
 * updated or reported. The kinks of abs, min and max, and the jumps of sign, floor and ceil, are
 * seams, too: error estimates of high order make light of them. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "expr/walk.h"
#include "solve/hybrid/hybrid_parts.h"

/* Pieces of time in one search; pieces that are as short as they get and still say nothing. */
enum { MOST_PIECES = 1 << 16, MOST_UNBOUNDED = 256, MOST_HALVINGS = 30 };
/* Pieces that are halved so often are looked at in some places, for sides that agree in all of
 * them. */
enum { FEW_HALVINGS = 8 };

struct time_seams {
    owned_part part;
    const model_form *form; /* whose relations these are; borrowed */
    const flat_model *flat;
    expr *relation;         /* comparisons of time, and floors */
    int *line;              /* of their equations */
    double *truth;          /* work: their values where a piece begins */
    size_t count;           /* of them */
    range_program *program; /* what changes them (seam_argument); NULL: there are none */
    range *result;          /* work */
    double next;            /* the first time behind the next seam; INFINITY: none is known */
    bool told;              /* the user knows that not all were looked for */
};

static void seams_free(void *self)
{
    time_seams *q = self;
    range_program_free(q->program);
    dae_free_all(q->relation, q->line, q->truth, q->result, q);
}

/* ---- which relations ---- */

static bool has_seam(expr_op op)
{
    return op == EXPR_LT || op == EXPR_LE || op == EXPR_ABS || op == EXPR_SIGN || op == EXPR_MIN ||
           op == EXPR_MAX || op == EXPR_FLOOR || op == EXPR_CEIL;
}

bool seams_possible(const graph *g)
{
    for (expr e = 1; e < graph_size(g); e++)
        if (has_seam((expr_op)graph_node(g, e)->op)) return true;
    return false;
}

unsigned char *seam_leaves(const flat_model *m, const walk *w)
{
    const graph *g = m->graph;
    unsigned char *on = dae_calloc(w->count + 1, 1);
    for (size_t i = 0; on && i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        expr operand[3] = {n->a, n->b, n->c};
        if (n->op == EXPR_TIME) on[i] = SEAM_OF_TIME;
        if (n->op == EXPR_VARIABLE || n->op >= EXPR_OP_COUNT)
            on[i] = SEAM_OF_VARIABLES; /* or a loop */
        if (n->op == EXPR_MEMORY && flat_is_delayed(m, n->index)) on[i] = SEAM_OF_VARIABLES;
        int arity = n->op < EXPR_OP_COUNT ? graph_arity(n->op) : 0;
        for (int k = 0; k < arity; k++) on[i] |= on[walk_place(w, operand[k])];
    }
    return on;
}

expr seam_of(graph *g, expr e)
{
    const expr_node n = *graph_node(g, e);
    if (n.op == EXPR_LT || n.op == EXPR_LE || n.op == EXPR_FLOOR) return e;
    if (n.op == EXPR_CEIL) return graph_unary(g, EXPR_FLOOR, graph_unary(g, EXPR_NEG, n.a));
    const expr_node *of = graph_node(g, n.a); /* abs(a - b): two sides, which may agree */
    if ((n.op == EXPR_ABS || n.op == EXPR_SIGN) && of->op == EXPR_SUB)
        return graph_binary(g, EXPR_LT, of->a, of->b);
    if (n.op == EXPR_ABS || n.op == EXPR_SIGN)
        return graph_binary(g, EXPR_LT, n.a, graph_constant(g, 0.0));
    if (n.op == EXPR_MIN || n.op == EXPR_MAX) return graph_binary(g, EXPR_LT, n.a, n.b);
    return EXPR_NONE;
}

expr seam_argument(graph *g, expr seam)
{
    const expr_node n = *graph_node(g, seam);
    return n.op == EXPR_FLOOR ? n.a : graph_binary(g, EXPR_SUB, n.a, n.b);
}

/* Append a seam, unless it is listed. */
static void list_seam(time_seams *q, expr seam, int line)
{
    for (size_t k = 0; k < q->count; k++)
        if (q->relation[k] == seam) return;
    q->line[q->count] = line;
    q->relation[q->count++] = seam;
}

/* The seams of time that a walk has reached; line: of its nodes. False: memory. */
static bool list_walk(time_seams *q, graph *g, const walk *w, const int *line)
{
    unsigned char *on = seam_leaves(q->flat, w);
    q->relation = DAE_ARRAY(expr, w->count);
    q->line = DAE_ARRAY(int, w->count);
    const bool ok = on && q->relation && q->line;
    for (size_t i = 0; ok && i < w->count; i++) {
        expr seam = on[i] == SEAM_OF_TIME ? seam_of(g, w->order[i]) : EXPR_NONE;
        if (seam != EXPR_NONE) list_seam(q, seam, line[i]);
    }
    dae_free(on);
    return ok && !graph_failed(g);
}

/* Walk on from e; the nodes that are new belong to its line. */
static bool walk_line(walk *w, const graph *g, expr e, int line, int *lines)
{
    const size_t before = w->count;
    if (!walk_on(w, g, e)) return false;
    for (size_t i = before; i < w->count; i++) lines[i] = line;
    return true;
}

/* Those of the equations as they are written, and as they are integrated: there definitions stand
 * for variables, so that s = sign(y), y = sin(time) has a seam of time. */
static bool list_relations(time_seams *q, const model_form *f)
{
    const flat_model *m = f->flat;
    walk w = {0};
    int *lines = DAE_ARRAY(int, graph_size(m->graph));
    bool ok = lines && walk_open(&w, m->graph);
    for (size_t k = 0; ok && k < m->equation_count; k++)
        ok = walk_line(&w, m->graph, m->equations[k].residual, m->equations[k].place.line, lines);
    for (size_t k = 0; ok && k < f->residual.outputs; k++)
        ok = walk_line(&w, m->graph, f->residual.e[k], f->equation_lines[k], lines);
    ok = ok && list_walk(q, m->graph, &w, lines);
    walk_free(&w);
    dae_free(lines);
    return ok;
}

static bool make_program(time_seams *q, graph *g)
{
    expr *argument = DAE_ARRAY(expr, q->count);
    q->truth = DAE_ARRAY(double, q->count);
    q->result = DAE_ARRAY(range, q->count);
    for (size_t k = 0; argument && k < q->count; k++)
        argument[k] = seam_argument(g, q->relation[k]);
    bool ok = argument && q->truth && q->result && !graph_failed(g);
    if (ok) q->program = range_program_new(g, argument, q->count);
    dae_free(argument);
    return q->program != NULL;
}

static time_seams *seams_new(const model_form *f)
{
    time_seams *q = DAE_NEW(time_seams);
    if (!q) return NULL;
    q->part.free = seams_free;
    q->form = f;
    q->flat = f->flat;
    q->next = INFINITY;
    graph_enter(f->flat->graph);
    bool ok = !seams_possible(f->flat->graph) || list_relations(q, f);
    ok = ok && (q->count == 0 || make_program(q, f->flat->graph));
    graph_leave(f->flat->graph);
    if (ok) return q;
    seams_free(q);
    return NULL;
}

/* ---- where they change ---- */

/* Whether relation k holds at t, or the value of a floor there. */
static double piece_of(const dae_solver *s, size_t k, double t)
{
    return value_at(s, t, s->hybrid->seams->relation[k]);
}

/* Whether the two sides of relation k agree at t, but for their last digits. */
static bool sides_agree(const dae_solver *s, size_t k, double t)
{
    graph *g = flat_of(s)->graph;
    graph_enter(g);
    const expr_node n = *graph_node(g, s->hybrid->seams->relation[k]);
    graph_leave(g);
    if (n.op == EXPR_FLOOR) return false;
    const double a = value_at(s, t, n.a), b = value_at(s, t, n.b);
    return fabs(a - b) <= SEAM_DIGITS * fabs(a);
}

/* Whether a relation has changed at t since the piece began. */
static bool has_changed(const dae_solver *s, double t)
{
    const time_seams *q = s->hybrid->seams;
    for (size_t k = 0; k < q->count; k++)
        if (piece_of(s, k, t) != q->truth[k]) return true;
    return false;
}

/* The same where sides do not agree: with these rounding alone has changed it. */
static bool has_parted(const dae_solver *s, double t)
{
    const time_seams *q = s->hybrid->seams;
    for (size_t k = 0; k < q->count; k++)
        if (piece_of(s, k, t) != q->truth[k] && !sides_agree(s, k, t)) return true;
    return false;
}

/* Whether relation k, whose argument has this range, changes one way at most: where it has not
 * changed at the end it has not changed in between. */
static bool is_plain(const dae_solver *s, size_t k, const range *r)
{
    graph *g = flat_of(s)->graph;
    graph_enter(g);
    const bool steps = graph_node(g, s->hybrid->seams->relation[k])->op == EXPR_FLOOR;
    graph_leave(g);
    if (!steps) return range_is_plain(r);
    return r->slope.lo >= 0.0 || r->slope.hi <= 0.0 || floor(r->value.lo) == floor(r->value.hi);
}

/* Whether the sides of relation k agree wherever they are looked at between a and b, as those of
 * min(time, asin(sin(time))), of which no range can be known. */
static bool agrees_within(const dae_solver *s, size_t k, double a, double b)
{
    const double places[] = {0.0, 1.0, GOLDEN, 1.0 - GOLDEN};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!sides_agree(s, k, a + places[i] * (b - a))) return false;
    return true;
}

/* The first relation that may change more than once between a and b, or -1; is_short: it may be
 * enough to look at some places. */
static int first_not_plain(const dae_solver *s, double a, double b, bool is_short)
{
    const time_seams *q = s->hybrid->seams;
    range_leaves leaves = {.time = {a, b},
                           .parameters = s->hybrid->instance->parameters,
                           .memory = s->hybrid->instance->memory};
    range_program_run(q->program, &leaves, q->result);
    for (size_t k = 0; k < q->count; k++)
        if (!is_plain(s, k, &q->result[k]) && !(is_short && agrees_within(s, k, a, b)))
            return (int)k;
    return -1;
}

/* The first number in (a, b] at which a relation has changed: it has at b. */
static double first_change(const dae_solver *s, double a, double b)
{
    for (double m = 0.5 * (a + b); m > a && m < b; m = 0.5 * (a + b))
        if (has_changed(s, m))
            b = m;
        else
            a = m;
    return b;
}

static void tell_spent(dae_solver *s, int k, double t)
{
    time_seams *q = s->hybrid->seams;
    char text[400];
    if (q->told) return;
    q->told = true;
    snprintf(text, sizeof text,
             "note: %.100s:%d: a relation of time inside of noEvent or smooth changes so often "
             "behind t = %.9g that its changes are not looked for: steps may pass over short ones. "
             "Limit the steps (max_step), or leave noEvent out.",
             model_file(s), q->line[k], t);
    solver_note(s, text);
}

/* The first change behind t, up to end; INFINITY: none. */
static double next_change(dae_solver *s, double t, double end)
{
    time_seams *q = s->hybrid->seams;
    double length = end - t, shortest = ldexp(length, -MOST_HALVINGS),
           close = ldexp(length, -FEW_HALVINGS);
    int unbounded = 0;
    for (size_t k = 0; k < q->count; k++) q->truth[k] = piece_of(s, k, t);
    for (int pieces = 0; t < end; pieces++, length *= 2.0) {
        double to = fmin(t + length, end);
        int wild = first_not_plain(s, t, to, length <= close);
        while (wild >= 0 && 0.5 * length >= shortest) {
            length *= 0.5;
            to = t + length;
            wild = first_not_plain(s, t, to, length <= close);
        }
        unbounded += wild >= 0;
        if (has_parted(s, to)) return first_change(s, t, to);
        if (to == t || unbounded > MOST_UNBOUNDED || pieces > MOST_PIECES) {
            tell_spent(s, wild < 0 ? 0 : wild, t);
            return INFINITY;
        }
        t = to;
    }
    return INFINITY;
}

/* ---- at them ---- */

/* Times this close are one. */
static double seam_slack(double t, double end)
{
    return 16.0 * DBL_EPSILON * fmax(fabs(t), fabs(end - t));
}

void hybrid_seek_seam(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double end = solver_stop_time(s);
    state_seams_bind(s);
    if (!h->seams || h->seams->form != h->instance->form) {
        const bool told = h->seams && h->seams->told;
        part_free(h->seams);
        h->seams = seams_new(h->instance->form);
        if (h->seams) h->seams->told = told;
        if (!h->seams) h->no_memory = true;
        if (hybrid_is_large(h)) hybrid_tidy(h);
    }
    if (!h->seams) return;
    h->seams->next = h->cut > s->run.t ? h->cut : INFINITY;
    bool steps_are_free = s->run.direction > 0.0 && !steps_are_given(&s->bound.options);
    if (!h->seams->program || !steps_are_free || !isfinite(end)) return;
    double from = s->run.t + seam_slack(s->run.t, end);
    if (from < end - seam_slack(s->run.t, end))
        h->seams->next = fmin(h->seams->next, next_change(s, from, end));
}

void seams_persist(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    const bool sought = persist_flag(p, h->seams);
    if (p->reading && sought && !h->seams) hybrid_seek_seam(s);
    if (sought && !h->seams) p->no_memory = true;
    if (!sought || !h->seams) return;
    PERSIST(p, h->seams->next);
    PERSIST(p, h->seams->told);
}

double hybrid_next_seam(const hybrid *h)
{
    return h->seams && isfinite(h->seams->next) ? nextafter(h->seams->next, -INFINITY) : INFINITY;
}

bool hybrid_at_seam(const dae_solver *s)
{
    double seam = s->run.direction > 0.0 ? hybrid_next_seam(s->hybrid) : INFINITY;
    return isfinite(seam) && s->run.t >= seam - 4.0 * DBL_EPSILON * fabs(seam);
}

/* The values where the last step ends. */
static void take_end(dae_solver *s)
{
    solver_interpolate(s, s->run.t_new, 0, s->hybrid->ahead);
    solver_interpolate(s, s->run.t_new, 1, s->hybrid->ahead_yp);
    vector_copy(s->bound.n, s->hybrid->ahead, s->bound.y);
    vector_copy(s->bound.n, s->hybrid->ahead_yp, s->bound.yp);
}

dae_status hybrid_pass_seam(dae_solver *s)
{
    double direction = s->run.direction, t = s->hybrid->seams->next;
    const double end = s->run.t_new;
    take_end(s);
    relations_note_seam(s);
    rows_leave_seam(s);
    take_end(s); /* the row before may have needed a second run, with values of its own */
    if (t == s->hybrid->cut) t = hybrid_pass_state_seam(s);
    trace_keep_seen(s);
    s->run.t = s->run.t_old = s->run.t_new = s->run.searched = t;
    dae_status status = hybrid_begin_again(s);
    s->run.direction = direction;
    crowd_keep_point(s, t);
    solver_join(s, end);
    if (status == DAE_OK && relations_pass_seam(s, t)) s->hybrid->pending = EVENT_SEAM;
    return status;
}
