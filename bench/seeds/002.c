/* Half-explicit Runge-Kutta methods of index 2 */
#include "parts.h"

static const seeds_row rows[] = {{0}};

const seeds_part seeds_002 = {
    .seed = "002", .title = "Half-explicit Runge-Kutta methods of index 2", .rows = rows};
