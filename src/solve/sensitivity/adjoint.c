/* Gradients of functionals: back through the linear equations of all steps of the sensitivities.
 *
 * A step solves M X = C S - P for its stages X_a, with P_a = F_inputs(t_a) moved, C_a = (1/h)
 * (sum_b inverse_ab) F_Y'(t_a), and ends with S+ = X_s, S'+ = (1/h) sum_b inverse_sb (X_b - S). For
 * dJ = sum_a u_a X_a + .. the transposed equations M' mu = u give dJ = (C' mu) S - mu P: what S of
 * the step before counts for, and what the inputs do [discrete adjoint; Sandu 2006]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"

/* The unknowns and layout of a stretch of steps. */
typedef struct stretch {
    const model_form *form;
    const model_tangent *rows;
    matrix_layout layout;
    int n;
} stretch;

/* One step. Numbers: F_Y and F_Y' of all stages, derivatives of the rows by inputs, then for each
 * functional with an integral what X_a and X'_a count for. */
typedef struct step_record {
    int stretch;
    double h;
    double *numbers; /* owned; NULL: in the file */
    long at;         /* there, in numbers */
} step_record;

/* What S and S' at the end of a step count for in a functional. */
typedef struct point_record {
    long step; /* number of the step that ends there */
    int functional;
    double *weight; /* n of S, then n of S'; owned */
} point_record;

struct dae_adjoint {
    dae_sensitivity *x; /* owned: the mixture */
    step_recorder recorder;
    int functionals, variables;
    double limit, used; /* bytes for numbers; in memory */
    FILE *file;
    long filed; /* numbers in it */
    stretch *stretches;
    size_t stretch_room;
    int stretch_count;
    step_record *steps;
    size_t step_room;
    long step_count;
    point_record *points;
    size_t point_room;
    long point_count;
    double *integral; /* functionals rows of variables; owned */
    bool *integrated; /* functionals */
    double *value;    /* J, */
    double *mixed;    /* and its derivative along the mixture; functionals each */
    double *inputs;   /* functionals rows of inputs: what they count for directly */
    double *outputs;  /* work: variables */
    double *start;    /* named rows of 2 n of the base: S and S' where the run began */
    double *first;    /* the same, S in the unknowns of the first step; NULL: no step yet */
    double t_event;   /* a run with an event has no gradient; NAN: none */
};

/* ---- life ---- */

static void forget_run(dae_adjoint *j)
{
    for (int i = 0; i < j->stretch_count; i++) layout_free(&j->stretches[i].layout);
    for (long i = 0; i < j->step_count; i++) dae_free(j->steps[i].numbers);
    for (long i = 0; i < j->point_count; i++) dae_free(j->points[i].weight);
    j->stretch_count = 0;
    j->step_count = j->point_count = 0;
    if (j->file) fclose(j->file);
    j->file = NULL;
    j->filed = 0;
    j->used = 0.0;
    j->t_event = NAN;
    dae_free_all(j->start, j->first);
    j->start = j->first = NULL;
}

void dae_adjoint_free(dae_adjoint *j)
{
    if (!j) return;
    forget_run(j);
    dae_sensitivity_free(j->x);
    dae_free_all(j->stretches, j->steps, j->points, j->integral, j->integrated, j->value, j->mixed,
                 j->inputs, j->outputs, j);
}

static dae_status no_memory(const dae_adjoint *j)
{
    return sensitivity_no_memory(j->x);
}

/* ---- the start: S of every parameter ---- */

static bool is_zero(size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != 0.0) return false;
    return true;
}

/* S and S' in the k-th direction with a name where the run begins, in the user's unknowns; nothing
 * is written where they are 0. */
static dae_status start_direction(dae_adjoint *j, int k, double *work)
{
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n, base = (size_t)x->run->base->form.n;
    double *s = work, *sp = work + n, *b = work + 2 * n, *to = j->start + 2 * (size_t)k * base;
    vector_copy((int)n, x->rates + (size_t)k * n, s);
    vector_zero((int)n, b);
    model_tangent_apply(x->lead.tangents->rows, NULL, NULL, directions_named(&x->directions, k),
                        0.0, b);
    if (is_zero(n, s) && is_zero(n, b)) return DAE_OK;
    dae_status status = lead_complete_with(x, x->t, b, s, sp);
    if (status == DAE_OK) lead_to_user(x, s, sp, to, to + base);
    return status;
}

static dae_status record_start(void *user)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n, base = (size_t)x->run->base->form.n;
    const size_t named = (size_t)x->directions.named;
    forget_run(j);
    for (int m = 0; m < j->functionals; m++) j->value[m] = j->mixed[m] = 0.0;
    memset(j->inputs, 0,
           (size_t)j->functionals * (size_t)x->directions.inputs.count * sizeof *j->inputs);
    j->start = DAE_ARRAY(double, 2 * base * named);
    double *work = DAE_ARRAY(double, 3 * n);
    dae_status status = j->start && work ? DAE_OK : no_memory(j);
    for (size_t k = 0; k < named && status == DAE_OK; k++)
        status = start_direction(j, (int)k, work);
    dae_free(work);
    return status;
}

/* S of all directions in the unknowns of the first step. */
static dae_status take_first(dae_adjoint *j)
{
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n, base = (size_t)x->run->base->form.n;
    double *spare = DAE_ARRAY(double, n);
    j->first = DAE_ARRAY(double, n *(size_t)x->directions.named);
    dae_status status = spare && j->first ? DAE_OK : no_memory(j);
    for (int k = 0; k < x->directions.named && status == DAE_OK; k++) {
        const double *from = j->start + 2 * (size_t)k * base;
        lead_from_user(x, from, from + base, j->first + (size_t)k * n, spare);
    }
    dae_free(spare);
    return status;
}

/* ---- steps ---- */

static bool same_layout(const matrix_layout *a, const matrix_layout *b)
{
    if (a->kind != b->kind || a->n != b->n || a->count != b->count) return false;
    if (a->kind != DAE_STRUCTURE_SPARSE) return a->lower == b->lower && a->upper == b->upper;
    return memcmp(a->colptr, b->colptr, (size_t)(a->n + 1) * sizeof *a->colptr) == 0 &&
           memcmp(a->rowind, b->rowind, a->count * sizeof *a->rowind) == 0;
}

/* The stretch at hand, a new one where the lead has changed. S goes over from one to the next where
 * the unknowns are the same. */
static dae_status take_stretch(dae_adjoint *j)
{
    const lead *l = &j->x->lead;
    const matrix_layout *layout = &l->matrix.jac.layout;
    const stretch *last = j->stretch_count > 0 ? &j->stretches[j->stretch_count - 1] : NULL;
    if (last && last->form == l->form && same_layout(&last->layout, layout)) return DAE_OK;
    if (last && last->form != l->form) {
        j->t_event = j->x->t;
        return DAE_OK;
    }
    if (!dae_grow(&j->stretches, &j->stretch_room, (size_t)j->stretch_count + 1,
                  sizeof *j->stretches))
        return no_memory(j);
    stretch *q = &j->stretches[j->stretch_count];
    *q = (stretch){.form = l->form, .rows = l->tangents->rows, .n = l->n};
    if (!layout_copy(&q->layout, layout)) return no_memory(j);
    j->stretch_count++;
    return DAE_OK;
}

/* How many numbers a step of a stretch has, and where its parts begin. */
typedef struct step_parts {
    size_t fyp, rows, integrals, all;
} step_parts;

static int integral_count(const dae_adjoint *j)
{
    int count = 0;
    for (int m = 0; m < j->functionals; m++) count += j->integrated[m];
    return count;
}

static step_parts parts_of(const dae_adjoint *j, const stretch *q)
{
    const size_t s = (size_t)j->x->method->stages;
    step_parts p;
    p.fyp = s * q->layout.count;
    p.rows = 2 * p.fyp;
    p.integrals = p.rows + s * model_tangent_size(q->rows);
    p.all = p.integrals + (size_t)integral_count(j) * 2 * s * (size_t)q->n;
    return p;
}

/* The integrals of a stage: what its values count for, and their derivative along the mixture. */
static dae_status record_integrals(dae_adjoint *j, double h, int a, const double *stages, double t,
                                   double *numbers)
{
    dae_sensitivity *x = j->x;
    lead *l = &x->lead;
    const collocation *c = x->method;
    const size_t n = (size_t)l->n, s = (size_t)c->stages;
    model_tangent *v = lead_outputs(x, t);
    double *state = DAE_ARRAY(double, 2 * n), *weighted = DAE_ARRAY(double, j->variables);
    dae_status status = v && state && weighted ? DAE_OK : no_memory(j);
    if (status == DAE_OK) {
        model_instance_outputs(l->solver->hybrid->instance, t, l->y, l->yp, j->outputs);
        vector_copy((int)n, x->s, state);
        vector_axpy((int)n, 1.0, stages + (size_t)a * n, state);
        for (size_t b = 0; b < s; b++)
            vector_axpy((int)n, c->inverse[(size_t)a * s + b] / h, stages + b * n, state + n);
    }
    for (int m = 0, at = 0; m < j->functionals && status == DAE_OK; m++) {
        if (!j->integrated[m]) continue;
        double *part = numbers + (size_t)at++ * 2 * s * n + (size_t)a * n;
        const double *w = j->integral + (size_t)m * (size_t)j->variables, by = h * c->b[a];
        for (int i = 0; i < j->variables; i++) {
            weighted[i] = by * w[i];
            if (w[i] == 0.0) continue;
            j->value[m] += weighted[i] * j->outputs[i];
            j->mixed[m] +=
                weighted[i] *
                model_tangent_row(v, i, state, state + n, directions_moved(&x->directions, 0), 0.0);
        }
        model_tangent_transposed(v, model_tangent_entries(v), weighted, part, part + s * n,
                                 j->inputs + (size_t)m * (size_t)x->directions.inputs.count);
    }
    dae_free_all(state, weighted);
    return status;
}

/* Derivatives of the rows by inputs, and integrals, at all stages. */
static dae_status record_stages(dae_adjoint *j, double h, const double *stages, double *numbers)
{
    dae_sensitivity *x = j->x;
    const stretch *q = &j->stretches[j->stretch_count - 1];
    const step_parts p = parts_of(j, q);
    const size_t size = model_tangent_size(q->rows);
    dae_status status = DAE_OK;
    for (int a = 0; a < x->method->stages && status == DAE_OK; a++) {
        double t = a == x->method->stages - 1 ? x->t + h : x->t + x->method->nodes[a] * h;
        lead_recall(&x->lead, t, x->system->point + 2 * (size_t)q->n * (size_t)a);
        tape_inputs at = lead_point(x, t);
        model_tangent_at(x->lead.tangents->rows, &at);
        memcpy(numbers + p.rows + (size_t)a * size, model_tangent_entries(q->rows),
               size * sizeof *numbers);
        if (integral_count(j) > 0)
            status = record_integrals(j, h, a, stages, t, numbers + p.integrals);
    }
    return status;
}

/* Numbers beyond the memory that is allowed go to a temporary file. */
static dae_status file_step(dae_adjoint *j, step_record *r, size_t count)
{
    const double bytes = (double)count * sizeof(double);
    if (j->used + bytes <= j->limit) {
        j->used += bytes;
        return DAE_OK;
    }
    if (!j->file) j->file = tmpfile();
    bool ok = j->file && fwrite(r->numbers, sizeof(double), count, j->file) == count;
    dae_free(r->numbers);
    r->numbers = NULL;
    r->at = j->filed;
    j->filed += (long)count;
    if (ok) return DAE_OK;
    return diag_set(
        &j->x->run->diag, DAE_ERR_FILE,
        "Adjoint: a temporary file for %.3g bytes cannot be written; allow more memory.",
        (double)j->filed * sizeof(double));
}

static dae_status record_step(void *user, double h, const double *stages)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    if (!isnan(j->t_event)) return DAE_OK;
    dae_status status = j->first ? DAE_OK : take_first(j);
    if (status == DAE_OK) status = take_stretch(j);
    if (status != DAE_OK || !isnan(j->t_event)) return status;
    if (!dae_grow(&j->steps, &j->step_room, (size_t)j->step_count + 1, sizeof *j->steps))
        return no_memory(j);
    const stretch *q = &j->stretches[j->stretch_count - 1];
    const step_parts p = parts_of(j, q);
    double *numbers = DAE_ARRAY(double, p.all);
    if (!numbers) return no_memory(j);
    memcpy(numbers, x->system->fy, p.fyp * sizeof *numbers);
    memcpy(numbers + p.fyp, x->system->fyp, p.fyp * sizeof *numbers);
    status = record_stages(j, h, stages, numbers);
    if (status != DAE_OK) {
        dae_free(numbers);
        return status;
    }
    step_record *r = &j->steps[j->step_count++];
    *r = (step_record){.stretch = j->stretch_count - 1, .h = h, .numbers = numbers};
    return file_step(j, r, p.all);
}

static dae_status record_event(void *user)
{
    dae_adjoint *j = user;
    j->t_event = j->x->run->run.t;
    j->x->stands = false; /* the mixture ends here */
    return DAE_OK;
}

/* ---- making ---- */

static bool adjoint_room(dae_adjoint *j)
{
    const size_t m = (size_t)j->functionals, v = (size_t)j->variables;
    j->integral = DAE_ARRAY(double, m *v);
    j->integrated = DAE_ARRAY(bool, m);
    j->value = DAE_ARRAY(double, m);
    j->mixed = DAE_ARRAY(double, m);
    j->inputs = DAE_ARRAY(double, m *(size_t)j->x->directions.inputs.count);
    j->outputs = DAE_ARRAY(double, v);
    return j->integral && j->integrated && j->value && j->mixed && j->inputs && j->outputs &&
           directions_mix(&j->x->directions);
}

dae_status dae_adjoint_new_sized(dae_solver *s, const dae_adjoint_request *request, size_t size,
                                 dae_adjoint **adjoint, dae_diag *diag)
{
    dae_adjoint_request r = {0};
    diag_clear(diag);
    if (!adjoint || !s || !request) {
        if (adjoint) *adjoint = NULL;
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_adjoint_new: an argument is NULL.");
    }
    *adjoint = NULL;
    dae_status status = sized_read(request, size, &r, sizeof r, "request for an adjoint", diag);
    if (status != DAE_OK) return status;
    if (!s->base->model)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Adjoint: gradients are those of models; callbacks have sensitivities.");
    if (r.functionals < 1 || !(r.memory >= 0.0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint: functionals = %d must be positive, memory = %g not negative.",
                        r.functionals, r.memory);
    dae_adjoint *j = DAE_NEW(dae_adjoint);
    if (!j) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an adjoint.");
    dae_sensitivity_request mixture = {
        .count = r.count, .names = r.names, .rtol = r.rtol, .atol = r.atol};
    status = dae_sensitivity_new(s, &mixture, &j->x, diag);
    if (status == DAE_OK) {
        j->functionals = r.functionals;
        j->variables = s->base->model->visible_count;
        j->limit = r.memory > 0.0 ? r.memory : 1e9;
        j->t_event = NAN;
        if (!adjoint_room(j))
            status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an adjoint.");
    }
    if (status != DAE_OK) {
        dae_adjoint_free(j);
        return status;
    }
    j->recorder = (step_recorder){j, record_step, record_start, record_event};
    j->x->recorder = &j->recorder;
    *adjoint = j;
    return DAE_OK;
}

/* ---- functionals ---- */

static dae_status check_functional(const dae_adjoint *j, int m, const void *numbers)
{
    if (!j || !j->x->run) return DAE_ERR_ARGUMENT;
    if (m >= 0 && m < j->functionals && numbers) return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_ARGUMENT,
                    "Adjoint: there is no functional %d, or an argument is NULL.", m);
}

static dae_status refuse_event(const dae_adjoint *j)
{
    j->x->run->diag.t = j->t_event;
    return diag_set(
        &j->x->run->diag, DAE_ERR_UNSUPPORTED,
        "Adjoint: at t = %.9g the run had an event, or went on with another form of its "
        "equations: there is no way back across it. Sensitivities "
        "(dae_sensitivity_new) go on behind events.",
        j->t_event);
}

dae_status dae_adjoint_integral(dae_adjoint *j, int m, const double *weights)
{
    dae_status status = check_functional(j, m, weights);
    if (status != DAE_OK) return status;
    if (j->step_count > 0)
        return diag_set(&j->x->run->diag, DAE_ERR_STATE,
                        "Adjoint: an integral is to be asked for before the start of its run.");
    for (int i = 0; i < j->variables; i++)
        j->integral[(size_t)m * (size_t)j->variables + (size_t)i] += weights[i];
    j->integrated[m] = true;
    return DAE_OK;
}

dae_status dae_adjoint_point(dae_adjoint *j, int m, const double *weights)
{
    dae_status status = check_functional(j, m, weights);
    if (status != DAE_OK) return status;
    dae_sensitivity *x = j->x;
    lead *l = &x->lead;
    if (!isnan(j->t_event)) return refuse_event(j);
    if (!x->stands || j->step_count == 0)
        return diag_set(&x->run->diag, DAE_ERR_STATE,
                        "Adjoint: a point is where a run stands behind its first step.");
    const size_t n = (size_t)l->n;
    if (!dae_grow(&j->points, &j->point_room, (size_t)j->point_count + 1, sizeof *j->points))
        return no_memory(j);
    status = lead_values(x, x->t);
    model_tangent *v = status == DAE_OK ? lead_outputs(x, x->t) : NULL;
    double *weight = DAE_ARRAY(double, 2 * n);
    if (status == DAE_OK && (!v || !weight)) status = no_memory(j);
    if (status != DAE_OK) {
        dae_free(weight);
        return status;
    }
    model_instance_outputs(l->solver->hybrid->instance, x->t, l->y, l->yp, j->outputs);
    for (int i = 0; i < j->variables; i++) {
        if (weights[i] == 0.0) continue;
        j->value[m] += weights[i] * j->outputs[i];
        j->mixed[m] += weights[i] * model_tangent_row(v, i, x->s, x->sp,
                                                      directions_moved(&x->directions, 0), 0.0);
    }
    model_tangent_transposed(v, model_tangent_entries(v), weights, weight, weight + n,
                             j->inputs + (size_t)m * (size_t)x->directions.inputs.count);
    j->points[j->point_count++] = (point_record){j->step_count - 1, m, weight};
    return DAE_OK;
}

dae_status dae_adjoint_value(const dae_adjoint *j, int m, double *value)
{
    dae_status status = check_functional(j, m, value);
    if (status == DAE_OK) *value = j->value[m];
    return status;
}

/* ---- back ---- */

/* Work space of a sweep for one functional. */
typedef struct sweep {
    int m;
    double *s, *sp;       /* n each: what S and S' at the end of the step count for */
    double *u;            /* n s: what the stages do, then mu */
    double *before;       /* n: what S where the step begins does */
    double *inputs;       /* what the inputs do */
    stage_system *system; /* transposed */
    int stretch;          /* that it is for; -1: none */
    double *numbers;      /* of a step in the file */
    size_t room;
} sweep;

static void sweep_free(sweep *w)
{
    dae_free_all(w->s, w->inputs, w->numbers);
    stage_system_free(w->system);
}

static bool sweep_new(sweep *w, const dae_adjoint *j, int m)
{
    const size_t n = (size_t)j->stretches[0].n, s = (size_t)j->x->method->stages;
    const size_t inputs = (size_t)j->x->directions.inputs.count;
    *w = (sweep){.m = m, .stretch = -1, .s = DAE_ARRAY(double, 3 * n + n * s)};
    w->inputs = dae_copy(j->inputs + (size_t)m * inputs, inputs, sizeof *w->inputs);
    if (!w->s || !w->inputs) return false;
    w->sp = w->s + n;
    w->before = w->s + 2 * n;
    w->u = w->s + 3 * n;
    return true;
}

/* The numbers of a step; NULL: memory, or the file. */
static const double *numbers_of(dae_adjoint *j, sweep *w, const step_record *r, size_t count)
{
    if (r->numbers) return r->numbers;
    if (!dae_grow(&w->numbers, &w->room, count, sizeof *w->numbers)) return NULL;
    if (fseek(j->file, r->at * (long)sizeof(double), SEEK_SET) != 0) return NULL;
    return fread(w->numbers, sizeof(double), count, j->file) == count ? w->numbers : NULL;
}

/* Points at the end of a step add to what S and S' count for. */
static void add_points(const dae_adjoint *j, sweep *w, long step, int n)
{
    for (long i = 0; i < j->point_count; i++) {
        const point_record *p = &j->points[i];
        if (p->step != step || p->functional != w->m) continue;
        vector_axpy(n, 1.0, p->weight, w->s);
        vector_axpy(n, 1.0, p->weight + n, w->sp);
    }
}

/* X'_a = (1/h) sum_b inverse_ab (X_b - S) counts for `weight`: so do X_b, and S. */
static void spread_slope(const collocation *c, double h, int a, int n, const double *weight,
                         double *u, double *before)
{
    for (int b = 0; b < c->stages; b++) {
        double by = c->inverse[a * c->stages + b] / h;
        vector_axpy(n, by, weight, u + (size_t)b * (size_t)n);
        vector_axpy(n, -by, weight, before);
    }
}

/* What the stages of a step count for before its equations are looked at. */
static void seed_stages(const dae_adjoint *j, sweep *w, double h, int n, const double *integrals)
{
    const collocation *c = j->x->method;
    const size_t s = (size_t)c->stages;
    vector_zero(n * c->stages, w->u);
    vector_zero(n, w->before);
    vector_axpy(n, 1.0, w->s, w->u + (s - 1) * (size_t)n);
    spread_slope(c, h, c->stages - 1, n, w->sp, w->u, w->before);
    if (!j->integrated[w->m]) return;
    for (int m = 0; m < w->m; m++)
        if (j->integrated[m]) integrals += 2 * s * (size_t)n;
    for (size_t a = 0; a < s; a++) {
        vector_axpy(n, 1.0, integrals + a * (size_t)n, w->u + a * (size_t)n);
        spread_slope(c, h, (int)a, n, integrals + (s + a) * (size_t)n, w->u, w->before);
    }
}

/* y += a A' x on a layout */
static void multiply_transposed(const matrix_layout *layout, double a, const double *values,
                                const double *x, double *y)
{
    for (int j = 0; j < layout->n; j++) {
        matrix_column column = layout_column(layout, j);
        double sum = 0.0;
        for (int k = 0; k < column.count; k++)
            sum += values[column.first + (size_t)k] * x[column_row(&column, k)];
        y[j] += a * sum;
    }
}

/* What mu = M'^-1 u hands on: to S where the step begins, and to the inputs. */
static void hand_on(const dae_adjoint *j, sweep *w, const stretch *q, const step_record *r,
                    const double *numbers)
{
    const collocation *c = j->x->method;
    const step_parts p = parts_of(j, q);
    const size_t n = (size_t)q->n, size = model_tangent_size(q->rows);
    for (int a = 0; a < c->stages; a++) {
        double *mu = w->u + (size_t)a * n, sum = 0.0;
        for (int i = 0; i < q->n; i++)
            if (w->system->sloped[i]) mu[i] *= r->h;
        for (int b = 0; b < c->stages; b++) sum += c->inverse[a * c->stages + b];
        multiply_transposed(&q->layout, sum / r->h, numbers + p.fyp + (size_t)a * q->layout.count,
                            mu, w->before);
        for (int i = 0; i < q->n; i++) mu[i] = -mu[i];
        model_tangent_transposed(q->rows, numbers + p.rows + (size_t)a * size, mu, NULL, NULL,
                                 w->inputs);
    }
}

/* One step back: w->s, w->sp are what S and S' at its beginning count for. */
static dae_status step_back(dae_adjoint *j, sweep *w, long step)
{
    const step_record *r = &j->steps[step];
    const stretch *q = &j->stretches[r->stretch];
    const step_parts p = parts_of(j, q);
    const double *numbers = numbers_of(j, w, r, p.all);
    if (w->stretch != r->stretch) {
        stage_system_free(w->system);
        w->system = stage_system_new(q->n, j->x->method->stages, q->layout.count, 0, true);
        w->stretch = r->stretch;
    }
    if (!numbers || !w->system) return no_memory(j);
    memcpy(w->system->fy, numbers, p.fyp * sizeof *numbers);
    memcpy(w->system->fyp, numbers + p.fyp, p.fyp * sizeof *numbers);
    linear_status factored = stage_system_factor(w->system, &q->layout, j->x->method, r->h);
    if (factored == LINEAR_MEMORY) return no_memory(j);
    if (factored != LINEAR_OK)
        return diag_set(&j->x->run->diag, DAE_ERR_SINGULAR,
                        "Adjoint: the transposed equations of a step cannot be factored.");
    add_points(j, w, step, q->n);
    seed_stages(j, w, r->h, q->n, numbers + p.integrals);
    linear_solve(w->system->solver, w->u);
    hand_on(j, w, q, r, numbers);
    vector_copy(q->n, w->before, w->s);
    vector_zero(q->n, w->sp);
    return DAE_OK;
}

/* gradient_k = what S_k at the start, and the inputs that move with p_k, count for. */
static void gather(const dae_adjoint *j, const sweep *w, double *gradient)
{
    const directions *d = &j->x->directions;
    const int n = j->stretches[0].n;
    for (int k = 0; k < d->named; k++)
        gradient[k] = vector_dot(n, w->s, j->first + (size_t)k * (size_t)n) +
                      vector_dot(d->inputs.count, w->inputs, directions_named(d, k));
}

/* The derivative along the mixture must be that which the run has found. */
static dae_status check_gradient(const dae_adjoint *j, int m, const double *gradient)
{
    static const double CLOSE = 1e-7;
    const directions *d = &j->x->directions;
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < d->named; k++) {
        double part = gradient[k] * d->mix[k] * d->list[k].size;
        sum += part;
        size += fabs(part);
    }
    if (fabs(sum - j->mixed[m]) <= CLOSE * fmax(size, fabs(j->mixed[m]))) return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_TOLERANCE,
                    "Adjoint: the gradient of functional %d gives %.9g along a mixture of all "
                    "parameters, the run itself %.9g: rounding has spoilt it. Take tighter "
                    "tolerances.",
                    m, sum, j->mixed[m]);
}

dae_status dae_adjoint_gradient(dae_adjoint *j, int m, double *gradient)
{
    dae_status status = check_functional(j, m, gradient);
    if (status != DAE_OK) return status;
    if (!isnan(j->t_event)) return refuse_event(j);
    if (j->step_count == 0)
        return diag_set(&j->x->run->diag, DAE_ERR_STATE, "Adjoint: there was no step yet.");
    sweep w;
    if (!sweep_new(&w, j, m)) status = no_memory(j);
    for (long step = j->step_count - 1; step >= 0 && status == DAE_OK; step--)
        status = step_back(j, &w, step);
    if (status == DAE_OK) {
        gather(j, &w, gradient);
        status = check_gradient(j, m, gradient);
    }
    sweep_free(&w);
    return status;
}
