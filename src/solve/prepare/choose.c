#include "solve/prepare/choose.h"

#include <stdio.h>
#include <string.h>

#include "method/common/method.h"
#include "model/model.h"
#include "problem/velocities.h"

bool choice_is_open(const dae_options *o)
{
    const dae_options plain = dae_options_default();
    bool automatic = !o->method || strcmp(o->method, "auto") == 0;
    bool orders = o->max_order > 0 || o->min_order > 0;
    bool matrices = o->linear_solver == DAE_LINEAR_GMRES || o->preconditioner != DAE_PRECOND_AUTO;
    bool iterations = o->newton_iterations != plain.newton_iterations ||
                      o->newton_tolerance != plain.newton_tolerance;
    bool norms = o->norm || o->weights || o->error_test != DAE_ERROR_AUTO;
    bool steps = o->fixed_step > 0.0 || o->step_count > 0 || o->min_step > 0.0;
    bool projections = o->projection != DAE_PROJECTION_AUTO && o->projection != DAE_PROJECTION_NONE;
    return automatic && !orders && !matrices && !iterations && !norms && !steps && !projections;
}

/* Texts one behind the other, as many as fit: every solver makes some, and formats cost as much as
 * a step of a small problem. */
static void join_texts(char *to, size_t size, const char *const *texts)
{
    size_t used = 0;
    for (; *texts; texts++)
        for (const char *c = *texts; *c && used + 1 < size; c++) to[used++] = *c;
    to[used] = '\0';
}

static const method *because(const method *m, const char *reason, char *why)
{
    join_texts(why, CHOICE_TEXT, (const char *const[]){m->name, ": ", reason, NULL});
    return m;
}

/* What the families are called where they fail, and who goes on for them; in the order in which
 * they are tried. */
static const struct {
    const char *failed;
    const method *member;
} families[FAMILY_COUNT] = {
    [FAMILY_FORMS] = {"an explicit method failed, so ", NULL},
    [FAMILY_STAGES] = {"radau failed, so ", &method_radau},
    [FAMILY_STEPS] = {"bdf failed, so ", &method_bdf},
};

family family_of(const method *m)
{
    for (int f = 0; f < FAMILY_COUNT; f++)
        if (families[f].member == m) return (family)f;
    return FAMILY_FORMS;
}

const char *family_failed(family f)
{
    return families[f].failed;
}

family family_left(unsigned failed)
{
    for (int f = 0; f < FAMILY_COUNT; f++)
        if (families[f].member && !(failed & family_bit((family)f))) return (family)f;
    return FAMILY_COUNT;
}

const method *choose_needed(const formulation *f, const method *m)
{
    if (m || !f->needs) return m;
    return method_find(f->needs);
}

const method *choose_by_formulation(const wishes *w, char *why)
{
    char reason[80];
    const method *m = w->open ? choose_needed(w->formulation, NULL) : NULL;
    snprintf(reason, sizeof reason, "what formulation %.40s is for", w->formulation->name);
    return m ? because(m, reason, why) : NULL;
}

bool declares_index3(const dae_problem *p)
{
    const dae_kind *kinds = p->forms || p->model ? NULL : p->form.kinds;
    for (int i = 0; kinds && i < p->form.n; i++)
        if (kinds[i] == DAE_KIND_INDEX3) return true;
    return false;
}

/* Above this size the complex factors of radau cost more than its longer steps save while few
 * digits are wanted: heat2d with n = 3364 takes 1.16 s with bdf and 1.78 s with radau at rtol =
 * 1e-3, 2.72 and 2.87 s at 1e-7. */
enum { LARGE = 1000 };
static const double FEW_DIGITS = 1e-5;

/* Whether all that a model differentiates are positions and their velocities, in pairs x' = v. */
static bool is_of_second_order(const dae_problem *p)
{
    const model_form *f = p->model;
    int differentiated = 0;
    if (!f || p->kinematic_count == 0) return false;
    for (int i = 0; i < f->n; i++) differentiated += f->differential[i];
    for (int k = 0; k < p->kinematic_count; k++)
        if (!f->differential[p->kinematic[k].velocity]) return false;
    return differentiated == 2 * p->kinematic_count;
}

/* Few digits of equations of second order: linear systems are half as large without velocities, and
 * the fixed order 9 takes as few steps as radau's orders while tolerances are loose. It takes 0.70
 * to 1 of the time of radau where the index is 1 or less (andrews1, pendulum1, caraxis1, violin,
 * ball, van der Pol, double pendulum, springs, stiff dampers), and 0.5 to 0.8 of that of
 * Taylor series on wheel and cycloid. Below, radau's higher orders win. At index 2, where nothing
 * but velocities is constrained, it takes 1.8 of it (a knife edge). */
static const double LOOSE = 5e-5;

bool choice_is_loose(const dae_options *o)
{
    return o->rtol > LOOSE;
}

static bool suits_collocation(const dae_problem *p, const wishes *w)
{
    return !w->implicit && !w->failed && w->formulation->automatic && choice_is_loose(w->options) &&
           p->form.n <= LARGE && is_of_second_order(p);
}

static const method *take_collocation(char *why)
{
    return because(&method_colloc2nd, "few digits of equations of second order", why);
}

const method *choose_residual(const dae_problem *p, const wishes *w, char *why)
{
    char reason[120];
    bool written = p->model && p->model->unmet < 0; /* of index 1 or less */
    if (written && suits_collocation(p, w)) return take_collocation(why);
    join_texts(reason, sizeof reason,
               (const char *const[]){w->reason, "implicit, for equations of any form", NULL});
    bool few_digits = p->form.n > LARGE && w->options->rtol > FEW_DIGITS;
    /* a formulation that is asked for may be one that only bdf is known to solve, and its short
     * steps come close to bounds */
    bool bounded = !p->model && (p->form.lower_bounds || p->form.upper_bounds);
    bool fits = (w->formulation->automatic && !few_digits && !bounded) || declares_index3(p);
    const family first = fits && !w->iterative ? FAMILY_STAGES : FAMILY_STEPS;
    const family left = family_left(w->failed);
    const bool serves = left == FAMILY_COUNT || !(w->failed & family_bit(first));
    return because(families[serves ? first : left].member, reason, why);
}

/* As prk does: order 8 below this tolerance. */
static const double TIGHT = 3e-3;

const method *choose_first(const dae_problem *p, const wishes *w, char *why)
{
    /* methods on forms do not have the formulation that the user wants */
    bool forms = !w->implicit && w->formulation->automatic;
    unsigned offers = p->forms ? form_source_offers(p->forms) : 0;
    if (p->model) offers = flat_lags_by_unknowns(p->model->flat) ? 0 : FORM_MECHANICAL;
    const method *special = p->forms ? choose_by_formulation(w, why) : NULL;
    if (special) return special;
    if (forms && offers & FORM_MECHANICAL)
        return because(&method_prk, "a mechanism, not stiff so far", why);
    if (forms && offers & FORM_HESSENBERG)
        return because(&method_hem5, "Hessenberg form, not stiff so far", why);
    if (forms && p->forms && form_source_is_manifold(p->forms))
        return because(w->options->rtol < TIGHT ? &method_dop853 : &method_dopri5,
                       "an ODE on a manifold, not stiff so far", why);
    return choose_residual(p, w, why);
}

/* Of constraints that are differentiated twice and more, Taylor series see all levels at once: on
 * models of index 3 and above that are no plain mechanisms (cycloid, wheel, trajectory3) they take
 * 0.6 to 1.2 of the time of radau, 0.9 in the mean at 7 and 10 digits. Not so where the constraints
 * leave nothing to integrate (a crane and a robot arm on prescribed paths: 1.7), nor where the
 * equations are linear: radau needs one iteration a step then, and few factors (springchain: 1.2
 * to 1.7). */
enum { TAYLOR_INDEX = 3, TAYLOR_SIZE = 100 };

const method *choose_next(const dae_problem *p, const wishes *w, const method *m,
                          const equation_traits *e, char *why)
{
    if (!w->open || !method_needs_form(m) || w->formulation->needs) return NULL;
    bool high = m->forms == FORM_MECHANICAL && !w->implicit && p->model &&
                e->index >= TAYLOR_INDEX && e->freedom > 0 && !e->linear;
    if (high && suits_collocation(p, w)) return take_collocation(why);
    bool delays = p->model && p->model->flat->delay_count > 0; /* no series of what was */
    if (!high || delays || p->form.n > TAYLOR_SIZE) return choose_residual(p, w, why);
    return because(&method_taylor, "index 3 or above, not stiff so far", why);
}

bool declares_high_kinds(const dae_problem *p)
{
    const dae_kind *kinds = p->form.kinds;
    for (int j = 0; kinds && j < p->form.n; j++)
        if (kinds[j] > DAE_KIND_INDEX1) return true;
    return false;
}
