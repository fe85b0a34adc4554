/* A problem's own copy of a mechanical, Hessenberg or quasilinear description. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

/* ---- names ---- */

/* One run of names: those of the user, or generated ones. */
typedef struct name_run {
    const char *const *given; /* count names, or NULL */
    int count;
    const char *format; /* of a generated name, with one %d */
    const char *wrap;   /* around a given one, with one %s; NULL: as it is */
} name_run;

/* Longer names are cut. */
enum { LONGEST_NAME = 2 * DAE_NAME_SIZE };

static const char *given_name(const name_run *run, int i)
{
    return run->given && run->given[i] && *run->given[i] ? run->given[i] : NULL;
}

/* Room for a name with its end. */
static size_t name_room(const name_run *run, int i)
{
    enum { DIGITS = 11 };
    const char *given = given_name(run, i);
    size_t length =
        given ? strlen(given) + (run->wrap ? strlen(run->wrap) : 0) : strlen(run->format) + DIGITS;
    return length < LONGEST_NAME ? length + 1 : LONGEST_NAME;
}

static void write_name(const name_run *run, int i, char *text)
{
    const char *given = given_name(run, i);
    if (!given)
        snprintf(text, LONGEST_NAME, run->format, i);
    else if (run->wrap || strlen(given) >= LONGEST_NAME)
        snprintf(text, LONGEST_NAME, run->wrap ? run->wrap : "%s", given);
    else
        memcpy(text, given, strlen(given) + 1);
}

/* The names of all runs in one block, pointers first; NULL: memory. */
static const char **make_names(const name_run *runs, int run_count)
{
    size_t total = 0, room = 1;
    for (int r = 0; r < run_count; r++) {
        total += (size_t)runs[r].count;
        for (int i = 0; i < runs[r].count; i++) room += name_room(&runs[r], i);
    }
    char *block = dae_calloc(total * sizeof(char *) + room, 1);
    if (!block) return NULL;
    const char **names = (const char **)(void *)block;
    char *text = block + total * sizeof(char *);
    for (int r = 0, k = 0; r < run_count; r++)
        for (int i = 0; i < runs[r].count; i++, k++) {
            write_name(&runs[r], i, text);
            names[k] = text;
            text += strlen(text) + 1;
        }
    return names;
}

#define RUN(given, count, format, wrap) ((name_run){given, count, format, wrap})

static const char *const *part(const char *const *names, int first)
{
    return names ? names + first : NULL;
}

static bool name_mechanical(form_source *s, const dae_mechanical *m)
{
    const char *const *given = m->variable_names;
    const mechanical_places p = mechanical_parts(m);
    const name_run variables[] = {RUN(given, m->nq, "q[%d]", NULL),
                                  RUN(part(given, p.v), m->nq, "v[%d]", NULL),
                                  RUN(part(given, p.r), m->nr, "r[%d]", NULL),
                                  RUN(part(given, p.w), m->nw, "w[%d]", NULL),
                                  RUN(part(given, p.s), m->ns, "s[%d]", NULL),
                                  RUN(part(given, p.lambda), s->constraints, "lambda[%d]", NULL)};
    const name_run rows[] = {RUN(given, m->nq, "velocity of q[%d]", "velocity of %s"),
                             RUN(given, m->nq, "motion of q[%d]", "motion of %s"),
                             RUN(part(given, p.r), m->nr, "dynamics of r[%d]", "dynamics of %s"),
                             RUN(part(given, p.w), m->nw, "auxiliary of w[%d]", "auxiliary of %s"),
                             RUN(part(given, p.s), m->ns, "contact of s[%d]", "contact of %s"),
                             RUN(m->constraint_names, s->constraints, "g[%d]", NULL)};
    s->variable_names = make_names(variables, 6);
    s->equation_names = make_names(rows, 6);
    s->constraint_names = make_names(rows + 5, 1);
    return s->variable_names && s->equation_names && s->constraint_names;
}

static bool name_hessenberg(form_source *s, const dae_hessenberg *h)
{
    const char *const *given = h->variable_names;
    const name_run variables[] = {RUN(given, h->ny, "y[%d]", NULL),
                                  RUN(part(given, h->ny), h->nz, "z[%d]", NULL),
                                  RUN(part(given, h->ny + h->nz), h->nu, "u[%d]", NULL)};
    const name_run rows[] = {RUN(NULL, h->ny, "f[%d]", NULL),
                             RUN(h->constraint_names, h->nz, "g[%d]", NULL),
                             RUN(NULL, h->nu, "k[%d]", NULL)};
    s->variable_names = make_names(variables, 3);
    s->equation_names = make_names(rows, 3);
    s->constraint_names = make_names(rows + 1, 1);
    return s->variable_names && s->equation_names && s->constraint_names;
}

static bool name_quasilinear(form_source *s, const dae_quasilinear *x)
{
    const char *row = s->manifold ? "phi[%d]" : "E[%d]",
               *constraint = s->manifold ? "c[%d]" : "g[%d]";
    const name_run variables[] = {RUN(x->variable_names, x->n, "x[%d]", NULL)};
    const name_run rows[] = {RUN(x->equation_names, x->ne, row, NULL),
                             RUN(x->constraint_names, x->ng, constraint, NULL)};
    s->variable_names = make_names(variables, 1);
    s->equation_names = make_names(rows, 2);
    s->constraint_names = make_names(rows + 1, 1);
    return s->variable_names && s->equation_names && s->constraint_names;
}

/* "der(der(x))": `levels` times around a name, or around x[i] where there is none */
static void derivative_format(char *text, size_t size, int levels, const char *inner)
{
    size_t used = 0;
    for (int j = 0; j < levels && used + 4 < size; j++)
        used += (size_t)snprintf(text + used, size - used, "der(");
    used += (size_t)snprintf(text + used, size - used, "%s", inner);
    for (int j = 0; j < levels && used + 1 < size; j++) text[used++] = ')';
    text[used] = '\0';
}

/* Runs of one name each for the derivatives that are unknowns. */
static bool name_higher_order(form_source *s, const dae_higher_order *f)
{
    enum { LONGEST = 64 };
    const char *const *given = f->variable_names;
    int n = f->n, count = 1;
    name_run *variables = DAE_ARRAY(name_run, s->n + 1), *rows = DAE_ARRAY(name_run, s->n + 1);
    char(*made)[LONGEST] = dae_calloc((size_t)s->n, 4 * sizeof *made); /* four formats each */
    bool ok = variables && rows && made;
    if (ok) {
        variables[0] = RUN(given, n, "x[%d]", NULL);
        rows[0] = RUN(f->equation_names, n, "F[%d]", NULL);
    }
    for (int k = n; ok && k < f->order * n; k++) {
        if (s->as.s.place[k] < 0) continue;
        char(*formats)[LONGEST] = made + 4 * (s->as.s.place[k] - n), inner[24];
        snprintf(inner, sizeof inner, "x[%d]", k % n);
        derivative_format(formats[0], LONGEST, k / n, inner);
        derivative_format(formats[1], LONGEST, k / n, "%s");
        snprintf(formats[2], LONGEST, "%.18s of %.40s", k < 2 * n ? "velocity" : "derivative",
                 inner);
        snprintf(formats[3], LONGEST, "%.18s of %%s", k < 2 * n ? "velocity" : "derivative");
        variables[count] = RUN(part(given, k % n), 1, formats[0], formats[1]);
        rows[count++] = RUN(part(given, k % n), 1, formats[2], formats[3]);
    }
    if (ok) {
        s->variable_names = make_names(variables, count);
        s->equation_names = make_names(rows, count);
        s->constraint_names = make_names(rows, 0);
    }
    dae_free_all(variables, rows, made);
    return s->variable_names && s->equation_names && s->constraint_names;
}

/* ---- arrays ---- */

static bool own_pattern(dae_pattern *p, int columns)
{
    const int *colptr = p->colptr, *rowind = p->rowind;
    *p = (dae_pattern){0};
    if (!colptr) return true;
    p->colptr = dae_copy(colptr, (size_t)columns + 1, sizeof(int));
    p->rowind = dae_copy(rowind, (size_t)colptr[columns], sizeof(int));
    return p->colptr && p->rowind;
}

static void free_pattern(dae_pattern *p)
{
    dae_free_all((void *)(uintptr_t)p->colptr, (void *)(uintptr_t)p->rowind);
}

static bool own_sizes(const double **sizes, int n)
{
    const double *given = *sizes;
    *sizes = given ? dae_copy(given, (size_t)n, sizeof *given) : NULL;
    return !given || *sizes;
}

/* Events and names belong to the residual problem, and to the tables above. */
#define DROP_BORROWED(source, form)                                                                \
    do {                                                                                           \
        (source)->event_function = (form)->event_function;                                         \
        (source)->user = (form)->user;                                                             \
        (form)->variable_names = (form)->constraint_names = NULL;                                  \
        (form)->events = NULL;                                                                     \
    } while (0)

/* Blocks of size b along the diagonal of an n x n matrix. */
static bool block_pattern(form_pattern *p, int n, int b)
{
    p->colptr = DAE_ARRAY(int, n + 1);
    p->rowind = DAE_ARRAY(int, (size_t)n *(size_t)b);
    if (!p->colptr || !p->rowind) return false;
    for (int j = 0; j < n; j++) {
        p->colptr[j + 1] = p->colptr[j] + b;
        for (int k = 0; k < b; k++) p->rowind[p->colptr[j] + k] = j / b * b + k;
    }
    return true;
}

static bool mass_pattern(form_source *s)
{
    const dae_mechanical *m = &s->as.m;
    bool diagonal = m->mass_structure == DAE_MASS_DIAGONAL || (!m->mass && !m->all);
    if (diagonal) return block_pattern(&s->mass, m->nq, 1);
    if (m->mass_structure == DAE_MASS_BLOCK) return block_pattern(&s->mass, m->nq, m->mass_block);
    return true;
}

static form_source *checked(form_source *s, bool ok)
{
    if (ok) return s;
    form_source_free(s);
    return NULL;
}

form_source *form_source_mechanical(const dae_mechanical *form)
{
    form_source *s = DAE_NEW(form_source);
    if (!s) return NULL;
    s->kind = KIND_MECHANICAL;
    s->constraints = form->nlambda + form->nvelocity;
    s->positions = form->nlambda;
    s->n = mechanical_parts(form).lambda + s->constraints;
    s->full = form->nr + form->nw + form->ns + form->nvelocity > 0 || form->friction;
    dae_mechanical *m = &s->as.m;
    *m = *form;
    DROP_BORROWED(s, m);
    bool ok = own_pattern(&m->mass_pattern, m->nq);
    ok = own_pattern(&m->gradient_pattern, m->nq) && ok;
    ok = own_pattern(&m->force_q_pattern, m->nq) && ok;
    ok = own_pattern(&m->force_v_pattern, m->nq) && ok;
    ok = own_sizes(&m->nominal, m->nq) && ok;
    return checked(s, ok && mass_pattern(s) && name_mechanical(s, form));
}

form_source *form_source_hessenberg(const dae_hessenberg *form)
{
    form_source *s = DAE_NEW(form_source);
    if (!s) return NULL;
    s->kind = KIND_HESSENBERG;
    s->n = form->ny + form->nz + form->nu;
    s->constraints = form->nz;
    dae_hessenberg *h = &s->as.h;
    *h = *form;
    DROP_BORROWED(s, h);
    bool ok = own_pattern(&h->g_y_pattern, h->ny);
    ok = own_pattern(&h->f_z_pattern, h->nz) && ok;
    ok = own_pattern(&h->k_u_pattern, h->nu) && ok;
    ok = own_pattern(&h->f_y_pattern, h->ny) && ok;
    ok = own_pattern(&h->f_u_pattern, h->nu) && ok;
    ok = own_pattern(&h->k_y_pattern, h->ny) && ok;
    ok = own_pattern(&h->k_z_pattern, h->nz) && ok;
    ok = own_sizes(&h->nominal, s->n) && ok;
    return checked(s, ok && name_hessenberg(s, form));
}

/* manifold: how its parts are called */
static form_source *copy_quasilinear(const dae_quasilinear *form, bool manifold)
{
    form_source *s = DAE_NEW(form_source);
    if (!s) return NULL;
    s->kind = KIND_QUASILINEAR;
    s->manifold = manifold;
    s->n = form->n;
    s->constraints = form->ng;
    dae_quasilinear *x = &s->as.x;
    *x = *form;
    DROP_BORROWED(s, x);
    x->equation_names = NULL;
    bool ok = own_pattern(&x->E_pattern, x->n);
    ok = own_pattern(&x->g_x_pattern, x->n) && ok;
    ok = own_pattern(&x->f_x_pattern, x->n) && ok;
    ok = own_sizes(&x->nominal, x->n) && ok;
    x->constraint_levels = NULL;
    if (form->constraint_levels)
        ok = (x->constraint_levels =
                  dae_copy(form->constraint_levels, (size_t)form->ng, sizeof(int))) &&
             ok;
    if (ok && !x->E) ok = block_pattern(&s->mass, x->n, 1);
    return checked(s, ok && name_quasilinear(s, form));
}

form_source *form_source_quasilinear(const dae_quasilinear *form)
{
    return copy_quasilinear(form, false);
}

/* E = I, f = phi, g = c */
form_source *form_source_manifold(const dae_manifold *form)
{
    const dae_quasilinear x = {.n = form->n,
                               .ne = form->n,
                               .ng = form->nc,
                               .f = form->phi,
                               .g = form->c,
                               .user = form->user,
                               .g_x = form->c_x,
                               .g_t = form->c_t,
                               .autonomous = form->autonomous,
                               .g_x_pattern = form->c_x_pattern,
                               .f_x_pattern = form->phi_x_pattern,
                               .nominal = form->nominal,
                               .time_scale = form->time_scale,
                               .variable_names = form->variable_names,
                               .constraint_names = form->constraint_names,
                               .event_count = form->event_count,
                               .event_function = form->event_function,
                               .events = form->events,
                               .constraint_levels = form->constraint_levels};
    return copy_quasilinear(&x, true);
}

/* A copy of the description, whose orders are given; NULL: memory. */
static form_source *copy_higher(const dae_higher_order *form, dae_second_order_fn second,
                                dae_second_order_jacobian_fn jacobian)
{
    form_source *s = DAE_NEW(form_source);
    if (!s) return NULL;
    higher_form *f = &s->as.s;
    size_t n = (size_t)form->n, kinds = n * (size_t)form->order;
    s->kind = KIND_SECOND_ORDER;
    s->event_function = form->event_function;
    s->user = form->user;
    *f = (higher_form){.h = *form, .second = second, .second_jacobian = jacobian};
    f->h.variable_names = f->h.equation_names = NULL;
    f->h.events = NULL;
    f->h.kinds = NULL;
    bool ok = own_pattern(&f->h.pattern, form->n);
    ok = (f->h.orders = dae_copy(form->orders, n, sizeof(int))) && ok;
    if (form->kinds) ok = (f->h.kinds = dae_copy(form->kinds, kinds, sizeof(dae_kind))) && ok;
    ok = ok && (f->place = higher_places(f, &s->n));
    return checked(s, ok && name_higher_order(s, form));
}

form_source *form_source_higher_order(const dae_higher_order *form)
{
    dae_higher_order with = *form;
    int *orders = DAE_ARRAY(int, form->n);
    for (int i = 0; orders && i < form->n; i++)
        orders[i] = form->orders ? form->orders[i] : form->order;
    with.orders = orders;
    form_source *s = orders ? copy_higher(&with, NULL, NULL) : NULL;
    dae_free(orders);
    return s;
}

form_source *form_source_second_order(const dae_second_order *form)
{
    size_t n = (size_t)form->n;
    int *orders = DAE_ARRAY(int, n);
    dae_kind *kinds = DAE_ARRAY(dae_kind, 2 * n);
    form_source *s = NULL;
    for (size_t i = 0; orders && kinds && i < n; i++) {
        orders[i] = !form->second || form->second[i] ? 2 : 1;
        kinds[i] = form->kinds ? form->kinds[i] : DAE_KIND_AUTO;
        kinds[n + i] = form->velocity_kinds ? form->velocity_kinds[i] : DAE_KIND_AUTO;
    }
    const dae_higher_order like = {.n = form->n,
                                   .order = 2,
                                   .user = form->user,
                                   .orders = orders,
                                   .pattern = form->pattern,
                                   .variable_names = form->variable_names,
                                   .equation_names = form->equation_names,
                                   .kinds = kinds,
                                   .event_count = form->event_count,
                                   .event_function = form->event_function,
                                   .events = form->events};
    if (orders && kinds) s = copy_higher(&like, form->f, form->jacobian);
    dae_free_all(orders, kinds);
    return s;
}

static void free_arrays(form_source *s)
{
    dae_mechanical *m = &s->as.m;
    dae_hessenberg *h = &s->as.h;
    dae_quasilinear *x = &s->as.x;
    dae_pattern *mechanical[] = {&m->mass_pattern, &m->gradient_pattern, &m->force_q_pattern,
                                 &m->force_v_pattern};
    dae_pattern *hessenberg[] = {&h->g_y_pattern, &h->f_z_pattern, &h->k_u_pattern, &h->f_y_pattern,
                                 &h->f_u_pattern, &h->k_y_pattern, &h->k_z_pattern};
    dae_pattern *quasilinear[] = {&x->E_pattern, &x->g_x_pattern, &x->f_x_pattern};
    switch (s->kind) {
    case KIND_MECHANICAL:
        for (int k = 0; k < 4; k++) free_pattern(mechanical[k]);
        dae_free((void *)(uintptr_t)m->nominal);
        break;
    case KIND_HESSENBERG:
        for (int k = 0; k < 7; k++) free_pattern(hessenberg[k]);
        dae_free((void *)(uintptr_t)h->nominal);
        break;
    case KIND_QUASILINEAR:
        for (int k = 0; k < 3; k++) free_pattern(quasilinear[k]);
        dae_free_all((void *)(uintptr_t)x->nominal, (void *)(uintptr_t)x->constraint_levels);
        break;
    case KIND_SECOND_ORDER:
        free_pattern(&s->as.s.h.pattern);
        dae_free_all((void *)(uintptr_t)s->as.s.h.orders, (void *)(uintptr_t)s->as.s.h.kinds,
                     s->as.s.place);
        break;
    case FORM_KINDS: break;
    }
}

void form_source_free(form_source *s)
{
    if (!s) return;
    free_arrays(s);
    dae_free_all(s->mass.colptr, s->mass.rowind, (void *)(uintptr_t)s->variable_names,
                 (void *)(uintptr_t)s->equation_names, (void *)(uintptr_t)s->constraint_names, s);
}

int form_source_size(const form_source *s)
{
    return s->n;
}

bool form_source_has_levels(const form_source *s)
{
    return s->kind != KIND_SECOND_ORDER;
}

form_kind form_source_kind(const form_source *s)
{
    return s->kind;
}

bool form_source_is_manifold(const form_source *s)
{
    return s->manifold;
}

const char *form_source_kind_name(const form_source *s)
{
    static const char *const names[] = {"mechanical", "Hessenberg", "quasilinear", "second order"};
    bool higher = s->kind == KIND_SECOND_ORDER && s->as.s.h.order > 2;
    return s->manifold ? "manifold" : higher ? "higher order" : names[s->kind];
}

int form_constraint_row(const form_source *s)
{
    switch (s->kind) {
    case KIND_MECHANICAL: return mechanical_parts(&s->as.m).lambda;
    case KIND_HESSENBERG: return s->as.h.ny;
    case KIND_QUASILINEAR: return s->as.x.ne;
    case KIND_SECOND_ORDER:
    case FORM_KINDS: break;
    }
    return 0;
}
