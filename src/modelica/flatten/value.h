/* What an expression of the model text means while it is flattened: a scalar, an array, a record or
 * a tuple, whose elements are nodes of the expression graph. */
#ifndef DAE_MODELICA_FLATTEN_VALUE_H
#define DAE_MODELICA_FLATTEN_VALUE_H

#include "expr/graph.h"
#include "modelica/syntax/ast.h"

typedef enum value_type {
    VALUE_ERROR, /* an error was reported: whatever is made of it is silent */
    VALUE_REAL,
    VALUE_INTEGER,
    VALUE_BOOLEAN,
    VALUE_STRING,      /* elements are numbers of strings, from 1 */
    VALUE_ENUMERATION, /* elements are ordinals, from 1 */
    VALUE_RECORD,
    VALUE_TUPLE,   /* results of a function with several outputs */
    VALUE_FUNCTION /* class_, a function; fields: its inputs as far as they are bound, else errors
                    */
} value_type;

enum { VALUE_MAX_RANK = 16 };

/* Arrays of records are stored by field: a field of r[3] with sizes [2] is an array [3, 2]. */
typedef struct value value;
struct value {
    value_type type;
    const ast_class *class_; /* of a record or an enumeration */
    int rank;
    const size_t *dims;
    size_t count;  /* number of elements, 1 for a scalar */
    expr scalar;   /* the element if e is NULL */
    expr *e;       /* elements, row by row */
    value *fields; /* of a record or tuple */
    size_t field_count;
    int unit; /* number in the unit table; 0: unknown; UNIT_LITERAL: number without unit */
};

static inline const expr *value_elements(const value *v)
{
    return v->e ? v->e : &v->scalar;
}

static inline expr value_element(const value *v, size_t i)
{
    return v->e ? v->e[i] : v->scalar;
}

static inline bool value_is_error(const value *v)
{
    return v->type == VALUE_ERROR;
}

static inline bool value_is_numeric(const value *v)
{
    return v->type == VALUE_REAL || v->type == VALUE_INTEGER;
}

static inline bool value_is_simple(const value *v) /* elements are nodes of the graph */
{
    return v->type >= VALUE_REAL && v->type <= VALUE_ENUMERATION;
}

value value_error(void);
value value_scalar(value_type type, expr e);

bool value_same_shape(const value *a, const value *b);
bool value_has_gap(const value *v); /* an element has no node yet */

/* A text for messages, cut where it is too long. */
typedef struct value_text {
    char text[128];
} value_text;

/* "Real", "Integer[2, 3]", "record R", "enumeration E", .. */
const char *value_type_name(value_type type);
value_text value_describe(const value *v);
value_text value_shape(int rank, const size_t *dims); /* "[2, 3]" */

#endif
