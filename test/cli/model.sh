#!/bin/sh
# Test of the command on model texts: model.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

one_line() { [ "$(wc -l <err)" -eq 1 ] || fail "not one line on stderr"; }

# reaches LIMIT NAME: the last row of out.csv against the reference values of a model
reaches() {
    awk -F, -v limit="$1" -v reference="$models/$2.ref" '
        BEGIN {
            while ((getline line <reference) > 0)
                if (split(line, word, " ") == 2) known[word[1]] = word[2]
        }
        # names may contain commas inside quotes
        NR == 1 { text = $0; while (match(text, /"[^"]*"|[^,]*/)) {
                      field = substr(text, 1, RLENGTH); gsub(/"/, "", field); sub(/ \[[^][]*\]$/, "", field)
                      name[++columns] = field; if (length(text) == RLENGTH) break
                      text = substr(text, RLENGTH + 2) } }
        END {
            for (i = 2; i <= columns; i++) {
                if (!(name[i] in known)) continue
                seen++; e = $i - known[name[i]]; if (e < 0) e = -e
                v = known[name[i]]; if (v < 0) v = -v
                if (e > worst) worst = e
                if (v > size) size = v
            }
            if (!seen || !(worst <= limit * size)) { print "error " worst " of " size; exit 1 }
        }' out.csv >awk.txt || fail "$2: $(cat awk.txt)"
}

# ---- solutions against the references ----------------------------------------------------------
for model in pendulum ball thermostat robertson akzo hires; do
    expect 0 run "$models/$model.mo" -o out.csv
    reaches 1e-5 $model
done
expect 0 run "$models/pendulum.mo" -o out.csv --rtol 1e-9
reaches 1e-7 pendulum
expect 0 run "$models/pendulum.mo" -o tape.csv --engine tape
expect 0 run "$models/pendulum.mo" -o native.csv --engine native
cmp -s tape.csv native.csv || fail "tape and native code differ"
expect 0 run "$models/pendulum.mo" -o soon.csv --engine soon
cmp -s tape.csv soon.csv || fail "the tape and native code that comes soon differ"

# ---- what is printed ---------------------------------------------------------------------------
expect 0 run "$models/pendulum.mo"
says '^Pendulum ('
says '5 equations, 5 variables, 3 parameters'
says 'rtol 1e-07'
says '[0-9] steps, [0-9]* rejected, 0 events'
says '^at time 10$'
says '^  x  *-0.8115.* m  *position'
for file in *pendulum* *Pendulum*; do [ ! -e "$file" ] || fail "a run without -o writes $file"; done
# all digits of a higher precision: the pendulum by elliptic functions, to 25 of them
expect 0 run "$models/pendulum.mo" --precision quad --rtol 1e-28 --atol 1e-28 --vars x -o digits.csv
says "x  -0.8115864461913038342742342"
tail -1 digits.csv | grep -q "^10,-0.8115864461913038342742342" || fail "digits.csv has too few digits"
expect 2 run "$models/pendulum.mo" --precision octuple && says "unknown precision"
expect 2 run "$models/pendulum.mo" --precision quad --method bdf && says "double precision only"
expect 0 run "$models/pendulum.mo" --quiet
[ ! -s out ] || fail "--quiet prints"
expect 0 run "$models/pendulum.mo" --stats --vars lambda
says '^Newton iterations'
says '^  lambda '
if grep -q '^  vx ' out; then fail "--vars does not choose"; fi

# ---- csv: header, rows, defaults of experiment ---------------------------------------------------
expect 0 run "$models/pendulum.mo" -o - --vars x,lambda
[ "$(head -n 1 out)" = "time [s],x [m],lambda [N/m]" ] || fail "csv header"
[ "$(wc -l <out)" -eq 502 ] || fail "500 intervals"
expect 0 run "$models/pendulum.mo" -o - --start-time 2 --stop 3 --interval 0.25
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "time [s] 2 2.25 2.5 2.75 3 " ] || fail "csv times"
expect 0 run "$models/pendulum.mo" -o - --stop 0
[ "$(wc -l <out)" -eq 2 ] || fail "stop at the start"
expect 0 run "$models/pendulum.mo" -o - --interval 0 --quiet --method bdf
[ "$(wc -l <out)" -gt 100 ] || fail "rows at every step"
expect 0 run "$models/robertson.mo" -o - --log-time --points 12 --first 1
awk -F, 'NR == 3 && $1 != 1 || NR == 4 && ($1 < 9.999 || $1 > 10.001) { bad = 1 }
         END { exit bad || NR != 14 }' out || fail "logarithmic times"
cat >plain.mo <<'END'
model Plain
  Real x(start = 1, fixed = true);
  Real twice = 2*x;
equation
  der(x) = -x;
end Plain;
END
expect 0 run plain.mo -o -
awk -F, 'END { e = $2 - exp(-1); f = $3 - 2*$2; exit !(NR == 502 && $1 == 1 && e*e < 1e-10 && f*f < 1e-24) }' out ||
    fail "0 to 1 by default, and eliminated variables"
sed 's/^end/  annotation(experiment(StartTime = 1, StopTime = 2, Interval = 0.5, Tolerance = 1e-4));\n&/' plain.mo >noted.mo
expect 0 run noted.mo -o noted.csv && says 'rtol 0.0001' && says 'interval  1 to 2 s'
[ "$(cut -d, -f1 noted.csv | tr '\n' ' ')" = "time [s] 1 1.5 2 " ] || fail "experiment"
cp noted.mo file_without_ending
expect 0 run file_without_ending --quiet

# ---- both sides of events ------------------------------------------------------------------------
expect 0 run "$models/ball.mo" -o - --vars h,v,bounces --interval 0.5
awk -F, 'NR > 2 && $1 == t { seen++; if ($3 / v < -0.80001 || $3 / v > -0.79999 || $4 != n + 1) bad = 1 }
         { t = $1; v = $3; n = $4 } END { exit bad || seen != 6 || NR != 1 + 7 + 12 }' out ||
    fail "rows at events"

# ---- parameters and start values -----------------------------------------------------------------
expect 0 run plain.mo --start x=3 -o -
awk -F, 'NR == 2 { exit !($2 == 3 && $3 == 6) }' out || fail "--start"
expect 0 run "$models/ball.mo" --set g=1 --set h0=2 --stop 1 -o - --vars h
awk -F, 'END { e = $2 - 1.5; exit !(e*e < 1e-12) }' out || fail "--set"
expect 0 run "$models/ladder.mo" --set n=7 --stop 0.1 -o -
[ "$(head -n 1 out | tr ',' '\n' | grep -c '^v')" -eq 7 ] || fail "structural --set"
expect 0 run "$models/thermostat.mo" --start heating=false --quiet

# ---- values as the language writes them ------------------------------------------------------------
cat >kinds.mo <<'END'
model Kinds
  type Mode = enumeration(slow, fast);
  parameter Mode mode = Mode.slow;
  parameter Integer n(min = 1, max = 5) = 2;
  parameter Boolean on = true;
  parameter String title = "none";
  parameter Real v[n] = fill(1, n);
  Real x(start = 1, fixed = true, min = 0.5);
  Real y[n](each start = 1, each fixed = true);
  Real 'q r' = -x;
  Real q2 = 2*x;
  Mode state(start = Mode.slow, fixed = true);
  discrete Integer ticks(start = 0, fixed = true);
equation
  der(x) = if mode == Mode.slow then -0.5*x else -2*x;
  for i in 1:n loop der(y[i]) = -v[i]*y[i]; end for;
  when sample(0.25, 0.25) then
    ticks = pre(ticks) + 1;
    state = if ticks > 1 then Mode.fast else pre(state);
  end when;
end Kinds;
END
last() { tail -n 1 "${1:-out}" | cut -d, -f"${2:-2}"; }
close_to() { awk -v a="$1" -v b="$2" 'BEGIN { e = a - b; exit !(e*e < 1e-8) }' || fail "$1 is not $2"; }
expect 0 run kinds.mo -o - --vars y --set 'v={1, 2}' --set n=2 --set title=short
[ "$(head -n 1 out)" = "time [s],y[1],y[2]" ] || fail "--vars of an array"
close_to "$(last out 3)" 0.135335283
expect 0 run kinds.mo -o - --vars y --set 'v[2]=3'
close_to "$(last out 3)" 0.049787068
"$daedal" run kinds.mo -o - --vars x --set mode=Mode.fast >out 2>err || fail "--set mode=Mode.fast"
close_to "$(last)" 0.135335283
grep -q '^daedal: warning: x = 0.49.* at t = 0.34.* lies below its min = 0.5$' err || fail "x leaves its min"
[ "$(wc -l <err)" -eq 1 ] || fail "one warning for x"
"$daedal" run kinds.mo -o - --vars x --set mode=fast >out2 2>err && cmp -s out out2 || fail "--set mode=fast"
expect 0 run kinds.mo -o - --vars 'der(x),der(y[*]),q*' --start 'y={3,4}' --start state=fast
[ "$(head -n 1 out)" = "time [s],der(x),der(y[1]),der(y[2]),'q r',q2" ] || fail "derivatives and patterns"
close_to "$(sed -n 2p out | cut -d, -f4)" -4
expect 0 run kinds.mo -o - --vars 'q r' --stop 0
[ "$(head -n 1 out)" = "time [s],'q r'" ] || fail "names without quotes"
expect 0 run kinds.mo
says '4 equations, 7 variables (1 eliminated, 2 discrete), 1 output, 6 parameters'
says 'engine tape$'
says '[1-9] events'
says '^  state  *fast$'
printf 'model One\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend One;\n' >one.mo
expect 0 run one.mo && says '1 equation, 1 variable, 0 parameters'
expect 0 check one.mo && says '1 equation for 1 unknown, 1 state'
"$daedal" run one.mo --engine native >out 2>err && says 'engine native$'
CC=/nowhere/cc PATH=/nowhere "$daedal" run noted.mo --engine native >out 2>err || fail "a run without a compiler"
grep -q 'tape' err && says 'engine tape (not native)$'
refuse() {
    words=$1
    shift
    expect 2 run kinds.mo "$@"
    one_line
    says "$words"
}
refuse 'n is an Integer, a whole number, not 1.5' --set n=1.5
refuse 'n = 9 lies above its max = 5' --set n=9
refuse 'on is a Boolean, true or false' --set on=3
refuse 'one of slow, fast (or 1 to 2), not 3' --set mode=3
refuse 'one of slow, fast (or 1 to 2), not quick' --set mode=quick
refuse "is a variable; its start value is set by '--start x=3'" --set x=3
refuse "is a parameter; it is set by '--set n=3'" --start n=3
refuse "is a parameter, not a variable" --vars n
refuse "one of slow, fast" --start state=quick
refuse "no variable y\[3\]" --start 'y={1,2,3}'
refuse "no variable fits 'z\*'" --vars 'z*'
refuse "in quotes: --set 'v={1,2}'" --set v=1 v=2
refuse "'--stop' needs a finite number, not 'inf'" --stop inf
refuse "'--stop' needs a finite number, not 'nan'" --stop nan
refuse "did you mean '--help'" --hlep
expect 2 run . && one_line && says "'.' is a directory, not a model"
expect 2 check .. && one_line && says "is a directory"
sed 's/n(min = 1, max = 5) = 2/n(min = 3, max = 5) = 2/' kinds.mo >outside.mo
"$daedal" check outside.mo >out 2>err || fail "a default outside its bounds is no error"
grep -q "warning: parameter 'n' = 2 lies below its min = 3" err || fail "no warning about n"

# ---- closed pipes -----------------------------------------------------------------------------------
"$daedal" run "$models/pendulum.mo" -o - 2>err | head -n 1 >out
[ "$(wc -l <out)" -eq 1 ] || fail "head of a stream"
"$daedal" help run 2>err | head -n 1 >out
[ ! -s err ] || fail "a closed pipe is no error of help"
expect 1 run plain.mo --csv /dev/full && says 'No space left'

# ---- json, mat, plots ----------------------------------------------------------------------------
expect 0 run "$models/ball.mo" -o ball.json -o ball.mat -o ball.csv --plot ball.svg
for file in ball.json ball.mat ball.csv ball.svg; do
    [ -s $file ] || fail "$file is missing"
    says "wrote $file"
done
grep -q '"units": \["m","m/s",""\]' ball.json || fail "units in json"
grep -q '"h0": 1' ball.json || fail "parameters in json"
grep -q 'v \[m/s\]' ball.svg || fail "units in the plot"
expect 0 run plain.mo --plot plain.png --quiet
[ "$(head -c 4 plain.png | tail -c 3)" = PNG ] || fail "no png"
expect 0 run plain.mo --plot plain.pdf --quiet
[ "$(head -c 4 plain.pdf)" = %PDF ] || fail "no pdf"
if command -v octave-cli >/dev/null 2>&1; then
    cat >read.m <<'END'
s = load('ball.mat'); c = dlmread('ball.csv', ',', 1, 0);
k = find(strcmp(deblank(cellstr(s.name')), 'v')); p = find(strcmp(deblank(cellstr(s.name')), 'e'));
ok = strcmp(deblank(s.Aclass(4, :)), 'binTrans') && s.dataInfo(1, k) == 2 && s.dataInfo(1, p) == 1;
ok = ok && isequal(s.data_2(1, :)', c(:, 1)) && isequal(s.data_2(s.dataInfo(2, k), :)', c(:, 3));
ok = ok && isequal(s.data_1(s.dataInfo(2, p), :), [0.8 0.8]) && any(strfind(s.description(:, k)', '[m/s]'));
printf('%d\n', ok);
END
    [ "$(octave-cli -q --no-init-file read.m 2>octave.err)" = 1 ] || fail "Octave reads another ball.mat"
fi

expect 0 run kinds.mo -o kinds.mat -o kinds.csv
says 'wrote kinds.csv (50. rows, 7 variables)' || true
[ "$(head -n 1 kinds.csv | tr ',' '\n' | grep -c der)" -eq 0 ] || fail "derivatives in csv"
if command -v octave-cli >/dev/null 2>&1; then
    cat >read.m <<'END'
s = load('kinds.mat'); names = deblank(cellstr(s.name'));
at = @(name) s.dataInfo(:, find(strcmp(names, name)));
x = at('x'); q = at("'q r'"); d = at('der(x)'); e = at("der('q r')");
ok = x(1) == 2 && q(1) == 2 && q(2) == -x(2) && d(1) == 2 && e(2) == -d(2);
ok = ok && max(abs(s.data_2(d(2), :) + 0.5*s.data_2(x(2), :))) < 1e-4;
printf('%d\n', ok);
END
    [ "$(octave-cli -q --no-init-file read.m 2>octave.err)" = 1 ] || fail "aliases and derivatives in kinds.mat"
fi

# ---- emit ------------------------------------------------------------------------------------------
expect 0 emit "$models/pendulum1.mo" -o pendulum.c
expect 0 emit "$models/pendulum1.mo"
cmp -s out pendulum.c || fail "emit to a file and to stdout"
cat >main.c <<'END'
#include "pendulum.c"
int main(void)
{
    double f[MODEL_EQUATIONS], worst = 0.0;
    model_residual(0.0, model_y0, model_yp0, 0, model_parameters, 0, f);
    for (int i = 0; i < MODEL_EQUATIONS; i++) worst = fmax(worst, fabs(f[i]));
    double moved[MODEL_EQUATIONS] = {2.0, 0.5, 0.0, 0.0, 1.0};
    model_residual(0.0, moved, model_yp0, 0, model_parameters, 0, f);
    /* lambda (x^2 + y^2) - m (v^2 - g y), either sign */
    int wrong = !(worst < 1e-9 && fabs(fabs(f[4]) - 4.75) < 1e-12);
    /* the Jacobian against differences, and nothing outside of its pattern */
    double J[2][MODEL_EQUATIONS][MODEL_EQUATIONS] = {0}, partials[MODEL_PARTIALS], g[MODEL_EQUATIONS];
    model_jacobian(0.0, moved, model_yp0, 0, model_parameters, model_memory0, partials);
    for (int k = 0; k < MODEL_PARTIALS; k++)
        J[model_slope[k]][model_row[k]][model_column[k]] += partials[k];
    for (int slope = 0; slope < 2; slope++)
        for (int j = 0; j < MODEL_EQUATIONS; j++) {
            double y[MODEL_EQUATIONS], yp[MODEL_EQUATIONS];
            for (int i = 0; i < MODEL_EQUATIONS; i++) y[i] = moved[i], yp[i] = model_yp0[i];
            (slope ? yp : y)[j] += 1e-6;
            model_residual(0.0, y, yp, 0, model_parameters, model_memory0, g);
            for (int i = 0; i < MODEL_EQUATIONS; i++)
                wrong |= !(fabs((g[i] - f[i]) / 1e-6 - J[slope][i][j]) < 1e-4);
        }
    return wrong;
}
END
if command -v cc >/dev/null 2>&1; then
    cc -std=c11 -Wall -Wextra -Werror main.c -o main -lm >out 2>err || fail "emitted C does not compile"
    ./main || fail "emitted C computes something else"
fi
expect 1 emit plain.mo -o no/such/directory.c && one_line
# a flat text, which reads back as the same model
for text in ball thermostat andrews seeds/disc_energies seeds/kepler; do
    expect 0 emit "$models/$text.mo" --format modelica -o flat.mo
    expect 0 run "$models/$text.mo" -o as_written.csv --quiet
    expect 0 run flat.mo -o read_back.csv --quiet
    tail -1 as_written.csv >a && tail -1 read_back.csv >b
    awk -F, 'NR == FNR { for (i = 1; i <= NF; i++) x[i] = $i; next }
        { for (i = 1; i <= NF; i++) { d = x[i] - $i; if (d < 0) d = -d; if (d > 1e-7 * (1 + x[i]^2)) exit 1 } }' \
        a b || fail "$text: the flat text is another model"
done
# names in quotes, whatever they hold, are the same names when the text is read
cat >quoted.mo <<'END'
model 'Quo\'ted'
  Real 'a\'b'(start = 1, fixed = true), 'back\\', 'd"e', 'f.g', 'h[1]', 'tab\t?\?', '\'', '\'q\'', '*/';
  parameter Real '\'p' = 2;
equation
  der('a\'b') = -'\'p'*'a\'b';
  'back\\' = 1;  'd"e' = 2;  'f.g' = 3;  'h[1]' = 4;  'tab\t?\?' = 5;  '\'' = 6;  '\'q\'' = 7;  '*/' = 8;
end 'Quo\'ted';
END
expect 0 emit quoted.mo --format modelica -o quoted2.mo
for text in quoted quoted2; do expect 0 run $text.mo --set "'\\'p'=3" -o $text.csv; done
cmp -s quoted.csv quoted2.csv || fail "names in quotes are others in a flat text"
head -n 1 quoted2.csv | grep -qF "time [s],'a\\'b','back\\\\'," || fail "names in quotes"
expect 0 sweep quoted.mo --over "'\\'p'=1,2" --keep "max('back\\\\' + 'a\\'b')" -o - && says '^2,2,2,ok'
expect 0 run quoted.mo --vars "'a\\'b','\\''" -o - && says "^time .s.,'a..b','..'\$"

expect 2 models no/such.mo && says 'unknown model' && silent_on 'is a file'
expect 2 emit plain.mo --format pascal && one_line && says 'c, modelica or conditions'

# ---- check -----------------------------------------------------------------------------------------
expect 0 check "$models/ball.mo" --list
says '2 equations for 2 unknowns'
says '^  g  *= 9.81 m/s2'
says '^  v  *m/s  *velocity'
expect 0 check "$models/ball.mo" --quiet
[ ! -s out ] || fail "check --quiet prints"
expect 2 check akzo && one_line
expect 2 check && one_line
expect 2 check "$models/ball.mo" x && one_line

# ---- wrong models: 3, with all messages as the translator writes them ------------------------------
printf 'model Bad\n  Real x;\nequation\n  der(x) = -y;\n  x = foo(1);\nend Bad;\n' >bad.mo
for command in run check emit; do
    expect 3 $command bad.mo
    says '^bad.mo:4:13: error: '
    says '^bad.mo:5:7: error: '
done
: >empty.mo
expect 3 run empty.mo && one_line && says 'empty.mo'
printf 'model M\n  Real x;\n  Real y;\nequation\n  der(x) = 1;\nend M;\n' >short.mo
expect 3 run short.mo
head -c 3000 /dev/urandom >noise.mo
expect 3 run noise.mo

# ---- wrong use: 2, one line -------------------------------------------------------------------------
wrong() {
    words=$1
    shift
    expect 2 "$@"
    one_line
    says "$words"
}
wrong "did you mean 'h0'" run "$models/ball.mo" --set ho=2
wrong "unknown parameter 'weight'" run "$models/ball.mo" --set weight=2
wrong 'finite' run "$models/ball.mo" --set g=nan
wrong 'finite' run "$models/ball.mo" --set g=inf
wrong 'finite' run "$models/ball.mo" --set g=1x
wrong 'NAME=VALUE' run "$models/ball.mo" --set g
wrong 'NAME=VALUE' run "$models/ball.mo" --start =3
wrong "unknown variable 'hh'" run "$models/ball.mo" --start hh=2
wrong "did you mean 'bounces'" run "$models/ball.mo" --vars h,bonces
wrong 'before the start' run "$models/ball.mo" --stop -1
wrong 'before the start' run "$models/ball.mo" --start-time 4
wrong 'directory' run "$models/"
wrong 'No such file' run nowhere.mo
wrong "'--set n=5'" run "$models/ladder.mo" --size 5
wrong "did you mean 'native'" run plain.mo --engine nativ
wrong 'rows' run plain.mo --interval 1e-12
cat >wrong.mo <<'END'
model Wrong "a sign: without algebraic variables none of them jumps"
  Real T[4](each start = 20, each fixed = true);
equation
  der(T[1]) = 1e3*(T[2] - 2*T[1] + 100);
  der(T[2]) = 1e3*(T[3] - 2*T[2] + T[1]);
  der(T[3]) = -1e3*(T[4] - 2*T[3] + T[2]);
  der(T[4]) = 1e3*(20 - 2*T[4] + T[3]);
  annotation(experiment(StopTime = 10));
end Wrong;
END
expect 1 run wrong.mo && says 'T\[3\] grows without bound' && silent_on 'algebraic variables'
echo 'model Nothing parameter Real p = 1; end Nothing;' >nothing.mo
expect 1 run nothing.mo && says 'has no variables'
wrong 'exclude' run plain.mo --interval 0 --points 3
wrong 'cannot be read\|Permission\|No such' run ./nothing
if truncate -s 1100M huge.mo 2>/dev/null; then
    wrong '1 GiB' run huge.mo
    rm -f huge.mo
fi
expect 2 run "$models/ladder.mo" --set R=1 && says 'cannot be set'
if [ "$(id -u)" -ne 0 ]; then
    cp plain.mo secret.mo && chmod 0 secret.mo
    wrong 'Permission' run secret.mo
fi
expect 1 run plain.mo -o no/such/directory.csv && one_line

# ---- failures while running --------------------------------------------------------------------------
cat >assert.mo <<'END'
model Asserts
  Real x(start = 1, fixed = true);
equation
  der(x) = -1;
  assert(x > 0.5, "x is too small");
end Asserts;
END
expect 1 run assert.mo -o part.csv && says 'assert.mo:5' && says 'x is too small'
awk -F, 'END { exit !($1 > 0.3 && $1 < 0.7) }' part.csv || fail "what was reached is written"
sed 's/assert.*/when x < 0.25 then terminate("done"); end when;/' assert.mo >terminate.mo
expect 0 run terminate.mo -o part.csv && says 'terminated at t = 0.75' && says 'done'
awk -F, 'END { e = $1 - 0.75; exit !(e*e < 1e-12) }' part.csv || fail "rows until terminate"
sed 's/too small"/&, level = AssertionLevel.warning/' assert.mo >warning.mo
"$daedal" run warning.mo >out 2>err || fail "a warning ends the run"
grep -q '^daedal: .*warning: .*x is too small' err || fail "no warning"
[ "$(grep -c 'too small' err)" -eq 1 ] || fail "more than one warning"
printf 'model Log\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = log(x) - 1;\nend Log;\n' >log.mo
expect 1 run log.mo --stop 10 && one_line && says 'x'
printf 'model Zero\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = 1/x;\nend Zero;\n' >zero.mo
expect 1 run zero.mo && one_line

# ---- interruption --------------------------------------------------------------------------------------
cat >long.mo <<'END'
model Long
  Real x(start = 1, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(x) = -1e3*y;
  der(y) = 1e3*x;
  annotation(experiment(StopTime = 1e6));
end Long;
END
# interrupt SIGNAL CODE: what was reached is written, complete, and nothing else
interrupt() {
    # a script lets what it runs in the background ignore SIGINT; not here
    mkfifo long.hist
    env --default-signal=INT "$daedal" run long.mo -o long.csv --history long.hist --engine tape \
        --interval 1 >out 2>err &
    process=$!
    # the history is a pipe here, and full before anybody reads it: by then there are rows
    exec 3<long.hist
    head -c 60000 <&3 >/dev/null
    cat <&3 >/dev/null &
    reader=$!
    kill -s "$1" $process
    wait $process
    got=$?
    exec 3<&-
    wait $reader
    [ $got -eq "$2" ] || fail "SIG$1 exits with $got"
    grep -q '^daedal: interrupted at t = ' err || fail "no word about SIG$1"
    awk -F, 'NF != 3 { bad = 1 } END { exit bad || NR < 3 }' long.csv || fail "rows after SIG$1"
    for file in *partial*; do [ ! -e "$file" ] || fail "$file is left"; done
    rm -f long.csv long.hist
}
interrupt INT 130
interrupt TERM 143

# nohup: what was ignored at the start stays so
mkfifo long.hist
(
    trap '' INT
    exec "$daedal" run long.mo --stop 3 --engine tape --history long.hist --quiet >out 2>err
) &
process=$!
exec 3<long.hist # opens when the run has opened it, too
kill -s INT $process
cat <&3 >/dev/null
exec 3<&-
wait $process || fail "an ignored SIGINT ends the run"
rm -f long.hist

# ---- the end of a run -------------------------------------------------------------------------------------
cat >ending.mo <<'TEXT'
model Ending
  Real x(start = 1, fixed = true);
  discrete Real e(start = 0, fixed = true);
equation
  der(x) = -x;
  when terminal() then
    e = x;
  end when;
end Ending;
TEXT
"$daedal" run ending.mo -o - --points 2 >out 2>err || fail "run ending.mo"
tail -1 out | awk -F, '{ exit !($1 == 1 && $3 > 0.3678 && $3 < 0.3680) }' || fail "terminal() did not fire"

# ---- outputs: nothing needs them -------------------------------------------------------------------------
traps=$models/traps
expect 0 run "$traps/output_root.mo"
says '2 equations, 2 variables, 1 output, 0 parameters'
"$daedal" run "$traps/output_sinc.mo" -o - --points 3 >out 2>err || fail "run output_sinc.mo"
[ "$(sed -n 2p out)" = "0,0,nan" ] || fail "sin(x)/x at 0 is not nan"
close_to "$(last out 3)" -0.0544021111
one_line
grep -q 'note: .*output_sinc.mo:5: y = nan at t = 0.*denominator of sin(x)/x' err || fail "no note on y = nan"
"$daedal" check "$traps/output_sinc.mo" >out 2>err || fail "check output_sinc.mo"
says '^  y  *output  *implied  *nan$'
"$daedal" emit "$traps/output_ramp.mo" >out 2>err || fail "emit output_ramp.mo"
says 'MODEL_EQUATIONS = 1,'
says 'MODEL_VARIABLES = 3,'

# ---- completion ------------------------------------------------------------------------------------------
# offers WORD..: what bash makes of the last word
offers() {
    bash -c 'source "$1"; shift; daedal=$1; shift; COMP_WORDS=(daedal "$@"); COMP_CWORD=$#
             _daedal "$daedal" 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' - \
        "$root/completion/daedal.bash" "$daedal" "$@" >out 2>err
}
if command -v bash >/dev/null 2>&1; then
    offers em && says '^emit$'
    offers run --eng && says '^--engine$'
    offers run --sto && says '^--stop$'
    offers run pla && says '^plain.mo$'
    offers run rober && says '^robertson$'
    offers run x.mo --method b && says '^bdf$'
    offers run x.mo --method radau --order '' && says '^13$'
    offers run x.mo --method herk --variant t && says '^thesis$'
    offers methods ro && says '^rodas$'
    offers emit --o && says '^--output$'
    offers se && says '^sens$'
    offers sens --re && says '^--relative$'
    printf 'model B\n  parameter Real long = 1, lower = 1;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -long*lower*x;\nend B;\n' >by.mo
    offers sens by.mo --by lo && says '^long$' && says '^lower$'
    offers sens by.mo --by long,low && says '^long,lower$'
    offers fi && says '^fit$'
    offers fit by.mo --fit lo && says '^long$' && says '^lower$'
    offers fit --lo && says '^--loss$' && says '^--loss-scale$'
    offers fit by.mo --loss h && says '^huber$'
fi

finish
