#!/bin/sh
# Time of `daedal check` against the size of a model: structure_check.sh <path of daedal>
#
# chain    n pendulums of length 1, each hung from the one before it: 10 unknowns each, index 3
# circuit  n stages of a ladder with a loop of capacitors in each stage and a source: index 2
#
# Prints n, equations, seconds (the least of three runs) and the exponent between neighbours.
set -eu
daedal=${1:?usage: structure_check.sh path-of-daedal [largest n]}
largest=${2:-10000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 10 unknowns a pendulum: position, velocity, force along the rod, its parts, the load from below
chain() {
    cat <<END
model Chain
  parameter Integer n = $1;
  Real x[n](start = {0.1 + i for i in 1:n}), y[n](each start = -1), vx[n], vy[n], f[n];
  Real fx[n], fy[n], dx[n], dy[n], e[n];
equation
  for i in 1:n loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
    dx[i] = x[i] - (if i > 1 then x[max(i - 1, 1)] else 0);
    dy[i] = y[i] - (if i > 1 then y[max(i - 1, 1)] else 0);
    fx[i] = f[i]*dx[i];
    fy[i] = f[i]*dy[i];
    der(vx[i]) = -fx[i] + (if i < n then fx[min(i + 1, n)] else 0);
    der(vy[i]) = -fy[i] + (if i < n then fy[min(i + 1, n)] else 0) - 1;
    dx[i]^2 + dy[i]^2 = 1;
    e[i] = (vx[i]^2 + vy[i]^2)/2 + y[i];
  end for;
end Chain;
END
}

# 10 unknowns a stage: two potentials, three charges, currents; the loop closes over the source
circuit() {
    cat <<END
model Circuit
  parameter Integer n = $1;
  Real a[n], b[n], q1[n], q2[n], q3[n], iV[n], iR[n], iL[n], p[n], u[n];
equation
  for i in 1:n loop
    u[i] = sin(i + time) + (if i > 1 then 0.1*b[max(i - 1, 1)] else 0);
    a[i] = u[i];
    q1[i] = a[i] - b[i];
    q2[i] = 2*b[i];
    q3[i] = 3*a[i];
    der(q1[i]) + der(q3[i]) + iV[i] = 0;
    der(q2[i]) - der(q1[i]) + iR[i] + iL[i] = 0;
    iR[i] = b[i]^3 + b[i];
    der(iL[i]) = b[i] - iL[i];
    p[i] = u[i]*iV[i];
  end for;
end Circuit;
END
}

seconds() {
    best=
    for run in 1 2 3; do
        from=$(date +%s.%N)
        "$daedal" check "$1" >"$work/out" || { cat "$work/out" >&2; exit 1; }
        to=$(date +%s.%N)
        best=$(awk -v a="$from" -v b="$to" -v c="$best" \
            'BEGIN { t = b - a; print (c == "" || t < c) ? t : c }')
    done
    echo "$best"
}

printf '%-8s %8s %10s %9s %9s\n' model n equations seconds exponent
for model in chain circuit; do
    last=
    for n in 100 300 1000 3000 10000; do
        [ "$n" -le "$largest" ] || continue
        $model "$n" >"$work/$model.mo"
        t=$(seconds "$work/$model.mo")
        growth=$([ -z "$last" ] && echo - ||
            awk -v n="$n" -v t="$t" -v last="$last" \
                'BEGIN { split(last, w, " "); printf "%.2f", log(t/w[2])/log(n/w[1]) }')
        printf '%-8s %8d %10d %9.3f %9s\n' "$model" "$n" $((10 * n)) "$t" "$growth"
        last="$n $t"
    done
done
