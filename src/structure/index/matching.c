#include "structure/index/matching.h"

#include "base/memory.h"

void matching_free(matching *m)
{
    dae_free_all(m->row_of, m->cheap, m->stamp, m->closed, m->queue, m->parent, m->via);
    *m = (matching){0};
}

bool matching_new(matching *m, const size_t *start, const int *column, int rows, int columns)
{
    *m = (matching){.start = start,
                    .column = column,
                    .row_of = DAE_ARRAY(int, columns),
                    .cheap = DAE_ARRAY(size_t, rows),
                    .stamp = DAE_ARRAY(int, rows),
                    .closed = DAE_ARRAY(bool, rows),
                    .queue = DAE_ARRAY(int, rows),
                    .parent = DAE_ARRAY(int, rows),
                    .via = DAE_ARRAY(int, rows)};
    if (!m->row_of || !m->cheap || !m->stamp || !m->closed || !m->queue || !m->parent || !m->via)
        return false;
    for (int j = 0; j < columns; j++) m->row_of[j] = -1;
    for (int r = 0; r < rows; r++) {
        m->cheap[r] = start[r];
        m->stamp[r] = -1;
    }
    return true;
}

/* A free column of row r; -1 if there is none. */
static int free_column(matching *m, int r)
{
    for (; m->cheap[r] < m->start[r + 1]; m->cheap[r]++)
        if (m->row_of[m->column[m->cheap[r]]] < 0) return m->column[m->cheap[r]];
    return -1;
}

/* Let row r have the free column, the row before it r's old one, and so on back to `row`. */
static void move_along(matching *m, int row, int r, int free)
{
    for (; r != row; r = m->parent[r]) {
        m->row_of[free] = r;
        free = m->via[r];
    }
    m->row_of[free] = row;
}

/* Breadth first: equations of neighbours in a chain or a grid mostly find a free column a few steps
 * away, where going deep would follow the whole chain. */
bool matching_add(matching *m, int row)
{
    int seen = 0;
    m->queue[seen++] = row;
    m->stamp[row] = row;
    for (int at = 0; at < seen; at++) {
        int r = m->queue[at], free = free_column(m, r);
        if (free >= 0) {
            move_along(m, row, r, free);
            return true;
        }
        for (size_t k = m->start[r]; k < m->start[r + 1]; k++) {
            int behind = m->row_of[m->column[k]];
            if (m->stamp[behind] == row || m->closed[behind]) continue;
            m->stamp[behind] = row;
            m->parent[behind] = r;
            m->via[behind] = m->column[k];
            m->queue[seen++] = behind;
        }
    }
    for (int at = 0; at < seen; at++) m->closed[m->queue[at]] = true;
    m->seen = seen;
    return false;
}
