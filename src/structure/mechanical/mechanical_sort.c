/* What rows and variables are for in a mechanical system: equations of motion, surfaces,
 * constraints on velocities and the rest; contact coordinates, multipliers and the rest. */
#include "base/memory.h"
#include "structure/index/matching.h"
#include "structure/mechanical/mechanical_parts.h"

/* ---- rows ---- */

/* What a row contains. */
typedef struct row_content {
    const mechanical_search *s;
    bool accelerations, velocities, positions;
    bool differential; /* a variable that is no position, but has a derivative somewhere */
    bool open;         /* a variable that is neither position nor contact coordinate */
    int foreign;       /* a variable that is no position; -1: none */
    int moving;        /* a position whose velocity is there; -1: none */
} row_content;

static void note_content(void *context, const expr_node *node)
{
    row_content *c = context;
    if (node->op != EXPR_VARIABLE) return;
    if (c->s->role[node->index] != ROLE_POSITION) {
        c->foreign = node->index;
        c->differential |= c->s->highest[node->index] > 0;
        c->open |= c->s->role[node->index] != ROLE_CONTACT;
        return;
    }
    c->accelerations |= node->order == 2;
    c->velocities |= node->order == 1;
    c->positions |= node->order == 0;
    if (node->order == 1) c->moving = node->index;
}

static bool row_content_of(const mechanical_search *s, expr e, row_content *c)
{
    *c = (row_content){.s = s, .foreign = -1, .moving = -1};
    return graph_leaves(s->set->graph, &e, 1, note_content, c);
}

/* Rows over positions, algebraic variables and time are USE_OPEN until it is known which of them
 * are surfaces. */
static mechanical_status class_rows(mechanical_search *s)
{
    mechanical *m = s->m;
    int dynamic = 0;
    for (int i = 0; i < s->set->m; i++) {
        row_content c;
        if (s->use[i] == USE_DEFINITION) continue;
        if (!row_content_of(s, s->row[i], &c)) return MECHANICAL_MEMORY;
        bool still = !c.velocities && !c.differential && (c.positions || c.foreign >= 0);
        s->use[i] = still ? USE_OPEN : USE_OTHER;
        if (!c.accelerations) continue;
        if (dynamic == m->nq)
            return mechanical_refuse(
                s,
                "%s contains accelerations, but there are as many equations of motion as "
                "positions without it",
                s->set->row[i].name);
        s->use[i] = USE_DYNAMIC;
        m->dynamic[dynamic++] = i;
    }
    if (dynamic < m->nq)
        return mechanical_refuse(s,
                                 "only %d equations contain accelerations, for %d positions (%s, "
                                 "..)",
                                 dynamic, m->nq, s->set->name[m->q[0]]);
    return MECHANICAL_OK;
}

/* ---- lists of who contains whom ---- */

/* Row r of the lists has column[start[r] ..); owned. */
typedef struct incidence {
    int rows;
    size_t *start;
    int *column, *row; /* row: while entries are gathered */
    size_t count, room;
} incidence;

static void incidence_free(incidence *a)
{
    dae_free_all(a->start, a->column, a->row);
}

static bool incidence_add(incidence *a, int row, int column)
{
    size_t room = a->room; /* both arrays are as long */
    if (!dae_grow(&a->row, &room, a->count + 1, sizeof *a->row) ||
        !dae_grow(&a->column, &a->room, a->count + 1, sizeof *a->column))
        return false;
    a->row[a->count] = row;
    a->column[a->count++] = column;
    return true;
}

/* Entries by rows; false: memory */
static bool incidence_sort(incidence *a, int rows)
{
    int *sorted = DAE_ARRAY(int, a->count);
    a->rows = rows;
    a->start = DAE_ARRAY(size_t, rows + 1);
    if (!sorted || !a->start) {
        dae_free(sorted);
        return false;
    }
    for (size_t k = 0; k < a->count; k++) a->start[a->row[k] + 1]++;
    for (int r = 0; r < rows; r++) a->start[r + 1] += a->start[r];
    for (size_t k = 0; k < a->count; k++) sorted[a->start[a->row[k]]++] = a->column[k];
    for (int r = rows; r > 0; r--) a->start[r] = a->start[r - 1];
    a->start[0] = 0;
    dae_free(a->column);
    a->column = sorted;
    return true;
}

/* While the leaves of a row are visited. */
typedef struct gather {
    const mechanical_search *s;
    incidence *to;
    int row;
    bool by_variable; /* rows of the lists are variables, columns equations */
    bool failed;
} gather;

static void gather_leaf(void *context, const expr_node *node)
{
    gather *a = context;
    if (node->op != EXPR_VARIABLE || a->s->role[node->index] != ROLE_OPEN) return;
    int row = a->by_variable ? node->index : a->row, column = a->by_variable ? a->row : node->index;
    a->failed = a->failed || !incidence_add(a->to, row, column);
}

/* Open variables of the rows with a use, by rows or by variables; false: memory. */
static bool gather_rows(const mechanical_search *s, int use, bool by_variable, incidence *to)
{
    gather a = {s, to, 0, by_variable, false};
    for (int i = 0; i < s->set->m; i++) {
        if (s->use[i] != use) continue;
        a.row = i;
        if (!graph_leaves(s->set->graph, &s->row[i], 1, gather_leaf, &a) || a.failed) return false;
    }
    return incidence_sort(to, by_variable ? s->set->n : s->set->m);
}

/* ---- surfaces ---- */

/* over[i]: row i is in the way of a row that finds no variable of its own [PF90]. */
static bool find_surfaces(const mechanical_search *s, const incidence *a, bool *over)
{
    matching m;
    bool ok = matching_new(&m, a->start, a->column, s->set->m, s->set->n);
    for (int i = 0; ok && i < s->set->m; i++) {
        if (s->use[i] != USE_OPEN || matching_add(&m, i)) continue;
        over[i] = true;
        for (int k = 0; k < m.seen; k++) over[m.queue[k]] = true;
    }
    matching_free(&m);
    return ok;
}

static void take_surfaces(mechanical_search *s, const incidence *a, const bool *over)
{
    mechanical *m = s->m;
    for (int i = 0; i < s->set->m; i++) {
        if (s->use[i] != USE_OPEN) continue;
        s->use[i] = over[i] ? USE_CONTACT : USE_OTHER;
        if (!over[i]) continue;
        s->surface[s->nsurface++] = i;
        for (size_t k = a->start[i]; k < a->start[i + 1]; k++) {
            int j = a->column[k];
            if (s->role[j] == ROLE_CONTACT) continue;
            s->role[j] = ROLE_CONTACT;
            s->place[j] = m->ns;
            m->contact[m->ns++] = j;
        }
    }
}

/* Rows with velocities, and no other variables than positions and contact coordinates. */
static bool take_velocity_rows(mechanical_search *s)
{
    for (int i = 0; i < s->set->m; i++) {
        row_content c;
        if (s->use[i] != USE_OTHER) continue;
        if (!row_content_of(s, s->row[i], &c)) return false;
        if (c.velocities && !c.open) s->use[i] = USE_VELOCITY;
    }
    return true;
}

mechanical_status mechanical_sort_rows(mechanical_search *s)
{
    mechanical_status status = class_rows(s);
    if (status != MECHANICAL_OK) return status;
    incidence a = {0};
    bool *over = DAE_ARRAY(bool, s->set->m);
    bool ok = over && gather_rows(s, USE_OPEN, false, &a) && find_surfaces(s, &a, over);
    if (ok) take_surfaces(s, &a, over);
    ok = ok && take_velocity_rows(s);
    incidence_free(&a);
    dae_free(over);
    return ok ? MECHANICAL_OK : MECHANICAL_MEMORY;
}

/* ---- multipliers ---- */

/* Why rows that are neither constraints nor definitions are too many, or multipliers too few. */
static mechanical_status refuse_counts(mechanical_search *s, int multipliers)
{
    const mechanical *m = s->m;
    for (int i = 0; i < s->set->m; i++) {
        row_content c;
        if (s->use[i] != USE_OTHER && s->use[i] != USE_VELOCITY) continue;
        if (!row_content_of(s, s->row[i], &c)) return MECHANICAL_MEMORY;
        const char *name = s->set->row[i].name;
        if (c.foreign < 0 && c.moving >= 0)
            return mechanical_refuse(s,
                                     "%s restricts velocities, der(%s) among them, and not "
                                     "positions",
                                     name, s->set->name[c.moving]);
        if (c.positions && c.foreign >= 0)
            return mechanical_refuse(s,
                                     "%s contains %s besides positions, so that it is no "
                                     "constraint g(q, t) = 0",
                                     name, s->set->name[c.foreign]);
    }
    if (m->nlambda == 0)
        return mechanical_refuse(s, "no equation restricts the positions %s, ..",
                                 s->set->name[m->q[0]]);
    return mechanical_refuse(s,
                             "there are %d constraints (%s, ..), but %d multipliers in the "
                             "equations of motion",
                             m->nlambda, s->set->row[m->constraint[0]].name, multipliers);
}

/* How much a variable is wanted for the rows that determine r and w: 0, those with derivatives,
 * before 1, those that do not act on the positions, 2, those that act in some way, and 3, those
 * that act along the gradient of a constraint; -1: it is none of them. */
static int rank_variable(const mechanical_search *s, int j, const bool *along)
{
    if (s->role[j] != ROLE_OPEN) return -1;
    if (s->highest[j] > 0) return 0;
    if (s->place[j] < 0) return 1;
    return along && along[s->place[j]] ? 3 : 2;
}

/* Rows with other uses determine the variables that are wanted most; the others, which must act on
 * positions, are multipliers. Returns how many rows were of use; -1: a variable is left over, -2:
 * memory. */
static int choose_multipliers(mechanical_search *s, const incidence *a, const bool *along)
{
    matching m;
    int taken = 0;
    if (!matching_new(&m, a->start, a->column, s->set->n, s->set->m)) taken = -2;
    for (int rank = 0; rank < 4 && taken >= 0; rank++)
        for (int j = 0; j < s->set->n && taken >= 0; j++) {
            if (rank_variable(s, j, along) != rank) continue;
            bool fits = matching_add(&m, j);
            if (!fits && rank < 2) taken = -1;
            if (fits) taken++;
            if (fits) s->role[j] = ROLE_OTHER;
        }
    matching_free(&m);
    return taken;
}

/* Whether some candidate is in other rows, too, so that it must be told which are multipliers. */
static bool is_mixed(const mechanical_search *s, const incidence *a)
{
    for (int j = 0; j < s->set->n; j++)
        if (rank_variable(s, j, NULL) == 2 && a->start[j + 1] > a->start[j]) return true;
    return false;
}

/* lambda in the order of the variables, and C of these alone. */
static void take_multipliers(mechanical_search *s, int *column)
{
    mechanical *m = s->m;
    int count = 0, multipliers = 0, others = m->explicit_count;
    for (int k = 0; k < m->ns; k++) m->other[others++] = m->contact[k];
    for (int j = 0; j < s->set->n; j++) {
        bool candidate = s->place[j] >= 0 && s->highest[j] == 0;
        if (s->role[j] == ROLE_OTHER && candidate) column[s->place[j]] = -1;
        if (s->role[j] == ROLE_OTHER) m->other[others++] = j;
        if (s->role[j] != ROLE_OPEN) continue;
        column[s->place[j]] = multipliers;
        s->role[j] = ROLE_MULTIPLIER;
        s->place[j] = multipliers;
        m->lambda[multipliers++] = j;
    }
    for (int k = 0; k < m->C.count; k++) {
        mechanical_entry e = m->C.entry[k];
        e.column = column[e.column];
        if (e.column >= 0) m->C.entry[count++] = e;
    }
    m->C.count = count;
    m->nother = others;
}

static int number_other_rows(mechanical_search *s)
{
    mechanical *m = s->m;
    int rows = m->explicit_count, open = 0;
    for (int k = 0; k < m->ns; k++) m->other_row[rows++] = m->contact_row[k];
    for (int i = 0; i < s->set->m; i++) {
        if (s->use[i] != USE_OTHER) continue;
        m->other_row[rows++] = i;
        open++;
    }
    return open;
}

static mechanical_status sort_candidates(mechanical_search *s, incidence *a, bool *along,
                                         int *column)
{
    mechanical *m = s->m;
    if (!gather_rows(s, USE_OTHER, true, a)) return MECHANICAL_MEMORY;
    mechanical_status status = is_mixed(s, a) ? mechanical_acts_along(s, along) : MECHANICAL_OK;
    if (status != MECHANICAL_OK) return status;
    int open = number_other_rows(s), taken = choose_multipliers(s, a, along), multipliers = 0;
    if (taken == -2) return MECHANICAL_MEMORY;
    for (int j = 0; j < s->set->n; j++) multipliers += s->role[j] == ROLE_OPEN;
    bool fits = taken == open && multipliers == m->nlambda && (m->nlambda > 0 || s->unconstrained);
    if (!fits) return refuse_counts(s, multipliers);
    take_multipliers(s, column);
    return MECHANICAL_OK;
}

mechanical_status mechanical_sort_variables(mechanical_search *s)
{
    incidence a = {0};
    bool *along = DAE_ARRAY(bool, s->candidates + 1);
    int *column = DAE_ARRAY(int, s->candidates + 1);
    bool ready = along && column;
    mechanical_status status = ready ? sort_candidates(s, &a, along, column) : MECHANICAL_MEMORY;
    incidence_free(&a);
    dae_free_all(along, column);
    return status;
}
