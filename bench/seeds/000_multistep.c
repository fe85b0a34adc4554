/* Second order DAEs: multistep and general linear methods */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_000_multistep = {
    .seed = "000",
    .title = "Second order DAEs: multistep and general linear methods",
    .rows = rows};
