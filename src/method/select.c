/* Which method a name, an order and a variant ask for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "method/registry.h"

/* What is asked for, in its parts. */
typedef struct wish {
    const method_family *family; /* NULL: there is none of that name */
    int order;                   /* 0: any, -1: not written as one */
    const char *variant;         /* "": the plain one */
} wish;

/* name := family [":" order] [":" variant]; a colon with nothing behind it names nothing */
static wish read_name(const char *name)
{
    wish w = {method_family_of(name), 0, ""};
    const char *rest = name + strcspn(name, ":");
    if (name[0] && name[strlen(name) - 1] == ':') return (wish){NULL, 0, ""};
    if (*rest == ':' && isdigit((unsigned char)rest[1])) {
        char *end;
        long order = strtol(rest + 1, &end, 10);
        w.order = order > 0 && order < 100 && (*end == ':' || !*end) ? (int)order : -1;
        rest = end;
    }
    if (*rest == ':') w.variant = rest + 1;
    return w;
}

int method_order(const char *name)
{
    return read_name(name).order;
}

const char *method_variant(const char *name)
{
    return read_name(name).variant;
}

/* Whether a method without an order in its name can be held at this one. */
static bool takes_order(const method *m, const wish *w)
{
    if (!m->fixed_order || m->own_order) return w->order <= m->max_order;
    return w->order == m->max_order && !w->family->by_tolerance;
}

/* Methods by a table of the user have this variant. */
static const char by_table[] = "table";

static bool is_of_family(const method *m, const method_family *family)
{
    size_t length = strlen(family->name);
    return strncmp(m->name, family->name, length) == 0 &&
           (m->name[length] == ':' || m->name[length] == '\0');
}

/* The first member that is as wished; an order in a name goes before one that a member takes. */
static const method *first_fit(const wish *w)
{
    const method *taking = NULL;
    if (strcmp(w->variant, by_table) == 0) return method_by_table(w->family->name);
    for (int i = 0; method_member_at(i); i++) {
        const method *m = method_member_at(i);
        if (!is_of_family(m, w->family)) continue;
        wish has = read_name(m->name);
        if (strcmp(has.variant, w->variant) != 0) continue;
        if (w->order == 0 || has.order == w->order) return m;
        if (has.order == 0 && !taking && takes_order(m, w)) taking = m;
    }
    return taking;
}

enum { MOST_LISTED = 20 };

/* The next larger order of a family in one variant, after `last`; 0: none. *any: all up to it. */
static int next_order(const wish *w, int last, bool *any)
{
    int next = 0;
    for (int i = 0; method_member_at(i); i++) {
        const method *m = method_member_at(i);
        wish has = read_name(m->name);
        if (has.family != w->family || strcmp(has.variant, w->variant) != 0) continue;
        if (has.order == 0 && w->family->by_tolerance) continue;
        if (m->max_order <= last || (next > 0 && m->max_order > next)) continue;
        next = m->max_order;
        *any = has.order == 0 && (!m->fixed_order || m->own_order);
    }
    return next;
}

/* "orders are 5, 9, 13", or "1 to 5" */
static void list_orders(const wish *w, dae_diag *diag)
{
    bool any = false;
    text_list list = text_list_in(diag, MOST_LISTED);
    diag_append(diag, "orders are ");
    for (int order = 0; (order = next_order(w, order, &any)) > 0;)
        text_list_add(&list, "%s%d", any ? "1 to " : "", order);
    if (list.count == 0) diag_append(diag, "its own choice, by the tolerance");
}

/* "variants are modified, thesis" */
static void list_variants(const wish *w, dae_diag *diag)
{
    const char *last = "";
    text_list list = text_list_in(diag, MOST_LISTED);
    for (int i = 0; method_member_at(i); i++) {
        wish has = read_name(method_member_at(i)->name);
        if (has.family != w->family || strcmp(has.variant, last) == 0) continue;
        last = has.variant;
        if (!*last) continue;
        if (list.count == 0) diag_append(diag, "variants are ");
        text_list_add(&list, "%s", last);
    }
    if (list.count == 0) diag_append(diag, "it has none");
}

/* Why nothing fits, with what there is. */
static const method *refuse(const char *name, wish w, dae_diag *diag)
{
    if (!w.family || w.order < 0) {
        diag_set(
            diag, DAE_ERR_ARGUMENT,
            "There is no method \"%s\". `daedal methods` lists them, and dae_method_at() in C.",
            name);
        return NULL;
    }
    wish any_order = {w.family, 0, w.variant};
    const char *of = *w.variant ? " in variant " : "";
    if (first_fit(&any_order)) {
        diag_set(diag, DAE_ERR_ARGUMENT, "Method %s has no order %d%s%s; ", w.family->name, w.order,
                 of, w.variant);
        list_orders(&w, diag);
    } else {
        diag_set(diag, DAE_ERR_ARGUMENT, "Method %s has no variant \"%s\"; ", w.family->name,
                 w.variant);
        list_variants(&w, diag);
    }
    diag_append(diag, ".");
    return NULL;
}

const method *method_select(const char *name, int order, const char *variant, dae_diag *diag)
{
    const char *instead = method_replacement(name);
    wish w = read_name(instead ? instead : name);
    bool other_order = order != 0 && w.order > 0 && w.order != order;
    bool other_variant = variant && *variant && *w.variant && strcmp(w.variant, variant) != 0;
    if (other_order || other_variant) {
        diag_set(diag, DAE_ERR_ARGUMENT, "Method \"%s\" names one %s, and option %s another.", name,
                 other_order ? "order" : "variant", other_order ? "order" : "variant");
        return NULL;
    }
    if (order != 0) w.order = order;
    if (variant && *variant) w.variant = variant;
    const method *m = w.family && w.order >= 0 ? first_fit(&w) : NULL;
    return m ? m : refuse(name, w, diag);
}
