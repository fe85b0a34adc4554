/* Threads that were asked for and are not there. */
#include <stdio.h>

#include "base/team.h"
#include "solve/watch/watch.h"

void threads_note(dae_solver *s)
{
    char text[200];
    if (s->threads_told || !team_lacks(s->threads)) return;
    s->threads_told = true;
    snprintf(text, sizeof text,
             "note: not all threads that were asked for can be had, or no memory for them: the run "
             "goes on with %d, and gives the same numbers.",
             team_threads(s->threads));
    solver_note(s, text);
}
