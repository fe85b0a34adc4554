/* Methods by a formula of the user (multistep:own, oneleg:own) have none of their own: backward
 * Euler's. */
#ifndef DAE_TEST_OWN_FORMULA_H
#define DAE_TEST_OWN_FORMULA_H

#include <daedal.h>
#include <string.h>

static void give_formula(dae_options *options)
{
    const double own = strstr(options->method, ":own") ? 1.0 : 0.0;
    options->formula_steps = own > 0.0;
    options->formula_a[0] = options->formula_b[0] = own;
    options->formula_a[1] = -own;
}

#endif
