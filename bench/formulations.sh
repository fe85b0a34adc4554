#!/bin/sh
# Write docs/notes/formulations-table.md: bench/formulations.sh build/bench/bench_formulations
set -e
program=${1:?usage: formulations.sh PROGRAM}
page=$(dirname "$0")/../docs/notes/formulations-table.md
{
    cat <<'TEXT'
# Formulations with methods

Written by `bench/formulations.sh`; do not edit. Every formulation of [formulations.md](../methods/formulations.md) with every
method, from model texts as native code, on example (8.1) of [Wun05] (`circle`), the pendulum, the car axis and
Andrews' mechanism. `auto` is what each method takes by itself. rtol = atol = 1e-6; for methods of order p < 5 it is
10^-(p+1), at most 1e-3; methods of constant steps have h = 1e-3, 1e-2, 1e-3 and 1e-5.

q, v, lambda: largest error at the end against the largest value (reference: `prk` at 1e-12). g, g', g'': largest residual
of the constraints of positions, velocities and accelerations there, these with M a = f - G' lambda. F: evaluations. ms:
processor time from the start of the solver, the least of one run, on a machine with other work to do.

What does not run is listed below each table: *refused* by the library, in its words, or *fails*.
`test/test_formulation_table.c` sees to it that nothing fails at looser tolerances and that formulations which keep a
constraint do not drift off it.
TEXT
    "$program"
} >"$page.new"
mv "$page.new" "$page"
