/* Relations, roundings and signs: each time one is met it is listed, with the distance of its
 * operands from where it changes, and it takes the value that the caller prescribes, if any. */
#include "judge/judge_parts.h"

/* Number of a place of the text in this pass of its loops: the same at every evaluation. `next`
 * counts the numbers given so far. */
int judge_intern(judge *j, table *t, const void *key, int *stamp, int *count, int *next)
{
    machine *m = &j->machine;
    if (*stamp != m->stamp) {
        *stamp = m->stamp;
        *count = 0;
    }
    int occurrence = (*count)++;
    table_entry *e = judge_table_find(t, NULL, key, m->group, occurrence);
    if (e) return e->number;
    e = judge_table_put(j, t, NULL, key, m->group, occurrence, NULL);
    e->number = (*next)++;
    return e->number;
}

/* A new evaluation: places are counted anew. */
void judge_new_stamp(machine *m)
{
    m->stamp++;
}

static void list_switch(judge *j, const judge_switch *s)
{
    judge_grow(j, &j->switches, &j->switch_capacity, j->switch_count + 1, sizeof *j->switches);
    j->switches[j->switch_count++] = *s;
}

static double forced_value(judge *j, int id)
{
    if ((size_t)id < j->forced_capacity) return j->forced[id];
    size_t old = j->forced_capacity;
    judge_grow(j, &j->forced, &j->forced_capacity, (size_t)id + 1, sizeof *j->forced);
    for (size_t k = old; k < j->forced_capacity; k++) j->forced[k] = NAN;
    return NAN;
}

double judge_switch_value(machine *m, const node *n, judge_switch_kind kind, double v, double other,
                          double crossing, double spread, bool discrete)
{
    if (m->group < 0 || m->trial) return v;
    judge *j = m->j;
    node *place = (node *)(size_t)n; /* it counts how often it is met */
    int id = judge_intern(j, &j->ids, n, &place->stamp, &place->count, &j->id_count);
    double forced = forced_value(j, id);
    judge_switch s = {.id = id,
                      .kind = kind,
                      .group = m->group,
                      .line = n->line,
                      .value = isnan(forced) ? v : forced,
                      .other = isnan(forced) || forced != other ? other : v,
                      .crossing = crossing,
                      .spread = spread,
                      .noevent = m->noevent > 0 || m->in_function > 0,
                      .discrete = discrete,
                      .forced = !isnan(forced)};
    list_switch(j, &s);
    return s.value;
}
