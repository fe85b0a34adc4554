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
    return s->modes && s->modes->current;
}

bool solver_rewritten(const dae_solver *s)
{
    return is_formulated(s) || s->bound.rewritten;
}

void values_to_user(const dae_solver *s, double t, const double *y, const double *yp,
                    double *user_y, double *user_yp)
{
    if (is_formulated(s)) {
        mode_to_user(s->modes->current, t, y, yp, user_y, user_yp);
        return;
    }
    if (user_y) vector_copy(s->base->form.n, y, user_y);
    if (user_yp) vector_copy(s->base->form.n, yp, user_yp);
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
    if (!is_formulated(s)) return (model_place){i, slope, 1};
    const model_form *f = s->modes->current->plan.form;
    return slope ? f->place_slope[i] : f->place[i];
}

int user_unknown(const dae_solver *s, int i)
{
    if (!is_formulated(s)) return i < s->base->form.n ? i : -1;
    const model_form *f = s->modes->current->plan.form;
    for (int k = 0; k < f->base->n; k++)
        if (f->place[k].unknown == i && !f->place[k].slope) return k;
    return -1;
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
