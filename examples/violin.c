/* The string of a violin under a bow that sticks and slips: by lines, 20 intervals, bowed in the
 * middle [Brasey and Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552, section 6.3].
 *
 * While the bow slips its friction is constant and the string is an ordinary differential equation;
 * while it sticks the string has the bow's speed, and the friction z is a multiplier: index 2. Each
 * mode is a problem in Hessenberg form of its own with a solver of its own, and an event hands the
 * string over from one to the other. */
#include <daedal.h>
#include <math.h>
#include <stdio.h>

enum { INTERVALS = 20, POINTS = INTERVALS - 1, BOW = INTERVALS / 2 - 1, NY = 2 * POINTS };

static const double bow_speed = 0.3, slip_force = 12.0, stick_force = 16.0, duration = 10.0;

typedef struct bow {
    double direction; /* of the friction while it slips: the string lags behind (-1) or leads (1) */
} bow;

static double tension(const double *u, int i)
{
    double left = i > 0 ? u[i - 1] : 0.0, right = i < POINTS - 1 ? u[i + 1] : 0.0;
    return INTERVALS * INTERVALS * (left - 2.0 * u[i] + right);
}

/* y = (displacements, velocities), z the friction in units of that of the slipping bow */
static void move(const double *y, double z, double *f)
{
    for (int i = 0; i < POINTS; i++) {
        f[i] = y[POINTS + i];
        f[POINTS + i] = tension(y, i);
    }
    f[POINTS + BOW] -= slip_force * z;
}

static int slip(const dae_hessenberg_point *at, double *f, void *user)
{
    move(at->y, ((const bow *)user)->direction, f);
    return 0;
}

/* The string reaches the speed of the bow. */
static int meeting(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    g[0] = ((const bow *)user)->direction * (y[POINTS + BOW] - bow_speed);
    return 0;
}

static int stick(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    move(at->y, at->z[0], f);
    return 0;
}

static int same_speed(const dae_hessenberg_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->y[POINTS + BOW] - bow_speed;
    return 0;
}

/* The friction reaches what the bow can hold. */
static int release(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    g[0] = fabs(y[NY]) - stick_force / slip_force;
    return 0;
}

/* Solvers for both modes: [0] slipping, [1] sticking. */
static dae_status prepare(bow *b, dae_problem *problem[2], dae_solver *solver[2], dae_diag *diag)
{
    const dae_event meet = {.name = "meeting", .direction = -1};
    const dae_event let_go = {.name = "release", .direction = 1};
    const dae_hessenberg mode[2] = {{.ny = NY,
                                     .f = slip,
                                     .user = b,
                                     .event_count = 1,
                                     .event_function = meeting,
                                     .events = &meet},
                                    {.ny = NY,
                                     .nz = 1,
                                     .f = stick,
                                     .g = same_speed,
                                     .autonomous = true,
                                     .event_count = 1,
                                     .event_function = release,
                                     .events = &let_go}};
    dae_options options = dae_options_default();
    options.method = "phem";
    options.rtol = options.atol = 1e-9;
    dae_status status = DAE_OK;
    for (int k = 0; k < 2 && status == DAE_OK; k++) {
        status = dae_problem_from_hessenberg(&mode[k], &problem[k], diag);
        if (status == DAE_OK) status = dae_solver_new(problem[k], &options, &solver[k], diag);
    }
    return status;
}

/* Whether the bow can hold the string once both have the same speed; if not, where it slips to. */
static bool holds(bow *b, const double *y)
{
    double force = tension(y, BOW) / slip_force;
    b->direction = force < 0.0 ? -1.0 : 1.0;
    return fabs(force) <= stick_force / slip_force;
}

/* Bow from rest; print every change of mode. */
static dae_status play(dae_solver *solver[2], bow *b, dae_diag *diag)
{
    double y[NY + 1] = {0.0}, t = 0.0;
    int mode = 0;
    for (;;) {
        dae_status status = dae_solver_start(solver[mode], t, y, NULL);
        if (status == DAE_OK) status = dae_solver_run(solver[mode], duration, y, NULL);
        if (status < 0) *diag = *dae_solver_diag(solver[mode]);
        if (status != DAE_EVENT) return status;
        t = dae_solver_time(solver[mode]);
        if (mode == 0)
            mode = holds(b, y);
        else {
            b->direction = y[NY] < 0.0 ? -1.0 : 1.0;
            mode = 0;
        }
        printf("%12.8f  %s\n", t, mode ? "stick" : "slip");
    }
}

int main(void)
{
    bow b = {.direction = -1.0};
    dae_diag diag = {0};
    dae_problem *problem[2] = {NULL, NULL};
    dae_solver *solver[2] = {NULL, NULL};
    dae_status status = prepare(&b, problem, solver, &diag);
    if (status == DAE_OK) status = play(solver, &b, &diag);
    if (status < 0) fprintf(stderr, "%s\n", diag.text);
    for (int k = 0; k < 2; k++) {
        dae_solver_free(solver[k]);
        dae_problem_free(problem[k]);
    }
    return status < 0;
}
