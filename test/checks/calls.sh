#!/bin/sh
# scripts/call-cycles fails on files that call each other in a circle of more than the limit, names the call
# that closes it, and lets a table of functions pass, which a file is given without knowing who fills it.
#   calls.sh <root of the project> <C compiler>
set -eu
check="$1/scripts/call-cycles"
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

objects="$work/build/release/made_up.dir/src"
mkdir -p "$work/src" "$objects"
compile() {
    for file in a b c; do "$compiler" -O2 -fPIC -c "$work/src/$file.c" -o "$objects/$file.c.o"; done
}

echo 'int b(int); int a(int x) { return x > 0 ? b(x - 1) + 1 : 0; }' >"$work/src/a.c"
echo 'int c(int); int b(int x) { return c(x) * 2; }' >"$work/src/b.c"
echo 'int a(int); int c(int x) { return a(x) - 3; }' >"$work/src/c.c"
compile
"$check" --root "$work" --limit 3 || fail "a circle within the limit is refused"
! "$check" --root "$work" --limit 2 >"$work/out" || fail "a circle of three files passes"
grep -q '^3 files that reach each other, 1 calls' "$work/out" || fail "the circle is not counted"
grep -q 'src/[abc].c calls [abc] of src/[abc].c' "$work/out" || fail "the call that closes it is not named"

echo 'struct table { int (*f)(int); }; int c(const struct table *t, int x) { return t->f(x) - 3; }' >"$work/src/c.c"
cat >"$work/src/b.c" <<'END'
struct table { int (*f)(int); };
int a(int);
int c(const struct table *, int);
static const struct table table = {a};
int b(int x) { return c(&table, x) * 2; }
END
compile
"$check" --root "$work" --limit 1 >"$work/out" || fail "a table that is handed down counts as a call"

echo 'int a(int); int c(int (*)(int), int); int b(int x) { return c(a, x) * 2; }' >"$work/src/b.c"
compile
! "$check" --root "$work" --limit 1 >"$work/out" || fail "an address taken in code does not count"

rm "$work/src/b.c"
"$check" --root "$work" --limit 1 >"$work/out" || fail "the object of a file that is gone counts"
