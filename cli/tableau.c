/* The extrapolation tableau of every step, as a table. */
#include "outputs.h"
#include "session.h"

#include <stdlib.h>

int session_open_tableau(session *s, const char *path)
{
    report_error error = {0};
    if (!path) return CLI_OK;
    if (dae_solver_tableau(s->solver, 0, 0, NULL) == DAE_ERR_UNSUPPORTED)
        return complain(CLI_USAGE,
                        "option '--tableau' is for extrapolation, as '--method liex': the method "
                        "of this run has no tableau");
    s->unknowns = calloc((size_t)dae_problem_size(s->problem) + 1, sizeof *s->unknowns);
    if (!s->unknowns) return complain(CLI_FAILED, "out of memory for the tableau");
    if (is_stdout(path))
        s->tableau.stream = stdout;
    else if (report_file_open(&s->tableau, path, &error) != REPORT_OK)
        return complain(CLI_FAILED, "%s", error.text);
    fputs("t,h,row,column", s->tableau.stream);
    for (int i = 0; i < dae_problem_size(s->problem); i++)
        fprintf(s->tableau.stream, ",\"%s\"", dae_problem_unknown_name(s->problem, i));
    fputc('\n', s->tableau.stream);
    return CLI_OK;
}

/* T_jk as a line. Rows and columns count from 1, as they are written. */
static void write_entry(session *s, double start, double end, int row, int column)
{
    FILE *to = s->tableau.stream;
    fprintf(to, "%.17g,%.17g,%d,%d", end, end - start, row + 1, column + 1);
    for (int i = 0; i < dae_problem_size(s->problem); i++) fprintf(to, ",%.17g", s->unknowns[i]);
    fputc('\n', to);
}

/* Every step once: where it ends at an event, and where one comes to pass, there is no new one. */
int session_write_tableau(session *s)
{
    double start, end;
    long steps = dae_solver_stats(s->solver)->steps;
    if (!s->tableau.stream || steps == s->tableau_steps) return CLI_OK;
    int rows = dae_solver_tableau(s->solver, 0, 0, NULL);
    if (rows == DAE_ERR_STATE) return CLI_OK;
    s->tableau_steps = steps;
    if (rows < 0) return complain(CLI_FAILED, "%s", dae_solver_diag(s->solver)->text);
    dae_solver_last_step(s->solver, &start, &end);
    for (int j = 0; j < rows; j++)
        for (int k = 0; k <= j; k++) {
            dae_solver_tableau(s->solver, j, k, s->unknowns);
            write_entry(s, start, end, j, k);
        }
    return CLI_OK;
}

int session_close_tableau(session *s)
{
    report_error error = {0};
    if (!s->tableau.stream) return CLI_OK;
    if (s->tableau.stream == stdout) { /* the command closes it */
        s->tableau.stream = NULL;
        return CLI_OK;
    }
    s->tableau_written = report_file_commit(&s->tableau, &error) == REPORT_OK;
    return s->tableau_written ? CLI_OK : complain(CLI_FAILED, "%s", error.text);
}
