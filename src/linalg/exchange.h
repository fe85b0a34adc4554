/* Exchange (Gauss-Jordan) steps on small matrices.
 *
 * An exchange solves row k of r = A x for the variable of its largest coefficient and puts that
 * into all other rows. After all of them, with p_k the variables solved for and f the free ones,
 *
 *     x_{p_k} = sum_j A(k,p_j) r_j - sum_f A(k,f) x_f,
 *
 * so that A1^-1 and A1^-1 A2 lie side by side where A was. That takes up to three times the
 * multiplications of L U, but solving is multiplying: no chains of results that wait for each
 * other, which is what the time of small triangular solves is made of. Full matrices of saddle
 * points, factor and solve, 4 to 24 rows, 1 to 6 free variables: 0.6 to 0.8 of the time of L U. */
#ifndef DAE_LINALG_EXCHANGE_H
#define DAE_LINALG_EXCHANGE_H

enum { EXCHANGE_ROWS = 20, EXCHANGE_FREE = 6, EXCHANGE_COLUMNS = EXCHANGE_ROWS + EXCHANGE_FREE };

typedef struct exchanged {
    double *A;                  /* m x n by columns, borrowed */
    int pivot[EXCHANGE_ROWS];   /* p_k */
    int free[EXCHANGE_COLUMNS]; /* the free variables, after all exchanges n - m of them */
} exchanged;

/* All exchanges of the m x n matrix in x->A, m <= n; the first row without a pivot (it depends on
 * those before it, or is not finite), or m. */
int exchange(exchanged *x, int m, int n);

/* y_k = x_{p_k} for this r and free variables that are zero */
void exchange_solve(const exchanged *x, int m, const double *r, double *y);

/* r := A1^-T h, h_k belonging to p_k */
void exchange_transposed(const exchanged *x, int m, const double *h, double *r);

#endif
