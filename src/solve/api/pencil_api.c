/* Linear systems as matrices: the public calls. */
#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "structure/linear/pencil.h"

/* The report that the caller sees, and behind it what it points to. */
typedef struct pencil_record {
    dae_pencil_report report; /* first: the caller's pointer is this one's */
    pencil pencil;
} pencil_record;

/* The caller's description with every field that the library knows, checked. */
static dae_status check_pencil(const dae_pencil *given, size_t size, dae_pencil *p, dae_diag *diag)
{
    *p = (dae_pencil){0};
    dae_status status = sized_read(given, size, p, sizeof *p, "pencil", diag);
    if (status != DAE_OK) return status;
    if (p->n < 1 || p->n > 10000 || !p->a || !p->b)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A pencil needs two matrices a and b of size n, 1 <= n <= 10000.");
    if (!(p->tolerance >= 0.0 && p->tolerance < 1.0))
        return diag_set(diag, DAE_ERR_ARGUMENT, "The tolerance of a pencil must be in [0, 1).");
    const int count = p->n * p->n;
    if (!vector_finite(count, p->a) || !vector_finite(count, p->b))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The matrices of a pencil must have finite entries.");
    return DAE_OK;
}

static const dae_stability stabilities[] = {[PENCIL_NO_STABILITY] = DAE_STABILITY_NONE,
                                            [PENCIL_ASYMPTOTICALLY_STABLE] =
                                                DAE_STABILITY_ASYMPTOTIC,
                                            [PENCIL_STABLE] = DAE_STABILITY_STABLE,
                                            [PENCIL_UNSTABLE] = DAE_STABILITY_UNSTABLE};

static void fill_report(pencil_record *record)
{
    const pencil *p = &record->pencil;
    record->report = (dae_pencil_report){.size = sizeof record->report,
                                         .n = p->n,
                                         .regular = p->regular,
                                         .index = p->index,
                                         .rank_b = p->rank_b,
                                         .normal_rank = p->normal_rank,
                                         .finite = p->finite,
                                         .infinite = p->infinite,
                                         .re = p->re,
                                         .im = p->im,
                                         .levels = p->levels,
                                         .block_count = p->blocks,
                                         .stability = stabilities[p->stability],
                                         .column_count = p->column_count,
                                         .column_index = p->column_index,
                                         .row_count = p->row_count,
                                         .row_index = p->row_index,
                                         .kept = p->gap.kept,
                                         .dropped = p->gap.dropped,
                                         .p = p->P,
                                         .q = p->Q};
}

dae_status dae_pencil_analyse_sized(const dae_pencil *given, size_t size,
                                    dae_pencil_report **report, dae_diag *diag)
{
    dae_pencil p;
    diag_clear(diag);
    if (!report) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_pencil_analyse: report is NULL.");
    *report = NULL;
    dae_status status = check_pencil(given, size, &p, diag);
    if (status != DAE_OK) return status;
    pencil_record *record = DAE_NEW(pencil_record);
    if (!record || !pencil_analyse(&record->pencil, p.n, p.a, p.b, p.tolerance)) {
        dae_free(record);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a pencil of size %d.", p.n);
    }
    fill_report(record);
    pencil_text(&record->pencil, p.variable_names, p.equation_names, record->report.text,
                sizeof record->report.text);
    *report = &record->report;
    return DAE_OK;
}

void dae_pencil_report_free(dae_pencil_report *report)
{
    pencil_record *record = (pencil_record *)report;
    if (!record) return;
    pencil_free(&record->pencil);
    dae_free(record);
}

static dae_status tell(pencil_status status, dae_diag *diag)
{
    switch (status) {
    case PENCIL_OK: return DAE_OK;
    case PENCIL_MEMORY:
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a consistent initial value.");
    case PENCIL_SINGULAR:
        return diag_set(
            diag, DAE_ERR_SINGULAR,
            "The pencil is singular, so that no initial value has exactly one solution; "
            "dae_pencil_analyse says which equations and variables are dependent.");
    default:
        return diag_set(diag, DAE_ERR_SINGULAR,
                        "The ranks of the system cannot be told at this tolerance: singular values "
                        "lie close to it. Try another tolerance.");
    }
}

dae_status dae_pencil_consistent_sized(const dae_pencil *given, size_t size, int orders,
                                       const double *d, double *u, double *up, dae_diag *diag)
{
    dae_pencil p;
    diag_clear(diag);
    dae_status status = check_pencil(given, size, &p, diag);
    if (status != DAE_OK) return status;
    if (!u || orders < 0 || (orders > 0 && !d))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A consistent initial value needs u, and d with as many orders as said.");
    for (int i = 0; i < orders; i++)
        if (!vector_finite(p.n, d + (size_t)i * (size_t)p.n))
            return diag_set(diag, DAE_ERR_ARGUMENT, "d must have finite values.");
    if (!vector_finite(p.n, u))
        return diag_set(diag, DAE_ERR_ARGUMENT, "u must have finite values.");
    return tell(pencil_consistent(p.n, p.a, p.b, p.tolerance, orders, d, u, up), diag);
}
