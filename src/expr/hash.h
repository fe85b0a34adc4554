/* Words into a hash, and the bits of a number as a word. */
#ifndef DAE_EXPR_HASH_H
#define DAE_EXPR_HASH_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Multiply and fold, once per word: cheap, and good to the last bit for tables of powers of two.
 * Begin with a word of its own: the first two are only joined by their difference. */
static inline uint64_t hash_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 32);
}

#endif
