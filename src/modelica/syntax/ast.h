/* The syntax tree of a Base Modelica file. Everything lives in one arena and is freed with it.
 *
 * Depth. A chain of left-associative operators (a + b - c + .., a*b/c.., a and b.., a or b..) is a
 * left-deep tree of AST_BINARY, and it may be as long as the file: a sum of a million terms has a
 * left spine of a million nodes. Whoever walks an expression must therefore follow args[0] of
 * AST_BINARY in a loop (down to the first node that is not AST_BINARY, then back up), and may
 * recurse into everything else: apart from left spines a tree is at most a few hundred levels deep
 * (PARSER_DEPTH levels of nesting, each at most as many nodes as there are precedences). Long
 * else-if chains are flat in AST_IF and ITEM_IF, too. */
#ifndef DAE_MODELICA_SYNTAX_AST_H
#define DAE_MODELICA_SYNTAX_AST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct source_place {
    int line, column; /* from 1; 0: made by the front end */
} source_place;

/* ---- expressions ---- */

typedef enum ast_kind {
    AST_NUMBER,    /* value; integer tells "3" from "3.0" */
    AST_STRING,    /* text, escapes resolved */
    AST_BOOLEAN,   /* value 0 or 1 */
    AST_REFERENCE, /* parts: a.b[i].c; quoted identifiers keep their quotes */
    AST_CALL,      /* reference name, args, named args; also der, pre, initial, sample, .. */
    AST_UNARY,     /* op: - + not .- .+ */
    AST_BINARY,    /* op: + - * / ^ .+ .- .* ./ .^ < <= > >= == <> and or */
    AST_IF,        /* conditions and values: args = c1 v1 c2 v2 .. else */
    AST_RANGE,     /* args = start stop, or start step stop */
    AST_ARRAY,     /* {a, b, ..}: args */
    AST_MATRIX,    /* [a, b; c, d]: args are AST_ROW */
    AST_ROW,
    AST_COMPREHENSION, /* f(x for i in r, ..): parts = f; {x for i in r}: no parts; args[0] = x */
    AST_TUPLE,         /* (a, , b): args may be NULL; (a) is just a */
    AST_COLON,         /* ":" as a subscript */
    AST_END,           /* "end" in a subscript */
    AST_SUBSCRIPT,     /* (a)[i, j]: args[0] = a, then the subscripts */
    AST_MEMBER,        /* f(x).b.c[i]: args[0] = f(x), parts = b.c[i] */
    AST_FUNCTION       /* function g(a = 1), an argument: parts = g, named args */
} ast_kind;

typedef enum ast_op {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_POW,
    OP_EADD,
    OP_ESUB,
    OP_EMUL,
    OP_EDIV,
    OP_EPOW, /* elementwise: .+ .- .* ./ .^ */
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_OR,
    OP_NOT,
    OP_PLUS,
    OP_MINUS
} ast_op;

typedef struct ast_expr ast_expr;

typedef struct ast_part { /* one identifier of a reference, with its subscripts */
    const char *name;
    ast_expr **subscripts;
    size_t subscript_count;
    source_place place;
} ast_part;

typedef struct ast_iterator { /* i in range; range NULL: deduced */
    const char *name;
    ast_expr *range;
    source_place place;
} ast_iterator;

typedef struct ast_named {
    const char *name;
    ast_expr *value;
    source_place place;
} ast_named;

struct ast_expr {
    ast_kind kind;
    source_place place; /* where it begins; of a binary operator: the operator */
    source_place end;   /* one past where it ends, for carets */
    double value;
    bool integer;
    const char *text;
    ast_op op;
    ast_part *parts; /* REFERENCE, CALL (function name), COMPREHENSION (sum, min, .., or none) */
    size_t part_count;
    ast_expr **args;
    size_t arg_count;
    ast_named *named;
    size_t named_count;
    ast_iterator *iterators;
    size_t iterator_count;
};

/* ---- equations and statements ---- */

typedef enum ast_item_kind {
    ITEM_EQUATION, /* left = right */
    ITEM_CALL,     /* assert(..), terminate(..), reinit(..), or a function call without results */
    ITEM_ASSIGN,   /* left := right; left may be a tuple */
    ITEM_IF,       /* branches */
    ITEM_FOR,      /* iterators, body in branches[0] */
    ITEM_WHILE,    /* condition and body in branches[0] */
    ITEM_WHEN,     /* branches */
    ITEM_BREAK,
    ITEM_RETURN
} ast_item_kind;

typedef struct ast_item ast_item;

typedef struct ast_branch {
    ast_expr *condition; /* NULL: else */
    ast_item **items;
    size_t item_count;
    source_place place;
} ast_branch;

struct ast_item {
    ast_item_kind kind;
    source_place place;
    ast_expr *left, *right; /* CALL: left is the AST_CALL */
    ast_branch *branches;
    size_t branch_count;
    ast_iterator *iterators;
    size_t iterator_count;
    const char *comment;
};

/* ---- declarations and classes ---- */

typedef struct ast_modification ast_modification;
struct ast_modification { /* name(nested) = value, "each" and "final" noted */
    const char *name;
    bool each, final_;
    ast_expr *value;
    ast_modification *nested;
    size_t nested_count;
    source_place place;
};

typedef enum ast_variability {
    VAR_NONE,
    VAR_DISCRETE,
    VAR_PARAMETER,
    VAR_CONSTANT
} ast_variability;

typedef struct ast_component {
    const char *type; /* dotted name as written, quotes kept */
    source_place type_place;
    ast_variability variability;
    bool input, output, final_, protected_, flow, stream;
    const char *name;
    ast_expr **sizes; /* in order of dimension: of the name, then of the type: Real[3] x[2] is
                       * x[2, 3]; AST_COLON for ":" */
    size_t size_count;
    ast_modification *modifications;
    size_t modification_count;
    ast_expr *value;     /* declaration equation, = or := */
    ast_expr *condition; /* component if condition */
    const char *comment;
    source_place place; /* of the name */
} ast_component;

typedef enum ast_class_kind {
    CLASS_MODEL,
    CLASS_FUNCTION,
    CLASS_RECORD,
    CLASS_TYPE,
    CLASS_PACKAGE
} ast_class_kind;

typedef struct ast_section {
    bool initial, algorithm;
    bool parameter; /* parameter equation guess(x) = e: one item, left = AST_CALL guess(x) */
    ast_item **items;
    size_t item_count;
    source_place place;
} ast_section;

typedef struct ast_class ast_class;
struct ast_class {
    ast_class_kind kind;
    const char *name;
    const char *comment;
    bool pure, impure, partial, external;
    bool object; /* an external object, which is a record of its constructor's inputs */
    source_place place, external_place;
    ast_expr *external_result, *external_call; /* external "C" y = f(u); NULL: none */
    const char *external_language;             /* NULL: not said, which is "C" */
    ast_modification *external_notes;          /* Include, Library and their directories */
    size_t external_note_count;
    ast_component *components;
    size_t component_count;
    ast_section *sections;
    size_t section_count;
    /* type T = base[sizes](modifications), or an enumeration */
    const char *base;
    ast_expr **sizes;
    size_t size_count;
    ast_modification *modifications;
    size_t modification_count;
    const char **literals;
    size_t literal_count;
    ast_modification *annotation; /* of the class: experiment(..), __Daedal(..), if given */
    size_t annotation_count;
    ast_class **classes; /* nested, in a package: all; in a model: types, records, functions */
    size_t class_count;
};

typedef struct ast_file {
    ast_class **classes; /* top level: types, records, functions, the package wrapper, .. */
    size_t class_count;
    ast_component *constants; /* global: of the top level and of the package, in their order */
    size_t constant_count;
    ast_class *model;    /* the model to run; NULL if there is none */
    const char *version; /* of the header, or NULL */
} ast_file;

#endif
