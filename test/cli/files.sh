#!/bin/sh
# Files of the command: complete or not at all, never the model, and full disks are reported.
#   files.sh <path of daedal>
. "$(dirname "$0")/common.inc"

says() { grep -q -- "$1" err || fail "no '$1' on standard error"; }

# refused CODE WORDS..: that exit code, a message, and nothing changed or left
refused() {
    ends "$@"
    shift
    grep -q '^daedal: ' err || fail "daedal $*: no message"
    unchanged "daedal $*"
}

unchanged() {
    cmp -s p.mo p.copy || fail "$1: the model is changed"
    for file in *partial*; do [ ! -e "$file" ] || fail "$1: $file is left"; done
}

cat >p.mo <<'END'
model P "two panels"
  parameter Real T(unit = "s") = 1, k(unit = "N/m") = 2;
  Real x(start = 1, fixed = true, unit = "m");
  Real y(unit = "N");
equation
  der(x) = -x/T;
  y = k*x;
end P;
END
cp p.mo p.copy

# ---- the model is never written, by whatever name ------------------------------------------------------
ln -s p.mo link.csv
ln p.mo hard.csv
ln -s p.mo link.json
mkdir sub
for target in p.mo ./p.mo sub/../p.mo link.csv hard.csv; do
    refused 2 run p.mo --csv $target
    says 'the model'
    refused 2 emit p.mo -o $target
    says 'the model'
    refused 2 run p.mo --json $target
    refused 2 run p.mo --history $target
done
refused 2 run hard.csv --csv p.mo
refused 2 init p.mo -o link.json
ln -s p.mo link.mat && refused 2 run p.mo -o link.mat
ln -s p.mo link.svg && refused 2 run p.mo --plot link.svg
refused 2 check p.mo --incidence link.svg
rm -f link.* hard.csv

# ---- several outputs to one file ----------------------------------------------------------------------
refused 2 run p.mo --csv a.x --json a.x && says 'one file'
refused 2 run p.mo --csv a.x --json ./a.x && says 'one file'
refused 2 run p.mo --csv sub/../a.x --history a.x && says 'one file'
ln -s a.x other && refused 2 run p.mo --csv a.x --history other && says 'one file'
touch a.x && refused 2 run p.mo --csv a.x --history other && says 'one file'
ln -f a.x hard && refused 2 run p.mo --csv a.x --history hard && says 'one file'
refused 2 run p.mo --csv - --json - && says 'one file'
refused 2 run p.mo --csv - --json /dev/stdout && says 'one file'
refused 2 run p.mo --csv a --csv b && says 'two files'
refused 2 run p.mo -o a.csv --csv b && says 'two files'
refused 2 check p.mo --json --incidence p.mo
[ ! -s a.x ] || fail "a refused run writes"
rm -f a.x other hard
"$daedal" run p.mo --csv /dev/null --json /dev/null --quiet 2>err || fail "/dev/null takes any number"

# ---- devices, pipes, modes -------------------------------------------------------------------------------
"$daedal" emit p.mo -o /dev/null 2>err || fail "emit to a device"
[ -c /dev/null ] || fail "/dev/null is no device any more"
mkfifo pipe
cat pipe >through &
"$daedal" run p.mo --csv pipe --points 5 --quiet 2>err || fail "a pipe"
wait $!
[ "$(wc -l <through)" -eq 6 ] && [ -p pipe ] || fail "rows through a pipe"
"$daedal" run p.mo --csv /dev/stdout --points 5 >direct 2>err || fail "/dev/stdout"
cmp -s through direct || fail "/dev/stdout, redirected, has other rows"
echo first >both
"$daedal" run p.mo --csv /dev/stdout --points 5 >>both 2>err
[ "$(wc -l <both)" -eq 7 ] || fail "/dev/stdout appends where the shell does"
echo old >closed.csv && chmod 600 closed.csv
"$daedal" run p.mo -o closed.csv --quiet 2>err || fail "a file that is there"
[ "$(stat -c %a closed.csv)" = 600 ] || fail "modes of the file that was there"
if [ "$(id -u)" -ne 0 ]; then
    chmod 400 closed.csv
    refused 1 run p.mo -o closed.csv
fi
mkdir dir.csv && refused 1 run p.mo -o dir.csv && says 'directory'

# ---- a full device: every command says so ----------------------------------------------------------------
if [ -c /dev/full ]; then
    for words in "run p.mo" "run p.mo -o -" "run p.mo --json -" "run akzo" "init p.mo" "init p.mo --json" \
        "init p.mo -o -" "check p.mo" "check p.mo --json" "check p.mo --list" "emit p.mo" "emit p.mo -o -" \
        "verify p.mo" "verify p.mo --json -" "run p.mo --verify" "steady p.mo" "linearise p.mo" \
        methods formulations models "models akzo" help "help run" "run --help" version demo; do
        (cd sub && "$daedal" $(echo "$words" | sed 's:p\.mo:../p.mo:')) >/dev/full 2>err
        got=$?
        [ $got -eq 1 ] || fail "daedal $words exits with $got on a full standard output"
        says 'standard output'
        [ "$(wc -l <err)" -eq 1 ] || fail "daedal $words says it more than once"
    done
    for option in --csv --json --history; do
        refused 1 run p.mo $option /dev/full && says 'No space'
    done
    refused 1 run p.mo --json /dev/full && says "'/dev/full'"
    refused 1 verify p.mo --json /dev/full && says "'/dev/full': No space"
    ln -s /dev/full full.mat && refused 1 run p.mo -o full.mat && says 'No space'
    ln -s /dev/full full.svg && refused 1 run p.mo --plot full.svg && says 'No space'
    ln -s /dev/full full.csv && refused 1 init p.mo -o full.csv && says 'No space'
    refused 1 emit p.mo -o /dev/full && says 'No space'
    [ -c /dev/full ] || fail "/dev/full is gone"
fi

# ---- a disk that fills: what was there stays, whole -------------------------------------------------------
# files may not grow beyond 8 or 16 blocks of 512 bytes or 1 KiB here, which is like a full disk
for words in "run p.mo --points 5000 -o keep.csv" "run p.mo --points 5000 -o keep.json" \
    "run p.mo --points 5000 -o keep.mat" "run p.mo --points 2000 --plot keep.svg" \
    "run p.mo --points 2000 --plot keep.pdf" "run p.mo --points 2000 --plot keep.png" \
    "run p.mo --max-step 1e-4 --history keep.hist" "run p.mo --points 900 --csv keep.txt" \
    "emit big.mo -o keep.c"; do
    file=${words##* }
    echo "what was there" >"$file"
    cat >big.mo <<'END'
model Big
  Real x[300](each start = 1);
equation
  for i in 1:300 loop der(x[i]) = -i*x[i]; end for;
end Big;
END
    sh -c 'ulimit -f 8; exec "$@"' sh "$daedal" $words >out 2>err
    got=$?
    [ $got -eq 1 ] || fail "daedal $words exits with $got on a full disk"
    [ "$(cat "$file")" = "what was there" ] || fail "daedal $words: the file that was there is lost"
    ! grep -q "wrote $file" out || fail "daedal $words: says that it wrote it"
    unchanged "daedal $words"
done

# the same on a disk that is really full, where one may be had
mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    for file in keep.csv keep.json keep.mat keep.svg keep.pdf keep.hist; do
        echo "what was there" >disk/$file
        case $file in
        *.svg | *.pdf) words="--plot disk/$file --points 2000" ;;
        *.hist) words="--max-step 1e-4 --history disk/$file" ;;
        *) words="-o disk/$file --points 200000" ;;
        esac
        "$daedal" run p.mo $words >out 2>err
        got=$?
        # a small picture may fit
        if [ $got -eq 0 ]; then continue; fi
        [ $got -eq 1 ] || fail "$file exits with $got on a full disk"
        says 'No space left'
        [ -z "$(sort err | uniq -d)" ] || fail "$file: something is said twice"
        [ "$(cat disk/$file)" = "what was there" ] || fail "$file is lost on a full disk"
    done
    [ "$(ls -A disk | wc -l)" -eq 6 ] || fail "something is left on the full disk"
    umount disk
fi

# ---- results stream: a pipe that is closed early, rows while they come ----------------------------------
"$daedal" run p.mo --points 100000 --csv - 2>err | head -n 3 >out
[ "$(wc -l <out)" -eq 3 ] || fail "rows before the reader has enough"
[ ! -s err ] || fail "a reader that has enough is told off"

# ---- nothing is left out without a word --------------------------------------------------------------------
cat >many.mo <<'END'
model Many
  Real x[26](each start = 1, each fixed = true);
  parameter Real k(unit = "N") = 1, c(unit = "rad") = 2;
  Real f(unit = "N"), a(unit = "rad");
equation
  for i in 1:26 loop der(x[i]) = -i*x[i]; end for;
  f = k*x[1];
  a = c*x[2];
end Many;
END
"$daedal" run many.mo --plot many.svg >out 2>err || fail "a plot of many variables"
grep -q 'wrote many.svg (28 variables)' out || fail "the plot has not all variables"
grep -q "and 18 more; --vars '\*' shows all" out || fail "the summary does not say how to see all"
for name in 'x\[1\]' 'x\[13\]' 'x\[26\]' 'f \[N\]' 'a \[rad\]'; do
    grep -q "$name" many.svg || fail "$name is not in the picture"
done
"$daedal" run many.mo --plot many.pdf >out 2>err || fail "a pdf of many variables"
sed 's/26/210/g' many.mo >more.mo
"$daedal" run more.mo --plot more.svg >out 2>err || fail "a plot of a large model"
grep -q "wrote more.svg (12 of 212 variables; --vars '\*' draws all)" out || fail "what the plot leaves out"
"$daedal" run more.mo --plot more.svg --vars '*' >out 2>err || fail "a plot of 212 variables"
grep -q 'wrote more.svg (212 variables)' out && grep -q 'x\[209\]' more.svg || fail "212 variables"

# tics that differ have labels that differ; a long name keeps its end, beside the panel
cat >fine.mo <<'END'
model Fine
  Real p(unit = "Pa"), q(unit = "kg");
  Real this_is_the_pressure_at_the_outlet_of_the_second_stage(unit = "bar");
equation
  p = 1e5 + sin(time);
  q = 1e6 + 1e-9*sin(time);
  this_is_the_pressure_at_the_outlet_of_the_second_stage = sqrt(time);
end Fine;
END
"$daedal" run fine.mo --start-time 200000 --stop 200001 --plot fine.svg >out 2>err || fail "a plot of small changes"
sed -n '/<text>/s/<[^>]*>//gp' fine.svg | tr -d ' \t' | grep '^[0-9.e+-][0-9.e+-]*$' | sort >tics
[ "$(wc -l <tics)" -gt 15 ] && [ -z "$(uniq -d tics)" ] || fail "two tics have the same label"
grep -q '\.\.second_stage' fine.svg || fail "the end of a long name is left out"

finish
