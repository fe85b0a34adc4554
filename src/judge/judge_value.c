/* Values, and selections of cells by subscripts and fields. */
#include <limits.h>
#include <string.h>

#include "judge/judge_parts.h"

const jtype judge_real = {.base = BASE_REAL, .name = "Real", .cells = 1};
const jtype judge_integer = {.base = BASE_INTEGER, .name = "Integer", .cells = 1};
const jtype judge_boolean = {.base = BASE_BOOLEAN, .name = "Boolean", .cells = 1};
const jtype judge_string = {.base = BASE_STRING, .name = "String", .cells = 1, .texts = true};
const jtype judge_function_type = {.base = BASE_FUNCTION, .name = "function", .cells = 1};

/* Elements; at most INT_MAX, which is more than there is memory for. */
int judge_count(const shape *s)
{
    long long count = 1;
    for (int d = 0; d < s->ndims; d++) {
        count *= s->dims[d];
        if (count > INT_MAX) count = INT_MAX;
    }
    return (int)count;
}

bool judge_same_shape(const shape *a, const shape *b)
{
    if (a->ndims != b->ndims) return false;
    for (int d = 0; d < a->ndims; d++)
        if (a->dims[d] != b->dims[d]) return false;
    return true;
}

value judge_make(machine *m, const jtype *type, const shape *s)
{
    if (s->ndims == 0 && type->cells == 1)
        return (value){type, {0}, judge_stack_take(m, &m->scratch, sizeof(cell))};
    double bytes = sizeof(cell) * (double)type->cells;
    for (int d = 0; d < s->ndims; d++) {
        if (s->dims[d] < 0) judge_fail(m, 0, "an array with a size below zero");
        bytes *= s->dims[d];
    }
    if (bytes > 1e9) judge_no_memory(m);
    value v = {type, *s, judge_stack_take(m, &m->scratch, (size_t)bytes)};
    return v;
}

value judge_scalar(machine *m, const jtype *type, double number)
{
    value v = judge_make(m, type, &(shape){0});
    *v.cells = (cell){.v = number, .size = fabs(number)};
    return v;
}

value judge_text_value(machine *m, const char *text)
{
    value v = judge_make(m, &judge_string, &(shape){0});
    size_t length = strlen(text) + 1;
    *v.cells = (cell){.text = memcpy(judge_stack_take(m, &m->scratch, length), text, length)};
    return v;
}

/* Loops end, at the latest here. */
void judge_count_pass(machine *m, int line)
{
    if (++m->passes > 10L * MOST_PASSES) judge_fail(m, line, "a loop that does not end");
}

bool judge_numeric(const value *v)
{
    return v->type->base == BASE_REAL || v->type->base == BASE_INTEGER;
}

/* The number of a scalar; Booleans and enumerations count. */
double judge_number(machine *m, const value *v, int line)
{
    if (v->type->cells != 1 || v->type->base >= BASE_STRING || judge_cells(v) != 1)
        judge_fail(m, line, "a scalar number is expected");
    return v->cells->v;
}

/* A String variable that no definition says has no text: a row has numbers alone. */
const char *judge_string_of(machine *m, const value *v, int line)
{
    if (v->type->base != BASE_STRING || v->shape.ndims) judge_fail(m, line, "a text is expected");
    if (!v->cells->text) judge_fail(m, line, "a text that is not known");
    return v->cells->text;
}

selection judge_select_value(const value *v)
{
    return (selection){v->type, v->shape, v->cells, NULL};
}

/* Note what is read, and refuse what nothing was assigned to. */
static void look_at(machine *m, const selection *s, int count)
{
    judge *j = m->j;
    for (int k = 0; k < count; k++) {
        const cell *c = judge_cell(s, k);
        if (c->spread < 0.0 && !m->trial)
            judge_fail(m, 0, "a variable of a function is used before it has a value");
        if (c->index == 0) continue;
        const judge_variable *v = &j->variables[c->index - 1];
        if (v->variability >= JUDGE_DISCRETE || (isnan(v->value) && v->type != JUDGE_STRING))
            m->touched = m->varied = true;
        if (isnan(c->v) && m->point && !m->trial && v->type != JUDGE_STRING)
            judge_fail(m, 0, "the value of '%s' is not known", v->name);
        if (m->reading) j->read_variables[c->index - 1] = true;
    }
}

value judge_read(machine *m, const selection *s)
{
    int count = judge_count(&s->shape) * s->type->cells;
    look_at(m, s, count);
    if (!s->cells) return (value){s->type, s->shape, s->base};
    value v = judge_make(m, s->type, &s->shape);
    for (int k = 0; k < count; k++) v.cells[k] = *s->cells[k];
    return v;
}

/* Cells of a selection = those of a value, which become of the selection's type. */
void judge_write(machine *m, const selection *s, const value *v, int line)
{
    int count = judge_count(&s->shape) * s->type->cells;
    if (!judge_same_shape(&s->shape, &v->shape) || v->type->cells != s->type->cells)
        judge_fail(m, line, "an assignment of another size");
    for (int k = 0; k < count; k++) {
        cell *to = judge_cell(s, k);
        int index = to->index;
        *to = v->cells[k];
        to->index = index;
        if (to->spread < 0.0) to->spread = 0.0;
    }
}

/* Type of the cell k of an element */
base_type judge_cell_type(const jtype *t, int k)
{
    while (t->base == BASE_RECORD) {
        int f = t->field_count - 1;
        while (f > 0 && t->fields[f].offset > k) f--;
        k -= t->fields[f].offset;
        t = t->fields[f].type;
        k %= t->cells;
    }
    return t->base;
}

/* ---- fields ---- */

static const type_field *find_field(const jtype *t, const char *name)
{
    for (int k = 0; k < t->field_count; k++)
        if (strcmp(t->fields[k].name, name) == 0) return &t->fields[k];
    return NULL;
}

static void gather(machine *m, selection *s, int elements, const int *starts, int width)
{
    cell **cells = judge_stack_take(m, &m->scratch, (size_t)(elements * width) * sizeof *cells + 1);
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < width; k++) cells[e * width + k] = judge_cell(s, starts[e] + k);
    s->cells = cells;
}

static void select_field(machine *m, selection *s, const char *name, int line)
{
    const type_field *f = s->type->base == BASE_RECORD ? find_field(s->type, name) : NULL;
    if (!f) judge_fail(m, line, "there is no field '%s'", name);
    int count = judge_count(&s->shape), width = judge_count(&f->shape) * f->type->cells;
    if (s->shape.ndims + f->shape.ndims > MOST_DIMS) judge_fail(m, line, "too many dimensions");
    if (s->shape.ndims == 0) {
        if (s->cells)
            s->cells += f->offset;
        else
            s->base += f->offset;
    } else {
        int *starts = judge_stack_take(m, &m->scratch, (size_t)count * sizeof *starts + 1);
        for (int e = 0; e < count; e++) starts[e] = e * s->type->cells + f->offset;
        gather(m, s, count, starts, width);
    }
    for (int d = 0; d < f->shape.ndims; d++) s->shape.dims[s->shape.ndims++] = f->shape.dims[d];
    s->type = f->type;
}

/* ---- subscripts ---- */

typedef struct subscript {
    bool scalar, all;
    int count;
    int *indices; /* from 0 */
    int one;
} subscript;

static int checked_index(machine *m, const value *v, int k, int size, int line)
{
    double index = v->cells[k].v + (v->type->base == BASE_BOOLEAN);
    if (m->trial && !(index >= 1.0 && index <= size)) index = 1.0;
    if (!(index >= 1.0 && index <= size && index == floor(index)))
        judge_fail(m, line, "subscript %g is outside 1..%d", index, size);
    return (int)index - 1;
}

static subscript subscript_of(machine *m, const node *n, int size)
{
    subscript s = {0};
    if (n->kind == NODE_COLON) {
        s.all = true;
        s.count = size;
        return s;
    }
    int end = m->end;
    m->end = size;
    value v = judge_eval(m, n);
    m->end = end;
    if (v.type->base > BASE_ENUMERATION || v.shape.ndims > 1)
        judge_fail(m, n->line, "a subscript is an Integer or a vector of them");
    if (v.shape.ndims == 0) {
        s.scalar = true;
        s.count = 1;
        s.one = checked_index(m, &v, 0, size, n->line);
        return s;
    }
    s.count = v.shape.dims[0];
    s.indices = judge_stack_take(m, &m->scratch, (size_t)s.count * sizeof(int) + 1);
    for (int k = 0; k < s.count; k++) s.indices[k] = checked_index(m, &v, k, size, n->line);
    return s;
}

/* Scalar subscripts of the leading dimensions: what is left lies together. */
static void select_leading(selection *s, const subscript *subs, int count)
{
    int width = judge_count(&s->shape) * s->type->cells, start = 0;
    for (int d = 0; d < count; d++) {
        width /= s->shape.dims[d];
        start += subs[d].one * width;
    }
    if (s->cells)
        s->cells += start;
    else
        s->base += start;
    s->shape.ndims -= count;
    memmove(s->shape.dims, s->shape.dims + count, (size_t)s->shape.ndims * sizeof(int));
}

/* Start of the element with number `e` among those that the subscripts choose. */
static int element_start(const shape *old, const subscript *subs, int width, int e)
{
    int start = 0, stride = width;
    for (int d = old->ndims - 1; d >= 0; d--) {
        int k = e % subs[d].count;
        e /= subs[d].count;
        start += stride * (subs[d].scalar ? subs[d].one : subs[d].all ? k : subs[d].indices[k]);
        stride *= old->dims[d];
    }
    return start;
}

static void select_any(machine *m, selection *s, const subscript *subs)
{
    shape old = s->shape;
    int elements = 1;
    s->shape.ndims = 0;
    for (int d = 0; d < old.ndims; d++) {
        elements *= subs[d].count;
        if (!subs[d].scalar) s->shape.dims[s->shape.ndims++] = subs[d].count;
    }
    int *starts = judge_stack_take(m, &m->scratch, (size_t)elements * sizeof *starts + 1);
    for (int e = 0; e < elements; e++) starts[e] = element_start(&old, subs, s->type->cells, e);
    gather(m, s, elements, starts, s->type->cells);
}

/* The scalar that a subscript plainly is, a number or an iterator; NULL: it is more than that. */
static const value *plain_subscript(const machine *m, const node *n)
{
    const value *v = n->kind == NODE_CONSTANT                      ? &n->constant
                     : n->kind == NODE_LOCAL && n->step_count == 0 ? &m->frame.slots[n->slot]
                                                                   : NULL;
    return v && v->type && v->shape.ndims == 0 && v->type->base == BASE_INTEGER ? v : NULL;
}

/* One element by plain subscripts, which is what most references are; false: not so. */
static bool select_element(machine *m, selection *s, const step *p, int line)
{
    int at = 0;
    if (p->count != s->shape.ndims) return false;
    for (int d = 0; d < p->count; d++) {
        const value *v = plain_subscript(m, p->subscripts[d]);
        if (!v || v->cells->spread < 0.0) return false;
        at = at * s->shape.dims[d] + checked_index(m, v, 0, s->shape.dims[d], line);
    }
    if (s->cells)
        s->cells += at * s->type->cells;
    else
        s->base += at * s->type->cells;
    s->shape.ndims = 0;
    return true;
}

/* Subscripts of a field are those of its own dimensions, behind those of the records. */
static void select_subscripts(machine *m, selection *s, const step *p, int before, int line)
{
    if (before + p->count > s->shape.ndims) judge_fail(m, line, "more subscripts than dimensions");
    if (before == 0 && select_element(m, s, p, line)) return;
    subscript subs[MOST_DIMS] = {0};
    bool scalars = before == 0;
    for (int d = 0; d < s->shape.ndims; d++) {
        if (d < before || d >= before + p->count) {
            subs[d] = (subscript){.all = true, .count = s->shape.dims[d]};
            continue;
        }
        subs[d] = subscript_of(m, p->subscripts[d - before], s->shape.dims[d]);
        if (!subs[d].scalar) scalars = false;
    }
    if (scalars)
        select_leading(s, subs, p->count);
    else
        select_any(m, s, subs);
}

void judge_select_steps(machine *m, selection *s, const step *steps, int count, int line)
{
    for (int k = 0; k < count; k++) {
        int before = steps[k].field ? s->shape.ndims : 0;
        if (steps[k].field) select_field(m, s, steps[k].field, line);
        if (steps[k].count) select_subscripts(m, s, &steps[k], before, line);
    }
}
