#!/bin/sh
# The large models by PETSc on 1 and 2 ranks beside the serial run: petsc.sh <path of daedal> [SIZE]
# Prints processor times and the largest difference of the end values of all variables.
daedal=${1:?usage: $0 path-of-daedal [size]}
size=${2:-100}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1

# last FILE: the end values, one a line
last() { tail -n 1 "$1" | tr ',' '\n' | tail -n +2; }
# apart A B: the largest difference
apart() {
    last "$1" >"$work/a"
    last "$2" >"$work/b"
    paste "$work/a" "$work/b" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > m) m = d } END { printf "%.1e\n", m }'
}

for model in heat2d brusselator2d mesh; do
    run="run $here/$model.mo --set n=$size --points 2 --quiet --rtol 1e-7"
    # shellcheck disable=SC2086
    {
        "$daedal" $run -o "$work/serial.csv"
        "$daedal" $run --engine petsc -o "$work/one.csv"
        mpirun -n 2 "$daedal" $run --engine petsc -o "$work/two.csv" </dev/null
    } || exit 1
    echo "$model $size: 1 rank from serial $(apart "$work/serial.csv" "$work/one.csv"), 2 from 1 $(apart "$work/one.csv" "$work/two.csv")"
done
