/* Which rows of a model say y_i' = y_j. */
#include "base/memory.h"
#include "matrix/kinematic.h"
#include "model/model_build.h"

bool build_kinematics(model_form *f)
{
    f->kinematic = DAE_ARRAY(kinematic_row, f->rows);
    if (!f->kinematic) return false;
    for (int r = 0; r < f->rows && f->rows <= f->n; r++) {
        kinematic_row *next = &f->kinematic[f->kinematic_count];
        next->row = r;
        if (kinematic_of_expression(f->flat->graph, f->residual.e[r], next)) f->kinematic_count++;
    }
    return true;
}

bool model_kinematics(const model_form *f, const model_instance *m, dae_problem *p)
{
    bool plain = m && m->selection && !f->formulated->tangent;
    int chosen = plain ? selection_count(m->selection) : 0, count = 0;
    kinematic_row *rows = DAE_ARRAY(kinematic_row, f->kinematic_count + chosen);
    if (!rows) return false;
    for (; count < f->kinematic_count; count++) rows[count] = f->kinematic[count];
    for (int r = 0; r < chosen; r++) {
        const kinematic *q = &f->formulated->candidate[selection_chosen(m->selection)[r]];
        if (q->sign > 0) rows[count++] = (kinematic_row){f->rows + r, q->unknown, q->next};
    }
    bool ok = kinematic_keep(p, count, rows);
    dae_free(rows);
    return ok;
}
