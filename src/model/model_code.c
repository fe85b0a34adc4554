#define _POSIX_C_SOURCE 200809L
#include "model/model_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "model/model_build.h"
#include "model/model_pieces.h"

/* Programs with less than this part of the work are left on the tape. */
static const double MATTERS = 0.01;
/* Bytes of emitted C for an instruction of the tape, about. */
static const double BYTES = 35.0;

/* A program of the problem, by what it computes. */
typedef struct code_entry {
    native_key key;
    native_function function; /* NULL: none so far */
    bool looked;              /* neither this process nor the cache had it */
    bool pending;             /* it is being compiled */
    bool failed;              /* it could not be */
} code_entry;

struct model_code {
    pthread_mutex_t lock; /* of all below, and of the `entry` of programs */
    code_entry *entries;  /* owned, as all below */
    size_t count, room;
    native_module **modules;
    size_t module_count, module_room;
    kernel_store *kernels;
    native_job *job;
    bool of_kernels; /* it compiles those, not programs */
    bool beginning;  /* text is being written for the next one */
    double seconds, earlier;
    atomic_uint version; /* grows with every function */
};

model_code *model_code_new(void)
{
    model_code *c = DAE_NEW(model_code);
    if (!c) return NULL;
    c->kernels = kernel_store_new();
    if (!c->kernels) {
        dae_free(c);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void model_code_free(model_code *c)
{
    if (!c) return;
    native_job_free(c->job);
    for (size_t k = 0; k < c->module_count; k++) native_free(c->modules[k]);
    kernel_store_free(c->kernels);
    pthread_mutex_destroy(&c->lock);
    dae_free_all(c->modules, c->entries, c);
}

static void enter(model_code *c)
{
    pthread_mutex_lock(&c->lock);
}

static void leave(model_code *c)
{
    pthread_mutex_unlock(&c->lock);
}

/* ---- programs ---- */

static bool has_code(const model_program *p)
{
    return p->code.tape && p->outputs > 0 && p->code.length > 0 && !tape_calls_out(p->code.tape);
}

/* The entry of a program, made if need be; NULL: memory. */
static code_entry *entry_of(model_code *c, model_program *p)
{
    if (p->entry > 0) return &c->entries[p->entry - 1];
    native_key key;
    native_key_of(p->code.tape, &key);
    size_t k = 0;
    while (k < c->count && memcmp(&c->entries[k].key, &key, sizeof key) != 0) k++;
    if (k == c->count) {
        if (!dae_grow(&c->entries, &c->room, k + 1, sizeof *c->entries)) return NULL;
        c->entries[c->count++] = (code_entry){.key = key};
    }
    p->entry = (int)k + 1;
    return &c->entries[k];
}

static model_program *program_at(const model_instance *m, int k)
{
    return model_program_at((model_form *)m->form, k);
}

/* Room for one more module: keep_module() succeeds then. */
static bool make_room_for_module(model_code *c)
{
    return dae_grow(&c->modules, &c->module_room, c->module_count + 1, sizeof *c->modules);
}

/* Give a module to the problem, which owns it from now on; false: memory, and it is freed. */
static bool keep_module(model_code *c, native_module *module)
{
    if (!make_room_for_module(c)) {
        native_free(module);
        return false;
    }
    c->modules[c->module_count++] = module;
    return true;
}

/* ---- instances ---- */

static native_function function_of(model_code *c, model_program *p)
{
    code_entry *e = has_code(p) ? entry_of(c, p) : NULL;
    return e ? e->function : NULL;
}

static void adopt_pieces(model_code *c, model_pieces *p)
{
    if (!p) return;
    p->native = true;
    for (int k = 0; k < p->count; k++) {
        p->piece[k].function = function_of(c, &p->piece[k].program);
        p->native = p->native && p->piece[k].function;
    }
}

void model_code_adopt(model_instance *m)
{
    model_code *c = m->form->code;
    if (!c || atomic_load(&c->version) == m->code_version) return;
    enter(c);
    m->code_version = atomic_load(&c->version);
    for (int k = 0; k < model_program_count(m->form); k++) {
        native_function function = function_of(c, program_at(m, k));
        adopt_pieces(c, m->pieces[k]);
        if (function) m->function[k] = function;
        const bool native = function || (m->pieces[k] && m->pieces[k]->native);
        if (native && (k == 0 || k > FOLLOWERS)) m->native = true;
    }
    leave(c);
}

static double work_of(const model_instance *m, int k)
{
    return (double)m->runs[k] * (double)program_at(m, k)->code.length;
}

double model_instance_work(const model_instance *m)
{
    double work = 0.0;
    for (int k = 0; k < model_program_count(m->form); k++) work += work_of(m, k);
    return work;
}

void model_code_note(const model_instance *m)
{
    model_code *c = m->form->code;
    if (!c) return;
    enter(c);
    c->earlier += model_instance_work(m);
    leave(c);
}

/* ---- what to compile ---- */

/* Programs that are to be compiled, each once. */
typedef struct code_list {
    model_program **program; /* owned, as all below */
    code_entry *entry;       /* copies */
    size_t count, room;
} code_list;

static void list_free(code_list *l)
{
    dae_free_all(l->program, l->entry);
    *l = (code_list){0};
}

/* Whether nobody has compiled it, does, or failed, as far as it was looked for. */
static bool is_lacking(const model_code *c, const model_program *p)
{
    const code_entry *e = p->entry > 0 ? &c->entries[p->entry - 1] : NULL;
    return has_code(p) && (!e || (!e->function && !e->pending && !e->failed));
}

/* Call `visit` for each program that has no code and matters. */
typedef bool (*need_visit)(void *context, model_code *c, model_program *p, double work);
/* The same for program k of an instance, or for its pieces, which are compiled in its place. */
static bool visit_program(model_code *c, const model_instance *m, int k, double work,
                          need_visit visit, void *context)
{
    const model_pieces *p = m->pieces[k];
    model_program *whole = program_at(m, k);
    if (!p) return !is_lacking(c, whole) || visit(context, c, whole, work);
    for (int i = 0; i < p->count; i++)
        if (is_lacking(c, &p->piece[i].program) &&
            !visit(context, c, &p->piece[i].program, work / p->count))
            return false;
    return true;
}

static bool visit_needs(model_code *c, model_instance *const *m, int count, bool all,
                        need_visit visit, void *context)
{
    double total = 0.0;
    for (int i = 0; i < count; i++) total += model_instance_work(m[i]);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < model_program_count(m[i]->form); k++) {
            double work = work_of(m[i], k);
            bool matters = all || (work > 0.0 && work >= MATTERS * total);
            if (matters && !visit_program(c, m[i], k, work, visit, context)) return false;
        }
    return true;
}

static bool add_need(void *context, model_code *c, model_program *p, double work)
{
    code_need *need = context;
    need->work += work;
    need->length += (double)p->code.size;
    if (p->entry == 0 || !c->entries[p->entry - 1].looked) need->unknown += (double)p->code.size;
    return true;
}

code_need model_code_need(model_instance *const *m, int count, bool all)
{
    code_need need = {0};
    model_code *c = m[0]->form->code;
    enter(c);
    visit_needs(c, m, count, all, add_need, &need);
    leave(c);
    return need;
}

/* Look for one program; false: memory. */
static bool look_for(void *context, model_code *c, model_program *p, double work)
{
    native_function function = NULL;
    native_module *module = NULL;
    code_entry *e = entry_of(c, p);
    (void)context, (void)work;
    if (!e) return false;
    if (e->looked) return true;
    e->looked = true;
    if (native_lookup(&e->key, 1, true, &function, &module) == 0) return true;
    if (!keep_module(c, module)) return false;
    e->function = function;
    atomic_fetch_add(&c->version, 1);
    return true;
}

bool model_code_look(model_instance *const *m, int count, bool all)
{
    model_code *c = m[0]->form->code;
    enter(c);
    bool ok = visit_needs(c, m, count, all, look_for, NULL);
    leave(c);
    return ok;
}

/* ---- compiling ---- */

static bool list_program(void *context, model_code *c, model_program *p, double work)
{
    code_list *l = context;
    code_entry *e = entry_of(c, p);
    size_t room = l->room;
    (void)work;
    if (!e || !dae_grow(&l->program, &room, l->count + 1, sizeof *l->program)) return false;
    if (!dae_grow(&l->entry, &l->room, l->count + 1, sizeof *l->entry)) return false;
    if (e->function || e->pending || e->failed) return true;
    e->pending = true; /* another form may have the same program */
    l->program[l->count] = p;
    l->entry[l->count++] = *e;
    return true;
}

/* C text for the programs, each under the name of its key. */
static native_status write_text(const code_list *l, graph *g, emit_text *text)
{
    emit_function *functions = DAE_ARRAY(emit_function, l->count);
    char(*names)[NATIVE_NAME] = dae_calloc(l->count, sizeof *names);
    bool ok = functions && names;
    for (size_t k = 0; ok && k < l->count; k++) {
        native_key_name(&l->entry[k].key, names[k]);
        functions[k] = (emit_function){
            .name = names[k], .e = l->program[k]->e, .count = l->program[k]->outputs};
    }
    text->in_files = true;
    graph_enter(g);
    if (ok) emit_unit(text, g, functions, l->count, NULL, NULL);
    graph_leave(g);
    dae_free_all(functions, names);
    return ok && !text->failed ? NATIVE_OK : NATIVE_MEMORY;
}

static native_status start_job(const code_list *l, graph *g, native_job **job, char *reason)
{
    emit_text text = {0};
    native_key *keys = DAE_ARRAY(native_key, l->count);
    native_status status = keys ? write_text(l, g, &text) : NATIVE_MEMORY;
    for (size_t k = 0; keys && k < l->count; k++) keys[k] = l->entry[k].key;
    if (status == NATIVE_OK && text.unsupported) {
        snprintf(reason, NATIVE_REASON, "its equations have third derivatives");
        status = NATIVE_FAILED;
    }
    if (status == NATIVE_OK)
        status = native_job_new(text.text, text.length, keys, l->count,
                                native_patience(text.length), job, reason);
    emit_free(&text);
    dae_free(keys);
    return status;
}

/* The programs that were pending have what the module gives them, or failed. */
static void settle(model_code *c, const native_module *module)
{
    char name[NATIVE_NAME];
    for (size_t k = 0; k < c->count; k++) {
        code_entry *e = &c->entries[k];
        if (!e->pending) continue;
        native_key_name(&e->key, name);
        e->pending = false;
        e->function = module ? native_find(module, name) : NULL;
        e->failed = !e->function;
    }
    if (module) atomic_fetch_add(&c->version, 1);
}

native_status model_code_begin(model_instance *const *m, int count, bool all, bool modest,
                               char *reason)
{
    model_code *c = m[0]->form->code;
    code_list list = {0};
    native_job *job = NULL;
    enter(c);
    bool mine = !c->job && !c->beginning, ok = true;
    if (mine) ok = visit_needs(c, m, count, all, list_program, &list);
    mine = mine && list.count > 0; /* else another may begin as soon as we leave */
    c->beginning = c->beginning || mine;
    leave(c);
    native_status status = ok ? NATIVE_OK : NATIVE_MEMORY;
    if (ok && mine) status = start_job(&list, m[0]->form->flat->graph, &job, reason);
    if (job && modest) native_job_yield(job);
    if (mine) {
        enter(c);
        c->job = job;
        c->beginning = false;
        if (!job) settle(c, NULL);
        leave(c);
    }
    list_free(&list);
    return status;
}

/* ---- code for eliminations ---- */

kernel_store *model_code_kernels(model_code *c)
{
    return c ? c->kernels : NULL;
}

kernel_need model_code_kernel_need(model_code *c)
{
    enter(c);
    kernel_need need = c->job || c->beginning ? (kernel_need){0} : kernels_need(c->kernels);
    leave(c);
    return need;
}

bool model_code_look_kernels(model_code *c)
{
    native_module *module = NULL;
    bool ok, found = true;
    enter(c);
    while ((ok = make_room_for_module(c)) && found) { /* solvers run what is found at once */
        found = kernels_look(c->kernels, &module);
        if (found) keep_module(c, module);
    }
    leave(c);
    return ok;
}

native_status model_code_begin_kernels(model_code *c, bool modest)
{
    native_key keys[KERNELS_MOST];
    emit_text text = {0};
    native_status status = NATIVE_OK;
    enter(c);
    if (!c->job && !c->beginning) {
        const double bytes = kernels_need(c->kernels).bytes;
        const size_t count = kernels_write(c->kernels, &text, keys);
        if (text.failed) status = NATIVE_MEMORY;
        if (status == NATIVE_OK && count > 0)
            status = native_job_new(text.text, text.length, keys, count,
                                    native_patience(text.length), &c->job, NULL);
        c->of_kernels = c->job != NULL;
        if (!c->job) kernels_settle(c->kernels, NULL);
        if (c->job) native_job_weigh(c->job, bytes);
        if (c->job && modest) native_job_yield(c->job);
    }
    leave(c);
    emit_free(&text);
    return status;
}

/* This process is a copy of the one that began the job: its programs are as if nobody had. */
static code_state disown(model_code *c)
{
    native_job_free(c->job);
    c->job = NULL;
    if (c->of_kernels) kernels_settle(c->kernels, NULL); /* lists do as well */
    c->of_kernels = false;
    for (size_t k = 0; k < c->count; k++) c->entries[k].pending = false;
    return CODE_IDLE;
}

/* The job is over: what it made belongs to the problem. */
static code_state finish(model_code *c, char *reason)
{
    native_module *module = NULL;
    native_status status = native_job_take(c->job, &module, reason);
    c->seconds += native_job_age(c->job);
    native_job_free(c->job);
    c->job = NULL;
    if (status == NATIVE_OK && !keep_module(c, module)) module = NULL;
    const bool of_kernels = c->of_kernels;
    c->of_kernels = false;
    if (of_kernels)
        kernels_settle(c->kernels, module);
    else
        settle(c, module);
    return module ? CODE_CAME : of_kernels ? CODE_IDLE : CODE_FAILED; /* lists do as well */
}

code_state model_code_poll(model_code *c, char *reason)
{
    if (pthread_mutex_trylock(&c->lock) != 0) return CODE_BUSY; /* another solver asks */
    code_state state = c->job || c->beginning ? CODE_BUSY : CODE_IDLE;
    if (c->job && !native_job_is_ours(c->job))
        state = disown(c);
    else if (c->job && native_job_done(c->job))
        state = finish(c, reason);
    leave(c);
    return state;
}

void model_code_reap(model_code *c)
{
    char unread[NATIVE_REASON];
    model_code_poll(c, unread);
}

code_state model_code_wait(model_code *c, char *reason)
{
    long pause = 500000;
    code_state state;
    while ((state = model_code_poll(c, reason)) == CODE_BUSY && !interrupted_now()) {
        nanosleep(&(struct timespec){0, pause}, NULL);
        if (pause < 20000000) pause += pause / 4;
    }
    return state;
}

double model_code_seconds(model_code *c)
{
    enter(c);
    double seconds = c->seconds + (c->job ? native_job_age(c->job) : 0.0);
    leave(c);
    return seconds;
}

double model_code_earlier(model_code *c)
{
    enter(c);
    double earlier = c->earlier;
    leave(c);
    return earlier;
}

double model_code_forecast(double length)
{
    return native_seconds(BYTES * length);
}
