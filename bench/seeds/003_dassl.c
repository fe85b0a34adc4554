/* Initial value problems in DAEs: DASSL and its family */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_003_dassl = {
    .seed = "003", .title = "Initial value problems in DAEs: DASSL and its family", .rows = rows};
