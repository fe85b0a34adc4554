#!/bin/bash
# kill -9 at random moments: of the writer, of workers, of a rank, of all; the table must be complete
# and the same, bit by bit.
#   bench/sweep_kills.sh DAEDAL [KILLS [MODEL]]
set -u
daedal=${1:?usage: $0 DAEDAL [KILLS [MODEL]]}
case $daedal in /*) ;; *) daedal=$PWD/$daedal ;; esac
kills=${2:-50}
model=${3:-$(cd "$(dirname "$0")/.." && pwd)/models/pendulum.mo}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
words="sweep $model --sample 4000 g=normal(1,0.1) --keep end(x),max(x) --quiet"
ranks=
if command -v mpirun >/dev/null && [ -e "$(dirname "$daedal")/daedal-mpi.so" ]; then
    ranks="mpirun -n 2"
    mpirun --version | grep -q 'Open MPI' && ranks="mpirun --oversubscribe --allow-run-as-root -n 2"
fi
"$daedal" $words -o whole.csv || exit 1

# the processes of a sweep: those below a process, itself too
below() {
    echo "$1"
    for child in $(pgrep -P "$1"); do below "$child"; done
}

# one KIND: begin or go on, and kill at a random moment
one() {
    launcher=
    [ "$1" = rank ] && launcher=$ranks
    $launcher "$daedal" $words -o killed.csv --resume >/dev/null 2>&1 &
    process=$!
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    tree=$(below $process)
    case $1 in
    writer) kill -9 $process ;;
    worker) kill -9 $(echo "$tree" | tail -1) ;;
    rank | all) kill -9 $(echo "$tree" | shuf -n "$([ "$1" = rank ] && echo 1 || echo 99)") ;;
    esac 2>/dev/null
    wait $process 2>/dev/null
    for left in $tree; do # ranks that their launcher no longer ends
        while kill -0 "$left" 2>/dev/null; do sleep 0.05; done
    done
    done_kills=$((done_kills + 1))
}

done_kills=0
tables=0
while [ "$done_kills" -lt "$kills" ]; do
    rm -f killed.csv killed.csv.journal
    until [ -e killed.csv ] || [ "$done_kills" -ge "$kills" ]; do
        case $((done_kills % 4)) in
        0) one writer ;;
        1) one worker ;;
        2) one all ;;
        3) [ -n "$ranks" ] && one rank || one writer ;;
        esac
    done
    [ -e killed.csv ] || "$daedal" $words -o killed.csv --resume >/dev/null 2>&1
    cmp whole.csv killed.csv || exit 1
    tables=$((tables + 1))
done 2>/dev/null
echo "$done_kills kills, $tables tables, all of them the same"
