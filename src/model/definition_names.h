/* Definitions in messages: which ones an equation is made of, and which one a node belongs to. */
#ifndef DAE_MODEL_DEFINITION_NAMES_H
#define DAE_MODEL_DEFINITION_NAMES_H

#include "model/model.h"

/* The first definition, in the order of evaluation, whose expression in form f contains node e: a
 * flat variable, or -1. f: base, variant, or the initial system of one. */
int model_definition_with(const model_form *f, expr e);

/* uses[v] (one per flat variable): flat equation `at` is made of definition v, by others or not. A
 * mark that is there stays. False: memory. */
bool model_definitions_of(const model_form *f, int at, bool *uses);

/* aliases[i] (one per flat equation): equation i, which has left the system, makes one variable of
 * two that the equations with rows[j] read. rows and aliases may not be the same. False: memory. */
bool model_aliases_between(const model_form *f, const bool *rows, bool *aliases);

/* The equation of the flat model that row r of a form, or of its analysed set, came from; -1. */
int model_flat_equation(const model_form *f, int r);

#endif
