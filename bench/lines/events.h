/* What an event costs. */
#ifndef BENCH_LINES_EVENTS_H
#define BENCH_LINES_EVENTS_H

#include "lines.h"

void events_begin(void);
/* Of the text on both engines: time of a step with an event against the mean of the others */
void events_line(line *l, const wishes *w);

#endif
