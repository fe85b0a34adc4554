/* Running gnuplot, and what its scripts share. */
#ifndef DAEDAL_REPORT_GNUPLOT_H
#define DAEDAL_REPORT_GNUPLOT_H

#include "internal.h"

typedef enum picture { PICTURE_SVG, PICTURE_PNG, PICTURE_PDF } picture;

/* The format by the extension of the path. */
report_status gnuplot_format(const char *path, picture *format, report_error *error);

/* text as a string expression that gnuplot takes literally. */
void gnuplot_quoted(FILE *script, const char *text);
/* set <setting> <text> */
void gnuplot_setting(FILE *script, const char *setting, const char *text);
/* At most so many bytes of a text, the middle left out: ends of names tell more. No part of a UTF-8
 * sequence is left. */
void gnuplot_shorten(char *text, size_t most);
/* Letters that a line of so many pixels has room for: most are below 8 pixels wide. */
#define GNUPLOT_LETTERS(pixels) ((size_t)(pixels) / 8)
/* set terminal ..; width and height in pixels */
void gnuplot_terminal(FILE *script, picture format, int width, int height);

/* Writes a script, which ends with "unset output". */
typedef void (*gnuplot_script)(FILE *script, void *context);

/* How gnuplot is run. */
typedef struct gnuplot_run {
    const char *program;          /* NULL: that of the PATH */
    int (*interrupt)(void *user); /* not 0: end it; NULL: none */
    void *user;
} gnuplot_run;

/* What a drawing that was interrupted ends with. */
report_status gnuplot_interrupted(report_error *error);

/* Let gnuplot draw into `path`, which appears complete or not at all. */
report_status gnuplot_draw(const char *path, const gnuplot_run *run, gnuplot_script write,
                           void *context, report_error *error);

#endif
