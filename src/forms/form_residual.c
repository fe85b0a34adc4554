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

/* The constraints c at the levels of the rewriting; mw.rate is G v + g_t, mw.level is g. */
static void constraint_rows(form_instance *x, const double *a, double *c)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_work *w = &x->mw;
    const form_rewriting *how = x->rewriting;
    int m = form->nl, k = x->source->positions;
    if (how->levels & LEVEL_ACCELERATION) {
        vector_copy(m, w->curvature, c);
        form_matrix_multiply(&form->G_matrix, w->G, 1.0, a, c);
        if (!(how->levels & LEVEL_POSITION)) return;
        for (int i = 0; i < m; i++) c[i] += (i < k ? 2.0 : 1.0) * x->alpha * w->rate[i];
        vector_axpy(k, x->alpha * x->alpha, w->level, c);
    } else if (how->levels & LEVEL_POSITION) {
        if (how->added > 0) vector_copy(k, w->rate, c + m);
        vector_copy(k, w->level, c);
        vector_copy(m - k, w->rate + k, c + k);
    } else {
        vector_copy(m, w->rate, c);
    }
}

/* F += G' mu for the rows of G with a position level. */
static void add_mu(const form_instance *x, const double *mu, double *F)
{
    const form_matrix *G = &x->mechanical.G_matrix;
    for (form_entry e = {0}; form_matrix_next(G, &e);)
        if (e.row < x->source->positions) F[e.column] += x->mw.G[e.at] * mu[e.row];
}

eval_status multibody_residual(form_instance *x, double t, const double *y, const double *yp,
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

/* M, f, G, g and the terms of its derivatives that the rows need, at (t, y); those of the full
 * form, too, in F */
static eval_status evaluate_levels(form_instance *x, double t, const double *y, const double *yp,
                                   bool rate, double *F)
{
    const mechanical_form *form = &x->mechanical;
    mechanical_work *w = &x->mw;
    bool curved = x->rewriting->levels & LEVEL_ACCELERATION;
    bool position = x->rewriting->levels & LEVEL_POSITION;
    eval_status status =
        form->evaluate(x, t, y, y + form->nq, w->M, w->f, form->nl > 0 ? w->G : NULL,
                       rate ? w->rate : NULL, curved ? w->curvature : NULL);
    if (!status && position) status = form->g(x, t, y, w->level);
    return status ? status : multibody_residual(x, t, y, yp, position, F);
}

static eval_status mechanical_rows(form_instance *x, double t, const double *y, const double *yp,
                                   double *F)
{
    const mechanical_form *form = &x->mechanical;
    mechanical_work *w = &x->mw;
    const form_rewriting *how = x->rewriting;
    int n = form->nq, m = form->nl;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const double *v = y + n, *lambda = y + p.lambda, *mu = lambda + m, *a = yp + n;
    bool rate = how->levels & LEVEL_VELOCITY || (how->as_given && m > x->source->positions);
    if (how->as_given && !x->source->full && m == x->source->as.m.nlambda)
        return given_rows(x, t, y, yp, F);
    eval_status status = evaluate_levels(x, t, y, yp, rate, F);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < n; i++) {
        F[i] = yp[i] - v[i];
        F[n + i] = -w->f[i];
    }
    if (how->weighted) {
        vector_copy(n, F, w->a);
        vector_zero(n, F);
        form_matrix_multiply(&form->M_matrix, w->M, 1.0, w->a, F);
    }
    if (how->added > 0) add_mu(x, mu, F);
    form_matrix_multiply(&form->M_matrix, w->M, 1.0, a, F + n);
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, lambda, F + n);
    if (m == 0) return EVAL_OK;
    if (rate) form_matrix_multiply(&form->G_matrix, w->G, 1.0, v, w->rate); /* now G v + g_t */
    constraint_rows(x, a, F + p.lambda);
    return EVAL_OK;
}

/* q' = v, and the constraints on some levels */
#define KINEMATIC(LEVELS)                                                                          \
    .rows = mechanical_rows, .levels = (LEVELS), .kinematic = true, .patterned = true
#define KINDS(V, LAMBDA) .velocity = DAE_KIND_##V, .multiplier = DAE_KIND_##LAMBDA

const form_rewriting mechanical_as_given = {KINEMATIC(LEVEL_POSITION), KINDS(INDEX2, INDEX3),
                                            .as_given = true};
const form_rewriting mechanical_index2 = {KINEMATIC(LEVEL_VELOCITY), KINDS(DIFFERENTIAL, INDEX2)};
const form_rewriting mechanical_index1 = {KINEMATIC(LEVEL_ACCELERATION),
                                          KINDS(DIFFERENTIAL, INDEX1)};
const form_rewriting mechanical_baumgarte = {
    KINEMATIC(LEVEL_POSITION | LEVEL_VELOCITY | LEVEL_ACCELERATION), KINDS(DIFFERENTIAL, INDEX1)};

/* q' = v - G' mu, and the constraints on two levels */
#define WITH_MU(ROW)                                                                               \
    .levels = LEVEL_POSITION | LEVEL_VELOCITY, KINDS(DIFFERENTIAL, INDEX2), .added = 1,            \
    .added_kind = DAE_KIND_INDEX2, .added_name = {"mu of "}, .added_row = {ROW}

const form_rewriting mechanical_ggl = {WITH_MU("rate of "), .rows = mechanical_rows,
                                       .patterned = true};
const form_rewriting mechanical_gglm = {WITH_MU("rate of "), .rows = mechanical_rows,
                                        .weighted = true, .positions = true};

/* F = (y' - f, g or g_y f + g_t, k) */
static eval_status hessenberg_rows(form_instance *x, double t, const double *y, const double *yp,
                                   double *F)
{
    const hessenberg_form *form = &x->hessenberg;
    const double *z = y + form->ny, *u = z + form->nz;
    double *c = F + form->ny;
    eval_status status = form->f(x, t, y, z, u, F);
    if (!status && form->nu > 0) status = form->k(x, t, y, z, u, c + form->nz);
    if (!status && x->rewriting->levels & LEVEL_VELOCITY)
        status = hessenberg_rate(x, t, y, F, c);
    else if (!status)
        status = form->g(x, t, y, c);
    for (int i = 0; i < form->ny; i++) F[i] = yp[i] - F[i];
    return status;
}

const form_rewriting hessenberg_as_given = {.rows = hessenberg_rows,
                                            .as_given = true,
                                            .levels = LEVEL_POSITION,
                                            .patterned = true,
                                            .multiplier = DAE_KIND_INDEX2};

const form_rewriting hessenberg_index1 = {
    .rows = hessenberg_rows, .levels = LEVEL_VELOCITY, .multiplier = DAE_KIND_INDEX1};

/* F = (y1' - f1, g_y f + g_t, g, k), y2 the chosen components of y that g determines: both levels
 * of the constraints, index 1. The rows of the first two are where y1 and y2 are. */
static eval_status hessenberg_reduced_rows(form_instance *x, double t, const double *y,
                                           const double *yp, double *F)
{
    const hessenberg_form *form = &x->hessenberg;
    const double *z = y + form->ny, *u = z + form->nz;
    double *c = F + form->ny, *rate = x->mw.dense + (size_t)form->ny * (size_t)form->nz;
    eval_status status = form->f(x, t, y, z, u, F);
    if (!status && form->nu > 0) status = form->k(x, t, y, z, u, c + form->nz);
    if (!status) status = hessenberg_rate(x, t, y, F, rate);
    if (!status) status = form->g(x, t, y, c);
    for (int i = 0, next = 0; i < form->ny; i++)
        F[i] = x->mw.dependent[i] ? rate[next++] : yp[i] - F[i];
    return status;
}

const form_rewriting hessenberg_reduced = {.rows = hessenberg_reduced_rows,
                                           .levels = LEVEL_POSITION | LEVEL_VELOCITY,
                                           .chooses = true,
                                           .multiplier = DAE_KIND_INDEX1};

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
    bool stabilised = x->rewriting->added > 0;
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

const form_rewriting quasilinear_as_given = {
    .rows = quasilinear_given_rows, .as_given = true, .levels = LEVEL_POSITION, .patterned = true};

const form_rewriting quasilinear_squares = {.rows = quasilinear_rows, .levels = LEVEL_VELOCITY};

const form_rewriting quasilinear_ggl = {WITH_MU(""), .rows = quasilinear_rows};
const form_rewriting second_as_given = {.rows = higher_rows, .as_given = true};

/* The residual callback; user is a form_instance. The parts are not counted: F is. */
static int form_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    form_instance *x = user;
    dae_stats *stats = x->eval->stats;
    long residuals = stats->residuals, matrices = stats->jacobians;
    long differences = stats->jacobian_residuals;
    multibody_at(x, y);
    eval_status status = x->rewriting->rows(x, t, y, yp, F);
    if (status == EVAL_OK && x->redundant) status = form_redundant_rows(x, t, y, F);
    stats->residuals = residuals;
    stats->jacobians = matrices;
    stats->jacobian_residuals = differences;
    return status == EVAL_OK ? 0 : (status == EVAL_STOP ? -1 : 1);
}

/* The user's event function, with the user's pointer. */
static int form_events(double t, const double *y, const double *yp, double *g, void *user)
{
    const form_source *s = ((form_instance *)user)->source;
    return s->event_function(t, y, yp, g, s->user);
}

/* ---- which rewriting ---- */

static bool square(const dae_quasilinear *x)
{
    return x->ne == x->n || x->ne + x->ng == x->n;
}

static const form_rewriting *as_given(const form_source *s)
{
    static const form_rewriting *const given[FORM_KINDS] = {
        &mechanical_as_given, &hessenberg_as_given, &quasilinear_as_given, &second_as_given};
    return given[s->kind];
}

const form_rewriting *form_default_rewriting(const form_source *s)
{
    const dae_quasilinear *x = &s->as.x;
    if (s->kind == KIND_MECHANICAL && s->positions > 0) return &mechanical_ggl;
    if (s->kind == KIND_QUASILINEAR && x->ng > 0 && x->ne + x->ng != x->n) return &quasilinear_ggl;
    return as_given(s);
}

bool form_rewriting_fits(const form_source *s, const form_rewriting *how)
{
    bool exists = s->kind != KIND_QUASILINEAR || !how->as_given || square(&s->as.x);
    return exists && (!how->positions || s->positions > 0) &&
           (!how->holonomic || s->positions == s->constraints);
}

/* ---- the problem ---- */

static int unknowns(const form_source *s, const form_rewriting *how)
{
    return s->n + how->added * form_stabilised(s);
}

static void set_higher_kinds(const higher_form *f, dae_kind *kinds)
{
    for (int k = 0; k < f->h.order * f->h.n; k++)
        if (f->place[k] >= 0) kinds[f->place[k]] = f->h.kinds ? f->h.kinds[k] : DAE_KIND_AUTO;
}

/* As given v is what is differentiated once, and so is r where it integrates lambda. w follows from
 * lambda, or from v. s follows from q, which is tested: what Newton's iteration leaves of it must
 * not be taken for an error. */
static dae_kind mechanical_kind(const form_source *s, const form_rewriting *how, int i)
{
    const mechanical_places p = mechanical_parts(&s->as.m);
    bool constrained = s->positions > 0, given = how->as_given && constrained;
    bool coupled = s->as.m.friction;
    dae_kind velocity = constrained ? how->velocity : DAE_KIND_DIFFERENTIAL;
    if (i < p.v) return DAE_KIND_DIFFERENTIAL;
    if (i < p.r) return velocity;
    if (i < p.w) return coupled ? velocity : DAE_KIND_DIFFERENTIAL;
    if ((i >= p.s && i < p.lambda) || (i < p.s && !coupled))
        return given ? DAE_KIND_INDEX2 : DAE_KIND_INDEX1;
    if (how->as_given && !constrained) return DAE_KIND_INDEX2; /* else all lambda hang together */
    return how->multiplier;
}

/* dependent: the positions p2, which are algebraic, and so are their velocities, or y2 of the
 * Hessenberg form; NULL: the first. */
static void set_chosen_kinds(const form_source *s, const bool *dependent, dae_kind *kinds)
{
    const bool mechanical = s->kind == KIND_MECHANICAL;
    const int n = mechanical ? s->as.m.nq : s->as.h.ny;
    for (int i = 0; i < n; i++) {
        if (dependent ? !dependent[i] : i >= s->constraints) continue;
        kinds[i] = DAE_KIND_INDEX1;
        if (mechanical) kinds[n + i] = DAE_KIND_INDEX1;
    }
}

static void set_kinds(const form_source *s, const form_rewriting *how, dae_kind *kinds)
{
    int n = unknowns(s, how);
    if (s->kind == KIND_SECOND_ORDER) set_higher_kinds(&s->as.s, kinds);
    for (int i = 0; i < s->n; i++) {
        switch (s->kind) {
        case KIND_MECHANICAL: kinds[i] = mechanical_kind(s, how, i); break;
        case KIND_HESSENBERG:
            kinds[i] = i < s->as.h.ny                ? DAE_KIND_DIFFERENTIAL
                       : i < s->as.h.ny + s->as.h.nz ? how->multiplier
                                                     : DAE_KIND_INDEX1;
            break;
        case KIND_QUASILINEAR:
            kinds[i] = how->as_given ? DAE_KIND_AUTO : DAE_KIND_DIFFERENTIAL;
            break;
        case KIND_SECOND_ORDER:
        case FORM_KINDS: break;
        }
    }
    for (int i = s->n; i < n; i++) kinds[i] = how->added_kind;
}

void form_kinds(const form_instance *x, dae_kind *kinds)
{
    static const form_rewriting *const like[FORM_KINDS] = {&mechanical_index2, &hessenberg_as_given,
                                                           &quasilinear_squares, &second_as_given};
    set_kinds(x->source, like[x->source->kind], kinds);
}

/* Names of unknowns and rows, multipliers and their rows included; texts is work for the new ones.
 */
static void set_names(const form_source *s, const form_rewriting *how, const char **variables,
                      const char **rows, char (*texts)[DAE_NAME_SIZE + 16])
{
    int n = unknowns(s, how), extra = n - s->n;
    bool derived = s->kind == KIND_QUASILINEAR && !how->as_given;
    for (int i = 0; i < s->n; i++) {
        variables[i] = s->variable_names[i];
        rows[i] = derived ? s->variable_names[i] : s->equation_names[i];
    }
    for (int i = 0; i < extra; i++) {
        int k = form_stabilised(s), block = i / k;
        const char *constraint = s->constraint_names[i % k];
        snprintf(texts[2 * i], sizeof texts[0], "%s%.*s", how->added_name[block], DAE_NAME_SIZE,
                 constraint);
        snprintf(texts[2 * i + 1], sizeof texts[0], "%s%.*s", how->added_row[block], DAE_NAME_SIZE,
                 constraint);
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

static bool describe(description *d, const form_source *s, const form_rewriting *how,
                     const bool *dependent)
{
    int n = unknowns(s, how);
    size_t extra = (size_t)(n - s->n);
    *d = (description){.kinds = DAE_ARRAY(dae_kind, n), .names = DAE_ARRAY(const char *, 2 * n)};
    d->texts = dae_calloc(2 * extra, sizeof *d->texts);
    if (!d->kinds || !d->names || !d->texts) return false;
    set_kinds(s, how, d->kinds);
    if (how->chooses) set_chosen_kinds(s, dependent, d->kinds);
    set_names(s, how, d->names, d->names + n, d->texts);
    return form_residual_pattern(s, how, n, &d->pattern);
}

static void free_description(description *d)
{
    dae_free_all(d->kinds, d->names, d->texts, d->pattern.colptr, d->pattern.rowind);
}

/* Rows y_i' = y_j of equations of higher order: all of a chain. */
static int higher_kinematics(const higher_form *f, kinematic_row *rows)
{
    int n = f->h.n, count = 0;
    for (int k = n; k < f->h.order * n; k++)
        if (f->place[k] >= 0)
            rows[count++] = (kinematic_row){f->place[k], f->place[k - n], f->place[k]};
    return count;
}

/* q' = v, unless multipliers or constraints stand there. */
static int mechanical_kinematics(const form_source *s, const form_rewriting *how,
                                 const bool *dependent, kinematic_row *rows)
{
    int n = s->as.m.nq, count = 0;
    for (int i = 0; i < n; i++) {
        if (how->chooses && (dependent ? dependent[i] : i < s->constraints)) continue;
        rows[count++] = (kinematic_row){i, i, n + i};
    }
    return count;
}

/* False: memory. */
static bool tell_kinematics(dae_problem *p, const form_source *s, const form_rewriting *how,
                            const bool *dependent)
{
    bool higher = s->kind == KIND_SECOND_ORDER;
    if (!higher && !how->kinematic) return true;
    kinematic_row *rows = DAE_ARRAY(kinematic_row, s->n);
    int count = !rows    ? 0
                : higher ? higher_kinematics(&s->as.s, rows)
                         : mechanical_kinematics(s, how, dependent, rows);
    bool ok = rows && kinematic_keep(p, count, rows);
    dae_free(rows);
    return ok;
}

static dae_jacobian_fn jacobian_of(const form_source *s, const form_rewriting *how, bool dense)
{
    if (dense && mechanical_has_jacobian(s, how)) return mechanical_jacobian;
    bool higher = s->kind == KIND_SECOND_ORDER;
    return higher && (s->as.s.h.jacobian || s->as.s.second_jacobian) ? higher_jacobian : NULL;
}

/* Events of the source are not kept there: of the problem that has it. */
static dae_status form_residual_described(const form_source *s, const form_rewriting *how,
                                          const bool *dependent, int event_count,
                                          const dae_event *events, dae_problem **problem,
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
                                   .event_count = event_count,
                                   .event_function = event_count > 0 ? form_events : NULL,
                                   .events = events};
    dae_status status = dae_problem_from_residual(&residual, problem, diag);
    free_description(&d);
    if (status != DAE_OK || tell_kinematics(*problem, s, how, dependent)) return status;
    problem_release(*problem);
    *problem = NULL;
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem of %d unknowns.", s->n);
}

dae_status form_residual_problem(const dae_problem *base, const form_rewriting *how,
                                 dae_problem **problem, dae_diag *diag)
{
    return form_residual_described(base->forms, how, NULL, base->form.event_count,
                                   base->form.events, problem, diag);
}

dae_status form_residual_chosen(const form_instance *x, const dae_problem *base,
                                dae_problem **problem, dae_diag *diag)
{
    return form_residual_described(x->source, x->rewriting, x->mw.dependent, base->form.event_count,
                                   base->form.events, problem, diag);
}

/* The rewriting behind a problem itself, whose unknowns are those of the form. */
const form_rewriting *form_base_rewriting(const form_source *s)
{
    bool more = s->kind == KIND_QUASILINEAR && !square(&s->as.x);
    return more ? &quasilinear_squares : as_given(s);
}

dae_status form_problem_new(form_source *s, int event_count, const dae_event *events,
                            dae_problem **problem, dae_diag *diag)
{
    dae_status status = form_residual_described(s, form_base_rewriting(s), NULL, event_count,
                                                events, problem, diag);
    if (status == DAE_OK)
        (*problem)->forms = s;
    else
        form_source_free(s);
    return status;
}
