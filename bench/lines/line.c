/* The problems of the lines. */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

const char *const line_names[] = {
    "akzo",       "transamp",  "pendulum",        "andrews",         "caraxis",
    "hires",      "robertson", "ringmod",         "pendulumwall",    "rectifier",
    "thermostat", "relays",    "brusselator:500", "brusselator:5000"};
const int line_count = sizeof line_names / sizeof *line_names;

static bool is_mechanism(const char *name)
{
    return !strcmp(name, "pendulum") || !strcmp(name, "andrews") || !strcmp(name, "caraxis");
}

/* RADAU with the narrow band at a tolerance far below those that are measured; IDA confirms it */
static void find_reference(entry *e)
{
    const size_t n = (size_t)e->model->form.n;
    const double tight = 1e-13, check = 1e-9;
    double *atol = bench_space(n, sizeof *atol), *y = bench_space(n, sizeof *y);
    e->model->reference = bench_space(n, sizeof *y);
    run out = {.y = e->model->reference};
    for (size_t i = 0; i < n; i++) atol[i] = tight;
    for (int c = 0; c < radau_code_count; c++)
        if (!strcmp(radau_codes[c].name, "RADAU"))
            radau_codes[c].solve(&radau_codes[c], e, &(task){e->model, tight, atol, NULL}, &out);
    for (size_t i = 0; i < n; i++) atol[i] = check;
    out.y = y;
    peer_ida.solve(&(task){e->model, check, atol, NULL}, &out);
    fprintf(stderr, "%s, n = %d: RADAU at %g and IDA at %g agree to %.1f digits\n", e->name,
            e->model->form.n, tight, check, bench_digits(e->compared, y, e->model->reference, 0));
    free(atol), free(y);
}

static void take_entry(line *l, const char *name)
{
    char base[32];
    const char *colon = strchr(name, ':');
    snprintf(base, sizeof base, "%.*s%s", colon ? (int)(colon - name) : 30, name,
             is_mechanism(name) ? "1" : "");
    l->e = entry_new(base, colon ? atoi(colon + 1) : 0);
    if (!l->e) return;
    if (!l->e->model->reference) find_reference(l->e);
    l->file = l->e->file, l->set = l->e->set, l->tend = l->e->model->tend;
    l->compared = l->e->compared, l->each = l->e->each, l->reference = l->e->model->reference;
    if (!is_mechanism(name)) return;
    base[strlen(base) - 1] = '2';
    l->second = entry_new(base, 0);
}

static void take_hybrid(line *l, const char *name)
{
    event_problem *p = l->hybrid = event_problem_new(name);
    if (!p) return;
    l->file = p->file, l->set = p->set, l->tend = p->tend;
    l->compared = p->compared, l->reference = p->reference;
}

dae_problem *line_translate(const line *l, dae_engine engine)
{
    char path[1024];
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, l->file);
    dae_model text = {
        .file = path, .engine = engine, .assignments = &l->set, .assignment_count = l->set[0] != 0};
    if (dae_problem_from_model(&text, &problem, &diag) != DAE_OK)
        fprintf(stderr, "%s: %s\n", l->name, diag.text);
    return problem;
}

static int find_in_text(const line *l, int i)
{
    char name[64];
    if (l->hybrid) return dae_problem_find_variable(l->tape, l->hybrid->variable(i, name));
    return entry_find_in_text(l->tape, l->e, i);
}

/* Translated for both engines, compared values found; false: something is not there */
static bool translate(line *l)
{
    l->native = line_translate(l, DAE_ENGINE_NATIVE), l->tape = line_translate(l, DAE_ENGINE_TAPE);
    l->position = bench_space((size_t)l->compared, sizeof *l->position);
    if (!l->native || !l->tape) return false;
    l->unknowns = dae_problem_size(l->tape);
    for (int i = 0; i < l->compared; i++)
        if ((l->position[i] = find_in_text(l, i)) < 0)
            return fprintf(stderr, "%s: the text has no value %d\n", l->name, i), false;
    return true;
}

line *line_new(const char *name)
{
    line *l = bench_space(1, sizeof *l);
    snprintf(l->name, sizeof l->name, "%s", name);
    take_hybrid(l, name);
    if (!l->hybrid) take_entry(l, name);
    const bool large = !strncmp(name, "brusselator", 11) || !strcmp(name, "relays");
    l->hard = !strcmp(name, "relays");
    l->most = l->hard ? 5 : !strcmp(name, "ringmod") ? 8 : 12; /* of ringmod 9 are known */
    l->patience = large ? 10.0 : !strcmp(name, "ringmod") ? 4.0 : 0.5;
    if ((l->e || l->hybrid) && translate(l)) return l;
    line_free(l);
    return NULL;
}

void line_free(line *l)
{
    if (!l) return;
    dae_problem_free(l->native), dae_problem_free(l->tape);
    entry_free(l->e), entry_free(l->second), event_problem_free(l->hybrid);
    free(l->position), free(l);
}
