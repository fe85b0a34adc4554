/* Second order DAEs: collocation, formulations and numerical results */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_000_second_order = {
    .seed = "000",
    .title = "Second order DAEs: collocation, formulations and numerical results",
    .rows = rows};
