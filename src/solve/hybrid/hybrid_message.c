/* What a model says itself: assert and terminate. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* The message of an action with its values filled in. */
static void compose(const dae_solver *s, double t, const flat_action *a, char *text, size_t size)
{
    size_t used = 0, from = 0, length = strlen(a->message);
    text[0] = '\0';
    for (size_t k = 0; k <= a->hole_count && used + 1 < size; k++) {
        size_t to = k < a->hole_count ? a->holes[k].offset : length;
        char value[400] = "";
        if (k < a->hole_count)
            flat_fill(&a->holes[k], value_at(s, t, a->holes[k].value), value, sizeof value);
        int wrote = snprintf(text + used, size - used, "%.*s%s", (int)(to - from),
                             a->message + from, value);
        if (wrote < 0) return;
        used += (size_t)wrote;
        from = k < a->hole_count ? to + a->holes[k].length : to;
    }
}

enum { MESSAGE_SIZE = DAE_TEXT_SIZE - 128 };

dae_status hybrid_fail(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE];
    compose(s, t, a, text, sizeof text);
    s->diag.t = t;
    s->diag.line = a->place.line;
    return diag_set(&s->diag, DAE_ERR_ASSERT, "%s:%d: assertion failed at t = %.9g: %s",
                    model_file(s), a->place.line, t, text);
}

void hybrid_warn(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE], whole[DAE_TEXT_SIZE];
    if (!s->bound.options.message) return;
    compose(s, t, a, text, sizeof text);
    snprintf(whole, sizeof whole, "%s:%d: warning: at t = %.9g: %s", model_file(s), a->place.line,
             t, text);
    solver_note(s, whole);
}

void hybrid_terminate(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE];
    if (a->guard != EXPR_NONE && value_at(s, t, a->guard) == 0.0) return;
    if (s->run.terminated) return; /* the first message stands */
    compose(s, t, a, text, sizeof text);
    s->run.terminated = true;
    s->diag.t = t;
    s->diag.line = a->place.line;
    diag_set(&s->diag, DAE_OK, "%s:%d: terminated at t = %.9g: %s", model_file(s), a->place.line, t,
             text);
}
