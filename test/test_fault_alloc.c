/* Every allocation fails once, those of KLU and LAPACK included: malloc and its family are replaced
 * in this program, and so in all libraries it loads. Whatever fails, the answer is DAE_ERR_MEMORY
 * in words, nothing leaks, and the solver works again once there is memory. And: no allocation
 * while stepping. */
#define _GNU_SOURCE
#include "daedal.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the heap, watched ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} real;

static long countdown = -1;         /* allocations until one fails; negative: none does */
static long allocations;            /* so far, */
static long refusals;               /* and those that failed */
static long live;                   /* blocks not freed yet */
static bool exhausted;              /* once one has failed, all do */
static bool resolving;              /* dlsym may allocate */
static unsigned char nest[1 << 14]; /* for that */
static size_t nested;

static void find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void resolve(void)
{
    if (real.free || resolving) return;
    resolving = true;
    find("malloc", &real.malloc);
    find("calloc", &real.calloc);
    find("realloc", &real.realloc);
    find("aligned_alloc", &real.aligned_alloc);
    find("posix_memalign", &real.posix_memalign);
    find("free", &real.free);
    resolving = false;
}

static void *from_nest(size_t size)
{
    void *block = nest + nested;
    nested += (size + 63) / 64 * 64;
    return nested <= sizeof nest ? block : NULL;
}

static bool in_nest(const void *block)
{
    uintptr_t address = (uintptr_t)block, start = (uintptr_t)nest;
    return address >= start && address < start + sizeof nest;
}

/* Whether the next allocation is to be refused. */
static bool refuse(void)
{
    resolve();
    allocations++;
    if (countdown < 0 || (countdown > 0 && countdown-- > 0)) return false;
    refusals++;
    if (!exhausted) countdown = -1;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    live += block != NULL;
    return block;
}

void *malloc(size_t size)
{
    if (resolving) return from_nest(size);
    return refuse() ? NULL : counted(real.malloc(size));
}

void *calloc(size_t count, size_t size)
{
    if (resolving) return from_nest(count * size);
    return refuse() ? NULL : counted(real.calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (refuse()) return NULL;
    void *block = real.realloc(old, size);
    live += (block != NULL) - (old && (block || size == 0));
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : counted(real.aligned_alloc(alignment, size));
}

/* No block is worth keeping for the next start (base/recycle.c): every request comes here. */
size_t malloc_usable_size(void *block)
{
    (void)block;
    return 0;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (refuse()) return ENOMEM;
    int status = real.posix_memalign(block, alignment, size);
    live += status == 0;
    return status;
}

void free(void *block)
{
    if (!block || in_nest(block)) return;
    resolve();
    live--;
    real.free(block);
}

/* ---- a rod that cools at one end -------------------------------------------------------------
 *
 *   0 = u_0 - u_1, u_i' = s (u_{i-1} - 2 u_i + u_{i+1}), 0 = u_{n-1} - exp(-t); u = 1 at t = 0 */

enum { MOST = 110 };

typedef struct rod {
    int n;
    bool swapped;          /* the first and the last equation change places */
    double diagonal[MOST]; /* of the factors of the preconditioner */
} rod;

static double strength(int n)
{
    return 0.25 * n * n;
}

static int rod_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const rod *r = user;
    int n = r->n;
    double s = strength(n);
    f[r->swapped ? n - 1 : 0] = y[0] - y[1];
    for (int i = 1; i < n - 1; i++) f[i] = yp[i] - s * (y[i - 1] - 2.0 * y[i] + y[i + 1]);
    f[r->swapped ? 0 : n - 1] = y[n - 1] - exp(-t);
    return 0;
}

/* Element (i, j) of dF/dy; dF/dy' is 1 on the inner diagonal. */
static double rod_element(int n, int i, int j)
{
    double s = strength(n);
    if (i == 0) return j == 0 ? 1.0 : -1.0;
    if (i == n - 1) return j == i ? 1.0 : 0.0;
    return j == i ? 2.0 * s : -s;
}

static int rod_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                        void *user)
{
    (void)t, (void)y, (void)yp;
    int n = ((const rod *)user)->n;
    for (int j = 0; j < n; j++)
        for (int i = j - 1; i <= j + 1; i++) {
            if (i < 0 || i >= n) continue;
            dfdy[i + j * n] = rod_element(n, i, j);
            if (i == j && i > 0 && i < n - 1) dfdyp[i + j * n] = 1.0;
        }
    return 0;
}

static int rod_events(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    int n = ((const rod *)user)->n;
    g[0] = y[n / 2] - 0.9;
    g[1] = y[n / 2] - 0.7;
    return 0;
}

static int rod_conditions(double t, const double *y, const double *yp, double *b, void *user)
{
    (void)yp, (void)user;
    b[0] = t > 0.0 ? 0.0 : y[2] - 1.0; /* nothing to ask for at restarts */
    return 0;
}

/* P = dF/dy + cj dF/dy' itself, by elimination without pivoting. */
static int rod_setup(double t, const double *y, const double *yp, double cj, void *user)
{
    (void)t, (void)y, (void)yp;
    rod *r = user;
    int n = r->n;
    for (int i = 0; i < n; i++) {
        r->diagonal[i] = rod_element(n, i, i) + (i > 0 && i < n - 1 ? cj : 0.0);
        if (i > 0)
            r->diagonal[i] -=
                rod_element(n, i, i - 1) * rod_element(n, i - 1, i) / r->diagonal[i - 1];
    }
    return 0;
}

static int rod_solve(double t, const double *y, const double *yp, double cj, double *b, void *user)
{
    (void)t, (void)y, (void)yp, (void)cj;
    const rod *r = user;
    int n = r->n;
    for (int i = 1; i < n; i++) b[i] -= rod_element(n, i, i - 1) / r->diagonal[i - 1] * b[i - 1];
    for (int i = n - 1; i >= 0; i--) {
        if (i < n - 1) b[i] -= rod_element(n, i, i + 1) * b[i + 1];
        b[i] /= r->diagonal[i];
    }
    return 0;
}

/* ---- one life of a problem and a solver ---- */

typedef struct setting {
    const char *name;
    int n;
    dae_structure structure; /* AUTO: no pattern given */
    dae_linear_solver solver;
    dae_preconditioner preconditioner;
    bool user_precond, user_jacobian;
    bool decorated; /* names, kinds, bounds, tolerances by variable */
    bool general;   /* initial values by tags and conditions */
    bool projected, history;
    bool trusted;  /* no initialisation */
    bool swapping; /* equations change places on the way: old pivots become zero */
} setting;

static const setting settings[] = {
    {.name = "dense", .n = 5},
    {.name = "dense by LAPACK", .n = 70, .solver = DAE_LINEAR_DENSE},
    {.name = "dense with a Jacobian", .n = 6, .user_jacobian = true, .decorated = true},
    {.name = "banded", .n = 30, .structure = DAE_STRUCTURE_BANDED},
    {.name = "sparse", .n = 40, .structure = DAE_STRUCTURE_SPARSE},
    {.name = "sparse, decorated", .n = 30, .structure = DAE_STRUCTURE_SPARSE, .decorated = true},
    {.name = "detected", .n = 70},
    {.name = "detected, all kinds known", .n = 70, .decorated = true},
    {.name = "detected band", .n = 24, .solver = DAE_LINEAR_BANDED},
    {.name = "GMRES with ILU",
     .n = 30,
     .structure = DAE_STRUCTURE_SPARSE,
     .solver = DAE_LINEAR_GMRES,
     .preconditioner = DAE_PRECOND_ILU},
    {.name = "GMRES with ILU on a detected pattern",
     .n = 24,
     .solver = DAE_LINEAR_GMRES,
     .preconditioner = DAE_PRECOND_ILU},
    {.name = "GMRES with a band",
     .n = 30,
     .structure = DAE_STRUCTURE_SPARSE,
     .solver = DAE_LINEAR_GMRES,
     .preconditioner = DAE_PRECOND_BANDED},
    {.name = "GMRES with the user's P",
     .n = 30,
     .solver = DAE_LINEAR_GMRES,
     .user_precond = true,
     .decorated = true},
    {.name = "GMRES alone",
     .n = 8,
     .solver = DAE_LINEAR_GMRES,
     .preconditioner = DAE_PRECOND_NONE,
     .decorated = true},
    {.name = "general initial values", .n = 5, .general = true},
    {.name = "general with a Jacobian", .n = 5, .general = true, .user_jacobian = true},
    {.name = "projected output", .n = 5, .projected = true},
    {.name = "projected output, sparse",
     .n = 30,
     .structure = DAE_STRUCTURE_SPARSE,
     .projected = true},
    {.name = "history", .n = 5, .history = true},
    {.name = "trusted", .n = 30, .structure = DAE_STRUCTURE_SPARSE, .trusted = true},
    {.name = "swapping, KLU", .n = 110, .structure = DAE_STRUCTURE_SPARSE, .swapping = true},
    {.name = "swapping, lists", .n = 20, .structure = DAE_STRUCTURE_SPARSE, .swapping = true},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Room for everything a description points to. */
typedef struct description {
    rod rod;
    int colptr[MOST + 1], rowind[3 * MOST];
    const char *names[MOST];
    dae_kind kinds[MOST];
    double low[MOST], high[MOST], rtol[MOST], atol[MOST];
    dae_tag y_tags[MOST], yp_tags[MOST];
    dae_residual form;
    dae_options options;
} description;

static void describe_matrix(description *d, const setting *s)
{
    for (int j = 0, next = 0; j < s->n; j++) {
        for (int i = 0; i < s->n; i++) {
            bool corner = (i == 0 && j == s->n - 1) || (i == s->n - 1 && j < 2);
            if (abs(i - j) <= 1 || (s->swapping && corner)) d->rowind[next++] = i;
        }
        d->colptr[j + 1] = next;
    }
    d->form.structure = s->structure;
    if (s->structure == DAE_STRUCTURE_BANDED) d->form.lower = d->form.upper = 1;
    if (s->structure == DAE_STRUCTURE_SPARSE) {
        d->form.colptr = d->colptr;
        d->form.rowind = d->rowind;
    }
    if (s->user_jacobian) d->form.jacobian = rod_jacobian;
    if (s->user_precond) {
        d->form.precond_setup = rod_setup;
        d->form.precond_solve = rod_solve;
    }
    d->options.linear_solver = s->solver;
    d->options.preconditioner = s->preconditioner;
}

static void decorate(description *d, const setting *s)
{
    for (int i = 0; i < s->n; i++) {
        bool inner = i > 0 && i < s->n - 1;
        d->kinds[i] = inner ? DAE_KIND_DIFFERENTIAL : DAE_KIND_INDEX1;
        d->low[i] = -1.0;
        d->high[i] = INFINITY;
        d->rtol[i] = 1e-6;
        d->atol[i] = 1e-8;
    }
    d->names[0] = "insulated end";
    d->form.variable_names = d->form.equation_names = d->names;
    d->form.kinds = d->kinds;
    d->form.lower_bounds = d->low;
    d->form.upper_bounds = d->high;
    d->options.rtol_by_unknown = d->rtol;
    d->options.atol_by_unknown = d->atol;
}

static void describe(description *d, const setting *s)
{
    static const dae_event events[2] = {{"warm", -1, false}, {NULL, 0, true}};
    *d = (description){.rod = {.n = s->n}};
    d->form = (dae_residual){.n = s->n, .f = rod_residual, .user = &d->rod};
    d->form.event_count = 2;
    d->form.event_function = rod_events;
    d->form.events = events;
    d->options = dae_options_default();
    d->options.method = "bdf";
    d->options.rtol = 1e-3;
    if (s->trusted) d->options.init = DAE_INIT_NONE;
    describe_matrix(d, s);
    if (s->decorated) decorate(d, s);
    d->options.project_output = s->projected;
    if (!s->general) return;
    for (int i = 0; i < s->n; i++) d->yp_tags[i] = DAE_TAG_FREE;
    d->form.condition_count = 1;
    d->form.conditions = rod_conditions;
    d->options.init = DAE_INIT_GENERAL;
    d->options.y_tags = d->y_tags;
    d->options.yp_tags = d->yp_tags;
}

/* What became of a life. */
typedef struct outcome {
    dae_status status; /* DAE_OK, or the first failure, */
    const char *call;  /* and where it was; */
    char text[64];     /* the beginning of its message */
    bool null;         /* its out parameter was NULL */
    double middle;     /* u in the middle when it reached 0.7, the time there, */
    double time;
    bool again;       /* and whether a second try with memory came to the same end */
    long values;      /* that were asked for */
    long in_steps;    /* allocations while stepping, */
    long unexplained; /* those of steps without new pivots among them */
} outcome;

static void note(outcome *o, dae_status status, const char *call, const dae_diag *diag)
{
    o->status = status;
    o->call = call;
    memcpy(o->text, diag->text, sizeof o->text - 1);
}

static dae_status begin(dae_solver *solver, const setting *s, rod *r)
{
    r->swapped = false;
    double y0[2 * MOST];
    for (int i = 0; i < 2 * MOST; i++) y0[i] = 1.0;
    const double times[2] = {0.0, -1e-3}; /* the end does as if it had always been at 1 */
    if (s->history) return dae_solver_start_history(solver, 2, times, y0, NULL);
    return dae_solver_start(solver, 0.0, y0, NULL);
}

/* Step to the terminal event through a restart at the first one, with output on the way. */
static dae_status go(dae_solver *solver, const setting *s, rod *r, outcome *o)
{
    double y[MOST];
    const dae_stats *stats = dae_solver_stats(solver);
    for (;;) {
        long before = allocations, pivots = stats->repivots, factors = stats->factorisations;
        r->swapped = s->swapping && stats->steps > 5;
        dae_status status = dae_solver_step(solver, 10.0);
        if (status <= 0) return status;
        o->in_steps += allocations - before;
        if (factors > 0 && stats->repivots == pivots) o->unexplained += allocations - before;
        before = allocations;
        dae_status at = dae_solver_at(solver, dae_solver_time(solver), 0, y);
        if (at < 0) return at;
        bool makes_projector = s->projected && o->values++ == 0;
        if (!makes_projector) o->in_steps += allocations - before;
        if (status != DAE_EVENT) continue;
        if (dae_solver_events(solver)[1] != 0) return DAE_OK;
        status = dae_solver_restart(solver, NULL, NULL);
        if (status < 0) return status;
    }
}

static void finish(dae_solver *solver, const setting *s, outcome *o)
{
    double y[MOST];
    dae_solver_at(solver, dae_solver_time(solver), 0, y);
    o->middle = y[s->n / 2];
    o->time = dae_solver_time(solver);
}

/* From here on there is memory: go on, or begin anew if the solver stands nowhere. */
static void once_more(dae_solver *solver, const setting *s, rod *r, outcome *o)
{
    countdown = -1;
    dae_status status = go(solver, s, r, o);
    if (status == DAE_ERR_STATE) {
        status = begin(solver, s, r);
        if (status == DAE_OK) status = go(solver, s, r, o);
    }
    o->again = status == DAE_OK;
    if (o->again) finish(solver, s, o);
}

static void live_with_solver(dae_solver *solver, const setting *s, rod *r, outcome *o)
{
    dae_status status = begin(solver, s, r);
    const char *call = "start";
    if (status == DAE_OK) {
        call = "go";
        status = go(solver, s, r, o);
    }
    if (status < 0) {
        note(o, status, call, dae_solver_diag(solver));
        once_more(solver, s, r, o);
        return;
    }
    dae_solver_condition(solver);
    dae_solver_set_tolerances(solver, 1e-5, 1e-8);
    finish(solver, s, o);
}

/* Problem, solver, start, steps, events, restart, output, free. */
static outcome live_once(const setting *s)
{
    description d;
    describe(&d, s);
    outcome o = {0};
    dae_diag diag = {0};
    dae_problem *problem = (dae_problem *)&d;
    dae_solver *solver = (dae_solver *)&d;
    dae_status status = dae_problem_from_residual(&d.form, &problem, &diag);
    if (status < 0) {
        note(&o, status, "problem", &diag);
        o.null = problem == NULL;
        return o;
    }
    status = dae_solver_new(problem, &d.options, &solver, &diag);
    if (status < 0) {
        note(&o, status, "solver", &diag);
        o.null = solver == NULL;
    } else {
        live_with_solver(solver, s, &d.rod, &o);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return o;
}

/* ---- the tests ---- */

#define CHECK(condition, s, k, o)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s, allocation %ld, in %s: %s: %s", (s)->name, k, (o)->call,                 \
                     dae_status_name((o)->status), (o)->text);                                     \
    } while (0)

static void check_result(const setting *s, long k, const outcome *o, const outcome *healthy)
{
    CHECK(fabs(o->time - healthy->time) < 1e-4, s, k, o);
    CHECK(fabs(o->middle - 0.7) < 1e-9, s, k, o);
}

/* A failure must have the documented status, words, NULL handles, and not spoil a second try. */
static void check_failure(const setting *s, long k, const outcome *o, const outcome *healthy)
{
    CHECK(o->status == DAE_ERR_MEMORY, s, k, o);
    CHECK(strstr(o->text, "memory") != NULL, s, k, o);
    bool has_handle = strcmp(o->call, "start") == 0 || strcmp(o->call, "go") == 0;
    CHECK(has_handle || o->null, s, k, o);
    if (!has_handle) return;
    CHECK(o->again, s, k, o);
    check_result(s, k, o, healthy);
}

/* The number of allocations whose failure was reported. */
static long fail_allocations(const setting *s, long stride)
{
    outcome healthy = live_once(s); /* also warms up what libraries keep for ever */
    CHECK(healthy.status == DAE_OK, s, -1L, &healthy);
    CHECK(fabs(healthy.middle - 0.7) < 1e-9, s, -1L, &healthy);
    long failures = 0;
    for (long k = 0;; k += stride) {
        assert_true(k < 2000);
        long before = live;
        countdown = k;
        refusals = 0;
        outcome o = live_once(s);
        countdown = -1;
        CHECK(live == before, s, k, &o);
        if (o.status == DAE_OK) /* KLU does without memory where it wanted to tidy up */
            check_result(s, k, &o, &healthy);
        else
            check_failure(s, k, &o, &healthy);
        failures += o.status != DAE_OK;
        if (refusals == 0) return failures;
    }
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    exhausted = false;
    for (int i = 0; i < SETTINGS; i++) assert_true(fail_allocations(&settings[i], 1) > 20);
}

/* From the k-th allocation on there is no memory at all, until the solver is tried again. */
static void test_memory_stays_exhausted(void **state)
{
    (void)state;
    exhausted = true;
    for (int i = 0; i < SETTINGS; i++) assert_true(fail_allocations(&settings[i], 3) > 7);
    exhausted = false;
}

static void test_no_allocation_in_steps(void **state)
{
    (void)state;
    for (int i = 0; i < SETTINGS; i++) {
        const setting *s = &settings[i];
        outcome o = live_once(s);
        CHECK(o.status == DAE_OK, s, -1L, &o);
        bool sparse = s->structure == DAE_STRUCTURE_SPARSE && s->solver == DAE_LINEAR_AUTO;
        if (s->swapping) assert_true(o.in_steps > 0);
        if (o.unexplained > 0 || (!sparse && o.in_steps > 0))
            fail_msg("%s: %ld allocations while stepping, %ld without new pivots", s->name,
                     o.in_steps, o.unexplained);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_memory_stays_exhausted),
        cmocka_unit_test(test_no_allocation_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
