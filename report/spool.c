/* Rows on the disk: a file without a name, read back in pieces. */
#define _POSIX_C_SOURCE 200809L
#include "spool.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW_BYTES = 1 << 18 };

struct report_spool {
    FILE *file;
    size_t width;   /* numbers of a row */
    double *window; /* `room` rows from number `first` on, `held` of them; owned */
    size_t room, first, held;
    bool failed; /* something could not be written or read */
};

report_spool *spool_new(const char *directory, size_t width)
{
    report_spool *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    size_t room = WINDOW_BYTES / sizeof(double) / width;
    s->width = width;
    s->room = room > 0 ? room : 1;
    s->window = calloc(s->room * width, sizeof *s->window);
    int descriptor = s->window ? report_unnamed_file(directory) : -1;
    s->file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
    if (s->file) return s;
    if (descriptor >= 0) close(descriptor);
    spool_free(s);
    return NULL;
}

void spool_free(report_spool *s)
{
    if (!s) return;
    if (s->file) fclose(s->file);
    free(s->window);
    free(s);
}

bool spool_append(report_spool *s, size_t count, const double *times, const double *rows)
{
    size_t n = s->width - 1;
    if (fseeko(s->file, 0, SEEK_END) != 0) return false;
    for (size_t r = 0; r < count; r++)
        if (fwrite(&times[r], sizeof(double), 1, s->file) != 1 ||
            fwrite(rows + r * n, sizeof(double), n, s->file) != n)
            return false;
    s->held = 0;
    return fflush(s->file) == 0;
}

/* Fill the window from row `first` on. */
static void load(report_spool *s, size_t first)
{
    off_t place = (off_t)(first * s->width * sizeof(double));
    s->first = first;
    s->held = 0;
    if (fseeko(s->file, place, SEEK_SET) == 0)
        s->held = fread(s->window, s->width * sizeof(double), s->room, s->file);
    if (s->held > 0) return;
    s->failed = true;
    s->held = 1;
    for (size_t k = 0; k < s->width; k++) s->window[k] = NAN;
}

const double *spool_row(report_spool *s, size_t r)
{
    if (r < s->first || r >= s->first + s->held) load(s, r);
    return s->window + (r - s->first) * s->width;
}

bool spool_failed(const report_spool *s)
{
    return s && s->failed;
}
