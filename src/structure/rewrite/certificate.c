#include "structure/rewrite/certificate.h"

#include "base/memory.h"
#include "base/vector.h"
#include "expr/derive.h"

/* ---- the system Jacobian as expressions and as code -------------------------------------------
 */

enum { CODE_ORDERS = 3 }; /* the highest derivative that code can read */

/* x_j^(p), p > 3, is the third derivative of variable j + n (p - 3) to the code. */
static expr leaf_for_code(void *context, graph *g, expr leaf)
{
    const expr_node *node = graph_node(g, leaf);
    const int n = *(const int *)context;
    if (node->op != EXPR_VARIABLE || node->order <= CODE_ORDERS) return leaf;
    return graph_variable(g, node->index + n * (node->order - CODE_ORDERS), CODE_ORDERS);
}

/* What the entries read. */
typedef struct demand {
    int orders, parameters;
} demand;

static void note_leaf(void *context, const expr_node *node)
{
    demand *d = context;
    if (node->op == EXPR_VARIABLE && node->order > d->orders) d->orders = node->order;
    if (node->op == EXPR_PARAMETER && node->index >= d->parameters) d->parameters = node->index + 1;
}

/* Entries as code; high derivatives renumbered where there are any. */
static bool compile_entries(system_jacobian *J, graph *g)
{
    const size_t count = (size_t)J->start[J->n];
    demand d = {0};
    expr *readable = dae_copy(J->entry, count, sizeof *J->entry);
    bool ok = readable && graph_leaves(g, J->entry, count, note_leaf, &d);
    J->orders = d.orders;
    J->parameters = d.parameters;
    for (size_t k = 0; ok && d.orders > CODE_ORDERS && k < count; k++)
        readable[k] = graph_substitute(g, J->entry[k], leaf_for_code, &J->n);
    ok = ok && !graph_failed(g) && code_new(&J->code, g, readable, count);
    dae_free(readable);
    J->value = DAE_ARRAY(double, count);
    return ok && J->value;
}

/* Whether a leaf is of the order that the system Jacobian looks at, x_j^(d_j - c_i). */
static bool is_leading(const graph *g, const structure *s, int i, expr leaf)
{
    const expr_node *node = graph_node(g, leaf);
    return node->op == EXPR_VARIABLE && node->order == s->d[node->index] - s->c[i];
}

/* Append the entries of row i, columns increasing. */
static void append_row(system_jacobian *J, const graph *g, const structure *s, int i,
                       const gradient *row)
{
    int end = J->start[i];
    for (size_t k = 0; k < row->count; k++) {
        if (!is_leading(g, s, i, row->leaf[k])) continue;
        int column = graph_node(g, row->leaf[k])->index, at = end++;
        for (; at > J->start[i] && J->column[at - 1] > column; at--) {
            J->column[at] = J->column[at - 1];
            J->entry[at] = J->entry[at - 1];
        }
        J->column[at] = column;
        J->entry[at] = row->derivative[k];
    }
    J->start[i + 1] = end;
}

bool system_jacobian_new(system_jacobian *J, const equation_set *set, const structure *s)
{
    graph *g = set->graph;
    const int n = set->n;
    gradient row = {0};
    *J = (system_jacobian){.n = n};
    J->start = DAE_ARRAY(int, n + 1);
    J->column = DAE_ARRAY(int, s->sigma.start[n]);
    J->entry = DAE_ARRAY(expr, s->sigma.start[n]);
    bool ok = J->start && J->column && J->entry;
    for (int i = 0; ok && i < n; i++) {
        ok = derive_gradient(g, set->row[i].residual, &row);
        if (ok) append_row(J, g, s, i, &row);
    }
    gradient_free(&row);
    ok = ok && compile_entries(J, g);
    if (!ok) system_jacobian_free(J);
    return ok;
}

void system_jacobian_free(system_jacobian *J)
{
    dae_free_all(J->start, J->column, J->entry, J->value);
    if (J->code.tape) code_free(&J->code);
    *J = (system_jacobian){0};
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int block_size(const structure *s, int b)
{
    return s->blocks.start[b + 1] - s->blocks.start[b];
}

/* Call body(i, j, k) for the entries of block b: local row i, local column j, entry k of J. */
#define FOR_BLOCK_ENTRIES(J, s, place, b, i, j, k)                                                 \
    for (int i = 0; i < block_size(s, b); i++)                                                     \
        for (int k = (J)->start[(s)->blocks.rows[(s)->blocks.start[b] + i]], j;                    \
             k < (J)->start[(s)->blocks.rows[(s)->blocks.start[b] + i] + 1]; k++)                  \
            if ((s)->blocks.of_column[(J)->column[k]] == (b) &&                                    \
                ((j = (place)[(J)->column[k]]), true))

/* Entries per column, then where each column starts; a diagonal that is missing is added. */
static int *block_columns(const system_jacobian *J, const structure *s, const int *place, int b)
{
    const int n = block_size(s, b);
    int *start = DAE_ARRAY(int, n + 1);
    bool *diagonal = DAE_ARRAY(bool, n);
    if (start && diagonal) {
        FOR_BLOCK_ENTRIES(J, s, place, b, i, j, k)
        {
            start[j + 1]++;
            if (i == j) diagonal[j] = true;
        }
        for (int j = 0; j < n; j++) start[j + 1] += start[j] + !diagonal[j];
    } else {
        dae_free(start);
        start = NULL;
    }
    dae_free(diagonal);
    return start;
}

/* Row numbers by columns, rows increasing since they come in that order. */
static void fill_rows(const system_jacobian *J, const structure *s, const int *place, int b,
                      int *next, int *rows, const double *value, double *values)
{
    const int n = block_size(s, b);
    for (int i = 0; i < n; i++) {
        const int row = s->blocks.rows[s->blocks.start[b] + i];
        bool diagonal = false;
        for (int k = J->start[row]; k < J->start[row + 1]; k++) {
            if (s->blocks.of_column[J->column[k]] != b) continue;
            const int j = place[J->column[k]];
            diagonal = diagonal || i == j;
            if (value) values[next[j]] = value[k];
            rows[next[j]++] = i;
        }
        if (!diagonal) rows[next[i]++] = i;
    }
}

/* The diagonal block b of the entries' values (in J's order) by columns, and its values; false:
 * memory. */
static bool block_matrix(const system_jacobian *J, const structure *s, const int *place, int b,
                         const double *value, matrix_layout *layout, double **values)
{
    const int n = block_size(s, b);
    int *start = block_columns(J, s, place, b);
    int *next = start ? dae_copy(start, (size_t)n + 1, sizeof *start) : NULL;
    int *rows = start ? DAE_ARRAY(int, start[n]) : NULL;
    *layout = (matrix_layout){0};
    *values = start ? DAE_ARRAY(double, start[n]) : NULL;
    bool ok = next && rows && *values;
    if (ok) {
        fill_rows(J, s, place, b, next, rows, value, *values);
        ok = layout_sparse(layout, n, start, rows);
    }
    if (!ok) {
        dae_free(*values);
        *values = NULL;
    }
    dae_free_all(start, next, rows);
    return ok;
}

static size_t block_entries(const system_jacobian *J, const structure *s, const int *place, int b)
{
    size_t count = 0;
    FOR_BLOCK_ENTRIES(J, s, place, b, i, j, k)
    {
        (void)j;
        count++;
    }
    return count;
}

/* ---- a watch -------------------------------------------------------------------------------- */

/* Sparse solvers for the large blocks, and the size of the largest dense one. */
static bool watch_blocks(certify_watch *w, int *largest)
{
    const system_jacobian *J = w->jacobian;
    const structure *s = w->structure;
    *largest = 1;
    w->sparse = DAE_ARRAY(watched_block, s->blocks.count);
    for (int b = 0; w->sparse && b < s->blocks.count; b++) {
        const int n = block_size(s, b);
        if (rank_is_dense(n, block_entries(J, s, w->place, b))) {
            if (n > *largest) *largest = n;
            continue;
        }
        watched_block *big = &w->sparse[w->sparse_count++];
        big->block = b;
        if (!block_matrix(J, s, w->place, b, NULL, &big->layout, &big->values)) return false;
        big->solver = linear_sparse.analyse(&big->layout, NULL);
        if (!big->solver) return false;
    }
    return w->sparse != NULL;
}

/* Position of each column within its block. */
static void number_columns(const block_form *blocks, int *place)
{
    for (int b = 0; b < blocks->count; b++)
        for (int k = blocks->start[b]; k < blocks->start[b + 1]; k++)
            place[blocks->columns[k]] = k - blocks->start[b];
}

static bool watch_arrays(certify_watch *w)
{
    const system_jacobian *J = w->jacobian;
    const size_t n = (size_t)J->n, entries = (size_t)J->start[J->n];
    const size_t high = J->orders > CODE_ORDERS ? (size_t)(J->orders - CODE_ORDERS + 1) : 0;
    return SHARED_BLOCK(
        SHARE(w->place, n), SHARE(w->value, entries), SHARE(w->moved, entries),
        SHARE(w->row_scale, n), SHARE(w->column_scale, n), SHARE(w->row_most, n),
        SHARE(w->column_most, n), SHARE(w->tape, J->code.work_size),
        SHARE(w->moved_tape, J->code.work_size), SHARE(w->x, n * (size_t)(J->orders + 1)),
        SHARE(w->parameters, J->parameters), SHARE(w->high, n * high), SHARE(w->missing, n));
}

bool certify_watch_new(certify_watch *w, const system_jacobian *J, const structure *s,
                       double tolerance)
{
    int largest = 1;
    *w = (certify_watch){.jacobian = J, .structure = s, .tolerance = tolerance, .block = -1};
    bool ok = watch_arrays(w);
    if (ok) {
        for (int j = 0; j < J->n; j++) w->missing[j] = NAN;
        number_columns(&s->blocks, w->place);
        ok = watch_blocks(w, &largest) && rank_work_new(&w->rank, largest) &&
             matched_scale_new(&w->matched, J->n, J->start[J->n]);
    }
    w->dense = DAE_ARRAY(double, (size_t)largest *(size_t)largest);
    ok = ok && w->dense;
    if (!ok) certify_watch_free(w);
    return ok;
}

void certify_watch_free(certify_watch *w)
{
    dae_free_all(w->place, w->dense);
    for (int k = 0; k < w->sparse_count; k++) {
        linear_free(w->sparse[k].solver);
        layout_free(&w->sparse[k].layout);
        dae_free(w->sparse[k].values);
    }
    dae_free(w->sparse);
    rank_work_free(&w->rank);
    matched_scale_free(&w->matched);
    *w = (certify_watch){0};
}

/* ---- evaluation ----------------------------------------------------------------------------- */

/* Inputs as code reads them; x gives derivative p, for p <= orders, or NULL. */
static void gather_inputs(certify_watch *w, const equation_point *at, tape_inputs *in)
{
    const int n = w->jacobian->n;
    *in = (tape_inputs){.time = at->time, .parameters = at->parameters, .memory = at->memory};
    for (int p = 0; p <= CODE_ORDERS; p++)
        in->values[p] = p <= at->orders && at->x[p] ? at->x[p] : w->missing;
    if (w->jacobian->orders <= CODE_ORDERS) return;
    for (int p = CODE_ORDERS; p <= w->jacobian->orders; p++) {
        const double *x = p <= at->orders && at->x[p] ? at->x[p] : w->missing;
        vector_copy(n, x, w->high + (size_t)n * (size_t)(p - CODE_ORDERS));
    }
    in->values[CODE_ORDERS] = w->high;
}

static void evaluate(certify_watch *w, const equation_point *at, double *work, double *value)
{
    tape_inputs in;
    gather_inputs(w, at, &in);
    tape_prepare(w->jacobian->code.tape, &in, work);
    tape_run(w->jacobian->code.tape, &in, work, value);
}

/* y_i = x_i (1 + e_i), |e_i| = size: signs and sizes as a linear congruence gives them */
static void move(int n, const double *x, double size, unsigned *state, double *y)
{
    for (int i = 0; i < n; i++) {
        *state = (*state * 1664525u + 1013904223u) & 0xffffffffu;
        double e = *state & 0x80000000u ? size : -size;
        y[i] = x[i] * (1.0 + e * (0.5 + (*state & 0xffffu) / 131072.0));
    }
}

/* Entries at a point whose coordinates differ from the given one relatively by the tolerance. */
static void evaluate_beside(certify_watch *w, const equation_point *at)
{
    const system_jacobian *J = w->jacobian;
    const double *x[256];
    unsigned state = 1u;
    equation_point beside = *at;
    for (int p = 0; p <= at->orders && p <= J->orders; p++) {
        x[p] = NULL;
        if (!at->x[p]) continue;
        double *moved = w->x + (size_t)p * (size_t)J->n;
        move(J->n, at->x[p], w->tolerance, &state, moved);
        x[p] = moved;
    }
    beside.x = x;
    if (beside.orders > J->orders) beside.orders = J->orders;
    if (at->parameters) move(J->parameters, at->parameters, w->tolerance, &state, w->parameters);
    beside.parameters = w->parameters;
    beside.time = at->time * (1.0 + w->tolerance);
    evaluate(w, &beside, w->moved_tape, w->moved);
}

/* Entries that do not survive a relative change of their inputs are zeros spoilt by rounding. */
static void drop_noise(certify_watch *w)
{
    const int entries = w->jacobian->start[w->jacobian->n];
    for (int k = 0; k < entries; k++) {
        double a = w->value[k], b = w->moved[k];
        if (isfinite(b) && fabs(a - b) > 0.5 * fmax(fabs(a), fabs(b))) w->value[k] = 0.0;
    }
}

/* ---- scaling -------------------------------------------------------------------------------- */

/* Equilibrate block b in the maximum norm by powers of two [Rui01]. */
static void scale_block(certify_watch *w, int b)
{
    const structure *s = w->structure;
    const int n = block_size(s, b), sweeps = 12;
    double *r = w->row_scale, *c = w->column_scale;
    for (int i = 0; i < n; i++) r[i] = c[i] = 1.0;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        bool settled = true;
        vector_zero(n, w->row_most);
        vector_zero(n, w->column_most);
        FOR_BLOCK_ENTRIES(w->jacobian, s, w->place, b, i, j, k)
        {
            double size = r[i] * fabs(w->value[k]) * c[j];
            if (size > w->row_most[i]) w->row_most[i] = size;
            if (size > w->column_most[j]) w->column_most[j] = size;
        }
        for (int i = 0; i < n; i++) {
            double row = rank_half_scale(w->row_most[i]),
                   column = rank_half_scale(w->column_most[i]);
            r[i] *= row;
            c[i] *= column;
            settled = settled && row == 1.0 && column == 1.0;
        }
        if (settled) return;
    }
}

/* Scale block b by a matching; false: it has none. */
static bool scale_by_matching(certify_watch *w, int b)
{
    matched_scale_begin(&w->matched, block_size(w->structure, b));
    FOR_BLOCK_ENTRIES(w->jacobian, w->structure, w->place, b, i, j, k)
    {
        matched_scale_add(&w->matched, i, j, w->value[k]);
    }
    return matched_scale_end(&w->matched, w->row_scale, w->column_scale);
}

/* ---- blocks one by one ------------------------------------------------------------------------
 */

static int check_dense(certify_watch *w, int b, double *condition)
{
    const int n = block_size(w->structure, b);
    memset(w->dense, 0, (size_t)n * (size_t)n * sizeof *w->dense);
    FOR_BLOCK_ENTRIES(w->jacobian, w->structure, w->place, b, i, j, k)
    {
        w->dense[(size_t)i + (size_t)j * (size_t)n] =
            w->row_scale[i] * w->value[k] * w->column_scale[j];
    }
    return n - rank_dense(&w->rank, n, w->dense, w->tolerance, condition);
}

static int check_single(const certify_watch *w, int b, double *condition)
{
    bool regular = false;
    FOR_BLOCK_ENTRIES(w->jacobian, w->structure, w->place, b, i, j, k)
    {
        (void)j;
        regular = w->value[k] != 0.0;
    }
    *condition = regular ? 1.0 : 0.0;
    return !regular;
}

/* Values of a large block, scaled, in its layout's order. */
static void fill_sparse(const certify_watch *w, watched_block *big)
{
    memset(big->values, 0, big->layout.count * sizeof *big->values);
    FOR_BLOCK_ENTRIES(w->jacobian, w->structure, w->place, big->block, i, j, k)
    {
        big->values[layout_place(&big->layout, i, j)] =
            w->row_scale[i] * w->value[k] * w->column_scale[j];
    }
}

/* 1 if singular; the true defect is found by those who ask for null vectors. */
static int check_sparse(certify_watch *w, watched_block *big, double *condition)
{
    fill_sparse(w, big);
    *condition = 0.0;
    if (linear_factor(big->solver, big->values) == LINEAR_OK)
        *condition = big->solver->ops->condition(big->solver);
    return *condition < w->tolerance;
}

static int check_scaled(certify_watch *w, int b, watched_block *big, double *condition)
{
    return big ? check_sparse(w, big, condition) : check_dense(w, b, condition);
}

/* The defect of block b. One that seems to be singular is looked at in another scaling, which costs
 * more: equations that are chained by entries 1 hide what is small beside them. */
static int check_block(certify_watch *w, int b, int *next_sparse, double *condition)
{
    if (block_size(w->structure, b) == 1) return check_single(w, b, condition);
    bool sparse = *next_sparse < w->sparse_count && w->sparse[*next_sparse].block == b;
    watched_block *big = sparse ? &w->sparse[(*next_sparse)++] : NULL;
    scale_block(w, b);
    int defect = check_scaled(w, b, big, condition);
    if (defect == 0 || !scale_by_matching(w, b)) return defect;
    double matched = 0.0;
    if (check_scaled(w, b, big, &matched) > 0) return defect;
    *condition = matched;
    return 0;
}

/* The first block with an entry that is not finite, or -1. */
static int nonfinite_block(const certify_watch *w)
{
    const system_jacobian *J = w->jacobian;
    for (int i = 0; i < J->n; i++)
        for (int k = J->start[i]; k < J->start[i + 1]; k++)
            if (!isfinite(w->value[k])) return w->structure->blocks.of_row[i];
    return -1;
}

/* Note a block's result: the first singular one, else the worst. */
static void note_block(certify_watch *w, int b, int defect, double condition)
{
    bool first = defect > 0 && w->deficiency == 0;
    bool worse = w->deficiency == 0 && condition < w->condition;
    if (w->block >= 0 && !first && !worse) return;
    w->block = b;
    w->deficiency = defect;
    w->condition = condition;
}

bool certify_watch_check(certify_watch *w, const equation_point *at, int *deficient)
{
    int next_sparse = 0;
    w->condition = 1.0;
    w->deficiency = 0;
    w->block = -1;
    evaluate(w, at, w->tape, w->value);
    w->finite = vector_finite(w->jacobian->start[w->jacobian->n], w->value);
    if (!w->finite) {
        w->block = nonfinite_block(w);
        w->condition = 0.0;
        return false;
    }
    evaluate_beside(w, at);
    drop_noise(w);
    for (int b = 0; b < w->structure->blocks.count; b++) {
        double condition = 1.0;
        int defect = check_block(w, b, &next_sparse, &condition);
        if (deficient) deficient[b] = defect;
        note_block(w, b, defect, condition);
    }
    return w->deficiency == 0;
}

/* ---- the certificate --------------------------------------------------------------------------
 */

/* Components above this part of the largest belong to a null vector; smaller ones are rounding. */
static const double SIGNIFICANT = 1e-6;

static int support(int n, const double *v)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += fabs(v[i]) > SIGNIFICANT;
    return count;
}

/* The vector with the fewest significant components says most. */
static const double *sparsest(int n, int count, const double *vectors)
{
    const double *best = vectors;
    for (int k = 1; k < count; k++) {
        const double *v = vectors + (size_t)k * (size_t)n;
        if (support(n, v) < support(n, best)) best = v;
    }
    return best;
}

/* names[k] of the significant components, or of all without a vector; count in *found */
static int *significant(int n, const double *v, const int *names, int *found)
{
    int *list = DAE_ARRAY(int, n);
    *found = 0;
    for (int i = 0; list && i < n; i++)
        if (!v || fabs(v[i]) > SIGNIFICANT) list[(*found)++] = names[i];
    return list;
}

bool system_jacobian_null(const system_jacobian *J, const structure *s, const int *place, int b,
                          const double *value, double tolerance, int most, null_space *null,
                          double *scale)
{
    matrix_layout layout;
    double *values;
    const int n = block_size(s, b);
    *null = (null_space){0};
    double *work = DAE_ARRAY(double, 4 * (size_t)n);
    bool made = work && block_matrix(J, s, place, b, value, &layout, &values);
    bool ok = made;
    if (made) {
        rank_equilibrate(&layout, values, work, work + n, work + 2 * (size_t)n);
        ok = null_space_new(null, &layout, values, tolerance, most);
        if (scale) vector_copy(2 * n, work, scale);
        layout_free(&layout);
        dae_free(values);
    }
    dae_free(work);
    return ok;
}

/* Rows and columns of the singular block, from its null vectors. */
static bool name_singular(certify_watch *w, certificate *result)
{
    const block_form *blocks = &w->structure->blocks;
    const int b = w->block, n = block_size(w->structure, b), most = 8;
    null_space null;
    bool ok = system_jacobian_null(w->jacobian, w->structure, w->place, b, w->value, w->tolerance,
                                   most, &null, NULL);
    if (ok) {
        if (null.count > result->deficiency) result->deficiency = null.count;
        const double *left = null.count ? sparsest(n, null.count, null.left) : NULL;
        const double *right = null.count ? sparsest(n, null.count, null.right) : NULL;
        result->row = significant(n, left, blocks->rows + blocks->start[b], &result->row_count);
        result->column =
            significant(n, right, blocks->columns + blocks->start[b], &result->column_count);
        ok = result->row && result->column;
    }
    null_space_free(&null);
    return ok;
}

/* Rows and columns of entries that are not finite. */
static bool name_nonfinite(certify_watch *w, certificate *result)
{
    const system_jacobian *J = w->jacobian;
    const int n = J->n;
    vector_zero(n, w->row_scale);
    vector_zero(n, w->column_scale);
    for (int i = 0; i < n; i++)
        for (int k = J->start[i]; k < J->start[i + 1]; k++)
            if (!isfinite(w->value[k])) w->row_scale[i] = w->column_scale[J->column[k]] = 1.0;
    int *all = DAE_ARRAY(int, n);
    for (int i = 0; all && i < n; i++) all[i] = i;
    if (all) {
        result->row = significant(n, w->row_scale, all, &result->row_count);
        result->column = significant(n, w->column_scale, all, &result->column_count);
    }
    dae_free(all);
    return result->row && result->column;
}

bool certify(const system_jacobian *J, const structure *s, const equation_point *at,
             double tolerance, certificate *result)
{
    certify_watch w;
    *result = (certificate){.block = -1};
    if (!certify_watch_new(&w, J, s, tolerance)) return false;
    result->valid = certify_watch_check(&w, at, NULL);
    result->finite = w.finite;
    result->block = w.block;
    result->deficiency = w.deficiency;
    result->condition = w.condition;
    vector_copy(J->start[J->n], w.value, J->value);
    bool ok = result->valid || (w.finite ? name_singular(&w, result) : name_nonfinite(&w, result));
    certify_watch_free(&w);
    if (!ok) certificate_free(result);
    return ok;
}

void certificate_free(certificate *c)
{
    dae_free_all(c->row, c->column);
    *c = (certificate){0};
}
