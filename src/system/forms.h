/* The forms that methods integrate beside the residual form: what callbacks were written in, and
 * what the structure of a model offers.
 *
 * A form is a table of functions with a context; derivatives that were not given are differenced by
 * the form itself, so that a method may always ask. Matrices are dense, by columns, or compressed
 * columns on the pattern that comes with them. Functions return EVAL_OK, EVAL_RETRY (smaller step)
 * or EVAL_STOP, and count their calls in the statistics. */
#ifndef DAE_SYSTEM_FORMS_H
#define DAE_SYSTEM_FORMS_H

#include "system/residual.h"

/* A matrix whose values a form delivers: rows x columns, dense if colptr is NULL. */
typedef struct form_matrix {
    int rows, columns;
    const int *colptr, *rowind; /* borrowed; NULL: dense, element (i,j) at [i + j*rows] */
    size_t count;               /* of values */
    bool constant;              /* the same at every point */
    bool diagonal;              /* square, and only the diagonal may be nonzero */
    int block;                  /* > 1: block diagonal with blocks of this size; else 0 */
} form_matrix;

/* y' = f(t, y, z), 0 = g(t, y): index 2 where g_y f_z is regular [BH93 (1.1)]. With u (nu > 0) also
 * 0 = k(t, y, z, u) with k_u regular [BH93 (1.4)]: f then reads u, too. */
typedef struct hessenberg_form {
    int ny, nz, nu;
    void *context;
    eval_status (*f)(void *context, double t, const double *y, const double *z, const double *u,
                     double *f);
    eval_status (*g)(void *context, double t, const double *y, double *g);
    eval_status (*g_y)(void *context, double t, const double *y, double *values);
    eval_status (*g_t)(void *context, double t, const double *y, double *g_t);
    eval_status (*f_z)(void *context, double t, const double *y, const double *z, const double *u,
                       double *values);
    eval_status (*k)(void *context, double t, const double *y, const double *z, const double *u,
                     double *k); /* NULL if nu = 0 */
    eval_status (*k_u)(void *context, double t, const double *y, const double *z, const double *u,
                       double *values);
    form_matrix g_y_matrix, f_z_matrix, k_u_matrix;
} hessenberg_form;

/* q' = v, M(t,q) v' = f(t,q,v) - G(t,q)' lambda, 0 = g(t,q), G = g_q [HW96 VII.1]. */
typedef struct mechanical_form {
    int nq, nl;
    void *context;
    /* Everything that a stage needs at (t, q, v), any output may be NULL: M and G on their
     * patterns, f, and the constraint's velocity and acceleration terms
     *   rate = g_t,   curvature = g_qq(v,v) + 2 g_tq v + g_tt,
     * so that 0 = G v + rate and 0 = G v' + curvature. */
    eval_status (*evaluate)(void *context, double t, const double *q, const double *v, double *M,
                            double *f, double *G, double *rate, double *curvature);
    eval_status (*g)(void *context, double t, const double *q, double *g);
    form_matrix M_matrix, G_matrix;
} mechanical_form;

/* E(t,x) x' = f(t,x), and all constraints of all levels 0 = g(t,x) that are known; rows of E and f
 * may be fewer than n [Baese17]. */
typedef struct quasilinear_form {
    int n, ne, ng; /* unknowns, rows of E, constraints */
    void *context;
    eval_status (*E)(void *context, double t, const double *x, double *values);
    eval_status (*f)(void *context, double t, const double *x, double *f);
    eval_status (*g)(void *context, double t, const double *x, double *g);
    eval_status (*g_x)(void *context, double t, const double *x, double *values);
    eval_status (*g_t)(void *context, double t, const double *x, double *g_t);
    form_matrix E_matrix, g_x_matrix;
} quasilinear_form;

/* Where the parts of a form are among the n unknowns y of the problem that the driver and the user
 * see: unknown part[i] is component i. */
typedef struct form_places {
    int *q, *v, *lambda; /* mechanical; hessenberg: q = y, lambda = z, v = u; quasilinear: q = x */
} form_places;

/* What a problem offers beside its residual form; NULL: not that. Owned by who made them. */
typedef struct form_set {
    const hessenberg_form *hessenberg;
    const mechanical_form *mechanical;
    const quasilinear_form *quasilinear;
    form_places hessenberg_places, mechanical_places, quasilinear_places;
} form_set;

#endif
