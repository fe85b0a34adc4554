/* Every method, one line each. */
#include "method/method.h"

#include <string.h>

static const method *const methods[] = {
    &method_bdf,
};

enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

const method *method_find(const char *name)
{
    if (strcmp(name, "auto") == 0) return methods[0];
    for (int i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, methods[i]->name) == 0) return methods[i];
    return NULL;
}

static const method *method_at(int i)
{
    return i >= 0 && i < METHOD_COUNT ? methods[i] : NULL;
}

const char *dae_method_name(int i)
{
    return method_at(i) ? method_at(i)->name : NULL;
}

const char *dae_method_summary(int i)
{
    return method_at(i) ? method_at(i)->summary : NULL;
}

const char *dae_method_citation(int i)
{
    return method_at(i) ? method_at(i)->citation : NULL;
}
