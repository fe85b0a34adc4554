/* The mechanical form q' = v, M v' = f - G' lambda, 0 = g(t,q) from callbacks. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

/* Notation: n = nq, m = nlambda. Rows of the as-given residual form, for messages: n kinematic
 * equations, n of motion, m constraints. */

static const dae_mechanical *form_of(const form_instance *x)
{
    return &x->source->as.m;
}

/* The time in which g changes along (t + s, q + s v). Without t in it, and no time scale given, v
 * alone tells: how slow a mechanism is in its units must not matter. */
static double scale_along(const dae_mechanical *form, const double *q, const double *v)
{
    bool by_motion = form->scleronomic && !(form->time_scale > 0.0);
    const double never = 1e150; /* its square is a number still */
    return difference_scale(form->nq, q, v, form->nominal,
                            by_motion ? never : time_scale_of(form->time_scale));
}

static bool has_gradient(const dae_mechanical *form)
{
    return form->gradient || form->all;
}

static bool has_rate(const dae_mechanical *form)
{
    return form->rate || form->all || form->scleronomic;
}

/* ---- single callbacks ---- */

/* What a callback is asked with: q, v and lambda, or all that the full form has. */
static inline eval_status mechanical_point(form_instance *x, double t, const double *q,
                                           const double *v, dae_mechanical_point *at)
{
    if (x->source->full) return multibody_point(x, t, q, v, at);
    *at = (dae_mechanical_point){.t = t, .q = q, .v = v, .lambda = v ? x->bw.lambda : NULL};
    return EVAL_OK;
}

eval_status mechanical_call(form_instance *x, const mechanical_part *part, double t,
                            const double *q, const double *v, double *out)
{
    const form_matrix *m = part->layout;
    size_t count = m ? m->count : (size_t)part->count;
    dae_mechanical_point at;
    if (m) memset(out, 0, count * sizeof *out);
    eval_status status = mechanical_point(x, t, q, v, &at);
    if (status != EVAL_OK) return status;
    int code = part->fn(&at, out, form_of(x)->user);
    return form_judge_soon(x, part->name, t, code, count, out, part->row, m);
}

static int constraint_row(const form_instance *x)
{
    return form_constraint_row(x->source);
}

static eval_status eval_g(void *context, double t, const double *q, double *g)
{
    form_instance *x = context;
    const dae_mechanical *form = form_of(x);
    const mechanical_part part = {form->constraint, "constraint", constraint_row(x), form->nlambda,
                                  NULL};
    return form->nlambda > 0 ? mechanical_call(x, &part, t, q, NULL, g) : EVAL_OK;
}

/* g, counted as an evaluation for differences */
static eval_status eval_g_difference(void *context, double t, const double *q, double *g)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return eval_g(context, t, q, g);
}

static eval_status eval_mass(form_instance *x, double t, const double *q, double *M)
{
    const dae_mechanical *form = form_of(x);
    const form_matrix *layout = &x->mechanical.M_matrix;
    if (!form->mass) {
        for (int i = 0; i < form->nq; i++) M[i] = 1.0;
        return EVAL_OK;
    }
    const mechanical_part part = {form->mass, "mass", form->nq, 0, layout};
    return mechanical_call(x, &part, t, q, NULL, M);
}

static eval_status eval_gradient(form_instance *x, double t, const double *q, double *G)
{
    const dae_mechanical *form = form_of(x);
    const form_matrix *layout = &x->bw.H_matrix;
    if (!form->gradient)
        return difference_matrix(&x->mw.gradient, layout, eval_g_difference, x, t, q, form->nominal,
                                 G);
    const mechanical_part part = {form->gradient, "gradient", constraint_row(x), 0, layout};
    return mechanical_call(x, &part, t, q, NULL, G);
}

static eval_status eval_rate(form_instance *x, double t, const double *q, double *rate)
{
    const dae_mechanical *form = form_of(x);
    if (form->scleronomic) {
        vector_zero(form->nlambda, rate);
        return EVAL_OK;
    }
    if (!form->rate)
        return difference_along(&x->mw.gradient, eval_g_difference, x, t, q, NULL,
                                time_scale_of(form->time_scale), rate);
    const mechanical_part part = {form->rate, "rate", constraint_row(x), form->nlambda, NULL};
    return mechanical_call(x, &part, t, q, NULL, rate);
}

/* ---- all at once ---- */

/* Values side by side that are looked at as one */
typedef struct value_run {
    const double *first, *end;
    bool finite; /* all that were before them */
} value_run;

static inline void run_on(value_run *r, const double *values, size_t count)
{
    if (!values) return;
    if (values != r->end) {
        r->finite = r->finite && vector_all_finite((size_t)(r->end - r->first), r->first);
        r->first = values;
    }
    r->end = values + count;
}

/* Whether everything is finite, by as few loops as it lies in pieces */
static bool all_finite(const form_instance *x, const dae_mechanical_values *out)
{
    const size_t n = (size_t)form_of(x)->nq, m = (size_t)form_of(x)->nlambda;
    value_run r = {.first = out->mass, .end = out->mass, .finite = true};
    run_on(&r, out->mass, x->mechanical.M_matrix.count);
    run_on(&r, out->force, n);
    run_on(&r, out->gradient, x->bw.H_matrix.count);
    run_on(&r, out->curvature, m);
    run_on(&r, out->rate, m);
    return r.finite && vector_all_finite((size_t)(r.end - r.first), r.first);
}

/* Which callback gave what is not finite */
static eval_status judge_all(form_instance *x, double t, const dae_mechanical_values *out)
{
    const dae_mechanical *form = form_of(x);
    const form_matrix *M = &x->mechanical.M_matrix, *G = &x->bw.H_matrix;
    size_t n = (size_t)form->nq, m = (size_t)form->nlambda;
    int constraints = constraint_row(x);
    eval_status status = EVAL_OK;
    if (out->mass) status = form_judge(x, "all (mass)", t, 0, M->count, out->mass, form->nq, M);
    if (!status && out->force)
        status = form_judge(x, "all (force)", t, 0, n, out->force, form->nq, NULL);
    if (!status && out->gradient)
        status = form_judge(x, "all (gradient)", t, 0, G->count, out->gradient, constraints, G);
    if (!status && out->rate)
        status = form_judge(x, "all (rate)", t, 0, m, out->rate, constraints, NULL);
    if (!status && out->curvature)
        status = form_judge(x, "all (curvature)", t, 0, m, out->curvature, constraints, NULL);
    return status;
}

static eval_status eval_all(form_instance *x, double t, const double *q, const double *v,
                            const dae_mechanical_values *out)
{
    const dae_mechanical *form = form_of(x);
    const size_t M = x->mechanical.M_matrix.count, G = x->bw.H_matrix.count;
    const bool clear = !x->source->complete;
    if (clear && out->mass) memset(out->mass, 0, M * sizeof(double));
    if (clear && out->gradient) memset(out->gradient, 0, G * sizeof(double));
    dae_mechanical_point at;
    eval_status status = mechanical_point(x, t, q, v, &at);
    if (status != EVAL_OK) return status;
    int code = form->all(&at, out, form->user);
    if (code != 0) return form_judge(x, "all", t, code, 0, NULL, 0, NULL);
    return all_finite(x, out) ? EVAL_OK : judge_all(x, t, out);
}

/* ---- levels of the constraints ---- */

/* Behind those of g the constraints on velocities themselves. */
static eval_status append_velocity_level(form_instance *x, double t, const double *q, double *c)
{
    const dae_mechanical *form = form_of(x);
    if (form->nvelocity == 0) return EVAL_OK;
    return multibody_velocity_level(x, t, q, x->mw.v_fixed, c + form->nlambda);
}

/* c = G v + g_t at (t, q) for v = mw.v_fixed, of g alone; G_moved is work space */
static eval_status rate_level(void *context, double t, const double *q, double *c)
{
    form_instance *x = context;
    mechanical_work *w = &x->mw;
    x->eval->stats->jacobian_residuals++;
    eval_status status = EVAL_OK;
    if (form_of(x)->nlambda > 0 && form_of(x)->all) {
        const dae_mechanical_values out = {.gradient = w->G_moved, .rate = c};
        status = eval_all(x, t, q, w->v_fixed, &out);
    } else if (form_of(x)->nlambda > 0) {
        status = eval_gradient(x, t, q, w->G_moved);
        if (status == EVAL_OK) status = eval_rate(x, t, q, c);
    }
    if (status == EVAL_OK) form_matrix_multiply(&x->bw.H_matrix, w->G_moved, 1.0, w->v_fixed, c);
    return status;
}

static eval_status velocity_level(void *context, double t, const double *q, double *c)
{
    eval_status status = rate_level(context, t, q, c);
    return status == EVAL_OK ? append_velocity_level(context, t, q, c) : status;
}

/* c = d/ds g(t + s, q + s v) at s = 0: the same from g alone */
static eval_status velocity_level_of_g(void *context, double t, const double *q, double *c)
{
    form_instance *x = context;
    const dae_mechanical *form = form_of(x);
    const double *v = x->mw.v_fixed;
    double scale = scale_along(form, q, v);
    eval_status status = EVAL_OK;
    if (form->nlambda > 0)
        status = difference_along(&x->mw.gradient, eval_g_difference, x, t, q, v, scale, c);
    return status == EVAL_OK ? append_velocity_level(x, t, q, c) : status;
}

/* curvature = d^2 g / ds^2 along (t + s, q + s v), from the derivatives at hand */
static eval_status eval_curvature(form_instance *x, double t, const double *q, const double *v,
                                  double *curvature)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_part part = {form->curvature, "curvature", constraint_row(x), form->nlambda,
                                  NULL};
    if (form->curvature) return mechanical_call(x, &part, t, q, v, curvature);
    double scale = scale_along(form, q, v);
    if (!has_gradient(form) || !has_rate(form))
        return difference_twice(&x->mw.gradient, eval_g_difference, x, t, q, v, scale, curvature);
    x->mw.v_fixed = v;
    return difference_along(&x->mw.gradient, rate_level, x, t, q, v, scale, curvature);
}

eval_status mechanical_velocity_jacobian(form_instance *x, double t, const double *q,
                                         const double *v, double *values)
{
    const dae_mechanical *form = form_of(x);
    x->mw.v_fixed = v;
    form_function level = has_gradient(form) ? velocity_level : velocity_level_of_g;
    return difference_matrix(&x->mw.levels, &x->mechanical.G_matrix, level, x, t, q, form->nominal,
                             values);
}

eval_status mechanical_velocity_rate(form_instance *x, double t, const double *q, const double *v,
                                     double *out)
{
    const dae_mechanical *form = form_of(x);
    x->mw.v_fixed = v;
    form_function level = has_gradient(form) ? velocity_level : velocity_level_of_g;
    return difference_along(&x->mw.levels, level, x, t, q, NULL, time_scale_of(form->time_scale),
                            out);
}

/* ---- the form ---- */

/* All but the constraints on velocities. */
static eval_status evaluate_parts(form_instance *x, double t, const double *q, const double *v,
                                  double *M, double *f, double *G, double *rate, double *curvature)
{
    const dae_mechanical *form = form_of(x);
    if (f) x->eval->stats->residuals++;
    if (G) x->eval->stats->jacobians++;
    if (form->all) {
        const dae_mechanical_values out = {M, f, G, rate, curvature};
        return eval_all(x, t, q, v, &out);
    }
    eval_status status = EVAL_OK;
    if (M) status = eval_mass(x, t, q, M);
    const mechanical_part force = {form->force, "force", form->nq, form->nq, NULL};
    if (f && status == EVAL_OK) status = mechanical_call(x, &force, t, q, v, f);
    if (form->nlambda == 0) return status;
    if (G && status == EVAL_OK) status = eval_gradient(x, t, q, G);
    if (rate && status == EVAL_OK) status = eval_rate(x, t, q, rate);
    if (curvature && status == EVAL_OK) status = eval_curvature(x, t, q, v, curvature);
    return status;
}

static eval_status evaluate(void *context, double t, const double *q, const double *v, double *M,
                            double *f, double *G, double *rate, double *curvature)
{
    form_instance *x = context;
    if (form_of(x)->nvelocity == 0) return evaluate_parts(x, t, q, v, M, f, G, rate, curvature);
    eval_status status = evaluate_parts(x, t, q, v, M, f, G ? x->bw.H : NULL, rate, curvature);
    if (status != EVAL_OK || !(G || rate || curvature)) return status;
    return multibody_velocity_rows(x, t, q, v, G, rate, curvature);
}

/* Counted as the evaluation that it stands for */
static bool accelerations(void *context, double t, const double *q, const double *v, double *a)
{
    form_instance *x = context;
    const form_source *s = x->source;
    if (!s->accelerations(s->as.m.user, t, q, v, a) || !vector_finite(s->as.m.nq, a)) return false;
    x->eval->stats->residuals++;
    x->eval->stats->jacobians++;
    return true;
}

/* M of (t, q) alone, kept while it is constant; NULL: it stands in mw.M by now */
static double *missing_mass(form_instance *x)
{
    mechanical_work *w = &x->mw;
    if (!x->mechanical.M_matrix.constant) return w->M;
    return w->mass_kept ? NULL : w->M_kept;
}

/* M (NULL: not), f and G by the callback for all, and g */
static eval_status call_all(form_instance *x, const dae_mechanical_point *at, double *M)
{
    const dae_mechanical *form = form_of(x);
    mechanical_work *w = &x->mw;
    const dae_mechanical_values out = {.mass = M, .force = w->f, .gradient = w->G};
    if (M) memset(M, 0, x->mechanical.M_matrix.count * sizeof *M);
    if (form->nlambda > 0) memset(w->G, 0, x->bw.H_matrix.count * sizeof *M);
    int code = form->all(at, &out, form->user);
    if (code != 0) return form_judge(x, "all", at->t, code, 0, NULL, 0, NULL);
    code = form->nlambda > 0 ? form->constraint(at, w->level, form->user) : 0;
    return code ? form_judge(x, "constraint", at->t, code, 0, NULL, 0, NULL) : EVAL_OK;
}

eval_status mechanical_given(form_instance *x, double t, const double *q, const double *v,
                             const double **M)
{
    mechanical_work *w = &x->mw;
    const bool constrained = form_of(x)->nlambda > 0;
    double *mass = missing_mass(x);
    const dae_mechanical_point at = {.t = t, .q = q, .v = v};
    eval_status status = EVAL_OK;
    *M = x->mechanical.M_matrix.constant ? w->M_kept : w->M;
    if (form_of(x)->all) {
        status = call_all(x, &at, mass);
    } else {
        status = evaluate_parts(x, t, q, v, mass, w->f, constrained ? w->G : NULL, NULL, NULL);
        if (status == EVAL_OK) status = eval_g(x, t, q, w->level);
    }
    bool finite = mass == w->M_kept && vector_finite((int)x->mechanical.M_matrix.count, mass);
    w->mass_kept = w->mass_kept || (status == EVAL_OK && finite);
    return status;
}

eval_status mechanical_judge(form_instance *x, double t, const double *M)
{
    const form_matrix *mass = &x->mechanical.M_matrix, *G = &x->bw.H_matrix;
    const int n = form_of(x)->nq, m = form_of(x)->nlambda, row = constraint_row(x);
    const mechanical_work *w = &x->mw;
    eval_status status = form_judge(x, "all (mass)", t, 0, mass->count, M, n, mass);
    if (!status) status = form_judge(x, "all (force)", t, 0, (size_t)n, w->f, n, NULL);
    if (!status && m > 0) status = form_judge(x, "all (gradient)", t, 0, G->count, w->G, row, G);
    if (!status && m > 0)
        status = form_judge(x, "constraint", t, 0, (size_t)m, w->level, row, NULL);
    return status;
}

static form_matrix mass_matrix(const form_source *s)
{
    const dae_mechanical *form = &s->as.m;
    int n = form->nq;
    form_matrix M = form_matrix_on(n, n, form->mass_pattern.colptr, form->mass_pattern.rowind);
    if (s->mass.colptr) M = form_matrix_on(n, n, s->mass.colptr, s->mass.rowind);
    M.diagonal = s->mass.colptr && M.count == (size_t)n;
    if (s->mass.colptr && !M.diagonal) M.block = form->mass_block;
    M.constant = form->mass_constant || (!form->mass && !form->all);
    return M;
}

static bool allocate(form_instance *x)
{
    mechanical_work *w = &x->mw;
    const form_matrix *M = &x->mechanical.M_matrix, *G = &x->mechanical.G_matrix;
    size_t n = (size_t)x->mechanical.nq, m = (size_t)x->mechanical.nl;
    size_t full = form_of(x)->jacobian ? n * n : 0;
    if (!SHARED_BLOCK(SHARE(w->M, M->count), SHARE(w->G, G->count), SHARE(w->G_moved, G->count),
                      SHARE(w->f, n), SHARE(w->v, n), SHARE(w->a, n), SHARE(w->rate, m),
                      SHARE(w->curvature, m), SHARE(w->level, m), SHARE(w->by_q, 2 * full),
                      SHARE(w->M_kept, M->count)) ||
        !differencer_new(&w->gradient, &x->bw.H_matrix) || !differencer_new(&w->levels, G))
        return false;
    w->by_v = w->by_q + full;
    w->gradient.still = form_of(x)->scleronomic;
    return form_solver_new(&w->mass, M);
}

bool mechanical_build(form_instance *x)
{
    const dae_mechanical *form = form_of(x);
    mechanical_form *mechanical = &x->mechanical;
    int all = form->nlambda + form->nvelocity;
    x->bw.H_matrix = form_matrix_on(form->nlambda, form->nq, form->gradient_pattern.colptr,
                                    form->gradient_pattern.rowind);
    *mechanical = (mechanical_form){
        .nq = form->nq,
        .nl = all,
        .context = x,
        .evaluate = evaluate,
        .g = eval_g,
        .accelerations = x->source->accelerations ? accelerations : NULL,
        .M_matrix = mass_matrix(x->source),
        .G_matrix = form->nvelocity > 0 ? form_matrix_dense(all, form->nq) : x->bw.H_matrix};
    x->set.mechanical = x->source->full ? NULL : mechanical;
    x->set.mechanical_places =
        (form_places){x->places, x->places + form->nq, x->places + 2 * form->nq};
    return allocate(x) && stabilised_build(x) && (!x->source->full || multibody_build(x));
}

void mechanical_release(form_instance *x)
{
    differencer_free(&x->mw.gradient);
    differencer_free(&x->mw.levels);
    form_solver_free(&x->mw.mass);
    dae_free(x->mw.M);
    stabilised_release(x);
    multibody_release(x);
}

/* ---- what M is like ---- */

static bool off_diagonal_zero(int n, const double *M)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i != j && M[i + j * n] != 0.0) return false;
    return true;
}

/* Points around (t, q), deterministic, in all directions of q at once, and later times. */
static double sample_point(const dae_mechanical *form, int k, double t, const double *q,
                           double *moved)
{
    unsigned state = 12345u + 977u * (unsigned)k;
    for (int j = 0; j < form->nq; j++) {
        state = state * 1664525u + 1013904223u;
        double size = form->nominal ? form->nominal[j] : fmax(1.0, fabs(q[j]));
        moved[j] = q[j] + size * ((double)(state >> 8) / 8388608.0 - 1.0);
    }
    return t + (double)k * 0.37 * time_scale_of(form->time_scale);
}

void form_instance_forget(form_instance *x)
{
    x->mw.mass.factored = x->mw.mass_kept = false;
    x->bw.s_known = false;
}

/* M is constant if it has the same bits at a point and at others all around, and diagonal if it is
 * at all of them. A model with events may change M at one; there nothing is concluded. True if the
 * form looks different now. */
bool form_instance_look(form_instance *x, double t, const double *y)
{
    enum { SAMPLES = 6 };
    if (x->source->kind != KIND_MECHANICAL) return false;
    const dae_mechanical *form = form_of(x);
    form_matrix *M = &x->mechanical.M_matrix;
    x->mw.mass.factored = x->mw.mass_kept = false;
    if (form->mass_structure != DAE_MASS_AUTO || M->colptr || form->event_count > 0) return false;
    int n = form->nq;
    const eval_failure before = x->eval->failure;
    double *sample = DAE_ARRAY(double, M->count);
    bool known = sample && evaluate(x, t, y, y + n, x->mw.M, NULL, NULL, NULL, NULL) == EVAL_OK;
    bool constant = known, diagonal = known && off_diagonal_zero(n, x->mw.M);
    for (int k = 1; k <= SAMPLES && (constant || diagonal); k++) {
        double when = sample_point(form, k, t, y, x->mw.v);
        known = evaluate(x, when, x->mw.v, y + n, sample, NULL, NULL, NULL, NULL) == EVAL_OK;
        constant = constant && known && memcmp(sample, x->mw.M, M->count * sizeof(double)) == 0;
        diagonal = diagonal && known && off_diagonal_zero(n, sample);
    }
    dae_free(sample);
    constant = constant || form->mass_constant;
    bool other = M->constant != constant || M->diagonal != diagonal;
    M->constant = constant;
    M->diagonal = diagonal;
    x->eval->failure = before;
    return other;
}
