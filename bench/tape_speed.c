/* How fast expressions run: hand-written C, emitted C and the tape, and how long it takes to get
 * there. Times are minima over repetitions.
 *
 * usage: bench_tape_speed [largest ladder, default 100000] */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "expr/derive.h"
#include "expr/emit.h"
#include "expr/native.h"

#include "../test/support/expr_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Expressions with a point to evaluate them at. */
typedef struct workload {
    const char *name;
    graph *graph;
    expr *e;
    size_t count;
    native_function hand; /* or NULL */
    tape_inputs in;
} workload;

/* Seconds of one evaluation: the least of 15 series of about 2 ms or at least one evaluation. */
static double time_of(expr_code *c, const tape_inputs *in, double *out)
{
    double best = HUGE_VAL;
    long n = 1;
    for (int k = 0; k < 15; k++) {
        double start = now();
        for (long i = 0; i < n; i++) code_run(c, in, out);
        double each = (now() - start) / (double)n;
        if (each < best) best = each;
        n = 2e-3 / best > 1.0 ? (long)(2e-3 / best) : 1;
    }
    return best;
}

/* Relative; NaN in both is no difference. */
static double largest_difference(size_t n, const double *a, const double *b)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) continue;
        double d = fabs(a[i] - b[i]) / (1e-300 + fabs(a[i]) + fabs(b[i]));
        if (d > most) most = d;
    }
    return most;
}

/* Compile natively, past the cache; NULL where that fails. */
static native_module *compile(const workload *w, double *seconds)
{
    emit_text text = {0};
    native_module *module = NULL;
    char reason[256], salt[64];
    emit_function f = {.name = "f", .e = w->e, .count = w->count};
    double start = now();
    emit_unit(&text, w->graph, &f, 1, NULL, NULL);
    snprintf(salt, sizeof salt, "/* %.17g */\n", start);
    emit_put(&text, salt);
    if (text.failed || native_load(text.text, text.length, &module, reason) != NATIVE_OK)
        fprintf(stderr, "%s: %s\n", w->name, reason);
    *seconds = now() - start;
    emit_free(&text);
    return module;
}

static void measure(const workload *w)
{
    expr_code c;
    double *taped = DAE_ARRAY(double, w->count), *other = DAE_ARRAY(double, w->count);
    double start = now(), build, hand = NAN, native = NAN;
    if (!taped || !other || !code_new(&c, w->graph, w->e, w->count)) exit(1);
    double compiled = now() - start;
    code_prepare(&c, &w->in);
    double tape_time = time_of(&c, &w->in, taped);
    native_module *module = compile(w, &build);
    if (module) {
        c.native = native_find(module, "f");
        native = time_of(&c, &w->in, other);
        double difference = largest_difference(w->count, taped, other);
        if (difference != 0.0) printf("(%s: engines differ by %.1e)\n", w->name, difference);
    }
    if (w->hand) {
        c.native = w->hand;
        hand = time_of(&c, &w->in, other);
        double difference = largest_difference(w->count, taped, other);
        if (difference > 1e-9) printf("(%s: by hand differs by %.1e)\n", w->name, difference);
    }
    printf("%-22s %8zu %9zu %11.1f %11.1f %11.1f %8.2f %8.2f %9.2f %9.1f\n", w->name, w->count,
           tape_length(c.tape), 1e9 * hand, 1e9 * native, 1e9 * tape_time, native / hand,
           tape_time / native, 1e3 * compiled, 1e3 * build);
    fflush(stdout);
    code_free(&c);
    native_free(module);
    dae_free(taped);
    dae_free(other);
}

/* ---- Andrews' squeezing mechanism [HW96 VII.7]: y = (q, v, lambda), 20 equations ------------- */

static const double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706,
                    m7 = .05498;
static const double i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5,
                    i6 = 5.667e-7, i7 = 1.912e-5;
static const double xa = -.06934, ya = -.00227, xb = -.03635, yb = .03273, xc = .014, yc = .072;
static const double d = 28e-3, da = 115e-4, e_ = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5,
                    l0 = 7785e-5, ss = 35e-3, sa = 1874e-5, sb = 1043e-5, sc = 18e-3, sd = 2e-2,
                    ta = 2308e-5, tb = 916e-5, u = 4e-2, ua = 1228e-5, ub = 449e-5, zf = 2e-2,
                    zt = 4e-2, fa = 1421e-5, mom = 33e-3, c0 = 4530.0;

/* As a person writes it. */
static void andrews_by_hand(double time, const double *y, const double *yp, const double *ypp,
                            const double *p, const double *m, double *out)
{
    (void)time, (void)ypp, (void)p, (void)m;
    const double *v = y + 7, *a = yp + 7, *l = y + 14;
    double sibe = sin(y[0]), cobe = cos(y[0]), sith = sin(y[1]), coth = cos(y[1]);
    double siga = sin(y[2]), coga = cos(y[2]), siph = sin(y[3]), coph = cos(y[3]);
    double side = sin(y[4]), code_ = cos(y[4]), siom = sin(y[5]), coom = cos(y[5]);
    double siep = sin(y[6]), coep = cos(y[6]);
    double sibeth = sin(y[0] + y[1]), cobeth = cos(y[0] + y[1]);
    double siphde = sin(y[3] + y[4]), cophde = cos(y[3] + y[4]);
    double siomep = sin(y[5] + y[6]), coomep = cos(y[5] + y[6]);

    double xd = sd * coga + sc * siga + xb, yd = sd * siga - sc * coga + yb;
    double lang = sqrt((xd - xc) * (xd - xc) + (yd - yc) * (yd - yc));
    double force = -c0 * (lang - l0) / lang, fx = force * (xd - xc), fy = force * (yd - yc);

    double m11 = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * coth + da * da) + i1 + i2;
    double m21 = m2 * (da * da - da * rr * coth) + i2, m22 = m2 * da * da + i2;
    double m33 = m3 * (sa * sa + sb * sb) + i3, m44 = m4 * (e_ - ea) * (e_ - ea) + i4;
    double m54 = m4 * ((e_ - ea) * (e_ - ea) + zt * (e_ - ea) * siph) + i4;
    double m55 = m4 * (zt * zt + 2 * zt * (e_ - ea) * siph + (e_ - ea) * (e_ - ea)) +
                 m5 * (ta * ta + tb * tb) + i4 + i5;
    double m66 = m6 * (zf - fa) * (zf - fa) + i6;
    double m76 = m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * siom) + i6;
    double m77 = m6 * ((zf - fa) * (zf - fa) - 2 * u * (zf - fa) * siom + u * u) +
                 m7 * (ua * ua + ub * ub) + i6 + i7;

    double gx = -rr * sibe + d * sibeth, gy = rr * cobe - d * cobeth;
    for (int i = 0; i < 7; i++) out[i] = yp[i] - v[i];
    out[7] = m11 * a[0] + m21 * a[1] - (mom - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * sith) +
             gx * (l[0] + l[2] + l[4]) + gy * (l[1] + l[3] + l[5]);
    out[8] = m21 * a[0] + m22 * a[1] - m2 * da * rr * v[0] * v[0] * sith +
             d * sibeth * (l[0] + l[2] + l[4]) - d * cobeth * (l[1] + l[3] + l[5]);
    out[9] = m33 * a[2] - (fx * (sc * coga - sd * siga) + fy * (sd * coga + sc * siga)) -
             ss * coga * l[0] - ss * siga * l[1];
    out[10] = m44 * a[3] + m54 * a[4] - m4 * zt * (e_ - ea) * v[4] * v[4] * coph -
              e_ * cophde * l[2] - e_ * siphde * l[3];
    out[11] = m54 * a[3] + m55 * a[4] + m4 * zt * (e_ - ea) * v[3] * (v[3] + 2 * v[4]) * coph +
              (zt * side - e_ * cophde) * l[2] - (e_ * siphde + zt * code_) * l[3];
    out[12] = m66 * a[5] + m76 * a[6] + m6 * u * (zf - fa) * v[6] * v[6] * coom +
              zf * siomep * l[4] - zf * coomep * l[5];
    out[13] = m76 * a[5] + m77 * a[6] - m6 * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * coom +
              (zf * siomep - u * coep) * l[4] - (zf * coomep + u * siep) * l[5];
    out[14] = rr * cobe - d * cobeth - ss * siga - xb;
    out[15] = rr * sibe - d * sibeth + ss * coga - yb;
    out[16] = rr * cobe - d * cobeth - e_ * siphde - zt * code_ - xa;
    out[17] = rr * sibe - d * sibeth + e_ * cophde - zt * side - ya;
    out[18] = rr * cobe - d * cobeth - zf * coomep - u * siep - xa;
    out[19] = rr * sibe - d * sibeth - zf * siomep + u * coep - ya;
}

/* The same as expressions. Sums are written as lists of terms, products as lists of factors. */
static graph *G;

static expr num(double value)
{
    return graph_constant(G, value);
}

static expr fold_list(expr_op op, int count, const expr *list)
{
    expr r = list[0];
    for (int i = 1; i < count; i++) r = graph_binary(G, op, r, list[i]);
    return r;
}

#define LIST(...)                                                                                  \
    (int)(sizeof((expr[]){__VA_ARGS__}) / sizeof(expr)), (expr[])                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define SUM(...) fold_list(EXPR_ADD, LIST(__VA_ARGS__))
#define MUL(...) fold_list(EXPR_MUL, LIST(__VA_ARGS__))
#define SUB(a, b) graph_binary(G, EXPR_SUB, a, b)

/* value times factors */
#define TIMES(value, ...) MUL(num(value), __VA_ARGS__)

static void andrews_expressions(expr *r)
{
    expr y[20], yp[20], s[10], c[10]; /* sines and cosines of q_1 .. q_7 and of three sums */
    for (int i = 0; i < 20; i++) {
        y[i] = graph_variable(G, i, 0);
        yp[i] = graph_variable(G, i, 1);
    }
    const expr angle[10] = {
        y[0],           y[1], y[2], y[3], y[4], y[5], y[6], SUM(y[0], y[1]), SUM(y[3], y[4]),
        SUM(y[5], y[6])};
    for (int i = 0; i < 10; i++) {
        s[i] = graph_unary(G, EXPR_SIN, angle[i]);
        c[i] = graph_unary(G, EXPR_COS, angle[i]);
    }
    const expr *v = y + 7, *a = yp + 7, *l = y + 14;
    expr dx = SUM(TIMES(sd, c[2]), TIMES(sc, s[2]), num(xb - xc));
    expr dy = SUM(TIMES(sd, s[2]), TIMES(-sc, c[2]), num(yb - yc));
    expr lang = graph_unary(G, EXPR_SQRT, SUM(MUL(dx, dx), MUL(dy, dy)));
    expr force = graph_binary(G, EXPR_DIV, TIMES(-c0, SUB(lang, num(l0))), lang);
    expr fx = MUL(force, dx), fy = MUL(force, dy);
    const double k4 = m4 * zt * (e_ - ea), k6 = m6 * u * (zf - fa), k2 = m2 * da * rr;
    expr m11 = SUB(num(m1 * ra * ra + m2 * (rr * rr + da * da) + i1 + i2), TIMES(2 * k2, c[1]));
    expr m21 = SUB(num(m2 * da * da + i2), TIMES(k2, c[1])), m22 = num(m2 * da * da + i2);
    expr m54 = SUM(num(m4 * (e_ - ea) * (e_ - ea) + i4), TIMES(k4, s[3]));
    expr m55 = SUM(num(m4 * (zt * zt + (e_ - ea) * (e_ - ea)) + m5 * (ta * ta + tb * tb) + i4 + i5),
                   TIMES(2 * k4, s[3]));
    expr m76 = SUB(num(m6 * (zf - fa) * (zf - fa) + i6), TIMES(k6, s[5]));
    expr m77 = SUB(num(m6 * ((zf - fa) * (zf - fa) + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7),
                   TIMES(2 * k6, s[5]));
    expr gx = SUB(TIMES(d, s[7]), TIMES(rr, s[0])), gy = SUB(TIMES(rr, c[0]), TIMES(d, c[7]));
    expr lx = SUM(l[0], l[2], l[4]), ly = SUM(l[1], l[3], l[5]);
    for (int i = 0; i < 7; i++) r[i] = SUB(yp[i], v[i]);
    r[7] = SUM(MUL(m11, a[0]), MUL(m21, a[1]), num(-mom),
               TIMES(k2, v[1], SUM(v[1], TIMES(2.0, v[0])), s[1]), MUL(gx, lx), MUL(gy, ly));
    r[8] = SUM(MUL(m21, a[0]), MUL(m22, a[1]), TIMES(-k2, v[0], v[0], s[1]), TIMES(d, s[7], lx),
               TIMES(-d, c[7], ly));
    expr swing = SUM(MUL(fx, SUB(TIMES(sc, c[2]), TIMES(sd, s[2]))),
                     MUL(fy, SUM(TIMES(sd, c[2]), TIMES(sc, s[2]))));
    r[9] = SUB(SUM(TIMES(m3 * (sa * sa + sb * sb) + i3, a[2]), TIMES(-ss, c[2], l[0]),
                   TIMES(-ss, s[2], l[1])),
               swing);
    r[10] = SUM(TIMES(m4 * (e_ - ea) * (e_ - ea) + i4, a[3]), MUL(m54, a[4]),
                TIMES(-k4, v[4], v[4], c[3]), TIMES(-e_, c[8], l[2]), TIMES(-e_, s[8], l[3]));
    r[11] = SUM(MUL(m54, a[3]), MUL(m55, a[4]), TIMES(k4, v[3], SUM(v[3], TIMES(2.0, v[4])), c[3]),
                MUL(SUB(TIMES(zt, s[4]), TIMES(e_, c[8])), l[2]),
                MUL(SUM(TIMES(-e_, s[8]), TIMES(-zt, c[4])), l[3]));
    r[12] = SUM(TIMES(m6 * (zf - fa) * (zf - fa) + i6, a[5]), MUL(m76, a[6]),
                TIMES(k6, v[6], v[6], c[5]), TIMES(zf, s[9], l[4]), TIMES(-zf, c[9], l[5]));
    r[13] = SUM(MUL(m76, a[5]), MUL(m77, a[6]), TIMES(-k6, v[5], SUM(v[5], TIMES(2.0, v[6])), c[5]),
                MUL(SUB(TIMES(zf, s[9]), TIMES(u, c[6])), l[4]),
                MUL(SUM(TIMES(-zf, c[9]), TIMES(-u, s[6])), l[5]));
    expr px = SUB(TIMES(rr, c[0]), TIMES(d, c[7])), py = SUB(TIMES(rr, s[0]), TIMES(d, s[7]));
    r[14] = SUM(px, TIMES(-ss, s[2]), num(-xb));
    r[15] = SUM(py, TIMES(ss, c[2]), num(-yb));
    r[16] = SUM(px, TIMES(-e_, s[8]), TIMES(-zt, c[4]), num(-xa));
    r[17] = SUM(py, TIMES(e_, c[8]), TIMES(-zt, s[4]), num(-ya));
    r[18] = SUM(px, TIMES(-zf, c[9]), TIMES(-u, s[6]), num(-xa));
    r[19] = SUM(py, TIMES(-zf, s[9]), TIMES(u, c[6]), num(-ya));
}

/* All partial derivatives of e[0 .. count-1]; the list is the caller's. */
static expr *jacobian(graph *g, const expr *e, size_t count, size_t *entries)
{
    gradient slope = {0};
    expr *all = NULL;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        *entries = 0;
        for (size_t i = 0; i < count; i++) {
            if (!derive_gradient(g, e[i], &slope)) exit(1);
            if (all) memcpy(all + *entries, slope.derivative, slope.count * sizeof *all);
            *entries += slope.count;
        }
        if (pass == 0) all = DAE_ARRAY(expr, *entries);
    }
    gradient_free(&slope);
    return all;
}

static void run_andrews(void)
{
    double y[20], yp[20];
    for (int i = 0; i < 20; i++) {
        y[i] = 0.3 + 0.1 * i;
        yp[i] = 0.7 - 0.2 * i;
    }
    expr residual[20];
    size_t entries;
    G = graph_new();
    andrews_expressions(residual);
    tape_inputs in = {.values = {y, yp}};
    workload w = {"Andrews residual", G, residual, 20, andrews_by_hand, in};
    measure(&w);
    expr *slopes = jacobian(G, residual, 20, &entries);
    w = (workload){"Andrews Jacobian", G, slopes, entries, NULL, in};
    measure(&w);
    dae_free(slopes);
    graph_free(G);
}

/* ---- random expressions ---------------------------------------------------------------------- */

/* Sums and products only: nothing hides the cost of the interpreter. */
static expr random_polynomial(graph *g, random_source *s, int depth)
{
    if (depth == 0) return random_leaf(g, s);
    expr a = random_polynomial(g, s, depth - 1), b = random_polynomial(g, s, depth - 1);
    return graph_binary(g, (expr_op)(EXPR_ADD + random_below(s, 3)), a, b);
}

static void run_random(const char *name, expr (*make)(graph *, random_source *, int), int depth)
{
    enum { COUNT = 300 };
    random_source s = {1};
    double y[3][RANDOM_VARIABLES], p[RANDOM_PARAMETERS], m[RANDOM_MEMORIES];
    for (int i = 0; i < 3 * RANDOM_VARIABLES; i++)
        y[i / RANDOM_VARIABLES][i % RANDOM_VARIABLES] = random_between(&s, -1.0, 1.0);
    for (int i = 0; i < RANDOM_PARAMETERS; i++) p[i] = random_between(&s, -1.0, 1.0);
    for (int i = 0; i < RANDOM_MEMORIES; i++) m[i] = random_between(&s, -1.0, 1.0);
    expr e[COUNT];
    graph *g = graph_new();
    for (int k = 0; k < COUNT; k++) e[k] = make(g, &s, depth);
    tape_inputs in = {.time = 0.5, .values = {y[0], y[1], y[2]}, .parameters = p, .memory = m};
    workload w = {name, g, e, COUNT, NULL, in};
    measure(&w);
    graph_free(g);
}

/* ---- a ladder of resistors, capacitors and diodes -------------------------------------------- */

static void run_ladder(int n)
{
    graph *g = graph_new();
    expr *e = DAE_ARRAY(expr, n), h = graph_parameter(g, 0);
    double *y = DAE_ARRAY(double, n), *yp = DAE_ARRAY(double, n), p[2] = {2.0, 3.0};
    if (!g || !e || !y || !yp) exit(1);
    for (int i = 0; i < n; i++) {
        expr at = graph_variable(g, i, 0), left = graph_variable(g, i > 0 ? i - 1 : i, 0);
        expr right = graph_variable(g, i < n - 1 ? i + 1 : i, 0);
        expr in = graph_binary(g, EXPR_MUL, h, graph_binary(g, EXPR_SUB, left, at));
        expr out = graph_binary(g, EXPR_MUL, h, graph_binary(g, EXPR_SUB, at, right));
        expr leak = graph_binary(g, EXPR_MUL, graph_parameter(g, 1),
                                 graph_binary(g, EXPR_MUL, at, graph_binary(g, EXPR_MUL, at, at)));
        expr flow = graph_binary(g, EXPR_SUB, graph_binary(g, EXPR_SUB, in, out), leak);
        e[i] = graph_binary(g, EXPR_SUB, graph_variable(g, i, 1), flow);
        y[i] = sin(i);
        yp[i] = cos(i);
    }
    char name[32];
    size_t entries;
    tape_inputs in = {.values = {y, yp}, .parameters = p};
    snprintf(name, sizeof name, "ladder residual 1e%.0f", log10(n));
    measure(&(workload){name, g, e, (size_t)n, NULL, in});
    expr *slopes = jacobian(g, e, (size_t)n, &entries);
    snprintf(name, sizeof name, "ladder Jacobian 1e%.0f", log10(n));
    measure(&(workload){name, g, slopes, entries, NULL, in});
    dae_free(slopes);
    dae_free(e);
    dae_free(y);
    dae_free(yp);
    graph_free(g);
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 100000;
    printf("%-22s %8s %9s %11s %11s %11s %8s %8s %9s %9s\n", "", "outputs", "instr.", "hand ns",
           "native ns", "tape ns", "nat/hand", "tape/nat", "tape ms", "cc ms");
    run_andrews();
    run_random("random smooth", random_smooth, 6);
    run_random("random any", random_wild, 7);
    run_random("random polynomials", random_polynomial, 5);
    for (int n = 1000; n <= largest; n *= 10) run_ladder(n);
    return 0;
}
