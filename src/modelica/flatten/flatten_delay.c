/* delay(expr, delayTime) and delay(expr, delayTime, delayMax) (Modelica 3.6, section 3.7.4.1). */
#include "modelica/flatten/flatten_internal.h"

static bool is_fixed(flattener *f, expr e)
{
    return !(node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY));
}

/* Argument k, a scalar number. */
static bool delay_argument(flattener *f, const ast_expr *e, size_t k, value *out)
{
    *out = evaluate(f, e->args[k]);
    if (value_is_error(out)) return false;
    if (value_is_numeric(out) && out->rank == 0) return true;
    return type_error(f, e->args[k]->place, "delay", out, "a number");
}

/* What the arguments must satisfy as far as it is known before the run. */
static bool check_times(flattener *f, const ast_expr *e, const flat_delay *d)
{
    const bool named = e->arg_count == 3;
    double lag, most;
    if (named && !is_fixed(f, d->most))
        return report_error(f, e->args[2]->place,
                            "delayMax of delay must be a parameter or "
                            "constant");
    if (!named && d->varies)
        return report_error(f, e->args[1]->place,
                            "the delay time changes during the run: delay wants its largest "
                            "value, too, as delay(expr, delayTime, delayMax)");
    if (!graph_is_constant(f->g, d->lag, &lag)) return true;
    if (lag < 0.0)
        return report_error(f, e->args[1]->place, "the delay time is %g; it must not be negative",
                            lag);
    if (graph_is_constant(f->g, d->most, &most) && lag > most)
        return report_error(f, e->args[1]->place, "the delay time %g exceeds delayMax = %g", lag,
                            most);
    return true;
}

static expr slot(flattener *f, const flat_delay *d, int k)
{
    return graph_memory(f->g, d->memory + k);
}

/* c0 + (x - x0) (c1 + (x - x1) (c2 + ..)) with x = (time - lag - from) scale */
static expr past_value(flattener *f, const flat_delay *d)
{
    graph *g = f->g;
    expr then = graph_binary(g, EXPR_SUB, graph_time(g), d->lag);
    expr since = graph_binary(g, EXPR_SUB, then, slot(f, d, DELAY_FROM));
    expr x = graph_binary(g, EXPR_MUL, since, slot(f, d, DELAY_SCALE));
    expr sum = slot(f, d, DELAY_FIRST + DELAY_NODES - 1);
    for (int k = DELAY_NODES - 2; k >= 0; k--) {
        expr step = graph_binary(g, EXPR_SUB, x, constant(f, flat_delay_node(k)));
        sum = graph_binary(g, EXPR_ADD, slot(f, d, DELAY_FIRST + k),
                           graph_binary(g, EXPR_MUL, step, sum));
    }
    return sum;
}

/* The delay with these arguments, new or old; NULL: memory. */
static const flat_delay *delay_of(flattener *f, const flat_delay *like)
{
    flat_model *m = f->m;
    for (size_t k = 0; k < m->delay_count; k++)
        if (m->delays[k].value == like->value && m->delays[k].lag == like->lag &&
            m->delays[k].most == like->most)
            return &m->delays[k];
    int first = new_memory(f);
    for (int k = 1; k < DELAY_SLOTS; k++) new_memory(f);
    if (f->failed) return NULL;
    flat_delay *d =
        flatten_push(f, &m->delays, &m->delay_count, &f->delay_capacity, sizeof *m->delays);
    if (!d) return NULL;
    *d = *like;
    d->memory = first;
    return d;
}

value delay_call(flattener *f, const char *name, const ast_expr *e)
{
    value v, lag, most;
    if (f->scope.in_function)
        return error_value(f, e->place, "%s cannot be used in a function", name);
    if (e->named_count || e->arg_count < 2 || e->arg_count > 3)
        return error_value(f, e->place, "delay wants 2 or 3 arguments, found %zu",
                           e->arg_count + e->named_count);
    if (!delay_argument(f, e, 0, &v) || !delay_argument(f, e, 1, &lag)) return value_error();
    most = lag;
    if (e->arg_count == 3 && !delay_argument(f, e, 2, &most)) return value_error();
    flat_delay d = {.value = value_element(&v, 0),
                    .lag = value_element(&lag, 0),
                    .most = value_element(&most, 0),
                    .place = e->place};
    d.varies = !is_fixed(f, d.lag);
    if (!graph_reads(f->g, &d.lag, 1, READS_VARIABLES, &d.by_unknowns)) f->failed = true;
    if (f->failed || !check_times(f, e, &d)) return value_error();
    v.type = VALUE_REAL;
    if (graph_is_number(f->g, d.lag, 0.0) || is_fixed(f, d.value)) return v;
    const flat_delay *kept = delay_of(f, &d);
    if (!kept) return value_error();
    value out = value_scalar(VALUE_REAL,
                             graph_select(f->g, slot(f, kept, 0), d.value, past_value(f, kept)));
    out.unit = v.unit;
    return out;
}
