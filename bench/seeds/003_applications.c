/* Initial value problems in DAEs: applications */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_003_applications = {
    .seed = "003", .title = "Initial value problems in DAEs: applications", .rows = rows};
