/* External functions of a model's own: C code that is compiled and called, where that is allowed.
 * A call whose arguments are known before the run is made now. If one number of them is of the run,
 * the call becomes a function from outside in the graph, with derivatives by differences. */
#define _XOPEN_SOURCE 700
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "expr/emit.h"
#include "expr/native.h"
#include "modelica/flatten/flatten_execute.h"

/* What the compiled text has: numbers and texts in, numbers out. */
typedef void (*own_function)(double *x, const char *const *s, double *y);

/* What was compiled: the text without the paths and dates that it depends on, and its function. */
typedef struct own_code {
    const char *text;
    own_function function;
} own_code;

/* An argument of the call, or its result: a value, or an output. */
typedef struct own_argument {
    const ast_expr *output; /* NULL: a value */
    value v;                /* of an output: its cells */
    size_t first;           /* of its elements among numbers in, texts or numbers out */
    bool is_size;           /* size(..), which is a size_t */
} own_argument;

typedef struct own_call {
    flattener *f;
    const ast_class *fn;
    const char *name;
    own_argument *arguments; /* [0]: the result, if there is one */
    size_t count;
    double *in;
    const char **texts;
    size_t in_count, text_count, out_count;
    expr varying; /* the one number of the run; EXPR_NONE: all are known */
    size_t varying_at;
    bool varying_steps; /* it is no Real */
} own_call;

/* ---- arguments ---- */

static bool refuse(const own_call *c, const char *why)
{
    return report_error(c->f, c->fn->external_place, "the external function '%s': %s", c->name,
                        why);
}

static bool is_size_call(const ast_expr *e)
{
    return e->kind == AST_CALL && e->part_count == 1 && e->parts[0].name &&
           strcmp(e->parts[0].name, "size") == 0;
}

/* What the code writes to: an output of the function; NULL: none. */
static const local *written_variable(const own_call *c, const ast_expr *e)
{
    return is_output(c->fn, e) ? find_local(c->f, e->parts[0].name) : NULL;
}

static bool take_output(own_call *c, const ast_expr *e, const local *l, own_argument *a)
{
    *a = (own_argument){.output = e, .v = l->value, .first = c->out_count};
    if (l->value.type != VALUE_REAL && l->value.type != VALUE_INTEGER &&
        l->value.type != VALUE_BOOLEAN)
        return refuse(c, "results are Real, Integer or Boolean");
    c->out_count += l->value.count;
    return true;
}

static bool take_value(own_call *c, const ast_expr *e, own_argument *a)
{
    *a = (own_argument){.v = evaluate(c->f, e), .is_size = is_size_call(e)};
    if (value_is_error(&a->v)) return false;
    if (!value_is_simple(&a->v))
        return refuse(c, "arguments are numbers, texts and arrays of them");
    size_t *count = a->v.type == VALUE_STRING ? &c->text_count : &c->in_count;
    a->first = *count;
    *count += a->v.count;
    return true;
}

static bool take_arguments(own_call *c)
{
    const ast_expr *call = c->fn->external_call, *result = c->fn->external_result;
    c->count = call->arg_count + 1;
    c->arguments = flatten_take(c->f, c->count * sizeof *c->arguments);
    bool ok = c->arguments != NULL;
    for (size_t k = 0; ok && k < c->count; k++) {
        const ast_expr *e = k ? call->args[k - 1] : result;
        const local *l = written_variable(c, e);
        if (!e && k == 0) continue;
        if (k == 0 && (!l || l->value.rank))
            return refuse(c, "what stands before '=' is an output, and no array");
        ok = e && (l ? take_output(c, e, l, &c->arguments[k]) : take_value(c, e, &c->arguments[k]));
    }
    return ok;
}

/* One number of an argument: known, or the one that is not. */
static bool take_number(own_call *c, const own_argument *a, size_t k)
{
    expr e = value_element(&a->v, k);
    if (compile_time_value(c->f, e, &c->in[a->first + k])) return true;
    if (c->varying != EXPR_NONE && c->varying != e)
        return refuse(c, "more than one of its arguments changes during the run; Daedal calls it "
                         "with one that does");
    if (c->varying != EXPR_NONE || a->v.rank)
        return refuse(c, "the argument that changes during the run is one number, and stands once "
                         "among its arguments");
    c->varying = e;
    c->varying_at = a->first + k;
    c->varying_steps = a->v.type != VALUE_REAL;
    return true;
}

static bool take_elements(own_call *c)
{
    c->in = model_take(c->f, (c->in_count + 1) * sizeof *c->in);
    c->texts = model_take(c->f, (c->text_count + 1) * sizeof *c->texts);
    bool ok = c->in && c->texts;
    for (size_t k = 0; ok && k < c->count; k++) {
        const own_argument *a = &c->arguments[k];
        if (a->output || a->v.type == VALUE_ERROR) continue;
        for (size_t i = 0; ok && i < a->v.count; i++) {
            if (a->v.type != VALUE_STRING) {
                ok = take_number(c, a, i);
                continue;
            }
            const text_piece *t = string_of(c->f, string_resolve(c->f, value_element(&a->v, i)));
            if (!t || t->hole_count) return refuse(c, "its texts must be known before the run");
            c->texts[a->first + i] = model_text(c->f, t->text);
            ok = c->texts[a->first + i] != NULL;
        }
    }
    return ok;
}

/* ---- the text of C ---- */

static const char *c_type(const own_argument *a)
{
    if (a->v.type == VALUE_STRING) return "const char *";
    return a->is_size ? "size_t" : a->v.type == VALUE_REAL ? "double" : "int";
}

/* How the function is called by convention, where no Include declares it. */
static void write_prototype(const own_call *c, emit_text *t)
{
    bool result = c->arguments[0].output != NULL;
    emit_append(t, "%s %s(", result ? c_type(&c->arguments[0]) : "void", c->name);
    for (size_t k = 1; k < c->count; k++) {
        const own_argument *a = &c->arguments[k];
        bool pointer = a->output || a->v.rank;
        emit_append(t, "%s%s%s%s", k > 1 ? ", " : "", !a->output && pointer ? "const " : "",
                    c_type(a), pointer ? " *" : "");
    }
    emit_put(t, c->count > 1 ? ");\n" : "void);\n");
}

/* Arrays that C wants in another type than double. */
static void write_locals(const own_call *c, emit_text *t)
{
    for (size_t k = 0; k < c->count; k++) {
        const own_argument *a = &c->arguments[k];
        bool whole = a->v.type == VALUE_INTEGER || a->v.type == VALUE_BOOLEAN ||
                     a->v.type == VALUE_ENUMERATION;
        if (a->output)
            emit_append(t, "    %s a%zu[%zu] = {0};\n", c_type(a), k, a->v.count + 1);
        else if (whole && a->v.rank)
            emit_append(t,
                        "    int a%zu[%zu];\n"
                        "    for (int k = 0; k < %zu; k++) a%zu[k] = (int)x[%zu + k];\n",
                        k, a->v.count + 1, a->v.count, k, a->first);
    }
}

static void write_argument(const own_call *c, size_t k, emit_text *t)
{
    const own_argument *a = &c->arguments[k];
    const char *comma = k > 1 ? ", " : "";
    if (a->output)
        emit_append(t, "%sa%zu", comma, k);
    else if (a->v.type == VALUE_STRING)
        emit_append(t, a->v.rank ? "%s(void *)(s + %zu)" : "%ss[%zu]", comma, a->first);
    else if (a->v.rank && a->v.type == VALUE_REAL)
        emit_append(t, "%sx + %zu", comma, a->first);
    else if (a->v.rank)
        emit_append(t, "%sa%zu", comma, k);
    else
        emit_append(t, "%s(%s)x[%zu]", comma, c_type(a), a->first);
}

static void write_call(const own_call *c, emit_text *t)
{
    emit_put(t, "void daedal_call(double *x, const char *const *s, double *y)\n{\n");
    write_locals(c, t);
    emit_append(t, "    (void)%s;\n    ", c->name); /* an error where it is not declared */
    if (c->arguments[0].output) emit_put(t, "a0[0] = ");
    emit_append(t, "%s(", c->name);
    for (size_t k = 1; k < c->count; k++) write_argument(c, k, t);
    emit_put(t, ");\n");
    for (size_t k = 0; k < c->count; k++) {
        const own_argument *a = &c->arguments[k];
        if (a->output)
            emit_append(t, "    for (int k = 0; k < %zu; k++) y[%zu + k] = a%zu[k];\n", a->v.count,
                        a->first, k);
    }
    emit_put(t, "}\n");
}

/* ---- annotations ---- */

/* A text of the annotation, or element k of a list of texts; NULL: there is none. */
static const char *note(const own_call *c, const char *name, size_t k)
{
    const ast_class *fn = c->fn;
    for (size_t i = 0; i < fn->external_note_count; i++) {
        const ast_modification *m = &fn->external_notes[i];
        if (!m->name || strcmp(m->name, name) != 0 || !m->value) continue;
        const ast_expr *e = m->value;
        if (e->kind == AST_ARRAY)
            e = k < e->arg_count ? e->args[k] : NULL;
        else if (k)
            e = NULL;
        return e && e->kind == AST_STRING ? e->text : NULL;
    }
    return NULL;
}

/* The directory that a note names, "" where it names none: that of the model. */
static const char *directory_of(const own_call *c, const char *name)
{
    const char *given = note(c, name, 0);
    if (!given) given = ".";
    if (strncmp(given, "file://", 7) == 0) given += 7;
    if (strncmp(given, "modelica://", 11) != 0) return path_beside_model(c->f, given);
    report_error(c->f, c->fn->external_place,
                 "%s of '%s' is a URI of a library, '%s': write its path", name, c->name, given);
    return NULL;
}

/* The name in a line #include "name"; its length, 0: it is no such line. */
static size_t included_name(const char *line, const char **name)
{
    line += strspn(line, " \t");
    if (*line != '#') return 0;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, "include", 7) != 0) return 0;
    line += 7 + strspn(line + 7, " \t");
    if (*line != '"') return 0;
    *name = line + 1;
    size_t length = strcspn(*name, "\"\n");
    return (*name)[length] == '"' ? length : 0;
}

/* The Include, with whole paths of files that lie in its directory. *files: there are some. */
static bool write_include(const own_call *c, emit_text *t, bool *files)
{
    const char *text = note(c, "Include", 0), *directory = NULL, *name = NULL;
    if (!text) return true;
    if (!(directory = directory_of(c, "IncludeDirectory"))) return false;
    emit_append(t, "#line 1 \"Include of %s\"\n", c->name);
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        size_t n = included_name(text, &name);
        const char *path = n ? flatten_text(c->f, "%s/%.*s", directory, (int)n, name) : NULL;
        char *whole = path ? realpath(path, NULL) : NULL;
        if (whole)
            emit_append(t, "#include \"%s\"\n", whole);
        else
            emit_append(t, "%.*s\n", (int)length, text);
        if (whole) *files = true;
        free(whole);
    }
    return true;
}

/* Libraries that the code calls, where the directory has them or the system; libc and libm are
 * there. */
static bool open_libraries(const own_call *c)
{
    const char *directory = NULL, *name;
    for (size_t k = 0; (name = note(c, "Library", k)) != NULL; k++) {
        if (strcmp(name, "m") == 0 || strcmp(name, "c") == 0) continue;
        if (!directory && !(directory = directory_of(c, "LibraryDirectory"))) return false;
        const char *path = flatten_text(c->f, "%s/lib%s.so", directory, name);
        const char *plain = flatten_text(c->f, "lib%s.so", name);
        char *whole = path ? realpath(path, NULL) : NULL;
        void *handle = plain ? dlopen(whole ? whole : plain, RTLD_NOW | RTLD_GLOBAL) : NULL;
        free(whole);
        if (!handle)
            return report_error(c->f, c->fn->external_place,
                                "Library \"%s\" of '%s' cannot be loaded: a shared library, "
                                "lib%s.so, is looked for in '%s' and by the system",
                                name, c->name, name, directory);
    }
    return true;
}

/* ---- compiling ---- */

static own_function find_code(const flattener *f, const char *text)
{
    for (size_t k = 0; k < f->own_code_count; k++)
        if (strcmp(f->own_codes[k].text, text) == 0) return f->own_codes[k].function;
    return NULL;
}

/* The function of a text; it stays in the process, as its code may keep what it likes. */
static own_function load_code(const own_call *c, const char *text, size_t length)
{
    char reason[NATIVE_REASON];
    own_function function = NULL;
    native_module *module = NULL;
    native_status status = native_load(text, length, &module, reason);
    if (status == NATIVE_MEMORY) c->f->failed = true;
    if (status != NATIVE_OK && status != NATIVE_MEMORY) refuse(c, reason);
    if (status != NATIVE_OK) return NULL;
    native_function found = native_find(module, "daedal_call");
    memcpy(&function, &found, sizeof function);
    native_leave(module);
    if (!function) refuse(c, "the compiled code does not have it");
    return function;
}

/* Files that are included may change: then what was compiled before does not count. */
static void write_date(emit_text *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    emit_append(t, "/* %lld.%09ld */\n", (long long)now.tv_sec, now.tv_nsec);
}

static own_function compile(const own_call *c)
{
    flattener *f = c->f;
    emit_text t = {0};
    bool files = note(c, "Library", 0) != NULL;
    own_function function = NULL;
    emit_put(&t, "#include <stddef.h>\n");
    bool ok = write_include(c, &t, &files);
    emit_append(&t, "#line 1 \"call of %s\"\n", c->name);
    if (!note(c, "Include", 0)) write_prototype(c, &t);
    write_call(c, &t);
    ok = ok && !t.failed;
    if (t.failed) f->failed = true;
    if (ok && (function = find_code(f, t.text)) == NULL && open_libraries(c)) {
        own_code *code = flatten_push(f, &f->own_codes, &f->own_code_count, &f->own_code_capacity,
                                      sizeof *f->own_codes);
        const char *copy = code ? model_text(f, t.text) : NULL;
        if (copy)
            code->text = copy;
        else if (code)
            f->own_code_count--;
        if (copy && files) write_date(&t);
        if (t.failed) f->failed = true;
        function = copy && !t.failed ? load_code(c, t.text, t.length) : NULL;
        if (copy) f->own_codes[f->own_code_count - 1].function = function;
    }
    emit_free(&t);
    return function;
}

/* ---- calling ---- */

/* A call with one number of the run. */
typedef struct own_signal {
    own_function function;
    double *in, *x, *y; /* arguments; room for them and for results */
    const char *const *texts;
    size_t in_count, varying, out;
    bool steps;
} own_signal;

/* Code of others need not be prepared for several threads. */
static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;

static double value_at(const own_signal *s, double x)
{
    pthread_mutex_lock(&one_call);
    memcpy(s->x, s->in, s->in_count * sizeof *s->x);
    s->x[s->varying] = x;
    s->function(s->x, s->texts, s->y);
    double y = s->y[s->out];
    pthread_mutex_unlock(&one_call);
    return y;
}

enum { ORDERS = 3 }; /* derivatives by differences: beyond it nothing would be left of them */

/* The order-th derivative by central differences, with the step that loses fewest digits. */
static double difference_at(const own_signal *s, double x, int order)
{
    double size = fmax(fabs(x), 1.0) * pow(DBL_EPSILON, 1.0 / (order + 2));
    volatile double above = x + size;
    double h = above - x, up = value_at(s, x + h), down = value_at(s, x - h);
    if (order == 1) return (up - down) / (2.0 * h);
    if (order == 2) return (up - 2.0 * value_at(s, x) + down) / (h * h);
    double far = value_at(s, x + 2.0 * h) - value_at(s, x - 2.0 * h);
    return (far - 2.0 * (up - down)) / (2.0 * h * h * h);
}

static int signal_value(double x, int order, double jump, double *out, void *user)
{
    const own_signal *s = user;
    (void)jump;
    if (order > ORDERS) return 1;
    *out = order == 0 ? value_at(s, x) : s->steps ? 0.0 : difference_at(s, x, order);
    return isfinite(*out) ? 0 : 1;
}

static expr signal_of(own_call *c, own_function function, size_t out)
{
    flattener *f = c->f;
    own_signal *s = model_take(f, sizeof *s);
    double *room = model_take(f, (c->in_count + c->out_count + 1) * sizeof *room);
    char *name = model_text(f, c->name);
    if (!s || !room || !name) return EXPR_NONE;
    *s = (own_signal){.function = function,
                      .in = c->in,
                      .x = room,
                      .y = room + c->in_count,
                      .texts = c->texts,
                      .in_count = c->in_count,
                      .varying = c->varying_at,
                      .out = out,
                      .steps = c->varying_steps};
    graph_signal signal = {.value = signal_value, .user = s, .orders = ORDERS, .name = name};
    int number = graph_add_signal(f->g, &signal);
    return number < 0 ? EXPR_NONE
                      : graph_signal_node(f->g, number, 0, c->varying, constant(f, DBL_MAX));
}

/* Element k of an output, from the numbers out. */
static expr result_element(own_call *c, own_function function, const own_argument *a,
                           const double *y, size_t k)
{
    double x = y[a->first + k];
    if (c->varying != EXPR_NONE) return signal_of(c, function, a->first + k);
    if (!isfinite(x)) {
        refuse(c, "a result is not a finite number");
        return EXPR_NONE;
    }
    return constant(c->f, a->v.type == VALUE_BOOLEAN ? (double)(x != 0.0) : x);
}

static bool assign_outputs(own_call *c, own_function function, const double *y)
{
    flattener *f = c->f;
    for (size_t k = 0; k < c->count; k++) {
        const own_argument *a = &c->arguments[k];
        if (!a->output) continue;
        value v = value_new(f, a->v.type, a->v.rank, a->v.dims);
        if (value_is_error(&v)) return false;
        for (size_t i = 0; i < a->v.count; i++) {
            expr e = result_element(c, function, a, y, i);
            if (e == EXPR_NONE) return false;
            v.e[i] = e;
        }
        if (!assign_reference(f, a->output, &v)) return false;
    }
    return true;
}

static void see_cell(flattener *f, void *context, const expr_node *leaf)
{
    (void)f;
    if (leaf->op == EXPR_CELL) *(bool *)context = true;
}

/* Whether the one number of the run may be that of this call. */
static bool varying_allowed(own_call *c)
{
    bool cell = false, moves = false;
    if (c->varying == EXPR_NONE) return true;
    visit_begin(c->f);
    visit_leaves(c->f, c->varying, see_cell, &cell);
    if (cell) return refuse(c, "a loop whose passes are known only during the run cannot call it");
    if (!graph_reads(c->f->g, &c->varying, 1, READS_MOTION, &moves)) return !(c->f->failed = true);
    for (size_t k = 0; moves && k < c->count; k++)
        if (c->arguments[k].output && c->arguments[k].v.type != VALUE_REAL)
            return refuse(c, "an argument that moves between events has Real results only");
    for (size_t k = 0; k < c->count; k++)
        if (c->arguments[k].output && c->arguments[k].v.type == VALUE_BOOLEAN)
            return refuse(c, "a Boolean result wants arguments that are known before the run");
    return true;
}

/* The results, with all arguments known: those of the call now. */
static bool call_now(own_call *c, own_function function, double *y)
{
    double *x = flatten_take(c->f, (c->in_count + 1) * sizeof *x);
    if (!x) return false;
    memcpy(x, c->in, c->in_count * sizeof *x);
    pthread_mutex_lock(&one_call);
    function(x, c->texts, y);
    pthread_mutex_unlock(&one_call);
    return true;
}

bool call_own_code(flattener *f, const ast_class *fn)
{
    own_call c = {.f = f, .fn = fn, .name = fn->external_call->parts[0].name};
    if (fn->external_language && strcmp(fn->external_language, "C") != 0)
        return refuse(&c, "only external \"C\" is supported");
    if (!take_arguments(&c) || !take_elements(&c) || !varying_allowed(&c)) return false;
    own_function function = compile(&c);
    double *y = flatten_take(f, (c.out_count + 1) * sizeof *y);
    if (!function || !y || (c.varying == EXPR_NONE && !call_now(&c, function, y))) return false;
    return assign_outputs(&c, function, y);
}
