#include "solve/sensitivity/tangent_past.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/least_squares.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"

/* Between the nodes a piece is checked at these places; it may be wrong by this part of the
 * tolerance of S. Pieces are halved so often at most, and so many are looked at in a step: they are
 * those of steps of S, which are short enough for it. */
static const double CHECKS[] = {0.22, 0.5, 0.81};
enum { CHECK_COUNT = 3, SAMPLES = DELAY_NODES + CHECK_COUNT, MOST_HALVINGS = 8, MOST_LOOKS = 40 };
static const double FINE = 0.1;
/* A piece of S that is so much shorter than that of x has no numbers on the latter's scale. */
static const double SHORT = 0.125;

/* When something broke, and how that time moves in each direction. */
typedef struct moving_break {
    double time;
    double *tau; /* columns; owned */
    bool *apart; /* per column: jumps do, and who knows of bends; owned */
} moving_break;

static void moving_break_free(moving_break *b)
{
    dae_free_all(b->tau, b->apart);
}

/* What slopes that are not known well do to a column. */
typedef struct slope_doubt {
    double size, off; /* the largest -x' dlag/dp so far, and what one may be off by, */
    double t;         /* at this time */
    size_t delay;
} slope_doubt;

struct tangent_past {
    size_t delays, columns;
    size_t kept;         /* columns, and two more for slopes, if a delay time moves or varies */
    delay_past *past;    /* per delay and kept column: d(value)/dp, d(value)/dt by the equations,
                            and how much faster the smooth solution moves; pieces owned */
    double *memory;      /* of the lead, with the pieces that rates belong to; owned, */
    double *own;         /* and as it was before it was steered; behind it */
    bool held;           /* likewise of the table */
    model_tangent *lags; /* of delay times by what moves, where these are constant; owned */
    double *lag_moves;   /* per delay and column: the derivative; owned */
    moving_break *breaks;
    size_t break_count, break_room;
    bool broken;        /* S jumps where the next piece begins */
    bool told;          /* whole starts have told how what was before the run moves */
    double reached;     /* all is recorded up to here */
    double *values;     /* samples rows of delays x kept; owned, with the next */
    double *s;          /* 4 n of the lead */
    size_t room;        /* of s */
    slope_doubt *doubt; /* per column; owned */
};

static delay_past *past_of(const tangent_past *q, size_t delay, size_t column)
{
    return &q->past[delay * q->kept + column];
}

static const delay_table *table_of(const dae_sensitivity *x)
{
    return x->run->hybrid->delays;
}

/* ---- life ---- */

static void forget_breaks(tangent_past *q, double before)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->break_count; i++) {
        if (q->breaks[i].time >= before)
            q->breaks[kept++] = q->breaks[i];
        else
            moving_break_free(&q->breaks[i]);
    }
    q->break_count = kept;
}

void tangent_past_free(tangent_past *q)
{
    if (!q) return;
    forget_breaks(q, INFINITY);
    for (size_t i = 0; q->past && i < q->delays * q->kept; i++) dae_free(q->past[i].piece);
    model_tangent_free(q->lags);
    dae_free_all(q->past, q->memory, q->lag_moves, q->breaks, q->values, q->s, q->doubt, q);
}

static tangent_past *tangent_past_new(const dae_sensitivity *x)
{
    const flat_model *m = x->run->base->model->flat;
    tangent_past *q = DAE_NEW(tangent_past);
    expr *lag = DAE_ARRAY(expr, m->delay_count);
    if (q && lag) {
        q->delays = m->delay_count;
        q->columns = (size_t)x->directions.count;
        q->kept = q->columns + 2;
        q->doubt = DAE_ARRAY(slope_doubt, q->columns);
        for (size_t i = 0; i < q->delays; i++)
            lag[i] = m->delays[i].varies ? EXPR_NONE : m->delays[i].lag;
        q->past = DAE_ARRAY(delay_past, q->delays * q->kept);
        q->memory = DAE_ARRAY(double, 2 * (size_t)m->memory_count);
        q->own = q->memory ? q->memory + m->memory_count : NULL;
        q->lag_moves = DAE_ARRAY(double, q->delays * q->columns);
        q->values = DAE_ARRAY(double, SAMPLES * q->delays * q->kept);
        q->lags = model_tangent_new(m->graph, lag, q->delays, 0, &x->directions.inputs, false);
    }
    dae_free(lag);
    if (q && q->past && q->memory && q->lag_moves && q->values && q->doubt && q->lags) return q;
    tangent_past_free(q);
    return NULL;
}

const double *tangent_past_memory(const tangent_past *q)
{
    return q ? q->memory : NULL;
}

static bool keeps_slopes(const tangent_past *q)
{
    return q->kept > q->columns;
}

static bool make_room(dae_sensitivity *x)
{
    tangent_past *q = x->past;
    const size_t n = (size_t)x->lead.n;
    if (q->s && q->room >= n) return true;
    dae_free(q->s);
    q->s = DAE_ARRAY(double, 4 * n);
    q->room = n;
    return q->s;
}

/* ---- where the run begins ---- */

/* A delay time that is 0 and moves: x(t - lag) becomes another expression. */
static dae_status refuse_zero(const dae_sensitivity *x, size_t i)
{
    const int line = x->run->diag.line = x->run->base->model->flat->delays[i].place.line;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "%s: the delay time at %.100s:%d is 0, and moves with the parameters: below 0 "
                    "there is no solution. Set it to a positive value.",
                    x->what, model_file(x->run), line);
}

/* Derivatives of delay times, none of which is 0 and moves. */
static dae_status take_lags(dae_sensitivity *x)
{
    tangent_past *q = x->past;
    const model_instance *m = x->run->hybrid->instance;
    const tape_inputs at = {.parameters = m->parameters, .memory = m->memory};
    bool any = false;
    model_tangent_at(q->lags, &at);
    for (size_t i = 0; i < q->delays; i++) {
        any = any || m->form->flat->delays[i].varies;
        for (size_t k = 0; k < q->columns; k++) {
            double *moves = &q->lag_moves[i * q->columns + k];
            *moves = model_tangent_row(q->lags, (int)i, NULL, NULL,
                                       directions_moved(&x->directions, (int)k), 0.0);
            any = any || *moves != 0.0;
            if (*moves != 0.0 && table_of(x)->past[i].identity) return refuse_zero(x, i);
        }
    }
    q->kept = q->columns + (any ? 2 : 0);
    return DAE_OK;
}

dae_status tangent_past_open(dae_sensitivity *x)
{
    const delay_table *table = x->run->hybrid ? table_of(x) : NULL;
    if (!table) return DAE_OK;
    tangent_past_free(x->past); /* of a run before */
    if (!(x->past = tangent_past_new(x))) return sensitivity_no_memory(x);
    tangent_past *q = x->past;
    dae_status status = take_lags(x);
    if (status != DAE_OK) return status;
    q->broken = true;
    q->reached = x->run->run.t;
    for (size_t i = 0; i < q->delays * q->kept; i++) {
        const delay_past *of = &table->past[i / q->kept];
        q->past[i].count = q->past[i].hint = 0;
        delay_piece *first = delay_append(&q->past[i]);
        if (!first) return sensitivity_no_memory(x);
        *first = (delay_piece){.from = of->piece[0].from, .to = of->piece[0].to};
        first->rank = DELAY_SMOOTH;
        q->past[i].lag = of->lag;
        q->past[i].most = of->most;
        q->past[i].identity = of->identity;
    }
    return DAE_OK;
}

bool tangent_past_apart(dae_sensitivity *x)
{
    static const double SAME = 1e-6; /* the second solution of the start is the more accurate one */
    tangent_past *q = x->past;
    dae_solver *s = x->run;
    if (!q) return false;
    const flat_model *m = s->base->model->flat;
    const dae_diag said = s->diag;
    bool apart = m->when_count > 0;
    for (size_t v = 0; v < m->variable_count && !apart; v++) apart = m->variables[v].discrete;
    if (!apart) apart = hybrid_delayed(s, s->run.t, s->bound.y, s->bound.yp, q->values, 1) < 0;
    for (size_t i = 0; i < q->delays && !apart; i++) { /* by initial(), for one */
        const double was = table_of(x)->past[i].piece[0].c[0];
        apart = !(fabs(q->values[i] - was) <= SAME * fabs(was) + s->base_options.atol);
    }
    s->diag = said;
    return apart;
}

void tangent_past_told(dae_sensitivity *x, int k, const double *memory)
{
    tangent_past *q = x->past;
    const flat_model *m = x->run->base->model->flat;
    q->told = true;
    for (size_t i = 0; memory && i < q->delays; i++)
        past_of(q, i, (size_t)k)->piece[0].c[0] = memory[m->delays[i].memory + DELAY_FIRST];
}

/* ---- rates at a point ---- */

/* The piece of column k that holds for delay i at t. */
static const delay_piece *piece_at(const dae_sensitivity *x, size_t i, size_t k, double t,
                                   double then)
{
    delay_past *p = past_of(x->past, i, k);
    p->passed = table_of(x)->past[i].passed;
    return delay_find(p, t, then);
}

/* c: the polynomial of a piece, over from .. from + length. */
static void carry_over(const delay_piece *p, double from, double length, double *c)
{
    double v[DELAY_NODES];
    const double whole = p->to - p->from;
    if (from == p->from && length == whole) {
        memcpy(c, p->c, sizeof v);
        return;
    }
    for (int j = 0; j < DELAY_NODES; j++)
        v[j] = delay_at(p->c, (from + flat_delay_node(j) * length - p->from) / whole);
    delay_fit(v, c);
}

/* The piece of x in memory, over that of S, of which it has much more. */
static void shorten_piece(double *slot, const delay_piece *to)
{
    delay_piece p = {.from = slot[DELAY_FROM], .to = slot[DELAY_FROM] + 1.0 / slot[DELAY_SCALE]};
    memcpy(p.c, slot + DELAY_FIRST, sizeof p.c);
    slot[DELAY_FROM] = to->from;
    slot[DELAY_SCALE] = 1.0 / (to->to - to->from);
    carry_over(&p, to->from, to->to - to->from, slot + DELAY_FIRST);
}

/* A slope x' of delay i may be off by `off`. */
static void note_slope_doubt(tangent_past *q, size_t i, double t, double slope, double off)
{
    for (size_t k = 0; k < q->columns; k++) {
        const double moves = fabs(q->lag_moves[i * q->columns + k]);
        slope_doubt *d = &q->doubt[k];
        d->size = fmax(d->size, fabs(slope) * moves);
        if (!(off * moves > d->off)) continue;
        d->off = off * moves;
        d->t = t;
        d->delay = i;
    }
}

/* What column k of delay i was at `then`. */
static double value_at(const dae_sensitivity *x, size_t i, size_t k, double t, double then)
{
    const delay_piece *p = piece_at(x, i, k, t, then);
    return delay_at(p->c, (then - p->from) / (p->to - p->from));
}

/* The piece in memory has the better slope at `then`, and its value. With an error delta of x its
 * own slope is off by about delta over its length, that of the equations by delta times their
 * stiffness. What is left of the latter where it is smoothed (lead_smooth) tells which is less: all
 * of the difference goes where equations are stiff, little where the piece is short. */
static void set_slope(dae_sensitivity *x, size_t i, double t, double then)
{
    tangent_past *q = x->past;
    double *slot = q->memory + x->lead.form->flat->delays[i].memory;
    if (!keeps_slopes(q)) return;
    const double kept = value_at(x, i, q->columns, t, then);
    const double drift = value_at(x, i, q->columns + 1, t, then);
    const double z = (then - slot[DELAY_FROM]) * slot[DELAY_SCALE];
    const double own = delay_slope(slot + DELAY_FIRST, z) * slot[DELAY_SCALE], less = own - kept;
    if (!isfinite(less) || !isfinite(drift)) return;
    if (2.0 * fabs(drift) > fabs(less)) {
        note_slope_doubt(q, i, t, own, fmin(fabs(less), fabs(less - drift)));
        return;
    }
    note_slope_doubt(q, i, t, kept, fabs(drift));
    slot[DELAY_FIRST] += less * z / slot[DELAY_SCALE];
    slot[DELAY_FIRST + 1] -= less / slot[DELAY_SCALE];
}

/* The polynomials of S for delay i, over the piece of x in memory, as rates. */
static void load_delay(dae_sensitivity *x, size_t i, double t)
{
    tangent_past *q = x->past;
    const model_instance *m = x->lead.solver->hybrid->instance;
    const flat_delay *d = &m->form->flat->delays[i];
    const int *input = x->directions.inputs.memory + d->memory;
    double *slot = q->memory + d->memory;
    const double then = t - model_instance_lag(m, i, t, x->lead.y, x->lead.yp);
    if (table_of(x)->past[i].identity || isnan(slot[DELAY_FROM]) || !isfinite(then)) return;
    const delay_piece *first = piece_at(x, i, 0, t, then);
    if ((first->to - first->from) * slot[DELAY_SCALE] < SHORT) shorten_piece(slot, first);
    for (size_t k = 0; k < q->columns; k++) {
        double *moved = directions_moved(&x->directions, (int)k), c[DELAY_NODES];
        carry_over(piece_at(x, i, k, t, then), slot[DELAY_FROM], 1.0 / slot[DELAY_SCALE], c);
        for (int j = 0; j < DELAY_NODES; j++) moved[input[DELAY_FIRST + j]] = c[j];
    }
    set_slope(x, i, t, then);
}

void tangent_past_load(dae_sensitivity *x, double t)
{
    tangent_past *q = x->past;
    if (!q) return;
    model_instance *m = x->lead.solver->hybrid->instance;
    model_instance_recall(m, t, x->lead.y, x->lead.yp);
    memcpy(q->memory, m->memory, (size_t)m->form->flat->memory_count * sizeof *q->memory);
    for (size_t i = 0; i < q->delays; i++) load_delay(x, i, t);
}

bool tangent_past_steer(dae_sensitivity *x, double t)
{
    tangent_past *q = x->past;
    if (!q || !keeps_slopes(q) || !flat_lags_by_unknowns(x->lead.form->flat)) return false;
    model_instance *m = x->lead.solver->hybrid->instance;
    const size_t bytes = (size_t)m->form->flat->memory_count * sizeof *q->own;
    tangent_past_load(x, t);
    memcpy(q->own, m->memory, bytes);
    memcpy(m->memory, q->memory, bytes);
    q->held = m->delays->held;
    m->delays->held = true;
    model_instance_prepare(m);
    return true;
}

void tangent_past_let_go(dae_sensitivity *x)
{
    tangent_past *q = x->past;
    model_instance *m = x->lead.solver->hybrid->instance;
    memcpy(m->memory, q->own, (size_t)m->form->flat->memory_count * sizeof *q->own);
    m->delays->held = q->held;
    model_instance_prepare(m);
}

/* ---- equations that were differentiated ---- */

/* Memory in which no polynomial of the past is special, near that of the last load. */
static void disturb(const dae_sensitivity *x, double *memory)
{
    const flat_model *m = x->lead.form->flat;
    memcpy(memory, x->past->memory, (size_t)m->memory_count * sizeof *memory);
    for (size_t i = 0; i < m->delay_count; i++) {
        double *slot = memory + m->delays[i].memory, size = 1.0;
        for (int j = 0; j < DELAY_NODES; j++) size = fmax(size, fabs(slot[DELAY_FIRST + j]));
        for (int j = 0; j < DELAY_NODES; j++)
            slot[DELAY_FIRST + j] +=
                1e-3 * size * (0.5 + fmod(((double)i * DELAY_NODES + j) * GOLDEN, 1.0));
    }
}

static dae_status refuse_derivative(const dae_sensitivity *x, size_t i)
{
    const int line = x->run->diag.line = x->lead.form->flat->delays[i].place.line;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "%s: the delay at %.100s:%d stands in a constraint that is differentiated by "
                    "time, and the past of derivatives by parameters is not smooth enough for "
                    "that. Approximate the delay by states.",
                    x->what, model_file(x->run), line);
}

/* A row reads delay i as the value P(z) = c0 + z (c1 + ..) alone, if its derivative by c1 is z
 * times that by c0: P' has c1 without c0. */
static bool reads_value(const dae_sensitivity *x, size_t i, const double *memory, double t,
                        double *unit, double *row)
{
    const lead *l = &x->lead;
    const flat_delay *d = &l->form->flat->delays[i];
    const model_instance *m = l->solver->hybrid->instance;
    const int *input = x->directions.inputs.memory + d->memory + DELAY_FIRST;
    const double *slot = memory + d->memory;
    const double then = t - model_instance_lag(m, i, t, l->y, l->yp);
    const double z = (then - slot[DELAY_FROM]) * slot[DELAY_SCALE];
    for (int j = 0; j < 2; j++) {
        unit[input[j]] = 1.0;
        model_tangent_apply(l->tangents->rows, NULL, NULL, unit, 0.0, row + j * l->form->rows);
        unit[input[j]] = 0.0;
    }
    for (int r = 0; r < l->form->rows; r++) {
        const double value = z * row[r], off = fabs(row[l->form->rows + r] - value);
        if (off > 1e-6 * fabs(value) && off > 1e-9 * fabs(row[r])) return false; /* z rounds */
    }
    return true;
}

dae_status tangent_past_check(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    if (!x->past || l->tangents->past_checked) return DAE_OK;
    tangent_past_load(x, t);
    const size_t inputs = (size_t)x->directions.inputs.count;
    double *memory =
        DAE_ARRAY(double, (size_t)l->form->flat->memory_count + inputs + 2 * (size_t)l->form->rows);
    if (!memory) return sensitivity_no_memory(x);
    double *unit = memory + l->form->flat->memory_count;
    disturb(x, memory);
    tape_inputs at = lead_point(x, t);
    at.memory = memory;
    model_tangent_at(l->tangents->rows, &at);
    dae_status status = DAE_OK;
    for (size_t i = 0; i < x->past->delays && status == DAE_OK; i++)
        if (!table_of(x)->past[i].identity && !reads_value(x, i, memory, t, unit, unit + inputs))
            status = refuse_derivative(x, i);
    dae_free(memory);
    l->tangents->past_checked = status == DAE_OK;
    return status;
}

/* ---- the start ---- */

/* Before the start a delayed value is what it is there: its rate c is that of its expression, which
 * may depend on it: c = A c + b, for all directions. */
typedef struct constant_past {
    size_t m;
    double *A;    /* m x m by columns, */
    double *work; /* as many, */
    double *b;    /* and columns rows of m; one block */
    double *unit; /* inputs, */
    double *f;    /* and n of the lead; another one */
    bool coupled; /* A is not 0 */
} constant_past;

static bool constant_past_new(constant_past *c, dae_sensitivity *x)
{
    const size_t m = x->past->delays, inputs = (size_t)x->directions.inputs.count;
    c->m = m;
    c->A = DAE_ARRAY(double, 2 * m * m + m * x->past->columns);
    c->unit = DAE_ARRAY(double, inputs + (size_t)x->lead.n);
    if (!c->A || !c->unit) return false;
    c->work = c->A + m * m;
    c->b = c->work + m * m;
    c->f = c->unit + inputs;
    return make_room(x);
}

/* Column j of A: what all delayed expressions move by if the j-th past does. */
static dae_status take_column(dae_sensitivity *x, constant_past *c, const model_tangent *delayed,
                              size_t j)
{
    const flat_delay *d = &x->lead.form->flat->delays[j];
    const int input = x->directions.inputs.memory[d->memory + DELAY_FIRST];
    double *s = x->past->s, *sp = s + x->lead.n;
    c->unit[input] = 1.0;
    vector_zero(2 * x->lead.n, s);
    vector_zero(x->lead.n, c->f);
    model_tangent_add_inputs(x->lead.tangents->rows, c->unit, c->f);
    dae_status status = lead_complete_with(x, x->t, c->f, s, sp);
    for (size_t i = 0; i < c->m && status == DAE_OK; i++) {
        const double by = model_tangent_row(delayed, (int)i, s, sp, c->unit, 0.0);
        c->A[j * c->m + i] = (i == j) - by;
        c->coupled = c->coupled || by != 0.0;
    }
    c->unit[input] = 0.0;
    return status;
}

static dae_status refuse_start(const dae_sensitivity *x)
{
    return diag_set(&x->run->diag, DAE_ERR_SINGULAR,
                    "%s: at the start delayed values depend on themselves such that their "
                    "derivatives are not determined.",
                    x->what);
}

/* b := (I - A)^-1 b of all directions. */
static dae_status solve_constant(const dae_sensitivity *x, constant_past *c)
{
    static const double SINGULAR = 1e-12;
    least_squares ls;
    if (!c->coupled) return DAE_OK;
    if (!least_squares_new(&ls, (int)c->m, (int)c->m)) return sensitivity_no_memory(x);
    dae_status status = DAE_OK;
    for (size_t k = 0; k < x->past->columns && status == DAE_OK; k++) {
        memcpy(c->work, c->A, c->m * c->m * sizeof *c->A);
        if (!least_squares_solve(&ls, (int)c->m, (int)c->m, c->work, c->b + k * c->m, SINGULAR))
            status = sensitivity_no_memory(x);
        else if (ls.rank < (int)c->m)
            status = refuse_start(x);
    }
    least_squares_free(&ls);
    return status;
}

/* Rates of all pasts, and S with them. */
static dae_status set_constant(dae_sensitivity *x, const constant_past *c)
{
    const size_t n = (size_t)x->lead.n;
    for (size_t i = 0; i < c->m; i++)
        for (size_t k = 0; k < x->past->columns; k++)
            past_of(x->past, i, k)->piece[0].c[0] = c->b[k * c->m + i];
    tangent_past_load(x, x->t);
    dae_status status = DAE_OK;
    for (size_t k = 0; k < x->past->columns && status == DAE_OK; k++)
        status = lead_complete(x, x->t, (int)k, 0.0, x->s + k * n, x->sp + k * n);
    return status;
}

dae_status tangent_past_begin(dae_sensitivity *x)
{
    const size_t n = (size_t)x->lead.n;
    constant_past c = {0};
    if (!x->past || x->past->told) return DAE_OK;
    dae_status status = constant_past_new(&c, x) ? DAE_OK : sensitivity_no_memory(x);
    const model_tangent *delayed = NULL;
    if (status == DAE_OK) status = lead_delayed(x, x->t, &delayed);
    for (size_t j = 0; j < c.m && status == DAE_OK; j++) status = take_column(x, &c, delayed, j);
    for (size_t k = 0; k < x->past->columns && status == DAE_OK; k++)
        for (size_t i = 0; i < c.m; i++)
            c.b[k * c.m + i] = model_tangent_row(delayed, (int)i, x->s + k * n, x->sp + k * n,
                                                 directions_moved(&x->directions, (int)k), 0.0);
    if (status == DAE_OK) status = solve_constant(x, &c);
    if (status == DAE_OK) status = set_constant(x, &c);
    dae_free_all(c.A, c.unit);
    return status;
}

/* ---- along a step ---- */

/* d(value)/dt of all delays at t, by the equations, whose states factor, and how much faster the
 * smooth solution moves, as at events (jump.c). */
static dae_status sample_slopes(dae_sensitivity *x, double t, double *row)
{
    tangent_past *q = x->past;
    const lead *l = &x->lead;
    const model_tangent *delayed = NULL;
    double *s = q->s, *sp = s + l->n, *drift = sp + l->n;
    dae_status status = lead_settle(x, t);
    if (status == DAE_OK) status = lead_delayed(x, t, &delayed);
    for (int i = 0; i < l->n; i++) s[i] = lead_is_state(l, i) ? l->yp[i] : 0.0;
    if (status == DAE_OK) status = lead_complete(x, t, -1, 1.0, s, sp);
    if (status == DAE_OK) status = lead_smooth(x, t, drift, drift + l->n);
    for (size_t i = 0; i < q->delays && status == DAE_OK; i++) {
        double *slope = row + i * q->kept + q->columns;
        slope[0] = model_tangent_row(delayed, (int)i, s, sp, NULL, 1.0);
        slope[1] = model_tangent_row(delayed, (int)i, drift, drift + l->n, NULL, 0.0);
    }
    x->lead.at = NAN; /* what has settled is no value of the run */
    return status;
}

/* d(value)/dp of all delays and columns at t, into a row of samples; d(value)/dt as the last. */
static dae_status sample_at(dae_sensitivity *x, double t, double *row)
{
    tangent_past *q = x->past;
    const lead *l = &x->lead;
    const int asked = directions_asked(&x->directions);
    const model_tangent *delayed = NULL;
    double *s = q->s, *sp = s + l->n;
    const bool slopes = keeps_slopes(q) && !l->plain;
    const bool complete = t != x->t && !l->plain && !l->tangents->delayed_states;
    dae_status status = lead_values(x, t);
    if (status == DAE_OK && (complete || slopes)) status = lead_linearise(x, t);
    if (status == DAE_OK && (complete || slopes)) status = lead_factor_states(x);
    if (status == DAE_OK) status = lead_delayed(x, t, &delayed);
    for (size_t k = 0; k < q->columns && status == DAE_OK; k++) {
        pieces_at(x, t, (int)k, s, sp);
        if (complete && (int)k < asked) status = lead_complete(x, t, (int)k, 0.0, s, sp);
        for (size_t i = 0; i < q->delays; i++)
            row[i * q->kept + k] = model_tangent_row(delayed, (int)i, s, sp,
                                                     directions_moved(&x->directions, (int)k), 0.0);
    }
    for (size_t i = 0; i < q->delays && keeps_slopes(q); i++)
        row[i * q->kept + q->columns] = row[i * q->kept + q->columns + 1] = NAN;
    return status == DAE_OK && slopes ? sample_slopes(x, t, row) : status;
}

/* What an error of 1 is in column k of a value of this size. */
static double tolerance(const dae_sensitivity *x, size_t k, double size)
{
    const dae_options *o = &x->run->base_options;
    const dae_sensitivity_request *r = &x->request;
    const double rtol = r->rtol > 0.0 ? r->rtol : o->rtol, atol = r->atol > 0.0 ? r->atol : o->atol;
    return (rtol + 1e-14) * size + atol / directions_size(&x->directions, (int)k);
}

/* Whether the polynomial through the first samples of a delay and column meets the others; c: its
 * coefficients. */
static bool fits(const dae_sensitivity *x, size_t at, double *c)
{
    const tangent_past *q = x->past;
    const size_t all = q->delays * q->kept, k = at % q->kept;
    double v[SAMPLES], size = 0.0, off = 0.0;
    for (size_t j = 0; j < SAMPLES; j++) v[j] = q->values[j * all + at];
    delay_fit(v, c);
    for (int j = 0; j < DELAY_NODES; j++) size = fmax(size, fabs(v[j]));
    for (int j = 0; j < CHECK_COUNT; j++)
        off = fmax(off, fabs(delay_at(c, CHECKS[j]) - v[DELAY_NODES + j]));
    return (int)k >= directions_asked(&x->directions) || off <= FINE * tolerance(x, k, size);
}

/* Pieces from a to b through the samples at hand; `whole`: only if all of them fit. */
static dae_status append_pieces(dae_sensitivity *x, double a, double b, bool whole, bool *done)
{
    tangent_past *q = x->past;
    double c[DELAY_NODES];
    *done = true;
    for (size_t i = 0; whole && *done && i < q->delays * q->kept; i++) *done = fits(x, i, c);
    for (size_t i = 0; *done && i < q->delays * q->kept; i++) {
        delay_piece *next = delay_append(&q->past[i]);
        if (!next) return sensitivity_no_memory(x);
        *next = (delay_piece){.from = a, .to = b, .rank = q->broken ? DELAY_JUMP : DELAY_SMOOTH};
        fits(x, i, next->c);
    }
    if (*done) q->broken = false;
    return DAE_OK;
}

static dae_status record_span(dae_sensitivity *x, double a, double b, int halvings, int *looks)
{
    tangent_past *q = x->past;
    dae_status status = DAE_OK;
    bool done = false;
    for (int j = 0; status == DAE_OK && j < SAMPLES; j++) {
        const double at = j < DELAY_NODES ? flat_delay_node(j) : CHECKS[j - DELAY_NODES];
        status =
            sample_at(x, fmin(a + at * (b - a), x->t), q->values + (size_t)j * q->delays * q->kept);
    }
    const double middle = a + 0.5 * (b - a);
    const bool last = halvings == 0 || ++*looks > MOST_LOOKS || !(middle > a && middle < b);
    if (status == DAE_OK) status = append_pieces(x, a, b, !last, &done);
    if (status == DAE_OK && !done) status = record_span(x, a, middle, halvings - 1, looks);
    if (status == DAE_OK && !done) status = record_span(x, middle, b, halvings - 1, looks);
    return status;
}

static dae_status refuse_passage(const dae_sensitivity *x, size_t i, double t)
{
    const int line = x->run->diag.line = x->run->base->model->flat->delays[i].place.line;
    x->run->diag.t = t;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "%s: a jump comes back by the delay at %.100s:%d before t = %.9g, whose delay "
                    "time varies: no event says when, and how that moves with the parameters.",
                    x->what, model_file(x->run), line, t);
}

/* Delay times that vary have passed no jump of x from `from` to x->t. */
static dae_status check_passages(dae_sensitivity *x, double from)
{
    const model_instance *m = x->lead.solver->hybrid->instance;
    double then[2];
    for (size_t i = 0; i < x->past->delays; i++) {
        if (!m->form->flat->delays[i].varies) continue;
        for (int end = 0; end < 2; end++) {
            const double t = end ? x->t : from;
            dae_status status = lead_values(x, t);
            if (status != DAE_OK) return status;
            then[end] = t - model_instance_lag(m, i, t, x->lead.y, x->lead.yp);
        }
        const delay_past *p = &table_of(x)->past[i];
        for (size_t k = p->count; k > 0 && p->piece[k - 1].from > fmin(then[0], then[1]); k--)
            if (p->piece[k - 1].rank == DELAY_JUMP &&
                p->piece[k - 1].from <= fmax(then[0], then[1]))
                return refuse_passage(x, i, x->t);
    }
    return DAE_OK;
}

dae_status tangent_past_record(dae_sensitivity *x, double from)
{
    tangent_past *q = x->past;
    int looks = 0;
    if (!q) return DAE_OK;
    if (!make_room(x)) return sensitivity_no_memory(x);
    dae_status status = check_passages(x, from);
    /* the run may have stood a little elsewhere than the last step of S has ended */
    if (status == DAE_OK) status = record_span(x, q->reached, x->t, MOST_HALVINGS, &looks);
    q->reached = x->t;
    double oldest = x->t;
    for (size_t i = 0; i < q->delays * q->kept; i++) {
        const double most = q->past[i].most;
        oldest = fmin(oldest, x->run->run.t_old - most - delay_slack(x->t, most));
        delay_forget(&q->past[i], x->run->run.t_old - most - delay_slack(x->t, most));
    }
    forget_breaks(q, oldest);
    x->lead.row = x->lead.row_outputs = NAN; /* rates are those of another time */
    return status;
}

/* ---- breaks ---- */

static const moving_break *break_at(const dae_sensitivity *x, double t, double slack)
{
    const tangent_past *q = x->past;
    for (size_t i = q->break_count; i > 0; i--)
        if (fabs(q->breaks[i - 1].time - t) <= slack) return &q->breaks[i - 1];
    return NULL;
}

/* How a break moves; NAN: not known. The start does not. */
static double break_moves(const dae_sensitivity *x, const tangent_return *r, int k)
{
    const double slack = delay_slack(r->from, table_of(x)->past[r->delay].most);
    const moving_break *found = break_at(x, r->from, slack);
    if (found) return r->bend && found->apart[k] ? NAN : found->tau[k];
    return fabs(r->from - x->run->hybrid->started) <= slack ? 0.0 : NAN;
}

double tangent_past_moves(const dae_sensitivity *x, const tangent_return *r, int k)
{
    return break_moves(x, r, k) + x->past->lag_moves[r->delay * x->past->columns + (size_t)k];
}

bool tangent_past_due(const dae_sensitivity *x, double t, const tangent_return *last,
                      tangent_return *found)
{
    if (!x->past) return false;
    for (size_t i = last ? last->delay : 0; i < x->past->delays; i++) {
        const delay_past *p = &table_of(x)->past[i];
        const double passed = last && last->delay == i ? last->from : p->passed;
        const delay_piece *next = delay_break_behind(p, passed, DELAY_JUMP, DELAY_KINK);
        if (!next || !delay_returns(p, next, t)) continue;
        *found = (tangent_return){i, next->from, next->rank != DELAY_JUMP};
        return true;
    }
    return false;
}

/* One more, which rests; NULL: memory. */
static moving_break *add_break(dae_sensitivity *x, double t)
{
    tangent_past *q = x->past;
    moving_break b = {t, DAE_ARRAY(double, q->columns), DAE_ARRAY(bool, q->columns)};
    if (b.tau && b.apart &&
        dae_grow(&q->breaks, &q->break_room, q->break_count + 1, sizeof *q->breaks)) {
        q->breaks[q->break_count] = b;
        return &q->breaks[q->break_count++];
    }
    moving_break_free(&b);
    return NULL;
}

dae_status tangent_past_break(dae_sensitivity *x, double t, const double *tau, const bool *apart)
{
    if (!x->past) return DAE_OK;
    moving_break *b = add_break(x, t);
    if (!b) return sensitivity_no_memory(x);
    memcpy(b->tau, tau, x->past->columns * sizeof *tau);
    memcpy(b->apart, apart, x->past->columns * sizeof *apart);
    x->past->broken = true;
    x->past->reached = t;
    return DAE_OK;
}

dae_status tangent_past_pass(dae_sensitivity *x)
{
    tangent_past *q = x->past;
    moving_break *b = NULL;
    for (size_t i = 0; q && i < q->delays; i++) {
        delay_past *p = &table_of(x)->past[i];
        const delay_piece *returned = delay_break_at(p, x->t);
        if (!returned || (!b && break_at(x, x->t, delay_slack(x->t, p->most)))) continue;
        const bool first = !b;
        const tangent_return r = {i, returned->from, true};
        if (first && !(b = add_break(x, x->t))) return sensitivity_no_memory(x);
        for (int k = 0; k < (int)q->columns; k++) {
            const double own = tangent_past_moves(x, &r, k);
            if (first) b->tau[k] = own;
            if (!(fabs(b->tau[k] - own) <= 1e-9 * fabs(own))) b->apart[k] = true;
        }
    }
    return DAE_OK;
}

/* ---- what is told ---- */

void tangent_past_tell(dae_sensitivity *x)
{
    static const double FAR_OFF = 100.0;
    const tangent_past *q = x->past;
    double worst = FAR_OFF;
    const slope_doubt *found = NULL;
    for (size_t k = 0; q && k < (size_t)directions_asked(&x->directions); k++) {
        const double ratio = q->doubt[k].off / tolerance(x, k, q->doubt[k].size);
        if (!(ratio > worst)) continue;
        worst = ratio;
        found = &q->doubt[k];
    }
    if (!found) return;
    char text[400];
    snprintf(text, sizeof text,
             "note: a delay time moves, and slopes of what the delay at %.100s:%d delays are known "
             "less well than values (stiff equations): derivatives may be off by %.2g at t = %.9g, "
             "%.2g of their tolerances. Ask for another tolerance or method, and compare.",
             model_file(x->run), x->run->base->model->flat->delays[found->delay].place.line,
             found->off, found->t, worst);
    solver_note(x->run, text);
}
