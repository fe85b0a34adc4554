/* The solution in terms of what is integrated, and in terms of the user's unknowns. */
#include <math.h>

#include "base/memory.h"
#include "base/printable.h"
#include "base/vector.h"
#include "solve/bind/solver.h"

void solver_interpolate(const dae_solver *s, double t, int derivative, double *y)
{
    const binding *b = &s->bound;
    if (!y) return;                   /* there was no memory for the problem at hand */
    if (s->run.phase < PHASE_RUNNING) /* the method has not begun: it has no values of its own */
        vector_copy(b->n, derivative ? b->yp : b->y, y);
    else
        b->method->interpolate(b->state, &b->context, t, derivative, y);
}

bool is_formulated(const dae_solver *s)
{
    return s->bound.unknowns == &unknowns_of_form;
}

bool solver_rewritten(const dae_solver *s)
{
    return is_formulated(s) || s->bound.rewritten;
}

/* ---- the unknowns as the user has them, perhaps with others behind them ---- */

static void same_to_user(const dae_solver *s, double t, const double *y, const double *yp,
                         double *user_y, double *user_yp)
{
    (void)t;
    if (user_y) vector_copy(s->base->form.n, y, user_y);
    if (user_yp) vector_copy(s->base->form.n, yp, user_yp);
}

static void same_from_user(dae_solver *s, const double *user_y, const double *user_yp)
{
    if (user_y) vector_copy(s->base->form.n, user_y, s->bound.y);
    if (user_yp) vector_copy(s->base->form.n, user_yp, s->bound.yp);
}

static model_place same_place(const dae_solver *s, int i, bool slope)
{
    (void)s;
    return (model_place){i, slope, 1};
}

static int same_unknown(const dae_solver *s, int i)
{
    return i < s->base->form.n ? i : -1;
}

const unknown_map unknowns_as_given = {same_to_user, same_from_user, same_place, same_unknown};

/* ---- those of the form of a mode ---- */

static void form_to_user(const dae_solver *s, double t, const double *y, const double *yp,
                         double *user_y, double *user_yp)
{
    mode_to_user(s->modes->current, t, y, yp, user_y, user_yp);
}

static void form_from_user(dae_solver *s, const double *user_y, const double *user_yp)
{
    mode_from_user(s->modes->current, user_y, user_yp, s->bound.y, s->bound.yp);
}

static model_place form_place(const dae_solver *s, int i, bool slope)
{
    const model_form *f = s->modes->current->plan.form;
    return slope ? f->place_slope[i] : f->place[i];
}

static int form_unknown(const dae_solver *s, int i)
{
    const model_form *f = s->modes->current->plan.form;
    for (int k = 0; k < f->base->n; k++)
        if (f->place[k].unknown == i && !f->place[k].slope) return k;
    return -1;
}

const unknown_map unknowns_of_form = {form_to_user, form_from_user, form_place, form_unknown};

/* ---- either ---- */

void values_to_user(const dae_solver *s, double t, const double *y, const double *yp,
                    double *user_y, double *user_yp)
{
    s->bound.unknowns->to_user(s, t, y, yp, user_y, user_yp);
}

void values_from_user(dae_solver *s, const double *user_y, const double *user_yp)
{
    s->bound.unknowns->from_user(s, user_y, user_yp);
}

double *user_values(const dae_solver *s)
{
    int n = s->base->form.n;
    double *y = DAE_ARRAY(double, 2 * (size_t)n);
    if (y) values_to_user(s, s->run.t, s->bound.y, s->bound.yp, y, y + n);
    return y;
}

model_place place_of(const dae_solver *s, int i, bool slope)
{
    return s->bound.unknowns->place(s, i, slope);
}

int user_unknown(const dae_solver *s, int i)
{
    return s->bound.unknowns->user_unknown(s, i);
}

void look_at_eliminated(const dae_solver *s, double t, const double *y, const double *yp)
{
    if (is_formulated(s)) mode_eliminated(s->modes->current, t, y, yp, NULL, NULL);
}

double value_of_eliminated(const dae_solver *s, int i, bool slope)
{
    const model_mode *v = s->modes->current;
    int k = v->plan.form->seen_at[i];
    return k < 0 ? (double)NAN : v->eliminated[slope ? v->plan.form->seen_count + k : k];
}

const char *model_file(const dae_solver *s)
{
    const flat_model *m = s->base->model->flat;
    return m->file ? m->file : m->name;
}

void solver_note(const dae_solver *s, const char *text)
{
    char safe[DAE_TEXT_SIZE];
    if (!s->bound.options.message) return;
    (void)dae_printable(text, safe, sizeof safe);
    s->bound.options.message(safe, s->bound.options.user);
}
