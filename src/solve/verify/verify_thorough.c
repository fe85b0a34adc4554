/* The same model in other words has the same solution: renamed, in another order, in other units,
 * split by aliases, and from other guesses. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_parts.h"
#include "solve/verify/verify_spelling.h"

/* Guesses of algebraic variables are moved by this part of their size. */
static const double MOVE = 0.01;

/* One way of saying it. */
typedef struct variant {
    const variant_plan *plan;
    dae_problem *problem;
    int *place;            /* per variable of the run: that of the variant */
    double *factor;        /* and what its value is multiplied by */
    const spelling *words; /* NULL: the same text */
    bool scaled;
} variant;

static void variant_free(variant *x)
{
    dae_problem_free(x->problem);
    dae_free_all(x->place, x->factor);
}

/* name with the suffix of its component, if that is called otherwise */
static const char *name_in(const variant *x, const char *name, char *text, size_t size, bool *other)
{
    size_t length = strcspn(name, ".[");
    char component[256];
    *other = false;
    if (!x->words || length >= sizeof component) return name;
    memcpy(component, name, length);
    component[length] = '\0';
    if (!spelling_changed(x->words, component)) return name;
    *other = true;
    snprintf(text, size, "%s%s%s", component, SPELL_SUFFIX, name + length);
    return text;
}

/* Where the variables of the run are; false: some is missing */
static bool find_places(variant *x)
{
    int n = dae_problem_variable_count(x->plan->problem);
    char text[1024];
    for (int i = 0; i < n; i++) {
        bool other;
        const char *name = dae_problem_variable(x->plan->problem, i);
        x->place[i] =
            dae_problem_find_variable(x->problem, name_in(x, name, text, sizeof text, &other));
        x->factor[i] = other && x->scaled ? SPELL_FACTOR : 1.0;
        if (x->place[i] < 0) return false;
    }
    return true;
}

/* What was set after the translation of the run's problem is set here, too. */
static bool copy_settings(variant *x)
{
    const dae_problem *p = x->plan->problem;
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        if (p->model->parameter_set[i] &&
            dae_problem_set_parameter(x->problem, dae_problem_parameter(p, i),
                                      dae_problem_parameter_value(p, i), NULL) != DAE_OK)
            return false;
    for (int i = 0; i < dae_problem_variable_count(p); i++) {
        double start = p->model->start[p->model->visible[i]];
        if (isnan(start)) continue;
        const char *name = dae_problem_variable(x->problem, x->place[i]);
        if (dae_problem_set_start(x->problem, name, start / x->factor[i], NULL) != DAE_OK)
            return false;
    }
    return true;
}

/* Other guesses for the start of what no derivative is asked of. */
static void move_guesses(variant *x)
{
    const model_form *f = x->problem->model;
    for (int i = 0; i < dae_problem_variable_count(x->problem); i++) {
        dae_variable_info info = dae_problem_variable_info(x->problem, i);
        const flat_variable *v = &f->flat->variables[f->visible[i]];
        bool guess = info.type == DAE_TYPE_REAL && !info.state && !info.discrete && !info.input &&
                     !v->fixed && v->start != EXPR_NONE;
        double start = guess ? model_form_constant(f, v->start) : (double)NAN;
        if (!isnan(f->start[f->visible[i]])) start = f->start[f->visible[i]];
        if (guess && isfinite(start))
            (void)dae_problem_set_start(x->problem, dae_problem_variable(x->problem, i),
                                        start * (1.0 + MOVE), NULL);
    }
}

/* The columns of the run's variables, in its units; false: memory */
static bool order_columns(const variant *x, trail *rows)
{
    size_t n = (size_t)x->plan->run->n, m = (size_t)rows->n, count = (size_t)rows->count;
    double *values = DAE_ARRAY(double, n *count + 1);
    for (size_t r = 0; values && r < count; r++)
        for (size_t i = 0; i < n; i++)
            values[r * n + i] = x->factor[i] * rows->values[r * m + (size_t)x->place[i]];
    if (!values) return false;
    dae_free(rows->values);
    rows->values = values;
    rows->n = (int)n;
    if (rows->event_count != x->plan->run->event_count) return true;
    for (int k = 0; k < rows->event_count; k++) { /* relations have other numbers */
        rows->event[k].cause = x->plan->run->event[k].cause;
        rows->event[k].index = x->plan->run->event[k].index;
    }
    return true;
}

/* The tolerances of both: the absolute one of a variable in other units is that of these. */
static bool scale_tolerances(const variant *x, tolerances *w)
{
    int n = x->plan->run->n;
    w->rtol = dae_copy(x->plan->tolerance->rtol, 2 * (size_t)n, sizeof(double));
    if (!w->rtol) return false;
    w->atol = w->rtol + n;
    for (int i = 0; i < n; i++) w->atol[i] *= x->factor[i];
    return true;
}

/* Where both differ most. */
static bool compare_with_run(const variant *x, trail *rows, dae_verify_variant *found)
{
    const variant_plan *p = x->plan;
    comparison c;
    trail *run = p->run;
    tolerances w;
    double span = p->request->tend - p->request->t0;
    if (!order_columns(x, rows) || !scale_tolerances(x, &w)) return false;
    yardstick by = {&w, {run, NULL}, span, p->limit};
    trail_pair_events(run, rows, &by);
    bool ok = comparison_new(&c, run, rows, &by);
    tolerances_free(&w);
    if (!ok) return false;
    if (c.variable >= 0) {
        size_t n = (size_t)run->n, i = (size_t)c.variable;
        found->tolerances = c.worst;
        found->variable = dae_problem_variable(p->problem, c.variable);
        found->t = run->t[c.row[i]];
        found->run = run->values[(size_t)c.row[i] * n + i];
        found->other = rows->values[(size_t)c.other[i] * n + i];
    }
    comparison_free(&c);
    return true;
}

static void tell(const variant_plan *p, dae_verify_variant *found, const char *text)
{
    found->text = arena_text(p->texts, text, strlen(text));
}

static bool came_as_far(const variant_plan *p, const trail *rows)
{
    double sign = p->request->tend < p->request->t0 ? -1.0 : 1.0;
    if (p->run->count == 0 || rows->run.status >= 0) return true;
    return rows->count > 0 && (rows->t[rows->count - 1] - p->run->t[p->run->count - 1]) * sign >= 0;
}

static bool solve_variant(const variant *x, dae_verify_variant *found)
{
    const variant_plan *p = x->plan;
    dae_diag diag = {0};
    trail rows = {0};
    dae_verify_request request = *p->request;
    request.y0 = request.yp0 = NULL;
    trail_plan aim = {.problem = x->problem,
                      .request = &request,
                      .times = p->run->t,
                      .count = p->run->count,
                      .most_steps = 10000 + 20 * p->run->run.steps};
    dae_status status = trail_run(&rows, &aim, p->options, &diag);
    bool ok = status != DAE_ERR_MEMORY && status != DAE_ERR_INTERRUPTED &&
              rows.run.status != DAE_ERR_INTERRUPTED;
    if (ok && status != DAE_OK)
        tell(p, found, diag.text);
    else if (ok && !came_as_far(p, &rows))
        tell(p, found, rows.run.text);
    if (ok && rows.count > 0) ok = compare_with_run(x, &rows, found);
    trail_free(&rows);
    return ok;
}

/* words NULL: the same text, other guesses */
static bool try_variant(const variant_plan *p, const spelling *words, const char *text,
                        size_t length, dae_verify_variant *found)
{
    dae_model m = *p->problem->source;
    dae_diag diag = {0};
    size_t n = (size_t)dae_problem_variable_count(p->problem);
    variant x = {.plan = p, .words = words, .scaled = strcmp(found->name, "scaled") == 0};
    if (text) m.text = text, m.length = length;
    dae_status status = dae_problem_from_model(&m, &x.problem, &diag);
    x.place = DAE_ARRAY(int, n + 1);
    x.factor = DAE_ARRAY(double, n + 1);
    bool ok = status != DAE_ERR_MEMORY && x.place && x.factor;
    if (ok && status != DAE_OK) tell(p, found, diag.text);
    if (ok && status == DAE_OK) {
        bool known = find_places(&x) && copy_settings(&x);
        if (!known) tell(p, found, "its variables cannot be found");
        if (known && !words) move_guesses(&x);
        if (known) ok = solve_variant(&x, found);
    }
    variant_free(&x);
    return ok;
}

bool variants_find(const variant_plan *aim, dae_verify_variant *list, int *count)
{
    static const char *const names[] = {"renamed", "permuted", "scaled", "split"};
    const dae_model *m = aim->problem->source;
    spelling *words;
    bool ok = spelling_new(m->text, m->length, &words);
    *count = 0;
    for (int k = 0; ok && words && k < (int)(sizeof names / sizeof *names); k++) {
        const char *text;
        size_t length = 0;
        ok = spelling_make(words, (spelling_kind)k, &text, &length);
        if (!ok || !text) continue;
        list[*count] = (dae_verify_variant){.name = names[k], .text = "", .tolerances = NAN};
        ok = try_variant(aim, words, text, length, &list[(*count)++]);
    }
    if (ok) {
        list[*count] = (dae_verify_variant){.name = "other guesses", .text = "", .tolerances = NAN};
        ok = try_variant(aim, NULL, NULL, 0, &list[(*count)++]);
    }
    spelling_free(words);
    return ok;
}
