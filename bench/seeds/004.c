/* Half-explicit methods for overdetermined DAEs */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_004 = {
    .seed = "004", .title = "Half-explicit methods for overdetermined DAEs", .rows = rows};
