/* Variables that nothing but the rounding of F determines.
 *
 * Where all diodes of a bridge are off, Is (exp(v/Vt) - 1) is -Is to the last digit, and the two
 * voltages may move together by volts without a change in any equation as it is computed: G^-1 eps
 * with the rounding errors eps of F is larger than a tolerance, and then than the variable. No step
 * and no iteration finds a value that F does not have, though all else is determined.
 *
 * What is below rounding may be added to F without a change of what F says. So a row i gets the
 * term g (y_j - r): the value r of the last step is what y_j keeps where F says nothing, and g is
 * so small that F alone decides where it determines y_j to a part of its tolerance. By
 * Sherman and Morrison, (G + g e_i e_j')^-1 eps has (G^-1 eps)_j / (1 + g (G^-1)_ji) in the place
 * of y_j. It is Tikhonov's regularisation with one number per undetermined direction,
 * and what SPICE's GMIN is to a circuit, but smaller by what rounding is to a conductance, towards
 * the value at hand instead of ground, only where it is needed, and told: the user hears which
 * variables are concerned, from when on, and which equation lacks something. r stays as it is, so
 * that the solution is smooth and error estimates hold. A term goes when it has no effect. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/watch/watch.h"

/* What rounding may do to a variable, in tolerances: Newton's iteration has to come below 0.33. */
static const double PART = 0.05;
/* Variables that move with those that are not determined: so much of a tolerance is told. */
static const double NAMED = 0.005;
/* A term goes where it has no more than this share in what determines its variable, and its end
 * changes all variables by less, in tolerances. */
static const double SHARE = 1e-3, NO_EFFECT = 0.01;
/* By so much more than rounding moves a row may y_j do so, and be lost. */
static const double LOST = 4.0;
/* What terms may do to states over a whole run, in tolerances. */
static const double HARM = 0.1;
/* Corrections by so many tolerances are solved for. */
static const double FAR = 100.0;
/* The first way aside, in tolerances: exponentials hardly bend there, though a tolerance may be
 * larger than their range. */
static const double FIRST = 1.0 / 64.0;
/* F bends where it changes by so many times its slope. */
static const double BENDS = 2.0;
enum { STRIDES = 12, LARGEST = 400, CANDIDATES = 20 };

/* Where the run stands, and G^-1 there. */
typedef struct scene {
    int n;
    double t, cj;
    const double *y, *yp, *about;
    double *f, *error; /* error: what rounding does to each row of F */
    double *inverse;   /* n x n, by columns */
    double *noise;     /* |G^-1| error */
    double *first;     /* the same without terms */
    bool *lost;        /* rows */
    bool factors;      /* their rounding counts, too */
    bool regular;      /* there is an inverse */
} scene;

/* Models of index 1 whose users hear of it. */
static bool applies(const dae_solver *s)
{
    const binding *b = &s->bound;
    for (int i = 0; i < b->n; i++)
        if (b->kinds[i] > DAE_KIND_INDEX1) return false;
    return s->run.phase == PHASE_RUNNING && s->hybrid && b->options.message &&
           b->problem->form.jacobian && !binding_uses_forms(b) && !b->context.second &&
           !b->matrix.matrix_free && !b->norm.user_weights && b->n <= LARGEST;
}

/* What the rows of column j change by otherwise than their slopes say, where y_j moves by d to both
 * sides. As much as a part of the slope is rounding. Whether some of the rows that were lost for a
 * shorter d still are. */
static bool note_errors(const dae_solver *s, const scene *a, int j, double d)
{
    bool any = false;
    const jacobian *jac = &s->bound.view.jac;
    const matrix_column column = layout_column(&jac->layout, j);
    for (int k = 0; k < column.count; k++) {
        const int i = column_row(&column, k);
        const double slope = jac->dfdy[column.first + (size_t)k] * d;
        const double change = 0.5 * (a->f[i] - a->noise[i]), off = fabs(change - slope);
        a->lost[i] = a->lost[i] && off > PART * fabs(slope) &&
                     !(d > FIRST * s->bound.norm.weights[j] && fabs(change) > BENDS * fabs(slope));
        if (!a->lost[i]) continue;
        a->error[i] = fmax(a->error[i], off);
        any = true;
    }
    return any;
}

/* error_i: what F_i changes by otherwise than its slopes say where one algebraic variable moves by
 * a part of its tolerance, or by more while that shows nothing but rounding */
static bool errors_of_rows(dae_solver *s, const scene *a)
{
    long count = 0;
    double *y = s->bound.work;
    vector_copy(a->n, a->y, y);
    for (int j = 0; j < a->n; j++) {
        double d = FIRST * s->bound.norm.weights[j];
        bool lost = s->bound.view.algebraic_column[j];
        for (int i = 0; i < a->n; i++) a->lost[i] = s->bound.view.constraint_row[i];
        for (int k = 0; k < STRIDES && lost; k++, d *= 4.0) {
            y[j] = a->y[j] + d;
            if (evaluate_residual(&s->bound.eval, a->t, y, a->yp, a->f, &count)) break;
            y[j] = a->y[j] - d;
            if (evaluate_residual(&s->bound.eval, a->t, y, a->yp, a->noise, &count)) break;
            lost = note_errors(s, a, j, d);
        }
        y[j] = a->y[j];
    }
    return vector_finite(a->n, a->error);
}

/* error_i := at least u sum_j |dF_i/dy_j y_j| + |dF_i/dy'_j y'_j|; with what factors of G make of
 * corrections by some tolerances */
static void rounding_of_values(const dae_solver *s, const scene *a)
{
    const jacobian *jac = &s->bound.view.jac;
    vector_zero(a->n, a->f);
    for (int c = 0; c < a->n; c++) {
        const matrix_column column = layout_column(&jac->layout, c);
        for (int k = 0; k < column.count; k++) {
            const size_t at = column.first + (size_t)k;
            const double weight = a->factors ? FAR * s->bound.norm.weights[c] : 0.0;
            a->f[column_row(&column, k)] +=
                DBL_EPSILON * (fabs(jac->dfdy[at]) * fmax(fabs(a->y[c]), weight) +
                               fabs(jac->dfdyp[at]) * fmax(fabs(a->yp[c]), weight * fabs(a->cj)));
        }
    }
    for (int i = 0; i < a->n; i++) a->error[i] = fmax(a->error[i], a->f[i]);
}

static iteration_status evaluate_at(dae_solver *s, const scene *a)
{
    return iteration_evaluate(&s->bound.view, a->t, a->y, a->yp, a->cj, 1.0 / fabs(a->cj),
                              s->bound.norm.weights, NULL);
}

/* x = G^-1 e_i */
static bool column_of_inverse(dae_solver *s, const scene *a, int i, double *x)
{
    vector_zero(a->n, x);
    x[i] = 1.0;
    if (iteration_solve(&s->bound.view, NULL, x) != ITERATION_OK) return false;
    for (int j = 0; j < a->n; j++) x[j] *= s->bound.norm.weights[j];
    return vector_finite(a->n, x);
}

/* Factors of G for unknowns in units of their tolerances: what is small beside other units is not
 * lost in them. */
static iteration_status factor_at(dae_solver *s, const scene *a)
{
    double *slopes = s->bound.work;
    for (int j = 0; j < a->n; j++) slopes[j] = a->cj * s->bound.norm.weights[j];
    return iteration_factor_columns(&s->bound.view, s->bound.norm.weights, slopes);
}

/* *regular: there is an inverse; false: nothing can be told */
static bool look(dae_solver *s, const scene *a, bool *regular)
{
    *regular = false;
    if (evaluate_at(s, a) != ITERATION_OK) return false;
    vector_zero(a->n, a->error);
    rounding_of_values(s, a);
    if (!errors_of_rows(s, a)) return false;
    iteration_status status = factor_at(s, a);
    if (status != ITERATION_OK) return status == ITERATION_SINGULAR;
    for (int i = 0; i < a->n; i++)
        if (!column_of_inverse(s, a, i, a->inverse + (size_t)i * (size_t)a->n)) return true;
    return *regular = true;
}

/* Whether F depends on y_j in row i for all that is known: the layout at hand may be denser. */
static bool in_pattern(const dae_solver *s, int i, int j)
{
    const matrix_column column = layout_column(&s->bound.problem->layout, j);
    for (int k = 0; k < column.count; k++)
        if (column_row(&column, k) == i) return true;
    return false;
}

/* noise = |G^-1| error; the variable where it is largest in tolerances, -1: all are below PART */
static int worst_variable(const dae_solver *s, const scene *a)
{
    int worst = -1;
    double most = PART;
    vector_zero(a->n, a->noise);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->n; j++)
            a->noise[j] += fabs(a->inverse[(size_t)i * (size_t)a->n + (size_t)j]) * a->error[i];
    for (int j = 0; j < a->n; j++) {
        const double size = a->noise[j] / s->bound.norm.weights[j];
        if (!(size > most) || s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL) continue;
        most = size;
        worst = j;
    }
    return worst;
}

/* dF_i/dy_j with y_j moved by so much; NAN: it has none there */
static double entry_beside(dae_solver *s, const scene *a, int i, int j, double way)
{
    iteration *view = &s->bound.view;
    vector_copy(a->n, a->y, s->bound.work);
    s->bound.work[j] += way;
    if (iteration_evaluate(view, a->t, s->bound.work, a->yp, a->cj, 1.0 / fabs(a->cj),
                           s->bound.norm.weights, NULL) != ITERATION_OK)
        return NAN;
    return view->jac.dfdy[layout_place(&view->jac.layout, i, j)];
}

/* Whether the slope dF_i/dy_j grows by powers of ten within the size of y_j: it is small here, and
 * may be nothing a step later. One that stays is what it is, and rounding makes y_j uncertain by
 * as much, and no more: see rounding.c. */
static bool varies(dae_solver *s, const scene *a, int i, int j, double entry)
{
    static const double PARTS[] = {0.1, -0.1, 0.5, -0.5, 1.0, -1.0}, GROWS = 100.0;
    const double size = fmax(fabs(a->y[j]), s->bound.extent[j]);
    bool found = false;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS && !found; k++)
        found = fabs(entry_beside(s, a, i, j, PARTS[k] * size)) > GROWS * fabs(entry);
    return found;
}

/* What rounding of row i does to y_j through the entry (i, j), in tolerances, if what y_j adds to
 * the row is lost in it; 0: it is not */
static double lost_part(const dae_solver *s, const scene *a, int i, int j, double entry)
{
    const double weight = s->bound.norm.weights[j];
    if (fabs(entry) * weight * PART > LOST * a->error[i]) return 0.0;
    if (!a->regular) return 1.0 + fabs(entry) * weight / a->error[i]; /* what is lost least */
    return fabs(a->inverse[(size_t)i * (size_t)a->n + (size_t)j]) * a->error[i] / weight;
}

/* The entry of the algebraic equations that is lost in the rounding of its row, to the greatest
 * effect below `limit`; 0: there is none, else this effect */
static double worst_lost(const dae_solver *s, const scene *a, double limit, regular_term *lost,
                         double *value)
{
    const iteration *view = &s->bound.view;
    double most = 0.1 * PART;
    lost->row = -1;
    for (int j = 0; j < a->n; j++) {
        const matrix_column column = layout_column(&view->jac.layout, j);
        for (int k = 0; k < column.count && view->algebraic_column[j]; k++) {
            const int i = column_row(&column, k);
            const double entry = view->jac.dfdy[column.first + (size_t)k];
            const double part = view->constraint_row[i] ? lost_part(s, a, i, j, entry) : 0.0;
            if (!(part > most && part < limit) || !in_pattern(s, i, j)) continue;
            most = part;
            *value = entry;
            *lost = (regular_term){.row = i, .variable = j, .about = a->about[j]};
            lost->slope = copysign(2.0 * a->error[i] / (PART * s->bound.norm.weights[j]), entry);
        }
    }
    return lost->row >= 0 ? most : 0.0;
}

/* The same of those that vary; false: there is none */
static bool find_lost(dae_solver *s, const scene *a, regular_term *lost)
{
    double limit = INFINITY, entry = 0.0;
    for (int k = 0; k < CANDIDATES; k++) {
        limit = worst_lost(s, a, limit, lost, &entry);
        if (limit == 0.0) return false;
        if (varies(s, a, lost->row, lost->variable, entry)) return true;
        if (evaluate_at(s, a) != ITERATION_OK) return false;
    }
    return false;
}

/* Which variables move by more than a part of their tolerances, and have not been told of: their
 * names, up to some; the number of them. */
static int names_of(dae_solver *s, const double *moved, double part, char *text, size_t size)
{
    int count = 0;
    text[0] = '\0';
    for (int j = 0; j < s->bound.n; j++) {
        if (!(fabs(moved[j]) > part * s->bound.norm.weights[j]) || s->bound.undetermined[j])
            continue;
        s->bound.undetermined[j] = true;
        const size_t length = strlen(text);
        if (++count <= 8)
            snprintf(text + length, size - length, "%s%.60s", count > 1 ? ", " : "",
                     problem_variable(s->bound.problem, j));
    }
    if (count > 8) snprintf(text + strlen(text), size - strlen(text), " and %d more", count - 8);
    return count;
}

/* What is left open is told where it begins. */
static void tell(dae_solver *s, const double *moved, double part, int row)
{
    char names[700];
    dae_diag text;
    const int count = names_of(s, moved, part, names, sizeof names);
    if (count == 0) return;
    diag_clear(&text);
    diag_set(&text, DAE_OK,
             "note: from t = %.6g on, at times, nothing but rounding determines %s%s: what the "
             "equations add to them is lost beside larger numbers, in %.120s above all. %s near "
             "the value of before until the equations tell more, and all else is as "
             "accurate as asked for. Add what determines %s, in a circuit a small conductance: "
             "1e-12*v beside the current of each diode.",
             s->run.t_new, names, count > 1 ? " together" : "",
             problem_equation(s->bound.problem, row), count > 1 ? "They stay" : "It stays",
             count > 1 ? "them" : "it");
    s->bound.options.message(text.text, s->bound.options.user);
}

/* Whether what the terms add from `before` on is nothing to states, if it were so all along the
 * run. */
static bool are_harmless(const dae_solver *s, const scene *a, int before)
{
    const double way = fmax(fabs((s->run.goal - a->t) * a->cj), 1.0);
    for (int k = before; k < s->bound.terms.count; k++) {
        const regular_term *term = &s->bound.terms.term[k];
        const double size = fmax(fabs(a->y[term->variable]), s->bound.extent[term->variable]);
        const double *x = a->inverse + (size_t)term->row * (size_t)a->n;
        for (int j = 0; j < a->n; j++)
            if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL &&
                fabs(x[j] * term->slope) * size * way > HARM * s->bound.norm.weights[j])
                return false;
    }
    return true;
}

/* Terms until all is determined; false: there is nothing that they help. */
static bool add_terms(dae_solver *s, scene *a)
{
    regular_terms *terms = &s->bound.terms;
    const int before = terms->count;
    bool helped = look(s, a, &a->regular);
    while (helped && (!a->regular || worst_variable(s, a) >= 0)) {
        if (a->regular && terms->count == before) vector_copy(a->n, a->noise, a->first);
        helped = terms->count < MOST_REGULAR_TERMS && find_lost(s, a, &terms->term[terms->count]);
        if (!helped) break;
        if (!a->regular) a->first[terms->term[terms->count].variable] = INFINITY;
        terms->count++;
        helped = look(s, a, &a->regular);
    }
    if (!helped || !are_harmless(s, a, before)) terms->count = before;
    if (terms->count > before) tell(s, a->first, NAMED, terms->term[before].row);
    return terms->count > before;
}

/* At y, y' at the time t for steps h: terms about the values where the run stands, if they help */
static bool hold_at(dae_solver *s, double t, double h, const double *y, const double *yp,
                    const double *about, bool factors)
{
    const size_t n = (size_t)s->bound.n;
    if (!s->bound.undetermined) s->bound.undetermined = DAE_ARRAY(bool, n);
    double *work = s->bound.undetermined ? DAE_ARRAY(double, (n + 4) * n) : NULL;
    bool *lost = work ? DAE_ARRAY(bool, n) : NULL;
    if (!lost) {
        dae_free(work);
        return false;
    }
    scene a = {.n = s->bound.n,
               .lost = lost,
               .factors = factors,
               .t = t,
               .cj = 1.0 / h,
               .y = y,
               .yp = yp,
               .about = about,
               .f = work,
               .error = work + n,
               .noise = work + 2 * n,
               .first = work + 3 * n,
               .inverse = work + 4 * n};
    const eval_failure before = s->bound.eval.failure;
    const bool held = binding_output_projector(&s->bound) && add_terms(s, &a);
    s->bound.eval.failure = before;
    dae_free_all(work, lost);
    return held;
}

bool undetermined_hold(dae_solver *s)
{
    if (!applies(s) || s->bound.held_at == s->run.t_new) return false;
    double *y = s->bound.y, *yp = s->bound.yp;
    solver_interpolate(s, s->run.t_new, 0, y);
    solver_interpolate(s, s->run.t_new, 1, yp);
    const bool held = hold_at(s, s->run.t_new, s->run.tried, y, yp, y, true);
    if (held) s->bound.held_at = s->run.t_new; /* once: else it is of no use */
    return held;
}

/* A number for the set of entries of algebraic equations that are lost in the rounding of what
 * their rows consist of, by the derivatives at hand; 0: there are none */
static uint64_t lost_entries(const dae_solver *s, const double *y)
{
    const jacobian *jac = &s->bound.matrix.jac;
    const int n = s->bound.n;
    uint64_t set = 0;
    double *size = s->bound.work;
    vector_zero(n, size);
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < n; j++) {
            const matrix_column column = layout_column(&jac->layout, j);
            if (pass && !jac->algebraic_column[j]) continue;
            for (int k = 0; k < column.count; k++) {
                const size_t at = column.first + (size_t)k;
                const int i = column_row(&column, k);
                const double entry = fabs(jac->dfdy[at]);
                if (!pass) size[i] += DBL_EPSILON * entry * fabs(y[j]);
                if (!pass || !jac->constraint_row[i] || !in_pattern(s, i, j)) continue;
                if (LOST * entry * s->bound.norm.weights[j] * PART <= size[i])
                    set = (set ^ (uint64_t)at) * UINT64_C(1099511628211) + 1;
            }
        }
    return set;
}

bool undetermined_ahead(dae_solver *s, attempt *a)
{
    long count = 0;
    const iteration *it = &s->bound.matrix;
    if (!applies(s) || !it->jac.valid || it->jac.version == s->bound.lost_of) return false;
    s->bound.lost_of = it->jac.version;
    const uint64_t set = lost_entries(s, a->y);
    const bool same = set == s->bound.lost;
    s->bound.lost = set;
    if (!set || same) return false;
    if (evaluate_residual(&s->bound.eval, a->t + a->h, a->y, a->yp, s->bound.work, &count)) {
        a->status = ATTEMPT_EVALUATION;
        return false;
    }
    solver_interpolate(s, s->run.t_new, 0, s->bound.y);
    return hold_at(s, a->t + a->h, a->h, a->y, a->yp, s->bound.y, false);
}

bool undetermined_within(dae_solver *s, double t, const double *y, const double *yp)
{
    const int before = s->bound.terms.count;
    if (!applies(s) || !hold_at(s, t, s->run.t_new - s->run.t_old, y, yp, y, true)) return false;
    s->bound.terms_within += s->bound.terms.count - before;
    return true;
}

/* What it would change to leave out a term, in x; whether that is nothing */
static bool is_over(dae_solver *s, const scene *a, const regular_term *term, double *x)
{
    if (!column_of_inverse(s, a, term->row, x)) return false;
    const double rest = 1.0 - term->slope * x[term->variable];
    const double off = term->slope * (a->y[term->variable] - term->about);
    for (int j = 0; j < a->n; j++) x[j] *= off / fmax(rest, DBL_EPSILON);
    double most = 0.0;
    for (int j = 0; j < a->n; j++) most = fmax(most, fabs(x[j]) / s->bound.norm.weights[j]);
    return rest > 1.0 - SHARE && most <= NO_EFFECT;
}

void undetermined_note(dae_solver *s)
{
    regular_terms *terms = &s->bound.terms;
    terms->count -= s->bound.terms_within;
    s->bound.terms_within = 0;
    if (terms->count == 0) return;
    scene a = {.n = s->bound.n, .t = s->run.t_new, .cj = 1.0 / s->run.last.h};
    a.y = s->bound.y, a.yp = s->bound.yp;
    solver_interpolate(s, a.t, 0, s->bound.y);
    solver_interpolate(s, a.t, 1, s->bound.yp);
    const eval_failure before = s->bound.eval.failure;
    const bool known = binding_output_projector(&s->bound) && evaluate_at(s, &a) == ITERATION_OK &&
                       factor_at(s, &a) == ITERATION_OK;
    for (int k = terms->count - 1; known && k >= 0; k--) {
        const regular_term term = terms->term[k];
        if (is_over(s, &a, &term, s->bound.work))
            terms->term[k] = terms->term[--terms->count];
        else
            tell(s, s->bound.work, 1.0, term.row);
    }
    s->bound.eval.failure = before;
}
