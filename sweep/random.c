/* Numbers in (0, 1): random, in Latin hypercubes, and Sobol's. Each is a function of the seed, the
 * dimension and the number of the point alone, so that nobody's turn matters. */
#include "sweep.h"

#include "internal.h"

#include <stdlib.h>

/* ---- random bits ---- */

static const uint64_t GOLDEN = UINT64_C(0x9E3779B97F4A7C15); /* 2^64 over the golden ratio */

/* The finaliser of SplitMix64 [SLF14], variant 13 of Stafford. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t sweep_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t start = mix(mix(seed + GOLDEN) + (stream + 1) * GOLDEN);
    return mix(start + (index + 1) * GOLDEN);
}

/* The middle of one of 2^53 parts, that of the last one rounded downwards: neither 0 nor 1. */
static double unit(uint64_t bits)
{
    double u = ((double)(bits >> 11) + 0.5) * 0x1p-53;
    return u < 1.0 ? u : 1.0 - 0x1p-53;
}

/* ---- Latin hypercubes ---- */

/* A whole number below `bound`, each with the same chance but for 2^-64 of it. */
static uint64_t below(uint64_t bits, uint64_t bound)
{
    uint64_t high = bits >> 32, low = bits & UINT32_MAX;
    if (bound <= UINT32_MAX) return (high * bound + ((low * bound) >> 32)) >> 32;
    return bits % bound;
}

/* u = (p_i + r_i)/count with a random permutation p and random r */
static void latin(uint64_t seed, size_t count, int d, int dimensions, size_t *place, double *u)
{
    uint64_t stream = 2 * (uint64_t)d;
    for (size_t i = 0; i < count; i++) place[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)below(sweep_bits(seed, stream, i), i), kept = place[i - 1];
        place[i - 1] = place[j];
        place[j] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        double inside = unit(sweep_bits(seed, stream + 1, i));
        double x = ((double)place[i] + inside) / (double)count;
        u[i * (size_t)dimensions + (size_t)d] = x < 1.0 ? x : 1.0 - 0x1p-53;
    }
}

/* ---- Sobol's sequence ---- */

/* Degree s, inner coefficients a of a primitive polynomial, and the first s of the odd numbers m,
 * for dimensions 2, 3, ..: the first rows of new-joe-kuo-6.21201 [JK08]. */
typedef struct direction {
    unsigned degree, inner;
    unsigned m[7];
} direction;

static const direction directions[SWEEP_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
};

enum { BITS = 32 };

/* v_k = m_k 2^(32-k): v_k = a_1 v_(k-1) ^ .. ^ a_(s-1) v_(k-s+1) ^ v_(k-s) ^ (v_(k-s) >> s)
 * [JK08 (2)] */
static void make_directions(int dimension, uint32_t v[BITS])
{
    const direction *d = dimension > 0 ? &directions[dimension - 1] : NULL;
    unsigned s = d ? d->degree : 0;
    for (unsigned k = 0; k < BITS; k++) {
        if (!d || k < s) {
            v[k] = (uint32_t)(d ? d->m[k] : 1) << (BITS - 1 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (unsigned i = 1; i < s; i++)
            if ((d->inner >> (s - 1 - i)) & 1) v[k] ^= v[k - i];
    }
}

/* The sum, bit by bit, of the directions where Gray's code of the number has ones. */
static uint32_t sobol_at(const uint32_t v[BITS], uint32_t index)
{
    uint32_t x = 0, gray = index ^ (index >> 1);
    for (int k = 0; gray; k++, gray >>= 1)
        if (gray & 1) x ^= v[k];
    return x;
}

uint32_t sweep_sobol(int dimension, uint32_t index)
{
    uint32_t v[BITS];
    make_directions(dimension, v);
    return sobol_at(v, index);
}

static void sobol(uint64_t seed, size_t count, int d, int dimensions, double *u)
{
    uint32_t v[BITS], shift = seed ? (uint32_t)(sweep_bits(seed, (uint64_t)d, 0) >> 32) : 0;
    make_directions(d, v);
    for (size_t i = 0; i < count; i++) {
        uint32_t x = sobol_at(v, (uint32_t)i) ^ shift;
        u[i * (size_t)dimensions + (size_t)d] = ((double)x + 0.5) * 0x1p-32;
    }
}

report_status sweep_uniform(sweep_by by, uint64_t seed, size_t count, int dimensions, double *u,
                            report_error *error)
{
    size_t *place = by == SWEEP_LHS ? calloc(count, sizeof *place) : NULL;
    if (by == SWEEP_LHS && !place)
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a sample.");
    if (by == SWEEP_SOBOL && dimensions > SWEEP_SOBOL_DIMENSIONS)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "Sobol's sequence is known here in %d dimensions, and %d were asked "
                           "for; take lhs or random.",
                           SWEEP_SOBOL_DIMENSIONS, dimensions);
    for (int d = 0; d < dimensions; d++) {
        if (by == SWEEP_LHS) latin(seed, count, d, dimensions, place, u);
        if (by == SWEEP_SOBOL) sobol(seed, count, d, dimensions, u);
        for (size_t i = 0; i < count && by == SWEEP_RANDOM; i++)
            u[i * (size_t)dimensions + (size_t)d] = unit(sweep_bits(seed, (uint64_t)d, i));
    }
    free(place);
    return REPORT_OK;
}
