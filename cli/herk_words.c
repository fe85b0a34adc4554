/* --herk NAME=VALUE,..: the options of method herk, by their names in the thesis of Baese. */
#define _XOPEN_SOURCE 700 /* strncasecmp */
#include "run.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* A name, and what it sets: a number, or a switch. */
typedef struct word {
    const char *name;
    double *number;
    dae_switch *choice;
} word;

enum { WORDS = 10, LONGEST_NUMBER = 64 };

static void list_words(request *r, word *words)
{
    const word all[WORDS] = {{"ssc", NULL, &r->herk.adaptive_steps},
                             {"beta", &r->herk.safety, NULL},
                             {"eps0", &r->atol, NULL},
                             {"h0", &r->herk_step, NULL},
                             {"tol", &r->herk.newton_tolerance, NULL},
                             {"ptol", &r->herk.pivot_tolerance, NULL},
                             {"delta", &r->herk.increment, NULL},
                             {"Jopt", NULL, &r->herk.given_jacobian},
                             {"Estat", NULL, &r->herk.constant_E},
                             {"Nopt", NULL, &r->herk.simplified_newton}};
    memcpy(words, all, sizeof all);
}

static const char *word_name(int i, const void *user)
{
    return i < WORDS ? ((const word *)user)[i].name : NULL;
}

/* 1 or 0 */
static int read_switch(const word *w, const char *text, dae_switch *value)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return complain(CLI_USAGE, "option '--herk': %s is 0 or 1, not '%s'", w->name, text);
    *value = *text == '1' ? DAE_SWITCH_ON : DAE_SWITCH_OFF;
    return CLI_OK;
}

static int read_value(const word *w, const char *text)
{
    if (w->choice) return read_switch(w, text, w->choice);
    if (parse_double(text, w->number) && *w->number > 0.0) return CLI_OK;
    return complain(CLI_USAGE, "option '--herk': %s needs a finite number above 0, not '%s'",
                    w->name, text);
}

/* One NAME=VALUE, `length` characters long. */
static int read_word(const word *words, const char *text, size_t length)
{
    char name[LONGEST_NUMBER], value[LONGEST_NUMBER];
    const char *equals = memchr(text, '=', length);
    if (!equals || length >= LONGEST_NUMBER)
        return complain(CLI_USAGE, "option '--herk' needs NAME=VALUE,.. as beta=0.8, not '%.*s'",
                        (int)length, text);
    size_t left = (size_t)(equals - text), right = length - left - 1;
    memcpy(name, text, left);
    memcpy(value, equals + 1, right);
    name[left] = value[right] = '\0';
    for (int i = 0; i < WORDS; i++)
        if (strcasecmp(words[i].name, name) == 0) return read_value(&words[i], value);
    return complain_unknown("option of herk", name, word_name, words, "see 'daedal help run'");
}

int herk_read(request *r, const char *text)
{
    word words[WORDS];
    list_words(r, words);
    r->options.herk = &r->herk;
    r->herk.size = sizeof r->herk;
    for (;; text++) {
        size_t length = strcspn(text, ",");
        int code = read_word(words, text, length);
        text += length;
        if (code != CLI_OK || !*text) return code;
    }
}

int herk_finish(request *r)
{
    dae_options *o = &r->options;
    if (!(r->herk_step > 0.0)) return CLI_OK;
    if (o->fixed_step > 0.0 || o->initial_step > 0.0)
        return complain(CLI_USAGE,
                        "option '--%s' contradicts h0 of '--herk'; leave one of them out",
                        o->fixed_step > 0.0 ? "fixed-step" : "initial-step");
    *(r->herk.adaptive_steps == DAE_SWITCH_OFF ? &o->fixed_step : &o->initial_step) = r->herk_step;
    return CLI_OK;
}
