/* Plans of forms: a model's equations in mechanical, Hessenberg or quasilinear form, as far as its
 * structure allows.
 *
 * A plan holds the functions of one form as expressions over the form's own arguments. It belongs
 * to a `formulated` system in the unknowns of the form, so that events, outputs and initial values
 * work as for any variant, and its programs are compiled with that. */
#ifndef DAE_FORMULATION_FORM_PLAN_H
#define DAE_FORMULATION_FORM_PLAN_H

#include "forms/forms.h"
#include "formulation/formulation.h"

/* A matrix of expressions, by columns. */
typedef struct form_block {
    int rows, columns, count;
    int *colptr, *rowind; /* owned */
    expr *e;              /* count, in their order; owned */
    bool constant;        /* entries depend on parameters alone */
    bool dense;           /* delivered by columns, element (i,j) at [i + j*rows] */
    bool diagonal;        /* of a mass matrix: delivered as its diagonal, dense or not */
} form_block;

/* Values of a block as it is delivered. */
static inline size_t form_block_size(const form_block *b)
{
    if (b->diagonal) return (size_t)b->rows;
    return b->dense ? (size_t)b->rows * (size_t)b->columns : (size_t)b->count;
}

/* Where value k, in column j, is among these. */
static inline int form_block_place(const form_block *b, int k, int j)
{
    if (b->diagonal) return j;
    return b->dense ? b->rowind[k] + j * b->rows : k;
}

/* One program; its arguments are VARIABLE(i, 0), (i, 1), (i, 2): q, v or y, z, u or x. */
typedef struct form_program {
    expr *e; /* owned */
    size_t count;
} form_program;

enum { FORM_PROGRAMS = 7, FORM_BLOCKS = 4 };

/* What the programs and blocks of a plan are.
 * Mechanical: constant M alone, else nothing; (M,) f, G and curvature; G and rate; g; v' with
 * pivots, or nothing (form_plan_accelerations.c). Here M and G come as they are delivered, with
 * their zeros.
 * Hessenberg: f, or with a matrix E of leading derivatives (E, right-hand sides); f_z likewise
 * without E; g; g_y; g_t; k; k_u. Quasilinear: E; f; g; g_x; g_t. */
enum {
    MECHANICAL_MASS,
    MECHANICAL_STAGE,
    MECHANICAL_VELOCITY,
    MECHANICAL_POSITION,
    MECHANICAL_ACCELERATIONS
};
enum { BLOCK_M, BLOCK_G };
enum {
    HESSENBERG_F,
    HESSENBERG_F_Z,
    HESSENBERG_G,
    HESSENBERG_G_Y,
    HESSENBERG_G_T,
    HESSENBERG_K,
    HESSENBERG_K_U
};
enum { BLOCK_G_Y, BLOCK_F_Z, BLOCK_K_U, BLOCK_LEADING };
enum { QUASILINEAR_E, QUASILINEAR_F, QUASILINEAR_G, QUASILINEAR_G_X, QUASILINEAR_G_T };
enum { BLOCK_E, BLOCK_G_X };

typedef struct form_plan {
    unsigned form;   /* FORM_MECHANICAL, .. */
    int size[3];     /* nq, nl | ny, nz, nu | n, ne, ng */
    bool autonomous; /* g does not depend on time */
    bool implicit;   /* Hessenberg: leading derivatives by E^-1 */
    int *leading;    /* then the place of leading derivative k in y'; owned */
    int *constraint; /* per constraint: its row of the formulated system; owned */
    int *level;      /* quasilinear, per constraint: how often it was differentiated; owned */
    form_program program[FORM_PROGRAMS];
    form_block block[FORM_BLOCKS];
} form_plan;

void form_plan_free(form_plan *plan); /* NULL is fine */

/* The equations in the unknowns of a form, with its plan in f->plan. DAE_OK, DAE_ERR_MEMORY, or
 * DAE_ERR_UNSUPPORTED with a diagnostic that names the equation which does not fit. `at`: where the
 * equations can be evaluated. Mechanical: q, v, lambda; `free`: without constraints, too.
 * Hessenberg: y, z, u; constraints of higher index are differentiated until they have index 2.
 * Quasilinear: all levels, over the derivatives that no equation defines explicitly [Baese17]. */
dae_status formulate_mechanical_form(const analysed *a, const equation_point *at, bool free,
                                     formulated *f, dae_diag *diag);
dae_status formulate_hessenberg_form(const analysed *a, const equation_point *at, formulated *f,
                                     dae_diag *diag);
dae_status formulate_quasilinear_form(const analysed *a, const equation_point *at, formulated *f,
                                      dae_diag *diag);

#endif
