#!/bin/sh
# C code of a model: refused, compiled and called with --allow-external, and its errors.
. "$(dirname "$0")/common.inc"

export DAEDAL_CACHE_DIR="$work/cache"
last() { tail -n 1 out | cut -d, -f"${1:-2}"; }
close_to() { awk -v a="$1" -v b="$2" 'BEGIN { e = a - b; exit !(e*e < 1e-10) }' || fail "$1 is not $2"; }

cat >cube.mo <<'END'
function cube
  input Real u;
  input Real k;
  output Real y;
external "C" y = cube_of(u, k) annotation(Include = "static double cube_of(double u, double k) { return k*u*u*u; }");
end cube;
model M
  parameter Real k = 2;
  Real x(start = 1, fixed = true), z(start = 1);
equation
  der(x) = -cube(x, k);
  cube(z, 1) = 8;
end M;
END
# ---- x' = -2 x^3 has x = 1/sqrt(1 + 4 t); Newton's method for z needs derivatives ------------------
ends 3 run cube.mo
expect 3 check cube.mo
says "cube.mo:5:1: error: the external function 'cube_of' is not one that Daedal has; the option --allow-external"
expect 0 run cube.mo --allow-external --stop 2 -o - --vars x,z
close_to "$(last 2)" 0.333333333 || fail "x"
close_to "$(last 3)" 2
expect 0 run cube.mo --allow-external --stop 2 --set k=0 -o - --vars x && close_to "$(last 2)" 1
expect 0 check cube.mo --allow-external
expect 0 init cube.mo --allow-external && says 'z'

# ---- x^3 = 1 + t, so x' = 1/(3 x^2) and x'' = -2/(9 x^5): first and second derivatives of the code ---
sed '/^model/,$d' cube.mo >slopes.mo
cat >>slopes.mo <<'END'
model M
  Real x(start = 1), v, a;
equation
  cube(x, 1) = 1 + time;
  der(x) = v;
  der(v) = a;
end M;
END
expect 0 run slopes.mo --allow-external --stop 1 -o - --vars v,a
close_to "$(last 2)" 0.209986841649
close_to "$(last 3)" -0.0699956138831

# ---- arrays, texts, Integers, Booleans, several results; all known before the run ------------------
cat >many.mo <<'END'
function many
  input Real a[2, 3];
  input Integer n[2];
  input String s;
  input Boolean b;
  output Real sums[2];
  output Integer length;
  output Boolean no;
external "C" length = many_of(a, size(a, 1), size(a, 2), n, s, b, sums, no) annotation(
  Include = "#include <string.h>
static int many_of(const double *a, size_t r, size_t c, const int *n, const char *s, int b, double *sums, int *no)
{
    for (size_t i = 0; i < r; i++) for (size_t j = 0; j < c; j++) sums[i] += n[i]*a[i*c + j];
    *no = !b;
    return (int)strlen(s);
}");
end many;
model M
  parameter Real sums[2](fixed = false);
  parameter Integer length(fixed = false);
  parameter Boolean no(fixed = false);
  Real x;
initial algorithm
  (sums, length, no) := many({{1, 2, 3}, {4, 5, 6}}, {1, -10}, "four", false);
equation
  x = sums[1] + 10*sums[2] + 1e4*length + (if no then 1e6 else 0);
end M;
END
expect 0 run many.mo --allow-external -o - --vars x && close_to "$(last)" 1038506

# ---- a header beside the model, changed between two runs -------------------------------------------
mkdir sub
echo 'static double twice(double u) { return 2*u; }' >sub/twice.h
cat >sub/header.mo <<'END'
function twice
  input Real u;
  output Real y;
external "C" y = twice(u) annotation(Include = "#include \"twice.h\"");
end twice;
model M
  Real x = twice(3);
end M;
END
expect 0 run sub/header.mo --allow-external -o - --vars x && close_to "$(last)" 6
echo 'static double twice(double u) { return 20*u; }' >sub/twice.h
expect 0 run sub/header.mo --allow-external -o - --vars x && close_to "$(last)" 60

# ---- a library ----------------------------------------------------------------------------------
sed 's/annotation(.*/annotation(Library = "double", LibraryDirectory = "sub\/lib");/' sub/header.mo >library.mo
expect 3 check library.mo --allow-external && says 'Library "double" of .twice. cannot be loaded: a shared library, libdouble.so'
mkdir sub/lib
echo 'double twice(double u) { return 2*u + 1; }' >lib.c
if ${CC:-cc} -shared -fPIC -o sub/lib/libdouble.so lib.c 2>cc.err; then
    expect 0 run library.mo --allow-external -o - --vars x && close_to "$(last)" 7
fi

# ---- an argument that changes at events ------------------------------------------------------------
cat >steps.mo <<'END'
function digit
  input Integer k;
  output Integer y;
external "C" y = digit_of(k) annotation(Include = "static int digit_of(int k) { return k*k; }");
end digit;
model M
  discrete Integer k(start = 0, fixed = true);
  Integer y = digit(k);
equation
  when sample(1, 1) then
    k = pre(k) + 1;
  end when;
end M;
END
expect 0 run steps.mo --allow-external --stop 3.5 -o - --vars y && close_to "$(last)" 9

# ---- what is refused ---------------------------------------------------------------------------------
refused() { # what is said, the line of external, the equation
    cat >bad.mo <<END
function f
  input Real u;
  input Real v;
  output Real y;
$2
end f;
model M
  Real x(start = 0, fixed = true), z;
equation
  der(x) = 1;
  z = $3;
end M;
END
    expect 3 check bad.mo --allow-external
    says "bad.mo:5:1: error: the external function 'g': .*$1"
}
G='external "C" y = g(u, v) annotation(Include = "static double g(double u, double v) { return u; }");'
refused 'more than one of its arguments changes' "$G" 'f(x, time)'
refused "Include of g:1:.*error" 'external "C" y = g(u, v) annotation(Include = "static double g(double u { return u; }");' 'f(1, 2)'
refused 'error' 'external "C" y = g(u, v) annotation(Include = "/* nothing */");' 'f(1, 2)'
refused 'only external "C"' 'external "FORTRAN 77" y = g(u, v);' 'f(1, 2)'
refused 'not a finite number' 'external "C" y = g(u, v) annotation(Include = "static double g(double u, double v) { return u/(v - 2); }");' 'f(1, 2)'
expect 2 run pendulum --allow-external && says 'needs a model text'

finish
