#!/bin/sh
# Test of `daedal compare`: compare.sh <path of daedal>. Exit 0 if nothing failed. Curves are closed
# forms, so deviations from the tube are known.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

# curve FILE ROWS END 'EXPRESSION of t': a csv with the signal y at evenly spaced times
curve() { awk -v n="$2" -v end="$3" "BEGIN { OFMT = CONVFMT = \"%.17g\"; print \"time,y\";
    for (k = 0; k <= n; k++) { t = end * k / n; print t \",\" ($4) } }" >"$1"; }

# deviates FROM TO: the deviation of the first signal in the json that was printed last
deviates() {
    python3 - "$1" "$2" <<'END' || fail "deviation is not within $1 .. $2"
import json, sys
d = json.load(open("out"))["signals"][0]["deviation"]
sys.exit(not float(sys.argv[1]) <= d <= float(sys.argv[2]))
END
}

# A ramp over a span of 1: half widths are 0.002. Within them the reference takes t - 0.002 to
# t + 0.002, so y = t + c is off by c - 0.002; at the end, where it takes no more than 1, by c.
curve ramp.csv 100 1 't'
curve near.csv 130 1 't + 0.0019'
curve far.csv 130 1 't + 0.0021'
expect 0 compare ramp.csv ramp.csv
says '1 of 1 signal in the tube'
expect 0 compare ramp.csv near.csv --json
deviates 0.00189999 0.00190001
expect 4 compare ramp.csv far.csv --json
deviates 0.00209999 0.00210001
python3 -c 'import json; s = json.load(open("out"))["signals"][0]; assert s["t"] == 1 and s["verdict"] == "off" and abs(s["value"] - 1.0021) < 1e-12 and abs(s["half_width"] - 0.002) < 1e-15' ||
    fail "the place of the deviation is wrong"
expect 0 compare ramp.csv far.csv --tube-y 0.003
expect 4 compare ramp.csv near.csv --tube-y 0.001
curve early.csv 130 1 't < 0.9 ? t + 0.0035 : t' # in the middle the width in time helps
expect 0 compare ramp.csv early.csv
expect 4 compare ramp.csv early.csv --tube-x 0

# A cosine over 1.5 periods, late by d: off by 2 sin((d - half width)/2) where it is steepest; the
# half width is 0.01885.
end=9.42477796076938
curve wave.csv 4000 $end 'cos(t)'
curve late1.csv 3000 $end 'cos(t - 0.015)'
curve late3.csv 3000 $end 'cos(t - 0.03)'
expect 0 compare wave.csv late1.csv --json
expect 4 compare wave.csv late3.csv --json
deviates 0.01114 0.01116
expect 0 compare wave.csv late3.csv --tube-x 0.003
# points of the reference count, too: a result with few rows is not taken at its rows alone
curve coarse.csv 3 $end 'sin(t)'
curve fine.csv 3000 $end 'sin(t)'
expect 4 compare fine.csv coarse.csv

# Jumps: both sides of two rows at one time.
printf 'time,y\n0,0\n0.5,0\n0.5,1\n1,1\n' >step.csv
printf 'time,y\n0,0\n0.25,0\n0.5,0\n0.5,1\n0.75,1\n1,1\n' >same.csv
printf 'time,y\n0,0\n0.5015,0\n0.5015,1\n1,1\n' >soon.csv
printf 'time,y\n0,0\n0.503,0\n0.503,1\n1,1\n' >later.csv
expect 0 compare step.csv same.csv --tube-x 0
expect 0 compare same.csv step.csv --tube-x 0
expect 0 compare step.csv soon.csv
expect 0 compare soon.csv step.csv
expect 4 compare step.csv later.csv --json
deviates 1 1
expect 4 compare step.csv soon.csv --tube-x 0.001
# a jump at the very end may come a rounding error later, where the reference is no more
printf 'time,y\n0,0\n1,0\n' >still.csv
printf 'time,y\n0,0\n1,0\n1,1\n' >last.csv
printf 'time,y\n0,0\n1,1\n1,0\n' >wrong.csv
expect 0 compare still.csv last.csv
expect 0 compare last.csv still.csv
expect 4 compare still.csv wrong.csv

# Signals that hardly move: a least range, and a part of their size.
printf 'time,y\n0,0\n1,0\n' >zero.csv
printf 'time,y\n0,0\n1,1.9e-6\n' >little.csv
printf 'time,y\n0,300\n1,300\n' >warm.csv
printf 'time,y\n0,300\n1,300.0029\n' >warmer.csv
expect 0 compare zero.csv little.csv
expect 4 compare zero.csv little.csv --nominal 0.0009
expect 0 compare warm.csv warmer.csv
printf 'time,y\n0,300\n1,300.0031\n' >warmer.csv
expect 4 compare warm.csv warmer.csv

# A result that ends early, begins late, or is no number.
printf 'time,y\n0,0\n0.9,0.9\n' >short.csv
expect 4 compare ramp.csv short.csv
says 'ends at t = 0.9, the reference at 1'
printf 'time,y\n0.1,0.1\n1,1\n' >short.csv
expect 4 compare ramp.csv short.csv
says 'begins at t = 0.1'
printf 'time,y\n0,0\n0.5,nan\n1,1\n' >hole.csv
expect 4 compare ramp.csv hole.csv
expect 0 compare hole.csv ramp.csv
printf 'time,y\n-1,5\n0,0\n1,1\n2,9\n' >longer.csv # beyond the reference nothing is said
expect 0 compare ramp.csv longer.csv --tube-x 0

# Names: quotes and units do not matter; missing ones are named, as are those of patterns and lists.
printf '"time","a.b","m[1,2]","c","d"\n0,1,2,3,4\n1,1,2,3,4\n' >names.csv
printf "t [s],'a.b' [m],\"'m'[1, 2]\",c,e\n0,1,2,3,5\n1,1,2,3,5\n" >quoted.csv
expect 4 compare names.csv quoted.csv
says 'not in quoted.csv: d$'
says 'not in the reference: e$'
says '3 of 4 signals'
expect 0 compare names.csv quoted.csv --signals 'a.*' --signals "m[1,?]"
says '2 of 2 signals'
expect 2 compare names.csv quoted.csv --signals 'x*y'
says "no signal of 'names.csv' fits 'x\*y'"
printf 'time\na.b\n\nc\r\n' >list.txt
expect 0 compare names.csv quoted.csv --signals-from list.txt
says '2 of 2 signals'
echo nowhere >>list.txt
expect 4 compare names.csv quoted.csv --signals-from list.txt
printf 'e\n' >list.txt
expect 5 compare names.csv quoted.csv --signals-from list.txt
says 'not in names.csv: e'
expect 2 compare names.csv quoted.csv --signals-from none.txt
expect 0 compare names.csv quoted.csv --signals c --quiet
[ -s out ] && fail "--quiet prints"

# Names that differ in their quotes alone: each is compared with its own. Two of one name are refused.
printf "time,x,'x'\n0,0,5\n1,1,5\n" >both.csv
printf "time,'x',x\n0,5,0\n1,5,1\n" >other.csv
expect 0 compare both.csv other.csv --tube-y 0
says '2 of 2 signals'
printf "time,'x',x\n0,5,0\n1,6,1\n" >other.csv
expect 4 compare both.csv other.csv
says '1 of 2 signals'
printf 'time,y,y\n0,0,5\n1,1,5\n' >twice.csv
expect 2 compare ramp.csv twice.csv
says "'twice.csv' has more than one signal y"
expect 2 compare twice.csv ramp.csv
printf 'time\n0\n1\n' >none.csv
expect 5 compare none.csv none.csv
says 'there is no signal to compare'

# A range beyond the largest number has a tube all the same.
printf 'time,y\n0,1e308\n1,-1e308\n' >huge.csv
expect 0 compare huge.csv huge.csv
expect 4 compare huge.csv ramp.csv

# The three formats that are written, with an alias of the other sign and a parameter in the mat file.
cat >turn.mo <<'END'
model Turn
  parameter Real p = 2.5;
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), z;
  discrete Real n(start = 0, fixed = true);
equation
  der(x) = y;
  der(y) = -x;
  z = -x;
  when x < 0 then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 10));
end Turn;
END
awk 'BEGIN { print "time;x;y;z"; for (k = 0; k <= 2000; k++) { t = k / 200
    printf "%.17g;%.17g;%.17g;%.17g\r\n", t, cos(t), -sin(t), -cos(t) } }' >exact.csv
for format in csv json mat; do
    expect 0 run turn.mo -o turn.$format --quiet --rtol 1e-8
    expect 0 compare exact.csv turn.$format --tube-x 0 --tube-y 1e-3
    says '3 of 3 signals'
    expect 0 compare turn.csv turn.$format --tube-x 0 --tube-y 0
    says '4 of 4 signals'
done
expect 0 compare turn.mat turn.mat
says '8 of 8 signals' # with der(x), der(y), der(z) and p
printf 'time,p\n0,2.5\n10,2.5\n' >p.csv
expect 0 compare p.csv turn.mat --tube-y 0
printf 'time,p\n0,2.6\n10,2.6\n' >p.csv
expect 4 compare p.csv turn.mat

# The picture and the json.
if command -v gnuplot >/dev/null; then
    expect 4 compare ramp.csv far.csv --plot worst.svg
    grep -q 'upper edge' worst.svg || fail "the picture has no tube"
fi
expect 2 compare ramp.csv far.csv --tube-x 2
expect 2 compare ramp.csv far.csv --tube-y -1
expect 2 compare ramp.csv
expect 2 compare ramp.csv far.csv near.csv
expect 2 compare ramp.csv nothere.csv
expect 2 compare ramp.csv turn.mo
says 'must end in .csv, .json or .mat'

# Files with faults: file, line and column.
# faulty 'TEXT as printf takes it' 'MESSAGE'
faulty() {
    printf "$1" >bad.csv
    expect 2 compare ramp.csv bad.csv
    says "$2"
}
faulty 'time,y\n0,1\n0.5,abc\n' 'bad.csv:3:5: "abc" stands where a number belongs'
faulty 'time,y\n0,1x\n' 'bad.csv:2:3: "1x" stands'
faulty 'time,y\n0,\n' 'bad.csv:2:3: a number is missing'
faulty 'time,y,z\n0,,1\n' 'bad.csv:2:3: a number is missing'
faulty 'time,y\n0, \n1\n' 'bad.csv:2:4: a number is missing' # not the number of the next line
faulty 'time\ty\n0\t \t\n' 'bad.csv:2:4: a number is missing'
faulty 'time,y\n0,1\n\n1\n' 'bad.csv:4:2: the row ends after 1 of 2 numbers'
faulty 'time,y\n0,1,2\n' 'bad.csv:2:4: the row has more than the 2 numbers'
faulty 'x,y\n0,1\n' 'bad.csv:1:1: no column is named "time" or "t"'
faulty 'time,y\n0,1\n2,1\n1,1\n' 'bad.csv:4:1: the time goes back from 2 to 1'
faulty 'time,y\nnan,1\n' 'bad.csv:2:1: the time of this row is not finite'
faulty 'time,y\n' 'there are no rows'
faulty '' 'the file is empty'
faulty '\n\n"time"x,y\n0,1\n' 'bad.csv:3:7: after the name'
wrong() {
    printf "$1" >bad.json
    expect 2 compare ramp.csv bad.json
    says "$2"
}
wrong '{\n "series": {"names": ["y"],\n "t": [0,1], "y": [[1,"a"]]}}' 'bad.json:3:23: a number belongs here'
wrong '{"series": {"names": ["y"], "t": [0,1], "y": [[1]]}}' 'fewer numbers than "t"'
wrong '{"series": {"names": ["y"], "t": [0,1], "y": [[1,2,3]]}}' 'more numbers than "t"'
wrong '{"series": {"names": ["y","z"], "t": [0,1], "y": [[1,2]]}}' 'fewer arrays than "names"'
wrong '{"series": {"names": ["y"], "t": [1,0], "y": [[1,2]]}}' 'bad.json:1:34: the times of "t" go back at its number 2'
wrong '{"series": {"names": ["y"], "t": [0,1]}}' 'there is no "series" with'
wrong '{"series": {"y": [[1]]}}' 'come before "y"'
wrong '{"other": [1, {"a": null}, "\\u00e9\\""]} x' 'there is no "series"'
wrong '{"series": {"names": ["y' 'no proper end'
printf '{"series": {"names": ["y"], "t": [0,1], "y": [[0,1.0]]}, "other": [1, {"a": "b"}, true]}' >good.json
expect 0 compare ramp.csv good.json
size=$(wc -c <turn.mat)
for part in 10 60 $((size / 2)) $((size - 1)); do
    head -c "$part" turn.mat >bad.mat
    expect 2 compare ramp.csv bad.mat
    says 'bad.mat'
done
# units: values and times of the result become those of the reference
printf 'time [s],v [V]\n0,0\n1,2\n2,0\n' >volts.csv
printf 'time [ms],v [mV]\n0,0\n1000,2000\n2000,0\n' >millivolts.csv
printf 'time [s],v [A]\n0,0\n1,2\n2,0\n' >amps.csv
expect 0 compare volts.csv millivolts.csv && says 'agrees'
expect 0 compare millivolts.csv volts.csv && says 'agrees'
expect 2 compare volts.csv amps.csv
says "amps.csv: the column 'v' is in 'A', which cannot be converted to 'V', its unit in 'volts.csv'"
finish
