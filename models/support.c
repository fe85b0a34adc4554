/* Memory, names and patterns of model instances. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 16 };

/* A model and the blocks that go with it. */
typedef struct owned_model {
    model m; /* first: a model pointer is an owned_model pointer */
    void *blocks[MAX_BLOCKS];
    int n_blocks;
} owned_model;

void *model_memory(model *m, size_t count, size_t size)
{
    owned_model *owner = (owned_model *)m;
    if (owner->n_blocks == MAX_BLOCKS) return NULL;
    void *block = calloc(count > 0 ? count : 1, size);
    if (block) owner->blocks[owner->n_blocks++] = block;
    return block;
}

void model_free(model *m)
{
    owned_model *owner = (owned_model *)m;
    if (!owner) return;
    for (int i = 0; i < owner->n_blocks; i++) free(owner->blocks[i]);
    free(owner);
}

model *model_allocate(const char *name, const char *title, const char *source, int n)
{
    owned_model *owner = calloc(1, sizeof *owner);
    if (!owner) return NULL;
    model *m = &owner->m;
    m->name = name;
    m->title = title;
    m->source = source;
    m->form.n = n;
    m->y0 = model_memory(m, (size_t)n, sizeof(double));
    m->yp0 = model_memory(m, (size_t)n, sizeof(double));
    if (m->y0 && m->yp0) return m;
    model_free(m);
    return NULL;
}

/* *copy = n values owned by m, or NULL if there are none to copy; false without memory. */
static bool copy_values(model *m, const double *values, double **copy)
{
    size_t n = (size_t)m->form.n;
    *copy = NULL;
    if (!values) return true;
    *copy = model_memory(m, n, sizeof(double));
    if (*copy) memcpy(*copy, values, n * sizeof(double));
    return *copy != NULL;
}

model *model_from_table(const small_model *table)
{
    model *m = model_allocate(table->name, table->title, table->source, table->n);
    if (!m) return NULL;
    m->form.f = table->f;
    m->form.jacobian = table->jacobian;
    m->form.structure = DAE_STRUCTURE_DENSE;
    m->form.variable_names = table->variable_names;
    m->form.equation_names = table->equation_names;
    m->form.kinds = table->kinds;
    m->t0 = table->t0;
    m->tend = table->tend;
    m->reference_accuracy = table->reference_accuracy;
    m->solution = table->solution;
    memcpy(m->y0, table->y0, (size_t)table->n * sizeof(double));
    table->derivative(m->y0, m->yp0);
    if (copy_values(m, table->reference, &m->reference) &&
        copy_values(m, table->atol_factor, &m->atol_factor))
        return m;
    model_free(m);
    return NULL;
}

const char *const *model_names(model *m, model_name_fn name)
{
    size_t n = (size_t)m->form.n;
    char *text = model_memory(m, n, MODEL_NAME_SIZE);
    const char **names = model_memory(m, n, sizeof *names);
    if (!text || !names) return NULL;
    for (size_t i = 0; i < n; i++) {
        names[i] = text + i * MODEL_NAME_SIZE;
        name(m, (int)i, text + i * MODEL_NAME_SIZE);
    }
    return names;
}

/* order[] := a stable sort of order_in[] by key[order_in[k]]; start has n + 1 counters, which
 * become the running starts of the keys. */
static void sort_by(int n, int count, const int *key, const int *order_in, int *order, int *start)
{
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (int k = 0; k < count; k++) start[key[k] + 1]++;
    for (int j = 0; j < n; j++) start[j + 1] += start[j];
    for (int k = 0; k < count; k++) {
        int entry = order_in ? order_in[k] : k;
        order[start[key[entry]]++] = entry;
    }
}

const int *model_pattern(model *m, int count, const int *row, const int *col)
{
    int n = m->form.n;
    int *colptr = model_memory(m, (size_t)n + 1, sizeof(int));
    int *rowind = model_memory(m, (size_t)count, sizeof(int));
    int *slot = model_memory(m, (size_t)count, sizeof(int));
    int *by_row = malloc(((size_t)count + 1) * sizeof(int));
    int *by_col = malloc(((size_t)count + 1) * sizeof(int));
    bool ok = colptr && rowind && slot && by_row && by_col;
    if (ok) {
        sort_by(n, count, row, NULL, by_row, colptr);
        sort_by(n, count, col, by_row, by_col, colptr);
        /* the running starts have moved to the ends of their columns: shift them back */
        for (int j = n; j > 0; j--) colptr[j] = colptr[j - 1];
        colptr[0] = 0;
        for (int k = 0; k < count; k++) {
            rowind[k] = row[by_col[k]];
            slot[by_col[k]] = k;
        }
        m->form.structure = DAE_STRUCTURE_SPARSE;
        m->form.colptr = colptr;
        m->form.rowind = rowind;
    }
    free(by_row);
    free(by_col);
    return ok ? slot : NULL;
}
