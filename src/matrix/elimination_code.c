#include "matrix/elimination_code.h"

#include <float.h>
#include <stdio.h>

/* ---- what is common ---- */

void elimination_key(const elimination_shape *s, native_key *key)
{
    const size_t n = (size_t)s->n;
    const native_numbers numbers[] = {
        {s->row, n},           {s->column, n},          {s->lower, n},        {s->upper, n},
        {s->index, s->values}, {s->target, s->targets}, {s->place, s->count}, {s->home, s->count}};
    native_key_of_numbers("elimination 1", numbers, sizeof numbers / sizeof *numbers, key);
}

/* The types of elimination_kernel.h and the operations of number.h; a complex number is (re, im) in
 * one register, as there. */
static const char head[] =
    "typedef double V __attribute__((vector_size(16), aligned(8), may_alias));\n"
    "typedef struct { void (*place)(const double *, const double *, double *, double *);\n"
    "int (*eliminate)(const double *, double *, double *);\n"
    "void (*solve)(const double *, double *, double *);\n"
    "void (*several[%d])(double *const *, double *const *, double *const *); } F;\n"
    "typedef struct { F of[2]; } K;\n"
    "#define A(x) __builtin_fabs(x)\n"
    "#define M(m, x) m = (x) > m ? (x) : m\n"
    "#define OK(x) (x >= %.17g && x <= %.17g)\n"
    "#define S(a) (A(a[0]) + A(a[1]))\n"
    "#define I(u) ((V){-u[1], u[0]})\n"
    "#define T(a, u, iu) ((V){a[0], a[0]} * u + (V){a[1], a[1]} * iu)\n"
    "static inline V inverse(V a)\n{\n"
    "double p = A(a[0]), q = A(a[1]), size = p > q ? p : q, x = a[0] / size, y = a[1] / size;\n"
    "double d = 1.0 / ((x * x + y * y) * size);\nreturn (V){x * d, -y * d};\n}\n";

void elimination_emit_head(emit_text *t)
{
    emit_append(t, head, TOGETHER - 1, DBL_MIN, DBL_MAX);
}

const elimination_kernel *elimination_kernel_of(native_function function)
{
    typedef const elimination_kernel *(*kernel_function)(void);
    typedef void (*any_function)(void); /* what all are cast through */
    return ((kernel_function)(any_function)function)();
}

/* One shape on its way into text */
typedef struct emission {
    emit_text *text;
    const elimination_shape *shape;
    const char *name;
    bool is_complex;
} emission;

/* ---- values of A ---- */

static bool is_filled(const elimination_shape *s, size_t value)
{
    for (size_t k = 0; k < s->count; k++)
        if ((size_t)s->place[k] == value) return false;
    return true;
}

/* Largest entries of the rows: entries of a row in the order of the lists */
static void emit_extents(const emission *e)
{
    const elimination_shape *s = e->shape;
    for (int i = 0; i < s->n; i++) {
        emit_put(e->text, "m = 0.0;\n");
        for (size_t k = 0; k < s->count; k++) {
            if (s->home[k] != i) continue;
            if (e->is_complex)
                emit_append(e->text, "z = A(r[%zu]) + A(i[%zu]); M(m, z);\n", k, k);
            else
                emit_append(e->text, "z = A(r[%zu]); M(m, z);\n", k);
        }
        emit_append(e->text, "most[%d] = m;\n", i);
    }
}

static void emit_value(const emission *e, size_t to, size_t from)
{
    if (e->is_complex)
        emit_append(e->text, "f[%zu] = r[%zu]; f[%zu] = i[%zu];\n", 2 * to, from, 2 * to + 1, from);
    else
        emit_append(e->text, "f[%zu] = r[%zu];\n", to, from);
}

static void emit_zero(const emission *e, size_t to)
{
    if (e->is_complex)
        emit_append(e->text, "f[%zu] = f[%zu] = 0.0;\n", 2 * to, 2 * to + 1);
    else
        emit_append(e->text, "f[%zu] = 0.0;\n", to);
}

static void emit_place(const emission *e)
{
    const elimination_shape *s = e->shape;
    emit_append(e->text,
                "static void %s_%cp(const double *restrict r, const double *restrict i, "
                "double *restrict f, double *restrict most)\n{\ndouble m, z;\n",
                e->name, e->is_complex ? 'c' : 'r');
    for (size_t v = 0; v < s->values; v++)
        if (is_filled(s, v)) emit_zero(e, v);
    for (size_t k = 0; k < s->count; k++) emit_value(e, (size_t)s->place[k], k);
    emit_extents(e);
    emit_put(e->text, "}\n");
}

/* ---- factors ---- */

/* The pivot of step k, its reciprocal in p */
static void emit_pivot(const emission *e, int k, size_t at)
{
    if (e->is_complex)
        emit_append(e->text,
                    "p = f[%zu]; z = S(p); if (!OK(z)) return %d;\n"
                    "p = inverse(p); f[%zu] = p; ip = I(p);\n",
                    at, k, at);
    else
        emit_append(e->text,
                    "p = f[%zu]; z = A(p); if (!OK(z)) return %d;\np = 1.0 / p; f[%zu] = p;\n", at,
                    k, at);
}

/* Value `at` of L in l, and its part in the watch */
static void emit_multiplier(const emission *e, size_t at, size_t weight, bool weighs)
{
    emit_text *t = e->text;
    if (e->is_complex)
        emit_append(t, "l = f[%zu]; l = T(l, p, ip); f[%zu] = l;\n", at, at);
    else
        emit_append(t, "l = f[%zu] * p; f[%zu] = l;\n", at, at);
    if (weighs && e->is_complex)
        emit_append(t, "z = w[%zu] * S(l); M(most, z); il = I(l);\n", weight);
    else if (weighs)
        emit_append(t, "z = w[%zu] * A(l); M(most, z);\n", weight);
}

static void emit_subtraction(const emission *e, int target, size_t u)
{
    if (e->is_complex)
        emit_append(e->text, "f[%d] -= T(f[%zu], l, il);\n", target, u);
    else
        emit_append(e->text, "f[%d] -= f[%zu] * l;\n", target, u);
}

/* Step k, whose values begin at `first`; *l counts all of L */
static void emit_step(const emission *e, int k, size_t first, size_t *l, const int **target)
{
    const size_t rows = (size_t)e->shape->lower[k], columns = (size_t)e->shape->upper[k];
    emit_pivot(e, k, first);
    for (size_t i = 1; i <= rows; i++) {
        emit_multiplier(e, first + i, (*l)++, columns > 0); /* else the weight is 0 */
        for (size_t j = 1; j <= columns; j++) emit_subtraction(e, *(*target)++, first + rows + j);
    }
}

static void emit_eliminate(const emission *e)
{
    const elimination_shape *s = e->shape;
    const int *target = s->target;
    size_t first = 0, l = 0;
    emit_append(e->text,
                "static int %s_%ce(const double *restrict w, double *restrict fd, double *m)\n{\n"
                "double most = 0.0, z;\n%s",
                e->name, e->is_complex ? 'c' : 'r',
                e->is_complex ? "V p, ip, l, il, *f = (V *)fd;\n" : "double p, l, *f = fd;\n");
    for (int k = 0; k < s->n; k++) {
        emit_step(e, k, first, &l, &target);
        first += (size_t)(1 + s->lower[k] + s->upper[k]);
    }
    emit_append(e->text, "*m = most;\nreturn %d;\n}\n", s->n);
}

/* ---- solutions: of system c the unknown of step k is x<c>_<k>, and i times that j<c>_<k> ---- */

/* x_to -= value x_from */
static void emit_update(const emission *e, int c, int to, size_t value, int from)
{
    if (e->is_complex)
        emit_append(e->text, "x%d_%d -= T(f%d[%zu], x%d_%d, j%d_%d);\n", c, to, c, value, c, from,
                    c, from);
    else
        emit_append(e->text, "x%d_%d -= f%d[%zu] * x%d_%d;\n", c, to, c, value, c, from);
}

static void emit_turned(const emission *e, int c, int k)
{
    if (e->is_complex) emit_append(e->text, "j%d_%d = I(x%d_%d);\n", c, k, c, k);
}

/* x_k times the reciprocal of its pivot */
static void emit_division(const emission *e, int c, int k, size_t pivot)
{
    if (e->is_complex)
        emit_append(e->text, "x%d_%d = T(x%d_%d, f%d[%zu], I(f%d[%zu]));\n", c, k, c, k, c, pivot,
                    c, pivot);
    else
        emit_append(e->text, "x%d_%d *= f%d[%zu];\n", c, k, c, pivot);
}

static void emit_forward(const emission *e, int count)
{
    const elimination_shape *s = e->shape;
    const int *index = s->index;
    size_t first = 0;
    for (int k = 0; k < s->n; k++) {
        const int rows = s->lower[k], all = 1 + rows + s->upper[k];
        for (int c = 0; rows > 0 && c < count; c++) emit_turned(e, c, k);
        for (int i = 1; i <= rows; i++)
            for (int c = 0; c < count; c++) emit_update(e, c, index[i], first + (size_t)i, k);
        first += (size_t)all;
        index += all;
    }
}

static void emit_backward(const emission *e, int count)
{
    const elimination_shape *s = e->shape;
    const int *index = s->index + s->values;
    size_t first = s->values;
    for (int k = s->n - 1; k >= 0; k--) {
        const int rows = s->lower[k], all = 1 + rows + s->upper[k];
        index -= all;
        first -= (size_t)all;
        for (int j = rows + 1; j < all; j++)
            for (int c = 0; c < count; c++) emit_update(e, c, k, first + (size_t)j, index[j]);
        for (int c = 0; c < count; c++) {
            emit_division(e, c, k, first);
            emit_turned(e, c, k);
        }
    }
}

/* Right-hand sides in the order of the pivots */
static void emit_starts(const emission *e, int c)
{
    const int *row = e->shape->row;
    for (int k = 0; k < e->shape->n; k++)
        if (e->is_complex)
            emit_append(e->text, "V x%d_%d = {r%d[%d], i%d[%d]}, j%d_%d;\n", c, k, c, row[k], c,
                        row[k], c, k);
        else
            emit_append(e->text, "double x%d_%d = r%d[%d];\n", c, k, c, row[k]);
}

static void emit_ends(const emission *e, int c)
{
    const int *column = e->shape->column;
    for (int k = 0; k < e->shape->n; k++)
        if (e->is_complex)
            emit_append(e->text, "r%d[%d] = x%d_%d[0]; i%d[%d] = x%d_%d[1];\n", c, column[k], c, k,
                        c, column[k], c, k);
        else
            emit_append(e->text, "r%d[%d] = x%d_%d;\n", c, column[k], c, k);
}

/* Names for the factors and right-hand sides of system c of the arguments, which are one system's
 * or arrays of them */
static void emit_names(const emission *e, int c, int count)
{
    const char *type = e->is_complex ? "V" : "double";
    char at[16] = "";
    if (count > 1) snprintf(at, sizeof at, "[%d]", c);
    emit_append(e->text, "double *restrict r%d = r%s, *restrict i%d = i%s;\n", c, at, c, at);
    emit_append(e->text, "const %s *f%d = (const %s *)f%s;\n", type, c, type, at);
}

/* Values of factors up to which systems are solved in turn, operation by operation; above that
 * their unknowns leave the registers, and one after the other is as fast for half the text. */
enum { IN_TURN = 60 };

/* `count` systems one after the other */
static void emit_calls(const emission *e, int count)
{
    for (int c = 0; c < count; c++)
        emit_append(e->text, "%s_cs1(f[%d], r[%d], i[%d]);\n", e->name, c, c, c);
    emit_put(e->text, "}\n");
}

/* For `count` systems in turn: none waits for its own last result. */
static void emit_solve(const emission *e, int count)
{
    const char kind = e->is_complex ? 'c' : 'r';
    const char *pointer = count > 1 ? "*const *" : "*", *factors = count > 1 ? "" : "const ";
    emit_append(e->text, "static void %s_%cs%d(%sdouble %sf, double %sr, double %si)\n{\n", e->name,
                kind, count, factors, pointer, pointer, pointer);
    if (count > 1 && e->shape->values > IN_TURN) {
        emit_calls(e, count);
        return;
    }
    for (int c = 0; c < count; c++) emit_names(e, c, count);
    for (int c = 0; c < count; c++) emit_starts(e, c);
    emit_forward(e, count);
    emit_backward(e, count);
    for (int c = 0; c < count; c++) emit_ends(e, c);
    emit_put(e->text, "}\n");
}

/* Fitted to what gcc 12 took for random patterns of 5 to 35 unknowns: 2.5 times as long as for as
 * much text of other functions, which has shorter chains of operations. */
double elimination_emit_cost(const elimination_shape *s)
{
    const double values = (double)s->values;
    return 2.5 * (s->values > IN_TURN ? 2500.0 + 310.0 * values : 4600.0 + 575.0 * values);
}

void elimination_emit(emit_text *t, const elimination_shape *s, const native_key *key)
{
    char name[NATIVE_NAME];
    native_key_name(key, name);
    for (int parts = 1; parts <= 2; parts++) {
        const emission e = {t, s, name, parts == 2};
        emit_place(&e);
        emit_eliminate(&e);
        for (int count = 1; count <= (parts == 2 ? TOGETHER : 1); count++) emit_solve(&e, count);
    }
    _Static_assert(TOGETHER == 3, "two functions for several systems");
    emit_append(t,
                "const K *%s(void)\n{\nstatic const K k = {{{%s_rp, %s_re, %s_rs1, {0, 0}},\n"
                "{%s_cp, %s_ce, %s_cs1, {%s_cs2, %s_cs3}}}};\nreturn &k;\n}\n",
                name, name, name, name, name, name, name, name, name);
}
