/* The equations of a text at the rows of a run, by the interpreter. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

/* Rounding in an equation, against the size of its terms; and in a time, against the interval. */
static const double ROUNDING = 1e-12, TIME_ROUNDING = 1e-13;
/* A variable is as large as it was within this part of the interval. */
static const double WINDOW = 1.0 / 20.0;

/* ---- points ---- */

judge_point reader_point(reader *x, const sighting *at)
{
    return (judge_point){.time = at->t,
                         .values = at->v,
                         .derivatives = at->slopes,
                         .before = at->before,
                         .tolerances = x->off,
                         .derivative_tolerances = at->slopes ? at->slopes_off : NULL,
                         .time_tolerance = TIME_ROUNDING * fmax(fabs(at->t), fabs(x->span)),
                         .initial = at->first,
                         .event = at->event,
                         .fires = at->fires,
                         .past = x->past.delayed > 0 ? reader_past_value : NULL,
                         .past_of = x,
                         .origin = x->past.origin};
}

void reader_sized(reader *x, double t, const double *v)
{
    double window = WINDOW * fabs(x->span), ago = (t - x->size_time) * (x->span < 0.0 ? -1.0 : 1.0);
    double decay = ago > 0.0 && window > 0.0 ? exp(-ago / window) : 1.0;
    for (int i = 0; i < x->n; i++) {
        x->size[i] *= decay;
        if (isfinite(v[i])) x->size[i] = fmax(x->size[i], fabs(v[i]));
        int column = x->column ? x->column[i] : i;
        bool real = !x->variable || x->variable[i].type == JUDGE_REAL;
        x->off[i] =
            column >= 0 && real
                ? x->limit * (x->tolerance->rtol[column] * x->size[i] + x->tolerance->atol[column])
                : 0.0;
    }
    if (!(ago <= 0.0)) x->size_time = t;
}

void reader_place(const reader *x, const double *row, double *v)
{
    for (int i = 0; i < x->n; i++)
        v[i] = x->column && x->column[i] < 0 ? x->base[i] : row[x->column ? x->column[i] : i];
}

bool reader_values(reader *x, dae_solver *s, double t, double *v)
{
    const dae_stats stats = s->stats;
    dae_status status = dae_solver_variables(s, t, x->row);
    s->stats = stats; /* looking is not counted */
    if (status < 0) return false;
    reader_place(x, x->row, v);
    return true;
}

/* ---- switches ---- */

/* Where a value is exactly at a discontinuity and rests there, the text says what holds. */
bool reader_uncertain(const judge_switch *w, bool event)
{
    bool jumps = w->kind == JUDGE_RELATION || w->kind == JUDGE_ROUNDING || w->kind == JUDGE_SIGN;
    if (!jumps || w->discrete || w->forced) return false;
    return fabs(w->crossing) <= w->spread && (event || w->crossing != 0.0);
}

static size_t list_uncertain(const judge_result *r, const sighting *at, judge_force *list)
{
    size_t count = 0;
    for (size_t k = 0; k < r->switch_count; k++) {
        const judge_switch *w = &r->switches[k];
        bool strikes = at->clocks && w->kind == JUDGE_SAMPLE && w->value != 0.0;
        if (!reader_uncertain(w, at->event) && !strikes) continue;
        if (count == MOST_FLIPS) return count + 1;
        list[count++] = (judge_force){w->id, w->other};
    }
    return count;
}

bool reader_flip(reader *x, const sighting *at, int group, const judge_force *fixed,
                 size_t fixed_count, flip_fn found, void *context)
{
    judge_force uncertain[MOST_FLIPS + 1];
    const judge_result *r;
    judge_point point = reader_point(x, at);
    judge_force *forces = DAE_ARRAY(judge_force, fixed_count + MOST_FLIPS);
    if (!forces) return false;
    for (size_t k = 0; k < fixed_count; k++) forces[k] = fixed[k];
    point.forces = forces;
    point.force_count = fixed_count;
    bool ok = judge_evaluate_group(x->judge, &point, group, &r) == DAE_OK;
    bool done = ok && found(context, r);
    size_t count = ok && !done ? list_uncertain(r, at, uncertain) : 0;
    if (count > MOST_FLIPS) done = found(context, NULL);
    for (unsigned mask = 1; ok && !done && mask < 1u << count; mask++) {
        point.force_count = fixed_count;
        for (size_t k = 0; k < count; k++)
            if (mask & 1u << k) forces[point.force_count++] = uncertain[k];
        ok = judge_evaluate_group(x->judge, &point, group, &r) == DAE_OK;
        done = ok && found(context, r);
    }
    dae_free(forces);
    return ok;
}

/* ---- one equation ---- */

static bool row_fine(const judge_equation *q, const judge_row *r)
{
    if (q->type != JUDGE_REAL) return r->holds;
    return fabs(r->residual) <= r->spread + ROUNDING * r->size || r->left == r->right;
}

/* An equation that does not hold as it stands. */
typedef struct suspect {
    int e;
    const judge_equation *equation;
    judge_row best; /* of all values of uncertain switches */
    bool fine, valued;
} suspect;

static bool better_row(void *context, const judge_result *r)
{
    suspect *s = context;
    if (!r) s->best = (judge_row){0};
    if (!r) return s->valued = s->fine = true;
    const judge_row *row = &r->rows[s->e];
    if (row->error || isnan(row->residual)) return false;
    if (!s->valued || fabs(row->residual) < fabs(s->best.residual)) s->best = *row;
    s->valued = true;
    s->fine = row_fine(s->equation, row);
    return s->fine;
}

static void note_equation(reader *x, const suspect *s, double t)
{
    char left[64], right[64];
    const judge_equation *q = s->equation;
    const judge_row *r = &s->best;
    dae_verify_fault f = {.line = q->line,
                          .t = t,
                          .left = r->left,
                          .right = r->right,
                          .allowed = q->type == JUDGE_REAL ? r->spread + ROUNDING * r->size : 0.0};
    int v = q->variable;
    reader_note(x, s->e, &f, "line %d, %s: at t = %.9g the left side is %s and the right side %s",
                q->line, q->text ? q->text : "", t, reader_value(x, v, r->left, left, sizeof left),
                reader_value(x, v, r->right, right, sizeof right));
}

/* Whether an equation that does not hold is wrong: with other values of switches that are uncertain
 * it may hold, and one with derivatives is judged over intervals. */
static bool settle(reader *x, const sighting *at, int e, double *residual, double *spread)
{
    suspect s = {.e = e, .equation = &x->equation[e]};
    sighting plain = *at;
    plain.slopes = NULL;
    plain.clocks = at->event;
    if (!reader_flip(x, &plain, s.equation->group, NULL, 0, better_row, &s)) return false;
    bool algebraic = s.valued;
    if (!algebraic && at->slopes && !reader_flip(x, at, s.equation->group, NULL, 0, better_row, &s))
        return false;
    if (algebraic && !s.fine) note_equation(x, &s, at->t);
    if (residual) residual[e] = algebraic || !s.valued ? 0.0 : s.best.residual;
    if (spread) spread[e] = s.valued ? s.best.spread + ROUNDING * s.best.size : 0.0;
    return true;
}

/* ---- all equations ---- */

static bool is_judged(const reader *x, int e)
{
    judge_kind k = x->equation[e].kind;
    bool lasting = k == JUDGE_EQUATION || k == JUDGE_BINDING || k == JUDGE_ALGORITHM;
    return lasting && !x->skipped[e];
}

/* Equations that do not hold at first sight, into list; what is known of the others. */
static int list_suspects(reader *x, const judge_result *r, bool slopes, int *list, double *residual,
                         double *spread)
{
    int count = 0;
    for (int e = 0; e < x->equations; e++) {
        const judge_row *row = &r->rows[e];
        if (residual) residual[e] = spread[e] = 0.0;
        if (!is_judged(x, e)) continue;
        bool valued = !row->error && (x->equation[e].type != JUDGE_REAL || !isnan(row->residual));
        if (valued) x->seen[e] = true;
        if (!valued && slopes) x->mute[e] = row->error;
        if (!valued) continue;
        bool real = x->equation[e].type == JUDGE_REAL;
        if (residual && real) residual[e] = row->residual;
        if (spread && real) spread[e] = row->spread + ROUNDING * row->size;
        if (!row_fine(&x->equation[e], row)) list[count++] = e;
    }
    return count;
}

bool reader_equations(reader *x, const sighting *at, double *residual, double *spread)
{
    const judge_result *r;
    judge_point point = reader_point(x, at);
    int *list = DAE_ARRAY(int, x->equations + 1);
    x->looks++;
    point.lasting = true;
    bool ok = list && judge_evaluate(x->judge, &point, &r) == DAE_OK;
    int count = ok ? list_suspects(x, r, at->slopes != NULL, list, residual, spread) : 0;
    for (int k = 0; ok && k < count; k++)
        if (!x->faulty[list[k]])
            ok = settle(x, at, list[k], residual, spread);
        else if (residual)
            residual[list[k]] = 0.0;
    dae_free(list);
    return ok;
}

/* Whether a group reads what an event at the start may have changed. */
static bool reads_changes(reader *x, const sighting *at, int group, bool *changes)
{
    const int *list, *slopes;
    size_t count, slope_count;
    judge_point point = reader_point(x, at);
    *changes = false;
    if (judge_reads(x->judge, &point, group, &list, &count, &slopes, &slope_count) != DAE_OK)
        return false;
    for (size_t k = 0; k < count; k++)
        *changes = *changes || x->variable[list[k]].in_when || x->variable[list[k]].reinit;
    return true;
}

bool reader_initial_equations(reader *x, const sighting *at)
{
    for (int e = 0; e < x->equations; e++) {
        const judge_equation *q = &x->equation[e];
        suspect s = {.e = e, .equation = q};
        bool changes;
        if (q->kind != JUDGE_INITIAL_EQUATION || q->type != JUDGE_REAL) continue;
        if (!reads_changes(x, at, q->group, &changes)) return false;
        if (!changes && !reader_flip(x, at, q->group, NULL, 0, better_row, &s)) return false;
        if (s.valued && !s.fine) note_equation(x, &s, at->t);
    }
    return true;
}
