#include "problem/regular_terms.h"

#include <stdint.h>

void regular_terms_add(const regular_terms *r, const double *y, double *f)
{
    for (int k = 0; k < r->count; k++) {
        const regular_term *term = &r->term[k];
        f[term->row] += term->slope * (y[term->variable] - term->about);
    }
}

void regular_terms_slopes(const regular_terms *r, const matrix_layout *layout, double *dfdy)
{
    for (int k = 0; k < r->count; k++) {
        const size_t at = layout_place(layout, r->term[k].row, r->term[k].variable);
        if (at != SIZE_MAX) dfdy[at] += r->term[k].slope;
    }
}
