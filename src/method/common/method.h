/* What a method is: one const struct, found by name in the registry. */
#ifndef DAE_METHOD_COMMON_METHOD_H
#define DAE_METHOD_COMMON_METHOD_H

#include "control/attempt.h"
#include "control/newton.h"
#include "forms/forms.h"
#include "matrix/second_order.h"
#include "method/common/formula.h"
#include "method/common/layout.h"
#include "method/common/own_table.h"

/* First integrals that are to be kept: values of `count` functions at (t, y, y'). */
typedef struct invariant_set {
    int count;
    bool project;     /* else they are only watched */
    bool output_only; /* steps go on with what was not projected */
    void *context;
    eval_status (*values)(void *context, double t, const double *y, const double *yp,
                          double *values);
    double *start; /* count: what they are to be; owned by the driver */
} invariant_set;

/* What a method may use; owned by the driver. */
typedef struct method_context {
    const struct method *method; /* the one that uses it */
    int n;
    evaluator *eval;
    newton *newton;
    error_norm *norm;
    const form_set *forms;           /* beside the residual form; NULL: none */
    const second_order *second;      /* for methods on FORM_SECOND_ORDER; else NULL */
    dae_error_test error_test;       /* resolved: ALL, DIFFERENTIAL or FILTERED */
    dae_projection projection;       /* AUTO: the method's own choice */
    const invariant_set *invariants; /* NULL: none */
    bool look_at_stability;          /* explicit methods: fill attempt.stability */
    bool fixed_steps;                /* every attempt that can be computed is accepted */
    const dae_options *options;      /* for methods with limits of their own; borrowed */
    bool between;                    /* values between steps are to meet the tolerances, too */
    bool plain;                      /* for now they are those of the step itself, unrefined */
    bool smooth;                     /* keep what a continuously differentiable interpolant needs */
    void *cache;                     /* the method's own matrices: what cache_new made; not state */
} method_context;

/* State is what a rejected attempt must leave as it was, byte for byte; scratch is free to use. */
typedef struct method_memory {
    vector_layout state, scratch;
    persist_gap gaps[LAYOUT_GAPS];                       /* of the state; not saved */
    persist_gap scratch_gaps[LAYOUT_GAPS];               /* of the scratch, likewise */
    void (*more)(int n, size_t *state, size_t *scratch); /* bytes behind them; NULL: none */
} method_memory;

typedef struct method {
    const char *name, *summary, *citation;
    int max_order;
    int usual_order;         /* where opt.max_order does not ask for more; 0: max_order */
    unsigned forms;          /* FORM_.., of which it needs one; 0 stands for FORM_RESIDUAL */
    const char *index_range; /* "1", "2 (mechanical: 3)", .. for the list of methods */
    const void *table;       /* what tells it from the others of its family; NULL: there are none */

    struct {                 /* steps and orders: what the controller leaves alone */
        bool fixed_order;    /* a one-step method: one order, max_order */
        bool own_order;      /* and it chooses its order within ctx->options */
        bool constant_steps; /* only with opt.fixed_step: its properties depend on it */
        bool equal_steps;    /* prescribed ones of another length are another method's */
        bool own_steps;      /* its own control holds, to the letter: no limits, the last step
                                clipped; with constant_steps if opt.herk->adaptive_steps is set */
        bool chains;         /* of the second order form: it follows chains of velocities */
        bool long_steps; /* explicit, few and long steps: many of them tell that a problem is stiff
                          */
    };
    struct {                   /* options that it heeds */
        bool projects;         /* ctx->projection */
        bool on_manifold;      /* options->baumgarte and ->coordinates */
        bool keeps_invariants; /* ctx->invariants, */
        bool shows_invariants; /* and in the output alone: output_only */
        table_use takes_table; /* options->table, a complete one; 0: it has coefficients itself */
        bool small_steps;      /* options->small_steps */
        bool herk_options;     /* options->herk */
        formula_use takes_formula; /* options->formula_a and ->formula_b; 0: it has its own */
    };
    struct {                   /* what its results are good for */
        bool anew_at_one;      /* at order 1 its history tells less than y' does: after failures it
                                  begins anew with the values at hand */
        bool tests_velocities; /* of second order: errors of velocities count at index 3, too: along
                                  the constraints they add up from step to step */
        bool tests_algebraic;  /* its error test sees algebraic variables at the ends of all steps:
                                  no method is more careful */
        bool sharp_multipliers; /* variables of index 2 are as accurate as the others at the ends of
                                   steps */
        bool dim_multipliers;   /* its estimate hardly sees variables of index 2 */
        bool no_iteration; /* algebraic equations hold at the ends of steps to the tolerance only */
        bool confirms;    /* its iteration ends where the step does, and F has confirmed it there */
        bool ends_unseen; /* and the equations are not evaluated there */
        bool rough_between; /* its error test says nothing of algebraic variables between the ends
                               of a step: where values are asked for, their equations are solved */
        bool raw_output;    /* values between steps are those of its polynomials, as its source has
                               them: nothing is corrected or checked */
    };
    struct {            /* what is left to the driver */
        bool gives_way; /* implicit: where "auto" chose it and it fails, a more careful one goes on
                         */
        bool kinds_asked; /* the driver refuses variables of an index that it is not for */
        bool own_pattern; /* it keeps patterns of its own: it begins anew with each choice of states
                           */
        bool needs_rows;  /* each constraint must be a row of its own, as it projects onto them */
        bool dassl; /* nothing is: steps, orders and tests are those of DASSL, to the letter */
    };

    const method_memory *memory; /* of state and scratch */
    /* The first step's size on the way over `reach`, by a rule of its own; NULL: the driver's. */
    double (*first_step)(const method_context *ctx, double reach, const double *yp);
    /* Begin at a point; all history is dropped. */
    void (*start)(void *state, void *scratch, const method_context *ctx, const start_point *at);
    /* Try a step of size h at the given order: writes scratch and *result only. */
    void (*attempt)(const void *state, void *scratch, const method_context *ctx, double h,
                    int order, attempt *result);
    /* Commit the last attempt. */
    void (*accept)(void *state, void *scratch, const method_context *ctx);
    /* y(t) or y'(t) (derivative = 1) in the last step. */
    void (*interpolate)(const void *state, const method_context *ctx, double t, int derivative,
                        double *y);
    /* The same in ctx->options->precision, at the decimal number that t stands for; NULL: the
     * method computes in doubles only. */
    void (*precise)(const void *state, const method_context *ctx, double t, int derivative,
                    void *y);
    /* The collocation method whose stages y(t) and y'(t) of the last step are at its nodes, as
     * they were solved; NULL, or no such function: they are not. */
    const struct collocation *(*collocates)(const void *state, const method_context *ctx);
    /* Extrapolation: T_jk of the last step into y, j and k from 0; the number of rows. y stays if
     * there is no such entry. NULL: there is no tableau. */
    int (*tableau)(const void *state, const method_context *ctx, int row, int column, double *y);
    /* Matrices and work of a size that n alone does not tell, outside state and scratch; NULL
     * functions: the method needs none. Made before start, for ctx->forms; NULL: out of memory. */
    void *(*cache_new)(const method_context *ctx);
    void (*cache_free)(void *cache); /* NULL is fine */
    /* What of the state its vectors and numbers do not have: which table, what is behind them;
     * NULL: there are but bytes behind. */
    void (*persist)(void *state, const method_context *ctx, persist *p);
    /* The cache in a checkpoint, which is read over one that a start has used; NULL: what is in it
     * is made anew in every step, or there is none. */
    void (*cache_persist)(void *cache, const method_context *ctx, persist *p);
} method;

/* What a method does, by functions whose names begin with that of its family. */
#define METHOD_STEPS(family)                                                                       \
    .memory = &family##_memory, .start = family##_start, .attempt = family##_attempt,              \
    .accept = family##_accept, .interpolate = family##_interpolate
#define METHOD_CACHE(family)                                                                       \
    .cache_new = family##_cache_new, .cache_free = family##_cache_free,                            \
    .cache_persist = family##_cache_persist

/* Bytes of state and of scratch for n variables. */
void method_size(const method *m, int n, size_t *state, size_t *scratch);
/* Both structs zeroed, with their vectors in place: what a start begins with. */
void method_clear(const method_context *ctx, void *state, void *scratch);
/* Save the state, and what the last attempts have left in the scratch, or read both over those of a
 * method that has started: pointers to tables and forms are those of the start. */
void method_persist(const method_context *ctx, void *state, void *scratch, persist *p);

/* Every method. A family begins a line, and its default comes first. */
/* clang-format off */
#define ALL_METHODS(EACH) \
    EACH(bdf) EACH(bdf_dassl) EACH(bdf_dassl_tables) \
    EACH(bdf2nd) EACH(bdf2nd_modified) EACH(bdf2nd_thesis) \
    EACH(bdfhigh) EACH(bdfhigh_modified) \
    EACH(glm3) EACH(glm_bdf2) EACH(glm_bdf3) EACH(glm_bdf4) EACH(glm_rk3) \
    EACH(adams2) EACH(adams3) EACH(adams4) EACH(multistep_own) \
    EACH(oneleg2) EACH(oneleg_midpoint) EACH(oneleg_own) \
    EACH(radau) EACH(radau5) EACH(radau9) EACH(radau13) \
    EACH(gauss6) EACH(gauss2) EACH(gauss4) EACH(gauss8) EACH(gauss10) \
    EACH(lobattoc4) EACH(lobattoc2) EACH(lobattoc6) \
    EACH(sirk22) EACH(sirk23) EACH(sirk33) \
    EACH(irk) \
    EACH(colloc2nd) EACH(colloc2nd_radau1) EACH(colloc2nd_radau2) EACH(colloc2nd_radau3) \
        EACH(colloc2nd_radau4) EACH(colloc2nd_gauss1) EACH(colloc2nd_gauss2) \
        EACH(colloc2nd_gauss3) EACH(colloc2nd_gauss4) EACH(colloc2nd_gauss5) \
        EACH(colloc2nd_thesis) EACH(colloc2nd_thesis_gauss) \
    EACH(rodas) EACH(rodasp) EACH(rodas4p2) EACH(rodas3) \
    EACH(sdirk4) EACH(sdirk2) EACH(sdirk3) EACH(houbak) \
    EACH(liex) EACH(liex_scheme2) EACH(liex_implicit) \
    EACH(midex) \
    EACH(taylor) \
    EACH(hem5) EACH(hem3) EACH(hem4) EACH(hem4_published) EACH(hem4_stage) \
    EACH(phem5) \
    EACH(prk) \
    EACH(dopri5) EACH(dop853) \
    EACH(euler) \
    EACH(herk) EACH(herk_euler) EACH(herk_heun) EACH(herk_kutta3) EACH(herk_rk4) EACH(herk_hem4) \
        EACH(herk_dopri5) EACH(herk_dop853) EACH(herk_thesis) EACH(herk_thesis_euler) \
        EACH(herk_thesis_heun) EACH(herk_thesis_kutta3) EACH(herk_thesis_rk4) \
    EACH(symplectic_euler) \
    EACH(shake) \
    EACH(rattle) EACH(rattle4) EACH(rattle6) EACH(rattle8) \
    EACH(lobatto4) EACH(lobatto6)
/* clang-format on */
/* Those that need a table of the user: not listed. */
#define TABLE_METHODS(EACH) EACH(own_hem) EACH(own_herk) EACH(own_prk) EACH(own_irk)
#define METHOD_DECLARED(id) extern const method method_##id;
ALL_METHODS(METHOD_DECLARED)
TABLE_METHODS(METHOD_DECLARED)
METHOD_DECLARED(integrator) /* steps of opt.integrator: not listed */

/* Whether it needs a form beside the residual one. The second order form is that one, too, without
 * its velocities. */
static inline bool method_needs_form(const method *m)
{
    return m->forms && !(m->forms & (FORM_RESIDUAL | FORM_SECOND_ORDER));
}

/* The highest order of a run with these options: that of a table of the user, or the method's. */
static inline int method_top_order(const method *m, const dae_options *options)
{
    return m->takes_table && options->table ? options->table->order : m->max_order;
}

/* "mechanical, hessenberg" of a set of forms. */
const char *forms_text(unsigned forms);

/* The highest index that it is known to integrate, by index_range; 9: any. */
int method_highest_index(const method *m);

/* The highest order of a run with opt.max_order, 0: not given. */
static inline int method_most_order(const method *m, int asked)
{
    int usual = m->usual_order > 0 ? m->usual_order : m->max_order;
    return asked <= 0 ? usual : asked < m->max_order ? asked : m->max_order;
}
/* The same of a run with these options, perhaps by a table of the user. */
static inline int method_run_order(const method *m, const dae_options *options)
{
    const bool by_table = m->takes_table && options->table;
    return by_table ? options->table->order : method_most_order(m, options->max_order);
}

/* By the name of a family (its default), of a member ("radau:9"), or an old one; NULL if unknown;
 * "auto" gives bdf. */
const method *method_find(const char *name);

#endif
