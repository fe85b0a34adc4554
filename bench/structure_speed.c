/* How the time of structural analysis grows with the model: chains, ladders, grids and random
 * systems of n = 10^3 .. 10^6 equations. Processor times, the least of three runs. */
#define _POSIX_C_SOURCE 200809L
#include "structure/index/signature.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t seed = 88172645463325252u;

static int random_below(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 20) % (uint64_t)n);
}

/* ---- models --------------------------------------------------------------------------------- */

static expr sum(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_ADD, a, b);
}

static expr difference(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_SUB, a, b);
}

static expr square(graph *g, expr a)
{
    return graph_binary(g, EXPR_MUL, a, a);
}

/* k pendulums, each hanging from the one before: of x, y, lambda each, one irreducible block.
 * Forces: own rod and the next one's. */
static bool pendulums(equation_set *set, graph *g, int size)
{
    int k = size / 3;
    if (!equation_set_new(set, g, 3 * k, 3 * k)) return false;
    for (int p = 0; p < k; p++) {
        expr length = graph_constant(g, -1.0);
        for (int axis = 0; axis < 2; axis++) {
            int at = 3 * p + axis;
            expr here = graph_variable(g, at, 0), above = graph_constant(g, 0.0);
            if (p > 0) above = graph_variable(g, at - 3, 0);
            expr rod = difference(g, here, above);
            expr force = graph_binary(g, EXPR_MUL, rod, graph_variable(g, 3 * p + 2, 0));
            if (p + 1 < k) {
                expr next = difference(g, graph_variable(g, at + 3, 0), here);
                next = graph_binary(g, EXPR_MUL, next, graph_variable(g, 3 * p + 5, 0));
                force = difference(g, force, next);
            }
            set->row[at].residual = sum(g, graph_variable(g, at, 2), force);
            length = sum(g, length, square(g, rod));
        }
        set->row[3 * p + 2].residual = length;
    }
    return true;
}

/* The same in first order: x, y, vx, vy, lambda each. */
static bool first_order(equation_set *set, graph *g, int size)
{
    int k = size / 5;
    if (!equation_set_new(set, g, 5 * k, 5 * k)) return false;
    for (int p = 0; p < k; p++) {
        expr length = graph_constant(g, -1.0);
        for (int axis = 0; axis < 2; axis++) {
            int at = 5 * p + axis;
            expr here = graph_variable(g, at, 0), above = graph_constant(g, 0.0);
            if (p > 0) above = graph_variable(g, at - 5, 0);
            expr rod = difference(g, here, above);
            expr force = graph_binary(g, EXPR_MUL, rod, graph_variable(g, 5 * p + 4, 0));
            if (p + 1 < k) {
                expr next = difference(g, graph_variable(g, at + 5, 0), here);
                next = graph_binary(g, EXPR_MUL, next, graph_variable(g, 5 * p + 9, 0));
                force = difference(g, force, next);
            }
            set->row[at].residual =
                difference(g, graph_variable(g, at, 1), graph_variable(g, at + 2, 0));
            set->row[at + 2].residual = sum(g, graph_variable(g, at + 2, 1), force);
            length = sum(g, length, square(g, rod));
        }
        set->row[5 * p + 4].residual = length;
    }
    return true;
}

/* An RC ladder of u, i each: i_k = (u_(k-1) - u_k)/R, C u_k' = i_k - i_(k+1). */
static bool ladder(equation_set *set, graph *g, int size)
{
    int k = size / 2;
    if (!equation_set_new(set, g, 2 * k, 2 * k)) return false;
    for (int p = 0; p < k; p++) {
        expr before = p > 0 ? graph_variable(g, 2 * p - 2, 0) : graph_time(g);
        expr after = p + 1 < k ? graph_variable(g, 2 * p + 3, 0) : graph_constant(g, 0.0);
        expr u = graph_variable(g, 2 * p, 0), i = graph_variable(g, 2 * p + 1, 0);
        set->row[2 * p].residual = difference(g, i, difference(g, before, u));
        set->row[2 * p + 1].residual = sum(g, difference(g, graph_variable(g, 2 * p, 1), i), after);
    }
    return true;
}

/* x_1' = x_2 + sin x_1, .., x_1 = f(t): index n. */
static bool integrators(equation_set *set, graph *g, int size)
{
    if (!equation_set_new(set, g, size, size)) return false;
    for (int p = 0; p + 1 < size; p++)
        set->row[p].residual =
            difference(g, graph_variable(g, p, 1), square(g, graph_variable(g, p + 1, 0)));
    set->row[size - 1].residual = difference(g, graph_variable(g, 0, 0), graph_time(g));
    return true;
}

/* Hessenberg systems of index 2 .. 6 whose last variable drives the next system. */
static bool hessenberg(equation_set *set, graph *g, int size)
{
    if (!equation_set_new(set, g, size, size)) return false;
    for (int first = 0, k = 2; first < size; first += k, k = k < 6 ? k + 1 : 2) {
        if (first + k > size) k = size - first;
        for (int p = 0; p < k - 1; p++) {
            expr e = graph_variable(g, first + k - 2 - p, 1);
            for (int q = 0; q <= p + 1; q++)
                e = difference(g, e, square(g, graph_variable(g, first + k - 1 - q, 0)));
            set->row[first + p].residual = e;
        }
        expr drive = first > 0 ? graph_variable(g, first - 1, 0) : graph_time(g);
        set->row[first + k - 1].residual =
            difference(g, square(g, graph_variable(g, first, 0)), drive);
    }
    return true;
}

/* Random orders 0 .. 3 in three entries per row, and a ring that makes one component of it. */
static bool tangle(equation_set *set, graph *g, int size)
{
    if (!equation_set_new(set, g, size, size)) return false;
    for (int p = 0; p < size; p++) {
        expr e = graph_variable(g, p, random_below(4));
        e = sum(g, e, graph_variable(g, (p + 1) % size, random_below(4)));
        for (int q = 0; q < 2; q++)
            e = sum(g, e, square(g, graph_variable(g, random_below(size), random_below(4))));
        set->row[p].residual = e;
    }
    return true;
}

/* A grid whose rows are shuffled: five points, order 0 or 1. */
static bool grid(equation_set *set, graph *g, int size)
{
    int side = (int)sqrt((double)size), n = side * side;
    if (!equation_set_new(set, g, n, n)) return false;
    for (int p = 0; p < n; p++) {
        expr e = graph_variable(g, p, random_below(2));
        if (p % side > 0) e = sum(g, e, graph_variable(g, p - 1, random_below(2)));
        if (p % side < side - 1) e = sum(g, e, graph_variable(g, p + 1, random_below(2)));
        if (p >= side) e = sum(g, e, graph_variable(g, p - side, random_below(2)));
        if (p < n - side) e = sum(g, e, graph_variable(g, p + side, random_below(2)));
        set->row[p].residual = e;
    }
    for (int p = n - 1; p > 0; p--) {
        int other = random_below(p + 1);
        equation_row row = set->row[p];
        set->row[p] = set->row[other];
        set->row[other] = row;
    }
    return true;
}

/* As the tangle, but with one equation too many at the end of it. */
static bool broken(equation_set *set, graph *g, int size)
{
    if (!tangle(set, g, size)) return false;
    set->row[size / 2].residual = set->row[size / 3].residual =
        difference(g, graph_variable(g, size / 4, 0), graph_constant(g, 1.0));
    return true;
}

/* ---- measuring ------------------------------------------------------------------------------ */

typedef bool (*model)(equation_set *set, graph *g, int size);

static const struct {
    const char *name;
    model build;
} cases[] = {{"pendulums", pendulums},   {"pendulums, first order", first_order},
             {"RC ladder", ladder},      {"integrators (index n)", integrators},
             {"Hessenberg", hessenberg}, {"random orders", tangle},
             {"shuffled grid", grid},    {"broken random", broken}};

typedef struct timing {
    double signature, transversal, all, join;
    int equations, blocks, index;
} timing;

static bool measure(model build, int size, timing *t)
{
    graph *g = graph_new();
    equation_set set = {0};
    bool ok = g && build(&set, g, size);
    *t = (timing){.signature = INFINITY, .transversal = INFINITY, .all = INFINITY};
    for (int run = 0; run < 3 && ok; run++) {
        signature s;
        structure r;
        int *match = malloc(((size_t)set.m + 1) * sizeof *match);
        double begin = now();
        ok = match && signature_from_equations(&s, &set);
        t->signature = fmin(t->signature, now() - begin);
        begin = now();
        ok = ok && signature_transversal(&s, match) != SIGNATURE_MEMORY;
        t->transversal = fmin(t->transversal, now() - begin);
        signature_free(&s);
        free(match);
        begin = now();
        ok = ok && structure_analyse(&r, &set);
        t->all = fmin(t->all, now() - begin);
        t->blocks = r.blocks.count;
        t->index = r.singular ? -1 : r.index;
        if (ok) structure_free(&r);
    }
    t->equations = set.m;
    double begin = now();
    ok = ok && equation_set_join_derivatives(&set);
    t->join = now() - begin;
    equation_set_free(&set);
    graph_free(g);
    return ok;
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 100000;
    printf("%-23s %9s %9s %6s %10s %11s %9s %8s %7s\n", "model", "equations", "blocks", "index",
           "signature", "transversal", "analysis", "growth", "join");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double before = 0.0;
        for (int size = 1000; size <= most; size *= 10) {
            timing t;
            if (!measure(cases[c].build, size, &t)) return 1;
            printf("%-23s %9d %9d %6d %8.4f s %9.4f s %7.4f s", cases[c].name, t.equations,
                   t.blocks, t.index, t.signature, t.transversal, t.all);
            if (before > 0.0)
                printf(" n^%5.2f", log10(t.all / before));
            else
                printf(" %7s", "");
            printf(" %5.3f s\n", t.join);
            before = t.all;
        }
    }
    return 0;
}
