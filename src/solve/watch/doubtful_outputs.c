/* Outputs that are less accurate than they look.
 *
 * A variable that nothing else needs is in no error test. Where it is a small difference of large
 * numbers, as the current (u - v)/R of a small capacitor behind mains, the states it is made of are
 * as accurate as asked for, and it is not. So states are moved by their tolerances at rows of
 * output, algebraic variables follow, and an output that moves by far more than its own tolerance
 * somewhere is told at the end of the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/watch/watch.h"

/* In tolerances of the output: what is told. */
static const double FAR_OFF = 100.0;

/* Rows that are looked at: the first ones, then one of a few; and how often others must follow. */
enum { FIRST_ROWS = 64, ONE_OF = 4, MOST_PROJECTIONS = 50 };

struct output_doubt {
    owned_part part;
    long rows, projections;
    int visible, n;
    double *size, *moved,
        *when;      /* per visible variable: largest value, largest move and its time */
    double *values; /* work: moved ones */
    double *y, *yp; /* n each: the moved point */
};

static void output_doubt_free(void *self)
{
    output_doubt *d = self;
    dae_free_all(d->size, d->y, d);
}

/* Room for a moved point of n unknowns: a variant has others. */
static bool make_room(output_doubt *d, int n)
{
    if (d->y && d->n == n) return true;
    dae_free(d->y);
    d->n = n;
    d->y = DAE_ARRAY(double, 2 * (size_t)n);
    if (d->y) d->yp = d->y + n;
    return d->y != NULL;
}

static output_doubt *output_doubt_new(int visible)
{
    output_doubt *d = DAE_NEW(output_doubt);
    if (!d) return NULL;
    d->part.free = output_doubt_free;
    d->visible = visible;
    d->size = DAE_ARRAY(double, 4 * (size_t)visible);
    if (!d->size) {
        dae_free(d);
        return NULL;
    }
    d->moved = d->size + visible;
    d->when = d->moved + visible;
    d->values = d->when + visible;
    return d;
}

static bool has_outputs(const model_form *f)
{
    for (int k = 0; k < f->visible_count; k++)
        if (hybrid_is_output(f, k)) return true;
    return false;
}

/* Every state by its tolerance, up and down by turns that differ from row to row. */
static bool move_states(const dae_solver *s, output_doubt *d, const double *y, const double *yp)
{
    bool algebraic = false;
    unsigned turn = 2654435761u * (unsigned)(d->rows + 1);
    vector_copy(s->bound.n, y, d->y);
    vector_copy(s->bound.n, yp, d->yp);
    for (int j = 0; j < s->bound.n; j++) {
        turn = 1664525u * turn + 1013904223u;
        if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL)
            d->y[j] += (turn >> 31 ? 1.0 : -1.0) * s->bound.norm.weights[j];
        else
            algebraic = true;
    }
    return algebraic;
}

static double tolerance_of(const dae_solver *s, const output_doubt *d, int k)
{
    return s->bound.options.atol + s->bound.options.rtol * d->size[k];
}

/* d->values at the moved point; *more: some output moves by more than is told, and than before. */
static void look(dae_solver *s, output_doubt *d, double t, const double *values, bool *more)
{
    const model_form *f = s->hybrid->instance->form;
    *more = false;
    model_instance_outputs(s->hybrid->instance, t, d->y, d->yp, d->values);
    for (int k = 0; k < f->visible_count; k++) {
        double move = hybrid_is_output(f, k) ? fabs(d->values[k] - values[k]) : 0.0;
        bool told = move > FAR_OFF * tolerance_of(s, d, k);
        *more = *more || (isfinite(move) && told && move > d->moved[k]);
    }
}

static void record(const dae_solver *s, output_doubt *d, double t, const double *values)
{
    const model_form *f = s->hybrid->instance->form;
    for (int k = 0; k < f->visible_count; k++) {
        double move = fabs(d->values[k] - values[k]);
        if (!hybrid_is_output(f, k) || !(move > d->moved[k]) || !isfinite(move)) continue;
        d->moved[k] = move;
        d->when[k] = t;
    }
}

/* Models of index 0 and 1, and those that are reduced to it: elsewhere moved states would leave
 * their constraints. */
static bool applies(const dae_solver *s)
{
    if (!s->bound.options.message || s->run.phase != PHASE_RUNNING ||
        !(s->bound.options.rtol > 0.0))
        return false;
    if (binding_uses_forms(&s->bound) || binding_second_order(&s->bound)) return false;
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] > DAE_KIND_INDEX1) return false;
    return true;
}

void output_doubt_row(dae_solver *s, double t, const double *y, const double *yp,
                      const double *values)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    bool more;
    if (!applies(s) || !has_outputs(f)) return;
    if (!h->doubt) h->doubt = output_doubt_new(f->visible_count);
    output_doubt *d = h->doubt;
    if (!d || d->visible != f->visible_count || !make_room(d, s->bound.n)) return; /* a note less */
    for (int k = 0; k < f->visible_count; k++)
        if (fabs(values[k]) > d->size[k]) d->size[k] = fabs(values[k]);
    d->rows++;
    if (d->rows > FIRST_ROWS && d->rows % ONE_OF != 0) return;
    bool algebraic = move_states(s, d, y, yp);
    look(s, d, t, values, &more);
    if (!more || (algebraic && d->projections >= MOST_PROJECTIONS)) return;
    if (algebraic) { /* they follow */
        initializer *output_projector = binding_output_projector(&s->bound);
        d->projections++;
        if (!output_projector ||
            initializer_project(output_projector, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                                s->bound.norm.weights, d->y, d->yp) != EVAL_OK)
            return;
        look(s, d, t, values, &more);
    }
    record(s, d, t, values);
}

/* Invariants are reported with their drift. */
static bool is_invariant(const dae_solver *s, const char *name)
{
    for (int i = 0; s->monitors && i < s->monitors->set.count; i++)
        if (strcmp(s->monitors->names[i], name) == 0) return true;
    return false;
}

void output_doubt_tell(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    const output_doubt *d = h->doubt;
    double most = FAR_OFF;
    int worst = -1, count = 0;
    for (int k = 0; d && k < f->visible_count; k++) {
        double tolerances = d->moved[k] / tolerance_of(s, d, k);
        if (!(tolerances > FAR_OFF)) continue;
        if (is_invariant(s, f->flat->variables[f->visible[k]].name)) continue;
        count++;
        if (!(tolerances > most)) continue;
        most = tolerances;
        worst = k;
    }
    if (worst < 0) return;
    char text[700], others[40] = "";
    int equation = f->alias[f->alias[f->visible[worst]].top].equation;
    if (count > 1) snprintf(others, sizeof others, " (and %d more)", count - 1);
    snprintf(
        text, sizeof text,
        "note: %.100s:%d: %.100s%s magnifies the errors of what it is made of: these are within "
        "their tolerances, and it may be off by %.2g at t = %.9g (its largest value is %.3g). "
        "No equation needs it, so that it is in no error test. Use it in an equation, or a "
        "tighter tolerance (--rtol %.0e).",
        model_file(s), f->flat->equations[equation].place.line,
        f->flat->variables[f->visible[worst]].name, others, d->moved[worst], d->when[worst],
        d->size[worst], fmax(1e-13, s->bound.options.rtol / most));
    solver_note(s, text);
    part_free(h->doubt);
    h->doubt = NULL;
}

void output_doubt_persist(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    const bool looked = persist_flag(p, h->doubt);
    if (p->reading && looked && !h->doubt) {
        h->doubt = output_doubt_new(h->instance->form->visible_count);
        p->no_memory = p->no_memory || !h->doubt;
    }
    if (!looked || !h->doubt) return;
    PERSIST(p, h->doubt->rows);
    PERSIST(p, h->doubt->projections);
    PERSIST_ARRAY(p, h->doubt->size, 3 * (size_t)h->doubt->visible);
}
