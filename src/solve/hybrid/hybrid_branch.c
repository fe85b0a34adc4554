/* Branches of algebraic equations that have several solutions: whether a step stays on its own.
 *
 * Where the error test sees algebraic variables, and the method solves for them, this is rarely a
 * question. It is one where a variable moves far, or the method does not iterate. Methods that
 * integrate another form of the model differentiate its algebraic equations, or have lost them from
 * their sight: for those the equations are looked at as they are written. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "solve/begin/begin_parts.h"
#include "solve/hybrid/hybrid_parts.h"

enum { TRACK = 8 }; /* short steps in which a branch is followed, or less if there are states */
/* A change of this part of its size is a jump of a variable, unless shorter steps share it out. */
static const double JUMP = 0.25, SHORTEST_PART = 1e-6;

/* Algebraic equations at given differential variables, and a step whose ends are to meet them. */
typedef struct branch_walk {
    int n;
    initializer *init;
    const dae_kind *kinds;
    const double *weights, *extent; /* largest values so far; NULL: not known */
    const int *exempt; /* > 0: jumps by its equation, whatever the branch; NULL: none */
    double rtol;
    double *from, *from_yp; /* where the step begins */
    double *at, *at_yp;     /* work: on the branch */
    double *next, *next_yp; /* work: what is solved for */
} branch_walk;

struct base_branch {
    owned_part part;
    evaluator eval;
    iteration matrix;
    initializer *init;
    dae_kind *kinds;
    double *values;        /* owned: eleven points */
    double *weights, *own; /* own: of the form at hand, y and y'; owned */
    int own_n;             /* for which there is room */
    branch_walk walk;      /* over these */
    bool met;              /* values of the method were seen to meet the equations */
    double *to, *to_yp;    /* where the step ends */
    double *drift,
        *gained; /* per differential variable: what corrections gave it of late, and now */
};

bool points_agree(int n, const double *weights, const double *a, const double *b, double tolerances)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerances * weights[i])) return false;
    return true;
}

/* ---- along a branch ---- */

/* How far algebraic unknown i moved from a to b, in units of its size. */
static double moved_by(const branch_walk *w, int i, const double *a, const double *b)
{
    if (w->kinds[i] == DAE_KIND_DIFFERENTIAL || (w->exempt && w->exempt[i] > 0)) return 0.0;
    double least = w->rtol > 0.0 ? w->weights[i] / w->rtol : 1.0;
    double size = fmax(fmax(w->extent ? w->extent[i] : 0.0, least), fmax(fabs(a[i]), fabs(b[i])));
    return fabs(b[i] - a[i]) / size;
}

/* The most of that. */
static double moved(const branch_walk *w, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < w->n; i++) most = fmax(most, moved_by(w, i, a, b));
    return most;
}

/* The first part of a step that is followed: half of a jump, if what has states moves evenly. */
static double first_part(const branch_walk *w, const double *y, bool states)
{
    double even = states ? 0.5 * JUMP / moved(w, w->from, y) : 0.0;
    return fmin(fmax(even, 1.0 / TRACK), 0.5);
}

/* Follow the algebraic unknowns over a step to y, with differential ones on the line between its
 * ends, in steps so short that nothing jumps; whether that leads to y. */
static bool follow(const branch_walk *w, double t, double step, const double *y, bool states)
{
    const double first = first_part(w, y, states);
    double at = 0.0, part = first;
    vector_copy(w->n, w->from, w->at);
    vector_copy(w->n, w->from_yp, w->at_yp);
    while (at < 1.0) {
        double next = at + part < 1.0 ? at + part : 1.0;
        for (int i = 0; i < w->n; i++) {
            bool state = w->kinds[i] == DAE_KIND_DIFFERENTIAL;
            w->next[i] = state ? w->from[i] + next * (y[i] - w->from[i]) : w->at[i];
            w->next_yp[i] = w->at_yp[i];
        }
        bool solved = initializer_project(w->init, t + next * step, step * part, w->kinds,
                                          w->weights, w->next, w->next_yp) == EVAL_OK;
        if (!solved || moved(w, w->at, w->next) > JUMP) {
            if (part < SHORTEST_PART) return false;
            part *= 0.5;
            continue;
        }
        vector_copy(w->n, w->next, w->at);
        vector_copy(w->n, w->next_yp, w->at_yp);
        at = next;
        part = fmin(2.0 * part, first);
    }
    return moved(w, w->at, y) <= JUMP;
}

/* Whether y solves the algebraic equations at t, roughly: methods that do not iterate may have left
 * them, beyond a fold. */
static bool is_solution(const branch_walk *w, double t, double step, const double *y)
{
    vector_copy(w->n, y, w->next);
    vector_copy(w->n, w->from_yp, w->next_yp);
    return initializer_project(w->init, t, step, w->kinds, w->weights, w->next, w->next_yp) ==
               EVAL_OK &&
           points_agree(w->n, w->weights, w->next, y, SAME_POINT);
}

/* Whether the slopes at the beginning of a step lead to its end: what moves far does not jump. */
static bool is_foreseen(const branch_walk *w, double step, const double *y)
{
    for (int i = 0; i < w->n; i++) w->next[i] = w->from[i] + step * w->from_yp[i];
    return moved(w, w->next, y) <= JUMP;
}

/* Whether a step from t to y ends on the branch on which it begins; It is
 * judged only by what holds where it begins; `h`: the last step before, 0: that is known to hold.
 * *astray: the derivatives at hand are of iterates that did not lead to y.
 */
static bool stays(const branch_walk *w, double t, double step, double h, const double *y,
                  bool states, bool iterates, bool *astray)
{
    bool smooth = states && (moved(w, w->from, y) <= JUMP || is_foreseen(w, step, y));
    *astray = false;
    if (smooth && iterates) return true;
    bool holds = smooth ? is_solution(w, t + step, step, y) : follow(w, t, step, y, states);
    *astray = !holds;
    return holds || (h != 0.0 && !is_solution(w, t, h, w->from));
}

/* ---- the form at hand ---- */

static bool has_kind(const dae_solver *s, bool states)
{
    for (int i = 0; i < s->bound.n; i++)
        if ((s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) == states) return true;
    return false;
}

/* The equations of the form at hand have pieces: solutions may have folds where these meet. */
static bool has_pieces(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->own->form; /* as the model was written: modes do not matter */
    if (h->pieces_of == f) return h->pieces;
    graph *g = f->flat->graph;
    graph_enter(g);
    range_program *p = range_may_have_pieces(g, f->residual.e, f->residual.outputs)
                           ? range_program_new(g, f->residual.e, f->residual.outputs)
                           : NULL;
    graph_leave(g);
    h->pieces = false;
    for (size_t k = 0; p && k < f->residual.outputs; k++)
        h->pieces = h->pieces || range_program_has_pieces(p, k);
    range_program_free(p);
    h->pieces_of = f;
    return h->pieces;
}

bool branch_is_index_one(const dae_solver *s)
{
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] != DAE_KIND_DIFFERENTIAL && s->bound.kinds[i] != DAE_KIND_INDEX1)
            return false;
    return !binding_uses_forms(&s->bound) && !binding_second_order(&s->bound) &&
           s->hybrid->instance->form->unmet < 0;
}

/* Whether steps may leave the algebraic equations unseen: where these have pieces, where the method
 * does not solve for a variable that the error test does not see, or has not looked where a step
 * ends, as on a diode that begins to conduct there. */
static bool may_leave(dae_solver *s)
{
    bool exempt = s->bound.method->no_iteration && s->bound.norm.exempt_count > 0;
    return exempt || s->bound.method->ends_unseen || has_pieces(s);
}

/* The walk has the matrix of the method, which goes on with it: where a diode would conduct 1e10 A,
 * corrections are so small that every point would pass for a solution. */
static void forget_derivatives(dae_solver *s)
{
    s->bound.matrix.factored = s->bound.matrix.jac.valid = false;
    s->bound.newton.stale = true;
}

static bool stays_here(dae_solver *s, double step, const double *y)
{
    hybrid *h = s->hybrid;
    branch_walk w = {.n = s->bound.n,
                     .init = s->bound.init,
                     .kinds = s->bound.kinds,
                     .weights = s->bound.norm.weights,
                     .extent = s->bound.extent,
                     .exempt = s->bound.norm.exempt,
                     .rtol = s->bound.options.rtol,
                     .from = h->track,
                     .from_yp = h->track_yp,
                     .at = h->branch,
                     .at_yp = h->branch_yp,
                     .next = h->ahead,
                     .next_yp = h->ahead_yp};
    if (!branch_is_index_one(s) || !has_kind(s, false) || !may_leave(s)) return true;
    solver_interpolate(s, s->run.t_new, 0, h->track);
    solver_interpolate(s, s->run.t_new, 1, h->track_yp);
    bool astray, on = stays(&w, s->run.t_new, step, s->run.last.h, y, has_kind(s, true),
                            !s->bound.method->no_iteration, &astray);
    if (astray) forget_derivatives(s);
    return on;
}

/* ---- the model as it is written ---- */

static void base_branch_free(void *self)
{
    base_branch *b = self;
    initializer_free(b->init);
    iteration_free(&b->matrix);
    dae_free_all(b->kinds, b->values, b->own, b);
}

/* The points of a walk, one behind the other in b->values. */
static void lay_out(base_branch *b, int n)
{
    double **points[] = {&b->weights,      &b->to,      &b->to_yp,      &b->walk.from,
                         &b->walk.from_yp, &b->walk.at, &b->walk.at_yp, &b->walk.next,
                         &b->walk.next_yp, &b->drift,   &b->gained};
    for (size_t k = 0; k < sizeof points / sizeof *points; k++)
        *points[k] = b->values + k * (size_t)n;
}

static base_branch *base_branch_new(dae_solver *s)
{
    const model_form *model = s->base->model;
    const int n = s->base->form.n;
    base_branch *b = DAE_NEW(base_branch);
    if (!b) return NULL;
    b->part.free = base_branch_free;
    b->eval = (evaluator){.problem = s->base, .stats = &s->stats, .instance = s->hybrid->own};
    b->kinds = DAE_ARRAY(dae_kind, n);
    b->values = DAE_ARRAY(double, 11 * (size_t)n);
    bool fits = b->kinds && b->values &&
                iteration_new(&b->matrix, &b->eval, &s->base_options, NULL) == DAE_OK &&
                initializer_new(&b->init, &b->eval, &b->matrix, &s->base_options, NULL) == DAE_OK;
    if (!fits) {
        base_branch_free(b);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        b->kinds[i] = model->differential[i] ? DAE_KIND_DIFFERENTIAL : DAE_KIND_INDEX1;
    lay_out(b, n);
    b->walk.n = n;
    b->walk.init = b->init;
    b->walk.kinds = b->kinds;
    b->walk.weights = b->weights;
    b->walk.rtol = s->bound.options.rtol;
    return b;
}

static bool model_has(const dae_solver *s, bool states)
{
    const model_form *model = s->base->model;
    for (int i = 0; i < model->n; i++)
        if (model->differential[i] == states) return true;
    return false;
}

/* Whether the algebraic equations as written may have several solutions, where the method does not
 * see them: their matrix may lose its rank, and a step may lead over the points where it does. */
static bool needs_base(dae_solver *s)
{
    const model_mode *v = s->modes ? s->modes->current : NULL;
    bool one = !s->hybrid->instance->array && (!v || v->plan.index <= 1);
    return binding_uses_forms(&s->bound) && one && model_has(s, false) && rank_watch_may_fold(s);
}

dae_status hybrid_check_branches(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const bool free_steps = !steps_are_given(&s->bound.options);
    h->branches_hidden = false;
    if (!free_steps || !binding_uses_forms(&s->bound)) return DAE_OK;
    /* without states no error test keeps steps on a branch */
    if (!model_has(s, true) && has_pieces(s))
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Method %s cannot tell how far it may step: no variable has a derivative, "
                        "and the equations have pieces (if, min, max, ..), so that they may have "
                        "several solutions. Use a method for residual forms, such as bdf or radau.",
                        s->bound.method->name);
    if (!needs_base(s)) return DAE_OK;
    if (!h->base) h->base = base_branch_new(s);
    if (h->base && h->base->own_n < s->bound.n) {
        dae_free(h->base->own);
        h->base->own = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
        h->base->own_n = h->base->own ? s->bound.n : 0;
    }
    if (!h->base || !h->base->own)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the algebraic equations.");
    vector_zero(h->base->walk.n, h->base->drift);
    h->base->met = false;
    h->branches_hidden = true;
    return DAE_OK;
}

/* Parameters and memory of the form at hand for the model as written. */
static void share_memory(dae_solver *s)
{
    const hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    if (h->own == h->instance) return;
    memcpy(h->own->memory, h->instance->memory, (size_t)m->memory_count * sizeof(double));
    memcpy(h->own->parameters, h->instance->parameters, m->parameter_count * sizeof(double));
    model_instance_prepare(h->own);
}

static void weigh(const dae_solver *s, base_branch *b)
{
    const double *each = s->base_options.atol_by_unknown;
    for (int i = 0; i < b->walk.n; i++)
        b->weights[i] =
            (each ? each[i] : s->bound.options.atol) + s->bound.options.rtol * fabs(b->to[i]);
}

/* So many tolerances are more than corrections may add up to; a step without any forgets a part. */
static const double MOST_DRIFT = 10.0, FORGETS = 0.1;

/* Whether differential variables go where their slopes lead. A projection on equations that have no
 * solution ahead holds them back, by less than the tolerance in each of many short steps: what is
 * beyond (x' at one end to x' at the other) h, with either sign, is summed up. */
static bool follows_slopes(base_branch *b, double step)
{
    const branch_walk *w = &b->walk;
    for (int i = 0; i < w->n; i++) {
        double p = 0.5 * step * (w->from_yp[i] + b->to_yp[i]);
        double bound = fabs(step * (b->to_yp[i] - w->from_yp[i]));
        double beyond = b->to[i] - w->from[i] - p;
        bool any = w->kinds[i] == DAE_KIND_DIFFERENTIAL && fabs(beyond) > bound;
        b->gained[i] = any ? b->drift[i] + beyond : (1.0 - FORGETS) * b->drift[i];
        if (fabs(b->gained[i]) > MOST_DRIFT * b->weights[i]) return false;
    }
    vector_copy(w->n, b->gained, b->drift);
    return true;
}

static bool stays_as_written(dae_solver *s, double step, const double *y, const double *yp)
{
    base_branch *b = s->hybrid->base;
    share_memory(s);
    solver_interpolate(s, s->run.t_new, 0, b->own);
    solver_interpolate(s, s->run.t_new, 1, b->own + s->bound.n);
    values_to_user(s, s->run.t_new, b->own, b->own + s->bound.n, b->walk.from, b->walk.from_yp);
    values_to_user(s, s->run.t_new + step, y, yp, b->to, b->to_yp);
    weigh(s, b);
    /* without pieces the watch of the rank sees all but leaps to another solution */
    bool astray, pieces = has_pieces(s);
    bool on = stays(&b->walk, s->run.t_new, step, b->met ? 0.0 : s->run.last.h, b->to, true,
                    !pieces, &astray);
    if (!pieces) return on;
    b->met = b->met || (on && is_solution(&b->walk, s->run.t_new + step, step, b->to));
    return on && follows_slopes(b, step);
}

bool hybrid_on_branch(dae_solver *s, double step, const double *y, const double *yp)
{
    hybrid *h = s->hybrid;
    if (s->run.control.fixed || !y) return true;
    if (h->branches_hidden) return !yp || stays_as_written(s, step, y, yp);
    /* closer to a fold hybrid_fold takes over */
    return fabs(step) <= CLOSE_TO_FOLD * fabs(s->run.t_new - h->started) || stays_here(s, step, y);
}

dae_status hybrid_explain_lost(dae_solver *s, dae_status status)
{
    const hybrid *h = s->hybrid;
    if (!h->branches_hidden || status != DAE_ERR_ERROR_TEST) return status;
    const branch_walk *w = &h->base->walk;
    int most = 0;
    for (int i = 1; i < w->n; i++)
        if (moved_by(w, i, w->from, h->base->to) > moved_by(w, most, w->from, h->base->to))
            most = i;
    diag_variable(&s->diag, most, problem_variable(s->base, most));
    s->diag.t = s->run.t_new;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The solution of the algebraic equations that %s is on ends at t = %.9g (a "
                    "fold): steps of method %s beyond that do not meet the equations any more, or "
                    "lie on another one. Use a method for residual forms, such as bdf or radau: "
                    "they look for another solution there.",
                    problem_variable(s->base, most), s->run.t_new, s->bound.method->name);
}

/* ---- checkpoints ---- */

void branches_persist(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    const bool there = persist_flag(p, h->base != NULL);
    if (!there) return;
    if (p->reading && !h->base) h->base = base_branch_new(s);
    if (p->reading && h->base && h->base->own_n < s->bound.n) {
        dae_free(h->base->own);
        h->base->own = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
        h->base->own_n = h->base->own ? s->bound.n : 0;
    }
    base_branch *b = h->base;
    if (!b || !b->own) p->no_memory = true;
    if (!persist_ok(p)) return;
    PERSIST(p, b->met);
    PERSIST_ARRAY(p, b->values, 11 * (size_t)b->walk.n);
    iteration_persist(&b->matrix, p);
    initializer_persist(b->init, p);
}
