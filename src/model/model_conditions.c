/* How far the initial equations of a model are from being met. */
#include <math.h>

#include "expr/walk.h"
#include "model/model.h"

/* A point of the base form that is moved along one unknown at a time. */
typedef struct moved_point {
    const model_instance *m;
    double t, *y, *yp; /* as they were, after each look */
    expr e;            /* over flat variables */
    double value;      /* of it there */
} moved_point;

/* The change of the equation as one unknown moves by its size; INFINITY where it has no value
 * there, so that it is not judged. */
static double change_by(const moved_point *p, const expr_node *unknown)
{
    double *x = &(unknown->order ? p->yp : p->y)[unknown->index], before = *x;
    *x += fmax(fabs(before), model_form_nominal(p->m->form, unknown->index));
    double value = model_instance_value_now(p->m, p->t, p->y, p->yp, p->e);
    *x = before;
    return isfinite(value) ? fabs(value - p->value) : INFINITY;
}

bool model_condition_misfit(const model_instance *m, size_t k, double t, double *y, double *yp,
                            double *off, double *reach)
{
    const model_form *f = m->form;
    moved_point p = {.m = m, .t = t, .y = y, .yp = yp, .e = f->flat->initial_equations[k].residual};
    p.value = model_instance_value_now(m, t, y, yp, p.e);
    *off = isfinite(p.value) ? fabs(p.value) : 0.0;
    *reach = 0.0;
    if (*off == 0.0) return true;
    walk w = {0};
    bool ok = walk_from(&w, f->flat->graph, &f->condition.e[k], 1);
    for (size_t i = 0; ok && i < w.count; i++) {
        const expr_node *node = graph_node(f->flat->graph, w.order[i]);
        if (node->op == EXPR_VARIABLE) *reach += change_by(&p, node);
    }
    walk_free(&w);
    return ok;
}
