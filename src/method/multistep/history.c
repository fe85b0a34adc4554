#include "method/multistep/history.h"

#include <stddef.h>

#include "method/common/interpolation.h"

void history_divide(double *const *phi, int count, const double *node, int n)
{
    for (int level = 1; level < count; level++)
        for (int i = count - 1; i >= level; i--) {
            double gap = node[i - level] - node[i], *newer = phi[i], *older = phi[i + 1];
            if (gap == 0.0) continue;
            for (int j = 0; j < n; j++) older[j] = (newer[j] - older[j]) / gap;
        }
}

/* m and whether there is a kappa are constants */
__attribute__((always_inline)) static inline void
predict(double *const *phi, int m, const double *restrict beta, const double *restrict gamma,
        const double *restrict kappa, int n, double *restrict y, double *restrict yp,
        double *restrict ypp)
{
    for (int j = 0; j < n; j++) {
        double value = phi[1][j], slope = 0.0, curvature = 0.0;
        for (int i = 2; i <= m; i++) {
            double term = beta[i] * phi[i][j];
            value += term;
            slope += gamma[i] * term;
            if (kappa) curvature += kappa[i] * term;
        }
        y[j] = value;
        yp[j] = slope;
        if (kappa) ypp[j] = curvature;
    }
}

__attribute__((always_inline)) static inline void
predict_any(double *const *phi, int m, const double *beta, const double *gamma, const double *kappa,
            int n, double *y, double *yp, double *ypp)
{
    switch (m) {
    case 2: predict(phi, 2, beta, gamma, kappa, n, y, yp, ypp); break;
    case 3: predict(phi, 3, beta, gamma, kappa, n, y, yp, ypp); break;
    case 4: predict(phi, 4, beta, gamma, kappa, n, y, yp, ypp); break;
    case 5: predict(phi, 5, beta, gamma, kappa, n, y, yp, ypp); break;
    case 6: predict(phi, 6, beta, gamma, kappa, n, y, yp, ypp); break;
    default: predict(phi, HISTORY_COLUMNS, beta, gamma, kappa, n, y, yp, ypp); break;
    }
}

void history_predict(double *const *phi, int m, const double *beta, const double *gamma,
                     const double *kappa, int n, double *y, double *yp, double *ypp)
{
    if (kappa)
        predict_any(phi, m, beta, gamma, kappa, n, y, yp, ypp);
    else
        predict_any(phi, m, beta, gamma, NULL, n, y, yp, NULL);
}

/* m a constant */
__attribute__((always_inline)) static inline void
update(double *const *phi, int m, const double *restrict beta, const double *restrict e, int n)
{
    for (int j = 0; j < n; j++) {
        double x = e[j];
        for (int i = m; i >= 1; i--) {
            x += beta[i] * phi[i][j];
            phi[i][j] = x;
        }
    }
}

void history_update(double *const *phi, int m, const double *beta, const double *e, int n)
{
    switch (m) {
    case 2: update(phi, 2, beta, e, n); break;
    case 3: update(phi, 3, beta, e, n); break;
    case 4: update(phi, 4, beta, e, n); break;
    case 5: update(phi, 5, beta, e, n); break;
    case 6: update(phi, 6, beta, e, n); break;
    default: update(phi, HISTORY_COLUMNS, beta, e, n); break;
    }
}

void history_smooth(const end_slopes *s, double x, double h, int derivative, int n, double *y)
{
    double left, right;
    cubic_ends(x, h, derivative, &left, &right);
    for (int j = 0; j < n; j++) {
        double slope0 = 0.0, slope1 = 0.0;
        for (int i = 0; i < s->count; i++) {
            slope0 += s->left[i] * s->columns[i][j];
            slope1 += s->right[i] * s->columns[i][j];
        }
        y[j] += left * (s->yp_left[j] - slope0) + right * (s->yp_right[j] - slope1);
    }
}
