/* Problems from mechanical, second order, Hessenberg, quasilinear and manifold descriptions:
 * checks, then copies. */
#include <limits.h>
#include <math.h>

#include "base/diag.h"
#include "base/sized.h"
#include "forms/forms.h"

#define REJECT(...) return diag_set(diag, DAE_ERR_ARGUMENT, __VA_ARGS__)

/* ---- what all forms share ---- */

static dae_status check_counts(const char *const *names, const int *counts, int count,
                               dae_diag *diag)
{
    long total = 0;
    for (int k = 0; k < count; k++) {
        if (counts[k] < 0) REJECT("%s = %d: it cannot be negative.", names[k], counts[k]);
        total += counts[k];
    }
    if (counts[0] == 0) REJECT("%s = 0: a problem needs at least one unknown.", names[0]);
    if (total > INT_MAX / 4) REJECT("%ld unknowns and constraints are too many.", total);
    if (!problem_fits((int)total))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem of %ld unknowns.",
                        total);
    return DAE_OK;
}

/* A pattern of the given shape: both arrays or none, columns in order, rows increasing. */
static dae_status check_pattern(const dae_pattern *p, const char *name, int rows, int columns,
                                dae_diag *diag)
{
    if (!p->colptr && !p->rowind) return DAE_OK;
    if (!p->colptr || !p->rowind) REJECT("%s: a pattern needs both colptr and rowind.", name);
    if (p->colptr[0] != 0) REJECT("%s: colptr[0] is %d, not 0.", name, p->colptr[0]);
    for (int j = 0; j < columns; j++) {
        if (p->colptr[j + 1] < p->colptr[j]) REJECT("%s: colptr decreases in column %d.", name, j);
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            int row = p->rowind[k];
            if (row < 0 || row >= rows)
                REJECT("%s: row %d in column %d is not within 0 .. %d.", name, row, j, rows - 1);
            if (k > p->colptr[j] && row <= p->rowind[k - 1])
                REJECT("%s: rows must increase within column %d.", name, j);
        }
    }
    return DAE_OK;
}

static dae_status check_sizes(const double *nominal, int n, double time_scale, dae_diag *diag)
{
    for (int i = 0; nominal && i < n; i++)
        if (!(nominal[i] > 0.0) || !isfinite(nominal[i]))
            REJECT("nominal[%d] = %g: a typical size must be positive and finite.", i, nominal[i]);
    if (!(time_scale >= 0.0) || !isfinite(time_scale))
        REJECT("time_scale = %g: it must be positive and finite, or 0 for 1.", time_scale);
    return DAE_OK;
}

/* A callback for `count` values that is there without being needed, or the other way round. */
static dae_status check_callback(bool given, int count, const char *callback, const char *counter,
                                 dae_diag *diag)
{
    if (count > 0 && !given) REJECT("%s = %d, but %s is NULL.", counter, count, callback);
    if (count == 0 && given) REJECT("%s is given, but %s is 0.", callback, counter);
    return DAE_OK;
}

static dae_status check_events(int event_count, dae_event_fn function, dae_diag *diag)
{
    if (event_count < 0) REJECT("event_count = %d: it cannot be negative.", event_count);
    return check_callback(function != NULL, event_count, "event_function", "event_count", diag);
}

/* *copy = the caller's description, of which it may know fewer or more fields. */
static dae_status read_form(const void *form, size_t size, void *copy, size_t known,
                            dae_problem **problem, dae_diag *diag)
{
    diag_clear(diag);
    if (!problem) REJECT("The place for the new problem is NULL.");
    *problem = NULL;
    return sized_read(form, size, copy, known, "problem description", diag);
}

/* The problem of a source, which is taken over; NULL: there was no memory for it. */
static dae_status make_problem(form_source *source, int event_count, const dae_event *events,
                               dae_problem **problem, dae_diag *diag)
{
    if (!source) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem.");
    return form_problem_new(source, event_count, events, problem, diag);
}

/* ---- mechanical ---- */

static dae_status check_mass(const dae_mechanical *m, dae_diag *diag)
{
    if (m->mass_structure < DAE_MASS_AUTO || m->mass_structure > DAE_MASS_SPARSE)
        REJECT("mass_structure = %d is not a dae_mass.", (int)m->mass_structure);
    bool pattern = m->mass_pattern.colptr || m->mass_pattern.rowind;
    bool free = m->mass_structure == DAE_MASS_AUTO || m->mass_structure == DAE_MASS_SPARSE;
    if (pattern && !free)
        REJECT("mass_pattern is given, but mass_structure is not DAE_MASS_SPARSE.");
    if (!pattern && m->mass_structure == DAE_MASS_SPARSE)
        REJECT("mass_structure = DAE_MASS_SPARSE needs mass_pattern.");
    bool block = m->mass_structure == DAE_MASS_BLOCK;
    if (block && (m->mass_block < 1 || m->nq % m->mass_block != 0))
        REJECT("mass_block = %d must be positive and divide nq = %d.", m->mass_block, m->nq);
    if (!block && m->mass_block != 0)
        REJECT("mass_block = %d, but mass_structure is not DAE_MASS_BLOCK.", m->mass_block);
    if (!m->mass && !m->all &&
        (pattern || m->mass_structure > DAE_MASS_DIAGONAL || m->mass_structure == DAE_MASS_DENSE))
        REJECT("The structure of the mass matrix is given, but mass is NULL.");
    return DAE_OK;
}

/* The parts of the full form: callbacks where there are values, and only there. */
static dae_status check_full(const dae_mechanical *m, dae_diag *diag)
{
    const struct {
        dae_mechanical_fn fn;
        int count;
        const char *callback, *counter;
        bool optional;
    } parts[] = {
        {m->dynamics, m->nr, "dynamics", "nr", false},
        {m->auxiliary, m->nw, "auxiliary", "nw", false},
        {m->contact, m->ns, "contact", "ns", false},
        {m->auxiliary_w, m->nw, "auxiliary_w", "nw", true},
        {m->contact_s, m->ns, "contact_s", "ns", true},
        {m->velocity_constraint, m->nvelocity, "velocity_constraint", "nvelocity", false},
        {m->velocity_gradient, m->nvelocity, "velocity_gradient", "nvelocity", true},
    };
    dae_status status = DAE_OK;
    for (size_t k = 0; !status && k < sizeof parts / sizeof *parts; k++)
        if (parts[k].fn || !parts[k].optional)
            status = check_callback(parts[k].fn != NULL, parts[k].count, parts[k].callback,
                                    parts[k].counter, diag);
    if (!status && m->friction && m->nlambda + m->nvelocity == 0)
        REJECT("friction says that force depends on lambda, but there are no constraints.");
    return status;
}

static dae_status check_mechanical(const dae_mechanical *m, dae_diag *diag)
{
    static const char *const names[] = {"nq", "nlambda", "nr", "nw", "ns", "nvelocity"};
    const int counts[] = {m->nq, m->nlambda, m->nr, m->nw, m->ns, m->nvelocity};
    dae_status status = check_counts(names, counts, 6, diag);
    if (status) return status;
    if (!m->force && !m->all) REJECT("force is NULL: f(t, q, v) must be given.");
    status = check_callback(m->constraint != NULL, m->nlambda, "constraint", "nlambda", diag);
    if (!status) status = check_full(m, diag);
    if (!status) status = check_mass(m, diag);
    if (!status) status = check_pattern(&m->mass_pattern, "mass_pattern", m->nq, m->nq, diag);
    if (!status)
        status = check_pattern(&m->gradient_pattern, "gradient_pattern", m->nlambda, m->nq, diag);
    if (!status) status = check_pattern(&m->force_q_pattern, "force_q_pattern", m->nq, m->nq, diag);
    if (!status) status = check_pattern(&m->force_v_pattern, "force_v_pattern", m->nq, m->nq, diag);
    if (!status) status = check_sizes(m->nominal, m->nq, m->time_scale, diag);
    if (!status) status = check_events(m->event_count, m->event_function, diag);
    return status;
}

dae_status dae_problem_from_mechanical_sized(const dae_mechanical *form, size_t size,
                                             dae_problem **problem, dae_diag *diag)
{
    dae_mechanical m = {0};
    dae_status status = read_form(form, size, &m, sizeof m, problem, diag);
    if (!status) status = check_mechanical(&m, diag);
    if (status) return status;
    return make_problem(form_source_mechanical(&m), m.event_count, m.events, problem, diag);
}

/* ---- second order ---- */

static dae_status check_second_kinds(const dae_kind *kinds, int n, const char *field,
                                     dae_diag *diag)
{
    for (int i = 0; kinds && i < n; i++)
        if (kinds[i] < DAE_KIND_AUTO || kinds[i] > DAE_KIND_INDEX3)
            REJECT("%s[%d] = %d is not a dae_kind.", field, i, (int)kinds[i]);
    return DAE_OK;
}

static dae_status check_second_order(const dae_second_order *f, dae_diag *diag)
{
    static const char *const names[] = {"n"};
    dae_status status = check_counts(names, &f->n, 1, diag);
    if (status) return status;
    if (!f->f) REJECT("f is NULL: F(t, x, x', x'') must be given.");
    status = check_pattern(&f->pattern, "pattern", f->n, f->n, diag);
    if (!status) status = check_second_kinds(f->kinds, f->n, "kinds", diag);
    if (!status) status = check_second_kinds(f->velocity_kinds, f->n, "velocity_kinds", diag);
    if (!status) status = check_events(f->event_count, f->event_function, diag);
    return status;
}

dae_status dae_problem_from_second_order_sized(const dae_second_order *form, size_t size,
                                               dae_problem **problem, dae_diag *diag)
{
    dae_second_order f = {0};
    dae_status status = read_form(form, size, &f, sizeof f, problem, diag);
    if (!status) status = check_second_order(&f, diag);
    if (status) return status;
    return make_problem(form_source_second_order(&f), f.event_count, f.events, problem, diag);
}

/* ---- higher order ---- */

static dae_status check_higher_order(const dae_higher_order *f, dae_diag *diag)
{
    static const char *const names[] = {"n"};
    dae_status status = check_counts(names, &f->n, 1, diag);
    if (status) return status;
    if (!f->f) REJECT("f is NULL: F(t, x, x', ..) must be given.");
    if (f->order < 1 || f->order > DAE_MOST_ORDER)
        REJECT("order = %d: it must be 1 to %d.", f->order, DAE_MOST_ORDER);
    if (f->n > INT_MAX / 4 / f->order)
        REJECT("%d unknowns of order %d are too many.", f->n, f->order);
    for (int i = 0; f->orders && i < f->n; i++)
        if (f->orders[i] < 0 || f->orders[i] > f->order)
            REJECT("orders[%d] = %d: it must be 0 to order = %d.", i, f->orders[i], f->order);
    status = check_pattern(&f->pattern, "pattern", f->n, f->n, diag);
    if (!status) status = check_second_kinds(f->kinds, f->order * f->n, "kinds", diag);
    if (!status) status = check_events(f->event_count, f->event_function, diag);
    return status;
}

dae_status dae_problem_from_higher_order_sized(const dae_higher_order *form, size_t size,
                                               dae_problem **problem, dae_diag *diag)
{
    dae_higher_order f = {0};
    dae_status status = read_form(form, size, &f, sizeof f, problem, diag);
    if (!status) status = check_higher_order(&f, diag);
    if (status) return status;
    return make_problem(form_source_higher_order(&f), f.event_count, f.events, problem, diag);
}

/* ---- Hessenberg ---- */

static dae_status check_hessenberg_patterns(const dae_hessenberg *h, dae_diag *diag)
{
    const struct {
        const dae_pattern *pattern;
        const char *name;
        int rows, columns;
    } list[] = {{&h->g_y_pattern, "g_y_pattern", h->nz, h->ny},
                {&h->f_z_pattern, "f_z_pattern", h->ny, h->nz},
                {&h->k_u_pattern, "k_u_pattern", h->nu, h->nu},
                {&h->f_y_pattern, "f_y_pattern", h->ny, h->ny},
                {&h->f_u_pattern, "f_u_pattern", h->ny, h->nu},
                {&h->k_y_pattern, "k_y_pattern", h->nu, h->ny},
                {&h->k_z_pattern, "k_z_pattern", h->nu, h->nz}};
    dae_status status = DAE_OK;
    for (size_t k = 0; !status && k < sizeof list / sizeof list[0]; k++)
        status = check_pattern(list[k].pattern, list[k].name, list[k].rows, list[k].columns, diag);
    return status;
}

static dae_status check_hessenberg(const dae_hessenberg *h, dae_diag *diag)
{
    static const char *const names[] = {"ny", "nz", "nu"};
    const int counts[] = {h->ny, h->nz, h->nu};
    dae_status status = check_counts(names, counts, 3, diag);
    if (status) return status;
    if (!h->f) REJECT("f is NULL: y' = f(t, y, z, u) must be given.");
    if (h->nz > h->ny)
        REJECT("nz = %d constraints for ny = %d differential variables: g_y f_z is singular.",
               h->nz, h->ny);
    status = check_callback(h->g != NULL, h->nz, "g", "nz", diag);
    if (!status) status = check_callback(h->k != NULL, h->nu, "k", "nu", diag);
    if (!status) status = check_hessenberg_patterns(h, diag);
    if (!status) status = check_sizes(h->nominal, h->ny + h->nz + h->nu, h->time_scale, diag);
    if (!status) status = check_events(h->event_count, h->event_function, diag);
    return status;
}

dae_status dae_problem_from_hessenberg_sized(const dae_hessenberg *form, size_t size,
                                             dae_problem **problem, dae_diag *diag)
{
    dae_hessenberg h = {0};
    dae_status status = read_form(form, size, &h, sizeof h, problem, diag);
    if (!status) status = check_hessenberg(&h, diag);
    if (status) return status;
    return make_problem(form_source_hessenberg(&h), h.event_count, h.events, problem, diag);
}

/* ---- quasilinear ---- */

static dae_status check_quasilinear(const dae_quasilinear *x, dae_diag *diag)
{
    static const char *const names[] = {"n", "ne", "ng"};
    const int counts[] = {x->n, x->ne, x->ng};
    dae_status status = check_counts(names, counts, 3, diag);
    if (status) return status;
    status = check_callback(x->f != NULL, x->ne, "f", "ne", diag);
    if (!status) status = check_callback(x->g != NULL, x->ng, "g", "ng", diag);
    if (status) return status;
    if (!x->E && x->ne != x->n)
        REJECT("E is NULL, which stands for the identity, but ne = %d is not n = %d.", x->ne, x->n);
    if (!x->E && x->E_pattern.colptr) REJECT("E_pattern is given, but E is NULL.");
    if (x->ne > x->n) REJECT("ne = %d rows of E for n = %d unknowns are too many.", x->ne, x->n);
    if (x->ne + x->ng < x->n)
        REJECT("ne = %d rows of E and ng = %d constraints are too few for n = %d unknowns.", x->ne,
               x->ng, x->n);
    status = check_pattern(&x->E_pattern, "E_pattern", x->ne, x->n, diag);
    if (!status) status = check_pattern(&x->g_x_pattern, "g_x_pattern", x->ng, x->n, diag);
    if (!status) status = check_pattern(&x->f_x_pattern, "f_x_pattern", x->ne, x->n, diag);
    if (!status) status = check_sizes(x->nominal, x->n, x->time_scale, diag);
    if (!status) status = check_events(x->event_count, x->event_function, diag);
    return status;
}

dae_status dae_problem_from_quasilinear_sized(const dae_quasilinear *form, size_t size,
                                              dae_problem **problem, dae_diag *diag)
{
    dae_quasilinear x = {0};
    dae_status status = read_form(form, size, &x, sizeof x, problem, diag);
    if (!status) status = check_quasilinear(&x, diag);
    if (status) return status;
    return make_problem(form_source_quasilinear(&x), x.event_count, x.events, problem, diag);
}

/* ---- manifold ---- */

static dae_status check_manifold(const dae_manifold *x, dae_diag *diag)
{
    static const char *const names[] = {"n", "nc"};
    const int counts[] = {x->n, x->nc};
    dae_status status = check_counts(names, counts, 2, diag);
    if (!status) status = check_callback(x->phi != NULL, x->n, "phi", "n", diag);
    if (!status) status = check_callback(x->c != NULL, x->nc, "c", "nc", diag);
    if (!status) status = check_pattern(&x->c_x_pattern, "c_x_pattern", x->nc, x->n, diag);
    if (!status) status = check_pattern(&x->phi_x_pattern, "phi_x_pattern", x->n, x->n, diag);
    if (!status) status = check_sizes(x->nominal, x->n, x->time_scale, diag);
    if (!status) status = check_events(x->event_count, x->event_function, diag);
    return status;
}

dae_status dae_problem_from_manifold_sized(const dae_manifold *form, size_t size,
                                           dae_problem **problem, dae_diag *diag)
{
    dae_manifold x = {0};
    dae_status status = read_form(form, size, &x, sizeof x, problem, diag);
    if (!status) status = check_manifold(&x, diag);
    if (status) return status;
    return make_problem(form_source_manifold(&x), x.event_count, x.events, problem, diag);
}
