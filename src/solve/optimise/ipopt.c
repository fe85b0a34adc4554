#include "solve/optimise/ipopt.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* Its C interface. What it calls Bool is an int before version 3.14 and a bool since: of what its
 * functions return only the low byte counts, and ours return an int that is 0 or 1. */
typedef struct IpoptProblemInfo *handle;
typedef int (*eval_f)(int, double *, int, double *, void *);
typedef int (*eval_grad)(int, double *, int, double *, void *);
typedef int (*eval_g)(int, double *, int, int, double *, void *);
typedef int (*eval_jac)(int, double *, int, int, int, int *, int *, double *, void *);
typedef int (*eval_h)(int, double *, int, double, int, double *, int, int, int *, int *, double *,
                      void *);
typedef int (*intermediate)(int, int, double, double, double, double, double, double, double,
                            double, int, void *);

typedef struct ipopt_calls {
    void *library;
    handle (*create)(int, double *, double *, int, double *, double *, int, int, int, eval_f,
                     eval_g, eval_grad, eval_jac, eval_h);
    void (*release)(handle);
    int (*text)(handle, char *, char *);
    int (*number)(handle, char *, double);
    int (*whole)(handle, char *, int);
    int (*watch)(handle, intermediate);
    int (*solve)(handle, double *, double *, double *, double *, double *, double *, void *);
} ipopt_calls;

const char ipopt_advice[] =
    "IPOPT is not found: install the package coinor-libipopt1v5 (Debian, Ubuntu), ipopt (Fedora, "
    "Arch, Homebrew) or set DAEDAL_IPOPT to the path of its library";

/* A function by its name; ISO C knows no cast of a pointer to data. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found;
}

static bool load_from(const char *path, ipopt_calls *c)
{
    memset(c, 0, sizeof *c);
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return false;
    if (find(c->library, "CreateIpoptProblem", &c->create) &&
        find(c->library, "FreeIpoptProblem", &c->release) &&
        find(c->library, "AddIpoptStrOption", &c->text) &&
        find(c->library, "AddIpoptNumOption", &c->number) &&
        find(c->library, "AddIpoptIntOption", &c->whole) &&
        find(c->library, "SetIntermediateCallback", &c->watch) &&
        find(c->library, "IpoptSolve", &c->solve))
        return true;
    dlclose(c->library);
    return false;
}

/* It stays once it is loaded: libraries that it needs do not bear to be unloaded. */
static bool load(ipopt_calls *c)
{
    static const char *const names[] = {"libipopt.so.1", "libipopt.so.3", "libipopt.so",
                                        "libipopt.dylib"};
    const char *ours = getenv("DAEDAL_IPOPT");
    if (ours && *ours) return load_from(ours, c);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (load_from(names[k], c)) return true;
    return false;
}

bool ipopt_available(void)
{
    ipopt_calls c;
    return load(&c);
}

/* ---- callbacks: values in units that the problem gives ---- */

typedef struct scaled_problem {
    const ipopt_problem *p;
    double f;       /* what the objective is multiplied by */
    double *row;    /* and the rows; owned, as all below */
    double *lambda; /* multipliers of rows in their own units */
    double *lower, *upper;
} scaled_problem;

static int call_f(int n, double *x, int fresh, double *value, void *user)
{
    const scaled_problem *s = user;
    (void)n, (void)fresh;
    const bool ok = s->p->objective(s->p->user, x, value);
    *value *= s->f;
    return ok;
}

static int call_grad(int n, double *x, int fresh, double *gradient, void *user)
{
    const scaled_problem *s = user;
    (void)fresh;
    const bool ok = s->p->gradient(s->p->user, x, gradient);
    for (int k = 0; k < n; k++) gradient[k] *= s->f;
    return ok;
}

static int call_g(int n, double *x, int fresh, int m, double *g, void *user)
{
    const scaled_problem *s = user;
    (void)n, (void)fresh;
    const bool ok = s->p->constraints(s->p->user, x, g);
    for (int i = 0; i < m; i++) g[i] *= s->row[i];
    return ok;
}

static int call_jac(int n, double *x, int fresh, int m, int count, int *row, int *column,
                    double *values, void *user)
{
    const scaled_problem *s = user;
    const ipopt_problem *p = s->p;
    (void)n, (void)fresh, (void)m;
    if (values) {
        const bool ok = p->derivatives(p->user, x, values);
        for (int e = 0; e < count; e++) values[e] *= s->row[p->jacobian_row[e]];
        return ok;
    }
    memcpy(row, p->jacobian_row, (size_t)count * sizeof *row);
    memcpy(column, p->jacobian_column, (size_t)count * sizeof *column);
    return 1;
}

static int call_h(int n, double *x, int fresh, double factor, int m, double *lambda, int fresh_l,
                  int count, int *row, int *column, double *values, void *user)
{
    const scaled_problem *s = user;
    const ipopt_problem *p = s->p;
    (void)n, (void)fresh, (void)fresh_l;
    if (!p->second) return 0;
    if (values) {
        for (int i = 0; i < m; i++) s->lambda[i] = lambda[i] * s->row[i];
        return p->second(p->user, x, factor * s->f, s->lambda, values);
    }
    memcpy(row, p->hessian_row, (size_t)count * sizeof *row);
    memcpy(column, p->hessian_column, (size_t)count * sizeof *column);
    return 1;
}

static int call_watch(int mode, int iteration, double f, double violation, double dual, double mu,
                      double step, double regular, double alpha_dual, double alpha, int trials,
                      void *user)
{
    const scaled_problem *s = user;
    const ipopt_problem *p = s->p;
    (void)mode, (void)dual, (void)mu, (void)step, (void)regular, (void)alpha_dual, (void)alpha;
    (void)trials;
    return !p->go_on || p->go_on(p->user, iteration, f / s->f, violation);
}

static void scaled_free(scaled_problem *s)
{
    dae_free_all(s->row, s->lambda, s->lower, s->upper);
}

static bool scaled_new(const ipopt_problem *p, scaled_problem *s)
{
    *s = (scaled_problem){.p = p, .f = p->objective_scale > 0.0 ? p->objective_scale : 1.0};
    s->row = DAE_ARRAY(double, p->rows);
    s->lambda = DAE_ARRAY(double, p->rows);
    s->lower = DAE_ARRAY(double, p->rows);
    s->upper = DAE_ARRAY(double, p->rows);
    if (!s->row || !s->lambda || !s->lower || !s->upper) {
        scaled_free(s);
        return false;
    }
    for (int i = 0; i < p->rows; i++) {
        s->row[i] = p->row_scale ? p->row_scale[i] : 1.0;
        s->lower[i] = p->row_lower[i] * s->row[i];
        s->upper[i] = p->row_upper[i] * s->row[i];
    }
    return true;
}

/* ---- the call ---- */

/* Options that it does not know it leaves as they are. */
static void set(const ipopt_calls *c, handle h, const ipopt_problem *p)
{
    c->whole(h, (char[]){"print_level"}, 0);
    c->text(h, (char[]){"sb"}, (char[]){"yes"});
    c->whole(h, (char[]){"max_iter"}, p->max_iterations);
    c->number(h, (char[]){"tol"}, p->tolerance);
    c->number(h, (char[]){"constr_viol_tol"}, p->tolerance);
    c->number(h, (char[]){"compl_inf_tol"},
              p->complementarity > 0.0 ? p->complementarity : p->tolerance);
    /* where it stops without that: conditions hold, the rest is what the caller accepts */
    const double accepted = fmax(p->accepted, p->tolerance);
    c->number(h, (char[]){"acceptable_tol"}, accepted);
    c->number(h, (char[]){"acceptable_constr_viol_tol"}, p->tolerance);
    c->number(h, (char[]){"acceptable_compl_inf_tol"}, accepted);
    c->number(h, (char[]){"acceptable_dual_inf_tol"}, 1.0);
    c->number(h, (char[]){"bound_relax_factor"}, 1e-10);
    c->text(h, (char[]){"honor_original_bounds"}, (char[]){"yes"});
    c->text(h, (char[]){"fixed_variable_treatment"}, (char[]){"make_parameter"});
    if (!p->second) c->text(h, (char[]){"hessian_approximation"}, (char[]){"limited-memory"});
    if (!p->warm) return;
    c->number(h, (char[]){"mu_init"}, 1e-4);
    c->number(h, (char[]){"bound_push"}, 1e-6);
    c->number(h, (char[]){"bound_frac"}, 1e-6);
    c->number(h, (char[]){"slack_bound_push"}, 1e-6);
    c->number(h, (char[]){"slack_bound_frac"}, 1e-6);
    if (p->second) return;
    /* its choice without second derivatives: a barrier by distances from bounds. Where these are
     * far, in units of x, it drives x away from where it begins. */
    c->text(h, (char[]){"mu_strategy"}, (char[]){"monotone"});
    c->text(h, (char[]){"bound_mult_init_method"}, (char[]){"mu-based"});
}

/* What its codes of return mean. */
static ipopt_end meaning(int code)
{
    switch (code) {
    case 0:
    case 1:
    case 6: return IPOPT_SOLVED;
    case 2: return IPOPT_INFEASIBLE;
    case 4: return IPOPT_UNBOUNDED;
    case 5: return IPOPT_STOPPED;
    case -1: return IPOPT_ITERATIONS;
    case -10: return IPOPT_TIGHT;
    case -102: return IPOPT_NO_MEMORY;
    default: return IPOPT_FAILED;
    }
}

/* A search that gives up where unknowns, which are scaled to about 1, have grown so much is on its
 * way to infinity. IPOPT itself says so at 1e20, where rounding seldom lets it come. */
static ipopt_end ended_at(const ipopt_problem *p, const double *x, ipopt_end ended)
{
    static const double FAR = 1e10;
    if (ended != IPOPT_ITERATIONS && ended != IPOPT_FAILED) return ended;
    for (int k = 0; k < p->size; k++)
        if (fabs(x[k]) > FAR) return IPOPT_UNBOUNDED;
    return ended;
}

/* What a multiplier and the distance from its bound contribute. */
static double product(double multiplier, double distance)
{
    return isfinite(distance) ? fabs(multiplier) * fmax(distance, 0.0) : 0.0;
}

/* Bounds of x, and those of rows that are no equations; a row's multiplier is positive at its upper
 * bound. z: multipliers of lower and of upper bounds; row: values, then multipliers. */
static double gap_of(const scaled_problem *s, const double *x, const double *z, const double *row)
{
    const ipopt_problem *p = s->p;
    double sum = 0.0;
    for (int k = 0; k < p->size; k++)
        if (p->lower[k] < p->upper[k])
            sum += product(z[k], x[k] - p->lower[k]) + product(z[p->size + k], p->upper[k] - x[k]);
    for (int i = 0; i < p->rows; i++) {
        const double l = row[p->rows + i];
        if (s->lower[i] < s->upper[i])
            sum += product(l, l > 0.0 ? s->upper[i] - row[i] : row[i] - s->lower[i]);
    }
    return sum / s->f;
}

ipopt_end ipopt_solve(const ipopt_problem *p, double *x, double *gap, double *lambda)
{
    ipopt_calls c;
    if (!load(&c)) return IPOPT_MISSING;
    if (p->jacobian > INT_MAX || p->hessian > INT_MAX) return IPOPT_NO_MEMORY;
    scaled_problem scaled;
    if (!scaled_new(p, &scaled)) return IPOPT_NO_MEMORY;
    double *z = DAE_ARRAY(double, 2 * (size_t)p->size),
           *row = DAE_ARRAY(double, 2 * (size_t)p->rows);
    handle h = z && row ? c.create(p->size, p->lower, p->upper, p->rows, scaled.lower, scaled.upper,
                                   (int)p->jacobian, (int)p->hessian, 0, call_f, call_g, call_grad,
                                   call_jac, call_h)
                        : NULL;
    ipopt_end ended = IPOPT_NO_MEMORY;
    if (h) {
        double value = 0.0;
        set(&c, h, p);
        c.watch(h, call_watch);
        ended = meaning(c.solve(h, x, row, &value, row + p->rows, z, z + p->size, &scaled));
        ended = ended_at(p, x, ended);
        c.release(h);
        if (gap) *gap = gap_of(&scaled, x, z, row);
        for (int i = 0; i < p->rows && lambda; i++)
            lambda[i] = row[p->rows + i] * scaled.row[i] / scaled.f;
    }
    dae_free_all(z, row);
    scaled_free(&scaled);
    return ended;
}

/* ---- stationary guesses ---- */

static int group_of(const ipopt_problem *p, int k)
{
    if (!(p->lower[k] < p->upper[k])) return -1;
    return p->group ? p->group(p->user, k) : k;
}

/* Groups in which some unknown has moved from x0, or is at a bound. */
static void find_moved(const ipopt_problem *p, const double *x0, const double *x, bool *moved)
{
    static const double NEAR = 1e-4;
    for (int k = 0; k < p->size; k++) {
        const int g = group_of(p, k);
        if (g < 0) continue;
        const double room = fmin(x[k] - p->lower[k], p->upper[k] - x[k]);
        moved[g] = moved[g] || fabs(x[k] - x0[k]) > NEAR || room < NEAR;
    }
}

/* Unknowns of groups that rest, moved by up to a hundredth, each by another part of it, so that no
 * symmetry stays. False: there are none. */
static bool step_aside(const ipopt_problem *p, const bool *moved, double *x)
{
    static const double ASIDE = 0.01, GOLDEN = 0.6180339887498949;
    bool any = false;
    for (int k = 0; k < p->size; k++) {
        const int g = group_of(p, k);
        if (g < 0 || moved[g]) continue;
        const double part = 0.5 + 0.5 * fmod(GOLDEN * (k + 1), 1.0);
        x[k] = fmin(p->upper[k], fmax(p->lower[k], x[k] + ASIDE * part));
        any = true;
    }
    return any;
}

static bool is_lower(const ipopt_problem *p, const double *y, const double *x)
{
    double at_y, at_x;
    const double unit = p->objective_scale > 0.0 ? 1.0 / p->objective_scale : 1.0;
    if (!p->objective(p->user, y, &at_y) || !p->objective(p->user, x, &at_x)) return false;
    return at_y < at_x - 100.0 * p->tolerance * fmax(unit, fmax(fabs(at_x), fabs(at_y)));
}

ipopt_end ipopt_solve_aside(const ipopt_problem *p, double *x, double *gap, double *lambda)
{
    double *room = DAE_ARRAY(double, 2 * (size_t)p->size + (size_t)p->rows), beside = 0.0;
    bool *moved = DAE_ARRAY(bool, p->group ? p->groups : p->size);
    ipopt_end ended = IPOPT_NO_MEMORY;
    if (room && moved) {
        double *x0 = room, *y = room + p->size, *multipliers = y + p->size;
        vector_copy(p->size, x, x0);
        ended = ipopt_solve(p, x, gap, lambda);
        vector_copy(p->size, x, y);
        if (ended == IPOPT_SOLVED) find_moved(p, x0, x, moved);
        if (ended == IPOPT_SOLVED && step_aside(p, moved, y)) {
            const ipopt_end again = ipopt_solve(p, y, &beside, multipliers);
            if (again == IPOPT_SOLVED && is_lower(p, y, x)) {
                vector_copy(p->size, y, x);
                if (gap) *gap = beside;
                if (lambda) vector_copy(p->rows, multipliers, lambda);
            } else if (again == IPOPT_UNBOUNDED || again == IPOPT_STOPPED)
                ended = again;
        }
    }
    dae_free_all(room, moved);
    return ended;
}
