/* Second order DAEs: equations from energies */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_000_energies = {
    .seed = "000", .title = "Second order DAEs: equations from energies", .rows = rows};
