/* Every method: the families with the user that each is there for, and their members. */
#include "method/registry.h"

#include <string.h>

#include "base/sized.h"

static const method_family families[] = {
    {"bdf", GROUP_MULTISTEP, "a system is large and stiff, index 1 or 2; few digits do",
     "source: the method of DASSL, as Brenan, Campbell and Petzold describe it", false},
    {"bdf2nd", GROUP_MULTISTEP, "equations have second order and constraints; 3 to 6 digits",
     "source: chapters 3 and 4 of Wunderlich's thesis", false},
    {"bdfhigh", GROUP_MULTISTEP, "equations have third or higher order; 3 to 6 digits",
     "source: section 3.3 of Wunderlich's thesis, after Sand", false},
    {"glm", GROUP_MULTISTEP, "you compare peer methods; stiff equations, few digits",
     "source: appendix A of Wunderlich's thesis", false},
    {"multistep", GROUP_MULTISTEP, "you compare linear multistep formulas; constant steps",
     "source: section 3.4 of Brenan, Campbell and Petzold", false},
    {"oneleg", GROUP_MULTISTEP, "you compare one-leg formulas; constant steps",
     "source: section 3.4 of Brenan, Campbell and Petzold", false},
    {"radau", GROUP_COLLOCATION, "you are in doubt: stiff or not, index 1 to 3, any accuracy",
     "best on stiff equations from 4 digits on", true},
    {"gauss", GROUP_COLLOCATION, "oscillations must keep their size; index 1 and 2",
     "classic: projected collocation of Ascher and Petzold", false},
    {"lobattoc", GROUP_COLLOCATION, "you compare L-stable methods with stages at both ends",
     "classic: Lobatto IIIC", false},
    {"sirk", GROUP_COLLOCATION, "you compare methods that need real factors only",
     "classic: singly implicit methods of Burrage", false},
    {"irk", GROUP_COLLOCATION, "you bring an implicit Butcher table (--table)",
     "classic: implicit Runge-Kutta methods by their coefficients", false},
    {"colloc2nd", GROUP_COLLOCATION, "a mechanism is stiff, or many digits of it are wanted",
     "source: chapter 6 of Wunderlich's thesis", false},
    {"rodas", GROUP_LINEARLY_IMPLICIT, "equations are stiff, of index 1 and small; 3 to 5 digits",
     "best on stiff equations of index 1 with cheap Jacobians at few digits", false},
    {"sdirk", GROUP_LINEARLY_IMPLICIT, "steps must be damped and few digits do",
     "classic: diagonally implicit methods", false},
    {"liex", GROUP_EXTRAPOLATION, "equations are stiff, of index 1, and Newton fails",
     "source: extrapolated Euler, as in Brenan, Campbell and Petzold", false},
    {"midex", GROUP_EXTRAPOLATION, "a mechanism is not stiff and many digits are wanted",
     "classic: the method of MEXX", false},
    {"taylor", GROUP_SERIES, "a model text is smooth; 10 to 30 digits, or index above 3",
     "best on smooth models beyond 10 digits, and the only one beyond doubles", false},
    {"hem", GROUP_EXPLICIT, "y' = f(y,z), 0 = g(y) or a mechanism is not stiff",
     "source: Brasey and Hairer", false},
    {"phem", GROUP_EXPLICIT, "as hem; and you compare partitioned methods",
     "classic: the method of Murua", false},
    {"prk", GROUP_EXPLICIT, "a mechanism is not stiff; any accuracy",
     "best on mechanisms that are not stiff", true},
    {"dopri", GROUP_EXPLICIT, "an ODE, also with invariants, is not stiff",
     "classic: DOPRI5 and DOP853, with projections as in Hairer and Wanner VII.2", false},
    {"euler", GROUP_EXPLICIT, "you study drift; constant steps",
     "classic: what projections are tried with in Hairer and Wanner VII.2", false},
    {"herk", GROUP_EXPLICIT, "E x' = f has all hidden constraints and is not stiff",
     "source: Baese's thesis", true},
    {"symplectic_euler", GROUP_GEOMETRIC, "you compare symplectic methods; constant steps",
     "classic: the simplest symplectic method", false},
    {"shake", GROUP_GEOMETRIC, "you compare with molecular dynamics; constant steps",
     "classic: SHAKE", false},
    {"rattle", GROUP_GEOMETRIC, "energy must keep its size over many periods of a mechanism",
     "best on long runs of conservative mechanisms", false},
    {"lobatto", GROUP_GEOMETRIC, "as rattle; forces are costly: fewer, longer steps",
     "classic: the pairs of Jay", false},
};

static const char *const groups[] = {
    [GROUP_MULTISTEP] = "Multistep",
    [GROUP_COLLOCATION] = "Implicit Runge-Kutta and collocation",
    [GROUP_LINEARLY_IMPLICIT] = "Linearly and diagonally implicit",
    [GROUP_EXTRAPOLATION] = "Extrapolation",
    [GROUP_SERIES] = "Taylor series",
    [GROUP_EXPLICIT] = "Half-explicit and explicit",
    [GROUP_GEOMETRIC] = "Geometric",
};

#define METHOD_LISTED(id) &method_##id,
static const method *const members[] = {ALL_METHODS(METHOD_LISTED)};

static const method *const by_table[] = {TABLE_METHODS(METHOD_LISTED)};

/* Names before families had options, and what they are now: to be dropped after version 0.2. */
/* clang-format off */
static const char *const old_names[][2] = {
    {"bdf2nd_modified", "bdf2nd:modified"}, {"bdf2nd_faithful", "bdf2nd:thesis"},
    {"glm3", "glm"},
    {"radau5", "radau:5"}, {"radau9", "radau:9"}, {"radau13", "radau:13"},
    {"gauss6", "gauss:6"}, {"gauss2", "gauss:2"}, {"gauss4", "gauss:4"}, {"gauss8", "gauss:8"},
        {"gauss10", "gauss:10"},
    {"lobattoc4", "lobattoc:4"}, {"lobattoc2", "lobattoc:2"}, {"lobattoc6", "lobattoc:6"},
    {"sirk22", "sirk:2"}, {"sirk23", "sirk:3"},
    {"colloc2nd_radau5", "colloc2nd:9"}, {"colloc2nd_radau1", "colloc2nd:1"},
        {"colloc2nd_radau2", "colloc2nd:3"}, {"colloc2nd_radau3", "colloc2nd:5"},
        {"colloc2nd_radau4", "colloc2nd:7"}, {"colloc2nd_gauss1", "colloc2nd:2"},
        {"colloc2nd_gauss2", "colloc2nd:4"}, {"colloc2nd_gauss3", "colloc2nd:6"},
        {"colloc2nd_gauss4", "colloc2nd:8"}, {"colloc2nd_gauss5", "colloc2nd:10"},
        {"colloc2nd_faithful", "colloc2nd:3:thesis"},
        {"colloc2nd_faithful_gauss", "colloc2nd:4:thesis"},
    {"rodasp", "rodas:p"}, {"rodas4p2", "rodas:p2"}, {"rodas3", "rodas:3"},
    {"sdirk4", "sdirk:4"}, {"sdirk2", "sdirk:2"}, {"sdirk3", "sdirk:3"},
    {"hem5", "hem:5"}, {"hem3", "hem:3"}, {"hem4", "hem:4"},
    {"phem5", "phem"},
    {"dopri5", "dopri:5"}, {"dop853", "dopri:8"},
    {"herk-euler", "herk:1"}, {"herk-heun", "herk:2"}, {"herk-kutta3", "herk:3"},
        {"herk-rk4", "herk:4"}, {"herk-hem4", "herk:hem4"}, {"herk-dopri5", "herk:5"},
        {"herk-dop853", "herk:8"}, {"herk-faithful", "herk:thesis"},
        {"herk-faithful-euler", "herk:1:thesis"}, {"herk-faithful-heun", "herk:2:thesis"},
        {"herk-faithful-kutta3", "herk:3:thesis"}, {"herk-faithful-rk4", "herk:4:thesis"},
    {"rattle4", "rattle:4"}, {"rattle6", "rattle:6"}, {"rattle8", "rattle:8"},
    {"lobatto4", "lobatto:4"}, {"lobatto6", "lobatto:6"},
};
/* clang-format on */

enum {
    FAMILIES = sizeof families / sizeof families[0],
    MEMBERS = sizeof members / sizeof *members,
    OLD_NAMES = sizeof old_names / sizeof *old_names
};

const method *method_member_at(int i)
{
    return i >= 0 && i < MEMBERS ? members[i] : NULL;
}

const char *method_replacement(const char *name)
{
    for (int i = 0; i < OLD_NAMES; i++)
        if (old_names[i][0][0] == name[0] && strcmp(old_names[i][0], name) == 0)
            return old_names[i][1];
    return NULL;
}

/* The old name of a member, "": it has none */
static const char *old_name_of(const char *name)
{
    for (int i = 0; i < OLD_NAMES; i++)
        if (strcmp(old_names[i][1], name) == 0) return old_names[i][0];
    return "";
}

const method *method_by_table(const char *name)
{
    for (size_t i = 0; i < sizeof by_table / sizeof *by_table; i++)
        if (method_family_of(by_table[i]->name) == method_family_of(name)) return by_table[i];
    return NULL;
}

/* The name's part before a colon is that of the family. */
const method_family *method_family_of(const char *name)
{
    size_t length = strcspn(name, ":");
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].name[0] == name[0] && strncmp(families[i].name, name, length) == 0 &&
            !families[i].name[length])
            return &families[i];
    return NULL;
}

/* A member's own name, as options that are checked have it, is found by its address. */
const method *method_find(const char *name)
{
    if (strcmp(name, "auto") == 0) return &method_bdf;
    if (name == method_integrator.name) return &method_integrator;
    for (int i = 0; i < MEMBERS; i++)
        if (members[i]->name == name) return members[i];
    return method_select(name, 0, NULL, NULL);
}

/* All sets, strongest forms first: each line doubles the texts so far, without and with one form.
 */
#define TEXT_6(text, comma) text, text comma "residual"
#define TEXT_5(text, comma) TEXT_6(text, comma), TEXT_6(text comma "manifold", ", ")
#define TEXT_4(text, comma) TEXT_5(text, comma), TEXT_5(text comma "quasilinear", ", ")
#define TEXT_3(text, comma) TEXT_4(text, comma), TEXT_4(text comma "hessenberg", ", ")
#define TEXT_2(text, comma) TEXT_3(text, comma), TEXT_3(text comma "second order", ", ")
#define TEXT_1(text, comma) TEXT_2(text, comma), TEXT_2(text comma "mechanical", ", ")

const char *forms_text(unsigned forms)
{
    static const unsigned order[] = {FORM_MECHANICAL,  FORM_SECOND_ORDER, FORM_HESSENBERG,
                                     FORM_QUASILINEAR, FORM_MANIFOLD,     FORM_RESIDUAL};
    static const char *const texts[] = {TEXT_1("", "")};
    size_t at = 0;
    if (forms == FORM_SERIES) return "series";
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        at = 2 * at + ((forms & order[k]) != 0);
    return texts[at];
}

const char *dae_method_name(int i)
{
    return method_member_at(i) ? method_member_at(i)->name : NULL;
}

void dae_method_info_fill(int i, dae_method_info *info, size_t size)
{
    const method *m = method_member_at(i);
    dae_method_info full = {0};
    if (m) {
        const method_family *f = method_family_of(m->name);
        full = (dae_method_info){.name = m->name,
                                 .family = f->name,
                                 .variant = method_variant(m->name),
                                 .order = method_order(m->name),
                                 .max_order = m->max_order,
                                 .variable_order = !m->fixed_order || m->own_order,
                                 .constant_steps = m->constant_steps,
                                 .by_tolerance = f->by_tolerance && method_order(m->name) == 0,
                                 .group = groups[f->group],
                                 .use = f->use,
                                 .reason = f->reason,
                                 .summary = m->summary,
                                 .citation = m->citation,
                                 .forms = forms_text(m->forms ? m->forms : FORM_RESIDUAL),
                                 .index_range = m->index_range ? m->index_range : "1",
                                 .old_name = old_name_of(m->name)};
    }
    sized_write(info, size, &full, sizeof full);
}

int method_highest_index(const method *m)
{
    const char *range = m->index_range ? m->index_range : "1";
    int highest = 0;
    for (const char *c = range; *c; c++)
        if (*c >= '0' && *c <= '9') highest = *c - '0';
    return highest > 0 ? highest : 9; /* "any" */
}
