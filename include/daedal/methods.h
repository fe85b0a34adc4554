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

#endif
