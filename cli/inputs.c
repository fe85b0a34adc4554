/* What inputs of a model follow: the words of --input, --input-mode and --input-hold. */
#define _POSIX_C_SOURCE 200809L

#include "cli.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return complain(CLI_FAILED, "out of memory");
}

/* The first such character outside of quotes; NULL: there is none. */
static const char *find_sign(const char *text, char sign)
{
    bool quoted = false;
    for (; *text; text++) {
        if (quoted && *text == '\\' && text[1])
            text++;
        else if (*text == '\'' || *text == '"')
            quoted = !quoted;
        if (!quoted && *text == sign) return text;
    }
    return NULL;
}

/* A copy of text[0 .. length) without blanks around it; NULL: memory. */
static char *copy_trimmed(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || *text == '\t')) text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    return strndup(text, length);
}

/* "NAME = COLUMN @ FILE" or "NAME = EXPRESSION" */
static int read_assignment(dae_input *in, const char *text, const char *equals)
{
    const char *at = find_sign(equals + 1, '@');
    in->name = copy_trimmed(text, (size_t)(equals - text));
    if (at) {
        in->column = copy_trimmed(equals + 1, (size_t)(at - equals - 1));
        in->file = copy_trimmed(at + 1, strlen(at + 1));
    } else {
        in->expression = copy_trimmed(equals + 1, strlen(equals + 1));
    }
    if (!in->name || (at ? !in->column || !in->file : !in->expression)) return no_memory();
    bool empty = !in->name[0] || (at ? !in->file[0] : !in->expression[0]);
    if (at && !in->column[0]) {
        free((char *)in->column);
        in->column = NULL;
    }
    return empty ? complain(CLI_USAGE,
                            "option '--input' needs FILE, 'NAME = EXPRESSION' or 'NAME = COLUMN @ "
                            "FILE', not '%s'",
                            text)
                 : CLI_OK;
}

int inputs_add(inputs *all, const char *text)
{
    dae_input *list = realloc(all->list, ((size_t)all->count + 1) * sizeof *list);
    if (!list) return no_memory();
    all->list = list;
    dae_input *in = &list[all->count++];
    *in = (dae_input){.mode = all->mode, .hold = all->hold};
    const char *equals = find_sign(text, '='), *slash = strchr(text, '/');
    if (equals && !(slash && slash < equals)) return read_assignment(in, text, equals);
    in->file = strdup(text);
    return in->file ? CLI_OK : no_memory();
}

int inputs_mode(inputs *all, const char *word)
{
    static const char *const names[] = {"linear", "cubic", "step"};
    for (int k = 0; k < 3; k++)
        if (strcmp(word, names[k]) == 0) {
            all->mode = (dae_input_mode)k;
            return CLI_OK;
        }
    return complain(CLI_USAGE, "--input-mode %s: it is linear, cubic or step", word);
}

void inputs_free(inputs *all)
{
    for (int k = 0; k < all->count; k++) {
        const dae_input *in = &all->list[k];
        free((char *)in->name);
        free((char *)in->expression);
        free((char *)in->file);
        free((char *)in->column);
    }
    free(all->list);
    *all = (inputs){0};
}
