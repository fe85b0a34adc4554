/* daedal demo: Robertson's reaction over eleven decades, with table, errors and a picture. */
#include "session.h"

#include <math.h>
#include <stdlib.h>

static const char plot_file[] = "daedal-demo.svg";
static const double demo_rtol = 1e-6, demo_atol = 1e-10;

/* Solution at the times of the literature, 0.4, 4, .. 4e10, with the error of each row. */
static int print_known(session *s)
{
    double known[3];
    say("%12s %16s %16s %16s   %s\n", "t", "y1", "y2", "y3", "largest relative error");
    if (dae_solver_start(s->solver, s->m->t0, s->m->y0, s->m->yp0) < 0)
        return complain(CLI_FAILED, "%s", dae_solver_diag(s->solver)->text);
    for (int k = 0; k < 12; k++) {
        double t = 0.4 * pow(10.0, k), worst = 0.0;
        if (dae_solver_run(s->solver, t, s->y, NULL) < 0)
            return complain(CLI_FAILED, "%s", dae_solver_diag(s->solver)->text);
        if (s->m->solution(s->m, t, known, NULL) != 0) continue;
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(s->y[i] / known[i] - 1.0));
        say("%12g %16.8e %16.8e %16.8e   %.1e\n", t, s->y[0], s->y[1], s->y[2], worst);
    }
    return CLI_OK;
}

static int draw(session *s)
{
    const report_plot_options plot = {
        .title = s->m->title, .layout = REPORT_LAYOUT_STACKED, .log_time = true};
    const grid g = {.kind = GRID_LOG, .t0 = s->m->t0, .tend = 4e10, .first = 1e-5, .count = 321};
    report_error error = {0};
    recorder rows;
    int code = recorder_open(&rows, s, NULL, true, NULL);
    if (code == CLI_OK) code = session_integrate(s, &g, &rows);
    if (code == CLI_OK && report_plot(plot_file, rows.series, &plot, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    recorder_close(&rows);
    return code;
}

static int demo(session *s)
{
    double tolerances[3];
    dae_options options = dae_options_default();
    for (int i = 0; i < 3; i++) tolerances[i] = demo_atol * s->m->atol_factor[i];
    options.rtol = demo_rtol;
    options.init = DAE_INIT_NONE; /* the model's start values are consistent */
    options.atol_by_unknown = tolerances;
    int code = session_open_builtin(s);
    if (code == CLI_OK) code = session_record(s, "all", false);
    if (code == CLI_OK) code = session_prepare(s, &options);
    if (code != CLI_OK) return code;
    say("%s: y1' = -0.04 y1 + 1e4 y2 y3, y2' = 0.04 y1 - 1e4 y2 y3 - 3e7 y2^2,\n"
        "0 = y1 + y2 + y3 - 1, from (1, 0, 0), at relative tolerance %g\n\n",
        s->m->title, demo_rtol);
    code = print_known(s);
    if (code != CLI_OK) return code;
    const dae_stats *c = dae_solver_stats(s->solver);
    say("\n%ld steps, %ld residuals, %ld Jacobians, %ld factorisations\n", c->steps, c->residuals,
        c->jacobians, c->factorisations);
    code = draw(s);
    if (code == CLI_OK)
        say("The picture is in %s. Go on with 'daedal models' and 'daedal help run'.\n", plot_file);
    return code;
}

static int run(int argc, char **argv)
{
    session s = {0};
    int code = no_arguments(&demo_command, argc, argv);
    if (code != CLI_OK) return code;
    s.m = open_model("robertson", 0);
    code = s.m ? demo(&s) : CLI_FAILED;
    session_close(&s);
    return code;
}

const command demo_command = {
    .name = "demo",
    .summary = "solve a first problem: a table on the screen and a picture",
    .help =
        "usage: daedal demo\n"
        "\n"
        "Solves Robertson's reaction kinetics as a DAE from t = 0 to 4e10, prints the solution\n"
        "at times where it is known with the error, and draws it into daedal-demo.svg in the\n"
        "current directory.\n",
    .run = run,
};
