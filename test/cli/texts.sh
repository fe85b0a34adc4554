#!/bin/sh
# What a model text may do to its reader: no control characters on the terminal, no evaluation without end.
#   texts.sh <path of daedal>
. "$(dirname "$0")/common.inc"

# ---- control characters of descriptions, units, strings, assertions, names of files ---------------------
text='model M
 Real x(start=1, fixed=true, unit="\033[31mm") "\033]0;title\007 \302\2331m \377";
 parameter String s = "\033[2J" "\033[H";
equation
 der(x) = -x "law \033[33m\nof decay";
 assert(x > 0.9, "falls \033[31m \\a \\b"%s);
end M;
'
printf "$text" "" >fails.mo
printf "$text" ", AssertionLevel.warning" >warns.mo
printf "$text" " + \033" >wrong.mo
strange=$(printf 'a\033[31mb.mo')
cp warns.mo "$strange"
clean() {
    "$daedal" "$@" >out 2>err
    ! cat out err | LC_ALL=C grep -a -q "$(printf '[\001-\010\013-\037\177\377]')" ||
        fail "daedal $* lets a control character through"
    ! cat out err | LC_ALL=C grep -a -q "$(printf '\302[\200-\237]')" ||
        fail "daedal $* lets a control character of Latin 1 through"
}
for file in fails.mo warns.mo wrong.mo "$strange" "$(printf 'no\033[31mne.mo')"; do
    for words in run "run -o -" "run --json -" init "init --json" "init -o -" check "check --list" \
        "check --json" verify "verify --json -" "verify --all" "run --verify" emit "emit --format modelica"; do
        clean $words "$file"
    done
done
clean run warns.mo --set "$(printf '\033[31m=1')"
clean run warns.mo --vars "$(printf '\033[31m')"
clean run warns.mo -o "$(printf 'no/\033[31m.csv')"
clean "$(printf '\033[31m')"
"$daedal" run fails.mo >out 2>err
grep -q 'falls \\x1b\[31m' err || fail "the words of an assertion are lost"

# ---- evaluation before the run -----------------------------------------------------------------------------
memory=900000
if nm "$daedal" 2>/dev/null | grep -q __asan_init; then memory=unlimited; fi # they reserve terabytes

# refused WORDS MODEL: exit code 1 or 3 with these words, soon and in little memory
refused() {
    # address space in kilobytes, of which the command itself takes a quarter
    (ulimit -t 60 && ulimit -v $memory && exec "$daedal" check "$2") >out 2>err
    got=$?
    [ $got -eq 1 ] || [ $got -eq 3 ] || fail "$2 exits with $got"
    grep -q -- "$1" err || fail "$2: no '$1'"
}
cat >leaves.mo <<'END'
model M
  function leaves
    input Integer depth;
    input Real path;
    output Real y;
  algorithm
    if depth < 1 then
      y := path;
    else
      y := leaves(depth - 1, 2*path) + leaves(depth - 1, 2*path + 1);
    end if;
  end leaves;
  Real x;
equation
  x = leaves(60, 0);
end M;
END
refused 'leaves.mo:[0-9]*:[0-9]*: error: a call of leaves takes more than' leaves.mo
sed 's/leaves(60, 0)/leaves(4, 0)/' leaves.mo >small.mo
"$daedal" run small.mo >out 2>err && grep -q 'x  120' out || fail "leaves(4, 0)"
cat >loops.mo <<'END'
model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := x;
    for i in 1:3000 loop
      for j in 1:3000 loop
        y := y + 1/(i + j);
      end for;
    end for;
  end f;
  parameter Real p = f(1);
  Real x(start = 1);
equation
  der(x) = -p*x;
end M;
END
refused 'a call of f takes more than' loops.mo
cat >power.mo <<'END'
model M
  Real x[20, 20](start = fill(0.01, 20, 20), each fixed = true);
equation
  der(x) = x^100;
end M;
END
refused 'power.mo:4.*in all: too many to analyse' power.mo

# texts that grow: at once, and bit by bit
cat >doubled.mo <<'END'
model M
  function f
    input Integer n;
    output String s;
  algorithm
    s := "ab";
    for i in 1:n loop
      s := s + s;
    end for;
  end f;
  parameter String s = f(40);
  Real x = 1;
end M;
END
refused 'doubled.mo:[0-9:]* error: a String of more than 65536 characters' doubled.mo
sed 's/s + s/s + "c"/; s/f(40)/f(1000000)/' doubled.mo >longer.mo
refused 'longer.mo:[0-9:]* error: a call of f takes more than 128 MiB' longer.mo
sed 's/f(40)/f(10)/' doubled.mo >short.mo
"$daedal" check short.mo >out 2>err || fail "a text of 2048 characters"

# a product of 100 000 equal factors, each of which has a unit of its own on the way
{
    printf 'model M Real x; equation x = time'
    head -c 100000 /dev/zero | sed 's/\x00/*time/g'
    echo '; end M;'
} >product.mo
(ulimit -t 10 && exec "$daedal" check product.mo) >out 2>err || fail "a long product takes long"

finish
