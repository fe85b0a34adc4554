/* The search for events cannot go on, in words. */
#include "base/diag.h"
#include "base/memory.h"
#include "model/model_watch.h"
#include "solve/explain/explain.h"
#include "solve/explain/explain_model.h"

/* The relation of a model that cannot be evaluated. */
static void explain_relation(dae_solver *s)
{
    const flat_model *m = s->hybrid->instance->form->flat;
    const eval_failure *failure = &s->bound.eval.failure;
    if (failure->component < 0 || (size_t)failure->component >= m->relation_count) return;
    s->diag.line = m->relations[failure->component].place.line;
    diag_set(&s->diag, DAE_ERR_EVENT, "The relation at %s:%d cannot be evaluated at t = %.10g.",
             m->file ? m->file : m->name, s->diag.line, failure->t);
}

/* The line of the assertion that crossing function e belongs to; 0: it is not found. */
static int line_of_watch(const model_form *f, expr e)
{
    int line = 0;
    for (size_t k = 0; k < f->flat->assert_count && line == 0; k++) {
        expr *watches = NULL;
        size_t count = 0;
        if (model_watches(f->flat->graph, &f->assertion.e[k], 1, &watches, &count))
            for (size_t i = 0; i < count; i++)
                if (watches[i] == e) line = f->flat->asserts[k].place.line;
        dae_free(watches);
    }
    return line;
}

static dae_status explain_wild(dae_solver *s, int r)
{
    const model_form *f = s->hybrid->instance->form;
    bool relation = (size_t)r < f->flat->relation_count;
    graph_enter(f->flat->graph);
    s->diag.line = relation ? f->flat->relations[r].place.line : line_of_watch(f, f->crossing.e[r]);
    graph_leave(f->flat->graph);
    s->diag.t = s->run.searched;
    return diag_set(&s->diag, DAE_ERR_EVENT,
                    "%s:%d: the crossings of %s cannot be found behind t = %.10g: within one step, "
                    "up to t = %.10g, the difference of its two sides oscillates too often to look "
                    "at all of it, or it changes by less than the rounding of the values in it. "
                    "Shorter steps (max_step) help against the first%s.",
                    model_file(s), s->diag.line, relation ? "this relation" : "this assertion",
                    s->run.searched, s->run.t_new,
                    relation ? ", and noEvent against both where no event is wanted" : "");
}

/* A recoverable failure of g that searching in smaller parts did not overcome. */
dae_status explain_events(dae_solver *s, eval_status status)
{
    int unbounded = event_finder_unbounded(s->bound.events);
    if (unbounded != EVENTS_PLAIN) return explain_wild(s, unbounded);
    dae_status result = explain_evaluation(s, status);
    if (status != EVAL_RETRY) return result;
    if (s->hybrid) explain_relation(s);
    diag_append(&s->diag, " Events up to t = %.10g have been reported.", s->run.searched);
    return s->diag.status = DAE_ERR_EVENT;
}
