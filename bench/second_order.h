/* Problems and codes of the comparison of second order methods with other codes. */
#ifndef BENCH_SECOND_ORDER_H
#define BENCH_SECOND_ORDER_H

#include "half_explicit.h"
#include "peer.h"

/* The equations that a code for F(t, y, y') = 0 is given. */
typedef enum stage { INDEX3, INDEX2, GGL, STAGES } stage;

/* What the callbacks of such a system are handed */
typedef struct view {
    const mechanism *m;
    stage stage;
    const int *colptr; /* of a sparse one */
    const int *rowind;
} view;

typedef struct trial trial;

/* A mechanism, its three first order systems with exact Jacobians, and its end. Unknowns of those
 * systems are (q, v, lambda), GGL: and mu; of pendulums one after another, so that they are banded.
 */
struct trial {
    char name[32];
    mechanism *m; /* owned; m->reference is q(tend) */
    view views[STAGES];
    model first[STAGES];       /* banded if the structure says so, else dense */
    model sparse[STAGES];      /* of pendulums: the same with compressed columns; else n = 0 */
    double *lambda;            /* reference, nl values */
    double lambda_sign;        /* of the multipliers in the model text, against ours */
    const char *lambda_format; /* their names, from 1 */
    dae_pattern force_pattern; /* df/dq and df/dv of pendulums */
};

trial *trial_new(const char *name, int size); /* NULL: unknown; exits without memory */
void trial_free(trial *p);

/* q and lambda out of the unknowns of a first order system */
void trial_read(const trial *p, const double *y, double *q, double *lambda);
/* and the scale of tolerances: of multipliers their size */
double trial_scale(const trial *p, stage s, int i);
bool trial_is_multiplier(const trial *p, stage s, int i);
bool trial_is_velocity(const trial *p, stage s, int i);

/* second_order_mechanisms.c: the truck of models/truck.mo, and spring-coupled pendulums */
mechanism *truck_new(void);
mechanism *pendulums_new(int count);
/* The pendulums' first order systems, 5 unknowns each, or 6 with mu; user is a view */
int pendulums_residual(double t, const double *y, const double *yp, double *f, void *user);

/* Entries of dF/dy and dF/dy', one after another */
typedef void put_fn(void *to, int row, int column, double dy, double dyp);
void pendulums_jacobian(int count, stage s, const double *y, put_fn *put, void *to);
/* Half of the bandwidth of the three systems */
enum { PENDULUMS_BAND = 9 };

/* One solution. */
typedef struct result {
    bool ok;
    char note[96];
    double seconds, q_digits, lambda_digits;
    long steps, residuals, jacobians, factors;
    double *y; /* q, then lambda */
} result;

typedef struct solver_code {
    const char *name;
    const char *method; /* of ours; NULL: another code */
    bool text;          /* from the model text */
    stage stage;
    bool (*suits)(const trial *p);
    void (*solve)(const struct solver_code *c, const trial *p, double rtol, result *out);
} solver_code;

extern const solver_code second_order_codes[];
extern const int second_order_code_count;
const char *
second_order_open(void); /* loads what is opened at run time; what is missing, or NULL */
dae_status second_order_problem(const trial *p, dae_problem **problem, dae_diag *diag);

#endif
