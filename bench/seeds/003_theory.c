/* Initial value problems in DAEs: theory, multistep and one-step methods */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_003_theory = {
    .seed = "003",
    .title = "Initial value problems in DAEs: theory, multistep and one-step methods",
    .rows = rows};
