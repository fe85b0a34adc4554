/* The list of models. To add one: a factory in its own file, a line in support.h and one here. */
#include "support.h"

#include <string.h>

static const struct {
    const char *name;
    model *(*create)(int size);
} registry[] = {
    {"robertson", new_robertson},
    {"akzo", new_akzo},
    {"transamp", new_transamp},
    {"hires", new_hires},
    {"ringmod", new_ringmod},
    {"pendulum1", new_pendulum1},
    {"pendulum2", new_pendulum2},
    {"pendulum3", new_pendulum3},
    {"pendulum_rest", new_pendulum_rest},
    {"trajectory1", new_trajectory1},
    {"trajectory2", new_trajectory2},
    {"heat2d", new_heat2d},
    {"ladder", new_ladder},
    {"brusselator", new_brusselator},
};

int model_count(void)
{
    return (int)(sizeof registry / sizeof registry[0]);
}

const char *model_name(int i)
{
    return i >= 0 && i < model_count() ? registry[i].name : NULL;
}

model *model_new(const char *name, int size)
{
    if (!name || size < 0) return NULL;
    for (int i = 0; i < model_count(); i++)
        if (strcmp(registry[i].name, name) == 0) return registry[i].create(size);
    return NULL;
}
