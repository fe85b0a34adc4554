/* Consistent initial values of the quasilinear form: x on 0 = g, then x' by least squares. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "forms/stacked.h"
#include "init/forms_parts.h"

/* Whether x_j has a derivative: its column of E is not zero. */
static bool is_differential(const start *s, int j)
{
    const form_matrix *E = &s->x->quasilinear.E_matrix;
    for (form_entry e = form_matrix_column(E, j); form_matrix_next(E, &e) && e.column == j;)
        if (s->x->qw.E[e.at] != 0.0) return true;
    return false;
}

/* Who may move onto the constraints, from few to all. */
typedef enum movement {
    MOVE_ALGEBRAIC, /* unknowns without a derivative alone, */
    MOVE_DRIVEN,    /* and differential ones whose derivatives they are beside in a row, */
    MOVE_UNMET,     /* and differential ones that are in no constraint which is met as it is, */
    MOVE_EASILY,    /* and all, algebraic ones at little cost, */
    MOVE_ALL,       /* and all alike */
    MOVEMENTS
} movement;

static const double EASY = 1e6; /* algebraic unknowns against differential ones */
static const double MET = 1e-2; /* of a tolerance: a constraint this far off is met */

/* kept[j]: x_j stands in a constraint that is met at s->y, beside no unknown without a derivative.
 */
static eval_status find_kept(const start *s, manifold *p, bool *kept)
{
    const quasilinear_form *f = &s->x->quasilinear;
    const form_matrix *g = &f->g_x_matrix;
    eval_status status = f->g(f->context, s->t, s->y, p->c);
    if (status == EVAL_OK) status = f->g_x(f->context, s->t, s->y, p->A);
    if (status != EVAL_OK) return status;
    if (!manifold_factor(p, p->A)) return EVAL_MEMORY;
    /* an entry may be zero here by chance, as 2 x at x = 0 */
    for (int j = 0; j < p->n; j++)
        p->moved[j] = s->y[j] + (0.1 + 0.01 * (j % 7)) * (1.0 + fabs(s->y[j]));
    status = f->g_x(f->context, s->t, p->moved, p->scaled);
    if (status == EVAL_STOP) return status;
    for (int i = 0; i < p->m; i++) p->b[i] = fabs(p->c[i]) <= MET * p->row[i];
    for (int pass = 0; pass < 2; pass++)
        for (form_entry e = {0}; form_matrix_next(g, &e);) {
            double *met = &p->b[e.row];
            if (p->A[e.at] == 0.0 && p->scaled[e.at] == 0.0) continue;
            if (pass == 0 && !is_differential(s, e.column)) *met = 0.0;
            if (pass == 1 && *met != 0.0) kept[e.column] = true;
        }
    return EVAL_OK;
}

/* driven[j]: x_j' is in a row whose f depends on an unknown without a derivative. Multipliers act
 * on velocities, not on positions, and as they act values go back to the constraints [AP91]. */
static eval_status find_driven(const start *s, manifold *p, bool *driven)
{
    const quasilinear_form *f = &s->x->quasilinear;
    const int n = s->x->source->n;
    double *at = DAE_ARRAY(double, 2 * (size_t)f->ne), *beside = at + f->ne;
    bool *row = DAE_ARRAY(bool, f->ne);
    eval_status status = at && row ? f->f(s->x, s->t, s->y, at) : EVAL_MEMORY;
    vector_copy(n, s->y, p->moved);
    for (int j = 0; status == EVAL_OK && j < n; j++) {
        if (is_differential(s, j)) continue;
        p->moved[j] += 1e-3 * (1.0 + fabs(s->y[j]));
        status = f->f(s->x, s->t, p->moved, beside);
        p->moved[j] = s->y[j];
        for (int i = 0; status == EVAL_OK && i < f->ne; i++) row[i] = row[i] || beside[i] != at[i];
    }
    for (form_entry e = {0}; status == EVAL_OK && form_matrix_next(&f->E_matrix, &e);)
        if (row[e.row] && s->x->qw.E[e.at] != 0.0) driven[e.column] = true;
    dae_free_all(at, row);
    return status;
}

/* Sizes for one movement; whether anything may move. */
static bool set_movement(const start *s, movement how, const bool *kept, const bool *driven)
{
    int n = s->x->source->n;
    double most = 0.0;
    bool any = false;
    start_sizes(s, 0, n);
    for (int j = 0; j < n; j++) most = fmax(most, s->size[j]);
    for (int j = 0; j < n; j++) {
        bool differential = is_differential(s, j);
        bool stays = how == MOVE_ALGEBRAIC || (how == MOVE_DRIVEN && !driven[j]) ||
                     (how == MOVE_UNMET && kept[j]);
        if (differential && stays) s->size[j] = 0.0;
        bool easily = how == MOVE_DRIVEN || how == MOVE_UNMET || how == MOVE_EASILY;
        if (!differential && s->size[j] > 0.0 && easily) s->size[j] = EASY * most;
        any = any || s->size[j] > 0.0;
    }
    return any;
}

/* x on 0 = g: by the algebraic unknowns alone, if that can be, else by as few others as serve:
 * positions stay where velocities do not meet their constraint. */
static dae_status project_quasilinear(const start *s)
{
    const quasilinear_form *f = &s->x->quasilinear;
    int n = s->x->source->n;
    manifold p = {0};
    bool *kept = DAE_ARRAY(bool, 2 * (size_t)n), *driven = kept + n;
    double *given = dae_copy(s->y, (size_t)n, sizeof(double));
    bool ready = kept && given && manifold_new(&p, &f->g_x_matrix, s->size, NULL);
    dae_status status = ready ? DAE_OK : start_exhausted(s);
    eval_status eval = ready ? find_kept(s, &p, kept) : EVAL_OK;
    if (ready && eval != EVAL_STOP && eval != EVAL_MEMORY) eval = find_driven(s, &p, driven);
    if (ready && (eval == EVAL_STOP || eval == EVAL_MEMORY)) status = start_evaluation(s, eval);
    const start_part constraints = {&f->g_x_matrix, f->g, f->g_x, f->context, 0, "constraint"};
    engine_outcome moved = ENGINE_STALLED;
    for (int how = 0; status == DAE_OK && how < MOVEMENTS; how++) {
        if (moved != ENGINE_STALLED && moved != ENGINE_UNDEFINED) break;
        if (!set_movement(s, (movement)how, kept, driven)) continue;
        vector_copy(n, given, s->y);
        moved = start_move(s, &constraints, &p);
    }
    if (status == DAE_OK) status = start_moved(s, &p, moved, "constraint");
    start_sizes(s, 0, n);
    manifold_free(&p);
    dae_free_all(given, kept);
    return status;
}

/* x' with [E; g_x] x' = [f; -g_t] in the sense of least squares; the shortest one if that does not
 * determine it. */
static dae_status find_slopes(const start *s)
{
    form_instance *x = s->x;
    const quasilinear_form *f = &x->quasilinear;
    quasilinear_work *w = &x->qw;
    eval_status eval = f->E(x, s->t, s->y, w->E);
    if (!eval) eval = f->f(x, s->t, s->y, w->f);
    if (!eval && f->ng > 0) eval = f->g_x(x, s->t, s->y, w->slope);
    if (!eval && f->ng > 0) eval = f->g_t(x, s->t, s->y, w->rate);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    form_pattern pattern = {0};
    manifold p = {0};
    double *c = DAE_ARRAY(double, f->ne + f->ng);
    bool ok = c && stacked_pattern(&f->E_matrix, &f->g_x_matrix, &pattern.colptr, &pattern.rowind);
    form_matrix matrix = {0};
    if (ok) matrix = form_matrix_on(f->ne + f->ng, f->n, pattern.colptr, pattern.rowind);
    for (int j = 0; ok && j < f->n; j++) s->size[j] = w->nominal[j];
    ok = ok && manifold_new(&p, &matrix, s->size, NULL);
    if (ok) {
        stacked_values(&f->E_matrix, w->E, &f->g_x_matrix, w->slope, p.A);
        for (int i = 0; i < f->ne; i++) c[i] = -w->f[i];
        vector_copy(f->ng, w->rate, c + f->ne);
        ok = manifold_factor(&p, p.A);
        if (ok) manifold_step(&p, c, s->yp);
    }
    manifold_free(&p);
    dae_free_all(pattern.colptr, pattern.rowind, c);
    return ok ? DAE_OK : start_exhausted(s);
}

dae_status quasilinear_start(const start *s)
{
    form_instance *x = s->x;
    start_sizes(s, 0, x->source->n);
    eval_status eval = x->quasilinear.E(x, s->t, s->y, x->qw.E);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    dae_status status = x->quasilinear.ng > 0 ? project_quasilinear(s) : DAE_OK;
    return status == DAE_OK ? find_slopes(s) : status;
}
