#!/bin/sh
# Test of `daedal linearise` and `daedal steady`: linearise.sh <path of daedal>. Exit 0 if nothing
# failed. Values are closed forms.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

# holds 'PYTHON': a condition on j, the json that was printed last
holds() {
    python3 -c "import json, sys; j = json.load(open('${2:-out}'))
sys.exit(not ($1))" || fail "not so: $1"
}

cat >spring.mo <<'END'
model Spring
  parameter Real m = 2, d = 0.4, k = 3;
  input Real u = 0.5;
  output Real a;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  m*a = u - d*v - k*x;
  der(v) = a;
  annotation(experiment(StopTime = 5));
end Spring;
END
cat >valve.mo <<'END'
model Valve
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = if x < 1 then 2 - x else 1.5 - x;
  when x > 1.2 then n = pre(n) + 1; end when;
end Valve;
END
cat >kinetics.mo <<'END'
model Kinetics
  Real a(start = 2, fixed = true), b(start = 1, fixed = true);
equation
  der(a) = -a + 2*b;
  der(b) = a - 2*b;
end Kinetics;
END
cat >ramp.mo <<'END'
model Ramp
  Real x(start = 0, fixed = true);
equation
  der(x) = 3;
end Ramp;
END

# eigenvalues -0.1 +- i sqrt(1.49), frequency sqrt(1.5), damping 0.1/sqrt(1.5)
expect 0 linearise spring.mo
says 'linearised at t = 0'
says 'states 2, inputs 1, outputs 1'
says '-0.1 +- 1.22066 i *1.22474 *0.08165 *10  [xv] 50 %, [xv] 50 %'
says '^  v *-1.5 *-0.2$'
expect 0 linearise spring.mo --json
holds 'j["A"] == [[0, 1], [-1.5, -0.2]] and j["B"] == [[0], [0.5]]'
holds 'j["C"] == [[-1.5, -0.2]] and j["D"] == [[0.5]] and j["u0"] == [0.5] and j["x0"] == [1, 0]'
holds 'j["stability"] == "stable" and abs(j["eigenvalues"][0]["im"] - 1.49**.5) < 1e-14'
expect 0 linearise spring.mo --inputs u,k --outputs x,a --json
holds 'j["inputs"] == ["u", "k"] and j["outputs"] == ["x", "a"] and j["B"][1] == [0.5, -0.5]'
expect 0 linearise spring.mo --inputs '' --json
holds 'j["inputs"] == [] and j["B"] == [[], []]'
expect 0 linearise spring.mo --set k=0 --set d=0 --quiet
[ ! -s out ] || fail "--quiet prints"
expect 0 linearise spring.mo --set k=8 --start x=2 --start-time 1 --json
holds 'j["A"][1][0] == -4 and j["x0"][0] == 2 and j["t"] == 1'
expect 0 linearise spring.mo --at 2 --json --method radau --rtol 1e-9
w=1.2206555615733703
holds "j['t'] == 2 and j['A'][1][0] == -1.5"
holds "abs(j['x0'][0] - 1/6 - 5/6*2.718281828459045**-0.2*(__import__('math').cos(2*$w) + 0.1/$w*__import__('math').sin(2*$w))) < 1e-7"
expect 0 linearise spring.mo --at 7 --stop 8 --input 'u = sin(time)' --json
holds 'abs(j["u0"][0] - __import__("math").sin(7)) < 1e-12 and j["B"] == [[0], [0.5]]'
expect 0 linearise spring.mo --at steady --json
holds 'abs(j["x0"][0] - 1/6) < 1e-14 and j["D"] == [[0.5]]'
expect 0 linearise spring.mo --at steady --max-steps 10 --span 3
says 'at a steady state'

# files
expect 0 linearise spring.mo -o lin.json --quiet
holds 'j["model"] == "Spring"' lin.json
expect 0 linearise spring.mo -o lin.csv --quiet
grep -q '^A,v,x,-1.5$' lin.csv || fail "A in csv"
grep -q '^B,v,u,0.5$' lin.csv || fail "B in csv"
grep -q '^eigenvalue,1,re,-0.1' lin.csv || fail "eigenvalue in csv"
expect 0 linearise spring.mo -o -
grep -q '^D,a,u,0.5$' out || fail "D on standard output"
expect 0 linearise spring.mo -o lin.mat --quiet
python3 - <<'END' || fail "lin.mat"
import struct
data, at, found = open("lin.mat", "rb").read(), 0, {}
while at < len(data):
    kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
    name = data[at + 20 : at + 20 + length - 1].decode()
    at += 20 + length
    size = 1 if kind == 51 else 8
    body = data[at : at + size * rows * columns]
    at += len(body)
    if kind == 51:
        found[name] = ["".join(chr(body[i + j * rows]) for j in range(columns)).strip() for i in range(rows)]
    else:
        found[name] = (rows, columns, struct.unpack("<%dd" % (rows * columns), body))
assert found["A"] == (2, 2, (0.0, -1.5, 1.0, -0.2)), found["A"]
assert found["B"] == (2, 1, (0.0, 0.5)) and found["D"] == (1, 1, (0.5,))
assert found["stateNames"] == ["x", "v"] and found["inputNames"] == ["u"] and found["outputNames"] == ["a"]
assert found["eigenvalues"][:2] == (2, 2) and abs(found["eigenvalues"][2][0] + 0.1) < 1e-14
END

# wrong words
expect 2 linearise spring.mo --inputs nobody
says 'neither an input nor a parameter nobody'
expect 2 linearise spring.mo --inputs x
says 'x follows from the equations'
expect 2 linearise spring.mo --inputs u,,k
says 'a name is empty'
expect 2 linearise spring.mo --outputs nobody
says 'no variable nobody'
expect 2 linearise spring.mo --at 6
says 't = 6 is outside of the run, which goes from 0 to 5'
expect 2 linearise spring.mo --at -1
expect 2 linearise spring.mo --at soon
expect 2 linearise spring.mo --rtol 0
expect 2 linearise spring.mo --method nobody
expect 2 linearise spring.mo --max-steps 0
expect 2 linearise spring.mo --span -1
expect 2 linearise spring.mo -o lin.txt
says 'must end in .csv, .json or .mat'
expect 2 linearise spring.mo -o spring.mo
expect 2 linearise
expect 2 linearise nobody.mo
expect 2 linearise spring.mo --newton-only

# steady states
expect 0 steady spring.mo
says "by Newton's method from the start"
says '^  x *0.166666667$'
expect 0 steady spring.mo --input 'u = 6' -o rest.csv --quiet
grep -q '^x,2$' rest.csv || fail "x in csv"
expect 0 steady kinetics.mo
says 'conserved  a + b'
says '^  a *2$'
says 'marginally stable'
expect 0 steady kinetics.mo --start a=5 --json
holds 'j["way"] == "newton" and abs(j["variables"]["a"] - 4) < 1e-13 and j["linear"]["states"] == ["a", "b"]'
holds '[round(w, 9) for w in j["conserved"][0]] == [1, 1]'
expect 0 steady kinetics.mo -o rest.json --quiet
holds 'abs(j["variables"]["b"] - 1) < 1e-13' rest.json
expect 0 steady valve.mo --method bdf --rtol 1e-6
says 'of the run, up to t = 2'
says '^  x *1.5$'
says '^  n *1$'
says 'discrete values and clocks of the model (1) stay'
expect 1 steady valve.mo --newton-only
says 'a relation of the model has changed'
expect 1 steady ramp.mo --max-steps 100
says 'x moves by 3 per unit of time'
expect 1 steady ramp.mo --span 2
expect 1 linearise ramp.mo --at steady --span 2
expect 2 steady spring.mo --at 2
expect 2 steady spring.mo -o rest.mat
says 'must end in .csv or .json'

for command in linearise steady; do
    expect 0 help $command
    says "usage: daedal $command MODEL"
done
# an epidemic: all states without anybody ill rest; a reactor has one for its mass
cat >sir.mo <<'END'
model Sir
  Real s(start = 0.99), i(start = 0), r(start = 0);
equation
  der(s) = -2*s*i;
  der(i) = 2*s*i - i;
  der(r) = i;
end Sir;
END
expect 0 steady sir.mo
says '^  conserved  s + i + r, as'
says 'states beside this one rest, too'
expect 0 steady "$models/hires.mo"
says '^  conserved'
silent_on 'states beside'
finish
