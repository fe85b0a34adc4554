#include "forms/positions.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Pivots this small, in units of the nominal sizes: the constraints depend on each other. */
static const double SMALLEST_PIVOT = 1e-12;

/* ---- elimination ---- */

typedef struct pivot {
    int row, column;
    double size;
} pivot;

static pivot find_pivot(int rows, int columns, const double *G, const bool *chosen, bool fixed)
{
    const bool *taken = chosen + columns, *used = taken + rows;
    pivot best = {-1, -1, 0.0};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns && !taken[i]; j++)
            if (!used[j] && (!fixed || chosen[j]) && fabs(G[i * columns + j]) > best.size)
                best = (pivot){i, j, fabs(G[i * columns + j])};
    return best;
}

/* Make column p.column the unit vector of row p.row. */
static void eliminate_column(int rows, int columns, double *G, pivot p)
{
    double *pivot_row = G + p.row * columns;
    for (int j = 0; j < columns; j++)
        if (j != p.column) pivot_row[j] /= pivot_row[p.column];
    pivot_row[p.column] = 1.0;
    for (int i = 0; i < rows; i++) {
        double factor = G[i * columns + p.column];
        if (i == p.row || factor == 0.0) continue;
        for (int j = 0; j < columns; j++) G[i * columns + j] -= factor * pivot_row[j];
    }
}

double positions_eliminate(int rows, int columns, double *G, bool *chosen, bool fixed)
{
    bool *taken = chosen + columns, *used = taken + rows;
    double most = 0.0;
    memset(taken, 0, (size_t)(rows + columns) * sizeof *taken);
    for (int step = 0; step < rows; step++) {
        pivot p = find_pivot(rows, columns, G, chosen, fixed);
        if (!(p.size > SMALLEST_PIVOT)) return INFINITY;
        taken[p.row] = used[p.column] = true;
        eliminate_column(rows, columns, G, p);
    }
    memcpy(chosen, used, (size_t)columns * sizeof *chosen);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows && !used[j]; i++) most = fmax(most, fabs(G[i * columns + j]));
    return most;
}

int positions_dependent_row(int rows, int columns, const bool *chosen)
{
    for (int i = 0; i < rows; i++)
        if (!chosen[columns + i]) return i;
    return -1;
}

/* ---- the choice ---- */

position_choice *position_choice_new(int rows, int columns, int count)
{
    position_choice *c = DAE_NEW(position_choice);
    if (!c) return NULL;
    *c = (position_choice){.rows = rows, .columns = columns, .count = count};
    c->source = DAE_ARRAY(int, rows);
    c->row = DAE_ARRAY(int, count);
    c->column = DAE_ARRAY(int, count);
    c->value = DAE_ARRAY(expr, count);
    c->size = DAE_ARRAY(double, columns);
    c->dependent = DAE_ARRAY(bool, columns);
    bool ok = c->source && c->row && c->column && c->value && c->size && c->dependent;
    if (ok) return c;
    position_choice_free(c);
    return NULL;
}

void position_choice_free(position_choice *c)
{
    if (!c) return;
    dae_free_all(c->source, c->row, c->column, c->value, c->size, c->dependent, c);
}

/* ---- the watch ---- */

struct position_watch {
    const position_choice *choice; /* borrowed */
    expr_code code;
    double *value; /* of the entries */
    double *G;     /* rows x columns */
    bool *better;  /* 2 columns + rows */
    int culprit;
};

position_watch *position_watch_new(const position_choice *c, const graph *g)
{
    position_watch *w = DAE_NEW(position_watch);
    if (!w) return NULL;
    w->choice = c;
    w->value = DAE_ARRAY(double, c->count);
    w->G = DAE_ARRAY(double, (size_t)c->rows *(size_t)c->columns);
    w->better = DAE_ARRAY(bool, 2 * c->columns + c->rows);
    if (w->value && w->G && w->better && code_new(&w->code, g, c->value, (size_t)c->count))
        return w;
    position_watch_free(w);
    return NULL;
}

void position_watch_free(position_watch *w)
{
    if (!w) return;
    code_free(&w->code);
    dae_free_all(w->value, w->G, w->better, w);
}

void position_watch_prepare(position_watch *w, const tape_inputs *in)
{
    code_prepare(&w->code, in);
}

/* G = the entries, columns in nominal sizes, rows of largest entry 1; false: not finite */
static bool load(position_watch *w)
{
    const position_choice *c = w->choice;
    memset(w->G, 0, (size_t)c->rows * (size_t)c->columns * sizeof *w->G);
    for (int e = 0; e < c->count; e++) {
        double v = w->value[e] * c->size[c->column[e]];
        if (!isfinite(v)) return false;
        w->G[c->row[e] * c->columns + c->column[e]] = v;
    }
    for (int i = 0; i < c->rows; i++) {
        double *row = w->G + i * c->columns, most = 0.0;
        for (int j = 0; j < c->columns; j++) most = fmax(most, fabs(row[j]));
        for (int j = 0; most > 0.0 && j < c->columns; j++) row[j] /= most;
    }
    return true;
}

position_status position_watch_look(position_watch *w, const tape_inputs *in)
{
    const position_choice *c = w->choice;
    code_run(&w->code, in, w->value);
    if (!load(w)) return POSITIONS_NOT_FINITE;
    memcpy(w->better, c->dependent, (size_t)c->columns * sizeof *w->better);
    if (positions_eliminate(c->rows, c->columns, w->G, w->better, true) <= POSITIONS_WORST)
        return POSITIONS_KEPT;
    load(w);
    double best = positions_eliminate(c->rows, c->columns, w->G, w->better, false);
    w->culprit = positions_dependent_row(c->rows, c->columns, w->better);
    if (!(best < INFINITY)) return POSITIONS_DEPENDENT;
    bool same = memcmp(w->better, c->dependent, (size_t)c->columns * sizeof *w->better) == 0;
    return same ? POSITIONS_KEPT : POSITIONS_BAD;
}

const bool *position_watch_better(const position_watch *w)
{
    return w->better;
}

int position_watch_culprit(const position_watch *w)
{
    return w->culprit;
}

double position_watch_work(const position_watch *w)
{
    return (double)w->choice->rows * (double)w->choice->rows * (double)w->choice->columns;
}
