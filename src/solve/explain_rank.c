/* Why a run cannot go on: the equations lose rank where it stands.
 *
 * At an impasse or a fold the system Jacobian becomes singular, and no step size helps. It never is
 * exactly so where the run stops; it is small against what the same entries are nearby. Rows and
 * columns are scaled by these, so that "small" does not depend on units. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/solver.h"
#include "structure/singular_values.h"

static const double LOST = 1e-4; /* a singular value this small against the largest is lost */
enum { NEARBY = 6, LARGEST_BLOCK = 200 };

typedef struct rank_scene {
    const equation_set *set;
    const structure *structure;
    system_jacobian jacobian;
    double **x, **near; /* values at the point, and nearby */
    int orders;
    double t, elapsed;
    const double *parameters, *memory;
    double *value, *extent; /* entries at the point, and their extent nearby */
} rank_scene;

static size_t entry_count(const rank_scene *r)
{
    return (size_t)r->jacobian.start[r->jacobian.n];
}

static void evaluate_entries(const rank_scene *r, double t, double **x, double *out)
{
    equation_point at = {t, (const double *const *)x, r->orders, r->parameters, r->memory};
    for (size_t k = 0; k < entry_count(r); k++)
        out[k] = equation_set_value(r->set, r->jacobian.entry[k], &at);
}

/* near = x, all of it moved by up to its size; returns the time to go with it */
static double step_aside(rank_scene *r, unsigned *seed)
{
    for (int p = 0; p <= r->orders; p++)
        for (int j = 0; j < r->set->n; j++) {
            *seed = *seed * 1664525u + 1013904223u;
            double unit = (double)(*seed >> 8) / 8388608.0 - 1.0; /* in [-1, 1) */
            r->near[p][j] = r->x[p][j] + unit * fmax(fabs(r->x[p][j]), r->set->nominal[j]);
        }
    *seed = *seed * 1664525u + 1013904223u;
    return r->t - (double)(*seed >> 8) / 16777216.0 * r->elapsed;
}

/* extent_ij = largest |J_ij| at and around the point */
static bool measure_entries(rank_scene *r)
{
    size_t count = entry_count(r);
    double *nearby = DAE_ARRAY(double, count);
    unsigned seed = 99;
    if (!nearby) return false;
    evaluate_entries(r, r->t, r->x, r->value);
    for (size_t k = 0; k < count; k++) r->extent[k] = fabs(r->value[k]);
    for (int trial = 0; trial < NEARBY; trial++) {
        evaluate_entries(r, step_aside(r, &seed), r->near, nearby);
        for (size_t k = 0; k < count; k++)
            if (isfinite(nearby[k])) r->extent[k] = fmax(r->extent[k], fabs(nearby[k]));
    }
    dae_free(nearby);
    return true;
}

/* Block b dense, columns in nominal sizes, rows by their extent; false: not finite. */
static bool fill_block(const rank_scene *r, int b, double *A)
{
    const block_form *f = &r->structure->blocks;
    int first = f->start[b], size = f->start[b + 1] - first;
    memset(A, 0, (size_t)size * (size_t)size * sizeof *A);
    for (int k = 0; k < size; k++) {
        int i = f->rows[first + k];
        double most = 0.0;
        for (int pass = 0; pass < 2; pass++)
            for (int e = r->jacobian.start[i]; e < r->jacobian.start[i + 1]; e++) {
                int j = r->jacobian.column[e];
                if (f->of_column[j] != b) continue;
                if (pass == 0) most = fmax(most, r->extent[e] * r->set->nominal[j]);
                if (pass == 0 || most == 0.0) continue;
                int c = 0;
                while (f->columns[first + c] != j) c++;
                A[k + c * size] = r->value[e] * r->set->nominal[j] / most;
                if (!isfinite(A[k + c * size])) return false;
            }
    }
    return true;
}

/* The names of the large components of a null vector. */
static void list_large(dae_diag *diag, const double *v, int size, const char *const *names)
{
    int listed = 0;
    for (int k = 0; k < size; k++) {
        if (fabs(v[k]) < 0.1) continue;
        if (listed < 6) diag_append(diag, "%s %s", listed ? "," : "", names[k]);
        listed++;
    }
    if (listed > 6) diag_append(diag, ", ..");
}

/* Tell about block b if it is singular. */
static bool tell_block(dae_solver *s, const rank_scene *r, int b, double *A)
{
    const block_form *f = &r->structure->blocks;
    int first = f->start[b], size = f->start[b + 1] - first;
    rank_split split;
    if (!fill_block(r, b, A) || !rank_split_new(&split, size, size, A, LOST, 0.0, NULL))
        return false;
    bool lost = split.rank < size || (size == 1 && fabs(A[0]) < LOST);
    const char **names = lost ? DAE_ARRAY(const char *, size) : NULL;
    if (names) {
        const double *left = split.U + (size_t)(size - 1) * (size_t)size;
        const double *right = split.V + (size_t)(size - 1) * (size_t)size;
        for (int k = 0; k < size; k++) names[k] = r->set->row[f->rows[first + k]].name;
        diag_set(&s->diag, DAE_ERR_SINGULAR, "The index changes at t = %.9g: there", r->t);
        list_large(&s->diag, left, size, names);
        for (int k = 0; k < size; k++) names[k] = r->set->name[f->columns[first + k]];
        diag_append(&s->diag, " cannot be solved any more for");
        list_large(&s->diag, right, size, names);
        diag_append(&s->diag,
                    ", and the solution cannot go on (an impasse: it folds back, or becomes "
                    "infinite). The model does not describe what comes next.");
        s->diag.line = r->set->row[f->rows[first]].line;
    }
    dae_free((void *)names);
    rank_split_free(&split);
    return names;
}

static bool tell_worst(dae_solver *s, rank_scene *r)
{
    const block_form *f = &r->structure->blocks;
    double *A = DAE_ARRAY(double, LARGEST_BLOCK *LARGEST_BLOCK);
    bool told = false;
    for (int b = 0; A && b < f->count && !told; b++)
        if (f->start[b + 1] - f->start[b] <= LARGEST_BLOCK) told = tell_block(s, r, b, A);
    dae_free(A);
    return told;
}

static int highest(const structure *t)
{
    int most = 0;
    for (int j = 0; j < t->sigma.n; j++)
        if (t->d[j] > most) most = t->d[j];
    return most + 1;
}

static bool explore(dae_solver *s, const equation_set *set, const structure *t,
                    const model_point *at, bool *told)
{
    rank_scene r = {.set = set,
                    .structure = t,
                    .orders = highest(t),
                    .t = at->t,
                    .elapsed = at->t - s->hybrid->started,
                    .parameters = at->parameters,
                    .memory = at->memory};
    r.x = analysed_values(set, at, r.orders);
    r.near = analysed_values(set, at, r.orders);
    bool ok = r.x && r.near && system_jacobian_new(&r.jacobian, set, t);
    if (ok) {
        r.value = DAE_ARRAY(double, entry_count(&r));
        r.extent = DAE_ARRAY(double, entry_count(&r));
        ok = r.value && r.extent && measure_entries(&r);
        *told = ok && tell_worst(s, &r);
        system_jacobian_free(&r.jacobian);
    }
    dae_free(r.value);
    dae_free(r.extent);
    dae_free(r.x);
    dae_free(r.near);
    return ok;
}

bool explain_rank(dae_solver *s, double t, const double *base_y, const double *base_yp)
{
    const model_instance *m = s->hybrid->instance;
    model_point at = {t, base_y, base_yp, m->parameters, m->memory};
    graph *g = s->base->model->flat->graph;
    model_analysis a;
    dae_diag before = s->diag;
    bool told = false;
    graph_enter(g);
    if (model_analyse(s->base->model, &s->reform->slots, &at, &a, &s->diag) == DAE_OK) {
        if (!a.written.singular && a.numbers_agree)
            explore(s, &a.reduced.set, &a.reduced.structure, &at, &told);
        model_analysis_free(&a);
    }
    graph_recover(g);
    graph_leave(g);
    if (!told) s->diag = before;
    s->diag.t = t;
    return told;
}
