/* Shifts of inputs: numbers by which a model can be differentiated where no parameter is. */
#include "modelica/flatten/flat.h"

static bool same_place(source_place a, source_place b)
{
    return a.line == b.line && a.column == b.column;
}

/* The equation that gives an input what it follows: u = .., at the place of its declaration where
 * others have it on their left sides, too. NULL: none, or it cannot be told. */
static flat_equation *equation_of(const flat_model *m, size_t variable)
{
    const flat_variable *v = &m->variables[variable];
    flat_equation *found = NULL, *declared = NULL;
    size_t count = 0;
    for (size_t i = 0; i < m->equation_count; i++) {
        flat_equation *q = &m->equations[i];
        const expr_node *left = q->left != EXPR_NONE ? graph_node(m->graph, q->left) : NULL;
        if (!left || left->op != EXPR_VARIABLE || left->order != 0 || left->index != (int)variable)
            continue;
        found = q;
        count++;
        if (!declared && (same_place(q->place, v->place) || q->place.line == v->place.line))
            declared = q;
    }
    return declared ? declared : count == 1 ? found : NULL;
}

/* sum_j c_j (time - o)^j / j! */
static expr shift_at(graph *g, int origin)
{
    expr way = graph_binary(g, EXPR_SUB, graph_time(g), graph_memory(g, origin)), sum = EXPR_NONE;
    for (int j = SHIFT_TERMS - 1; j >= 0; j--) {
        expr c = graph_memory(g, origin + 1 + j);
        expr part = graph_binary(g, EXPR_DIV, way, graph_constant(g, j + 1.0));
        sum = sum == EXPR_NONE ? c
                               : graph_binary(g, EXPR_ADD, c, graph_binary(g, EXPR_MUL, part, sum));
    }
    return sum;
}

bool flat_shift_inputs(flat_model *m)
{
    for (size_t v = 0; v < m->variable_count; v++) {
        flat_variable *q = &m->variables[v];
        if (!q->input || q->discrete || q->type != FLAT_REAL) continue;
        flat_equation *e = equation_of(m, v);
        if (!e) continue;
        const int origin = m->memory_count;
        m->memory_count += 1 + SHIFT_TERMS;
        q->shift = 1 + origin;
        e->right = graph_binary(m->graph, EXPR_ADD, e->right, shift_at(m->graph, origin));
        e->residual = graph_binary(m->graph, EXPR_SUB, e->left, e->right);
    }
    return !graph_failed(m->graph);
}
