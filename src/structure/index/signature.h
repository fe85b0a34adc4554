/* The signature method: Pryce's structural analysis of a DAE [Pryce01], with the block structure
 * and local offsets of [PNT15], and Dulmage-Mendelsohn's parts where a system is structurally
 * singular.
 *
 * Everything here is combinatorial: integers in, integers out. */
#ifndef DAE_STRUCTURE_INDEX_SIGNATURE_H
#define DAE_STRUCTURE_INDEX_SIGNATURE_H

#include "structure/index/equations.h"

/* sigma_ij = highest order of x_j in equation i; entries that do not occur are absent. By rows. */
typedef struct signature {
    int m, n;
    int *start;  /* m + 1, owned */
    int *column; /* increasing within a row; owned */
    int *order;  /* owned */
} signature;

/* From equations: a leaf counts if it occurs in the (simplified) residual. False: memory. */
bool signature_from_equations(signature *s, const equation_set *set);
void signature_free(signature *s);

typedef enum signature_status {
    SIGNATURE_OK = 0,
    SIGNATURE_SINGULAR, /* no transversal: structurally singular, or m != n */
    SIGNATURE_MEMORY
} signature_status;

/* A highest-value transversal: match[i] = the column of row i, -1 where there is none (singular:
 * then of greatest cardinality). */
signature_status signature_transversal(const signature *s, int *match);

/* The smallest offsets c, d >= 0 with d_j - c_i >= sigma_ij, equality on the transversal, and d_j
 * at least least[j] (NULL: no such wish). */
signature_status signature_offsets(const signature *s, const int *match, const int *least, int *c,
                                   int *d);

/* Blocks of the system Jacobian's pattern { sigma_ij = d_j - c_i } in block lower triangular order:
 * block b has rows[start[b] .. start[b+1]) and columns likewise; an equation of block b uses
 * columns of blocks <= b only (in that pattern). columns[k] is match[rows[k]]. */
typedef struct block_form {
    int count;
    int *start;              /* count + 1, owned */
    int *rows, *columns;     /* n each, owned */
    int *of_row, *of_column; /* n each: the block; owned */
} block_form;

bool block_form_new(block_form *b, const signature *s, const int *match, const int *c,
                    const int *d); /* false: memory */
void block_form_free(block_form *b);

/* Offsets of each block by itself, smallest with min over the block's c = 0 [PNT15]: what has to be
 * differentiated because of the block alone. */
signature_status block_local_offsets(const signature *s, const block_form *b, const int *match,
                                     int *local_c, int *local_d);

/* One part of a structurally singular system: rows and columns that belong together. */
typedef struct singular_part {
    bool over; /* more equations than unknowns; else too few equations for the unknowns */
    int rows, columns;
    int *row, *column; /* owned */
} singular_part;

/* Dulmage-Mendelsohn: the connected over- and under-determined parts, these last, smallest first
 * [PF90]. An over-determined part is irreducible: without any one of its rows the rest of it is
 * matched. */
typedef struct singular_report {
    int count;
    singular_part *part; /* owned */
} singular_report;

bool signature_explain(const signature *s, singular_report *report); /* false: memory */
void singular_report_free(singular_report *report);

/* Everything together. */
typedef struct structure {
    signature sigma;
    bool singular; /* then only `parts` is there */
    singular_report parts;
    int *match, *c, *d; /* owned */
    block_form blocks;
    int *local_c, *local_d; /* owned */
    /* Structural index: max c, and one more if some variable of the model, x_j or a synonym, is
     * needed without its derivative: d_j = 0, or v = x_j^(d_j). */
    int index;
    int freedom; /* sum d - sum c */
} structure;

bool structure_analyse(structure *result, const equation_set *set); /* false: memory */
void structure_free(structure *result);

#endif
