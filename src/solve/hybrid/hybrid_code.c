/* When a run gets native code: looked for, compiled beside it, and taken over between two steps. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "model/model_code.h"
#include "solve/hybrid/hybrid_parts.h"

/* Seconds of the tape for an instruction (bench/tape_speed.c). */
static const double INSTRUCTION = 2e-9;
/* Seconds to see whether there is native code: to hash an instruction of a tape, and to find and
 * load a module. */
static const double HASHED = 1e-7, LOADED = 1.5e-4;
/* Part of the tape's time that native code saves, about (docs/notes/engines.md). */
static const double SAVED = 0.65;
/* The same for lists that eliminate matrices (docs/notes/inner-loop.md). */
static const double SAVED_LISTS = 0.5;
/* Who asks for native code gets it for eliminations once lists have worked for this part of the
 * time of the compiler: most runs are over before, and would only start it. */
static const double ASKED_EVIDENCE = 0.01;
/* A second of a compiler counts as this many of the run where it has a processor for itself. */
static const double BESIDE = 0.1;
/* No bet before the tape has worked for this part of the time of the compiler: the first steps,
 * which are short, say little about the rest. */
static const double EVIDENCE = 0.1;
/* Behind the first one compilers work for at most this part of the run's time. */
static const double SHARE = 0.5;
/* Seconds between two questions whether the compiler is done. */
static const double PAUSE = 1e-3;

/* ---- what the run does ---- */

/* Instances whose programs a solver runs: of many those with the most work. */
enum { MOST_INSTANCES = 64 };
typedef struct instances {
    model_instance *list[MOST_INSTANCES];
    double work[MOST_INSTANCES];
    int count;
    double total; /* of all */
} instances;

/* One more, in the order of their work. */
static void add_instance(instances *all, model_instance *m)
{
    double work = m ? model_instance_work(m) : 0.0;
    all->total += work;
    if (!m || (work == 0.0 && all->count > 0)) return;
    if (all->count == MOST_INSTANCES && work <= all->work[MOST_INSTANCES - 1]) return;
    int at = all->count < MOST_INSTANCES ? all->count++ : MOST_INSTANCES - 1;
    for (; at > 0 && all->work[at - 1] < work; at--) {
        all->list[at] = all->list[at - 1];
        all->work[at] = all->work[at - 1];
    }
    all->list[at] = m;
    all->work[at] = work;
}

static void gather(const dae_solver *s, instances *all)
{
    all->count = 0;
    all->total = 0.0;
    add_instance(all, s->hybrid->own);
    for (int k = 0; s->modes && k < s->modes->count; k++) {
        add_instance(all, s->modes->list[k]->instance);
        add_instance(all, s->modes->list[k]->levels);
    }
}

/* Where the run ends, as far as it is known. */
static double end_of_run(const dae_solver *s, double tend)
{
    double stop = s->bound.options.stop_time;
    return isnan(stop) ? tend : stop;
}

/* Keep the work at two times. */
static void note_work(work_rate *w, double t, double work)
{
    bool back = work < w->work[1] || (t - w->t[1]) * (w->t[1] - w->t[0]) < 0.0;
    if (back || w->work[1] == 0.0) {
        w->t[0] = w->t[1] = t;
        w->work[0] = w->work[1] = work;
    } else if (work >= 2.0 * w->work[1]) {
        w->t[0] = w->t[1];
        w->work[0] = w->work[1];
        w->t[1] = t;
        w->work[1] = work;
    }
}

/* Work from here to the end: at the rate of the last half or more of it. Where the end moves on
 * with every call nobody knows it: as much again as there was. */
static double work_left(const dae_solver *s, const work_rate *w, double tend, double work)
{
    double left = 0.0, passed = fabs(s->run.t - w->t[0]), end = end_of_run(s, tend);
    if (passed > 0.0) left = (work - w->work[0]) * fabs(end - s->run.t) / passed;
    return s->run.code.ends > 1 ? fmax(left, work) : left;
}

/* ---- when it pays ---- */

/* What a second of a compiler costs the run. */
static double price(code_watch *w)
{
    if (w->processors == 0) w->processors = sysconf(_SC_NPROCESSORS_ONLN);
    return w->processors > 1 ? BESIDE : 1.0;
}

/* Whether a compilation begun now saves more than it costs: the tape, or lists, go on until it is
 * done, for their part of the run's time. */
static bool pays(code_watch *w, double done, double left, double saved, double seconds)
{
    double now = native_clock() - w->clock, part = fmin(1.0, done / fmax(now, done));
    double after = left - part * seconds;
    return done >= EVIDENCE * seconds && saved * after > price(w) * seconds;
}

/* ---- the engine ---- */

static void adopt(dae_solver *s)
{
    model_code_adopt(s->hybrid->instance);
    model_code_adopt(s->hybrid->own);
    for (int k = 0; s->modes && k < s->modes->count; k++) {
        const model_mode *v = s->modes->list[k];
        if (v->instance) model_code_adopt(v->instance);
        if (v->levels) model_code_adopt(v->levels);
    }
}

/* Say why there is no native code, once; who did not ask for it need not know that there is no
 * compiler. */
static void tell(dae_solver *s, native_status status, const char *reason)
{
    char text[400];
    bool asked = s->base->engine != DAE_ENGINE_AUTO;
    if (s->run.code.told || (status == NATIVE_NO_COMPILER && !asked)) return;
    s->run.code.told = true;
    snprintf(text, sizeof text, "note: the model runs on the tape, without native code: %s",
             reason[0] ? reason : "memory is exhausted");
    solver_note(s, text);
}

static bool is_asked(const dae_solver *s)
{
    return s->base->engine != DAE_ENGINE_AUTO;
}

static void begin(dae_solver *s, model_instance *const *list, int count, bool all, bool modest)
{
    char reason[NATIVE_REASON] = "";
    native_status status = model_code_begin(list, count, all, modest, reason);
    s->run.code.begun = true;
    s->run.code.busy = status == NATIVE_OK;
    s->run.code.over = status != NATIVE_OK;
    if (status != NATIVE_OK) tell(s, status, reason);
}

/* What came of a compiler. */
static void heed(dae_solver *s, code_state state, const char *reason)
{
    if (state == CODE_FAILED) tell(s, NATIVE_FAILED, reason);
    if (state != CODE_BUSY) adopt(s);
    s->run.code.busy = state == CODE_BUSY;
}

/* All programs of the form that is integrated first, before its first step; `wait`: they are ready
 * then. */
static void compile_first(dae_solver *s, bool wait)
{
    char reason[NATIVE_REASON] = "";
    model_instance *const *first = &s->hybrid->instance;
    model_code *code = s->base->model->code;
    if (!model_code_look(first, 1, true)) return;
    if (wait) heed(s, model_code_wait(code, reason), reason); /* what another solver began */
    adopt(s);
    if (model_code_need(first, 1, true).length == 0.0) return;
    begin(s, first, 1, true, !wait);
    if (wait) heed(s, model_code_wait(code, reason), reason);
}

/* Look in this process and in the cache once that costs little beside what is left. */
static void look(dae_solver *s, const instances *all, double done, double left)
{
    code_need need = model_code_need(all->list, all->count, false);
    double cost = HASHED * need.unknown + LOADED;
    bool worth = is_asked(s) || (done > 0.5 * cost && SAVED * left > cost);
    if (need.unknown == 0.0 || !worth) return;
    if (!model_code_look(all->list, all->count, false)) s->run.code.over = true;
    adopt(s);
}

/* Start a compiler for what was looked for in vain, if that pays or was asked for. */
static void compile_beside(dae_solver *s, const instances *all, double done, double left)
{
    code_watch *w = &s->run.code;
    code_need need = model_code_need(all->list, all->count, false);
    if (need.length == 0.0 || need.unknown > 0.0) return;
    double seconds = model_code_forecast(need.length);
    double compilers = model_code_seconds(s->base->model->code) + seconds;
    if (w->begun && compilers > SHARE * (native_clock() - w->clock)) return;
    if (w->begun && INSTRUCTION * need.work < EVIDENCE * seconds) return;
    if (is_asked(s) || pays(w, done, left, SAVED, seconds))
        begin(s, all->list, all->count, false, true);
}

/* The run as it is: forecast and decide. What earlier solvers of the problem did is expected again.
 */
static void decide(dae_solver *s, double tend)
{
    instances all;
    gather(s, &all);
    note_work(&s->run.code.tape, s->run.t, all.total);
    double earlier = INSTRUCTION * model_code_earlier(s->base->model->code);
    double done = INSTRUCTION * all.total + earlier;
    double left = INSTRUCTION * work_left(s, &s->run.code.tape, tend, all.total) + earlier;
    look(s, &all, done, left);
    if (!s->run.code.over) compile_beside(s, &all, done, left);
}

/* Code for eliminations: look for it, or start a compiler if that pays. The orders of pivots of a
 * problem are few, and most runs have but one. */
static void consider_kernels(dae_solver *s, double tend)
{
    code_watch *w = &s->run.code;
    model_code *code = s->base->model->code;
    double all = kernel_store_work(s->base->kernels);
    if (!w->lists_seen) w->lists_before = all;
    w->lists_seen = true;
    note_work(&w->lists, s->run.t, all - w->lists_before);
    kernel_need need = model_code_kernel_need(code);
    if (need.bytes == 0.0) return;
    double left = work_left(s, &w->lists, tend, all - w->lists_before) + w->lists_before;
    double cost = LOADED * need.unknown, seconds = native_seconds(need.bytes);
    bool worth = is_asked(s) || (need.work > 0.5 * cost && SAVED_LISTS * left > cost);
    if (need.unknown > 0 && worth) w->over = !model_code_look_kernels(code);
    if (need.unknown > 0 || w->over) return; /* what is still missing is met the next time */
    double compilers = model_code_seconds(code) + seconds;
    if (w->begun && compilers > SHARE * (native_clock() - w->clock)) return;
    bool asked = is_asked(s) && need.work >= ASKED_EVIDENCE * seconds;
    if (!asked && !pays(w, need.work, left, SAVED_LISTS, seconds)) return;
    w->busy = model_code_begin_kernels(code, true) == NATIVE_OK;
    w->begun = w->begun || w->busy;
}

/* Ask the compiler, not too often. */
static bool is_busy(dae_solver *s)
{
    char reason[NATIVE_REASON] = "";
    code_watch *w = &s->run.code;
    double now = native_clock();
    if (w->busy && now - w->asked < PAUSE) return true;
    w->asked = now;
    heed(s, model_code_poll(s->base->model->code, reason), reason);
    return w->busy;
}

void hybrid_consider_code(dae_solver *s, double tend)
{
    code_watch *w = &s->run.code;
    if (++w->calls < w->next || w->over || s->base->engine == DAE_ENGINE_TAPE) return;
    if (s->bound.method->forms == FORM_SERIES) return; /* such methods do not run the residual */
    if (w->clock == 0.0) w->clock = native_clock();
    if (tend != w->end) w->ends++;
    w->end = tend;
    if (is_asked(s) && !w->first) {
        w->first = true;
        compile_first(s, s->base->engine == DAE_ENGINE_NATIVE);
    }
    if (is_busy(s)) return;
    w->next = w->calls + 4 + w->calls / 8;
    decide(s, tend);
    if (!w->over && !w->busy && s->base->kernels) consider_kernels(s, tend);
}
