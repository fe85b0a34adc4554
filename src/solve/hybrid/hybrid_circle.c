/* Passes that go round in a circle.
 *
 * With pre(..) held, the equations of an event and its relations are one system: a relation is to
 * be what its two sides say at the solution that it leads to. Passes that turn all relations found
 * on their other side at once may jump over that solution, from a body that begins to slide forward
 * to one that begins to slide backward and back, while it is stuck. For contacts, friction and
 * ideal switches the system is one of complementarities, which are solved by turning one relation
 * at a time (Bard, Murty). Which one: that which has been left alone for the longest time, since in
 * "if forward .. elseif backward .." one relation may hide another. */
#include <string.h>

#include "solve/hybrid/hybrid_parts.h"

void circle_open(hybrid *h)
{
    h->circle_passes = 0;
    h->one_by_one = false;
}

/* A pass is compared with one before it that was kept: the first, the second, the fourth, ...
 * (Brent), so that every circle is seen within three rounds of it. */
void circle_watch(hybrid *h)
{
    const size_t bytes = (size_t)h->instance->form->flat->memory_count * sizeof *h->kept;
    const int k = ++h->circle_passes;
    if (k > 1 && memcmp(h->kept, h->instance->memory, bytes) == 0) h->one_by_one = true;
    if ((k & (k - 1)) == 0) memcpy(h->kept, h->instance->memory, bytes);
}
