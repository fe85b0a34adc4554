/* The callbacks of a model's forms: programs of a variant behind the descriptions that callbacks
 * have, so that conversions, checks and counts are the same for both. */
#include "model/model_forms.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "linalg/linear_solver.h"
#include "model/model_build.h"

struct model_forms {
    model_instance *instance;     /* borrowed */
    const form_plan *plan;        /* borrowed */
    form_source *source;          /* owned */
    size_t mass, force, gradient; /* mechanical: values of these in the stage program */
    double *out;                  /* of the longest program; owned */
    double *column;               /* implicit: leading derivatives; owned */
    form_matrix leading;          /* E of an implicit Hessenberg form */
    form_solver solver;
};

/* ---- programs ---- */

static void run(model_forms *w, int k, double t, const double *a, const double *b, const double *c,
                double *out)
{
    model_instance_run(w->instance, model_form_program(k), t, a, b, c, out);
}

/* Values of a block in the order of its program, where the description wants them. */
static void deliver(const form_block *b, const double *values, double *out)
{
    if (!b->dense) {
        vector_copy(b->count, values, out);
        return;
    }
    for (int j = 0; j < b->columns; j++)
        for (int k = b->colptr[j]; k < b->colptr[j + 1]; k++)
            out[form_block_place(b, k, j)] = values[k];
}

/* ---- mechanical ---- */

/* The next part of what the stage program gives, unless it is not asked for. */
static const double *take(const double *values, size_t count, double *out)
{
    if (out) vector_copy((int)count, values, out);
    return values + count;
}

/* Where the stage program can write at once: all of its parts are asked for, side by side. NULL:
 * nowhere. */
static double *side_by_side(const model_forms *w, const dae_mechanical_values *out)
{
    double *mass = w->mass > 0 ? out->mass : out->force, *force = out->force;
    bool all = mass && force && force == mass + w->mass && out->gradient == force + w->force &&
               out->curvature == out->gradient + w->gradient;
    return all ? mass : NULL;
}

static void run_stage(model_forms *w, const dae_mechanical_point *at,
                      const dae_mechanical_values *out)
{
    double *at_once = side_by_side(w, out);
    run(w, MECHANICAL_STAGE, at->t, at->q, at->v, NULL, at_once ? at_once : w->out);
    if (at_once) return;
    const double *values = w->mass > 0 ? take(w->out, w->mass, out->mass) : w->out;
    values = take(values, w->force, out->force);
    values = take(values, w->gradient, out->gradient);
    take(values, (size_t)w->plan->size[1], out->curvature);
}

static int mechanical_all(const dae_mechanical_point *at, const dae_mechanical_values *out,
                          void *user)
{
    model_forms *w = user;
    bool constant = w->mass == 0, stage = out->force || out->curvature || (out->mass && !constant);
    if (stage) run_stage(w, at, out);
    if (out->mass && constant) run(w, MECHANICAL_MASS, at->t, at->q, at->v, NULL, out->mass);
    if (!out->rate && (stage || !out->gradient)) return 0;
    run(w, MECHANICAL_VELOCITY, at->t, at->q, at->v, NULL, w->out);
    const double *rate = take(w->out, w->gradient, stage ? NULL : out->gradient);
    if (out->rate) vector_copy(w->plan->size[1], rate, out->rate);
    return 0;
}

/* A pivot may be so small a part of the diagonal entry that it is left of: below, digits are lost,
 * and pivots are chosen by numbers. */
static const double LEAST_PIVOT = 1e-4;

/* v' at (t, q, v); false: it takes numerical pivots. */
static bool mechanical_accelerations(void *user, double t, const double *q, const double *v,
                                     double *a)
{
    model_forms *w = user;
    const form_plan *p = w->plan;
    const size_t n = (size_t)p->size[0], count = p->program[MECHANICAL_ACCELERATIONS].count;
    bool sound = true;
    run(w, MECHANICAL_ACCELERATIONS, t, q, v, NULL, w->out);
    for (size_t k = n; k < count; k += 2)
        sound = w->out[k] > LEAST_PIVOT * w->out[k + 1] && w->out[k] <= DBL_MAX && sound;
    vector_copy((int)n, w->out, a);
    return sound;
}

static int mechanical_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    run(user, MECHANICAL_POSITION, at->t, at->q, at->v, NULL, g);
    return 0;
}

static dae_pattern pattern_of(const form_block *b)
{
    return b->dense ? (dae_pattern){0} : (dae_pattern){b->colptr, b->rowind};
}

static form_source *describe_mechanical(model_forms *w, const formulated *f,
                                        const char *const *constraints)
{
    const form_plan *p = w->plan;
    const form_block *M = &p->block[BLOCK_M];
    w->mass = M->constant ? 0 : form_block_size(M);
    w->force = (size_t)p->size[0];
    w->gradient = form_block_size(&p->block[BLOCK_G]);
    dae_mechanical m = {.nq = p->size[0],
                        .nlambda = p->size[1],
                        .all = mechanical_all,
                        .constraint = p->size[1] > 0 ? mechanical_constraint : NULL,
                        .user = w,
                        .scleronomic = p->autonomous,
                        .mass_structure = M->diagonal ? DAE_MASS_DIAGONAL
                                          : M->dense  ? DAE_MASS_DENSE
                                                      : DAE_MASS_SPARSE,
                        .mass_constant = M->constant,
                        .gradient_pattern = pattern_of(&p->block[BLOCK_G]),
                        .nominal = f->set.nominal,
                        .variable_names = f->set.name,
                        .constraint_names = constraints};
    if (!M->diagonal) m.mass_pattern = pattern_of(M);
    form_source *source = form_source_mechanical(&m);
    if (source) source->complete = true;
    if (source && p->program[MECHANICAL_ACCELERATIONS].count > 0)
        source->accelerations = mechanical_accelerations;
    return source;
}

/* ---- Hessenberg ---- */

/* E a = b, for b where leading derivatives are in `column` of y'. */
static int solve_leading(model_forms *w, double *column)
{
    const form_plan *p = w->plan;
    for (int k = 0; k < w->leading.rows; k++) w->column[k] = column[p->leading[k]];
    linear_solve(w->solver.solver, w->column);
    for (int k = 0; k < w->leading.rows; k++) column[p->leading[k]] = w->column[k];
    return 0;
}

static int factor_leading(model_forms *w, const double *values)
{
    const form_block *E = &w->plan->block[BLOCK_LEADING];
    double *matrix = w->out + w->plan->program[HESSENBERG_F].count;
    if (E->dense) {
        vector_zero(E->rows * E->columns, matrix);
        deliver(E, values, matrix);
        values = matrix;
    }
    return form_solver_factor(&w->solver, values) == LINEAR_OK ? 0 : 1;
}

/* The program of f runs, and E is factored; values of f, right-hand sides among them: w->out + ..
 */
static int run_implicit(model_forms *w, const dae_hessenberg_point *at, const double **f)
{
    run(w, HESSENBERG_F, at->t, at->y, at->z, at->u, w->out);
    *f = w->out + w->plan->block[BLOCK_LEADING].count;
    return factor_leading(w, w->out);
}

static int hessenberg_f(const dae_hessenberg_point *at, double *f, void *user)
{
    model_forms *w = user;
    const double *values;
    if (!w->plan->implicit) {
        run(w, HESSENBERG_F, at->t, at->y, at->z, at->u, f);
        return 0;
    }
    int code = run_implicit(w, at, &values);
    if (code != 0) return code;
    vector_copy(w->plan->size[0], values, f);
    return solve_leading(w, f);
}

static int hessenberg_f_z(const dae_hessenberg_point *at, double *out, void *user)
{
    model_forms *w = user;
    const double *unused;
    int code = w->plan->implicit ? run_implicit(w, at, &unused) : 0;
    if (code != 0) return code;
    run(w, HESSENBERG_F_Z, at->t, at->y, at->z, at->u, w->out);
    deliver(&w->plan->block[BLOCK_F_Z], w->out, out);
    for (int k = 0; w->plan->implicit && k < w->plan->size[1]; k++)
        solve_leading(w, out + (size_t)k * (size_t)w->plan->size[0]);
    return 0;
}

/* Callbacks that hand out what a program gives: as it comes, or as the block of a matrix. */
#define VALUES(name, point, program, ...)                                                          \
    static int name(const point *at, double *out, void *user)                                      \
    {                                                                                              \
        run(user, program, at->t, __VA_ARGS__, out);                                               \
        return 0;                                                                                  \
    }
#define BLOCK(name, point, program, which, ...)                                                    \
    static int name(const point *at, double *out, void *user)                                      \
    {                                                                                              \
        model_forms *w = user;                                                                     \
        run(w, program, at->t, __VA_ARGS__, w->out);                                               \
        deliver(&w->plan->block[which], w->out, out);                                              \
        return 0;                                                                                  \
    }

VALUES(hessenberg_g, dae_hessenberg_point, HESSENBERG_G, at->y, at->z, at->u)
VALUES(hessenberg_g_t, dae_hessenberg_point, HESSENBERG_G_T, at->y, at->z, at->u)
VALUES(hessenberg_k, dae_hessenberg_point, HESSENBERG_K, at->y, at->z, at->u)
BLOCK(hessenberg_g_y, dae_hessenberg_point, HESSENBERG_G_Y, BLOCK_G_Y, at->y, at->z, at->u)
BLOCK(hessenberg_k_u, dae_hessenberg_point, HESSENBERG_K_U, BLOCK_K_U, at->y, at->z, at->u)

static form_source *describe_hessenberg(model_forms *w, const formulated *f,
                                        const char *const *constraints)
{
    const form_plan *p = w->plan;
    bool constrained = p->size[1] > 0, implicit = p->size[2] > 0;
    dae_hessenberg h = {.ny = p->size[0],
                        .nz = p->size[1],
                        .nu = p->size[2],
                        .f = hessenberg_f,
                        .g = constrained ? hessenberg_g : NULL,
                        .k = implicit ? hessenberg_k : NULL,
                        .user = w,
                        .g_y = constrained ? hessenberg_g_y : NULL,
                        .g_t = constrained && !p->autonomous ? hessenberg_g_t : NULL,
                        .f_z = constrained ? hessenberg_f_z : NULL,
                        .k_u = implicit ? hessenberg_k_u : NULL,
                        .autonomous = p->autonomous,
                        .g_y_pattern = pattern_of(&p->block[BLOCK_G_Y]),
                        .f_z_pattern = pattern_of(&p->block[BLOCK_F_Z]),
                        .k_u_pattern = pattern_of(&p->block[BLOCK_K_U]),
                        .nominal = f->set.nominal,
                        .variable_names = f->set.name,
                        .constraint_names = constraints};
    return form_source_hessenberg(&h);
}

/* ---- quasilinear ---- */

BLOCK(quasilinear_E, dae_quasilinear_point, QUASILINEAR_E, BLOCK_E, at->x, NULL, NULL)
VALUES(quasilinear_f, dae_quasilinear_point, QUASILINEAR_F, at->x, NULL, NULL)
VALUES(quasilinear_g, dae_quasilinear_point, QUASILINEAR_G, at->x, NULL, NULL)
BLOCK(quasilinear_g_x, dae_quasilinear_point, QUASILINEAR_G_X, BLOCK_G_X, at->x, NULL, NULL)
VALUES(quasilinear_g_t, dae_quasilinear_point, QUASILINEAR_G_T, at->x, NULL, NULL)

static form_source *describe_quasilinear(model_forms *w, const formulated *f,
                                         const char *const *constraints)
{
    const form_plan *p = w->plan;
    bool constrained = p->size[2] > 0;
    dae_quasilinear x = {.n = p->size[0],
                         .ne = p->size[1],
                         .ng = p->size[2],
                         .E = quasilinear_E,
                         .f = quasilinear_f,
                         .g = constrained ? quasilinear_g : NULL,
                         .user = w,
                         .g_x = constrained ? quasilinear_g_x : NULL,
                         .g_t = constrained && !p->autonomous ? quasilinear_g_t : NULL,
                         .autonomous = p->autonomous,
                         .E_constant = p->block[BLOCK_E].constant,
                         .E_pattern = pattern_of(&p->block[BLOCK_E]),
                         .g_x_pattern = pattern_of(&p->block[BLOCK_G_X]),
                         .nominal = f->set.nominal,
                         .variable_names = f->set.name,
                         .constraint_names = constraints,
                         .constraint_levels = p->level};
    return form_source_quasilinear(&x);
}

/* ---- life ---- */

static bool allocate(model_forms *w)
{
    const form_plan *p = w->plan;
    const form_block *E = &p->block[BLOCK_LEADING];
    size_t most = 0;
    for (int k = 0; k < FORM_PROGRAMS; k++)
        if (p->program[k].count > most) most = p->program[k].count;
    bool implicit = p->form == FORM_HESSENBERG && p->implicit;
    if (implicit) most += p->program[HESSENBERG_F].count + (size_t)E->rows * (size_t)E->columns;
    w->out = DAE_ARRAY(double, most);
    if (!w->out || !implicit) return w->out;
    w->leading = E->dense ? form_matrix_dense(E->rows, E->columns)
                          : form_matrix_on(E->rows, E->columns, E->colptr, E->rowind);
    w->column = DAE_ARRAY(double, E->rows);
    return w->column && form_solver_new(&w->solver, &w->leading);
}

static form_source *describe(model_forms *w, const formulated *f)
{
    int count = w->plan->size[w->plan->form == FORM_QUASILINEAR ? 2 : 1];
    const char **constraints = DAE_ARRAY(const char *, count);
    form_source *source = NULL;
    for (int k = 0; constraints && k < count; k++)
        constraints[k] = f->set.row[w->plan->constraint[k]].name;
    const char *const *names = constraints;
    if (names && w->plan->form == FORM_MECHANICAL) source = describe_mechanical(w, f, names);
    if (names && w->plan->form == FORM_HESSENBERG) source = describe_hessenberg(w, f, names);
    if (names && w->plan->form == FORM_QUASILINEAR) source = describe_quasilinear(w, f, names);
    dae_free((void *)constraints);
    return source;
}

model_forms *model_forms_new(model_instance *instance)
{
    const formulated *f = instance->form->formulated;
    model_forms *w = DAE_NEW(model_forms);
    if (!w) return NULL;
    w->instance = instance;
    w->plan = f->plan;
    if (allocate(w)) w->source = describe(w, f);
    if (w->source) return w;
    model_forms_free(w);
    return NULL;
}

void model_forms_free(model_forms *w)
{
    if (!w) return;
    form_source_free(w->source);
    form_solver_free(&w->solver);
    dae_free_all(w->out, w->column, w);
}

const form_source *model_forms_source(const model_forms *w)
{
    return w->source;
}
