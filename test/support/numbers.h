/* Random numbers of a seed, and the order of doubles for qsort. */
#ifndef TEST_NUMBERS_H
#define TEST_NUMBERS_H

static inline double uniform(unsigned long *seed)
{
    *seed = *seed * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static inline int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
