/* Formulations: rewritings of analysed equations into a system F(t, y, y') = 0 of first order.
 *
 * A formulation is one function from the analysed equations to a `formulated` system, registered
 * under its name. Methods never ask which formulation they are given. */
#ifndef DAE_FORMULATION_FORMULATION_H
#define DAE_FORMULATION_FORMULATION_H

#include "base/arena.h"
#include "daedal.h"
#include "forms/forms.h"
#include "forms/positions.h"
#include "structure/index/signature.h"
#include "structure/mechanical/mechanical.h"

/* Equations with their structure: x_j of `set` with derivatives up to d_j, equation i to be
 * differentiated c_i times. */
typedef struct analysed {
    equation_set set;
    structure structure;
    signed char *wish; /* owned; n: stateSelect of x_j, -2 (never) .. 2 (always); NULL: no wishes */
    struct system_jacobian *jacobian; /* of these; owned, NULL where they have changed since */
    mechanical *mechanism; /* that they are, zeroed until it is recognised; owned, as before */
} analysed;

/* y_unknown' = sign * y_next may serve as a differential equation: then y_unknown is a state. */
typedef struct kinematic {
    int unknown, next, sign; /* of y */
    int column;              /* j: y_unknown is a derivative of x_j */
    int stage; /* order of y_unknown less d_j: -1 for the derivative below the highest, .. */
} kinematic;

/* x_variable^(order) is no unknown, but an expression over y and y'. */
typedef struct definition {
    int variable, order;
    expr value;
} definition;

/* F(t, y, y') = 0. Rows are over VARIABLE(i, 0) = y_i and VARIABLE(i, 1) = y'_i. */
typedef struct formulated {
    equation_set set; /* n unknowns; m rows, m = n unless states are chosen, or for forms that no
                         residual method can run */
    /* y_i is sign * x_variable^(order) of the analysed set, order -1: an integral of x_variable
     * from the start on; variable -1: it is new, such as the multipliers of GGL, and starts at 0. n
     * each, owned. */
    int *variable, *order;
    signed char *sign;
    dae_kind *kinds;      /* n; AUTO where the rows tell; owned */
    bool *hidden;         /* n: not in the error test, as no variable of the model; owned */
    kinematic *candidate; /* n - m of these complete the system (dummy derivatives); owned */
    int candidates;
    arena *texts;        /* names made here; owned */
    definition *defined; /* what is seen through, sorted; owned */
    int defined_count;
    position_choice *positions; /* p2 of minimal and reduced, to be watched; owned, or NULL */
    struct form_plan *plan; /* of a form beside this one (model/model_forms.h); owned, or NULL */
    bool springs;           /* stiff springs stand for constraints */
    bool tangent;           /* candidates are combined to coordinates of the tangent space */
    expr_code chooser;      /* what states are chosen by, for all selections; made by the first */
} formulated;

void formulated_free(formulated *f); /* leaves it zeroed */

/* What a formulation may ask for besides the equations. */
typedef struct formulation_setting {
    double parameter;         /* of the formulation, such as Baumgarte's alpha; 0: its default */
    const equation_point *at; /* where the run begins, more or less; NULL: not known; borrowed */
    const struct formulation *of; /* which one is applied; formulation_apply says so */
} formulation_setting;

struct rewriting; /* formulation_parts.h */

/* A row of the registry. What is decided by which formulation it is, is decided by a field. */
typedef struct formulation {
    const char *name, *summary, *citation;
    bool automatic;         /* the usual one for the mode and the method */
    bool as_given;          /* nothing is rewritten */
    bool mechanical;        /* needs M q'' = f - G' lambda, 0 = g(q) */
    bool velocities;        /* mechanical: constraints on velocities have a place in it */
    bool all_levels;        /* its rows are the equations of all levels */
    bool by_array;          /* the reduced system of the derivative array is integrated */
    bool projects;          /* methods that project go with it: a mechanism as it is written */
    bool chooses_positions; /* p2, by the constraints where the run begins */
    bool weighted;          /* what multipliers correct is measured by the mass matrix */
    double parameter;       /* default; 0: it has none */
    int lack;               /* of their derivatives that equations lack: index less 1 */
    const char *needs;      /* method that auto is with it, where BDF will not do; NULL: none */
    unsigned forms;         /* FORM_..: methods on these may be asked for with it, and take them */
    /* Models: the rows and unknowns of the system; false: memory. NULL: models are not rewritten.
     */
    bool (*build)(struct rewriting *p);
    /* Mechanical: DAE_OK, or DAE_ERR_UNSUPPORTED with a diagnostic that names what does not fit;
     * NULL: all do. */
    dae_status (*fits)(const struct rewriting *p, dae_diag *diag);
    /* Callbacks: the residual form of each kind of description; NULL: there is none. */
    const form_rewriting *callbacks[FORM_KINDS];
} formulation;

/* Those that others choose by default. */
extern const formulation formulation_auto, formulation_residual, formulation_dummy,
    formulation_index3;

/* By name, which may be followed by a parameter: "baumgarte:10"; NULL is "auto". NULL if unknown,
 * or the parameter is no positive number. *parameter = what is given, else left alone; may be NULL.
 */
const formulation *formulation_find(const char *name, double *parameter);
const formulation *formulation_at(int i); /* of the registry, "auto" first; NULL past the end */
/* Apply f with its default parameter where the setting has none. DAE_OK, DAE_ERR_MEMORY, or
 * DAE_ERR_UNSUPPORTED with a diagnostic that names the equation which does not fit. */
dae_status formulation_apply(const formulation *f, const analysed *a,
                             const formulation_setting *setting, formulated *result,
                             dae_diag *diag);
/* How callbacks are rewritten by f. NULL: f is not on offer for them. */
const form_rewriting *formulation_rewriting(const formulation *f, const form_source *source);

void analysed_free(analysed *a); /* leaves it zeroed */
/* The equations change: what was derived from them goes. */
void analysed_drop_derived(analysed *a);
/* The mechanism that the equations are, recognised at the first such point that is asked for; *m is
 * borrowed. Otherwise as mechanical_recognise(). */
mechanical_status analysed_mechanism(const analysed *a, const equation_point *at,
                                     const mechanical **m, char *reason, size_t size);
/* Space for n unknowns and m rows on the graph of `a`; false: memory. */
bool formulated_new(formulated *f, const analysed *a, int n, int m, int candidates);
/* y_i stands for x_j^(p): name, size and model variable from the analysed set. false: memory. */
bool formulated_stands_for(formulated *f, const analysed *a, int i, int j, int p);
/* Row r comes from equation i of the set, differentiated `times` times, as `residual`. */
bool formulated_row(formulated *f, const analysed *a, int r, int i, int times, expr residual);

/* Where x_j^(p) is among the unknowns. */
typedef struct unknown_index {
    int n;
    int *start; /* n + 1 */
    int *y;     /* y[start[j] + p + 1] = the unknown, -1 if there is none; p >= -1 */
} unknown_index;

bool unknown_index_new(unknown_index *index, const analysed *a, const formulated *f);
void unknown_index_free(unknown_index *index);
int unknown_index_at(const unknown_index *index, int j, int p); /* -1: none */
/* Note that x_j^(p) is `value`, over y and y'; false: memory. */
bool formulated_define(formulated *f, int j, int p, expr value);
/* The definition of x_j^(p) itself; EXPR_NONE: there is none. */
expr formulated_definition(const formulated *f, int j, int p);
/* x_j^(p) as an expression of y and y'; EXPR_NONE if it is not within reach, or memory. */
expr formulated_derivative(const formulated *f, const unknown_index *index, int j, int p);
/* e over the analysed set, in terms of y and y'. */
expr formulated_expression(const formulated *f, const unknown_index *index, expr e);

/* Dummy derivatives: every equation and its derivatives, every variable and its derivatives, and as
 * many kinematic equations as there are degrees of freedom [MS93]. */
dae_status formulate_dummy(const analysed *a, formulated *result, dae_diag *diag);

#endif
