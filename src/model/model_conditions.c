/* How far the initial equations of a model are from being met. */
#include <float.h>
#include <math.h>

#include "expr/walk.h"
#include "model/model.h"

/* Rounding errors of an equation: this many ulp of both of its sides. */
static const double ROUNDING = 4.0 * DBL_EPSILON;

/* A point of the base form that is moved along one unknown at a time. */
typedef struct moved_point {
    const model_instance *m;
    double t, *y;       /* y and y', as they were after each look */
    const double *unit; /* of each */
    expr e;             /* over flat variables */
    double value;       /* of it there */
} moved_point;

static double value_of(const moved_point *p, expr e)
{
    return model_instance_value_now(p->m, p->t, p->y, p->y + p->m->form->n, e);
}

/* The change of the equation as one unknown moves by its unit; INFINITY where it has no value
 * there, so that it is not judged. */
static double change_by(const moved_point *p, const expr_node *unknown)
{
    const int j = unknown->index + (unknown->order ? p->m->form->n : 0);
    const double before = p->y[j];
    p->y[j] += p->unit[j];
    double value = value_of(p, p->e);
    p->y[j] = before;
    return isfinite(value) ? fabs(value - p->value) : INFINITY;
}

/* Rounding errors of equation q there. */
static double rounding_of(const moved_point *p, const flat_equation *q)
{
    if (q->left == EXPR_NONE || q->right == EXPR_NONE) return 0.0;
    double size = fabs(value_of(p, q->left)) + fabs(value_of(p, q->right));
    return isfinite(size) ? ROUNDING * size : 0.0;
}

bool model_condition_misfit(const model_instance *m, size_t k, double t, double *y,
                            const double *unit, double *off, double *reach)
{
    const model_form *f = m->form;
    const flat_equation *q = &f->flat->initial_equations[k];
    moved_point p = {.m = m, .t = t, .y = y, .unit = unit, .e = q->residual};
    p.value = value_of(&p, p.e);
    *off = isfinite(p.value) ? fabs(p.value) : 0.0;
    *reach = 0.0;
    if (*off == 0.0) return true;
    *reach = rounding_of(&p, q);
    walk w = {0};
    bool ok = walk_from(&w, f->flat->graph, &f->condition.e[k], 1);
    for (size_t i = 0; ok && i < w.count; i++) {
        const expr_node *node = graph_node(f->flat->graph, w.order[i]);
        if (node->op == EXPR_VARIABLE) *reach += change_by(&p, node);
    }
    walk_free(&w);
    return ok;
}
