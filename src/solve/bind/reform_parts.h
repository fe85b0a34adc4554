/* What the files that keep the variants of a model share. */
#ifndef DAE_SOLVE_BIND_REFORM_PARTS_H
#define DAE_SOLVE_BIND_REFORM_PARTS_H

#include "model/model_redundant.h"
#include "solve/bind/reform.h"
#include "solve/bind/solver.h"

/* ---- reform.c ---- */

void variant_free(variant *v);
/* DAE_ERR_MEMORY, with its text. */
dae_status reform_exhausted(dae_solver *s);
/* The variant that has all levels of f's equations. */
const model_form *variant_levels(const model_form *f);
/* The value at a place of y or y'; 0 if it has none. */
double reform_value_at(model_place at, const double *y, const double *yp);
/* Values of the variant's unknowns from those of the base form. */
void reform_from_base(const model_form *f, const double *base_y, const double *base_yp, double *y,
                      double *yp);
/* Whether v was made for the mode that the memory tells. */
bool variant_same_mode(const reform *r, const variant *v, const double *memory);
/* The variant in use for that mode; NULL: none was made yet. */
variant *variant_find(const reform *r, const double *memory);

/* ---- making a variant: reform_variant.c ---- */

/* A run or a start has failed where there was doubt: say so. */
dae_status variant_explain_doubt(dae_solver *s, const variant *v, double t);
/* The same as a warning, where the run may still succeed. */
void variant_tell_doubt(dae_solver *s, const variant *v);
/* The base form's problem with the reduced system in place of its equations. */
dae_status variant_describe_array(dae_solver *s, variant *v);
/* How easily the unknowns of the base form move to be consistent: fixed ones hardly, those with a
 * start value rather less than those without. NULL: memory */
double *reform_ease(const dae_solver *s);
/* A warning that names the constraints which follow from others. */
void reform_tell_redundant(dae_solver *s, const equation_set *set, const bool *rows);
/* An error that names those which cannot hold together. */
dae_status reform_refuse_conflict(dae_solver *s, const equation_set *set,
                                  const model_conflict *conflict);
/* The form of a variant at a point; levels: for initial values only. */
dae_status variant_make_form(dae_solver *s, double t, const double *y, const double *yp,
                             bool levels, variant *v);
/* A variant for the present mode, kept by s->reform. */
dae_status variant_make(dae_solver *s, double t, const double *y, const double *yp,
                        variant **result);

/* ---- binding the solver to a form: reform_bind.c ---- */

/* A problem for a variant with the choice of states it has. */
dae_status variant_describe(dae_solver *s, variant *v);
/* Bind to a variant (NULL: the base form) with the values base_y, base_yp of the base form. */
dae_status reform_bind_to(dae_solver *s, variant *v, const double *base_y, const double *base_yp);
/* Bind to the reduced system of a derivative array, over the unknowns of the base form. */
dae_status reform_bind_array(dae_solver *s, variant *v, const double *y, const double *yp);
/* The values of the base form where the solver stands, in *y and *yp = *y + n; owned by caller. */
double *reform_base_values(const dae_solver *s);

/* ---- consistent values on all levels: reform_levels.c ---- */

/* Nearest values that satisfy all levels. */
dae_status reform_solve_levels(dae_solver *s, double t, bool initial);

/* ---- does the structure keep its promise: reform_certify.c ---- */

/* Once per variant, where all equations hold at s->bound.y, s->bound.yp: whether the structure is
 * right there. If not, it leaves a doubt, or an error where nothing but the structure can help. */
dae_status reform_certify(dae_solver *s, double t);

/* ---- choices by numbers: reform_states.c ---- */

/* Why no states could be chosen. */
dae_status reform_explain_selection(dae_solver *s, double t, selection_status status);
/* Take the choice of states at s->bound.y, s->bound.yp. */
dae_status reform_choose_states(dae_solver *s, double t);
/* Without a rewriting that makes structure and numbers agree: by the derivative array, if that
 * determines the solution near the values found so far. */
dae_status reform_seek_array(dae_solver *s, double t, bool initial);
/* Fixed start values are exact, also where the events of the start end; later nothing is. */
void reform_tell_kept(dae_solver *s, double t, bool initial);
/* Look at the positions at s->bound.y, s->bound.yp, and change them if they have become bad. */
dae_status reform_reconsider_positions(dae_solver *s, double t, bool *changed);
/* Once per variant, where all equations hold: release constraints that follow from others. */
dae_status reform_settle_redundant(dae_solver *s, double t);

#endif
