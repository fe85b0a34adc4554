#!/bin/sh
# Inputs on the command line: expressions, files, columns, modes, and what is refused.
. "$(dirname "$0")/common.inc"

cat >motor.mo <<'END'
model Motor
  input Real u;
  input Real v(start = 0);
  Real x(start = 0, fixed = true);
equation
  der(x) = u + v;
end Motor;
END
cat >one.mo <<'END'
model One
  input Real u;
  Real x(start = 0, fixed = true);
equation
  der(x) = u;
end One;
END
printf 'time [s],u [V]\n0,0\n1,2\n1,5\n3,5\n' >u.csv
printf 'volt;t;time\n1;9;0\n3;9;2\n' >other.csv
last() { tail -n 1 "${1:-out}" | cut -d, -f"${2:-2}"; }
close_to() { awk -v a="$1" -v b="$2" 'BEGIN { e = a - b; exit !(e*e < 1e-10) }' || fail "$1 is not $2"; }

# ---- what they follow ----------------------------------------------------------------------------
expect 0 run one.mo --input 'u = cos(time)' --stop 2 -o - --vars x && close_to "$(last)" 0.9092974268
expect 0 run one.mo --input u.csv --stop 3 -o - --vars x && close_to "$(last)" 11
expect 0 run one.mo --input-mode step --input u.csv --stop 3 -o - --vars x && close_to "$(last)" 10
expect 0 run one.mo --input 'u = volt @ other.csv' --stop 2 -o - --vars x && close_to "$(last)" 4
expect 0 run one.mo --input-mode cubic --input 'u=volt@other.csv' --stop 2 -o - --vars x && close_to "$(last)" 4
expect 0 run motor.mo --input u.csv --input 'v = -u' --stop 3 -o - --vars x && close_to "$(last)" 0
expect 0 run one.mo --input-hold --input u.csv --stop 4 -o - --vars x && close_to "$(last)" 16
expect 0 run one.mo --input u.csv --stop 3 -o - --vars u --interval 1
[ "$(grep -c '^1,' out)" -eq 2 ] || fail "both sides of a jump"
expect 0 run one.mo --input u.csv --stop 3 -o again.csv
ends 0 run one.mo --input again.csv --stop 3 -o - --vars x && close_to "$(last)" 11
says 'columns of again.csv that are no inputs of the model: x'
expect 0 check one.mo --input u.csv && says 'no errors'
expect 0 init one.mo --input 'u = 3' && says 'x'
expect 0 emit one.mo --input 'u = sin(time)' --format modelica && says 'sin(time)'
expect 0 verify one.mo --input u.csv --stop 3

printf 'v,t,u\n0,0,3\n5,1,3\n' >t.csv
ends 0 run one.mo --input t.csv --stop 1 -o - --vars x && close_to "$(last)" 3

# ---- what is refused -----------------------------------------------------------------------------
expect 1 run one.mo && says "input 'u' has no value"
ends 1 check one.mo && says 'no errors' && says "input 'u' has no value"
expect 1 run one.mo --input u.csv --stop 4 && says 'u.csv have times from 0 to 3: there is no value at 3'
silent_on '^at time 4'
expect 2 run one.mo --input 'w = 1' && says "no input 'w'" && says 'its inputs are u'
expect 2 run one.mo --input 'u = sin(tim)' && says "did you mean 'time'"
expect 2 run one.mo --input 'u = u' && says 'u -> u'
expect 2 run one.mo --input 'u =' && says "needs FILE, 'NAME = EXPRESSION'"
expect 2 run one.mo --input 'u = 1' --input u.csv && says 'given twice'
expect 2 run one.mo --input nowhere.csv && says 'nowhere.csv: No such file'
expect 2 run one.mo --input 'u = no @ other.csv' && says "it has no column 'no', but volt, t"
expect 2 run one.mo --input-mode quadratic && says 'linear, cubic or step'
printf 'time,u\n0,0\n1,x\n' >bad.csv
expect 2 run one.mo --input bad.csv && says "bad.csv:3:3: 'x' is not a finite number"
expect 2 run robertson --input u=1 && says "needs a model text"

# ---- units: what a column is in becomes what the input is in ----------------------------------------
cat >amps.mo <<'END'
model Amps
  input Real i(unit = "A");
  input Real T(unit = "K") = 300;
  Real q(start = 0, fixed = true, unit = "C");
equation
  der(q) = i;
end Amps;
END
with() { printf "$1\n0,0\n2,4\n" >unit.csv; }
for head in 'time,i' 'time [s],i [A]' 'time,i[A]' 'time,i (A)' 'time [],i []' 't [s],i [C/s]' 'time,i [kg.m2/(s3.V)]'; do
    with "$head"
    expect 0 run amps.mo --input unit.csv --stop 2 -o - --vars q && close_to "$(last)" 4
done
with 'time,i [mA]'
expect 0 run amps.mo --input unit.csv --stop 2 -o - --vars q && close_to "$(last)" 0.004
expect 0 run amps.mo --input 'i = i @ unit.csv' --stop 2 -o - --vars q && close_to "$(last)" 0.004
with 'time,i [kA]'
expect 0 run amps.mo --input unit.csv --stop 2 -o - --vars q && close_to "$(last)" 4000
for head in 'time [ms]' 'time[ms]' 'time (ms)' 'clock [ms]'; do
    with "$head,i"
    ends 0 run amps.mo --input unit.csv --stop 0.002 -o - --vars q && close_to "$(last)" 0.004
    says "the times of unit.csv are in 'ms': they become seconds"
done
with 'time,T [degC]'
ends 0 run amps.mo --input unit.csv --input 'i=0' --stop 2 -o - --vars T && close_to "$(last)" 277.15
for wrong in V apples degC Hz 'A.s'; do
    with "time,i [$wrong]"
    for command in check run init verify emit; do
        expect 2 $command amps.mo --input unit.csv
        says "unit.csv: the column for input 'i' is in '$wrong', which cannot be converted to 'A'"
    done
done
for wrong in V sec '1/s'; do
    with "time [$wrong],i"
    expect 2 run amps.mo --input unit.csv
    says "unit.csv: the times, column 'time', are in '$wrong', which cannot be converted to 's'"
done
finish
