#include "solve/sensitivity/tangent_ledger.h"

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/least_squares.h"

/* An operation is its numbers, then these three: a space, what it does, and how many numbers it
 * has with these. */
enum { TRAILER = 3 };

typedef enum ledger_operation {
    LEDGER_POINT,
    LEDGER_TO_USER,
    LEDGER_FROM_USER,
    LEDGER_COMPLETE,
    LEDGER_TIME,
    LEDGER_RELATION,
    LEDGER_CLOCK,
    LEDGER_RATE,
    LEDGER_REINIT,
    LEDGER_COPY,
    LEDGER_PIN,
    LEDGER_FUNCTIONALS,
    LEDGER_INPUTS
} ledger_operation;

/* ---- spaces ---- */

void ledger_reset(tangent_ledger *t)
{
    for (int i = 0; i < t->space_count; i++) {
        layout_free(&t->spaces[i].layout);
        dae_free(t->spaces[i].state);
    }
    t->space_count = 0;
    t->count = 0;
    t->failed = false;
}

void ledger_free(tangent_ledger *t)
{
    ledger_reset(t);
    dae_free_all(t->spaces, t->numbers);
    *t = (tangent_ledger){0};
}

static bool same_layout(const matrix_layout *a, const matrix_layout *b)
{
    if (a->kind != b->kind || a->n != b->n || a->count != b->count) return false;
    if (a->kind != DAE_STRUCTURE_SPARSE) return a->lower == b->lower && a->upper == b->upper;
    return memcmp(a->colptr, b->colptr, (size_t)(a->n + 1) * sizeof *a->colptr) == 0 &&
           memcmp(a->rowind, b->rowind, a->count * sizeof *a->rowind) == 0;
}

static bool same_space(const tangent_space *q, const lead *l)
{
    if (q->form != l->form || q->n != l->n || !same_layout(&q->layout, &l->matrix.jac.layout))
        return false;
    for (int i = 0; i < q->n; i++)
        if (q->state[i] != lead_is_state(l, i)) return false;
    return true;
}

bool ledger_take_space(tangent_ledger *t, const lead *l)
{
    if (t->space_count > 0 && same_space(&t->spaces[t->space], l)) return true;
    for (t->space = 0; t->space < t->space_count; t->space++)
        if (same_space(&t->spaces[t->space], l)) return true;
    if (!dae_grow(&t->spaces, &t->space_room, (size_t)t->space_count + 1, sizeof *t->spaces))
        return false;
    tangent_space *q = &t->spaces[t->space_count];
    *q = (tangent_space){.tangents = l->tangents,
                         .form = l->form,
                         .formulated = is_formulated(l->solver),
                         .state = DAE_ARRAY(bool, l->n),
                         .n = l->n};
    if (!q->state || !layout_copy(&q->layout, &l->matrix.jac.layout)) {
        dae_free(q->state);
        return false;
    }
    for (int i = 0; i < l->n; i++) q->state[i] = lead_is_state(l, i);
    t->space_count++;
    return true;
}

/* ---- recording ---- */

void ledger_begin(tangent_ledger *t)
{
    if (!t) return;
    t->count = t->point = 0;
    t->failed = false;
}

/* Room for an operation with so many numbers; NULL: there is no ledger, or no memory. */
static double *add(tangent_ledger *t, ledger_operation what, size_t numbers)
{
    const size_t all = numbers + TRAILER;
    if (!t || t->failed) return NULL;
    if (!dae_grow(&t->numbers, &t->room, t->count + all, sizeof *t->numbers)) {
        t->failed = true;
        return NULL;
    }
    double *to = t->numbers + t->count;
    to[numbers] = t->space;
    to[numbers + 1] = what;
    to[numbers + 2] = (double)all;
    t->count += all;
    return to;
}

static void put(double **to, const double *from, size_t count)
{
    memcpy(*to, from, count * sizeof **to);
    *to += count;
}

static size_t rows_size(const tangent_space *q)
{
    return q->tangents ? model_tangent_size(q->tangents->rows) : 0;
}

void ledger_point(tangent_ledger *t, const lead *l)
{
    if (!t) return;
    if (!ledger_take_space(t, l)) t->failed = true;
    if (t->failed) return;
    const tangent_space *q = &t->spaces[t->space];
    const size_t count = q->layout.count, rows = rows_size(q);
    t->point = t->count;
    double *to = add(t, LEDGER_POINT, 2 * count + rows);
    if (!to) return;
    put(&to, l->matrix.jac.dfdy, count);
    put(&to, l->matrix.jac.dfdyp, count);
    if (rows > 0) put(&to, model_tangent_entries(q->tangents->rows), rows);
}

void ledger_to_user(tangent_ledger *t)
{
    add(t, LEDGER_TO_USER, 0);
}

void ledger_from_user(tangent_ledger *t)
{
    add(t, LEDGER_FROM_USER, 0);
}

void ledger_complete(tangent_ledger *t, bool with_tau)
{
    double *to = add(t, LEDGER_COMPLETE, 2);
    if (!to) return;
    to[0] = (double)t->point;
    to[1] = with_tau;
}

void ledger_time(tangent_ledger *t, const double *time_s, const double *time_p)
{
    if (!t || t->failed) return;
    const size_t n = (size_t)t->spaces[t->space].n;
    double *to = add(t, LEDGER_TIME, 2 * n);
    if (!to) return;
    put(&to, time_s, n);
    put(&to, time_p, n);
}

/* Three numbers, then the entries of a row. */
static void add_row(tangent_ledger *t, ledger_operation what, const model_tangent *m, double a,
                    double b, int row)
{
    size_t count;
    const double *entries = model_tangent_row_entries(m, row, &count);
    double *to = add(t, what, 3 + count);
    if (!to) return;
    *to++ = a;
    *to++ = b;
    *to++ = row;
    put(&to, entries, count);
}

void ledger_tau_of_relation(tangent_ledger *t, const lead *l, int row, double rate)
{
    add_row(t, LEDGER_RELATION, l->tangents->crossings, rate, 0.0, row);
}

void ledger_tau_of_clock(tangent_ledger *t, int inputs, const double *moves)
{
    double *to = add(t, LEDGER_CLOCK, (size_t)inputs);
    if (to) put(&to, moves, (size_t)inputs);
}

void ledger_rate(tangent_ledger *t, const lead *l, int to, int row)
{
    add_row(t, LEDGER_RATE, l->tangents->actions, to, 0.0, row);
}

void ledger_reinit(tangent_ledger *t, const lead *l, int unknown, int sign, int row)
{
    add_row(t, LEDGER_REINIT, l->tangents->actions, unknown, sign, row);
}

void ledger_copy(tangent_ledger *t, int to, int from)
{
    double *at = add(t, LEDGER_COPY, 2);
    if (!at) return;
    at[0] = to;
    at[1] = from;
}

void ledger_pin(tangent_ledger *t, const ledger_exchange *e)
{
    const size_t m = (size_t)e->count;
    double *to = m > 0 ? add(t, LEDGER_PIN, 2 + 4 * m + m * m) : NULL;
    if (!to) return;
    *to++ = (double)t->point;
    *to++ = e->count;
    for (size_t i = 0; i < m; i++) {
        *to++ = e->pinned[i];
        *to++ = e->state[i];
        *to++ = e->user[i];
        *to++ = e->sign[i];
    }
    put(&to, e->moves, m * m);
}

void ledger_functionals(tangent_ledger *t, int count, const double *parts)
{
    double *to = add(t, LEDGER_FUNCTIONALS, (size_t)count);
    if (to) put(&to, parts, (size_t)count);
}

void ledger_inputs_count(tangent_ledger *t, int functionals, int first, int inputs,
                         const double *counts)
{
    const size_t row = (size_t)(inputs - first);
    double *to = add(t, LEDGER_INPUTS, 2 + (size_t)functionals * row);
    if (!to) return;
    *to++ = first;
    *to++ = (double)row;
    for (int m = 0; m < functionals; m++)
        put(&to, counts + (size_t)m * (size_t)inputs + first, row);
}

/* ---- backwards ---- */

/* What D counts for goes to S and S', and is 0 before. */
static void to_user_back(const tangent_space *q, int base, ledger_weights *w)
{
    for (int i = 0; i < 2 * base; i++) {
        const int u = i % base;
        double *own = i < base ? w->s : w->sp;
        if (!q->formulated) {
            own[u] += w->user[i];
            continue;
        }
        model_place at = i < base ? q->form->place[u] : q->form->place_slope[u];
        if (at.unknown >= 0) (at.slope ? w->sp : w->s)[at.unknown] += at.sign * w->user[i];
    }
    vector_zero(2 * base, w->user);
}

/* The last to write a value has it: values are written behind slopes. */
static void from_user_back(const tangent_space *q, int base, ledger_weights *w)
{
    for (int i = base - 1; i >= -base; i--) {
        const int u = i < 0 ? i + base : i;
        const size_t user = i < 0 ? (size_t)(u + base) : (size_t)u;
        model_place at = {u, i < 0, 1};
        if (q->formulated) at = i < 0 ? q->form->place_slope[u] : q->form->place[u];
        if (at.unknown < 0) continue;
        double *own = &(at.slope ? w->sp : w->s)[at.unknown];
        w->user[user] += at.sign * *own;
        *own = 0.0;
    }
    vector_zero(q->n, w->s);
    vector_zero(q->n, w->sp);
}

/* The transposed matrix of columns of dF/dY for algebraic variables, dF/dY' for states. */
static linear_status factor_completion(const tangent_space *q, int space, const double *point,
                                       ledger_weights *w)
{
    if (!w->at || w->at_space != space) {
        stage_system_free(w->at);
        w->at = stage_system_new(q->n, 1, q->layout.count, 0, true);
        w->at_space = space;
    }
    if (!w->at) return LINEAR_MEMORY;
    for (int j = 0; j < q->n; j++) {
        matrix_column column = layout_column(&q->layout, j);
        const double *from = point + (q->state[j] ? q->layout.count : 0) + column.first;
        memcpy(w->at->fy + column.first, from, (size_t)column.count * sizeof *from);
    }
    return stage_system_factor(w->at, &q->layout, radau_iia(3), 1.0);
}

/* (S, S') follow from S of states, m and tau: what S of algebraic variables and S' of states, in
 * w->s and w->sp, count for goes there. */
static linear_status complete_back(const tangent_space *q, int space, const double *point,
                                   bool with_tau, ledger_weights *w)
{
    double *mu = w->work;
    linear_status status = factor_completion(q, space, point, w);
    if (status != LINEAR_OK) return status;
    for (int i = 0; i < q->n; i++) {
        mu[i] = q->state[i] ? w->sp[i] : w->s[i];
        if (!q->state[i]) w->s[i] = 0.0;
        w->sp[i] = 0.0;
    }
    linear_solve(w->at->solver, mu);
    for (int i = 0; i < q->n; i++) mu[i] = -mu[i];
    for (int j = 0; j < q->n; j++) {
        if (q->state[j]) w->s[j] += matrix_column_dot(&q->layout, j, point, mu);
    }
    if (q->tangents)
        model_tangent_transposed(q->tangents->rows, point + 2 * q->layout.count, mu, NULL, NULL,
                                 w->inputs, with_tau ? &w->tau : NULL);
    return LINEAR_OK;
}

/* b := M'^-1 b */
static bool solve_moves(int m, const double *moves, double *b)
{
    least_squares ls;
    double *A = DAE_ARRAY(double, m *m);
    bool ok = A && least_squares_new(&ls, m, m);
    if (ok) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) A[i * m + j] = moves[j * m + i];
        ok = least_squares_solve(&ls, m, m, A, b, 1e-12);
        least_squares_free(&ls);
    }
    dae_free(A);
    return ok;
}

/* S of states that were exchanged for pinned ones: S_state = M^-1 (sign D - S_pinned), with
 * S_pinned as it is where these states rest. */
static linear_status pin_back(const tangent_space *q, int space, const double *numbers,
                              const double *at, ledger_weights *w)
{
    const int m = (int)at[1];
    const double *list = at + 2;
    double *b = DAE_ARRAY(double, m + 2 * q->n), *s = b + m, *sp = s + q->n;
    if (!b) return LINEAR_MEMORY;
    for (int i = 0; i < m; i++) {
        double *own = &w->s[(int)list[4 * i + 1]];
        b[i] = *own;
        *own = 0.0;
    }
    linear_status status = solve_moves(m, list + 4 * m, b) ? LINEAR_OK : LINEAR_MEMORY;
    for (int i = 0; i < m && status == LINEAR_OK; i++) {
        w->user[(int)list[4 * i + 2]] += list[4 * i + 3] * b[i];
        s[(int)list[4 * i]] -= b[i];
    }
    if (status == LINEAR_OK) {
        ledger_weights inner = *w;
        inner.s = s;
        inner.sp = sp;
        status = complete_back(q, space, numbers + (size_t)at[0], true, &inner);
        w->at = inner.at;
        w->at_space = inner.at_space;
        w->tau = inner.tau;
        for (int i = 0; i < m; i++) s[(int)list[4 * i + 1]] = 0.0;
        vector_axpy(q->n, 1.0, s, w->s);
    }
    dae_free(b);
    return status;
}

/* A row of the crossing functions or of the actions, which counts for `weight`. */
static void row_back(const model_tangent *m, const double *at, double weight, ledger_weights *w,
                     double *tau)
{
    model_tangent_row_transposed(m, (int)at[2], at + 3, weight, w->s, w->sp, w->inputs, tau);
}

static void relation_back(const tangent_space *q, const double *at, ledger_weights *w)
{
    const double weight = -w->tau / at[0];
    w->tau = 0.0;
    row_back(q->tangents->crossings, at, weight, w, NULL);
}

/* What is set by a row of the actions. */
static void set_back(const tangent_space *q, const double *at, double sign, double *set,
                     ledger_weights *w)
{
    const double weight = sign * *set;
    *set = 0.0;
    row_back(q->tangents->actions, at, weight, w, &w->tau);
}

static void time_back(const tangent_space *q, const double *at, ledger_weights *w)
{
    w->tau += vector_dot(q->n, at, w->s) + vector_dot(q->n, at + q->n, w->sp);
}

static void clock_back(const double *at, size_t count, ledger_weights *w)
{
    vector_axpy((int)count, w->tau, at, w->inputs);
    w->tau = 0.0;
}

static void copy_back(const double *at, ledger_weights *w)
{
    const double weight = w->inputs[(int)at[0]];
    w->inputs[(int)at[0]] = 0.0;
    w->inputs[(int)at[1]] += weight;
}

static void inputs_back(const double *at, ledger_weights *w)
{
    const int first = (int)at[0], row = (int)at[1];
    vector_axpy(row, 1.0, at + 2 + w->functional * row, w->inputs + first);
}

linear_status ledger_back(const tangent_ledger *t, const double *numbers, size_t count, int base,
                          ledger_weights *w)
{
    linear_status status = LINEAR_OK;
    while (count > 0 && status == LINEAR_OK) {
        const size_t all = (size_t)numbers[count - 1];
        const ledger_operation what = (ledger_operation)numbers[count - 2];
        const int space = (int)numbers[count - 3];
        const tangent_space *q = &t->spaces[space];
        const double *at = numbers + count - all;
        count -= all;
        switch (what) {
        case LEDGER_POINT: break;
        case LEDGER_TO_USER: to_user_back(q, base, w); break;
        case LEDGER_FROM_USER: from_user_back(q, base, w); break;
        case LEDGER_COMPLETE:
            status = complete_back(q, space, numbers + (size_t)at[0], at[1] != 0.0, w);
            break;
        case LEDGER_TIME: time_back(q, at, w); break;
        case LEDGER_RELATION: relation_back(q, at, w); break;
        case LEDGER_CLOCK: clock_back(at, all - TRAILER, w); break;
        case LEDGER_RATE: set_back(q, at, 1.0, &w->inputs[(int)at[0]], w); break;
        case LEDGER_REINIT: set_back(q, at, at[1], &w->user[(int)at[0]], w); break;
        case LEDGER_COPY: copy_back(at, w); break;
        case LEDGER_PIN: status = pin_back(q, space, numbers, at, w); break;
        case LEDGER_FUNCTIONALS: w->tau += at[w->functional]; break;
        case LEDGER_INPUTS: inputs_back(at, w); break;
        }
    }
    w->tau = 0.0; /* where no operation gives it, it rests */
    return status;
}
