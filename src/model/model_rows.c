/* Some rows of a model's equations, for one of several processes that share them: programs of these
 * rows alone. */
#include <string.h>

#include "base/memory.h"
#include "model/model_build.h"

typedef struct row_program {
    int count, *rows;       /* that were asked for; owned, as all that follows */
    expr_code residual;     /* of those among them that are compiled, */
    int compiled, *row_of;  /* so many, and which rows these are */
    expr_code jacobian;     /* entries of these rows, */
    size_t entries, *entry; /* so many, and which outputs of the whole Jacobian they are */
    double *values;         /* of either program */
} row_program;

void row_program_free(row_program *p)
{
    if (!p) return;
    code_free(&p->residual);
    code_free(&p->jacobian);
    dae_free_all(p->rows, p->row_of, p->entry, p->values, p);
}

void row_program_prepare(row_program *p, const tape_inputs *in)
{
    if (!p) return;
    code_prepare(&p->residual, in);
    code_prepare(&p->jacobian, in);
}

/* The row of every entry of a pattern by columns, behind its outputs. */
static int entry_row(const model_form *f, size_t k)
{
    const int place = f->scatter[k];
    return f->rowind[place >= 0 ? place : -1 - place];
}

static bool compile_residual(row_program *p, const model_form *f)
{
    expr *e = DAE_ARRAY(expr, p->count);
    p->row_of = DAE_ARRAY(int, p->count);
    bool ok = e && p->row_of;
    for (int k = 0; k < p->count && ok; k++) {
        if (p->rows[k] >= f->rows) continue; /* of a choice of states: no program has it */
        p->row_of[p->compiled] = p->rows[k];
        e[p->compiled++] = f->residual.e[p->rows[k]];
    }
    ok = ok && code_new(&p->residual, f->flat->graph, e, (size_t)p->compiled);
    dae_free(e);
    return ok;
}

static bool compile_jacobian(row_program *p, const model_form *f)
{
    bool *wanted = DAE_ARRAY(bool, f->n);
    expr *e = DAE_ARRAY(expr, f->jacobian_outputs);
    p->entry = DAE_ARRAY(size_t, f->jacobian_outputs);
    bool ok = wanted && e && p->entry;
    for (int k = 0; k < p->count && ok; k++) wanted[p->rows[k]] = true;
    for (size_t k = 0; k < f->jacobian_outputs && ok; k++) {
        if (!wanted[entry_row(f, k)]) continue;
        p->entry[p->entries] = k;
        e[p->entries++] = f->jacobian.e[k];
    }
    ok = ok && code_new(&p->jacobian, f->flat->graph, e, p->entries);
    dae_free_all(wanted, e);
    return ok;
}

static row_program *row_program_new(const model_form *f, const int *rows, int count)
{
    row_program *p = DAE_NEW(row_program);
    if (!p) return NULL;
    p->count = count;
    p->rows = dae_copy(rows, (size_t)count, sizeof *rows);
    bool ok = p->rows && compile_residual(p, f) && compile_jacobian(p, f);
    const size_t most = p->entries > (size_t)count ? p->entries : (size_t)count;
    p->values = ok ? DAE_ARRAY(double, most) : NULL;
    if (p->values) return p;
    row_program_free(p);
    return NULL;
}

/* The programs of these rows: those at hand, or new ones; NULL: memory. */
static row_program *programs_of(model_instance *m, const int *rows, int count,
                                const tape_inputs *in)
{
    row_program *p = m->rows;
    if (p && p->count == count && memcmp(p->rows, rows, (size_t)count * sizeof *rows) == 0)
        return p;
    row_program_free(p);
    m->rows = row_program_new(m->form, rows, count);
    row_program_prepare(m->rows, in);
    return m->rows;
}

static tape_inputs inputs_of(model_instance *m, double t, const double *y, const double *yp)
{
    if (m->delays) model_instance_recall(m, t, y, yp);
    return (tape_inputs){
        .time = t, .values = {y, yp, NULL, NULL}, .parameters = m->parameters, .memory = m->memory};
}

int model_rows(double t, const double *y, const double *yp, const int *rows, int count, double *f,
               void *user)
{
    model_instance *m = user;
    tape_inputs in = inputs_of(m, t, y, yp);
    row_program *p = programs_of(m, rows, count, &in);
    if (!p) return -1;
    code_run(&p->residual, &in, p->values);
    for (int k = 0; k < p->compiled; k++) f[p->row_of[k]] = p->values[k];
    if (m->selection) instance_kinematic_residual(m, y, yp, f);
    return 0;
}

int model_jacobian_rows(double t, const double *y, const double *yp, const int *rows, int count,
                        double *dfdy, double *dfdyp, void *user)
{
    model_instance *m = user;
    tape_inputs in = inputs_of(m, t, y, yp);
    row_program *p = programs_of(m, rows, count, &in);
    if (!p) return -1;
    const int *scatter = m->scatter ? m->scatter : m->form->scatter;
    code_run(&p->jacobian, &in, p->values);
    if (m->selection) instance_kinematic_jacobian(m, dfdy, dfdyp);
    for (size_t k = 0; k < p->entries; k++) {
        const int place = scatter[p->entry[k]];
        if (place >= 0)
            dfdy[place] = p->values[k];
        else
            dfdyp[-1 - place] = p->values[k];
    }
    return 0;
}
