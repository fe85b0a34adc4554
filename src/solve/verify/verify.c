/* An independent judge of a result: the same problem by another family of methods, with tighter
 * tolerances. docs/verify.md tells what it sees, and what it cannot see. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "expr/print.h"
#include "model/model_structure.h"
#include "solve/verify/verify_parts.h"

/* LEAST_ROWS: so many within each window over which sizes are taken, ten. */
enum { DEFAULT_ROWS = 501, LEAST_ROWS = 200, MOST_EVENTS = 10000, NAME = 200 };
/* Tolerances that a variable may be off by, and the part of its size that these may make: what is
 * off by more has not one right digit. */
static const double DEFAULT_LIMIT = 100.0, MOST_PART = 0.1;
/* The judge's tolerances against those of the run, and what doubles can deliver. */
#define TIGHTER 0.01
#define LESS_TIGHT 0.1
static const double FINEST = 1e-13;
/* A judge that takes more attempts than this, and so many for each of the run, is given up; so is
 * one that comes less far than its attempts, after as many as a stiff beginning may take. */
static const long MOST_ATTEMPTS = 50000, PER_ATTEMPT = 300, FIRST_ATTEMPTS = 2000, PER_FIRST = 20;
/* The same of evaluations. */
static const long MOST_EVALUATIONS = 300000, PER_EVALUATION = 30;

/* Judges in the order in which they are asked: the most accurate ones for equations of any form
 * first. One of a family that the run used is no judge of it. */
static const char *const judge_methods[] = {"radau", "bdf", "taylor", "rodas", "liex", "dopri:8"};
enum { JUDGES = sizeof judge_methods / sizeof *judge_methods };

/* The report that the caller sees, and behind it what it points to. */
typedef struct record {
    dae_verify_report r; /* first: the caller's pointer is this one's */
    arena *texts;
} record;

/* Everything at hand while a verdict is sought. */
typedef struct trial {
    const dae_problem *problem;
    dae_options full; /* the same with every field */
    const dae_verify_request *request;
    record *record;
    double *times;
    double *judged; /* those of the rows of judges: of the run, and between them */
    int judged_count;
    tolerances tolerance;
    inspector *inspector;
    reader *reader;
    trail run, judge, second; /* second: another judge, where the first one and the run differ */
    comparison apart;         /* run and judge */
    int asked;                /* judges so far */
    unsigned tried;           /* bits of judge_methods */
    bool strict;              /* judges are held against the text, too */
    bool fine; /* the last one has not said that rounding is larger than its tolerances; */
    bool all;  /* others are asked in any case */
} trial;

void dae_verify_report_free(dae_verify_report *report)
{
    record *r = (record *)report;
    if (!r) return;
    arena_free(r->texts);
    dae_free(r);
}

static void *room(trial *x, int count, size_t size)
{
    return arena_alloc(x->record->texts, (size_t)count * size + 1);
}

static const char *keep(trial *x, const char *text)
{
    return arena_text(x->record->texts, text, strlen(text));
}

static dae_status exhausted(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the verification.");
}

/* ---- the judge's options ---- */

/* values * factor; NULL stays NULL; false: memory */
static bool scaled(trial *x, const double **values, double factor)
{
    int n = x->problem->form.n;
    if (!*values) return true;
    double *copy = room(x, n, sizeof *copy);
    for (int i = 0; copy && i < n; i++) copy[i] = factor * (*values)[i];
    *values = copy;
    return copy;
}

/* What belongs to the problem is the run's; what belongs to the method is the default. */
static bool judge_options(trial *x, const char *name, double tighter, dae_options *o)
{
    const dae_options *u = &x->full;
    double factor = u->rtol > 0.0 ? fmin(1.0, fmax(tighter, FINEST / u->rtol)) : tighter;
    *o = dae_options_default();
    o->method = name;
    o->rtol = factor * u->rtol;
    o->atol = factor * u->atol;
    o->rtol_by_unknown = u->rtol_by_unknown;
    o->atol_by_unknown = u->atol_by_unknown;
    o->stop_time = u->stop_time;
    o->max_step = u->max_step;
    o->init = u->init;
    o->y_tags = u->y_tags;
    o->yp_tags = u->yp_tags;
    o->init_iterations = u->init_iterations;
    o->linear_solver = u->linear_solver == DAE_LINEAR_GMRES ? u->linear_solver : DAE_LINEAR_AUTO;
    o->interrupt = u->interrupt;
    o->user = u->user;
    o->invariant_count = u->invariant_count;
    o->invariant_function = u->invariant_function;
    o->invariants = u->invariants;
    o->watch_invariants = true;
    const formulation *f = formulation_find(u->formulation, NULL);
    if (f && f->as_given && !x->problem->model) o->formulation = f->name;
    return scaled(x, &o->rtol_by_unknown, factor) && scaled(x, &o->atol_by_unknown, factor);
}

/* ---- runs ---- */

static dae_status check_request(const trial *x, dae_diag *diag)
{
    const dae_verify_request *q = x->request;
    if (!isfinite(q->t0) || !isfinite(q->tend))
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: t0 and tend must be finite.");
    if (q->rows < 0 || q->rows == 1 || (q->times && q->rows < 1))
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: %d rows are too few.", q->rows);
    if (q->values && !q->times)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: values need their times.");
    if (!(q->limit >= 0.0))
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: the limit is %g.", q->limit);
    double sign = q->tend < q->t0 ? -1.0 : 1.0, last = q->t0;
    for (int k = 0; q->times && k < q->rows; k++) {
        double t = q->times[k];
        if (!((t - last) * sign >= 0.0) || !((q->tend - t) * sign >= 0.0))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "dae_verify: times[%d] = %g is out of order, or not within %g .. %g.",
                            k, t, q->t0, q->tend);
        last = t;
    }
    return DAE_OK;
}

/* The output times of the run. */
static bool make_times(trial *x)
{
    const dae_verify_request *q = x->request;
    int rows = q->rows ? q->rows : DEFAULT_ROWS;
    x->times =
        q->times ? dae_copy(q->times, (size_t)rows, sizeof(double)) : DAE_ARRAY(double, rows);
    for (int k = 0; x->times && !q->times && k < rows; k++)
        x->times[k] =
            k == rows - 1 ? q->tend : q->t0 + (q->tend - q->t0) * (double)k / (double)(rows - 1);
    return x->times;
}

/* How many tolerances are fine. */
static double find_limit(const trial *x)
{
    int n = dae_problem_variable_count(x->problem);
    double rtol = 0.0;
    if (x->request->limit > 0.0) return x->request->limit;
    for (int i = 0; i < n; i++) rtol = fmax(rtol, x->tolerance.rtol[i]);
    return rtol > 0.0 ? fmax(1.0, fmin(DEFAULT_LIMIT, MOST_PART / rtol)) : DEFAULT_LIMIT;
}

/* What reads the text, or the callbacks. */
static bool find_reader(const trial *x, reader **found)
{
    const dae_problem *p = x->problem;
    const dae_verify_request *q = x->request;
    double span = q->tend - q->t0, limit = x->record->r.limit;
    *found = NULL;
    if (p->model && p->source)
        *found = reader_of_text(p, &x->tolerance, q->t0, span, limit);
    else if (!p->model)
        *found = reader_of_callbacks(p, &x->tolerance, span, limit);
    return *found || (p->model && !p->source);
}

/* The run that is to be judged. */
static dae_status run_first(trial *x, dae_diag *diag)
{
    const dae_verify_request *q = x->request;
    if (!find_reader(x, &x->reader)) return exhausted(diag);
    if (q->values) {
        if (!trail_given(&x->run, x->problem, q)) return exhausted(diag);
        if (x->reader && !reader_rows(x->reader, &x->run)) return exhausted(diag);
        x->run.run.rtol = x->full.rtol;
        x->run.run.atol = x->full.atol;
        x->run.drift = DAE_ARRAY(double, x->full.invariant_count);
        x->run.origin = DAE_ARRAY(double, x->full.invariant_count);
        return x->run.drift && x->run.origin ? DAE_OK : exhausted(diag);
    }
    x->inspector = inspector_new(x->problem, &x->full);
    if (!x->inspector) return exhausted(diag);
    trail_plan aim = {.problem = x->problem,
                      .request = q,
                      .times = x->times,
                      .count = q->rows ? q->rows : DEFAULT_ROWS,
                      .event_rows = true,
                      .most_steps = x->full.max_steps,
                      .inspector = x->inspector,
                      .reader = x->reader};
    return trail_run(&x->run, &aim, &x->full, diag);
}

/* Judges have rows between those of a run that has few: sizes of variables are theirs. */
static bool find_judged(trial *x)
{
    const trail *run = &x->run;
    int count = run->count;
    double from = count > 0 ? run->t[0] : 0.0, to = count > 0 ? run->t[count - 1] : 0.0;
    double sign = to < from ? -1.0 : 1.0;
    dae_free(x->judged);
    x->judged = DAE_ARRAY(double, (size_t)count + LEAST_ROWS);
    x->judged_count = 0;
    if (!x->judged) return false;
    for (int r = 0, k = 1; r < count; r++) {
        for (; count < LEAST_ROWS && k < LEAST_ROWS; k++) {
            double t = from + (to - from) * k / LEAST_ROWS;
            if (!((run->t[r] - t) * sign > 0.0)) break;
            x->judged[x->judged_count++] = t;
        }
        x->judged[x->judged_count++] = run->t[r];
    }
    return true;
}

/* A judge whose own result is not what the equations say is none: it came nowhere. */
static void refuse_judge(trail *judge, const reader *by)
{
    int count;
    const dae_verify_fault *fault = reader_faults(by, &count);
    if (count == 0) return;
    judge->run.status = DAE_ERR_CONVERGENCE;
    snprintf(judge->run.text, sizeof judge->run.text, "its own result is not right: %.900s",
             fault[0].what);
    judge->count = 0;
}

/* Ask one judge. DAE_OK: it came some way, as far as trail->run tells. */
static dae_status ask(trial *x, trail *judge, const char *name, double tighter, dae_diag *diag)
{
    dae_options options;
    trail_plan aim = {.problem = x->problem,
                      .request = x->request,
                      .times = x->judged,
                      .count = x->judged_count,
                      .most_steps = MOST_ATTEMPTS + PER_ATTEMPT * x->run.run.steps,
                      .first_steps = FIRST_ATTEMPTS + PER_FIRST * x->run.run.steps,
                      .most_evaluations =
                          MOST_EVALUATIONS + PER_EVALUATION * x->run.run.evaluations};
    dae_verify_report *r = &x->record->r;
    if (method_find(name)->long_steps) { /* unless it is stiff */
        aim.most_steps /= 10;
        aim.first_steps /= 10;
    }
    trail_free(judge);
    if (!judge_options(x, name, tighter, &options)) return exhausted(diag);
    aim.looser = x->full.rtol > 0.0 ? x->full.rtol / options.rtol : 1.0 / tighter;
    if (x->strict && !find_reader(x, &aim.reader)) return exhausted(diag);
    double finest = aim.reader ? reader_finest(aim.reader) : (double)INFINITY;
    if (isfinite(finest) && !(options.max_step > 0.0 && options.max_step < finest))
        options.max_step = finest;
    dae_status status = trail_run(judge, &aim, &options, diag);
    if (status == DAE_OK && aim.reader) refuse_judge(judge, aim.reader);
    reader_free(aim.reader);
    if (status == DAE_ERR_MEMORY || status == DAE_ERR_INTERRUPTED) return status;
    if (judge->run.status == DAE_ERR_INTERRUPTED) return DAE_ERR_INTERRUPTED;
    if (status != DAE_OK) {
        judge->run = (dae_verify_run){name, options.rtol, options.atol, status, NAN, 0, 0, 0, ""};
        if (diag) snprintf(judge->run.text, sizeof judge->run.text, "%s", diag->text);
    }
    if (r->judge_count == DAE_MOST_JUDGES) r->judge_count--; /* the last one is heard */
    r->judges[r->judge_count++] = judge->run;
    x->fine = judge->run.status != DAE_ERR_TOLERANCE;
    x->asked++;
    return DAE_OK;
}

/* How far its rows go: its last step, which may have failed beyond them, tells nothing. */
static double last_row(const trail *judge)
{
    return judge->t[judge->count - 1];
}

/* Whether a judge came as far as the run. */
static bool went_far_enough(const trial *x, const trail *judge)
{
    double sign = x->request->tend < x->request->t0 ? -1.0 : 1.0;
    double reach = x->run.count > 0 ? x->run.t[x->run.count - 1] : x->request->t0;
    bool ended = judge->run.status == DAE_OK; /* by the model itself */
    return judge->count > 0 && (ended || (last_row(judge) - reach) * sign >= 0.0);
}

/* The next method that is of none of these families; NULL: there is none */
static const char *next_judge(trial *x, unsigned families)
{
    for (int k = 0; k < JUDGES; k++) {
        if (x->tried & 1u << k || method_kin(judge_methods[k]) & families) continue;
        x->tried |= 1u << k;
        return judge_methods[k];
    }
    return NULL;
}

static void swap_trails(trail *a, trail *b)
{
    trail keep_a = *a;
    *a = *b;
    *b = keep_a;
}

/* Ask judges one after the other until one comes as far as the run; x->judge is the one that came
 * furthest. */
static dae_status ask_all(trial *x, unsigned families, double tighter, dae_diag *diag)
{
    const char *given = x->request->judge, *name = given ? given : next_judge(x, families);
    double sign = x->request->tend < x->request->t0 ? -1.0 : 1.0;
    trail next = {0};
    dae_status status = DAE_OK;
    while (name && status == DAE_OK && !went_far_enough(x, &x->judge)) {
        status = ask(x, &next, name, tighter, diag);
        bool further = x->judge.count == 0 ||
                       (next.count > 0 && (last_row(&next) - last_row(&x->judge)) * sign > 0.0);
        if (status == DAE_OK && further) swap_trails(&x->judge, &next);
        name = given || (!x->fine && !x->all) ? NULL : next_judge(x, families);
    }
    trail_free(&next);
    return status;
}

/* With tolerances that no method can meet nobody gets far: then a tenth of the run's will do, or
 * the same. Where one judge says so, others need not try as tight ones, but as the last resort. */
static dae_status find_judge(trial *x, unsigned families, dae_diag *diag)
{
    static const double tighter[] = {TIGHTER, LESS_TIGHT, 1.0};
    dae_status status = DAE_OK;
    bool cut = false;
    x->all = false;
    for (int k = 0; status == DAE_OK && k < 3; k++) {
        x->tried = 0;
        x->fine = true;
        status = ask_all(x, families, tighter[k], diag);
        if ((x->fine && x->judge.count == 0) || went_far_enough(x, &x->judge)) break;
        cut = cut || !x->fine;
        if (k < 2 || !cut || x->all) continue;
        x->all = true;
        k = -1;
    }
    return status;
}

/* ---- the verdict ---- */

static double span_of(const trial *x)
{
    return x->request->tend - x->request->t0;
}

static yardstick yardstick_of(const trial *x)
{
    return (yardstick){&x->tolerance, {&x->run, &x->judge}, span_of(x), x->record->r.limit};
}

static void pair_with_judge(trial *x)
{
    yardstick by = yardstick_of(x);
    trail_pair_events(&x->run, &x->judge, &by);
}

static bool compare(trial *x, trail *a, trail *b, comparison *c)
{
    yardstick by = yardstick_of(x);
    trail_pair_events(a, b, &by);
    return comparison_new(c, a, b, &by);
}

static const char *variable_name(const trial *x, int i)
{
    return i >= 0 ? dae_problem_variable(x->problem, i) : "?";
}

static void say_good(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const comparison *c = &x->apart;
    char reach[64] = "Good";
    if (x->run.run.status < 0)
        snprintf(reach, sizeof reach, "As far as the run came, t = %g", x->run.run.end);
    r->verdict = DAE_VERDICT_GOOD;
    if (c->variable < 0)
        snprintf(r->text, sizeof r->text, "%s: there is no variable to compare.", reach);
    else
        snprintf(r->text, sizeof r->text,
                 "%s: every variable is within %.3g tolerances (%s, at t = %g).", reach, c->worst,
                 variable_name(x, c->variable), x->run.t[c->row[c->variable]]);
}

/* The judges part at `parted`, later than the run does; NAN: never */
static void say_off(trial *x, double parted)
{
    dae_verify_report *r = &x->record->r;
    const comparison *c = &x->apart;
    int i = c->variable;
    size_t n = (size_t)x->run.n;
    r->verdict = DAE_VERDICT_OFF;
    snprintf(r->text, sizeof r->text,
             "Off: %s is wrong by %.3g tolerances at t = %g: the run says %.9g, the judge (%s) "
             "%.9g. The first variable leaves %g tolerances at t = %g.",
             variable_name(x, i), c->worst, x->run.t[c->row[i]],
             x->run.values[(size_t)c->row[i] * n + (size_t)i], x->judge.run.method,
             x->judge.values[(size_t)c->other[i] * n + (size_t)i], r->limit, c->parted);
    if (isnan(parted)) return;
    size_t used = strlen(r->text);
    r->trusted_until = parted;
    snprintf(r->text + used, sizeof r->text - used,
             " From t = %g on the judges differ from each other, too: the solution magnifies small "
             "differences (chaos, instability, or a choice between branches). Tighter tolerances "
             "move these times, and cannot remove them.",
             parted);
}

/* No judge came as far as the run. */
static void say_unreached(trial *x)
{
    dae_verify_report *r = &x->record->r;
    bool some = x->judge.count > 0;
    r->verdict = DAE_VERDICT_UNKNOWN;
    r->trusted_until = some ? x->judge.run.end : x->request->t0;
    if (x->asked == 0)
        snprintf(r->text, sizeof r->text,
                 "Could not be verified: no method of another family takes this problem.");
    else
        snprintf(r->text, sizeof r->text,
                 "Could not be verified beyond t = %g: %d %s, the last one (%s) says: %.600s",
                 r->trusted_until, x->asked, x->asked == 1 ? "judge failed" : "judges failed",
                 r->judges[r->judge_count - 1].method, r->judges[r->judge_count - 1].text);
}

/* Judges disagree with each other before the run disagrees with either. */
static void say_parted(trial *x, double t, const char *other)
{
    dae_verify_report *r = &x->record->r;
    const comparison *c = &x->apart;
    r->verdict = DAE_VERDICT_UNKNOWN;
    r->trusted_until = t;
    snprintf(r->text, sizeof r->text,
             "Could not be verified beyond t = %g: from there on the judges (%s and %s, with "
             "tolerances a hundredth of the run's) differ from each other, too. The solution "
             "magnifies small differences (chaos, instability, or a choice between branches): "
             "no method can follow it further at this tolerance. Run and judge differ by %.3g "
             "tolerances (%s).",
             t, x->judge.run.method, other, c->worst, variable_name(x, c->variable));
}

/* Whether the second judge came to where run and judge differ. */
static bool can_decide(const trial *x)
{
    double sign = x->request->tend < x->request->t0 ? -1.0 : 1.0;
    int count = x->second.count;
    return count > 0 && (x->second.t[count - 1] - x->apart.parted) * sign >= 0.0;
}

/* Another judge in x->second: of a third family, or the first one with tolerances tighter again. */
static dae_status find_second(trial *x, unsigned families, dae_diag *diag)
{
    unsigned both = families | method_kin(x->judge.run.method);
    dae_status status = DAE_OK;
    const char *name = x->request->judge ? NULL : next_judge(x, both);
    while (name && status == DAE_OK) {
        status = ask(x, &x->second, name, TIGHTER, diag);
        if (status == DAE_OK && can_decide(x)) return DAE_OK;
        name = next_judge(x, both);
    }
    if (status == DAE_OK) status = ask(x, &x->second, x->judge.run.method, 0.1 * TIGHTER, diag);
    return status;
}

/* The second judge takes the place of the first one, who was wrong. */
static bool replace_judge(trial *x)
{
    dae_verify_report *r = &x->record->r;
    dae_verify_run last = r->judges[r->judge_count - 1];
    r->judges[r->judge_count - 1] = r->judges[0];
    r->judges[0] = last;
    swap_trails(&x->judge, &x->second);
    comparison_free(&x->apart);
    return compare(x, &x->run, &x->judge, &x->apart);
}

/* Run and judge differ, and no second judge comes as far as that. */
static void say_undecided(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const comparison *c = &x->apart;
    r->verdict = DAE_VERDICT_UNKNOWN;
    r->trusted_until = c->parted;
    snprintf(
        r->text, sizeof r->text,
        "Could not be verified beyond t = %g: there run and judge (%s) begin to differ by more "
        "than %g tolerances, in the end by %.3g (%s), and no other judge comes as far to tell "
        "who is right.",
        c->parted, x->judge.run.method, r->limit, c->worst, variable_name(x, c->variable));
}

/* Run and judge differ: who is right? A second judge tells. */
static dae_status settle(trial *x, unsigned families, dae_diag *diag)
{
    comparison judges = {0}, with_run = {0};
    dae_status status = find_second(x, families, diag);
    if (status != DAE_OK) return status;
    if (!can_decide(x)) {
        say_undecided(x);
        return DAE_OK;
    }
    bool ok =
        compare(x, &x->run, &x->second, &with_run) && compare(x, &x->judge, &x->second, &judges);
    double sign = span_of(x) < 0.0 ? -1.0 : 1.0;
    bool later = ok && (judges.parted - x->apart.parted) * sign > 0.0;
    bool agree = ok && isnan(judges.parted);
    if (ok && isnan(with_run.parted) && went_far_enough(x, &x->second)) {
        ok = replace_judge(x);
        if (ok) say_good(x);
    } else if (agree || later) {
        say_off(x, judges.parted);
    } else if (ok) {
        say_parted(x, judges.parted, x->second.run.method);
    }
    comparison_free(&judges);
    comparison_free(&with_run);
    pair_with_judge(x);
    return ok ? DAE_OK : exhausted(diag);
}

static bool same_run(const dae_verify_run *a, const dae_verify_run *b)
{
    return strcmp(a->method, b->method) == 0 && a->rtol == b->rtol;
}

/* The deciding judge stands first. */
static void order_judges(dae_verify_report *r, const trail *judge)
{
    for (int k = 1; k < r->judge_count; k++)
        if (judge->count > 0 && same_run(&r->judges[k], &judge->run) &&
            !same_run(&r->judges[0], &judge->run)) {
            dae_verify_run first = r->judges[0];
            r->judges[0] = r->judges[k];
            r->judges[k] = first;
        }
}

/* Whether the run is what the equations say, as far as that can be told: then it is the judges'
 * turn to show that they are. */
static bool holds_so_far(const trial *x)
{
    int count = 1;
    if (x->reader) reader_faults(x->reader, &count);
    return count == 0;
}

static dae_status judge(trial *x, dae_diag *diag)
{
    dae_verify_report *r = &x->record->r;
    unsigned families = x->run.families;
    trail_free(&x->judge);
    comparison_free(&x->apart);
    dae_status status = find_judge(x, families, diag);
    if (status != DAE_OK) return status;
    r->trusted_until = x->run.run.end;
    if (x->judge.count == 0) {
        say_unreached(x);
        return DAE_OK;
    }
    order_judges(r, &x->judge);
    if (!compare(x, &x->run, &x->judge, &x->apart)) return exhausted(diag);
    if (!isnan(x->apart.parted) && !x->strict && holds_so_far(x)) {
        x->strict = true;
        return judge(x, diag);
    }
    if (!isnan(x->apart.parted)) return settle(x, families, diag);
    if (went_far_enough(x, &x->judge))
        say_good(x);
    else
        say_unreached(x);
    return DAE_OK;
}

/* The text has a say: what does not hold is wrong, whoever agrees with it, and nothing is good that
 * could not be read. */
static bool hear_text(trial *x)
{
    dae_verify_report *r = &x->record->r;
    if (!x->reader) return true;
    const dae_verify_fault *fault = reader_faults(x->reader, &r->fault_count);
    const dae_verify_gap *gap = reader_gaps(x->reader, &r->gap_count);
    dae_verify_fault *faults = room(x, r->fault_count, sizeof *faults);
    dae_verify_gap *gaps = room(x, r->gap_count, sizeof *gaps);
    if (!faults || !gaps) return false;
    for (int k = 0; k < r->fault_count; k++) {
        faults[k] = fault[k];
        faults[k].what = keep(x, fault[k].what);
    }
    for (int k = 0; k < r->gap_count; k++)
        gaps[k] = (dae_verify_gap){keep(x, gap[k].what), gap[k].line};
    r->faults = faults;
    r->gaps = gaps;
    return true;
}

/* r->text = what was said before and what the text adds; cut where it is too long. */
__attribute__((format(printf, 2, 3))) static void say(dae_verify_report *r, const char *format, ...)
{
    char text[3 * DAE_TEXT_SIZE];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    text[sizeof r->text - 1] = '\0';
    memcpy(r->text, text, sizeof r->text);
}

/* The first variant that differs from the run, or does not come as far; NULL: none */
static const dae_verify_variant *first_other(const dae_verify_report *r)
{
    for (int k = 0; k < r->variant_count; k++)
        if (*r->variants[k].text || r->variants[k].tolerances > r->limit) return &r->variants[k];
    return NULL;
}

/* A run that depends on how its model is written is not to be trusted. */
static void weigh_variants(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const dae_verify_variant *v = first_other(r);
    char others[DAE_TEXT_SIZE];
    snprintf(others, sizeof others, "%s", r->text);
    if (!v || r->verdict != DAE_VERDICT_GOOD) return;
    r->verdict = DAE_VERDICT_UNKNOWN;
    if (*v->text)
        say(r, "Cannot tell: the same model, %s, fails: %s", v->name, v->text);
    else
        say(r,
            "Cannot tell: the same model, %s, differs from the run by %.3g tolerances: %s is %.9g "
            "at t = %g, in the run %.9g. Of other methods: %s",
            v->name, v->tolerances, v->variable, v->other, v->t, v->run, others);
}

/* The same model in other words. */
static bool find_variants(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const dae_problem *p = x->problem;
    bool wanted = x->request->thorough && !x->request->values && x->run.count > 0;
    if (!wanted || !p->model || !p->source) return true;
    dae_verify_variant *list = room(x, MOST_VARIANTS, sizeof *list);
    variant_plan aim = {p,       x->request, &x->full,        &x->tolerance,
                        &x->run, r->limit,   x->record->texts};
    bool ok = list && variants_find(&aim, list, &r->variant_count);
    pair_with_judge(x);
    for (int k = 0; ok && k < r->variant_count; k++)
        list[k].variable = list[k].variable ? keep(x, list[k].variable) : "";
    r->variants = list;
    return ok;
}

static void weigh_text(trial *x)
{
    dae_verify_report *r = &x->record->r;
    int rest = (r->fault_count > 0 ? r->fault_count : r->gap_count) - 1;
    char others[DAE_TEXT_SIZE], more[48] = "";
    snprintf(others, sizeof others, "%s", r->text);
    if (rest > 0) snprintf(more, sizeof more, " (and %d more)", rest);
    if (r->fault_count > 0) {
        bool off = r->verdict == DAE_VERDICT_OFF;
        r->verdict = DAE_VERDICT_OFF;
        say(r, "%s%s%s%s.", off ? others : "Off: ", off ? " Besides, " : "", r->faults[0].what,
            more);
    } else if (r->gap_count > 0 && r->verdict == DAE_VERDICT_GOOD) {
        r->verdict = DAE_VERDICT_UNKNOWN;
        say(r,
            "Cannot tell: the interpreter of the text cannot judge line %d, %s%s. Of what it can, "
            "and of other methods: %s",
            r->gaps[0].line, r->gaps[0].what, more, others);
    }
}

/* ---- the report ---- */

static bool write_variables(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const comparison *c = &x->apart;
    int n = x->run.n;
    dae_verify_variable *v = room(x, n, sizeof *v);
    for (int i = 0; v && i < n; i++) {
        const char *name = dae_problem_variable(x->problem, i);
        v[i] = (dae_verify_variable){.name = keep(x, name ? name : ""),
                                     .rtol = x->tolerance.rtol[i],
                                     .atol = x->tolerance.atol[i],
                                     .tolerances = NAN,
                                     .rms = NAN,
                                     .error = NAN,
                                     .t = NAN,
                                     .run = NAN,
                                     .judge = NAN};
        for (int k = 0; k < x->run.count; k++)
            v[i].largest =
                fmax(v[i].largest, fabs(x->run.values[(size_t)k * (size_t)n + (size_t)i]));
        if (!c->row || c->row[i] < 0) continue;
        v[i].tolerances = c->error[i];
        v[i].rms = c->rms[i];
        v[i].t = x->run.t[c->row[i]];
        v[i].run = x->run.values[(size_t)c->row[i] * (size_t)n + (size_t)i];
        v[i].judge = x->judge.values[(size_t)c->other[i] * (size_t)n + (size_t)i];
        v[i].error = fabs(v[i].run - v[i].judge);
    }
    r->variables = v;
    r->variable_count = n;
    r->worst = c->row ? c->variable : -1;
    return v;
}

static int worse_first(const void *a, const void *b)
{
    double x = ((const finding *)a)->relative, y = ((const finding *)b)->relative;
    return (x < y) - (x > y);
}

static const dae_verify_equation *write_findings(trial *x, const finding *from, int count)
{
    finding *sorted = dae_copy(from, (size_t)count + (count == 0), sizeof *sorted);
    dae_verify_equation *e = room(x, count, sizeof *e);
    if (sorted && count > 0) qsort(sorted, (size_t)count, sizeof *sorted, worse_first);
    for (int i = 0; sorted && e && i < count; i++) {
        const finding *f = &sorted[i];
        e[i] = (dae_verify_equation){.name = keep(x, f->name ? f->name : ""),
                                     .line = f->line,
                                     .level = f->level,
                                     .differential = f->differential,
                                     .residual = f->residual,
                                     .relative = f->relative,
                                     .tolerances = f->differential ? NAN : f->tolerances,
                                     .t = f->t};
    }
    dae_free(sorted);
    return sorted ? e : NULL;
}

static bool write_equations(trial *x)
{
    dae_verify_report *r = &x->record->r;
    int equations = 0, constraints = 0;
    if (!x->inspector) return true;
    const finding *e = inspector_equations(x->inspector, &equations);
    const finding *c = inspector_constraints(x->inspector, &constraints);
    if (!c) return false;
    if (equations > 0) r->equations = write_findings(x, e, equations);
    if (constraints > 0) r->constraints = write_findings(x, c, constraints);
    if ((equations > 0 && !r->equations) || (constraints > 0 && !r->constraints)) return false;
    r->equation_count = equations;
    r->constraint_count = constraints;
    return true;
}

/* ---- events ---- */

/* "x - 1 < 0 (line 12)", "sample", or the name of a callback's event */
static const char *event_name(trial *x, const trail_event *e)
{
    char text[NAME];
    const flat_model *m = x->problem->model ? x->problem->model->flat : NULL;
    if (!m) return keep(x, e->index >= 0 ? problem_event(x->problem, e->index) : "event");
    if (e->cause == EVENT_SAMPLE) return "sample";
    if (e->index < 0) return "event";
    if ((size_t)e->index >= m->relation_count) return "assertion";
    const flat_relation *q = &m->relations[e->index];
    size_t length =
        expr_print(m->graph, q->crossing, flat_leaf_name, (void *)m, text, sizeof text - 32);
    if (length < sizeof text - 32)
        snprintf(text + length, 32, "%s (line %d)", q->strict ? " < 0" : " <= 0", q->place.line);
    return keep(x, text);
}

static bool write_events(trial *x)
{
    dae_verify_report *r = &x->record->r;
    int a = 0, b = 0, all = x->run.event_count + x->judge.event_count, count = 0;
    r->run_events = x->run.event_count;
    r->judge_events = x->judge.event_count;
    dae_verify_event *e = room(x, all < MOST_EVENTS ? all : MOST_EVENTS, sizeof *e);
    for (; e && count < MOST_EVENTS; count++) {
        const trail_event *p = a < x->run.event_count ? &x->run.event[a] : NULL;
        const trail_event *q = b < x->judge.event_count ? &x->judge.event[b] : NULL;
        if (!p && !q) break;
        bool lone_run = p && p->partner < 0, lone_judge = q && q->partner < 0;
        bool use_judge = !p || (lone_judge && (!lone_run || q->t < p->t));
        bool both = !lone_run && !lone_judge && p && q;
        const trail_event *named = both || !use_judge ? p : q;
        e[count] = (dae_verify_event){event_name(x, named), both || !use_judge ? p->t : (double)NAN,
                                      both || use_judge ? q->t : (double)NAN};
        a += both || !use_judge;
        b += both || use_judge;
    }
    r->events = e;
    r->event_count = count;
    return e;
}

/* ---- invariants ---- */

/* "energy", "body.energy", "totalEnergy", "hamiltonian": meant to be kept, or at least of interest
 */
static bool is_energy(const char *name)
{
    static const char *const words[] = {"energy", "hamiltonian"};
    size_t length = strlen(name);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        size_t size = strlen(words[k]), same = 0;
        if (length < size) continue;
        while (same < size && tolower((unsigned char)name[length - size + same]) == words[k][same])
            same++;
        if (same == size) return true;
    }
    return false;
}

/* How far variable i moves from where it starts. */
static double drift_of(const trail *x, int i)
{
    double most = 0.0;
    for (int k = 0; k < x->count; k++)
        most = fmax(most,
                    fabs(x->values[(size_t)k * (size_t)x->n + (size_t)i] - x->values[(size_t)i]));
    return most;
}

static bool write_invariants(trial *x)
{
    dae_verify_report *r = &x->record->r;
    const dae_options *o = &x->full;
    int n = x->run.n, count = 0;
    dae_verify_invariant *v = room(x, o->invariant_count + n, sizeof *v);
    if (!v) return false;
    for (int i = 0; i < o->invariant_count && !x->request->values; i++) {
        const char *name = o->invariants && o->invariants[i] ? o->invariants[i] : "invariant";
        v[count++] = (dae_verify_invariant){keep(x, name), x->run.origin[i], x->run.drift[i],
                                            x->judge.drift ? x->judge.drift[i] : (double)NAN};
    }
    for (int i = 0; i < n; i++) {
        const char *name = dae_problem_variable(x->problem, i);
        if (!name || !is_energy(name) || x->run.count == 0) continue;
        v[count++] =
            (dae_verify_invariant){keep(x, name), x->run.values[i], drift_of(&x->run, i),
                                   x->judge.count > 0 ? drift_of(&x->judge, i) : (double)NAN};
    }
    r->invariants = v;
    r->invariant_count = count;
    return true;
}

/* ---- everything together ---- */

static dae_status write_report(trial *x, dae_diag *diag)
{
    dae_verify_report *r = &x->record->r;
    r->rows = x->run.count;
    r->run = x->run.run;
    r->compared = x->apart.compared;
    r->between = x->apart.between;
    bool ok = hear_text(x) && find_variants(x) && write_variables(x) && write_equations(x) &&
              write_events(x) && write_invariants(x);
    if (ok) weigh_text(x);
    if (ok) weigh_variants(x);
    return ok && !arena_failed(x->record->texts) ? DAE_OK : exhausted(diag);
}

static void trial_free(trial *x)
{
    inspector_free(x->inspector);
    reader_free(x->reader);
    comparison_free(&x->apart);
    trail_free(&x->run);
    trail_free(&x->judge);
    trail_free(&x->second);
    tolerances_free(&x->tolerance);
    dae_free_all(x->times, x->judged);
}

static dae_status hold_trial(trial *x, dae_diag *diag)
{
    dae_status status = check_request(x, diag);
    if (status != DAE_OK) return status;
    x->record = DAE_NEW(record);
    if (x->record) x->record->texts = arena_new(0);
    if (!x->record || !x->record->texts || !make_times(x) ||
        !tolerances_new(&x->tolerance, x->problem, &x->full))
        return exhausted(diag);
    x->record->r.limit = find_limit(x);
    x->record->r.size = sizeof x->record->r;
    x->record->r.worst = -1;
    status = run_first(x, diag);
    if (status == DAE_OK && !find_judged(x)) status = exhausted(diag);
    if (status == DAE_OK) status = judge(x, diag);
    if (status == DAE_OK) status = write_report(x, diag);
    return status;
}

dae_status dae_verify_sized(const dae_problem *problem, const dae_options *options,
                            const dae_verify_request *request, size_t size,
                            dae_verify_report **report, dae_diag *diag)
{
    dae_verify_request known = {0};
    diag_clear(diag);
    if (!report) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: report is NULL.");
    *report = NULL;
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_verify: problem is NULL.");
    trial x = {.problem = problem, .request = &known};
    dae_status status = sized_read(request, size, &known, sizeof known, "request", diag);
    if (status == DAE_OK) status = options_read(options, &x.full, diag);
    if (status == DAE_OK) status = hold_trial(&x, diag);
    trial_free(&x);
    if (status == DAE_OK) {
        diag_clear(diag);
        *report = &x.record->r;
        return DAE_OK;
    }
    dae_verify_report_free(x.record ? &x.record->r : NULL);
    return status;
}
