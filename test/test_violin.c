/* The violin string [BH93 6.3] from callbacks in Hessenberg form: an ODE while the bow slips, index
 * 2 while it sticks. The 14 switching times are those of the modes of the string, to 1e-16. */
#include "daedal.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 20, POINTS = N - 1, BOW = N / 2 - 1, NY = 2 * POINTS };
enum { SLIP = 0, STICK = 1 };
static const double SPEED = 0.3, SLIPPING = 12.0, HOLDING = 16.0 / 12.0;

static const double switching[14] = {0.027709116521172805, 0.96604430769683176, 2.1231640955664164,
                                     3.0043528457393589,   4.4163696456006309,  4.9285164683134281,
                                     5.0291975354632429,   5.0665063342505079,  6.2204591392953954,
                                     6.4322744863942034,   6.5316148744640792,  6.9617396733389168,
                                     8.2628420133634430,   9.0280326332354507};

/* What both modes share: direction of the friction while it slips. */
typedef struct bow {
    double direction;
} bow;

static double pull(const double *u, int i)
{
    double left = i > 0 ? u[i - 1] : 0.0, right = i < POINTS - 1 ? u[i + 1] : 0.0;
    return N * N * (left - 2.0 * u[i] + right);
}

/* f of both modes: z is a value of the mode, or the unknown */
static int string(const dae_hessenberg_point *at, double *f, void *user)
{
    double z = at->z ? at->z[0] : ((bow *)user)->direction;
    memcpy(f, at->y + POINTS, POINTS * sizeof *f);
    for (int i = 0; i < POINTS; i++) f[POINTS + i] = pull(at->y, i);
    f[POINTS + BOW] -= SLIPPING * z;
    return 0;
}

static int slip_f(const dae_hessenberg_point *at, double *f, void *user)
{
    dae_hessenberg_point point = {.t = at->t, .y = at->y};
    return string(&point, f, user);
}

static int g(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->y[POINTS + BOW] - SPEED;
    return 0;
}

static int g_y(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)at, (void)user;
    out[POINTS + BOW] = 1.0;
    return 0;
}

static int f_z(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)at, (void)user;
    out[POINTS + BOW] = -SLIPPING;
    return 0;
}

static int meeting(double t, const double *y, const double *yp, double *out, void *user)
{
    (void)t, (void)yp;
    out[0] = ((bow *)user)->direction * (y[POINTS + BOW] - SPEED);
    return 0;
}

static int release(double t, const double *y, const double *yp, double *out, void *user)
{
    (void)t, (void)yp, (void)user;
    out[0] = fabs(y[NY]) - HOLDING;
    return 0;
}

static void open_mode(int mode, bow *b, const char *method, bool exact, dae_problem **problem,
                      dae_solver **solver)
{
    dae_event event = {.direction = mode == STICK ? 1 : -1};
    dae_hessenberg form = {.ny = NY,
                           .nz = mode == STICK,
                           .f = mode == STICK ? string : slip_f,
                           .g = mode == STICK ? g : NULL,
                           .g_y = mode == STICK && exact ? g_y : NULL,
                           .f_z = mode == STICK && exact ? f_z : NULL,
                           .user = b,
                           .autonomous = true,
                           .event_count = 1,
                           .event_function = mode == STICK ? release : meeting,
                           .events = &event};
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = options.atol = 1e-9;
    assert_int_equal(dae_problem_from_hessenberg(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, solver, NULL), DAE_OK);
}

/* The mode after an event at y: the bow holds where it need not pull more than it can. */
static int next_mode(int mode, bow *b, const double *y)
{
    double hold = pull(y, BOW) / SLIPPING;
    b->direction = hold < 0.0 ? -1.0 : 1.0;
    return mode == SLIP && fabs(hold) <= HOLDING ? STICK : SLIP;
}

/* Largest error of the switching times; every release happens at z = -4/3. */
static double bowing(const char *method, bool exact)
{
    bow b = {-1.0};
    dae_problem *problem[2];
    dae_solver *solver[2];
    double y[NY + 1] = {0.0}, t = 0.0, worst = 0.0;
    int mode = SLIP, count = 0;
    for (int k = 0; k < 2; k++) open_mode(k, &b, method, exact, &problem[k], &solver[k]);
    for (;;) {
        assert_int_equal(dae_solver_start(solver[mode], t, y, NULL), DAE_OK);
        dae_status status = dae_solver_run(solver[mode], 10.0, y, NULL);
        assert_true(status >= 0);
        if (status == DAE_OK) break;
        assert_true(count < 14);
        if (mode == STICK) assert_true(fabs(y[NY] + HOLDING) < 1e-6);
        t = dae_solver_time(solver[mode]);
        mode = next_mode(mode, &b, y);
        assert_int_equal(mode, count % 2 ? SLIP : STICK);
        worst = fmax(worst, fabs(t - switching[count++]));
    }
    assert_int_equal(count, 14);
    for (int k = 0; k < 2; k++) {
        dae_solver_free(solver[k]);
        dae_problem_free(problem[k]);
    }
    return worst;
}

static void the_switching_times_are_met(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem", "herk"};
    const size_t stride = SANITIZED ? 2 : 1; /* methods of one family have one code */
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k += stride)
        for (int exact = 0; exact < 2; exact += (int)stride) {
            double worst = bowing(methods[k], exact);
            if (worst > 1e-6) fail_msg("%s: a switching time is wrong by %g", methods[k], worst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_switching_times_are_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
