#include "base/diag.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void diag_clear(dae_diag *diag)
{
    if (!diag) return;
    memset(diag, 0, sizeof *diag);
    diag->variable = diag->equation = -1;
}

dae_status diag_set(dae_diag *diag, dae_status status, const char *format, ...)
{
    if (!diag) return status;
    diag->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(diag->text, sizeof diag->text, format, args);
    va_end(args);
    make_printable(diag->text, sizeof diag->text);
    return status;
}

void diag_append(dae_diag *diag, const char *format, ...)
{
    if (!diag) return;
    size_t used = strlen(diag->text);
    va_list args;
    va_start(args, format);
    vsnprintf(diag->text + used, sizeof diag->text - used, format, args);
    va_end(args);
    make_printable(diag->text + used, sizeof diag->text - used);
}

void diag_variable(dae_diag *diag, int variable, const char *name)
{
    if (!diag) return;
    diag->variable = variable;
    if (name)
        snprintf(diag->variable_name, sizeof diag->variable_name, "%s", name);
    else
        snprintf(diag->variable_name, sizeof diag->variable_name, "y[%d]", variable);
    make_printable(diag->variable_name, sizeof diag->variable_name);
}

void diag_equation(dae_diag *diag, int equation, const char *name)
{
    if (!diag) return;
    diag->equation = equation;
    if (name)
        snprintf(diag->equation_name, sizeof diag->equation_name, "%s", name);
    else
        snprintf(diag->equation_name, sizeof diag->equation_name, "F[%d]", equation);
    make_printable(diag->equation_name, sizeof diag->equation_name);
}
