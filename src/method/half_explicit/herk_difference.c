/* g_x by one-sided differences with the user's increment [Baese17 4.1.1]. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "method/half_explicit/herk_parts.h"

/* Column j of g_x = (g(shifted) - g(here)) / delta */
static void take_column(const herk_work *w, int j, double delta, double *values)
{
    const form_matrix *m = &w->form->g_x_matrix;
    size_t q = m->colptr ? (size_t)m->colptr[j] : (size_t)j * (size_t)m->rows;
    size_t end = m->colptr ? (size_t)m->colptr[j + 1] : q + (size_t)m->rows;
    for (size_t first = q; q < end; q++) {
        int i = m->colptr ? m->rowind[q] : (int)(q - first);
        values[q] = (w->g_shifted[i] - w->g_here[i]) / delta;
    }
}

attempt_status herk_difference(herk_work *w, double t, const double *x, double *values)
{
    const double given = w->config.increment;
    attempt_status status = herk_evaluate(w, HERK_CONSTRAINTS, t, x, w->g_here);
    vector_copy(w->n, x, w->shifted);
    for (int j = 0; j < w->n && status == ATTEMPT_OK; j++) {
        double delta = given > 0.0 ? given : sqrt(DBL_EPSILON) * fmax(fabs(x[j]), 1.0);
        w->shifted[j] = x[j] + delta;
        delta = w->shifted[j] - x[j]; /* what is left of it */
        if (delta == 0.0)
            return herk_fail(w, ATTEMPT_UNSUPPORTED,
                             "option delta of herk (increment) is lost in the rounding of a "
                             "variable; take a larger one",
                             j, -1);
        status = herk_evaluate(w, HERK_CONSTRAINTS, t, w->shifted, w->g_shifted);
        w->shifted[j] = x[j];
        take_column(w, j, delta, values);
    }
    return status;
}
