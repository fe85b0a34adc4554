/* Guesses of unknowns that nobody gave, where the first ones lead nowhere; and which of two
 * solutions is nearer to the guess (nearest.c). */
#ifndef DAE_INIT_GUESSES_H
#define DAE_INIT_GUESSES_H

#include <stdbool.h>

enum { GUESSES_ELSEWHERE = 44 };

/* Guess number `attempt` < GUESSES_ELSEWHERE of unknown j, in units of its size: sizes from 1 to
 * 1e-6 and 1e6, each with four patterns of signs: all +, all - (the other way round if `turned`),
 * and two that are mixed over the unknowns. */
static inline double guess_elsewhere(int attempt, int j, bool turned)
{
    enum { PATTERNS = 4 };
    static const double sizes[] = {1.0, 10.0, 0.1, 1e2, 1e-2, 1e3, 1e-3, 1e4, 1e-4, 1e6, 1e-6};
    unsigned pattern = (unsigned)(attempt % PATTERNS) ^ (turned ? 1u : 0u);
    unsigned mix = ((unsigned)j + 1u) * 2654435761u + pattern * 40503u;
    mix = (mix ^ (mix >> 15)) * 2246822519u;
    bool positive = pattern < 2 ? pattern == 0 : (mix >> 16) & 1u;
    return positive ? sizes[attempt / PATTERNS] : -sizes[attempt / PATTERNS];
}

/* Guesses are multiplied by this: sizes differ a little, lest differences vanish. */
static inline double guess_spread(int j)
{
    return 1.0 + 0.1 * (j % 7);
}

/* Whether a value has gone far from its guess, and by more than `least`. */
bool guess_left(double guess, double value, double least);

/* How far a solution may be from a guess, and be as near as `value`. */
double guess_way(double guess, double value, double least);

/* Ways from the guess to two solutions, by the unknowns in which these differ, each in units of the
 * farther way: units of the unknowns do not matter. */
typedef struct nearness {
    double here, there; /* squares */
    double most;        /* the largest difference, relative, */
    int variable;       /* and where it is; -1: none */
} nearness;

void nearness_add(nearness *d, int j, double guess, double here, double there, double least);
/* Whether `here` is nearer by so much that it is meant. */
bool nearness_gained(const nearness *d);

#endif
