/* Units of the unknowns: what the guess says, and what equations and conditions say of those that
 * the guess leaves at zero. The search stops by absolute numbers, which mean something only if all
 * unknowns are of about 1. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/optimise/optimise_parts.h"

static const double NOISE = 1e-13; /* a smaller number of a guess or a condition is rounding */

/* A smaller size of a variable says nothing about its unit. */
static double unit_floor(const dae_optimum *q)
{
    return fmax(NOISE, fmin(1e-8, 1e-2 * q->request.atol));
}

/* The largest size of number j of blocks. */
static double size_of(const dae_optimum *q, const opt_solution *s, int j)
{
    double most = 0.0;
    for (int k = 0; k < opt_points(q, s->intervals); k++)
        most = fmax(most, fabs(s->x[opt_at(q, k) + (size_t)j]));
    return most;
}

static double span_of(const opt_solution *s)
{
    return s->t[s->intervals] - s->t[0];
}

/* ---- what the guess says; 0: nothing ---- */

static void units_of_guess(dae_optimum *q, const opt_solution *s)
{
    const double floor = unit_floor(q);
    for (int j = 0; j < q->n + q->d; j++) {
        const double size = size_of(q, s, j);
        q->scale[j] = size > floor ? size : 0.0;
    }
    for (int k = 0; k < q->c + q->m; k++) {
        double size = fabs(q->guess[k] + (k < q->c ? q->base[k] : 0.0));
        if (isfinite(q->lower[k]) && isfinite(q->upper[k]))
            size = fmax(size, 0.5 * (q->upper[k] - q->lower[k]));
        q->scale[q->n + q->d + k] = size;
    }
}

/* ---- what rows say ---- */

typedef struct unit_search {
    dae_optimum *q;
    const opt_solution *s;
    double *found; /* B + m: the smallest unit that a row gives; 0: none */
    double *size;  /* per row of a program: the largest term whose unit is known */
} unit_search;

/* The point's numbers, with zeros where units are not known. */
static void take_guess(const unit_search *w, int point)
{
    const dae_optimum *q = w->q;
    const int block = opt_block(q);
    vector_copy(block, w->s->x + opt_at(q, point), q->local);
    vector_copy(q->m, w->s->x + opt_at_p(q, w->s->intervals), q->local + block);
    for (int j = 0; j < block + q->m; j++)
        if (q->scale[j] == 0.0) q->local[j] = 0.0;
}

/* How far conditions are from their bounds says how far their variables have to go. */
static void measure_conditions(const opt_conditions *c, const double *value, double *size)
{
    for (int k = 0; k < c->count; k++) {
        const double low = fabs(value[k] - c->list[k].lower),
                     high = fabs(value[k] - c->list[k].upper);
        const double off = fmax(isfinite(low) ? low : 0.0, isfinite(high) ? high : 0.0);
        if (off > NOISE) size[k] = fmax(size[k], off);
    }
}

/* A term of an unknown whose unit is not known matters from where it is as large as the largest of
 * the others in its row. */
static void ask_rows(unit_search *w, opt_program *p, int rows, int point,
                     const opt_conditions *conditions, int first)
{
    const dae_optimum *q = w->q;
    const double t = opt_time(q, w->s, point);
    take_guess(w, point);
    opt_program_run(q, p, t, 0);
    opt_program_run(q, p, t, 1);
    vector_zero(rows, w->size);
    measure_conditions(conditions, p->value + first, w->size + first);
    for (size_t e = 0; e < p->first_count; e++)
        if (p->first_row[e] < rows)
            w->size[p->first_row[e]] =
                fmax(w->size[p->first_row[e]], fabs(p->first[e]) * q->scale[p->first_column[e]]);
    for (size_t e = 0; e < p->first_count; e++) {
        const int j = p->first_column[e];
        if (p->first_row[e] >= rows || q->scale[j] > 0.0) continue;
        const double unit = w->size[p->first_row[e]] / fabs(p->first[e]);
        if (unit > 0.0 && isfinite(unit))
            w->found[j] = w->found[j] > 0.0 ? fmin(w->found[j], unit) : unit;
    }
}

/* Slopes and states are tied by the length of the interval. */
static void tie_slopes(const dae_optimum *q, double span)
{
    for (int k = 0; k < q->d; k++) {
        double *state = &q->scale[q->state[k]], *slope = &q->scale[q->n + k];
        if (*state == 0.0) *state = *slope * span;
        if (*state > 0.0) *slope = fmax(*slope, *state / span);
    }
}

/* One round; whether a unit was found. */
static bool ask_all(unit_search *w)
{
    dae_optimum *q = w->q;
    const int last = opt_points(q, w->s->intervals) - 1, points[] = {1, (1 + last) / 2, last};
    bool any = false;
    vector_zero(opt_block(q) + q->m, w->found);
    ask_rows(w, &q->at_start, q->start.count, 0, &q->start, 0);
    ask_rows(w, &q->at_end, q->end.count, last, &q->end, 0);
    for (int k = 0; k < 3; k++)
        ask_rows(w, &q->at_point, q->rows + q->path.count, points[k], &q->path, q->rows);
    for (int j = 0; j < opt_block(q) + q->m; j++) {
        if (!(w->found[j] > 0.0)) continue;
        q->scale[j] = w->found[j];
        any = true;
    }
    tie_slopes(q, span_of(w->s));
    return any;
}

bool opt_choose_units(dae_optimum *q, const opt_solution *s)
{
    const int columns = opt_block(q) + q->m;
    if (q->scale[0] > 0.0) return true;
    unit_search w = {.q = q, .s = s, .found = DAE_ARRAY(double, columns)};
    int rows = q->rows + q->path.count;
    if (q->start.count > rows) rows = q->start.count;
    if (q->end.count > rows) rows = q->end.count;
    w.size = DAE_ARRAY(double, rows);
    const bool ok = w.found && w.size;
    if (ok) {
        units_of_guess(q, s);
        tie_slopes(q, span_of(s));
        while (ask_all(&w)) continue; /* each round gives units to some that had none */
        for (int j = 0; j < columns; j++)
            if (!(q->scale[j] > 0.0)) q->scale[j] = 1.0;
        tie_slopes(q, span_of(s));
    }
    dae_free_all(w.found, w.size);
    return ok;
}

/* ---- what the solution says ---- */

/* Zeros of a guess say nothing about units: the solution does, unless it is zero, too. */
bool opt_units_of(dae_optimum *q, const opt_solution *s)
{
    const double span = span_of(s), floor = fmin(1e-8, 1e-2 * q->request.atol);
    bool moved = false;
    for (int j = 0; j < opt_block(q); j++) {
        const int k = j - q->n - q->d;
        if (j >= q->n && k < 0) continue;
        if (k >= 0 && isfinite(q->lower[k]) && isfinite(q->upper[k])) continue;
        const double size = fmax(size_of(q, s, j), k < 0 ? 0.0 : fabs(q->base[k]));
        if (!(size > floor) || (size > 0.1 * q->scale[j] && size < 10.0 * q->scale[j])) continue;
        q->scale[j] = size;
        moved = true;
    }
    for (int k = 0; k < q->d && moved; k++)
        q->scale[q->n + k] = fmax(size_of(q, s, q->n + k), q->scale[q->state[k]] / span);
    return moved;
}
