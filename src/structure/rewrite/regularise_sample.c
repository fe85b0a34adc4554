/* Identities tested at sample points, with bounds of what rounding does. */
#include "structure/rewrite/regularise_parts.h"

#include "base/memory.h"
#include "base/random.h"
#include "expr/series.h"

#include <float.h>
#include <math.h>

void sampling_free(sampling *s)
{
    walk_free(&s->nodes);
    dae_free_all(s->value, s->error);
    s->value = s->error = NULL;
    s->capacity = 0;
}

/* ---- leaves --------------------------------------------------------------------------------- */

/* A number in [-1, 1] that depends on three others. */
static double mixed(int a, int b, int c)
{
    uint64_t state =
        ((uint64_t)(uint32_t)a << 24) ^ ((uint64_t)(uint32_t)b << 8) ^ (uint64_t)(uint32_t)c;
    return random_number(&state);
}

/* How far a sample lies from the point, relative to sizes. */
static const double REACH[SAMPLES] = {1e-3, 1e-2, 0.1, 0.3, 2.0, 2.0};

static double variable_at(const sampling *s, int j, int order, int sample)
{
    if (!s->parameters && j < s->zeros && s->zero[j]) return 0.0;
    bool given = order <= s->at->orders && j < s->variables && s->at->x[order];
    double base = given ? s->at->x[order][j] : 0.0,
           nominal = j < s->set->n ? s->set->nominal[j] : 1.0;
    if (!isfinite(base)) base = 0.0;
    if (sample >= SAMPLES_NEAR) return REACH[sample] * nominal * mixed(j, order + 1, sample);
    double size = given ? fmax(fabs(base), nominal) : nominal / REACH[sample];
    return base + REACH[sample] * size * mixed(j, order + 1, sample);
}

static double parameter_at(const sampling *s, int index, int sample)
{
    double base = s->at->parameters ? s->at->parameters[index] : 0.0;
    if (!s->parameters) return base;
    double change = 0.3 * mixed(index, 1000, sample);
    return base != 0.0 ? base * (1.0 + change) : change;
}

/* Half an ulp of a double, unless it is one that people mean exactly (12, 0.5, 0.125). */
static long double given_error(double value)
{
    double scaled = value * 1024.0;
    return scaled == floor(scaled) && fabs(scaled) < 1e15 ? 0.0L : fabsl(value) * 0x1p-53L;
}

static void leaf_at(const sampling *s, const expr_node *node, int sample, long double *value,
                    long double *error)
{
    double x = NAN;
    *error = 0.0L;
    switch ((expr_op)node->op) {
    case EXPR_CONSTANT: *error = given_error(x = node->value); break;
    case EXPR_TIME: {
        double size = fmax(1.0, fabs(s->at->time));
        x = s->at->time + fmin(REACH[sample], 1.0) * size * mixed(0, 2000, sample);
        break;
    }
    case EXPR_VARIABLE: x = variable_at(s, node->index, node->order, sample); break;
    case EXPR_PARAMETER:
        x = parameter_at(s, node->index, sample);
        if (!s->parameters) *error = given_error(x);
        break;
    case EXPR_MEMORY: x = s->at->memory ? s->at->memory[node->index] : 0.0; break;
    default: break;
    }
    *value = x;
}

/* ---- operations in long double ----------------------------------------------------------------
 */

/* What errors of the operands do to an operation: first order for the four species, the operation
 * at the ends of the intervals for the others. */
static long double passed_on(expr_op op, long double v, long double a, long double ea,
                             long double b, long double eb)
{
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUB: return ea + eb;
    case EXPR_MUL: return fabsl(a) * eb + fabsl(b) * ea + ea * eb;
    case EXPR_DIV: return (ea + fabsl(v) * eb) / fabsl(b);
    default: break;
    }
    if (expr_is_step(op)) return 0.0L;
    long double most = fmaxl(fabsl(graph_apply_long(op, a + ea, b, 0) - v),
                             fabsl(graph_apply_long(op, a - ea, b, 0) - v));
    return most + fmaxl(fabsl(graph_apply_long(op, a, b + eb, 0) - v),
                        fabsl(graph_apply_long(op, a, b - eb, 0) - v));
}

/* The same for one operand. What is rounded counts as exact, as relations do: at a jump the
 * interval would reach over it, and everything were zero within such errors. */
static long double passed_on_unary(expr_op op, long double v, long double a, long double ea)
{
    if (op == EXPR_NEG) return ea;
    if (expr_is_step(op)) return 0.0L;
    return fmaxl(fabsl(graph_apply_long(op, a + ea, 0, 0) - v),
                 fabsl(graph_apply_long(op, a - ea, 0, 0) - v));
}

/* A leaf as compile-time evaluation asks for it. */
typedef struct leaf_reader {
    const sampling *s;
    int sample;
} leaf_reader;

static double read_leaf(void *context, const expr_node *leaf)
{
    const leaf_reader *reader = context;
    long double value, error;
    leaf_at(reader->s, leaf, reader->sample, &value, &error);
    return (double)value;
}

/* The result of a loop, in double precision: a bound that allows for many turns. */
static void evaluate_loop(const sampling *s, expr e, int sample, long double *value,
                          long double *error)
{
    leaf_reader reader = {.s = s, .sample = sample};
    *value = graph_value(s->set->graph, e, read_leaf, &reader);
    *error = fabsl(*value) * 1e-12L;
}

/* Value and error of node i of the walk. */
static void evaluate_node(sampling *s, size_t i, int sample)
{
    const expr_node *n = graph_node(s->set->graph, s->nodes.order[i]);
    long double *v = s->value, *e = s->error;
    if (graph_arity(n->op) == 0) {
        leaf_at(s, n, sample, &v[i], &e[i]);
        return;
    }
    if (n->op == EXPR_RESULT || n->op == EXPR_SIGNAL) {
        evaluate_loop(s, s->nodes.order[i], sample, &v[i], &e[i]);
        return;
    }
    if (n->op == EXPR_LIST || n->op == EXPR_LOOP) { /* no numbers */
        v[i] = e[i] = 0.0L;
        return;
    }
    size_t a = walk_place(&s->nodes, n->a);
    if (n->op == EXPR_SELECT) {
        size_t taken = walk_place(&s->nodes, v[a] != 0 ? n->b : n->c);
        v[i] = v[taken];
        e[i] = e[taken];
    } else if (graph_arity(n->op) == 1) {
        v[i] = graph_apply_long(n->op, v[a], 0, 0);
        e[i] = passed_on_unary(n->op, v[i], v[a], e[a]);
    } else {
        size_t b = walk_place(&s->nodes, n->b);
        v[i] = graph_apply_long(n->op, v[a], v[b], 0);
        e[i] = passed_on(n->op, v[i], v[a], e[a], v[b], e[b]);
    }
    e[i] += fabsl(v[i]) * LDBL_EPSILON;
}

static bool make_room(sampling *s, size_t count)
{
    if (count <= s->capacity) return true;
    dae_free_all(s->value, s->error);
    s->capacity = 2 * count;
    s->value = DAE_ARRAY(long double, s->capacity);
    s->error = DAE_ARRAY(long double, s->capacity);
    if (s->value && s->error) return true;
    s->capacity = 0;
    return false;
}

bool sampling_values(sampling *s, int sample, const expr *e, size_t count, long double *value,
                     long double *error)
{
    if (!walk_from(&s->nodes, s->set->graph, e, count) || !make_room(s, s->nodes.count))
        return false;
    for (size_t i = 0; i < s->nodes.count; i++) evaluate_node(s, i, sample);
    for (size_t k = 0; k < count; k++) {
        size_t i = e[k] ? walk_place(&s->nodes, e[k]) : 0;
        value[k] = e[k] ? s->value[i] : 0.0L;
        if (error) error[k] = e[k] ? s->error[i] : 0.0L;
    }
    return true;
}

/* Errors may add up beyond their first order bounds; a value that is not zero is far above. */
static const long double SAFETY = 16.0L;

int sampling_is_zero(sampling *s, expr e)
{
    int near = 0;
    double constant;
    if (graph_is_constant(s->set->graph, e, &constant)) return constant == 0.0;
    for (int k = 0; k < SAMPLES; k++) {
        long double value, error;
        if (!sampling_values(s, k, &e, 1, &value, &error)) return -1;
        if (!isfinite(value) || !isfinite(error)) continue;
        if (fabsl(value) > SAFETY * error) return 0;
        if (k < SAMPLES_NEAR) near++;
    }
    return near >= 2;
}

int sampling_is_equal(sampling *s, expr a, expr b)
{
    int near = 0;
    for (int k = 0; k < SAMPLES; k++) {
        long double value[2], error[2];
        if (!sampling_values(s, k, (expr[]){a, b}, 2, value, error)) return -1;
        if (!isfinite(value[0])) continue;
        if (!(fabsl(value[0] - value[1]) <= SAFETY * (error[0] + error[1]))) return 0;
        if (k < SAMPLES_NEAR) near++;
    }
    return near >= 2;
}
