/* Between the files of the Taylor series method.
 *
 * Notation: x_j, f_i, c_i, d_j, J of forms/series_form.h; y_i the unknowns of the driver. An
 * expansion is the coefficients of all x_j around one point, x_j[k] that of ((t - t0) / unit)^k, k
 * <= d_j + stages; x_j is row j of an array, from first[j] on. T is double, long double or
 * quadruple precision. */
#ifndef DAE_METHOD_TAYLOR_TAYLOR_PARTS_H
#define DAE_METHOD_TAYLOR_TAYLOR_PARTS_H

#include "forms/series_form.h"
#include "linalg/linear_solver.h"
#include "method/common/method.h"

struct taylor_ops;

/* All work space; the expansion of the last attempt is in `run`. */
typedef struct taylor_cache {
    const series_form *form;
    const struct taylor_ops *ops;
    const method_context *context; /* of the call at hand */
    int top;                       /* max d_j */
    int total;                     /* coefficients of an expansion */
    int *first;                    /* n + 1 */
    int *place;                    /* n + 1: offsets into at */
    int *at;                       /* unknown that is x_j^(p): at[place[j] + p], p <= d_j; or -1 */
    int stages;                    /* order - 1 */
    bool tame;                     /* see series_program_is_tame */
    int entries;                   /* of J */
    double *J;                     /* by columns, rounded to double */
    matrix_layout layout;
    double *matrix, *right, *more; /* in the layout; n; n */
    linear_solver *solver;
    double factored_at;    /* where its factors were made; NAN: there are none */
    double *last, *before; /* per unknown: size of the last two terms of its series, and */
    int *degree;           /* the power of h that goes with `last` */
    double *power;         /* of h / unit */
    double *moved;         /* per unknown: change by the constraints */
    double h;              /* step or guess of it: weighs derivatives that are no unknowns */
    void *run;
    char reason[512]; /* of a failure */
    int variable;     /* unknown to blame, or -1 */
} taylor_cache;

/* Header of the state; behind it, aligned, two expansions in T: of the point where the last step
 * began, and of where it ended. */
typedef struct taylor_state {
    double t[2], unit[2];
    int stages;
    bool stepped;           /* the first of them is there */
    attempt_status failure; /* of the start */
} taylor_state;

/* Everything that depends on T. Numbers of type T are behind void. */
typedef struct taylor_ops {
    size_t size;                       /* of T */
    void *(*run_new)(taylor_cache *c); /* NULL: memory */
    void (*run_free)(void *run);
    void (*run_persist)(void *run, persist *p);
    /* Begin at the values of the driver; solve the stages up to c->stages. A value that is, but for
     * errors in double, that of an older expansion with so many stages (or NULL) is taken from
     * there: an event that leaves it alone costs it no digits. */
    attempt_status (*begin)(taylor_cache *c, const start_point *at, const void *from, double unit,
                            int stages);
    /* At t + h from the expansion around t. *moved: how far values would move onto the constraints,
     * in units of the tolerance, as the factors at hand tell; how far they do; and the expansion
     * there. */
    attempt_status (*glance)(taylor_cache *c, const void *from, double unit, double t_new,
                             double unit_new, double *moved);
    attempt_status (*look)(taylor_cache *c, const void *from, double unit, double t_new,
                           double unit_new, double *moved);
    attempt_status (*advance)(taylor_cache *c, const void *from, double unit, double t_new,
                              double unit_new, double *moved);
    void (*store)(const taylor_cache *c, void *expansion);
    /* y or y' at t by an expansion around t0; NULL: by the last one. */
    void (*values)(const taylor_cache *c, const void *expansion, double t0, double unit, double t,
                   int derivative, double *y);
    void (*precise)(const taylor_cache *c, const void *expansion, double unit, double t,
                    int derivative, void *y);
    /* Fill c->last, c->before and c->degree from an expansion; NULL: from the last one. */
    void (*terms)(taylor_cache *c, const void *expansion, double unit);
} taylor_ops;

extern const taylor_ops taylor_double, taylor_long, taylor_quad;

/* The power of 2 next below |h|. */
double taylor_unit(double h);

/* taylor_linear.c: factor the matrix of c->J. SINGULAR: c->reason names equations and variables. */
attempt_status taylor_factor(taylor_cache *c);
/* more := W A' (A W A')^-1 right for the rows i of J with c_i + stage >= 0, W the squared weights,
 * 0 for the unknowns that are kept; false: no such unknowns, or it cannot be done. */
bool taylor_keep(taylor_cache *c, int stage);
/* An equation that cannot be evaluated. */
attempt_status taylor_blame_equation(taylor_cache *c, int i);

#endif
