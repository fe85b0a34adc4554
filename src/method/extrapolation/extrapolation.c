#include "method/extrapolation/extrapolation.h"

#include <math.h>

/* Safety, bounds of the factor, and gains that are worth another order, as in ODEX and SEULEX
 * [HNW93 II.9; HW96 IV.9]. */
static const double SAFETY = 0.93, AIM = 0.6, LEAST = 0.1, MOST = 4.0;
static const double LOWER_GAIN = 0.7, RAISE_GAIN = 0.9;
/* After a failure of the equations or the linear algebra. */
static const double FAILED = 0.5;

void extrapolation_add_row(extrapolation *e, int row, double *result)
{
    const int *steps = e->rule->steps;
    double weight[EXTRAPOLATION_ROWS];
    for (int k = 0; k < row; k++) {
        double ratio = (double)steps[row] / steps[row - 1 - k];
        weight[k] = 1.0 / ((e->rule->power == 2 ? ratio * ratio : ratio) - 1.0);
    }
    for (int i = 0; i < e->n; i++) {
        double value = result[i], last = 0.0;
        for (int k = 0; k < row; k++) {
            double before = e->T[k][i];
            e->T[k][i] = last = value;
            value += (value - before) * weight[k];
        }
        e->T[row][i] = value;
        e->error[i] = value - last;
    }
    e->row = row;
}

/* The error of row j behaves as H^(p j + 1), j from 0. */
static double exponent(const extrapolation *e, int row)
{
    return 1.0 / (e->rule->power * row + 1);
}

/* The step and the work for it that the error of the last row suggests. */
static void judge_row(extrapolation *e)
{
    const int j = e->row;
    double power = exponent(e, j), least = pow(LEAST, power);
    double error = fmax(e->errors[j], 1e-16);
    double factor = SAFETY * pow(AIM / error, power);
    e->factor[j] = fmin(1.0 / least, fmax(least / MOST, factor));
    e->expense[j] = e->rule->work[j] / e->factor[j];
}

static int rows_of(const extrapolation *e)
{
    return e->rule->rows > 0 ? e->rule->rows : EXTRAPOLATION_ROWS;
}

/* Whether the error of a row before the last allowed one is too large for the rest to help: each
 * further row j divides it by (n_j/n_1)^p or so [HNW93 (II.9.28)]. */
static bool hopeless(const extrapolation *e, int target)
{
    const int *steps = e->rule->steps;
    double reach = 1.0;
    for (int j = e->row + 1; j <= target + 1 && j < rows_of(e); j++)
        reach *= pow((double)steps[j] / steps[0], e->rule->power);
    return e->errors[e->row] > reach;
}

attempt_status extrapolation_run(extrapolation *e, int target, bool all, double *result)
{
    int last = all || target + 1 >= rows_of(e) ? target : target + 1;
    for (int j = 0; j <= last; j++) {
        attempt_status status = e->compute(e->context, j, result);
        if (status != ATTEMPT_OK) return status;
        extrapolation_add_row(e, j, result);
        e->errors[j] = INFINITY;
        if (j == 0) continue;
        e->errors[j] = e->norm(e->context, e->error);
        if (!isfinite(e->errors[j])) return ATTEMPT_EVALUATION;
        judge_row(e);
        if (all) continue;
        if (j >= target - 1 && e->errors[j] <= 1.0) return ATTEMPT_OK;
        if (j >= target - 1 && hopeless(e, target)) return ATTEMPT_OK;
        if (j > 1 && e->errors[j] >= e->errors[j - 1] && e->errors[j] > 1.0) return ATTEMPT_OK;
    }
    return ATTEMPT_OK;
}

bool extrapolation_passed(const extrapolation *e)
{
    return e->errors[e->row] <= 1.0;
}

/* The cheapest of the rows around the one that was accepted, j; one more if it pays to go on. */
static int best_row(const extrapolation *e, int target, int most)
{
    const int j = e->row;
    const double *w = e->expense;
    int best = j;
    if (j <= target) {
        if (j > 1 && w[j - 1] < LOWER_GAIN * w[j])
            best = j - 1;
        else if (j <= 1 || w[j] < RAISE_GAIN * w[j - 1])
            best = j + 1;
    } else {
        best = j - 1;
        if (j > 2 && w[j - 2] < LOWER_GAIN * w[j - 1]) best = j - 2;
        if (w[j] < RAISE_GAIN * w[best]) best = j;
    }
    return best > most ? most : best;
}

double extrapolation_plan(const extrapolation *e, int target, int most, bool retried, int *next)
{
    const int j = e->row;
    const double *work = e->rule->work;
    if (j == 0) { /* nothing is known of the error */
        *next = target > 2 ? target - 1 : target;
        return FAILED;
    }
    if (!extrapolation_passed(e)) {
        int row = j < target ? j : target;
        if (row > 1 && e->expense[row - 1] < LOWER_GAIN * e->expense[row]) row--;
        *next = row;
        return fmin(e->factor[row], 0.9);
    }
    int best = best_row(e, target, most);
    *next = best;
    if (retried) { /* the step has just been cut: no growth, and no more rows */
        *next = best < j ? best : j;
        return fmin(1.0, e->factor[*next]);
    }
    if (best <= j) return e->factor[best];
    return e->factor[j] * work[best] / work[j];
}

int extrapolation_first_target(double rtol, int most)
{
    int target = (int)(0.6 * -log10(fmax(rtol, 1e-16)) + 0.5);
    return target < 1 ? 1 : target > most ? most : target;
}
