/* Methods by a formula of the user (multistep:own, oneleg:own) have none of their own: backward
 * Euler's. */
#ifndef DAE_TEST_OWN_FORMULA_H
#define DAE_TEST_OWN_FORMULA_H

#include <daedal.h>
#include <string.h>

static void give_formula(dae_options *options)
{
    if (!strstr(options->method, ":own")) return;
    options->formula_steps = 1;
    options->formula_a[0] = options->formula_b[0] = 1.0;
    options->formula_a[1] = -1.0;
}

#endif
