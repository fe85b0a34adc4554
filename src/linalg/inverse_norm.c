#include "linalg/inverse_norm.h"

#include "linalg/lapack.h"

double inverse_norm(linear_solver *solver, void (*solve)(linear_solver *, double *),
                    void (*solve_transpose)(linear_solver *, double *), double *work, int *iwork)
{
    const int n = solver->layout->n;
    double estimate = 0.0, *x = work, *v = work + n;
    int kase = 0, save[3] = {0};
    for (;;) {
        LAPACKE_dlacn2_work(n, v, x, iwork, &estimate, &kase, save);
        if (kase == 0) return estimate;
        if (kase == 1)
            solve(solver, x);
        else
            solve_transpose(solver, x);
    }
}
