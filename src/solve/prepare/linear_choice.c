#include "solve/prepare/linear_choice.h"

#include <stdio.h>

#include "linalg/sparse_order.h"
#include "model/model.h"
#include "solve/prepare/choose.h"

/* Operations of a factorisation from which on GMRES with ILU is taken. On squares of 3 10^4
 * unknowns, whose factorisation takes 2 10^8, it is 3 times (heat equation) and more (Brusselator)
 * as fast as factors, at 10^5 and 10^9 five times (docs/notes/large.md). A direct solver never
 * fails to converge, so that it stays as long as it is affordable. */
static const double DEAR = 1e8;
/* So few unknowns never take as many: no need to look. */
enum { FEW = 10000 };

/* Equations of index 1 or less as they are given, whose pattern is known */
static bool is_plain(const dae_problem *p)
{
    const bool low = p->model ? p->model->unmet < 0 : !p->forms && !declares_index3(p);
    return low && p->has_layout && p->layout.kind == DAE_STRUCTURE_SPARSE && p->form.n >= FEW;
}

bool choose_iterative(const dae_problem *p, const wishes *w, char *why, double *operations)
{
    const dae_options *o = w->options;
    if (!w->open || o->linear_solver != DAE_LINEAR_AUTO || o->integrator || o->norm ||
        !w->formulation->automatic || !is_plain(p))
        return false;
    const double work = sparse_forecast(&p->layout);
    if (!(work >= DEAR)) return false;
    *operations = work;
    snprintf(why, CHOICE_TEXT,
             "gmres with ILU: to factor a matrix would take %.1e operations (--linear-solver "
             "sparse does)",
             work);
    return true;
}
