/* Index, index reduction and manifolds */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_001 = {
    .seed = "001", .title = "Index, index reduction and manifolds", .rows = rows};
