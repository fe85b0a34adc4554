/* Daedal: methods and formulations on offer. Included by daedal.h. */
#ifndef DAEDAL_METHODS_H
#define DAEDAL_METHODS_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* A method on offer. Texts live as long as the program. */
typedef struct dae_method_info {
    const char *name;    /* what opt.method takes: "radau:9", family[:order][:variant] */
    const char *family;  /* "radau"; opt.method takes it, too: its first member */
    const char *variant; /* "thesis", ..; "": none */
    int order;           /* if the family has several members by order; else 0 */
    int max_order;       /* the highest */
    bool variable_order; /* any from 1 on */
    bool constant_steps; /* only with opt.fixed_step */
    bool by_tolerance;   /* it chooses between orders of its own */
    const char *group;   /* of families: "Multistep" */
    const char *use;     /* of the family: use this when .. */
    const char *reason;  /* for whom the family is there: best, of a source, a classic */
    const char *summary; /* one line on this member */
    const char *citation;
    const char *forms;       /* "residual", or those it works on: "mechanical, hessenberg" */
    const char *index_range; /* "1", "2 (mechanical: 3)" */
    const char *old_name;    /* a name of version 0.1 that still works in 0.2; "": none */
} dae_method_info;

DAE_API void dae_method_info_fill(int i, dae_method_info *info, size_t size);

/* All members of all families, i = 0, 1, ..; a name of NULL past the end. Those of a family follow
 * each other, the default first. */
static inline dae_method_info dae_method_at(int i)
{
    dae_method_info info;
    dae_method_info_fill(i, &info, sizeof info);
    return info;
}

DAE_API const char *dae_method_name(int i); /* dae_method_at(i).name */
/* Formulations of models on offer, likewise. */
DAE_API const char *dae_formulation_name(int i);
DAE_API const char *dae_formulation_summary(int i);
DAE_API const char *dae_formulation_citation(int i);

/* ---- Coefficients of backward differentiation formulas ---- */

/* weights[i]: y^(derivative) at t[0] of the polynomial through the `count` values y(t[i]), newest
 * first, is sum weights[i] y(t[i]). With derivative 1 and count k + 1 it is BDF of order k, with 2
 * and k + 2 the formula of bdf2nd. */
DAE_API dae_status dae_bdf_weights(int derivative, int count, const double *t, double *weights,
                                   dae_diag *diag);

/* alpha[i-1], i = 1 .. order, of the modified formulas of bdf2nd:modified, with which
 * sum alpha_i z[t_0, .., t_i] is the derivative number `derivative` of y at t[0], z being that of
 * number derivative - 1 as formulas of orders[j] made it at t[j]: orders[0] = order; a large number
 * stands for an exact value, as at the start. `count` times, newest first, as many as these
 * formulas used. DAE_ERR_SINGULAR: there is none on this history. */
DAE_API dae_status dae_bdf_modified(int derivative, int order, int count, const double *t,
                                    const int *orders, double *alpha, dae_diag *diag);

#endif
