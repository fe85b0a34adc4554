/* The residual form F(t, y, y') = 0 and its guarded evaluation. */
#ifndef DAE_PROBLEM_RESIDUAL_H
#define DAE_PROBLEM_RESIDUAL_H

#include "daedal.h"
#include "linalg/matrix.h"
#include "problem/regular_terms.h"

/* A problem's own copy of a dae_residual. Immutable once built, so that solvers in several threads
 * may share it. The three name tables are never NULL: where the user gave no name there is a
 * generated one ("y[3]", "F[3]", "g[0]"). form.structure is AUTO only if nothing is known. */
struct model_form;
struct dae_problem {
    dae_residual form; /* arrays and names owned by the problem */
    /* Not NULL: names belong to the model behind it, which may have yet to make that of an
     * equation. */
    const char *(*equation_name)(const struct model_form *model, int row);
    bool has_layout; /* structure is known; else decided per solver (dense or detected) */
    matrix_layout layout;
    const char *const *event_names; /* table behind form.events[].name, owned */
    struct model_form *model;       /* behind it, or NULL for callbacks; owned */
    struct dae_problem *simplified; /* of a model with homotopy: the same with a way from simplified
                                       to actual (solve/run/homotopy.c); owned, or NULL */
    dae_engine engine;              /* how a model runs */
    struct kernel_store *kernels;   /* code for its matrices, or NULL; borrowed from the model */
    struct form_source *forms;      /* callbacks in another form, behind `form`; owned, or NULL */
    int kinematic_count;            /* rows of F that say y_i' = y_j, as far as they are known */
    int chain_count;
    struct kinematic_row *chain;     /* of these all that make chains y_i' = y_j, y_j' = y_k, ..;
                                        owned, or NULL */
    struct kinematic_row *kinematic; /* these (velocities.h); owned, or NULL. row -1: not yet
                                        found (kinematic.h) */
    dae_interrupt_fn interrupt;      /* of a model's translation: asked by its analysis, too */
    void *interrupt_user;
    struct arena *source_texts; /* of a model: what its text was, with everything that was said */
    const dae_model *source;    /* beside it; copies, in this arena, NULL: callbacks */
};

/* Keep a copy of the text of a model, and of what was given with it. false: memory */
bool problem_keep_source(dae_problem *problem, const dae_model *model, const char *text,
                         size_t length);

/* The problem of a model, whose names it borrows: each unknown has one, equations are asked for. */
dae_status problem_of_model(const dae_residual *form, struct model_form *model,
                            const char *(*equation_name)(const struct model_form *, int),
                            dae_problem **problem, dae_diag *diag);
/* Free the problem, but neither the model nor the forms behind it. */
void problem_release(dae_problem *problem);

typedef enum eval_status {
    EVAL_OK = 0,
    EVAL_RETRY = 1,  /* callback asked for a smaller step, or a value is not finite */
    EVAL_STOP = -1,  /* callback asked to stop */
    EVAL_MEMORY = -2 /* no memory for a detected pattern; from the jacobian functions only */
} eval_status;

/* What a component of a failed evaluation belongs to */
typedef enum eval_part {
    EVAL_EQUATION,  /* a row of F, or of another form */
    EVAL_SLOPE,     /* a row of dF/dy or dF/dy' */
    EVAL_EVENT,     /* an event function */
    EVAL_CONDITION, /* an initial equation */
    EVAL_VARIABLE   /* an unknown */
} eval_part;

/* Which callback failed last, and how: enough to write the diagnostic. */
typedef struct eval_failure {
    const char *callback; /* its name for messages; NULL if none did */
    eval_part part;
    int code;      /* what it returned; 0 if a value was not finite */
    int component; /* first non-finite component (jacobian: its row), -1 */
    int variable;  /* jacobian: column of the first non-finite entry, else -1 */
    double t;
    double value;         /* the non-finite value */
    bool singular;        /* no callback failed: the mass matrix has no inverse, at `variable` */
    const char *equation; /* name of the component, where rows of the residual form will not do */
} eval_failure;

/* One solver's view of the problem: counts calls and remembers the last failure. */
typedef struct evaluator {
    const dae_problem *problem; /* borrowed */
    dae_stats *stats;           /* borrowed */
    void *instance;             /* handed to a model's callbacks in place of form.user, or NULL */
    void *forms; /* the same for callbacks in another form (form_instance), or NULL */
    eval_failure failure;
    eval_failure *stop;   /* borrowed: the first callback that asked to stop (code < 0); or NULL */
    struct team *threads; /* that share large pieces of work; borrowed, NULL: none */
    const regular_terms *terms; /* beside the equations; borrowed, NULL: none */
} evaluator;

/* Remember that a callback failed, and whether it asked to stop: who tries something else after a
 * failure need not hand that on. */
eval_status evaluator_failed(evaluator *e, eval_failure failure);

/* f = F(t,y,y'), counted in *counter (stats->residuals or stats->jacobian_residuals) */
eval_status evaluate_residual(evaluator *e, double t, const double *y, const double *yp, double *f,
                              long *counter);
/* The same at `count` points, one behind the other, counted in stats->residuals: fewer calls for
 * small systems. Where it fails *failed is the number of the point. Later points may have been
 * asked for by then. */
eval_status evaluate_residuals(evaluator *e, int count, const double *t, const double *y,
                               const double *yp, double *f, int *failed);
/* Some rows of F, where the problem has them apart; else all. */
eval_status evaluate_rows(evaluator *e, double t, const double *y, const double *yp,
                          const int *rows, int count, double *f);
/* The same of dF/dy and dF/dy' on the problem's layout, whose arrays were zeroed before the first
 * call. */
eval_status evaluate_jacobian_rows(evaluator *e, double t, const double *y, const double *yp,
                                   const int *rows, int count, double *dfdy, double *dfdyp);
/* dF/dy, dF/dy' by the user's callback in the problem's layout, arrays zeroed first */
eval_status evaluate_jacobian(evaluator *e, const matrix_layout *layout, double t, const double *y,
                              const double *yp, double *dfdy, double *dfdyp);
eval_status evaluate_events(evaluator *e, double t, const double *y, const double *yp, double *g);
eval_status evaluate_conditions(evaluator *e, double t, const double *y, const double *yp,
                                double *b);

/* The user's preconditioner P of dF/dy + cj dF/dy' (setup may be absent), and products with it. */
eval_status evaluate_precond_setup(evaluator *e, double t, const double *y, const double *yp,
                                   double cj);
eval_status evaluate_precond_solve(evaluator *e, double t, const double *y, const double *yp,
                                   double cj, double *b);
eval_status evaluate_jac_times(evaluator *e, double t, const double *y, const double *yp, double cj,
                               const double *v, double *av);

/* Write the last failure into a diagnostic: DAE_ERR_CALLBACK or DAE_ERR_EVALUATION with names. */
dae_status evaluator_report(const evaluator *e, eval_status status, dae_diag *diag);

/* Whether there is memory for n unknowns at all; asked for in one piece, since a system may promise
 * small pieces that it does not have. */
bool problem_fits(int n);

/* Names for messages: the user's, or generated ones; NULL only if i is out of range. */
const char *problem_variable(const dae_problem *p, int i);
const char *problem_equation(const dae_problem *p, int i);
const char *problem_event(const dae_problem *p, int i);

#endif
