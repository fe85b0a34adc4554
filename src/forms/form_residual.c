/* Residual forms F(t, y, y') = 0 that follow from mechanical, Hessenberg and quasilinear ones. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "forms/form_residual.h"
#include "matrix/kinematic.h"

/* ---- rows ---- */

/* Notation: n = nq, m = nl constraints, k = those of them with a position level. F = (q' - v [+ G'
 * mu], M v' - f + G' lambda, r' - f_d, d, h, c [, G v + g_t]) with the constraint c at the level
 * that the rewriting says; d and h with r, w, s of the full form only. */

/* The constraints c at the level of the rewriting; mw.rate is G v + g_t, mw.level is g. */
static void constraint_rows(form_instance *x, const double *a, double *c)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_work *w = &x->mw;
    form_rewriting how = x->rewriting;
    int m = form->nl, k = x->source->positions;
    if (how == FORM_INDEX1 || how == FORM_BAUMGARTE) {
        vector_copy(m, w->curvature, c);
        form_matrix_multiply(&form->G_matrix, w->G, 1.0, a, c);
    }
    if (how == FORM_BAUMGARTE) {
        for (int i = 0; i < m; i++) c[i] += (i < k ? 2.0 : 1.0) * x->alpha * w->rate[i];
        vector_axpy(k, x->alpha * x->alpha, w->level, c);
    }
    if (how == FORM_INDEX2) vector_copy(m, w->rate, c);
    bool two = how == FORM_GGL || how == FORM_GGLM;
    if (two) vector_copy(k, w->rate, c + m);
    if (how != FORM_AS_GIVEN && !two) return;
    vector_copy(k, w->level, c);
    vector_copy(m - k, w->rate + k, c + k);
}

/* F += G' mu for the rows of G with a position level. */
static void add_mu(const form_instance *x, const double *mu, double *F)
{
    const form_matrix *G = &x->mechanical.G_matrix;
    for (int j = 0; j < G->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(G, j, &first, &count);
        for (int e = 0; e < count; e++) {
            int row = form_matrix_row(G, first, e);
            if (row < x->source->positions) F[j] += x->mw.G[first + (size_t)e] * mu[row];
        }
    }
}

/* r' - f_d, d and h, and g of the s at hand. */
static eval_status full_rows(form_instance *x, double t, const double *y, const double *yp,
                             bool position, double *F)
{
    const dae_mechanical *form = &x->source->as.m;
    const mechanical_places p = mechanical_parts(form);
    if (!x->source->full) return EVAL_OK;
    eval_status status = multibody_rows(x, t, y, F + p.r, F + p.w, F + p.s,
                                        position && form->ns > 0 ? x->mw.level : NULL);
    for (int i = p.r; i < p.w; i++) F[i] = yp[i] - F[i];
    return status;
}

/* M v' - f + G' lambda by rows, for G by columns, m values each */
static void motion_rows(const form_instance *x, const double *M, const double *a,
                        const double *lambda, double *restrict F)
{
    const form_matrix *mass = &x->mechanical.M_matrix, *gradient = &x->mechanical.G_matrix;
    const bool diagonal = mass->diagonal && mass->colptr;
    const int n = x->mechanical.nq, m = x->mechanical.nl;
    const double *G = x->mw.G, *f = x->mw.f;
    for (int i = 0; i < n; i++) F[i] = diagonal ? M[i] * a[i] - f[i] : -f[i];
    if (!diagonal) form_matrix_multiply(mass, M, 1.0, a, F);
    if (gradient->colptr) {
        form_matrix_transposed(gradient, G, 1.0, lambda, F);
        return;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < m; k++) sum += *G++ * lambda[k];
        F[i] += sum;
    }
}

/* F = (q' - v, M v' - f + G' lambda, g): the usual case, in the fewest steps */
static eval_status given_rows(form_instance *x, double t, const double *y, const double *yp,
                              double *F)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_work *w = &x->mw;
    const int n = form->nq, m = form->nl;
    const double *M;
    eval_status status = mechanical_given(x, t, y, y + n, &M);
    if (status != EVAL_OK) return status;
    double poison = 0.0; /* NAN if anything is not finite */
    for (int i = 0; i < n; i++) F[i] = yp[i] - y[n + i];
    motion_rows(x, M, yp + n, y + 2 * n, F + n);
    for (int i = 0; i < m; i++) F[2 * n + i] = w->level[i];
    for (int i = n; i < 2 * n + m; i++) poison += 0.0 * F[i];
    return poison == 0.0 ? EVAL_OK : mechanical_judge(x, t, M);
}

static eval_status mechanical_rows(form_instance *x, double t, const double *y, const double *yp,
                                   double *F)
{
    const mechanical_form *form = &x->mechanical;
    mechanical_work *w = &x->mw;
    int n = form->nq, m = form->nl, k = x->source->positions;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const double *v = y + n, *lambda = y + p.lambda, *mu = lambda + m, *a = yp + n;
    form_rewriting how = x->rewriting;
    bool rate = (how != FORM_AS_GIVEN || m > k) && how != FORM_INDEX1;
    bool curved = how == FORM_INDEX1 || how == FORM_BAUMGARTE;
    if (how == FORM_AS_GIVEN && !x->source->full && m == x->source->as.m.nlambda)
        return given_rows(x, t, y, yp, F);
    if (x->source->full) multibody_at(x, y);
    if (how > FORM_GGLM) {
        eval_status status = stabilised_rows(x, t, y, yp, F);
        return status == EVAL_OK ? full_rows(x, t, y, yp, true, F) : status;
    }
    eval_status status = form->evaluate(x, t, y, v, w->M, w->f, m > 0 ? w->G : NULL,
                                        rate ? w->rate : NULL, curved ? w->curvature : NULL);
    bool ggl = how == FORM_GGL || how == FORM_GGLM;
    bool position = how == FORM_AS_GIVEN || ggl || how == FORM_BAUMGARTE;
    if (!status && position) status = form->g(x, t, y, w->level);
    if (!status) status = full_rows(x, t, y, yp, position, F);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < n; i++) {
        F[i] = yp[i] - v[i];
        F[n + i] = -w->f[i];
    }
    if (how == FORM_GGLM) {
        vector_copy(n, F, w->a);
        vector_zero(n, F);
        form_matrix_multiply(&form->M_matrix, w->M, 1.0, w->a, F);
    }
    if (ggl) add_mu(x, mu, F);
    form_matrix_multiply(&form->M_matrix, w->M, 1.0, a, F + n);
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, lambda, F + n);
    if (m == 0) return EVAL_OK;
    if (rate) form_matrix_multiply(&form->G_matrix, w->G, 1.0, v, w->rate); /* now G v + g_t */
    constraint_rows(x, a, F + p.lambda);
    return EVAL_OK;
}

/* F = (y' - f, g or g_y f + g_t, k) */
static eval_status hessenberg_rows(form_instance *x, double t, const double *y, const double *yp,
                                   double *F)
{
    const hessenberg_form *form = &x->hessenberg;
    const double *z = y + form->ny, *u = z + form->nz;
    double *c = F + form->ny;
    eval_status status = form->f(x, t, y, z, u, F);
    if (!status && form->nu > 0) status = form->k(x, t, y, z, u, c + form->nz);
    if (!status && x->rewriting == FORM_INDEX1)
        status = hessenberg_rate(x, t, y, F, c);
    else if (!status)
        status = form->g(x, t, y, c);
    for (int i = 0; i < form->ny; i++) F[i] = yp[i] - F[i];
    return status;
}

/* F = (E x' - f, g), both if that makes n rows */
static eval_status quasilinear_given_rows(form_instance *x, double t, const double *y,
                                          const double *yp, double *F)
{
    const quasilinear_form *form = &x->quasilinear;
    eval_status status = form->E(x, t, y, x->qw.E);
    if (!status) status = form->f(x, t, y, F);
    if (!status && form->ne < form->n) status = form->g(x, t, y, F + form->ne);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < form->ne; i++) F[i] = -F[i];
    form_matrix_multiply(&form->E_matrix, x->qw.E, 1.0, yp, F);
    return EVAL_OK;
}

/* F = (E'(E x' - f) + g_x'(g_x x' + g_t + mu), g): least squares over all rows, and multipliers mu
 * = 0 that keep g = 0. */
static eval_status quasilinear_rows(form_instance *x, double t, const double *y, const double *yp,
                                    double *F)
{
    const quasilinear_form *form = &x->quasilinear;
    quasilinear_work *w = &x->qw;
    if (x->rewriting == FORM_AS_GIVEN) return quasilinear_given_rows(x, t, y, yp, F);
    bool stabilised = x->rewriting == FORM_GGL;
    eval_status status = form->E(x, t, y, w->E);
    if (!status) status = form->f(x, t, y, w->f);
    if (!status && form->ng > 0) status = form->g_x(x, t, y, w->slope);
    if (!status && form->ng > 0) status = form->g_t(x, t, y, w->rate);
    if (!status && stabilised) status = form->g(x, t, y, F + form->n);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < form->ne; i++) w->f[i] = -w->f[i];
    form_matrix_multiply(&form->E_matrix, w->E, 1.0, yp, w->f);
    form_matrix_multiply(&form->g_x_matrix, w->slope, 1.0, yp, w->rate);
    if (stabilised) vector_axpy(form->ng, 1.0, y + form->n, w->rate);
    vector_zero(form->n, F);
    form_matrix_transposed(&form->E_matrix, w->E, 1.0, w->f, F);
    form_matrix_transposed(&form->g_x_matrix, w->slope, 1.0, w->rate, F);
    return EVAL_OK;
}

/* The residual callback; user is a form_instance. The parts are not counted: F is. */
static int form_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    form_instance *x = user;
    dae_stats *stats = x->eval->stats;
    long residuals = stats->residuals, matrices = stats->jacobians;
    long differences = stats->jacobian_residuals;
    eval_status status = EVAL_OK;
    switch (x->source->kind) {
    case KIND_MECHANICAL:
        status = mechanical_rows(x, t, y, yp, F);
        if (status == EVAL_OK && x->redundant) status = form_redundant_rows(x, t, y, F);
        break;
    case KIND_HESSENBERG: status = hessenberg_rows(x, t, y, yp, F); break;
    case KIND_QUASILINEAR: status = quasilinear_rows(x, t, y, yp, F); break;
    case KIND_SECOND_ORDER: status = second_rows(x, t, y, yp, F); break;
    case FORM_KINDS: break;
    }
    stats->residuals = residuals;
    stats->jacobians = matrices;
    stats->jacobian_residuals = differences;
    return status == EVAL_OK ? 0 : (status == EVAL_STOP ? -1 : 1);
}

/* The user's event function, with the user's pointer. */
static int form_events(double t, const double *y, const double *yp, double *g, void *user)
{
    const form_source *s = ((form_instance *)user)->source;
    switch (s->kind) {
    case KIND_MECHANICAL: return s->as.m.event_function(t, y, yp, g, s->as.m.user);
    case KIND_HESSENBERG: return s->as.h.event_function(t, y, yp, g, s->as.h.user);
    case KIND_QUASILINEAR: return s->as.x.event_function(t, y, yp, g, s->as.x.user);
    case KIND_SECOND_ORDER: return s->as.s.event_function(t, y, yp, g, s->as.s.user);
    case FORM_KINDS: break;
    }
    return -1;
}

/* ---- which rewriting ---- */

static bool square(const dae_quasilinear *x)
{
    return x->ne == x->n || x->ne + x->ng == x->n;
}

form_rewriting form_default_rewriting(const form_source *s)
{
    switch (s->kind) {
    case KIND_MECHANICAL: return s->positions > 0 ? FORM_GGL : FORM_AS_GIVEN;
    case KIND_HESSENBERG:
    case KIND_SECOND_ORDER: return FORM_AS_GIVEN;
    case KIND_QUASILINEAR:
    case FORM_KINDS: break;
    }
    const dae_quasilinear *x = &s->as.x;
    return x->ng == 0 || x->ne + x->ng == x->n ? FORM_AS_GIVEN : FORM_GGL;
}

bool form_rewriting_fits(const form_source *s, form_rewriting how)
{
    bool exists = s->kind != KIND_QUASILINEAR || how != FORM_AS_GIVEN || square(&s->as.x);
    bool levels = s->positions > 0 && (how == FORM_GGLM || !s->as.m.nvelocity);
    return exists && (how <= FORM_GGL || levels);
}

/* ---- the problem ---- */

static int unknowns(const form_source *s, form_rewriting how)
{
    return s->n + form_extra_unknowns(s, how);
}

static void set_second_kinds(const dae_second_order *f, dae_kind *kinds)
{
    dae_kind *velocity = kinds + f->n;
    for (int i = 0; i < f->n; i++) {
        kinds[i] = f->kinds ? f->kinds[i] : DAE_KIND_AUTO;
        if (!has_second(f, i)) continue;
        *velocity++ = f->velocity_kinds ? f->velocity_kinds[i] : DAE_KIND_AUTO;
    }
}

/* As given v is what is differentiated once, and so is r where it integrates lambda. w follows from
 * lambda, or from v. s follows from q, which is tested: what Newton's iteration leaves of it must
 * not be taken for an error. */
static dae_kind mechanical_kind(const form_source *s, form_rewriting how, dae_kind multiplier,
                                int i)
{
    const mechanical_places p = mechanical_parts(&s->as.m);
    bool given = how == FORM_AS_GIVEN && s->positions > 0, coupled = s->as.m.friction;
    bool second = given || how == FORM_GGL2; /* where q' is an unknown beside v */
    dae_kind velocity = second ? DAE_KIND_INDEX2 : DAE_KIND_DIFFERENTIAL;
    if (i < p.v) return DAE_KIND_DIFFERENTIAL;
    if (i < p.r) return velocity;
    if (i < p.w) return coupled ? velocity : DAE_KIND_DIFFERENTIAL;
    if ((i >= p.s && i < p.lambda) || (i < p.s && !coupled))
        return given ? DAE_KIND_INDEX2 : DAE_KIND_INDEX1;
    bool index2 = how == FORM_AS_GIVEN && s->positions == 0; /* else all lambda hang together */
    if ((how == FORM_FUEHRER || how == FORM_ODASSL) && i < s->n) return DAE_KIND_INDEX1;
    if (how == FORM_GGL2 && i < s->n) return DAE_KIND_INDEX3; /* it has the errors of eta' */
    return index2 ? DAE_KIND_INDEX2 : multiplier;
}

/* dependent: the positions p2, which are algebraic, and so are their velocities; NULL: the first.
 */
static void set_chosen_kinds(const form_source *s, const bool *dependent, dae_kind *kinds)
{
    for (int i = 0; i < s->as.m.nq; i++)
        if (dependent ? dependent[i] : i < s->constraints)
            kinds[i] = kinds[s->as.m.nq + i] = DAE_KIND_INDEX1;
}

static void set_kinds(const form_source *s, form_rewriting how, dae_kind *kinds)
{
    int n = unknowns(s, how);
    if (s->kind == KIND_SECOND_ORDER) {
        set_second_kinds(&s->as.s, kinds);
        return;
    }
    dae_kind multiplier = how == FORM_AS_GIVEN ? DAE_KIND_INDEX3 : DAE_KIND_INDEX2;
    if (how == FORM_INDEX1 || how == FORM_BAUMGARTE || form_chooses(how))
        multiplier = DAE_KIND_INDEX1;
    for (int i = 0; i < n; i++) {
        switch (s->kind) {
        case KIND_MECHANICAL: kinds[i] = mechanical_kind(s, how, multiplier, i); break;
        case KIND_HESSENBERG:
            kinds[i] = i < s->as.h.ny ? DAE_KIND_DIFFERENTIAL : DAE_KIND_INDEX1;
            if (how == FORM_AS_GIVEN && i >= s->as.h.ny && i < s->as.h.ny + s->as.h.nz)
                kinds[i] = DAE_KIND_INDEX2;
            break;
        case KIND_QUASILINEAR:
            kinds[i] = i < s->n ? DAE_KIND_DIFFERENTIAL : DAE_KIND_INDEX2;
            if (how == FORM_AS_GIVEN) kinds[i] = DAE_KIND_AUTO;
            break;
        case KIND_SECOND_ORDER:
        case FORM_KINDS: break;
        }
    }
}

void form_kinds(const form_instance *x, dae_kind *kinds)
{
    const form_source *s = x->source;
    form_rewriting how = FORM_AS_GIVEN;
    if (s->kind == KIND_MECHANICAL) how = FORM_INDEX2;
    if (s->kind == KIND_QUASILINEAR) how = FORM_INDEX1;
    set_kinds(s, how, kinds);
}

/* Names of unknowns and rows, multipliers and their rows included; texts is work for the new ones.
 */
static void set_names(const form_source *s, form_rewriting how, const char **variables,
                      const char **rows, char (*texts)[DAE_NAME_SIZE + 16])
{
    int n = unknowns(s, how), extra = n - s->n;
    bool derived = s->kind == KIND_QUASILINEAR && how != FORM_AS_GIVEN;
    for (int i = 0; i < s->n; i++) {
        variables[i] = s->variable_names[i];
        rows[i] = derived ? s->variable_names[i] : s->equation_names[i];
    }
    for (int i = 0; i < extra; i++) {
        const char *constraint = s->constraint_names[i % s->constraints];
        bool later = i >= s->positions || how == FORM_MINIMAL;
        const char *row = derived ? "%.*s" : later ? "curvature of %.*s" : "rate of %.*s";
        const char *name = how == FORM_MINIMAL ? "w of %.*s" : later ? "eta of %.*s" : "mu of %.*s";
        snprintf(texts[2 * i], sizeof texts[0], derived ? "mu of %.*s" : name, DAE_NAME_SIZE,
                 constraint);
        snprintf(texts[2 * i + 1], sizeof texts[0], row, DAE_NAME_SIZE, constraint);
        variables[s->n + i] = texts[2 * i];
        rows[s->n + i] = texts[2 * i + 1];
    }
}

/* Everything that dae_problem_from_residual copies. */
typedef struct description {
    dae_kind *kinds;
    const char **names; /* 2n */
    char (*texts)[DAE_NAME_SIZE + 16];
    form_pattern pattern;
} description;

static bool describe(description *d, const form_source *s, form_rewriting how,
                     const bool *dependent)
{
    int n = unknowns(s, how);
    size_t extra = (size_t)(n - s->n);
    *d = (description){.kinds = DAE_ARRAY(dae_kind, n), .names = DAE_ARRAY(const char *, 2 * n)};
    d->texts = dae_calloc(2 * extra, sizeof *d->texts);
    if (!d->kinds || !d->names || !d->texts) return false;
    set_kinds(s, how, d->kinds);
    if (form_chooses(how)) set_chosen_kinds(s, dependent, d->kinds);
    set_names(s, how, d->names, d->names + n, d->texts);
    return form_residual_pattern(s, how, n, &d->pattern);
}

static void free_description(description *d)
{
    dae_free(d->kinds);
    dae_free(d->names);
    dae_free(d->texts);
    dae_free(d->pattern.colptr);
    dae_free(d->pattern.rowind);
}

/* q' = v, unless multipliers or constraints stand there. False: memory. */
static bool tell_kinematics(dae_problem *p, const form_source *s, form_rewriting how,
                            const bool *dependent)
{
    bool second = s->kind == KIND_SECOND_ORDER, chooses = form_chooses(how);
    bool none = how == FORM_GGL || how == FORM_GGLM || how == FORM_FUEHRER || how == FORM_ODASSL;
    if (!second && (s->kind != KIND_MECHANICAL || none)) return true;
    int n = second ? s->as.s.n : s->as.m.nq, count = 0;
    kinematic_row *rows = DAE_ARRAY(kinematic_row, n);
    for (int i = 0; rows && i < n; i++) {
        int velocity = second ? n + count : n + i;
        if (second && !has_second(&s->as.s, i)) continue;
        if (chooses && (dependent ? dependent[i] : i < s->constraints)) continue;
        rows[count++] = (kinematic_row){second ? velocity : i, i, velocity};
    }
    bool ok = rows && kinematic_keep(p, count, rows);
    dae_free(rows);
    return ok;
}

static dae_jacobian_fn jacobian_of(const form_source *s, form_rewriting how, bool dense)
{
    if (dense && mechanical_has_jacobian(s, how)) return mechanical_jacobian;
    return s->kind == KIND_SECOND_ORDER && s->as.s.jacobian ? second_jacobian : NULL;
}

/* Events of the source are not kept there: of the problem that has it. */
dae_status form_residual_described(const form_source *s, form_rewriting how, const bool *dependent,
                                   int n_events, const dae_event *events, dae_problem **problem,
                                   dae_diag *diag)
{
    description d;
    *problem = NULL;
    if (!describe(&d, s, how, dependent)) {
        free_description(&d);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem of %d unknowns.", s->n);
    }
    int n = unknowns(s, how);
    const dae_residual residual = {.n = n,
                                   .f = form_residual,
                                   .jacobian = jacobian_of(s, how, !d.pattern.colptr),
                                   .colptr = d.pattern.colptr,
                                   .rowind = d.pattern.rowind,
                                   .variable_names = d.names,
                                   .equation_names = d.names + n,
                                   .kinds = d.kinds,
                                   .n_events = n_events,
                                   .event_function = n_events > 0 ? form_events : NULL,
                                   .events = events};
    dae_status status = dae_problem_from_residual(&residual, problem, diag);
    free_description(&d);
    if (status != DAE_OK || tell_kinematics(*problem, s, how, dependent)) return status;
    dae_problem_free(*problem);
    *problem = NULL;
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem of %d unknowns.", s->n);
}

dae_status form_residual_problem(const dae_problem *base, form_rewriting how, dae_problem **problem,
                                 dae_diag *diag)
{
    return form_residual_described(base->forms, how, NULL, base->form.n_events, base->form.events,
                                   problem, diag);
}

dae_status form_residual_chosen(const form_instance *x, const dae_problem *base,
                                dae_problem **problem, dae_diag *diag)
{
    return form_residual_described(x->source, x->rewriting, x->mw.dependent, base->form.n_events,
                                   base->form.events, problem, diag);
}

/* The rewriting behind a problem itself, whose unknowns are those of the form. */
form_rewriting form_base_rewriting(const form_source *s)
{
    return s->kind == KIND_QUASILINEAR && !square(&s->as.x) ? FORM_INDEX1 : FORM_AS_GIVEN;
}

dae_status form_problem_new(form_source *s, int n_events, const dae_event *events,
                            dae_problem **problem, dae_diag *diag)
{
    dae_status status =
        form_residual_described(s, form_base_rewriting(s), NULL, n_events, events, problem, diag);
    if (status == DAE_OK)
        (*problem)->forms = s;
    else
        form_source_free(s);
    return status;
}
