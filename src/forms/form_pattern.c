/* Sparsity patterns of the residual forms, from those of their parts. */
#include "base/grouping.h"
#include "base/memory.h"
#include "forms/form_residual.h"

/* A pattern that grows column by column; every row once a column. */
typedef struct builder {
    int n;
    int *mark; /* column + 1 that has the row already; owned */
    int *colptr, *rowind;
    int count, room, column;
    bool failed;
} builder;

static void add(builder *b, int row)
{
    if (b->failed || b->mark[row] == b->column + 1) return;
    b->mark[row] = b->column + 1;
    if (b->count == b->room) {
        int room = 2 * b->room + 64;
        int *more = DAE_ARRAY(int, room);
        for (int k = 0; more && k < b->count; k++) more[k] = b->rowind[k];
        dae_free(b->rowind);
        b->rowind = more;
        b->room = room;
        b->failed = !more;
        if (b->failed) return;
    }
    b->rowind[b->count++] = row;
}

/* Column j of a part, its rows moved by `first`. */
static void add_column(builder *b, const dae_pattern *p, int j, int first)
{
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) add(b, first + p->rowind[k]);
}

/* Insertion sort: columns are short. */
static void sort_column(builder *b)
{
    int first = b->colptr[b->column];
    for (int k = first + 1; k < b->count; k++) {
        int row = b->rowind[k], i = k;
        for (; i > first && b->rowind[i - 1] > row; i--) b->rowind[i] = b->rowind[i - 1];
        b->rowind[i] = row;
    }
}

static void end_column(builder *b)
{
    if (b->failed) return;
    sort_column(b);
    b->colptr[++b->column] = b->count;
}

/* G by rows. */
static bool transpose(const dae_pattern *p, int rows, int columns, form_pattern *t)
{
    t->colptr = DAE_ARRAY(int, rows + 1);
    t->rowind = DAE_ARRAY(int, p->colptr[columns]);
    if (!t->colptr || !t->rowind) return false;
    pattern_transpose(rows, columns, p->colptr, p->rowind, t->colptr, t->rowind);
    return true;
}

/* ---- mechanical ---- */

static void mechanical_columns(builder *b, const form_source *s, const form_rewriting *how,
                               const form_pattern *by_rows)
{
    const dae_mechanical *m = &s->as.m;
    const dae_pattern *G = &m->gradient_pattern;
    const dae_pattern mass =
        s->mass.colptr ? (dae_pattern){s->mass.colptr, s->mass.rowind} : m->mass_pattern;
    int n = m->nq, constraints = 2 * n, l = m->nlambda;
    bool ggl = how->added > 0, velocity = !how->as_given && !ggl;
    for (int j = 0; j < n; j++) { /* q: also d(G' lambda)/dq, variables of one constraint */
        add(b, j);
        add_column(b, &m->force_q_pattern, j, n);
        for (int k = G->colptr[j]; k < G->colptr[j + 1]; k++) {
            int i = G->rowind[k];
            add(b, constraints + i);
            if (ggl) add(b, constraints + l + i);
            for (int c = by_rows->colptr[i]; c < by_rows->colptr[i + 1]; c++) {
                add(b, n + by_rows->rowind[c]);
                if (ggl) add(b, by_rows->rowind[c]);
            }
        }
        end_column(b);
    }
    for (int j = 0; j < n; j++) { /* v */
        add(b, j);
        add_column(b, &mass, j, n);
        add_column(b, &m->force_v_pattern, j, n);
        if (velocity) add_column(b, G, j, constraints);
        if (ggl) add_column(b, G, j, constraints + l);
        end_column(b);
    }
    const dae_pattern rows = {by_rows->colptr, by_rows->rowind};
    for (int i = 0; i < l; i++) { /* lambda */
        add_column(b, &rows, i, n);
        end_column(b);
    }
    for (int i = 0; ggl && i < l; i++) { /* mu */
        add_column(b, &rows, i, 0);
        end_column(b);
    }
}

/* The pattern of M v' by q is not known unless M is constant. */
static bool mechanical_known(const form_source *s)
{
    const dae_mechanical *m = &s->as.m;
    bool constant = m->mass_constant || (!m->mass && !m->all);
    return constant && !s->full && (s->mass.colptr || m->mass_pattern.colptr) &&
           m->force_q_pattern.colptr && m->force_v_pattern.colptr && m->gradient_pattern.colptr;
}

/* ---- Hessenberg and quasilinear ---- */

static bool hessenberg_known(const dae_hessenberg *h)
{
    bool with_u = !h->nu || (h->f_u_pattern.colptr && h->k_y_pattern.colptr &&
                             h->k_u_pattern.colptr && (!h->nz || h->k_z_pattern.colptr));
    bool with_z = !h->nz || (h->g_y_pattern.colptr && h->f_z_pattern.colptr);
    return h->f_y_pattern.colptr && with_z && with_u;
}

static void hessenberg_columns(builder *b, const dae_hessenberg *h)
{
    int constraints = h->ny, closing = h->ny + h->nz;
    for (int j = 0; j < h->ny; j++) {
        add(b, j);
        add_column(b, &h->f_y_pattern, j, 0);
        if (h->nz) add_column(b, &h->g_y_pattern, j, constraints);
        if (h->nu) add_column(b, &h->k_y_pattern, j, closing);
        end_column(b);
    }
    for (int j = 0; j < h->nz; j++) {
        add_column(b, &h->f_z_pattern, j, 0);
        if (h->nu) add_column(b, &h->k_z_pattern, j, closing);
        end_column(b);
    }
    for (int j = 0; j < h->nu; j++) {
        add_column(b, &h->f_u_pattern, j, 0);
        add_column(b, &h->k_u_pattern, j, closing);
        end_column(b);
    }
}

static bool quasilinear_known(const dae_quasilinear *x)
{
    bool E = !x->E || (x->E_constant && x->E_pattern.colptr);
    return E && x->f_x_pattern.colptr && (x->ne == x->n || x->g_x_pattern.colptr);
}

static void quasilinear_columns(builder *b, const form_source *s)
{
    const dae_quasilinear *x = &s->as.x;
    for (int j = 0; j < x->n; j++) {
        if (x->E)
            add_column(b, &x->E_pattern, j, 0);
        else
            add(b, j);
        add_column(b, &x->f_x_pattern, j, 0);
        if (x->ne < x->n) add_column(b, &x->g_x_pattern, j, x->ne);
        end_column(b);
    }
}

static bool known(const form_source *s)
{
    switch (s->kind) {
    case KIND_MECHANICAL: return mechanical_known(s);
    case KIND_HESSENBERG: return hessenberg_known(&s->as.h);
    case KIND_QUASILINEAR: return quasilinear_known(&s->as.x);
    case KIND_SECOND_ORDER:
    case FORM_KINDS: break;
    }
    return false;
}

bool form_residual_pattern(const form_source *s, const form_rewriting *how, int n,
                           form_pattern *pattern)
{
    *pattern = (form_pattern){0};
    if (s->kind == KIND_SECOND_ORDER) return higher_pattern(&s->as.s, n, pattern);
    if (!how->patterned || !known(s)) return true;
    builder b = {.n = n, .mark = DAE_ARRAY(int, n), .colptr = DAE_ARRAY(int, n + 1)};
    form_pattern by_rows = {0};
    b.failed = !b.mark || !b.colptr;
    if (s->kind == KIND_MECHANICAL)
        b.failed = !transpose(&s->as.m.gradient_pattern, s->as.m.nlambda, s->as.m.nq, &by_rows) ||
                   b.failed;
    if (!b.failed) {
        switch (s->kind) {
        case KIND_MECHANICAL: mechanical_columns(&b, s, how, &by_rows); break;
        case KIND_HESSENBERG: hessenberg_columns(&b, &s->as.h); break;
        case KIND_QUASILINEAR: quasilinear_columns(&b, s); break;
        case KIND_SECOND_ORDER:
        case FORM_KINDS: break;
        }
    }
    dae_free_all(b.mark, by_rows.colptr, by_rows.rowind);
    *pattern = (form_pattern){b.colptr, b.rowind};
    return !b.failed;
}
