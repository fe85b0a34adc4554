#include "base/interrupt.h"

#include "base/diag.h"

/* Allocations between two questions: some microseconds of work. */
enum { PATIENCE = 64 };

/* The innermost scope of this thread. It is set by the call that this thread is in, points into
 * that call's frame, and is back to what it was when the call returns: an argument of all functions
 * below it, kept where they need not pass it on. */
static _Thread_local interrupt_scope *innermost;

void interrupt_open(interrupt_scope *scope, int (*ask)(void *user), void *user)
{
    *scope =
        (interrupt_scope){ask, user, PATIENCE, false, !innermost || innermost->whole, innermost};
    if (!ask && innermost) {
        scope->ask = innermost->ask;
        scope->user = innermost->user;
        scope->fired = innermost->fired;
    }
    innermost = scope;
}

void interrupt_open_step(interrupt_scope *scope, int (*ask)(void *user), void *user)
{
    interrupt_open(scope, ask, user);
    scope->whole = false;
}

bool interrupt_close(interrupt_scope *scope)
{
    innermost = scope->outer;
    if (scope->fired && innermost) innermost->fired = true;
    return scope->fired;
}

bool interrupted_now(void)
{
    interrupt_scope *s = innermost;
    if (!s || !s->ask) return false;
    s->countdown = PATIENCE;
    if (!s->fired) s->fired = s->ask(s->user) != 0;
    return s->fired;
}

bool interrupted(void)
{
    interrupt_scope *s = innermost;
    if (!s || !s->ask) return false;
    if (s->fired) return true;
    return --s->countdown <= 0 && interrupted_now();
}

bool interrupted_whole(void)
{
    return innermost && innermost->whole && interrupted_now();
}

dae_status interrupt_explain(dae_diag *diag, const char *during)
{
    return diag_set(diag, DAE_ERR_INTERRUPTED, "The interrupt callback stopped %s.", during);
}
