/* Daedal: an independent judge of a result (docs/verify.md). Included by daedal.h. */
#ifndef DAEDAL_VERIFY_H
#define DAEDAL_VERIFY_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* What is to be judged: the run that a program would make with the same problem and options. Fill
 * with {0}; zero means the default for every field but tend. */
typedef struct dae_verify_request {
    double t0, tend;
    const double *y0, *yp0; /* as for dae_solver_start */
    int rows;               /* output times, both ends included; 0: 501 */
    const double *times; /* `rows` of them, from t0 on in the order of time; NULL: evenly spaced */
    /* A result that is there already, judged in place of a run: `rows` times dae_problem_variable_
     * count values, row by row. Needs `times`; equations are not evaluated then. NULL: solve. */
    const double *values;
    const char *judge; /* its method; NULL: of another family than that of the run */
    double limit;      /* a variable that is off by more tolerances is wrong; 0: 100, or as many as
                          make a tenth of its size */
    bool thorough; /* solve a model in other words, too: renamed, permuted, scaled, split, and from
                      other guesses */
} dae_verify_request;

typedef enum dae_verdict {
    DAE_VERDICT_GOOD = 0, /* every variable is within the limit, and the text holds, at every row */
    DAE_VERDICT_OFF,      /* some variable is not, or something of the text does not hold */
    DAE_VERDICT_UNKNOWN   /* it cannot be told: no judge reached the end, the judges disagree, or
                             something of the text cannot be judged */
} dae_verdict;

/* How a run or a judge did. */
typedef struct dae_verify_run {
    const char *method; /* at its end */
    double rtol, atol;
    dae_status status; /* DAE_OK: it reached the end, or the model ended it */
    double end;        /* how far it came */
    long steps, evaluations;
    double seconds;           /* of processor time */
    char text[DAE_TEXT_SIZE]; /* why it ended before; "" */
} dae_verify_run;

/* The difference between run and judge: the estimated global error of a variable. Its unit is the
 * tolerance rtol |y| + atol, |y| being the largest value within a twentieth of the interval. */
typedef struct dae_verify_variable {
    const char *name;
    double rtol, atol;
    double tolerances; /* largest error, in tolerances; */
    double rms;        /* root mean square over the rows, in tolerances */
    double error, t;   /* the largest one itself, and when; */
    double run, judge; /* what both say there */
    double largest;    /* largest |y| of the run */
} dae_verify_variable;

/* An equation, or a constraint, at the rows of the run. */
typedef struct dae_verify_equation {
    const char *name;  /* "equation 4 (pendulum.mo:17)" */
    int line;          /* of the model text; 0: none */
    int level;         /* 0: as written; k: it follows by differentiating k times */
    bool differential; /* it contains derivatives: these are the interpolant's */
    double residual;   /* largest |F_i|; */
    double relative;   /* the same against the largest size of its terms; */
    double tolerances; /* and, without derivatives, against what errors of one tolerance in every
                          variable would leave; else NAN */
    double t;          /* where `residual` is largest */
} dae_verify_equation;

typedef struct dae_verify_event {
    const char *name;  /* the relation that changes, "sample", or the event's name */
    double run, judge; /* times; NAN: only the other one has it */
} dae_verify_event;

/* A declared invariant, or a variable named energy: how far it moves from where it starts. */
typedef struct dae_verify_invariant {
    const char *name;
    double start, run, judge; /* value at the start, largest change in the run, with the judge */
} dae_verify_invariant;

/* Something that does not agree with the text: an equation, a when, a value that was fixed; or,
 * of callbacks, an integral of their residual. */
typedef struct dae_verify_fault {
    const char *what; /* a sentence without its end */
    int line;         /* of the model text; 0: none */
    double t;
    double left, right; /* values of the two sides, or what is and what should be */
    double allowed;     /* a difference that the tolerances explain */
} dae_verify_fault;

/* Something of a text that could not be judged. */
typedef struct dae_verify_gap {
    const char *what;
    int line; /* 0: none */
} dae_verify_gap;

/* The same model in other words, which is to have the same solution. */
typedef struct dae_verify_variant {
    const char *name;     /* "renamed", "permuted", "scaled", "split", "other guesses" */
    const char *text;     /* why it did not come as far as the run; "" */
    double tolerances;    /* largest difference from the run; NAN: none is known */
    const char *variable; /* whose, */
    double t, run, other; /* when, and what both say there */
} dae_verify_variant;

enum { DAE_MOST_JUDGES = 16 };

/* Made by the library, read freely; all that it points to lives as long as it does. */
typedef struct dae_verify_report {
    size_t size; /* bytes that the library at hand fills in */
    dae_verdict verdict;
    char text[DAE_TEXT_SIZE]; /* the verdict in words */
    double limit;
    int worst;            /* variable with the largest error; -1: none was compared */
    double trusted_until; /* judges agree up to here; tend, or where they part */
    int rows, compared;   /* of the run, those at events included; compared with the judge's */
    int between;          /* rows that lie between the two times of an event: not compared */

    dae_verify_run run;
    int judge_count; /* tried, the deciding one first */
    dae_verify_run judges[DAE_MOST_JUDGES];

    int variable_count; /* as dae_problem_variable */
    const dae_verify_variable *variables;
    int equation_count; /* worst first */
    const dae_verify_equation *equations;
    int constraint_count; /* those of a level of their own, hidden ones too; worst first */
    const dae_verify_equation *constraints;
    int event_count; /* the first ones; */
    const dae_verify_event *events;
    int run_events, judge_events; /* all */
    int invariant_count;
    const dae_verify_invariant *invariants;

    int fault_count; /* in the order in which they were found; the first hundred */
    const dae_verify_fault *faults;
    int gap_count;
    const dae_verify_gap *gaps;
    int variant_count; /* of a thorough judgement */
    const dae_verify_variant *variants;
} dae_verify_report;

DAE_API dae_status dae_verify_sized(const dae_problem *problem, const dae_options *options,
                                    const dae_verify_request *request, size_t size,
                                    dae_verify_report **report, dae_diag *diag);

/* Solve, solve again by another family of methods with tolerances a hundred times tighter, and
 * compare. DAE_OK if there is a report, also where the run failed on its way: report->run says so.
 * Options may be NULL. */
static inline dae_status dae_verify(const dae_problem *problem, const dae_options *options,
                                    const dae_verify_request *request, dae_verify_report **report,
                                    dae_diag *diag)
{
    return dae_verify_sized(problem, options, request, sizeof *request, report, diag);
}

DAE_API void dae_verify_report_free(dae_verify_report *report); /* NULL is fine */

#endif
