#include "solve/optimise/ipopt.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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
    c->number(h, (char[]){"compl_inf_tol"}, p->tolerance);
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

ipopt_end ipopt_solve(const ipopt_problem *p, double *x, double *lambda)
{
    ipopt_calls c;
    if (!load(&c)) return IPOPT_MISSING;
    if (p->jacobian > INT_MAX || p->hessian > INT_MAX) return IPOPT_NO_MEMORY;
    scaled_problem scaled;
    if (!scaled_new(p, &scaled)) return IPOPT_NO_MEMORY;
    handle h =
        c.create(p->size, p->lower, p->upper, p->rows, scaled.lower, scaled.upper, (int)p->jacobian,
                 (int)p->hessian, 0, call_f, call_g, call_grad, call_jac, call_h);
    if (!h) {
        scaled_free(&scaled);
        return IPOPT_NO_MEMORY;
    }
    set(&c, h, p);
    c.watch(h, call_watch);
    double value = 0.0;
    int code = c.solve(h, x, NULL, &value, lambda, NULL, NULL, &scaled);
    c.release(h);
    for (int i = 0; i < p->rows && lambda; i++) lambda[i] *= scaled.row[i] / scaled.f;
    scaled_free(&scaled);
    return meaning(code);
}
