/* Rows of data at the time of a jump: which of its sides they stand for, nobody knows. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "fit.h"

/* Where the model is looked at beside a row, in units of fit_beside(): a jump is from the second to
 * the third place, and what is smooth moves about as much from each place to the next. */
static const double PLACES[] = {-2.0, -1.0, 1.0, 2.0};
enum { PLACE_COUNT = 4 };
/* So many times as far as beside it, and this part of the value: what errors of a run may be. */
static const double FURTHER = 10.0, SAME = 1e-5;

double fit_beside(const report_curves *c)
{
    return 1e-6 * (c->times[c->count - 1] - c->times[0]);
}

/* Whether there is room on both sides of row i, behind the time `before` and up to the next row. */
static bool stands_alone(const experiment *e, size_t i, double before)
{
    const report_curves *c = e->curves;
    const double t = c->times[i], room = 2.0 * fit_beside(c);
    size_t next = i;
    while (next < c->count && c->times[next] == t) next++;
    return t - room > fmax(before, e->data.start) &&
           (next == c->count || c->times[next] - room > t + room);
}

/* The times beside the rows, and per row where its own begin, or SIZE_MAX; how many there are. */
static size_t list_places(const experiment *e, double *times, size_t *first)
{
    const report_curves *c = e->curves;
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        first[i] = i > 0 && c->times[i] == c->times[i - 1] ? first[i - 1] : SIZE_MAX;
        if (i > 0 && c->times[i] == c->times[i - 1]) continue;
        if (!stands_alone(e, i, count > 0 ? times[count - 1] : -INFINITY)) continue;
        first[i] = count;
        for (int k = 0; k < PLACE_COUNT; k++)
            times[count++] = c->times[i] + PLACES[k] * fit_beside(c);
    }
    return count;
}

/* Whether column j jumps; v: all columns at the places of a row. */
static bool is_jump(const double *v, size_t n, size_t j)
{
    const double before = v[n + j], after = v[2 * n + j];
    const double smooth = fabs(before - v[j]) + fabs(v[3 * n + j] - after);
    return fabs(after - before) > FURTHER * smooth + SAME * fmax(fabs(before), fabs(after));
}

/* Leaves out what jumps at a row, by the values at all places. Whether there is any. */
static bool leave_out_all(experiment *e, const double *values, const size_t *first)
{
    const size_t n = (size_t)e->data.columns;
    bool any = false;
    for (size_t i = 0; i < e->curves->count; i++)
        for (size_t j = 0; j < n && first[i] != SIZE_MAX; j++) {
            if (isnan(e->values[i * n + j]) || !is_jump(values + first[i] * n, n, j)) continue;
            fit_leave_out(e, i, j);
            any = true;
        }
    return any;
}

/* The same for one experiment. A model that cannot be run there tells of no jumps. */
static int look(fit_work *w, experiment *e, bool *any)
{
    const size_t rows = e->curves->count, columns = (size_t)e->data.columns;
    double *times = calloc(PLACE_COUNT * rows, sizeof *times);
    double *values = calloc(PLACE_COUNT * rows * columns, sizeof *values);
    size_t *first = calloc(rows, sizeof *first);
    int code = times && values && first ? CLI_OK : complain(CLI_FAILED, "out of memory");
    dae_fit_data where = e->data;
    dae_options options = *w->request.options;
    dae_fit_request beside = w->request;
    beside.options = &options;
    options.stop_time += 4.0 * fit_beside(e->curves);
    where.times = times;
    where.rows = code == CLI_OK ? (int)list_places(e, times, first) : 0;
    if (where.rows > 0 &&
        dae_fit_curves(w->s->problem, &beside, w->result->values, &where, values, NULL) == DAE_OK)
        *any = leave_out_all(e, values, first) || *any;
    free(times);
    free(values);
    free(first);
    return code;
}

int fit_leave_out_jumps(fit_work *w, bool *any)
{
    const dae_counts n = dae_problem_counts(w->s->problem);
    int code = CLI_OK;
    *any = false;
    for (int k = 0; k < w->count && code == CLI_OK && n.relations + n.samples + n.whens > 0; k++)
        code = look(w, &w->list[k], any);
    return code;
}
