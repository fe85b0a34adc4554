/* The mechanical form as y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u): y = (q, v, r), z =
 * lambda, u = (w, s), with the constraints at velocity level. g knows s by solving for it. */
#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

static const dae_mechanical *form_of(const form_instance *x)
{
    return &x->source->as.m;
}

/* Forces are asked at this point from now on; z and u NULL: none are. */
static void look_at(form_instance *x, const double *y, const double *z, const double *u)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    if (!x->source->full) return;
    b->r = y + 2 * form->nq;
    b->lambda = z ? z : b->zero;
    b->w = u ? u : b->zero;
    if (!u || form->ns == 0) return;
    b->s_known = false;
    vector_copy(form->ns, u + form->nw, b->s);
}

static eval_status factor_mass(form_instance *x, double t)
{
    linear_status factored = form_solver_factor(&x->mw.mass, x->mw.M);
    if (factored == LINEAR_MEMORY) return EVAL_MEMORY;
    return factored == LINEAR_OK ? EVAL_OK : form_singular(x, t);
}

eval_status mechanical_acceleration(form_instance *x, double t, const double *q, const double *v,
                                    const double *lambda, double *a)
{
    const mechanical_form *m = &x->mechanical;
    mechanical_work *w = &x->mw;
    bool have_factors = w->mass.factored && m->M_matrix.constant;
    eval_status status =
        m->evaluate(m->context, t, q, v, have_factors ? NULL : w->M, w->f, w->G, NULL, NULL);
    if (status != EVAL_OK) return status;
    vector_copy(m->nq, w->f, a);
    form_matrix_transposed(&m->G_matrix, w->G, -1.0, lambda, a);
    status = factor_mass(x, t);
    if (status != EVAL_OK) return status;
    linear_solve(w->mass.solver, a);
    return vector_finite(m->nq, a) ? EVAL_OK : form_singular(x, t);
}

static eval_status eval_f(void *context, double t, const double *y, const double *z,
                          const double *u, double *f)
{
    form_instance *x = context;
    int n = form_of(x)->nq;
    const double *v = y + n;
    look_at(x, y, z, u);
    eval_status status = mechanical_acceleration(x, t, y, v, z, f + n);
    if (status == EVAL_OK) status = multibody_dynamics(x, t, y, v, f + 2 * n);
    vector_copy(n, v, f);
    return status;
}

static eval_status eval_g(void *context, double t, const double *y, double *g)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    if (m->nl == 0) return EVAL_OK;
    look_at(x, y, NULL, NULL);
    eval_status status = m->evaluate(x, t, y, y + m->nq, NULL, NULL, x->mw.G, g, NULL);
    if (status == EVAL_OK) form_matrix_multiply(&m->G_matrix, x->mw.G, 1.0, y + m->nq, g);
    return status;
}

/* [d(G v + g_t)/dq, G, 0] */
static eval_status eval_g_y(void *context, double t, const double *y, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    size_t count = m->G_matrix.count;
    if (m->nl == 0) return EVAL_OK;
    look_at(x, y, NULL, NULL);
    eval_status status = mechanical_velocity_jacobian(x, t, y, y + m->nq, values);
    if (status == EVAL_OK)
        status = m->evaluate(x, t, y, y + m->nq, NULL, NULL, values + count, NULL, NULL);
    for (size_t k = 2 * count; k < x->hessenberg.g_y_matrix.count; k++) values[k] = 0.0;
    return status;
}

static eval_status eval_g_t(void *context, double t, const double *y, double *g_t)
{
    form_instance *x = context;
    vector_zero(x->mechanical.nl, g_t);
    if (form_of(x)->scleronomic || x->mechanical.nl == 0) return EVAL_OK;
    look_at(x, y, NULL, NULL);
    return mechanical_velocity_rate(x, t, y, y + form_of(x)->nq, g_t);
}

/* f_z = [0; -M^-1 G'], dense */
static eval_status exact_f_z(void *context, double t, const double *y, const double *z,
                             const double *u, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    mechanical_work *w = &x->mw;
    const form_matrix *G = &m->G_matrix;
    size_t height = 2 * (size_t)m->nq; /* without r: it is no full form */
    (void)z, (void)u;
    bool have_factors = w->mass.factored && m->M_matrix.constant;
    eval_status status = m->evaluate(m->context, t, y, y + m->nq, have_factors ? NULL : w->M, NULL,
                                     w->G, NULL, NULL);
    if (status != EVAL_OK) return status;
    status = factor_mass(x, t);
    if (status != EVAL_OK) return status;
    memset(values, 0, height * (size_t)m->nl * sizeof *values);
    for (form_entry e = {0}; form_matrix_next(G, &e);)
        values[(size_t)(m->nq + e.column) + (size_t)e.row * height] = -w->G[e.at];
    for (int i = 0; i < m->nl; i++)
        linear_solve(w->mass.solver, values + (size_t)m->nq + (size_t)i * height);
    return EVAL_OK;
}

static eval_status f_by_z(void *context, double t, const double *z, double *f)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return eval_f(x, t, x->hw.y, z, x->hw.u, f);
}

static eval_status eval_f_z(void *context, double t, const double *y, const double *z,
                            const double *u, double *values)
{
    form_instance *x = context;
    x->hw.y = y;
    x->hw.u = u;
    return difference_matrix(&x->hw.f_z, &x->hessenberg.f_z_matrix, f_by_z, x, t, z, NULL, values);
}

/* (auxiliary, contact) */
static eval_status eval_k(void *context, double t, const double *y, const double *z,
                          const double *u, double *k)
{
    form_instance *x = context;
    const dae_mechanical *form = form_of(x);
    look_at(x, y, z, u);
    eval_status status = multibody_auxiliary(x, t, y, y + form->nq, k);
    if (status != EVAL_OK || form->ns == 0) return status;
    return multibody_contact(x, t, y, u + form->nw, k + form->nw);
}

/* Column by column, a square block within k_u. */
static void put_block(const double *block, int size, int at, int height, double *values)
{
    for (int j = 0; j < size; j++)
        vector_copy(size, block + (size_t)j * (size_t)size,
                    values + (size_t)at + (size_t)(at + j) * (size_t)height);
}

static eval_status eval_k_u(void *context, double t, const double *y, const double *z,
                            const double *u, double *values)
{
    form_instance *x = context;
    const dae_mechanical *form = form_of(x);
    double *block = x->hw.values; /* as large as k_u, see below */
    int nw = form->nw, ns = form->ns;
    look_at(x, y, z, u);
    memset(values, 0, x->hessenberg.k_u_matrix.count * sizeof *values);
    eval_status status = EVAL_OK;
    if (nw > 0) status = multibody_d_w(x, t, y, y + form->nq, block);
    if (nw > 0 && status == EVAL_OK) put_block(block, nw, 0, nw + ns, values);
    if (ns == 0 || status != EVAL_OK) return status;
    status = multibody_h_s(x, t, y, u + nw, block);
    put_block(block, ns, nw, nw + ns, values);
    return status;
}

/* The pattern of G twice, and empty columns for r; dense stays dense. */
static bool gradient_pattern(form_pattern *p, const form_matrix *G, int nr)
{
    if (!G->colptr) return true;
    int n = G->columns, count = G->colptr[n], columns = 2 * n + nr;
    p->colptr = DAE_ARRAY(int, columns + 1);
    p->rowind = DAE_ARRAY(int, 2 * (size_t)count);
    if (!p->colptr || !p->rowind) return false;
    for (int j = 0; j <= n; j++) {
        p->colptr[j] = G->colptr[j];
        p->colptr[n + j] = count + G->colptr[j];
    }
    for (int j = 2 * n; j <= columns; j++) p->colptr[j] = 2 * count;
    for (int k = 0; k < 2 * count; k++) p->rowind[k] = G->rowind[k % count];
    return true;
}

bool mechanical_hessenberg(form_instance *x)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_places p = mechanical_parts(form);
    const form_pattern *g_y = &x->hw.g_y_pattern;
    int ny = p.w, nz = x->mechanical.nl, nu = form->nw + form->ns;
    if (!gradient_pattern(&x->hw.g_y_pattern, &x->mechanical.G_matrix, form->nr)) return false;
    x->hessenberg =
        (hessenberg_form){.ny = ny,
                          .nz = nz,
                          .nu = nu,
                          .context = x,
                          .f = eval_f,
                          .g = eval_g,
                          .g_y = eval_g_y,
                          .g_t = eval_g_t,
                          .f_z = x->source->full ? eval_f_z : exact_f_z,
                          .k = nu > 0 ? eval_k : NULL,
                          .k_u = nu > 0 ? eval_k_u : NULL,
                          .g_y_matrix = form_matrix_on(nz, ny, g_y->colptr, g_y->rowind),
                          .f_z_matrix = form_matrix_dense(ny, nz),
                          .k_u_matrix = form_matrix_dense(nu, nu)};
    x->set.hessenberg_places =
        (form_places){.q = x->places, .lambda = x->places + p.lambda, .v = x->places + p.w};
    return true;
}
