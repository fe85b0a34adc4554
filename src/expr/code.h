/* Compiled expressions: the same outputs by the tape or by native code, behind one call.
 *
 * Both give the same bits: every node is one operation in double precision, computed by the same
 * operation or libm function, without contraction or reassociation. */
#ifndef DAE_EXPR_CODE_H
#define DAE_EXPR_CODE_H

#include "expr/tape.h"

/* One function of a native module; arguments as in tape_inputs. */
typedef void (*native_function)(double time, const double *y, const double *yp, const double *ypp,
                                const double *parameters, const double *memory, double *out);

typedef struct expr_code {
    tape *tape;             /* always there; owned, unless borrowed */
    native_function native; /* NULL: run the tape; belongs to a native_module */
    double *work;           /* of the tape; owned */
    size_t outputs;
    size_t length, work_size; /* instructions of a run of the tape, and doubles it works on */
    size_t size;              /* instructions there are: what a compiler gets to see */
    bool borrowed;            /* the tape is that of another code, which outlives this one */
} expr_code;

bool code_new(expr_code *c, const graph *g, const expr *e, size_t count);
/* The same program with work space of its own, for another thread; `of` must outlive it. */
bool code_share(expr_code *c, const expr_code *of);
void code_free(expr_code *c);

/* Parameters or memory have changed. */
void code_prepare(expr_code *c, const tape_inputs *in);
/* out[i] = e[i] */
void code_run(expr_code *c, const tape_inputs *in, double *out);

#endif
