#include "linalg/inertia.h"

#include <math.h>

int inertia_bad_pivot(int n, double *A, bool zero)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(A[i + i * n]));
    for (int k = 0; k < n; k++) {
        double pivot = A[k + k * n];
        bool none = pivot <= 1e-10 * most;
        if (pivot < -1e-10 * most || (none && zero)) return k;
        for (int i = k + 1; i < n && none; i++)
            if (fabs(A[i + k * n]) > 1e-5 * most) return k; /* [0 a; a b] */
        for (int j = k + 1; j < n && !none; j++) {
            const double factor = A[k + j * n] / pivot;
            for (int i = k + 1; i < n && factor != 0.0; i++) A[i + j * n] -= A[i + k * n] * factor;
        }
    }
    return -1;
}
