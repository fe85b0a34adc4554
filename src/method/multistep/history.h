/* Columns of a history, phi_1, phi_2, .., as multistep methods use them. Arrays are counted from 1.
 */
#ifndef DAE_METHOD_MULTISTEP_HISTORY_H
#define DAE_METHOD_MULTISTEP_HISTORY_H

enum { HISTORY_COLUMNS = 7 };

/* Values in the columns 1 .. count become divided differences over the nodes t_0, t_1, ..; where
 * two nodes next to each other coincide, the older column is x[t, t] = x' already. */
void history_divide(double *const *phi, int count, const double *node, int n);

/* y = sum_{i<=m} beta_i phi_i with beta_1 = 1, y' = sum gamma_i beta_i phi_i and y'' likewise with
 * kappa, both from i = 2 on; NULL: not. 2 <= m <= HISTORY_COLUMNS */
void history_predict(double *const *phi, int m, const double *beta, const double *gamma,
                     const double *kappa, int n, double *y, double *yp, double *ypp);

/* phi_m := beta_m phi_m + e, then phi_i := beta_i phi_i + phi_{i+1} down to i = 1 */
void history_update(double *const *phi, int m, const double *beta, const double *e, int n);

/* The slopes of an interpolant at both ends of a step of length h, as weights of `count` columns,
 * and those that it is to have there. */
typedef struct end_slopes {
    int count;
    double *const *columns;
    const double *left, *right;
    const double *yp_left, *yp_right;
} end_slopes;

/* y at the part x of the step += the cubics that change these slopes; or their derivatives. They
 * vanish at both ends, and leave the order as it is. */
void history_smooth(const end_slopes *s, double x, double h, int derivative, int n, double *y);

#endif
