/* Daedal: coefficients of Runge-Kutta methods that the user brings. Included by daedal.h.
 *
 * Methods hem, herk, prk and irk take a table in opt.table in place of their own coefficients. The
 * conditions of the order that it claims are checked at once, for the index that it claims. */
#ifndef DAEDAL_TABLES_H
#define DAEDAL_TABLES_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

enum { DAE_TABLE_STAGES = 16 };

/* A Butcher table; begin with dae_table_empty(). Sums of the rows of A must be c. */
typedef struct dae_table {
    size_t size;              /* set by dae_table_empty; do not touch */
    char name[DAE_NAME_SIZE]; /* for messages */
    int stages;               /* 12 at most; of irk 5 */
    int order;                /* that it claims, at least 1 */
    int index;          /* for which it claims it: hem 2; irk 1 or 2; 0: what the method needs */
    int embedded_order; /* that the embedded weights claim; 0: the highest that they have */
    bool has_embedded;  /* without: constant steps only, but for herk and irk */
    double A[DAE_TABLE_STAGES][DAE_TABLE_STAGES];
    double b[DAE_TABLE_STAGES], c[DAE_TABLE_STAGES];
    double embedded[DAE_TABLE_STAGES]; /* weights of a second solution: y1 - yhat is the error */
} dae_table;

DAE_API void dae_table_fill(dae_table *table, size_t size);

static inline dae_table dae_table_empty(void)
{
    dae_table butcher;
    dae_table_fill(&butcher, sizeof butcher);
    return butcher;
}

DAE_API dae_status dae_table_from_text_sized(const char *text, dae_table *table, size_t size,
                                             dae_diag *diag);
DAE_API dae_status dae_table_from_file_sized(const char *path, dae_table *table, size_t size,
                                             dae_diag *diag);
DAE_API dae_status dae_table_hem4_sized(double c2, double c3, dae_table *table, size_t size,
                                        dae_diag *diag);

/* A table from a text, or from a file with one, as docs/methods/tables.md has the format.
 * DAE_ERR_ARGUMENT names line, row and word. It is read only: see dae_table_check. */
static inline dae_status dae_table_from_text(const char *text, dae_table *butcher, dae_diag *diag)
{
    return dae_table_from_text_sized(text, butcher, sizeof *butcher, diag);
}
static inline dae_status dae_table_from_file(const char *path, dae_table *butcher, dae_diag *diag)
{
    return dae_table_from_file_sized(path, butcher, sizeof *butcher, diag);
}

/* The half-explicit method of order 4 with five stages and these nodes, by the construction of
 * Brasey and Hairer (1993), section 4; c3 = (4 - sqrt(6))/10 and c2 = 3/10 give HEM4.
 * DAE_ERR_ARGUMENT: there is none for them. */
static inline dae_status dae_table_hem4(double c2, double c3, dae_table *butcher, dae_diag *diag)
{
    return dae_table_hem4_sized(c2, c3, butcher, sizeof *butcher, diag);
}

/* Whether a method ("hem", "herk", "prk", "irk") takes the table: it is of the method's kind and
 * meets all order conditions of what it claims. DAE_ERR_ARGUMENT names the row and the number, or
 * the condition with its value. */
DAE_API dae_status dae_table_check(const dae_table *table, const char *method, dae_diag *diag);

#endif
