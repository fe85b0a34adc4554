/* What assertions watch: where the relations in their conditions change. */
#ifndef DAE_MODEL_MODEL_WATCH_H
#define DAE_MODEL_MODEL_WATCH_H

#include "expr/graph.h"

/* a - b for every a < b and a <= b in the conditions that moves with time or variables, each once;
 * and for every abs(a), min(a, b) and max(a, b), whose kinks hide short violations: a, a - b.
 * *watches is owned by the caller. false: out of memory. */
bool model_watches(graph *g, const expr *conditions, size_t count, expr **watches,
                   size_t *watch_count);

#endif
