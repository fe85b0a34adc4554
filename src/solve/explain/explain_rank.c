/* Why a run cannot go on: the equations lose rank where it stands.
 *
 * At an impasse or a fold the system Jacobian becomes singular, and no step size helps. It never is
 * exactly so where the run stops, and that it is small means nothing: the current of a diode in
 * its blocking direction is 1e-14 A of 1 A, and so is its conductance. What tells is that a
 * singular point is near: with small changes of all variables the determinant of a block changes
 * its sign, or by orders of magnitude. That depends on no units. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "linalg/singular_values.h"
#include "solve/explain/explain.h"
#include "structure/index/equation_names.h"

/* How far around is looked, in sizes of what is moved: steps that are down to rounding end within
 * its root from a fold, and a current that depends on 1000 V by exp(u/25 mV) does not change by
 * LOST so soon. */
static const double REACH = 1e-4;
/* A determinant that changes by more than this within the reach is at a zero that it touches. */
static const double LOST = 1e3;
enum { NEARBY = 12, LARGEST_BLOCK = 200 };

typedef struct rank_scene {
    const equation_set *set;
    const structure *structure;
    system_jacobian jacobian;
    double **x, **near; /* values at the point, and nearby */
    int orders;
    double t, elapsed;
    const double *parameters, *memory;
    double *value, *extent; /* entries at the point, and their extent nearby */
    double *samples;        /* entries at points nearby */
    double *between;        /* entries on the way to one of them */
    unsigned seed[NEARBY];  /* that these points came from */
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

/* near = x, all of it moved by up to `reach`; returns the time to go with it */
static double step_aside(const rank_scene *r, double reach, unsigned *seed)
{
    for (int p = 0; p <= r->orders; p++)
        for (int j = 0; j < r->set->n; j++) {
            *seed = *seed * 1664525u + 1013904223u;
            double unit = (double)(*seed >> 8) / 8388608.0 - 1.0; /* in [-1, 1) */
            double size = fmax(fabs(r->x[p][j]), r->set->nominal[j]);
            r->near[p][j] = r->x[p][j] + unit * reach * size;
        }
    *seed = *seed * 1664525u + 1013904223u;
    double unit = (double)(*seed >> 8) / 8388608.0 - 1.0;
    return r->t + unit * reach * fmax(fabs(r->elapsed), fabs(r->t));
}

/* extent_ij = largest |J_ij| at and around the point */
static bool measure_entries(rank_scene *r)
{
    size_t count = entry_count(r);
    r->samples = DAE_ARRAY(double, NEARBY *count);
    unsigned seed = 99;
    if (!r->samples) return false;
    evaluate_entries(r, r->t, r->x, r->value);
    for (size_t k = 0; k < count; k++) r->extent[k] = fabs(r->value[k]);
    for (int trial = 0; trial < NEARBY; trial++) {
        double *nearby = r->samples + (size_t)trial * count;
        r->seed[trial] = seed;
        evaluate_entries(r, step_aside(r, REACH, &seed), r->near, nearby);
        for (size_t k = 0; k < count; k++)
            if (isfinite(nearby[k])) r->extent[k] = fmax(r->extent[k], fabs(nearby[k]));
    }
    return true;
}

/* Block b of these values dense, columns in nominal sizes, rows by their extent; false: not finite.
 */
static bool fill_block(const rank_scene *r, int b, const double *value, double *A)
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
                A[k + c * size] = value[e] * r->set->nominal[j] / most;
                if (!isfinite(A[k + c * size])) return false;
            }
    }
    return true;
}

/* Sign and logarithm of |det A| by elimination with pivots; A is used up. */
static int signed_logarithm(int n, double *A, double *logarithm)
{
    int sign = 1;
    *logarithm = 0.0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i + k * n]) > fabs(A[best + k * n])) best = i;
        double pivot = A[best + k * n];
        if (!(fabs(pivot) > 0.0)) return 0;
        if ((best != k) != (pivot < 0.0)) sign = -sign;
        *logarithm += log(fabs(pivot));
        for (int j = k; j < n && best != k; j++) {
            double swap = A[k + j * n];
            A[k + j * n] = A[best + j * n];
            A[best + j * n] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = A[i + k * n] / pivot;
            for (int j = k + 1; factor != 0.0 && j < n; j++) A[i + j * n] -= factor * A[k + j * n];
        }
    }
    return sign;
}

/* Whether the determinant of block b has values between `here` and `there` on the way to point k
 * nearby. Near a zero it has. Where an equation has a kink, as at the limit of an amplifier, it
 * jumps from one to the other, however large both are. */
static bool goes_over(const rank_scene *r, int b, int k, double here, double there, double *A)
{
    enum { HALVINGS = 30 };
    const double apart = log(4.0), low = fmin(here, there) + apart,
                 high = fmax(here, there) - apart;
    double between, reach = REACH, *entries = r->between;
    for (int trial = 0; trial < HALVINGS; trial++) {
        unsigned seed = r->seed[k];
        reach *= 0.5;
        evaluate_entries(r, step_aside(r, reach, &seed), r->near, entries);
        if (!fill_block(r, b, entries, A)) continue;
        if (signed_logarithm(r->structure->blocks.start[b + 1] - r->structure->blocks.start[b], A,
                             &between) == 0)
            return true;
        if (between > low && between < high) return true;
    }
    return false;
}

/* Whether a singular point of block b is near. */
static bool is_lost(const rank_scene *r, int b, double *A)
{
    int size = r->structure->blocks.start[b + 1] - r->structure->blocks.start[b];
    double here, there;
    if (!fill_block(r, b, r->value, A)) return false;
    int sign = signed_logarithm(size, A, &here);
    if (sign == 0) return true;
    for (int k = 0; k < NEARBY; k++) {
        if (!fill_block(r, b, r->samples + (size_t)k * entry_count(r), A)) continue;
        int other = signed_logarithm(size, A, &there);
        if (other != sign) return true;
        if (fabs(here - there) > log(LOST) && goes_over(r, b, k, here, there, A)) return true;
    }
    return false;
}

/* The names of the large components of a null vector. */
static void list_large(dae_diag *diag, const double *v, int size, const char *const *names)
{
    text_list list = text_list_in(diag, 6);
    diag_append(diag, " ");
    for (int k = 0; k < size; k++)
        if (!(fabs(v[k]) < 0.1)) text_list_add(&list, "%s", names[k]);
    text_list_end(&list);
}

/* The variable that block equations are solved for: a highest derivative may have a name of its
 * own, as y of der(x) = y. */
static const char *unknown_name(const rank_scene *r, int j)
{
    int order = r->structure->d[j], k = equation_set_synonym(r->set, j, order);
    return k >= 0 && r->set->synonym[k].order == order ? r->set->synonym[k].name : r->set->name[j];
}

/* Tell about block b if it is singular. */
static bool tell_block(dae_solver *s, const rank_scene *r, int b, double *A)
{
    const block_form *f = &r->structure->blocks;
    int first = f->start[b], size = f->start[b + 1] - first;
    rank_split split;
    if (!is_lost(r, b, A) || !fill_block(r, b, r->value, A) ||
        !rank_split_new(&split, size, size, A, 0.0, 0.0, NULL))
        return false;
    const char **names = DAE_ARRAY(const char *, size);
    if (names) {
        const double *left = split.U + (size_t)(size - 1) * (size_t)size;
        const double *right = split.V + (size_t)(size - 1) * (size_t)size;
        for (int k = 0; k < size; k++) names[k] = r->set->row[f->rows[first + k]].name;
        diag_set(&s->diag, DAE_ERR_SINGULAR, "The index changes at t = %.9g: there", r->t);
        list_large(&s->diag, left, size, names);
        for (int k = 0; k < size; k++) names[k] = unknown_name(r, f->columns[first + k]);
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
        r.between = DAE_ARRAY(double, entry_count(&r));
        ok = r.value && r.extent && r.between && measure_entries(&r);
        *told = ok && tell_worst(s, &r);
        system_jacobian_free(&r.jacobian);
    }
    dae_free_all(r.value, r.extent, r.between, r.samples, r.x, r.near);
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
    model_point earlier = at; /* where the structure holds, whatever is lost now */
    earlier.t = t - 0.5 * (t - s->hybrid->started);
    graph_enter(g);
    if (model_analyse(s->base->model, &s->modes->slots, &earlier, &a, &s->diag) == DAE_OK) {
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
