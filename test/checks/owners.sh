#!/bin/sh
# scripts/check-owners finds each kind of write by a second file, and nothing else; it lets pass what makes or frees a
# struct and what reads a checkpoint; it fails on a struct of 41 fields, on what it cannot read, and on a list that
# does not say what there is.
#   owners.sh <root of the project>
set -eu
check="$1/scripts/check-owners"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

run="$work/src/solve/run"
known="$work/scripts/owners-known.txt"
mkdir -p "$run" "$work/src/base" "$work/src/solve/api" "$work/scripts"
cat >"$work/src/base/base.h" <<'END'
#define HOLDS(type, x) ((type)(x)) /* a macro
of two lines */
typedef struct item { double low; double *high; } item;
typedef struct control { double h, *weights; int list[3]; item inside[2]; const double *look; } control;
typedef struct persist { int reading; } persist;
void persist_bytes(persist *p, void *data, size_t size);
#define PERSIST(p, x) persist_bytes(p, &(x), sizeof(x))
void dae_free(void *pointer);
void fill(int n, double *x);
void show(int n, const double *x);
void show_rows(const double *const *rows);
void control_reset(control *c);
double control_size(const control *c);
void context(void *user);
void show_controls(control *const *all);
static inline void vector_copy(int n, const double *x, double *y) { memcpy(y, x, (size_t)n * sizeof *y); }
END
cat >"$run/run.h" <<'END'
#include "base/base.h"
typedef struct trace { double when, gap; } trace;
typedef struct part { double t; struct { double first; }; } part;
typedef struct table { void (*act)(double *x); double (*ask)(const double *x); } table;
struct run {
    double t, *y, work[3];
    int count;
    control control;
    part part;
    trace *traces;
    item *items;
    control *other;
    const table *table;
    struct { int inner; } own;
};
typedef struct run run;
void step(run *r);
double *work_of(run *r);
END
cat >"$run/owner.c" <<'END'
#include "solve/run/run.h"
void step(run *r)
{
    r->t = r->part.t = r->part.first = 1.0;
    *r = (run){.t = 1.0};
    r->y[0] = r->work[0] = r->own.inner = 0;
    r->traces[0] = (trace){0};
    r->items[0].low = 1.0;
}
double *work_of(run *r)
{
    return r->work;
}
END

# Each case is a file: <what it writes, - for nothing> <folder/file> <a function, or its statements>.
cases="$work/cases"
count=0
file_of() { # the text, in a file of its own
    count=$((count + 1))
    name=$(printf 'src/solve/%s_%02d.c' "$2" "$count")
    printf '#include "solve/run/run.h"\n%s\n' "$3" >"$work/$name"
    echo "$1 $name" >>"$cases"
}
writes() { file_of "$1" run/writer "void other$count(run *r, double *q) { $2 }"; }
leaves() { file_of - run/reader "void other$count(run *r, double *q) { $1 }"; }

writes run.t 'r->t = 1.0;'
writes run.t 'r->t *= 2.0;'
writes run.t 'q[0] = r->t++;'
writes run.t '--r->t;'
writes run.t 'for (int i = 0; i < 3; i++) if (i) (*r).t = q[i]; else break;'
writes run.t 'switch (r->count) { case 1: r->t = 2.0; break; default: goto end; } end:;'
writes run.t 'double t = q ? q[0] : (r->t = 1.0);'
writes run.t 'double t; t = r[2].t = 1.0;'
writes run.count 'r->count |= 2;'
writes run.y 'r->y[2] = 1.0;'
writes run.y '*r->y = 1.0;'
writes run.y '*(r->y + 2) = 1.0;'
writes run.y 'r->y = q;'
writes run.work 'r->work[1] += 1.0;'
writes run.control 'r->control.h = 1.0;'
writes run.control 'r->control.list[1] = 1;'
writes run.control 'r->control.weights[1] = 1.0;'
writes run.control 'r->control = (control){0};'
writes run.own.inner 'r->own.inner = 1;'
writes part.t 'r->part.t = 1.0;'
writes part.first 'r->part.first = 1.0;'
writes trace.when 'r->traces[3].when = 1.0;'
writes run.traces 'r->traces = NULL;'
writes trace.when '(q ? NULL : r->traces)->when = 1.0;'
writes run.items 'r->items[3].low = 1.0;'
writes run.items 'item *all = r->items; all[1].low = 1.0;'
writes run.items 'memset(r->items, 0, sizeof *r->items);'
# a copy of the struct
writes run.count '*r = (run){.t = 2.0};'
writes part.first 'run *p = r; p[0] = (run){0};'
writes trace.gap 'trace *k = &r->traces[1]; *k = (trace){0};'
writes trace.gap 'memset(r->traces, 0, sizeof *r->traces);'
writes trace.gap 'qsort(r->traces, 3, sizeof *r->traces, NULL);'
writes part.t 'memset(r, 0, sizeof *r);'
# addresses and arrays that are handed on
writes run.work 'memset(r->work, 0, sizeof r->work);'
writes run.y 'vector_copy(3, q, r->y);'
writes run.y 'fill(3, r->y + 1);'
writes run.y 'fill(3, 1 + r->y);'
writes run.y 'fill(3, (double *)r->y);'
writes run.work 'fill(3, r->work);'
writes run.work 'fill(3, &r->work[1]);'
writes run.t 'fill(1, &r->t);'
writes run.t 'r->table->act(&r->t);'
writes run.t 'void (*act)(double *) = fill_all; act(&r->t);'
writes run.y 'context(&r->y);'
writes run.control 'control_reset(&r->control);'
writes run.t 'sscanf("1", "%lf", &r->t);'
writes run.t 'unknown(1, &r->t);'
# local pointers, pointers that are stored, and those that functions return
writes run.y 'double *p = q ? r->y : q; p[1] = 2.0;'
writes run.y 'double *p, *k = r->y; p = k; fill(3, p);'
writes run.control 'control *c = &r->control; c->h = 1.0;'
writes run.work 'double *const all[] = {q, r->work}; for (int k = 0; k < 2; k++) fill(3, all[k]);'
writes run.work 'double *all[2]; all[1] = r->work; all[1][0] = 1.0;'
writes run.t 'double **all[] = {&r->y}; double *one = &r->t; *all[0] = one; *one = 1.0;'
writes run.work 'context((void *[]){r->work, q});'
writes run.y 'control c = {.weights = r->y}; control_size(&c);'
writes run.y 'control c; c.weights = r->y;'
writes run.work 'work_of(r)[1] = 1.0;'
file_of run.y run/writer 'static double *of(run *r) { return r->y; } void end(run *r) { of(r)[1] = 1.0; }'
# macros, other rooms, headers, and functions that only look like makers
file_of run.count run/writer '#define SET(r, field, ...) ((r)->field##ount = (__VA_ARGS__))
void set(run *r) { SET(r, c, 1, 2); }'
file_of run.t api/writer 'void far(run *r) { r->t = 1.0; }'
file_of run.t run/writer 'void run_start(run *r) { r->t = 1.0; }'
file_of run.t run/writer 'void part_fill(run *r) { r->part.t = r->t = 1.0; }'
file_of run.t run/writer 'void part_new(part *p, run *r) { r->t = 1.0; }'
file_of run.t run/writer 'static void clear(run *r) { r->t = 1.0; } void run_free(run *r) { clear(r); } void go(run *r) { clear(r); }'
file_of run.t run/writer 'static void clear(run *r) { r->t = 1.0; } static const table them = {.act = clear}; void run_free(run *r) { clear(r); }'

leaves 'q[0] = r->t + r->y[0] + r->control.h + r->own.inner; (void)(r->t == 1.0 && r->t <= r->t);'
leaves 'show(3, r->y); show(3, r->work); show(1, &r->t); show_rows((const double *const[]){r->y});'
leaves 'q[0] = control_size(&r->control) + r->table->ask(&r->t);'
leaves 'const double *p = r->y; const double *const all[] = {r->work}; show(3, all[0]); show(3, p);'
leaves 'const double *p = r->y; unknown(p, r->y != NULL, r->y == q); control c; control *k = &c; k->look = r->y; k->h = 1.0;'
leaves 'control *const *all = &r->other; show_controls(all); double *p = q ? NULL : q; p[0] = 1.0;'
writes run.other 'control **all = &r->other; all[0] = NULL;'
leaves 'double *all[] = {r->work, q}; show(3, all[0]);'
leaves 'fill(3, q); memcpy(q, r->y, sizeof r->work); q[(int)r->t] = sizeof(r->t = 1.0);'
leaves 'run local; local = *r; local.work[1] = 1.0; fill(3, local.work);'
leaves 'run local = *r; local.t = 1.0; run pair[2]; pair[1].part.t = 1.0; memset(&local, 0, sizeof local);'
leaves 'double t[1] = {r->t}; t[0] = 1.0; double *p = t; *p = r->t; double when = r->traces->when; when += 1.0;'
leaves 'r->other->inside[1].low = 1.0; r->other->list[1] = 1; vector_copy(3, q, r->other->weights);'
leaves 'step(r); r->other->h = 1.0; control_reset(r->other); context(r);'
leaves 'item *one = r->items; one->low = 1.0; /* r->t = 1.0; */ const char *text = "r->t = 1.0;";'
# what makes and frees
file_of - run/maker 'run *run_new(void) { run *r = dae_calloc(1, sizeof *r); r->t = r->part.t = 1.0; return r; }'
file_of - run/maker 'void run_free(run *r) { dae_free(r->y); dae_free(r); }'
file_of - run/maker 'static void clear(run *r) { r->t = 1.0; fill(3, r->y); } void run_empty(run *r) { clear(r); }'
file_of - run/maker 'void part_fill(run *r) { r->part.t = 1.0; }'
file_of - run/maker 'int some_new(run **result) { (*result)->t = 1.0; return 0; }'
file_of - run/maker 'void run_save(run *r, persist *p) { PERSIST(p, r->t); if (p->reading) r->count = 0; }'

"$check" --root "$work" --table >"$work/table" || fail "the table cannot be made"
grep -q '^[1-9][0-9]* members read, 0 unresolved$' "$work/table" || { cat "$work/table"; fail "members are not resolved"; }
# Lines "struct.field file" of the table.
awk '/^[^ ]/ { struct = $1 } /^    [^ ]/ { sub(":", "", $1); field = $1 }
     /^        / { sub(/:.*/, "", $1); print struct "." field, $1 }' "$work/table" >"$work/found"
while read -r field file; do
    if [ "$field" = - ]; then
        ! grep " $file\$" "$work/found" || fail "counts as a write: $(tail -n 1 "$work/$file")"
    else
        grep -qx "$field $file" "$work/found" || fail "no write of $field: $(tail -n 1 "$work/$file")"
    fi
done <"$cases"
for file in $(awk '$1 != "-" { print $2 }' "$cases"); do # and of no other field, unless all of a struct is written
    case $(grep -c " $file\$" "$work/found") in
    1) ;;
    *) grep -Eq '\(run\){|\(trace\){|\(control\){|memset|qsort|all\[0\] = one' "$work/$file" ||
        fail "more than one field: $(tail -n 1 "$work/$file")" ;;
    esac
done

# passes <why> / refuses <line> <why>: what the check says of a tree of two files.
passes() { "$check" --root "$work" >"$work/out" || { cat "$work/out"; fail "$1"; }; }
refuses() {
    ! "$check" --root "$work" >"$work/out" || fail "passes: $2"
    grep -q "$1" "$work/out" || { cat "$work/out"; fail "does not say so: $2"; }
}
rm -f "$run"/[rwm]*.c "$work"/src/solve/api/*.c
passes "one file writes each field"
echo '#include "solve/run/run.h"
void other(run *r) { r->t = 1.0; }' >"$run/other.c"
refuses '^run.t: 2 files write it: src/solve/run/other.c:2, src/solve/run/owner.c:4; not listed$' "two files write a field"
"$check" --root "$work" --list >"$known"
grep -q '^# 0 structs of more than 40 fields, 1 fields with two or more writers$' "$known" || fail "the totals are not in the list"
passes "what is listed is let pass"
sed 's/ 1 fields/ 0 fields/' "$known" >"$known.new" && mv "$known.new" "$known"
refuses 'its head' "the head of the list does not count it"
"$check" --root "$work" --shrink
passes "the head is mended"
sed 's/other/third/' "$run/other.c" >"$run/third.c"
refuses '^run.t: 3 files write it: .*; listed: 2$' "a third writer"
"$check" --root "$work" --shrink
refuses '^run.t: 3 files write it' "the list was not to grow"
rm "$run/third.c" "$run/other.c"
refuses 'run.t is no longer worth an entry, not 2' "an entry that is not needed"
"$check" --root "$work" --shrink
passes "the entry is gone"
! grep -q '^run' "$known" || fail "the list has not shrunk"

for fields in 40 41; do
    awk -v n=$fields 'BEGIN { printf "typedef struct wide {"
        for (k = 1; k < n; k += 2) printf " int a%d, *b%d;", k, k
        if (n % 2) printf " struct { char c; };"
        print " } wide;" }' >"$run/wide.h"
    echo '#include "solve/run/wide.h"' >"$run/wide.c"
    if [ $fields = 40 ]; then passes "a struct of 40 fields"; else refuses '^wide: 41 fields; not listed$' "41 fields"; fi
done
rm "$run"/wide.*

echo '#include "solve/run/run.h"
void other(run *r) { r->missing = 1.0; }' >"$run/other.c"
refuses '^src/solve/run/other.c:2: .*missing' "a member that is not known"
echo '#include "solve/run/run.h"
void other(run *r) { r->t + ) ; }' >"$run/other.c"
refuses '^src/solve/run/other.c:2: other cannot be read' "a body that cannot be read"
