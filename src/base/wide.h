/* Vectors of doubles for inner loops, and functions compiled twice: for every x86-64 processor, and
 * for those with AVX2, chosen when the program is loaded. Both give the same bits. Such functions
 * are static: compilers do not agree on the names of others. */
#ifndef DAE_BASE_WIDE_H
#define DAE_BASE_WIDE_H

/* Two and four doubles; elements need no alignment beyond their own. */
typedef double two __attribute__((vector_size(16), aligned(8)));
typedef double four __attribute__((vector_size(32), aligned(8)));

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) &&             \
    !defined(__SANITIZE_THREAD__)
#define DAE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define DAE_WIDE
#endif

/* What such functions call must become part of them. */
#define DAE_INLINE __attribute__((always_inline)) static inline

#endif
