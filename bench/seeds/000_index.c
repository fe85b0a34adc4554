/* Second order DAEs: index notions and condensed forms */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_000_index = {
    .seed = "000", .title = "Second order DAEs: index notions and condensed forms", .rows = rows};
