#!/bin/sh
# Test of `daedal run --engine petsc`: petsc.sh <path of daedal>. Skipped where the library is missing.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1

cat >decay.mo <<'END'
model Decay "x = exp(-t), z = 2 exp(-t)"
  Real x(start = 1, fixed = true);
  Real z;
equation
  der(x) = -x;
  z = 2*x;
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end Decay;
END
# other commands have no use for it, with the library or without
for c in bvp optimise sens fit sweep verify; do
    expect 2 $c decay.mo --engine petsc
    says "'--engine petsc' is for 'daedal run'"
done
expect 2 sens decay.mo --by x --petsc '-ts_type bdf'
says "'--petsc' is for 'daedal run'"
if ! [ -e "$(dirname "$daedal")/libdaedal-petsc.so" ]; then
    expect 1 run decay.mo --engine petsc
    says 'needs libdaedal-petsc.so'
    echo "skipped: built without PETSc"
    finish
fi

cat >pendulum.mo <<'END'
model Pendulum "index 3; it turns over to other states on its way"
  Real x(start = 1); Real y(start = 0, fixed = true);
  Real vx(start = 0); Real vy(start = 0, fixed = true);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 1;
  x^2 + y^2 = 1;
  annotation(experiment(StopTime = 2, Tolerance = 1e-6));
end Pendulum;
END
cat >ball.mo <<'END'
model Ball "falls from 1 with g = 2, comes back with half of its speed: h(1.5) = 0.25"
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -2;
  when h < 0 then
    reinit(v, -0.5*pre(v));
  end when;
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-6));
end Ball;
END
cat >heat.mo <<'END'
model Heat
  parameter Integer n = 40;
  Real u[n](each start = 0, each fixed = true);
equation
  der(u[1]) = 1 - 2*u[1] + u[2];
  for i in 2:n-1 loop
    der(u[i]) = u[i-1] - 2*u[i] + u[i+1];
  end for;
  der(u[n]) = u[n-1] - 2*u[n];
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end Heat;
END

# within(FILE, column, value, tolerance): the last row of a table
within() {
    awk -F, -v c="$2" -v v="$3" -v t="$4" '{ x = $c } END { d = x - v; exit !(d <= t && d >= -t) }' "$1" ||
        fail "$1: column $2 is not $3"
}

expect 0 run decay.mo --engine petsc -o decay.csv
within decay.csv 2 0.36787944 1e-4
within decay.csv 3 0.73575888 2e-4
expect 0 run ball.mo --engine petsc -o ball.csv
within ball.csv 2 0.25 1e-4
# the pendulum against a method of ours, at index 3 and with sharp tolerances
expect 0 run pendulum.mo --engine petsc -o pendulum.csv
expect 0 run pendulum.mo --rtol 1e-10 -o sharp.csv
within pendulum.csv 3 "$(tail -n 1 sharp.csv | cut -d, -f3)" 1e-4
expect 0 run heat.mo --engine petsc -o heat.csv --points 2
expect 0 run heat.mo --petsc '-ts_bdf_order 3' -o heat2.csv --points 2
within heat2.csv 2 "$(tail -n 1 heat.csv | cut -d, -f2)" 1e-4
# solvers by name
expect 0 run heat.mo --petsc '-ksp_type gmres -pc_type ilu -ksp_rtol 1e-9' -o heat3.csv --points 2
within heat3.csv 2 "$(tail -n 1 heat.csv | cut -d, -f2)" 1e-5

# several processes: the same digits, one voice
if command -v mpirun >/dev/null 2>&1; then
    for m in pendulum ball heat; do
        mpirun -n 2 "$daedal" run $m.mo --engine petsc -o two.csv --points 2 >out 2>err </dev/null || fail "2 ranks: $m: $(cat err)"
        [ "$(grep -c 'interval' out)" -eq 1 ] || fail "2 ranks: not one voice"
        "$daedal" run $m.mo --engine petsc -o one.csv --points 2 >out 2>err
        within two.csv 2 "$(tail -n 1 one.csv | cut -d, -f2)" 1e-8
    done
else
    echo "skipped: no mpirun"
fi

# what is wrong is named
# a word that PETSc does not ask for is told by name, and only that
ends 0 run heat.mo --petsc '-ts_bdf_order 3 -pc_tipe lu -log_nothing' -o heat4.csv --points 2
says 'no use for -pc_tipe:'
# tolerances and steps are those of the command, and words of PETSc for them are told
ends 0 run heat.mo --petsc '-ts_rtol 0.1 -ts_max_steps 3' -o heat5.csv --points 2
says 'no use for -ts_rtol, -ts_max_steps:.*decided here (--rtol'
ends 0 run heat.mo --petsc '' -o heat6.csv --points 2
cmp -s heat5.csv heat6.csv || fail "-ts_rtol has an effect"
expect 2 run heat.mo --petsc '-ts_type rk'
says 'explicit ODE integrator'
expect 2 run heat.mo --petsc '-ts_type beuler'
says 'does not test the errors'
expect 2 run heat.mo --petsc '-ts_type nosuch'
says 'nosuch'
expect 2 run heat.mo --engine petsc --method radau
says 'exclude each other'
expect 2 run heat.mo --engine petsc --checkpoint heat.ck
says 'cannot be saved at t = 0: an integrator from outside'
finish
