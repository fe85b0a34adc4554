#include "solve/sensitivity/adjoint_recall.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/checkpoint/checkpoint.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"

static dae_status no_memory(const recall *c)
{
    return sensitivity_no_memory(c->j->x);
}

static dae_diag *diag_of(const recall *c)
{
    return &c->j->x->run->diag;
}

static void drop_solver(recall *c)
{
    if (c->solver) c->solver->observer = NULL;
    dae_solver_free(c->solver);
    c->solver = NULL;
    c->at = -1;
}

static void drop_save(recall *c, int k)
{
    dae_free(c->saves[k].bytes);
    c->save_count--;
    memmove(c->saves + k, c->saves + k + 1, (size_t)(c->save_count - k) * sizeof *c->saves);
}

void recall_reset(recall *c)
{
    if (!c) return;
    drop_solver(c);
    while (c->save_count > 0) drop_save(c, c->save_count - 1);
    c->question_count = c->call_count = 0;
    c->stride = 1;
    c->largest = c->call_bytes = c->record_bytes = 0.0;
    c->integrated = c->kept = c->kept_end = 0;
    c->behind = 0;
}

void recall_free(recall *c)
{
    recall_reset(c);
    if (c) dae_free_all(c->questions, c->calls, c->saves, c->end, c);
}

/* ---- states ---- */

/* The state of `s` before a call becomes one more that is kept; there is room. */
static dae_status keep_state(recall *c, dae_solver *s, long call)
{
    persist p = {0};
    int k = c->save_count;
    dae_status status = checkpoint_take(s, &p, diag_of(c));
    unsigned char *bytes = status == DAE_OK ? dae_copy(p.bytes, p.count, 1) : NULL;
    if (status == DAE_OK && !bytes) status = no_memory(c);
    if (status == DAE_OK) {
        while (k > 0 && c->saves[k - 1].call > call) k--;
        memmove(c->saves + k + 1, c->saves + k, (size_t)(c->save_count - k) * sizeof *c->saves);
        c->saves[k] = (saved_state){call, bytes, p.count};
        c->save_count++;
        c->largest = fmax(c->largest, (double)p.count);
    }
    persist_free(&p);
    return status;
}

/* The last state before a call. */
static const saved_state *state_before(const recall *c, long call)
{
    int k = c->save_count - 1;
    while (k > 0 && c->saves[k].call > call) k--;
    return &c->saves[k];
}

/* Bytes for values, beside all states and those that a step back is at. */
static double room_for_values(const recall *c)
{
    const double held = (c->j->x->method->stages + 1) * c->record_bytes;
    return c->j->limit - c->most * c->largest - held;
}

static dae_status check_room(const recall *c)
{
    const double least = c->j->limit - room_for_values(c) + c->call_bytes;
    if (c->call_bytes <= room_for_values(c)) return DAE_OK;
    return diag_set(diag_of(c), DAE_ERR_MEMORY,
                    "Adjoint: memory = %.6g bytes is too little for checkpoints = %d: %d states of "
                    "the run of %.0f bytes, and values of one step, take %.0f.",
                    c->j->limit, c->most, c->most, c->largest, ceil(least));
}

/* ---- the way forth ---- */

static dae_status stand_before(recall *c, const saved_state *from, long call);

/* The first state is read at once: what a second solver refuses is to be known before the run. */
static dae_status try_state(recall *c)
{
    recycler *before = recycler_use(NULL);
    dae_status status = stand_before(c, &c->saves[0], c->saves[0].call);
    recycler_use(before);
    return status;
}

/* Every second state goes: all but the first are twice as far from each other. */
static void thin_out(recall *c)
{
    for (int k = 1; k < c->save_count; k++) drop_save(c, k);
    c->stride *= 2;
}

static dae_status stepping(void *user, double tend)
{
    dae_sensitivity *x = user;
    recall *c = ((dae_adjoint *)x->recorder->user)->recall;
    dae_status status = DAE_OK;
    if (!x->stands) return status;
    const long last = c->save_count > 0 ? c->saves[c->save_count - 1].call : 0;
    const bool due = c->save_count == 0 || c->call_count - last >= c->stride;
    if (due && checkpoint_has_place(x->run)) {
        if (c->save_count == c->most) thin_out(c);
        status = keep_state(c, x->run, c->call_count);
        if (status == DAE_OK && c->call_count == 0) status = try_state(c);
    }
    if (status == DAE_OK &&
        !dae_grow(&c->calls, &c->call_room, (size_t)c->call_count + 1, sizeof *c->calls))
        status = no_memory(c);
    if (status != DAE_OK) return status;
    c->calls[c->call_count++] = (run_call){tend, c->question_count, c->j->record_count};
    c->behind = 0;
    c->call_bytes = 0.0;
    return DAE_OK;
}

static dae_status asked(void *user, double t, bool taken)
{
    dae_sensitivity *x = user;
    recall *c = ((dae_adjoint *)x->recorder->user)->recall;
    if (c->call_count == 0) return DAE_OK; /* the first state knows of it */
    if (!dae_grow(&c->questions, &c->question_room, (size_t)c->question_count + 1,
                  sizeof *c->questions))
        return no_memory(c);
    c->questions[c->question_count++] = (question){t, c->behind, taken};
    return DAE_OK;
}

static recall *count_call(void *user)
{
    dae_sensitivity *x = user;
    recall *c = ((dae_adjoint *)x->recorder->user)->recall;
    c->behind++;
    return c;
}

static dae_status advanced(void *user)
{
    return count_call(user)->follows.advanced(user);
}

static dae_status before_event(void *user)
{
    return count_call(user)->follows.before_event(user);
}

static dae_status acting(void *user)
{
    return count_call(user)->follows.acting(user);
}

static dae_status after_event(void *user)
{
    return count_call(user)->follows.after_event(user);
}

/* The second solver has borrowed from the first. */
static void gone(void *user)
{
    dae_sensitivity *x = user;
    recall *c = ((dae_adjoint *)x->recorder->user)->recall;
    drop_solver(c);
    c->follows.gone(user);
}

dae_status recall_note(dae_adjoint *j, adjoint_record *r)
{
    recall *c = j->recall;
    const double bytes = (double)r->count * sizeof(double);
    r->call = c->call_count - 1;
    r->questions = c->question_count;
    r->sum = checksum(0, r->numbers, r->count * sizeof(double));
    dae_free(r->numbers);
    r->numbers = NULL;
    c->call_bytes += bytes;
    c->record_bytes = fmax(c->record_bytes, bytes);
    if (j->x->lead.solver == j->x->run) return check_room(c);
    return diag_set(diag_of(c), DAE_ERR_UNSUPPORTED,
                    "Adjoint: `checkpoints` are for runs on equations of index 1 that show all "
                    "constraints, and method %s at t = %.9g integrates other ones. Take bdf or "
                    "radau with formulation dummy, or no checkpoints: values beyond `memory` then "
                    "go to a file.",
                    j->x->run->bound.method->name, r->t);
}

/* ---- the second run ---- */

/* The values at hand are those where record i ends: the next one, of another call, may begin with
 * them. */
static bool keep_end(recall *c, long i)
{
    const binding *b = &c->solver->bound;
    const size_t n = (size_t)b->n;
    if (!dae_grow(&c->end, &c->end_room, 2 * n, sizeof *c->end)) return false;
    vector_copy(b->n, b->at_y, c->end);
    vector_copy(b->n, b->at_yp, c->end + n);
    c->end_of = i;
    return true;
}

/* Values of the second run at t belong to points of records that were made behind the question. */
static dae_status hand_out(recall *c, long number, double t)
{
    const dae_adjoint *j = c->j;
    const collocation *q = j->x->method;
    const binding *b = &c->solver->bound;
    const size_t n = (size_t)b->n, stages = (size_t)q->stages;
    for (long i = c->calls[c->at].record; i < j->record_count; i++) {
        const adjoint_record *r = &j->records[i];
        if (r->ledger) continue;
        if (r->call != c->at) break;
        if (number >= r->questions || r->count != 2 * n * (stages + 1)) continue;
        if (r->t + r->h == t && !keep_end(c, i)) return no_memory(c);
        for (size_t a = 0; a <= stages && c->keeps; a++) {
            const double at = a == 0        ? r->t
                              : a == stages ? r->t + r->h
                                            : r->t + q->nodes[a - 1] * r->h;
            if (at != t) continue;
            vector_copy((int)n, b->at_y, r->numbers + 2 * n * a);
            vector_copy((int)n, b->at_yp, r->numbers + 2 * n * a + n);
        }
    }
    return DAE_OK;
}

/* All questions of this call up to a place in it. What cannot be answered could not be at first. */
static dae_status ask_again(recall *c, int behind)
{
    const long end = c->at + 1 < c->call_count ? c->calls[c->at + 1].question : c->question_count;
    dae_solver *s = c->solver;
    dae_status status = DAE_OK;
    for (; status == DAE_OK && c->asked < end && c->questions[c->asked].behind <= behind;
         c->asked++) {
        const question *q = &c->questions[c->asked];
        if (!q->taken && solver_point(s, q->t) != DAE_OK) continue;
        if (q->taken) solver_interpolate(s, q->t, 0, s->bound.at_y);
        if (q->taken) solver_interpolate(s, q->t, 1, s->bound.at_yp);
        status = hand_out(c, c->asked, q->t);
    }
    return status;
}

static dae_status again_here(void *user)
{
    recall *c = user;
    return ask_again(c, ++c->behind);
}

static dae_status again_nothing(void *user)
{
    (void)user;
    return DAE_OK;
}

static void again_silent(void *user)
{
    (void)user;
}

static void again_broken(void *user, const char *what)
{
    (void)user;
    (void)what;
}

static dae_status explain_other(const recall *c, double t)
{
    diag_of(c)->t = t;
    return diag_set(diag_of(c), DAE_ERR_STATE,
                    "Adjoint: integrated again, the run has other values at t = %.9g than before. "
                    "Callbacks, or what they read, have changed; or leave out `checkpoints`.",
                    t);
}

/* Room for the records of the call at hand; the first may go on where another call has ended. */
static dae_status open_records(recall *c)
{
    dae_adjoint *j = c->j;
    for (long i = c->calls[c->at].record; i < j->record_count; i++) {
        adjoint_record *r = &j->records[i];
        if (r->ledger) continue;
        if (r->call != c->at) break;
        if (!r->numbers) r->numbers = DAE_ARRAY(double, r->count);
        if (!r->numbers) return no_memory(c);
        const size_t point = r->count / (size_t)(j->x->method->stages + 1);
        if (r->joined && c->end_of == i - 1 && point <= c->end_room)
            memcpy(r->numbers, c->end, point * sizeof *r->numbers);
    }
    return DAE_OK;
}

/* Their numbers are complete, and must be those of the first time. */
static dae_status close_records(const recall *c, long call)
{
    dae_adjoint *j = c->j;
    for (long i = c->calls[call].record; i < j->record_count; i++) {
        const adjoint_record *r = &j->records[i];
        if (r->ledger) continue;
        if (r->call != call) break;
        const size_t point = r->count / (size_t)(j->x->method->stages + 1);
        if (r->joined && i > c->calls[call].record)
            memcpy(r->numbers, j->records[i - 1].numbers + r->count - point,
                   point * sizeof *r->numbers);
        if (checksum(0, r->numbers, r->count * sizeof(double)) != r->sum)
            return explain_other(c, r->t);
    }
    return DAE_OK;
}

/* The call at hand once more; the values of its records are kept or not. */
static dae_status call_again(recall *c, bool keeps)
{
    dae_solver *s = c->solver;
    dae_status status = keeps ? open_records(c) : DAE_OK;
    if (status != DAE_OK) return status;
    c->keeps = keeps;
    c->behind = 0;
    c->asked = c->calls[c->at].question;
    c->integrated++;
    status = dae_solver_step(s, c->calls[c->at].tend);
    if (status == DAE_ERR_MEMORY || status == DAE_ERR_INTERRUPTED) {
        *diag_of(c) = s->diag;
        return status;
    }
    status = ask_again(c, INT_MAX);
    if (status != DAE_OK) return status;
    c->at++;
    return keeps ? close_records(c, c->at - 1) : DAE_OK;
}

static dae_status go_to(recall *c, long call)
{
    dae_status status = DAE_OK;
    while (c->at < call && status == DAE_OK) status = call_again(c, false);
    return status;
}

static dae_status read_state(recall *c, const saved_state *from)
{
    interrupt_scope scope;
    persist p = {.bytes = from->bytes, .count = from->count};
    dae_solver *s = c->solver;
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    s->observer = NULL;
    c->at = c->end_of = -1;
    dae_status status = checkpoint_give(s, &p, diag_of(c));
    if (interrupt_close(&scope)) return interrupt_explain(diag_of(c), "the way back");
    if (status != DAE_OK) return status;
    s->observer = &c->again;
    c->at = from->call;
    return DAE_OK;
}

/* The second solver stands at a state, or between it and `call`. */
static dae_status stand_before(recall *c, const saved_state *from, long call)
{
    const dae_solver *run = c->j->x->run;
    if (c->solver && c->at >= from->call && c->at <= call) return DAE_OK;
    dae_status status = DAE_OK;
    dae_options o = run->base_options;
    if (run->wishes.open) o.method = "auto";
    if (!c->solver) status = dae_solver_new(run->base, &o, &c->solver, diag_of(c));
    if (status == DAE_OK) status = read_state(c, from);
    if (status != DAE_OK) drop_solver(c);
    return status;
}

/* ---- the way back ---- */

/* pieces = C(s + r, s), at most `enough` */
static double binomial(int s, long r, double enough)
{
    double pieces = 1.0;
    for (int k = 1; k <= s && pieces < enough; k++)
        pieces = pieces * ((double)r + (double)k) / (double)k;
    return pieces;
}

/* With C(s + r - 1, s) < length <= C(s + r, s): the part behind has at most C(s - 1 + r, s - 1)
 * pieces, the one before at least C(s + r - 2, s). */
long recall_distance(long length, int s)
{
    const double l = (double)length, enough = 2.0 * l;
    long r = 0;
    if (s < 2 || length < 2) return 0;
    while (binomial(s, r, enough) < l - 0.5) r++;
    const double behind = floor(binomial(s - 1, r, enough) + 0.5);
    const double before = r < 2 ? 1.0 : floor(binomial(s, r - 2, enough) + 0.5);
    return (long)fmax(before, l - behind);
}

/* The first call whose values, up to those of `last`, there is room for. */
static long first_of_piece(const recall *c, long last)
{
    const dae_adjoint *j = c->j;
    double left = room_for_values(c);
    long call = last;
    long i = last + 1 < c->call_count ? c->calls[last + 1].record : j->record_count;
    while (i-- > 0) {
        const adjoint_record *r = &j->records[i];
        if (r->ledger || r->numbers) continue;
        left -= (double)r->count * sizeof(double);
        if (left < 0.0 && r->call < last) return r->call + 1;
        call = r->call;
    }
    return call;
}

/* States between the last one and a piece, as many as there is room for. */
static dae_status place_states(recall *c, long first, long last)
{
    const long width = last - first + 1;
    for (;;) {
        const saved_state *from = state_before(c, first);
        const long length = (last - from->call) / width + 1;
        const long pieces = recall_distance(length, c->most - c->save_count + 1);
        long call = last + 1 - (length - pieces) * width;
        dae_status status = DAE_OK;
        if (pieces == 0 || call <= from->call || call > first) return status;
        status = stand_before(c, from, call);
        if (status == DAE_OK) status = go_to(c, call);
        while (status == DAE_OK && call < first && !checkpoint_has_place(c->solver))
            status = go_to(c, ++call);
        if (status != DAE_OK || !checkpoint_has_place(c->solver)) return status;
        status = keep_state(c, c->solver, call);
        if (status != DAE_OK) return status;
    }
}

/* Numbers of records that are not in i .. last are of no more use, as those of another way back. */
static void drop_values(recall *c, long i, long last)
{
    for (long k = c->kept; k < c->kept_end; k++) {
        adjoint_record *r = &c->j->records[k];
        if (r->ledger || (k >= i && k <= last)) continue;
        dae_free(r->numbers);
        r->numbers = NULL;
    }
    if (c->kept_end > last + 1) c->kept_end = last + 1;
    if (c->kept_end <= i) c->kept_end = i;
    c->kept = i;
}

dae_status recall_find(dae_adjoint *j, long i, long last)
{
    recall *c = j->recall;
    const long call = j->records[i].call;
    drop_values(c, i, last);
    while (c->save_count > 1 && c->saves[c->save_count - 1].call > call)
        drop_save(c, c->save_count - 1);
    if (c->save_count == 0) return explain_other(c, j->records[i].t);
    const long first = first_of_piece(c, call);
    c->kept = c->calls[first].record;
    const long end = call + 1 < c->call_count ? c->calls[call + 1].record : j->record_count;
    if (end > c->kept_end) c->kept_end = end;
    dae_status status = place_states(c, first, call);
    if (status == DAE_OK) status = stand_before(c, state_before(c, first), first);
    if (status == DAE_OK) status = go_to(c, first);
    while (status == DAE_OK && c->at <= call) status = call_again(c, true);
    if (status == DAE_OK) return status;
    drop_values(c, j->record_count, -1); /* some may be wrong, or incomplete */
    drop_solver(c);
    return status;
}

recall *recall_new(dae_adjoint *j, int most)
{
    recall *c = DAE_NEW(recall);
    run_observer *o = &j->x->observer;
    if (!c) return NULL;
    c->j = j;
    c->most = most;
    c->at = -1;
    c->stride = 1;
    c->saves = DAE_ARRAY(saved_state, most);
    if (!c->saves) {
        dae_free(c);
        return NULL;
    }
    c->follows = *o;
    o->stepping = stepping;
    o->asked = asked;
    o->advanced = advanced;
    o->before_event = before_event;
    o->acting = acting;
    o->after_event = after_event;
    o->gone = gone;
    c->again = (run_observer){.user = c,
                              .started = again_nothing,
                              .advanced = again_here,
                              .before_event = again_here,
                              .acting = again_here,
                              .after_event = again_here,
                              .broken = again_broken,
                              .restarting = again_nothing,
                              .finished = again_silent,
                              .gone = again_silent};
    return c;
}
