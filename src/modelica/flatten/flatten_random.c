/* Random numbers with a hidden state: impureRandom of the Standard Library. The state is discrete
 * variables of the model, which each draw in a when moves on: solvers have states of their own, and
 * a run repeated is the same run. */
#include <stdio.h>
#include <string.h>

#include "modelica/flatten/flatten_execute.h"

enum { STATE = 33 }; /* words of xorshift1024*, and its place among them */

struct impure_random {
    double start[STATE];
    bool started;        /* `start` is known */
    bool drawn;          /* the variables are there */
    int variable[STATE]; /* of the model */
    expr now[STATE];     /* behind the draws so far, where an algorithm makes them */
    bool equations;      /* when-equations draw; else algorithms */
};

static bool is_named(const ast_class *fn, const char *name)
{
    return strcmp(fn->external_call->parts[0].name, name) == 0;
}

bool is_random_function(const ast_class *fn)
{
    return is_named(fn, "ModelicaRandom_impureRandom_xorshift1024star") ||
           is_named(fn, "ModelicaRandom_setInternalState_xorshift1024star");
}

static struct impure_random *random_of(flattener *f)
{
    arena *active = f->scope.active;
    f->scope.active = f->permanent;
    if (!f->random) f->random = flatten_take(f, sizeof *f->random);
    f->scope.active = active;
    return f->random;
}

static bool refuse(flattener *f, const ast_class *fn, const char *why)
{
    return report_error(f, fn->external_place, "random numbers with a hidden state: %s", why);
}

/* The state before the first draw. */
static bool take_start(flattener *f, const ast_class *fn, const value *v)
{
    struct impure_random *r = random_of(f);
    if (!r || value_is_error(v)) return false;
    if (v->count != STATE || !value_is_numeric(v)) return refuse(f, fn, "the state is 33 Integers");
    for (size_t k = 0; k < STATE; k++) {
        double x;
        if (!compile_time_value(f, value_element(v, k), &x))
            return refuse(f, fn, "the seed must be known before the run");
        if (r->drawn && r->start[k] != x)
            return refuse(f, fn, "it is set once, before the first number is drawn");
        r->start[k] = x;
    }
    r->started = true;
    return true;
}

/* Where nothing sets the state it is that of the seeds id and id. */
static bool start_from(flattener *f, const ast_class *fn, const value *id, source_place place)
{
    const ast_class *make =
        library_class(f, "'Modelica.Math.Random.Generators.Xorshift1024star.initialState'");
    value seeds[2] = {*id, *id};
    bool given[2] = {true, true};
    value state = make ? invoke(f, make, seeds, given, place) : value_error();
    return take_start(f, fn, &state);
}

static bool make_variables(flattener *f, struct impure_random *r, source_place place)
{
    for (int k = 0; k < STATE; k++) {
        char name[32];
        snprintf(name, sizeof name, "$random%d", k + 1);
        r->variable[k] = hidden_discrete(f, name, VALUE_INTEGER, place);
        if (r->variable[k] < 0) return false;
        flat_variable *v = &f->m->variables[r->variable[k]];
        v->start = constant(f, r->start[k]);
        v->has_start = v->fixed = true;
        r->now[k] = graph_memory(f->g, v->memory_pre);
    }
    r->drawn = true;
    return true;
}

/* The assignment of a word in the when at hand, if a draw before this one made it. */
static flat_action *earlier_action(flattener *f, int variable)
{
    for (size_t k = 0; k < f->scope.actions->count; k++)
        if (f->scope.actions->items[k].variable == variable) return &f->scope.actions->items[k];
    return NULL;
}

static expr word_before(flattener *f, const struct impure_random *r, int k)
{
    const flat_action *a = f->scope.actions ? earlier_action(f, r->variable[k]) : NULL;
    if (a) return a->value;
    return f->scope.actions ? graph_memory(f->g, f->m->variables[r->variable[k]].memory_pre)
                            : r->now[k];
}

/* In a when-equation: the word behind this draw is assigned with the rest. */
static void act(flattener *f, int variable, expr word, source_place place)
{
    flat_action *a = earlier_action(f, variable);
    if (a)
        a->value = word;
    else
        push_action(
            f, f->scope.actions,
            (flat_action){
                .kind = ACTION_ASSIGN, .variable = variable, .value = word, .place = place});
}

/* In an algorithm: one equation for the word behind all draws. */
static void define(flattener *f, struct impure_random *r, int k, expr word, source_place place)
{
    expr left = graph_memory(f->g, f->m->variables[r->variable[k]].memory),
         guard = current_guard(f);
    r->now[k] = guard == EXPR_NONE ? word : graph_select(f->g, guard, word, r->now[k]);
    for (size_t i = f->target->count; i > 0; i--)
        if (f->target->items[i - 1].left == left) {
            f->target->items[i - 1].right = r->now[k];
            return;
        }
    push_pair(f, f->target,
              (equation_pair){.left = left,
                              .right = r->now[k],
                              .type = VALUE_INTEGER,
                              .place = place,
                              .assigned = true});
}

static bool may_draw(flattener *f, const ast_class *fn, struct impure_random *r)
{
    const bool equations = f->scope.actions != NULL;
    if (!f->scope.in_when || f->scope.in_initial || f->scope.checks || f->scope.parameters_only)
        return refuse(f, fn, "they are drawn in when-clauses");
    if (equations && current_guard(f) != EXPR_NONE)
        return refuse(f, fn, "a when-equation draws them outside of if");
    if (r->drawn && r->equations != equations)
        return refuse(f, fn, "draw them in when-equations or in algorithms, not in both");
    r->equations = equations;
    return true;
}

/* The next number; the state moves on. */
static bool draw(flattener *f, const ast_class *fn, const value *id, source_place place)
{
    struct impure_random *r = random_of(f);
    const ast_class *step = library_class(f, "'external.ModelicaRandom_xorshift1024star'");
    const size_t dims[1] = {STATE};
    value state = value_new(f, VALUE_INTEGER, 1, dims);
    const bool given[1] = {true};
    source_place here = place_in_file(f, fn->external_place);
    if (!r || !step || value_is_error(&state) || !may_draw(f, fn, r)) return false;
    if (!r->started && !start_from(f, fn, id, place)) return false;
    if (!r->drawn && !make_variables(f, r, here)) return false;
    for (int k = 0; k < STATE; k++) state.e[k] = word_before(f, r, k);
    value results = invoke(f, step, &state, given, place);
    if (results.type != VALUE_TUPLE) return false;
    for (size_t k = 0; k < STATE; k++) {
        expr word = value_element(&results.fields[0], k);
        if (f->scope.actions)
            act(f, r->variable[k], word, here);
        else
            define(f, r, (int)k, word, here);
    }
    return assign_reference(f, fn->external_result, &results.fields[1]);
}

bool call_random_function(flattener *f, const ast_class *fn, source_place place)
{
    const ast_expr *call = fn->external_call;
    value first = call->arg_count > 0 ? evaluate(f, call->args[0]) : value_error();
    if (value_is_error(&first)) return false;
    if (is_named(fn, "ModelicaRandom_setInternalState_xorshift1024star"))
        return take_start(f, fn, &first);
    if (!fn->external_result) return refuse(f, fn, "a draw has a result");
    return draw(f, fn, &first, place);
}
