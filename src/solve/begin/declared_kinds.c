/* Declared kinds against the Jacobians A = dF/dy and B = dF/dy' at the start.
 *
 * A perturbation of F comes back in y_j multiplied by row j of (A + B/h)^-1, which grows as h^-k:
 * k = 1 and 2 are what DAE_KIND_INDEX2 and DAE_KIND_INDEX3 stand for [HLR89]. Where the powers are
 * clear, and where the frozen matrices have the index of the system, declarations that say
 * otherwise are errors: too low ones stop the run, too high ones take variables out of the error
 * test. */
#include "solve/begin/declared_kinds.h"

#include "solve/explain/explain.h"
#include "solve/prepare/choose.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/explain/diagnose_api.h"

/* Dense work beyond this costs more than it is worth. */
enum { LARGEST = 60 };

/* Only where the user spoke: residual callbacks, and F(t, x, x', x'') = 0. */
static bool were_declared(const dae_solver *s)
{
    const dae_kind *kinds = s->bound.problem->form.kinds;
    const form_source *forms = s->base->forms;
    if (!kinds || s->hybrid || s->stats.starts > 0 || s->bound.n > LARGEST) return false;
    if (binding_uses_forms(&s->bound) || (forms && form_source_has_levels(forms))) return false;
    if (s->bound.rewritten || s->bound.matrix.matrix_free) return false;
    for (int j = 0; j < s->bound.n; j++)
        if (kinds[j] != DAE_KIND_AUTO) return true;
    return false;
}

static const char *kind_name(dae_kind kind)
{
    static const char *const names[] = {"DAE_KIND_AUTO", "DAE_KIND_DIFFERENTIAL", "DAE_KIND_INDEX1",
                                        "DAE_KIND_INDEX2", "DAE_KIND_INDEX3"};
    return names[kind];
}

/* ---- powers ---- */

typedef struct powers {
    int n;
    double *A, *B, *M, *inverse; /* n x n by columns; owned: one block, at A */
    double *size[3];             /* n: of the rows of the inverse; in it */
    double *unit;                /* n; in it */
} powers;

static bool powers_new(powers *p, int n)
{
    size_t square = (size_t)n * (size_t)n;
    *p = (powers){.n = n, .A = DAE_ARRAY(double, 4 * square + 4 * (size_t)n)};
    if (!p->A) return false;
    p->B = p->A + square;
    p->M = p->B + square;
    p->inverse = p->M + square;
    for (int k = 0; k < 3; k++) p->size[k] = p->inverse + square + k * n;
    p->unit = p->size[2] + n;
    return true;
}

/* Full matrices from those of the iteration. */
static void take_matrices(powers *p, const jacobian *jac)
{
    for (int j = 0; j < p->n; j++) {
        memset(p->unit, 0, (size_t)p->n * sizeof *p->unit);
        p->unit[j] = 1.0;
        matrix_multiply(&jac->layout, jac->dfdy, p->unit, p->A + (size_t)j * (size_t)p->n);
        matrix_multiply(&jac->layout, jac->dfdyp, p->unit, p->B + (size_t)j * (size_t)p->n);
    }
}

static double largest(size_t count, const double *values)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, fabs(values[k]));
    return most;
}

static void swap_rows(double *M, int n, int i, int k)
{
    for (int j = 0; j < n && i != k; j++) {
        double swap = M[i + j * n];
        M[i + j * n] = M[k + j * n];
        M[k + j * n] = swap;
    }
}

/* inverse := M^-1 by Gauss-Jordan with row pivots; false: singular */
static bool invert(powers *p)
{
    int n = p->n;
    double *M = p->M, *X = p->inverse;
    memset(X, 0, (size_t)n * (size_t)n * sizeof *X);
    for (int j = 0; j < n; j++) X[j + j * n] = 1.0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(M[i + k * n]) > fabs(M[best + k * n])) best = i;
        if (!(fabs(M[best + k * n]) > 0.0)) return false;
        swap_rows(M, n, k, best);
        swap_rows(X, n, k, best);
        double pivot = M[k + k * n];
        for (int j = 0; j < n; j++) {
            M[k + j * n] /= pivot;
            X[k + j * n] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : M[i + k * n];
            for (int j = 0; factor != 0.0 && j < n; j++) {
                M[i + j * n] -= factor * M[k + j * n];
                X[i + j * n] -= factor * X[k + j * n];
            }
        }
    }
    return true;
}

/* Sizes of the rows of (A + B/h)^-1 for three h, a decade apart, from `longest` times |B| / |A| on;
 * false: it does not exist. */
static bool find_sizes(powers *p, double longest)
{
    size_t square = (size_t)p->n * (size_t)p->n;
    double a = largest(square, p->A), b = largest(square, p->B);
    double h = longest * (a > 0.0 && b > 0.0 ? b / a : 1.0);
    for (int k = 0; k < 3; k++, h *= 0.1) {
        for (size_t e = 0; e < square; e++) p->M[e] = p->A[e] + p->B[e] / h;
        if (!invert(p)) return false;
        for (int i = 0; i < p->n; i++) {
            double most = 0.0;
            for (int j = 0; j < p->n; j++) most = fmax(most, fabs(p->inverse[i + j * p->n]));
            p->size[k][i] = most;
            if (!isfinite(most) || most == 0.0) return false;
        }
    }
    return true;
}

/* k of row j; -1: not clear. Powers below 0 count as 0. */
static int power_of(const powers *p, int j)
{
    double first = log10(p->size[1][j] / p->size[0][j]);
    double second = log10(p->size[2][j] / p->size[1][j]);
    int power = (int)lround(second);
    if (fabs(first - second) > 0.1 || fabs(second - power) > 0.1) return -1;
    return power > 0 ? power : 0;
}

/* ---- points ---- */

enum { POINTS = 3 };

/* y and y' (2n values) a tenth of their sizes away from the start, in all directions at once. */
static void move(const dae_solver *s, int k, double *y)
{
    unsigned state = 2463534242u + 977u * (unsigned)k;
    for (int i = 0; i < 2 * s->bound.n; i++) {
        double from = i < s->bound.n ? s->bound.y[i] : s->bound.yp[i - s->bound.n];
        state = state * 1664525u + 1013904223u;
        y[i] = from + 0.1 * fmax(1.0, fabs(from)) * ((double)(state >> 8) / 8388608.0 - 1.0);
    }
}

static iteration_status look(dae_solver *s, double t, double h, const double *y, const double *yp)
{
    s->bound.matrix.jac.unmask = true; /* h is a guess: a zero may be but a small number */
    return iteration_evaluate(&s->bound.matrix, t, y, yp, 1.0 / h, h, s->bound.norm.weights, NULL);
}

/* ---- derivatives ---- */

static void name_it(dae_solver *s, double t, int j)
{
    diag_variable(&s->diag, j, problem_variable(s->bound.problem, j));
    s->diag.t = t;
}

/* Whether the derivative of y_j is in F at some point around, where it is not at the start. */
static bool appears_nearby(dae_solver *s, double t, double h, int j)
{
    double *y = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
    bool found = !y;
    for (int k = 0; k < POINTS && !found; k++) {
        move(s, k, y);
        found = look(s, t, h, y, y + s->bound.n) != ITERATION_OK ||
                !s->bound.matrix.algebraic_column[j];
    }
    dae_free(y);
    return found;
}

/* Derivatives that are there, or are not, against what was said. */
static dae_status check_columns(dae_solver *s, double t, double h)
{
    const dae_kind *kinds = s->bound.problem->form.kinds;
    for (int j = 0; j < s->bound.n; j++) {
        bool algebraic = s->bound.matrix.algebraic_column[j];
        if (kinds[j] == DAE_KIND_INDEX1 && !algebraic) {
            name_it(s, t, j);
            return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                            "Variable %s is declared DAE_KIND_INDEX1, which is algebraic, but F "
                            "depends on its derivative at t = %.9g: declare it "
                            "DAE_KIND_DIFFERENTIAL, or leave it to DAE_KIND_AUTO.",
                            s->diag.variable_name, t);
        }
        if (kinds[j] != DAE_KIND_DIFFERENTIAL || !algebraic) continue;
        if (appears_nearby(s, t, h, j)) return DAE_OK;
        name_it(s, t, j);
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "Variable %s is declared DAE_KIND_DIFFERENTIAL, but its derivative is not "
                        "in F around t = %.9g: it is algebraic. Declare its index, or leave it to "
                        "DAE_KIND_AUTO.",
                        s->diag.variable_name, t);
    }
    return DAE_OK;
}

/* ---- powers against kinds ---- */

/* What can still be wrong with a declaration. */
enum { TOO_LOW = 1, TOO_HIGH = 2 };

/* wrong[j] := what the powers at one more point leave of it; true: something is left. */
static bool judge(const dae_solver *s, const powers *p, unsigned char *wrong, int *power)
{
    bool any = false;
    for (int j = 0; j < s->bound.n; j++) {
        dae_kind kind = s->bound.problem->form.kinds[j];
        int declared = (int)kind - (int)DAE_KIND_INDEX1, found = power_of(p, j);
        if (kind < DAE_KIND_INDEX1 || found < 0) wrong[j] = 0;
        if (found <= declared || !s->bound.matrix.algebraic_column[j])
            wrong[j] &= (unsigned char)~TOO_LOW;
        if (found >= declared) wrong[j] &= (unsigned char)~TOO_HIGH;
        if (found > power[j]) power[j] = found;
        any = any || wrong[j];
    }
    return any;
}

/* Whether a declaration is wrong at the start and at all points around. */
static bool find_wrong(dae_solver *s, double t, double h, powers *p, double *y,
                       unsigned char *wrong, int *power)
{
    memset(wrong, TOO_LOW | TOO_HIGH, (size_t)s->bound.n);
    for (int k = -1; k < POINTS; k++) {
        if (k >= 0) {
            move(s, k, y);
            if (look(s, t, h, y, y + s->bound.n) != ITERATION_OK) return false;
        }
        take_matrices(p, &s->bound.matrix.jac);
        if (!find_sizes(p, 1e-2) || !judge(s, p, wrong, power)) return false;
    }
    return true;
}

static dae_status report_power(dae_solver *s, double t, int j, int power, bool low)
{
    bool algebraic = s->bound.matrix.algebraic_column[j];
    dae_kind right = power > 1    ? DAE_KIND_INDEX3
                     : power == 1 ? DAE_KIND_INDEX2
                     : algebraic  ? DAE_KIND_INDEX1
                                  : DAE_KIND_DIFFERENTIAL;
    name_it(s, t, j);
    diag_set(
        &s->diag, DAE_ERR_ARGUMENT,
        "Variable %s is declared %s, but is %s at t = %.9g and around: ", s->diag.variable_name,
        kind_name(s->bound.problem->form.kinds[j]), kind_name(right), t);
    if (power > 0)
        diag_append(&s->diag, "errors of F come back in it multiplied by h^-%d. ", power);
    else
        diag_append(&s->diag, "errors of F do not grow in it as h becomes small. ");
    diag_append(&s->diag, low ? "It would stop the error test, or Newton's iteration."
                              : "It would be left out of the error test for no reason.");
    return DAE_ERR_ARGUMENT;
}

static dae_status check_powers(dae_solver *s, double t, double h)
{
    powers p;
    int *power = DAE_ARRAY(int, s->bound.n), j = 0;
    double *y = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
    unsigned char *wrong = DAE_ARRAY(unsigned char, s->bound.n);
    dae_status status = DAE_OK;
    bool ready = powers_new(&p, s->bound.n) && power && y && wrong;
    if (!ready)
        status = diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the kinds of variables.");
    else if (find_wrong(s, t, h, &p, y, wrong, power) && solver_index_is_frozen(s, t)) {
        while (!wrong[j]) j++;
        status = report_power(s, t, j, power[j], wrong[j] & TOO_LOW);
    }
    dae_free_all(p.A, power, y, wrong);
    return status;
}

dae_status solver_check_kinds(dae_solver *s, double t, double h)
{
    if (!were_declared(s)) return DAE_OK;
    const eval_failure failure = s->bound.eval.failure;
    iteration_status seen = look(s, t, h, s->bound.y, s->bound.yp);
    dae_status status = DAE_OK; /* what cannot be evaluated shows soon enough */
    if (seen == ITERATION_MEMORY)
        status = diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    if (seen == ITERATION_STOP) status = explain_evaluation(s, EVAL_STOP);
    if (seen == ITERATION_OK) status = check_columns(s, t, h);
    if (seen == ITERATION_OK && status == DAE_OK) status = check_powers(s, t, h);
    s->bound.eval.failure = failure;
    return status;
}

/* ---- the index against what a method can do ---- */

/* Residual callbacks as they are given. */
static bool index_is_open(const dae_solver *s)
{
    if (s->hybrid || s->base->forms) return false;
    return !binding_uses_forms(&s->bound) && !s->bound.ode && !s->bound.rewritten &&
           !s->bound.matrix.matrix_free && !s->bound.context.second;
}

/* Whether rows of (A + B/h)^-1 grow as h falls, or that is not clear, from `longest` on. */
static bool some_row_grows(powers *p, double longest)
{
    if (!find_sizes(p, longest)) return true;
    for (int j = 0; j < p->n; j++)
        if (power_of(p, j) != 0) return true;
    return false;
}

/* *high: whether errors of F are amplified by 1/h in some variable, or that is not clear, by the
 * matrices at hand. Where time scales are far apart shorter h show more. */
static dae_status looks_high(dae_solver *s, bool *high)
{
    static const double longest[] = {1e-2, 1e-4, 1e-6};
    powers p;
    if (!powers_new(&p, s->bound.n))
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the index at the start.");
    take_matrices(&p, &s->bound.matrix.jac);
    *high = true;
    for (int k = 0; k < 3 && *high; k++) *high = some_row_grows(&p, longest[k]);
    dae_free(p.A);
    return DAE_OK;
}

/* Kinds that go with an index above 1, or a norm without algebraic variables: the user knows. */
static bool index_was_declared(const dae_solver *s)
{
    if (declares_high_kinds(s->bound.problem)) return true;
    return s->bound.options.error_test != DAE_ERROR_AUTO || s->bound.options.norm ||
           s->bound.options.weights;
}

/* BDF of constant steps converges at index 3, too [BCP96 3.2], and other methods with fewer orders:
 * who chooses steps can see that. With corrected multipliers steps may change [AL95]. Where nothing
 * is declared and all variables are to be tested, multipliers are, too: DASSL passes with a large
 * tolerance for them [Wun05 8.1]. */
static int highest_index(const dae_solver *s)
{
    const dae_options *o = &s->bound.options;
    bool tested = o->error_test == DAE_ERROR_ALL && !declares_high_kinds(s->bound.problem);
    bool any = steps_are_given(o) || o->multiplier_correction || tested;
    int highest = method_highest_index(s->bound.method);
    return any && highest < 3 ? 3 : highest;
}

static void advise_on_index(dae_solver *s, int index, int highest)
{
    if (index > highest)
        diag_append(&s->diag, ", but method %s is for index %s%d%s. ", s->bound.method->name,
                    highest > 1 ? "up to " : "", highest,
                    s->bound.method->kinds_asked ? " with variable steps" : "");
    else
        diag_append(&s->diag, ", but nothing is declared. ");
    bool other = index > highest && index <= 3,
         declare = index <= 3 && !declares_high_kinds(s->bound.problem);
    diag_append(&s->diag, "Differentiate constraints; or %s%s%s.", other ? "use radau" : "",
                other && declare ? ", and " : "",
                declare      ? "declare the kinds of these variables (dae_residual.kinds)"
                : index <= 3 ? ""
                             : "write a model text, whose index is reduced");
}

/* A variable that was declared to be of a higher index than the method is for. */
static dae_status refuse_declared(dae_solver *s, double t, int highest)
{
    for (int j = 0; j < s->bound.n && s->bound.problem->form.kinds; j++) {
        dae_kind kind = s->bound.problem->form.kinds[j];
        int index = kind > DAE_KIND_INDEX1 ? 1 + (int)kind - (int)DAE_KIND_INDEX1 : 1;
        if (index <= highest) continue;
        name_it(s, t, j);
        s->diag.value = index;
        diag_set(&s->diag, DAE_ERR_UNSUPPORTED, "Variable %s is declared %s", s->diag.variable_name,
                 kind_name(kind));
        advise_on_index(s, index, highest);
        return DAE_ERR_UNSUPPORTED;
    }
    return DAE_OK;
}

/* Whether there is something to find out, at the first start. */
static bool index_matters(const dae_solver *s)
{
    if (s->stats.starts > 0 || s->bound.n > LARGEST || !s->bound.matrix.jac.dfdyp) return false;
    return highest_index(s) < 3 || !index_was_declared(s);
}

dae_status solver_check_declared_index(dae_solver *s, double t)
{
    s->run.index_suspect = false;
    if (!index_is_open(s)) return DAE_OK;
    dae_status status = index_matters(s) ? looks_high(s, &s->run.index_suspect) : DAE_OK;
    if (status != DAE_OK) return status;
    /* other methods that know of kinds say so themselves */
    return s->bound.method->kinds_asked ? refuse_declared(s, t, highest_index(s)) : DAE_OK;
}

bool solver_index_is_undeclared(dae_solver *s)
{
    char text[400];
    if (s->hybrid || binding_uses_forms(&s->bound) || index_was_declared(s)) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    return solver_index_sentence(s, s->run.t_new, s->bound.at_y, s->bound.at_yp, text, sizeof text);
}

dae_status solver_check_index(dae_solver *s)
{
    char text[300];
    if (!s->run.index_suspect) return DAE_OK;
    s->run.index_suspect = false;
    const eval_failure failure = s->bound.eval.failure;
    vector_copy(s->bound.n, s->run.last.y, s->bound.y);
    vector_copy(s->bound.n, s->run.last.yp, s->bound.yp);
    int highest = highest_index(s),
        index = solver_certain_index(s, s->run.t_new, text, sizeof text);
    s->bound.eval.failure = failure;
    if (index < 2 || (index <= highest && index_was_declared(s))) return DAE_OK;
    s->diag.t = s->run.t_new;
    s->diag.value = index;
    diag_set(&s->diag, DAE_ERR_UNSUPPORTED, "The index at t = %.9g is %s", s->run.t_new, text);
    advise_on_index(s, index, highest);
    return DAE_ERR_UNSUPPORTED;
}
