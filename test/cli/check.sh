#!/bin/sh
# Test of check and init: check.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"


# ---- what a model is ---------------------------------------------------------------------------
expect 0 check "$models/pendulum.mo"
says 'index  *3$'
says 'degrees of freedom  2: 2 fixed values, 0 to choose'
says 'x\*vx + y\*vy = 0 .* line 15, differentiated once'
says 'differentiated twice; with 13, 14'
says 'lambda  *algebraic, index 3  *implied'
says 'agree with the structure (reciprocal condition'
expect 0 check "$models/structure/cvloop.mo"
says 'q2 + 2\*e1 + 2\*iV = -100\*cos(100\*time) .* differentiated once'
says 'asymptotically stable'
expect 0 check "$models/transamp.mo"
says 'after a rewriting'
says 'Ub/R\[2\]' # names of parameters
expect 0 check "$models/violin.mo"
says 'mode analysed  *stick is false'
says 'and [0-9]* more (--all lists them)'
expect 0 check "$models/violin.mo" --all
silent_on 'more (--all'

# ---- which index is which; the exit code says whether a run can start, as without it ----------------
expect 0 check "$models/pendulum.mo" --index all
says 'strangeness  *2 '
silent_on 'degrees of freedom'
expect 0 check "$models/pendulum.mo" --index all --quiet
[ -s out ] && fail 'check --index prints in spite of --quiet'
expect 1 check "$models/pendulum.mo" --index all --set L=0
says 'the numbers agree with it in general \['
expect 0 check "$models/pendulum.mo" --index tractability
silent_on 'strangeness'
expect 1 check "$models/broken/redundant.mo" --index all
says 'no consistent values found'
says 'differentiation  *-'
expect 2 check "$models/pendulum.mo" --index tractible

# ---- json and pictures -------------------------------------------------------------------------
expect 0 check "$models/pendulum.mo" --json
says '"index": 3'
says '"text": "x\*vx + y\*vy = 0"'
if command -v python3 >/dev/null; then
    python3 -m json.tool <out >formatted 2>err || fail "check --json is no json"
    "$daedal" init "$models/pendulum.mo" --json >out 2>err || fail "init --json"
    python3 -m json.tool <out >formatted 2>err || fail "init --json is no json"
fi
if command -v gnuplot >/dev/null; then
    for picture in a.svg a.png; do
        expect 0 check "$models/andrews.mo" --quiet --incidence $picture
        [ -s $picture ] || fail "no $picture"
    done
    grep -q 'lambda\[1\]' a.svg || fail "no names in the picture"
    expect 0 check "$models/ladder.mo" --set n=2000 --quiet --incidence large.svg
fi
expect 2 check "$models/andrews.mo" --quiet --incidence a.txt
expect 3 check "$models/broken/toomany.mo" --json
says '"singular": true'
says '"lines": \[5,6,7\]'

# ---- singular models: messages as in test/errors/structure -------------------------------------
for text in "$root"/test/errors/structure/*.txt; do
    name=$(basename "$text" .txt)
    folder=$models/broken
    [ -f "$root/test/errors/structure/$name.mo" ] && folder=$root/test/errors/structure
    (cd "$folder" && "$daedal" check "$name.mo" --quiet 2>"$work/err" >"$work/out")
    [ $? -eq 3 ] || fail "$name: exit code"
    cmp -s err "$text" || fail "$name: not the message in $text"
done

# ---- initial values ----------------------------------------------------------------------------
"$daedal" init "$models/pendulum.mo" --start x=0.8 >out 2>err || fail "init with a start value"
grep -q 'x begins with 1, and not with its start value 0.8' err || fail "no word about the start value of x"
says '^  x  *implied  *0.8  *1  *0.2$'
says '^  y  *fixed  *0  *0  *-$'
expect 0 init "$models/pendulum.mo" -o point.csv --quiet
[ ! -s out ] || fail "init --quiet prints"
grep -q '^x,implied,1,1$' point.csv || fail "no x in point.csv: $(cat point.csv)"
expect 0 init "$models/pendulum.mo" -o point.json
grep -q '"name": "lambda", "role": "implied"' point.json || fail "no lambda in point.json"
expect 0 init "$models/pendulum.mo" -o -
says '^vy,fixed,0,0$'
expect 1 init "$models/broken/initialposition.mo"
says 'cannot hold together: .*initialposition.mo:12'
says 'x = 1 (fixed), y = 0.5 (fixed)'
says 'Declared as fixed: x (.*initialposition.mo:4), y (.*initialposition.mo:5)'
for command in check init; do
    expect 1 $command "$models/traps/start_pinned.mo"
    says 'start_pinned.mo:6.*start_pinned.mo:3'
    expect 1 $command "$models/traps/parted.mo"
    says 'parted.mo:9.*parted.mo:8'
done
expect 2 init "$models/pendulum.mo" -o point.txt
expect 2 init "$models/pendulum.mo" --start z=1
expect 2 init "$models/pendulum.mo" --start-time soon
expect 2 init
expect 3 init "$models/broken/toomany.mo"

finish
