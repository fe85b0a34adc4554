/* Andrews' squeezing mechanism, the equations of models/andrews1.mo, as a person writes them in C.
 */
#ifndef BENCH_ANDREWS_HAND_H
#define BENCH_ANDREWS_HAND_H

enum { ANDREWS_N = 20, ANDREWS_PARAMETERS = 42, ANDREWS_ENTRIES = 137 };

/* y = (q, v, lambda); p in the order in which the model declares its parameters */
void andrews_residual(double t, const double *y, const double *yp, const double *ypp,
                      const double *p, const double *m, double *out);
/* out = the partial derivatives that are not zero everywhere, by the list below */
void andrews_jacobian(double t, const double *y, const double *yp, const double *ypp,
                      const double *p, const double *m, double *out);

/* Entry k is the derivative of equation row by y_column, or by y'_(column - 20). */
typedef struct andrews_entry {
    int row, column;
} andrews_entry;

extern const andrews_entry andrews_entries[ANDREWS_ENTRIES];

#endif
