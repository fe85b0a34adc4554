/* Terms beside the user's equations: F_i + slope (y_j - about) where nothing but the rounding of F
 * determines y_j. */
#ifndef DAE_PROBLEM_REGULAR_TERMS_H
#define DAE_PROBLEM_REGULAR_TERMS_H

#include "linalg/matrix.h"

enum { MOST_REGULAR_TERMS = 64 };

typedef struct regular_term {
    int row, variable;
    double slope, about;
} regular_term;

typedef struct regular_terms {
    int count;
    regular_term term[MOST_REGULAR_TERMS];
} regular_terms;

/* f += terms; dF/dy += their slopes, on a layout that has their places */
void regular_terms_add(const regular_terms *r, const double *y, double *f);
void regular_terms_slopes(const regular_terms *r, const matrix_layout *layout, double *dfdy);

#endif
