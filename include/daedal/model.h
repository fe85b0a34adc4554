/* Daedal: problems from a model text in Base Modelica. Included by daedal.h. */
#ifndef DAEDAL_MODEL_H
#define DAEDAL_MODEL_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

typedef enum dae_engine {
    DAE_ENGINE_AUTO = 0, /* the tape at first, native code, made beside the run, once that pays */
    DAE_ENGINE_TAPE,     /* no compiler needed */
    DAE_ENGINE_NATIVE,   /* compiled by the machine's C compiler before the first step; the tape if
                            that fails */
    DAE_ENGINE_SOON      /* the same beside the run, which begins on the tape */
} dae_engine;

/* A value for a parameter or a start value, by the variable's name. */
typedef struct dae_setting {
    const char *name;
    double value;
} dae_setting;

/* How an input that follows the rows of a file moves from one to the next. */
typedef enum dae_input_mode {
    DAE_INPUT_LINEAR = 0, /* straight, */
    DAE_INPUT_CUBIC,      /* along a cubic spline, twice differentiable between jumps, */
    DAE_INPUT_STEP        /* or not at all: it keeps the value of the last row */
} dae_input_mode;

/* A function of time alone, at any time of the run or beside it, and from all threads that solve
 * the problem. order 0: *value = u(t); order k: its k-th derivative. jump: where the next jump is
 * ahead (dae_input.jump); at times from there on the value is that without it. Returns 0; else
 * there is no value at t. */
typedef int (*dae_input_fn)(double t, int order, double jump, double *value, void *user);

/* What an `input` of the whole model follows, in the place of its binding or start value: an
 * expression, a file or a function. Zero-initialise. */
typedef struct dae_input {
    const char *name;       /* of the input; an array, a record, or a part: "u", "u[2]", "r.a".
                               NULL: every column of `file` that has the name of an input */
    const char *expression; /* as the language writes it, over all names of the model and `time`;
                               or */
    const char *file;       /* separated values. The first line has names, a unit after each or
                               none: "time [s], u [V]". Values become those in the unit of the
                               input, and times seconds. Times stand in the column `time`, else
                               `t`, else in the first one; two rows with one time are a jump */
    const char *column;     /* of the file, for `name`; NULL: the column of that name */
    dae_input_mode mode;    /* of Reals: Boolean, Integer and enumeration inputs keep the value of
                               the last row */
    bool hold;              /* before the first and behind the last row: the value there. Else a run
                               that comes there ends with DAE_ERR_ASSERT, which names the file */
    dae_input_fn value;     /* or a function, of a Real that is named as a scalar: smooth between
                               jumps */
    int derivatives;        /* so many of them it gives. Equations that need more, since their index
                               is above 1, are refused by the name of the input */
    double (*jump)(double t,
                   void *user); /* the first time behind t at which u or a derivative of it
                     jumps, INFINITY if there is none; NULL: never. An event is there */
    void *user;                 /* of value and jump */
} dae_input;

/* A model text and how to read it. Nothing is kept but copies. */
typedef struct dae_model {
    const char *text;            /* the model; NULL: read it from `file` */
    size_t length;               /* of text; 0: up to its terminating zero */
    const char *file;            /* path, or the name for messages */
    const dae_setting *settings; /* parameters, structural ones too */
    int setting_count;
    dae_engine engine;
    dae_message_fn message; /* NULL: only the first error, in the diagnostic */
    void *user;

    /* More settings, as the language writes them: "n = 100", "mode = Mode.fast" or "mode = fast",
     * "v = {1, 2, 3}", "v[2] = 3", "title = a text", "g = 9.81/6". */
    const char *const *assignments;
    int assignment_count;

    /* Asked now and then during the translation, and by dae_problem_analyse and dae_problem_emit of
     * the problem, which keep it and `user`; nonzero stops with DAE_ERR_INTERRUPTED. NULL: none. */
    int (*interrupt)(void *user);

    /* Variables that stay unknowns though an equation gives them explicitly: such as are to have
     * tolerances of their own. The name of an array or a record means all of it. */
    const char *const *unknowns;
    int unknown_count;

    /* What inputs follow. One without, and without a binding, keeps its start value; one that has
     * none either makes every start end with DAE_ERR_ASSERT. */
    const dae_input *inputs;
    int input_count;

    /* External functions that Daedal does not have are compiled from the C code that the text and
     * its annotations name, and called in this process: they may do whatever the process may. */
    bool allow_external;

    /* Each continuous Real input is what it follows and a shift, which is 0: dae_linearise has
     * derivatives by that. */
    bool shift_inputs;

    /* Conditions at the end of a boundary value problem, "x = 1", over all names of the model,
     * beside those of its annotation (bvp.h). Runs do not see them. */
    const char *const *terminal;
    int terminal_count;
} dae_model;

DAE_API dae_status dae_problem_from_model_sized(const dae_model *model, size_t size,
                                                dae_problem **problem, dae_diag *diag);

/* Translate a model: parse, check, flatten, differentiate. DAE_ERR_MODEL: the text has errors, all
 * of which go to `message`; DAE_ERR_FILE: it cannot be read; DAE_ERR_ARGUMENT: a setting. */
static inline dae_status dae_problem_from_model(const dae_model *model, dae_problem **problem,
                                                dae_diag *diag)
{
    return dae_problem_from_model_sized(model, sizeof *model, problem, diag);
}

DAE_API dae_status dae_problem_from_file(const char *path, dae_problem **problem, dae_diag *diag);

/* A mechanism by its energies: texts of expressions over the names of coordinates and velocities,
 * multipliers, parameters and `time`, as a model text writes them. The equations of motion
 *
 *     d/dt (dL/dq'_k) - dL/dq_k = F_k - dR/dq'_k - sum_j lambda_j dg_j/dq_k,    0 = g_j(q, t)
 *
 * come from exact derivatives. A constraint on velocities, linear in them, acts along dg_j/dq'_k.
 * Nothing is kept but copies. Zero-initialise. */
typedef struct dae_lagrangian {
    int n;                           /* coordinates */
    const char *const *coordinates;  /* their names */
    const char *const *velocities;   /* names of their derivatives; NULL: "v_" before each name */
    const char *lagrangian;          /* L; or NULL, and */
    const char *kinetic, *potential; /* L = T - U; potential NULL: 0 */
    const char *dissipation;         /* R, a function of the velocities; NULL: 0 */
    const char *const *forces;       /* n generalised forces, NULL for 0; NULL: none */
    int constraint_count;
    const char *const *constraints; /* g_j, each 0 */
    const char *const *multipliers; /* names; NULL: "lambda1", "lambda2", .. */
    const dae_setting *parameters;  /* names and values */
    int parameter_count;
    /* Start values by name, 0 for others: guesses, which the solver moves onto the constraints. */
    const dae_setting *starts;
    int start_count;
    dae_engine engine;
    int massless_count; /* coordinates without kinetic energy, such as places of contact */
    const char *const *massless;
    int variable_count; /* other variables, for definitions and force elements with states of */
    const char *const *variables; /* their own, */
    int equation_count;           /* and their equations: "der(r) = k*(x - r)", "s = sin(x)" */
    const char *const *equations;
    int fixed_count;          /* names whose start values must hold as they are: as many as there */
    const char *const *fixed; /* are degrees of freedom, at the most */
} dae_lagrangian;

DAE_API dae_status dae_problem_from_lagrangian_sized(const dae_lagrangian *form, size_t size,
                                                     dae_problem **problem, dae_diag *diag);

/* DAE_ERR_ARGUMENT: a field; DAE_ERR_MODEL: an expression. The diagnostic begins with the field:
 * "constraints[1]: ..". Variables are coordinates, velocities, multipliers, coordinates without
 * mass and others, in this order. */
static inline dae_status dae_problem_from_lagrangian(const dae_lagrangian *form,
                                                     dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_lagrangian_sized(form, sizeof *form, problem, diag);
}

/* What annotation(experiment(..)) says; NAN where it says nothing. */
typedef struct dae_experiment {
    double start, stop, tolerance, interval;
} dae_experiment;

/* All variables of a problem, their names, units and descriptions, which live as long as it does
 * (names: NULL for i out of range): for a model every declared scalar, eliminated and discrete ones
 * too; for callbacks the n unknowns. */
DAE_API int dae_problem_variable_count(const dae_problem *problem);
DAE_API const char *dae_problem_variable(const dae_problem *problem, int i);
DAE_API const char *dae_problem_unit(const dae_problem *problem, int i);        /* "" if none */
DAE_API const char *dae_problem_description(const dae_problem *problem, int i); /* "" if none */
/* The value in unit `to` of a value in unit `from`, as Modelica writes units ("m/s2"); NAN: one is
 * not known, or they measure different things. */
DAE_API double dae_unit_converted(double value, const char *from, const char *to);
/* -1: none. The quotes of quoted identifiers may be left out. */
DAE_API int dae_problem_find_variable(const dae_problem *problem, const char *name);

/* Parameters and constants of a model, likewise; none for callbacks. */
DAE_API int dae_problem_parameter_count(const dae_problem *problem);
DAE_API const char *dae_problem_parameter(const dae_problem *problem, int i);
DAE_API const char *dae_problem_parameter_unit(const dae_problem *problem, int i);
DAE_API double dae_problem_parameter_value(const dae_problem *problem, int i);

/* Set a parameter or a start value by name; solvers see it at their next start. Not while a solver
 * of this problem is at work in another thread. A value must fit its type: a whole number for an
 * Integer, 0 or 1 for a Boolean, 1 .. for an enumeration; that of a parameter its min and max;
 * else DAE_ERR_ARGUMENT, and nothing is changed. */
DAE_API dae_status dae_problem_set_parameter(dae_problem *problem, const char *name, double value,
                                             dae_diag *diag);
DAE_API dae_status dae_problem_set_start(dae_problem *problem, const char *name, double value,
                                         dae_diag *diag);
/* Start values as the language writes them: "x = 0.5", "v = {1, 2}", "mode = fast", "on = true". */
DAE_API dae_status dae_problem_assign_start(dae_problem *problem, const char *assignment,
                                            dae_diag *diag);
DAE_API void dae_problem_experiment_fill(const dae_problem *problem, dae_experiment *experiment,
                                         size_t size);
static inline dae_experiment dae_problem_experiment(const dae_problem *problem)
{
    dae_experiment experiment;
    dae_problem_experiment_fill(problem, &experiment, sizeof experiment);
    return experiment;
}

DAE_API const char *dae_problem_name(const dae_problem *problem); /* of the model; "" if none */

typedef enum dae_type {
    DAE_TYPE_REAL = 0,
    DAE_TYPE_INTEGER,
    DAE_TYPE_BOOLEAN, /* 0 and 1 */
    DAE_TYPE_STRING,
    DAE_TYPE_ENUMERATION /* 1, 2, .. */
} dae_type;

/* What is known of a variable before it is computed. Pointers live as long as the problem. */
typedef struct dae_variable_info {
    dae_type type;
    bool discrete; /* changes at events only */
    bool state;    /* its derivative is determined, see dae_problem_derivative */
    bool input, output, is_protected;
    int alias;                   /* it is alias_sign times that variable; itself if it stands for */
    int alias_sign;              /* others; -1 if it is a constant over parameters */
    double min, max;             /* with the parameters as they are; -INFINITY, INFINITY: none */
    const char *const *literals; /* of an enumeration; else NULL */
    int literal_count;
} dae_variable_info;

typedef struct dae_parameter_info {
    dae_type type;
    bool settable;   /* neither constant nor final */
    bool structural; /* set before the translation only */
    double min, max;
    const char *text;        /* value of a String; else NULL */
    const char *description; /* "" if none */
    const char *const *literals;
    int literal_count;
} dae_parameter_info;

/* For i out of range, and for callbacks: a Real that stands alone. */
DAE_API void dae_problem_variable_info_fill(const dae_problem *problem, int i,
                                            dae_variable_info *info, size_t size);
static inline dae_variable_info dae_problem_variable_info(const dae_problem *problem, int i)
{
    dae_variable_info info;
    dae_problem_variable_info_fill(problem, i, &info, sizeof info);
    return info;
}

DAE_API void dae_problem_parameter_info_fill(const dae_problem *problem, int i,
                                             dae_parameter_info *info, size_t size);
static inline dae_parameter_info dae_problem_parameter_info(const dae_problem *problem, int i)
{
    dae_parameter_info info;
    dae_problem_parameter_info_fill(problem, i, &info, sizeof info);
    return info;
}

/* The sizes of a model after translation; for callbacks what is known. */
typedef struct dae_counts {
    int equations; /* and unknowns: dae_problem_size */
    int states;    /* unknowns whose derivatives appear */
    int variables; /* dae_problem_variable_count; of these: */
    int eliminated, discrete;
    int parameters;
    int nonzeros;                  /* of dF/dy and dF/dy' together */
    int relations, samples, whens; /* sources of events */
    int outputs; /* variables that nothing else needs: they and their equations are no unknowns and
                    equations of the system, but evaluated after it */
    bool idle;   /* nothing is left to be solved: the one equation lets time go on */
    int definitions;      /* variables that an equation gives explicitly and others use: no unknowns
                             either, but evaluated wherever they are needed */
    int delays;           /* delay(..) */
    double longest_delay; /* of them, where parameters tell; NAN: none, or not known */
} dae_counts;

DAE_API void dae_problem_counts_fill(const dae_problem *problem, dae_counts *counts, size_t size);
static inline dae_counts dae_problem_counts(const dae_problem *problem)
{
    dae_counts counts;
    dae_problem_counts_fill(problem, &counts, sizeof counts);
    return counts;
}

/* Derivatives of the variables of a model that are states, or aliases of them: "der(x)". */
DAE_API int dae_problem_derivative_count(const dae_problem *problem);
DAE_API const char *dae_problem_derivative(const dae_problem *problem, int k);
DAE_API const char *dae_problem_derivative_unit(const dae_problem *problem, int k);
DAE_API int dae_problem_derivative_of(const dae_problem *problem, int k); /* the variable x */

/* C text of the model, self-contained: functions, sizes, parameters, start values, the pattern of
 * the Jacobian. Free it with dae_text_free. NULL: memory, an interruption, or no
 * model. */
DAE_API char *dae_problem_emit(const dae_problem *problem);
DAE_API void dae_text_free(char *text);

/* The model as a flat text of Base Modelica, which dae_problem_from_model reads back: scalars,
 * their attributes, parameters and start values as they are set, and all equations, those that were
 * made from energies too. Free it with dae_text_free. NULL: memory, an interruption, no model, or
 * something that equations cannot say (a loop whose length the run decides), which the diagnostic
 * names. */
DAE_API char *dae_problem_emit_modelica(const dae_problem *problem, dae_diag *diag);

/* Absolute tolerances for opt.atol_by_unknown, n values: atol times the nominal value of each
 * unknown. follow: of states without one, whose start value the text or the user gives and that is
 * not 0, at most rtol times that value (but at least 1e-15 atol): a trace of 1e-11 is known in its
 * own size. Callbacks: atol. */
DAE_API dae_status dae_problem_atol(const dae_problem *problem, double rtol, double atol,
                                    bool follow, double *values);

/* A text of a model (a description, a unit, a String) as it may be shown on a terminal: control
 * characters but line ends and tabs, and bytes that are no UTF-8, become \x1b and the like. Writes
 * at most size bytes with the terminating zero, whole characters only, and returns the length that
 * all of it has. Messages and diagnostics of the library are such texts already. */
DAE_API size_t dae_printable(const char *text, char *safe, size_t size);

/* Bytes of the UTF-8 character at the beginning of a text [RFC 3629]; 0 if there is none. */
DAE_API int dae_utf8_length(const char *text);

#endif
