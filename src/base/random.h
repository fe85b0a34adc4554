/* Random numbers that are the same on every machine: splitmix64 [SLF14]. */
#ifndef DAE_BASE_RANDOM_H
#define DAE_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [-1, 1) */
static inline double random_number(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-52 - 1.0;
}

#endif
