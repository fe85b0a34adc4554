/* The parts, in the order of the page. */
#ifndef DAE_BENCH_SEEDS_PARTS_H
#define DAE_BENCH_SEEDS_PARTS_H

#include "seeds.h"

#define SEEDS_PARTS(X)                                                                             \
    X(seeds_000_energies)                                                                          \
    X(seeds_000_index)                                                                             \
    X(seeds_000_multistep)                                                                         \
    X(seeds_000_second_order)                                                                      \
    X(seeds_000_results)                                                                           \
    X(seeds_001)                                                                                   \
    X(seeds_002)                                                                                   \
    X(seeds_003_theory)                                                                            \
    X(seeds_003_dassl)                                                                             \
    X(seeds_003_applications)                                                                      \
    X(seeds_004)

#define SEEDS_DECLARE(name) extern const seeds_part name;
SEEDS_PARTS(SEEDS_DECLARE)
#undef SEEDS_DECLARE

#endif
