/* Daedal: necessary conditions of optimal control, as a model. Included by daedal.h.
 *
 *     minimise  at_end(T) + integral of `integral` from the start to T
 *
 * over inputs of a model, the controls, over parameters that are named, and over start values that
 * nothing fixes. The conditions that a smooth solution meets are equations again: the model's own,
 * one adjoint equation for each variable that matters, one equation for each control, and
 * conditions at both ends. They are a model with conditions at the end (bvp.h).
 *
 *     const char *control[] = {"u"};
 *     dae_model m = {.file = "tank.mo"};
 *     dae_optimality_request r = {.controls = control, .control_count = 1,
 *                                 .integral = "x^2 + u^2"};
 *     dae_problem_optimality(&m, &r, &conditions, &diag);
 *     dae_bvp_new(conditions, &(dae_bvp_request){.end = 1.0}, &b, &diag);
 *
 * docs/optimality.md. */
#ifndef DAEDAL_OPTIMALITY_H
#define DAEDAL_OPTIMALITY_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* Zero-initialise. Texts are as the language writes them, over all names of the model. */
typedef struct dae_optimality_request {
    const char *const *controls; /* inputs of the model; an array means all of its elements */
    int control_count;
    const char *integral;       /* what is integrated; NULL: nothing */
    const char *at_end;         /* what is added at the end; NULL: nothing. One of both is needed */
    const char *const *unknown; /* parameters that are chosen, too; values are where it begins */
    int unknown_count;
} dae_optimality_request;

DAE_API dae_status dae_problem_optimality_sized(const dae_model *model, size_t model_size,
                                                const dae_optimality_request *request,
                                                size_t request_size, dae_problem **conditions,
                                                dae_diag *diag);
DAE_API char *dae_optimality_text_sized(const dae_model *model, size_t model_size,
                                        const dae_optimality_request *request, size_t request_size,
                                        dae_diag *diag);

/* The conditions as a problem, which dae_bvp_new() solves. What must hold at the end stands in
 * model->terminal and in the model's annotation, what must hold at the start is what bvp.h says.
 * New variables: lambda_x, the adjoint of the equation of x; nu_1, .., multipliers of conditions;
 * objective, the objective as far as it has come; hamiltonian, which is constant where time does
 * not appear. Start values of adjoints are 0: a guess.
 * DAE_ERR_ARGUMENT: a name, or a request that is not complete; DAE_ERR_UNSUPPORTED: what the model
 * has that conditions cannot say, such as events and bounds, or a control that they do not
 * determine; DAE_ERR_MODEL: the text. */
static inline dae_status dae_problem_optimality(const dae_model *model,
                                                const dae_optimality_request *request,
                                                dae_problem **conditions, dae_diag *diag)
{
    return dae_problem_optimality_sized(model, sizeof *model, request, sizeof *request, conditions,
                                        diag);
}

/* The same as a flat model text. Free it with dae_text_free(); NULL: see the diagnostic. */
static inline char *dae_optimality_text(const dae_model *model,
                                        const dae_optimality_request *request, dae_diag *diag)
{
    return dae_optimality_text_sized(model, sizeof *model, request, sizeof *request, diag);
}

#endif
