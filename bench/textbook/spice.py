"""Circuits of models/textbook/ by ngspice, against their reference values:
    /usr/bin/python3 bench/textbook/spice.py
A third code, which has its own equations of diodes and transistors, confirms to five digits that the
references are those of the circuits. Exits with 1 if a value is more than SHARE of the largest off."""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "models", "textbook")
SHARE = 1e-4
THERMAL = 1.380649e-23 * 300.15 / 1.602176634e-19  # V at 27 degrees

# name: elements, {variable: expression}, longest step
CIRCUITS = {
    "diode_smoothing": ("""V1 s 0 SIN(0 10 50)
R1 s a 1
D1 a c DX
C1 c 0 100u IC=0
R2 c 0 1k
.model DX D(IS=1e-9 N={n(0.026)})""", {"vc": "v(c)"}, "10u"),
    "diode_clamper": ("""V1 s 0 SIN(0 5 1000)
R1 s a 100
C1 a o 1u IC=0
R2 o 0 100k
D1 0 o DX
.model DX D(IS=1e-9 N={n(0.04)})""", {"vc": "v(a,o)", "vo": "v(o)"}, "0.5u"),
    "diode_bridge": ("""V1 a b SIN(0 12 50)
D1 a p DX
D2 b p DX
D3 0 a DX
D4 0 b DX
C1 p 0 47u IC=0
R1 p 0 500
.model DX D(IS=1e-9 N={n(0.025)})""", {"v": "v(p)"}, "10u"),
    "diode_bridge_resistive": ("""V1 a b SIN(0 12 50)
D1 a p DX
D2 b p DX
D3 0 a DX
D4 0 b DX
R1 p 0 500
.model DX D(IS=1e-9 N={n(0.025)})""", {"v": "v(p)"}, "10u"),
    "voltage_doubler": ("""V1 s 0 SIN(0 10 50)
R1 s a 10
C1 a x 10u IC=0
D1 0 x DX
D2 x o DX
C2 o 0 10u IC=0
R2 o 0 20k
.model DX D(IS=1e-9 N={n(0.045)})""", {"v1": "v(a,x)", "v2": "v(o)"}, "10u"),
    "astable_bjt": ("""V1 p 0 5
R1 p c1 1k
R2 p c2 1k
R3 p b1 47k
R4 p b2 47k
Q1 c1 b1 0 QX
Q2 c2 b2 0 QX
C1 c1 b2 1u IC=0
C2 c2 b1 1u IC=0
C3 b1 0 1n IC=0.6
C4 b2 0 1n IC=0
.model QX NPN(IS=1e-14 BF=100 BR=1 NF={n(0.0259)} NR={n(0.0259)})""",
                    {"u1": "v(c1,b2)", "u2": "v(c2,b1)", "vb1": "v(b1)", "vb2": "v(b2)"}, "2u"),
    "transistor_switch": ("""V1 p 0 12
V2 g 0 PWL(0 0 1m 0 1.0001m 5 6m 5 6.0001m 0)
R1 g b 1k
R2 p x 120
L1 x c 0.1 IC=0
D1 c p DX
Q1 c b 0 QX
.model DX D(IS=1e-9 N={n(0.05)})
.model QX NPN(IS=1e-14 BF=150 BR=2 NF={n(0.026)} NR={n(0.026)})""", {"i": "i(L1)"}, "1u"),
    "power_supply": ("""V1 s 0 SIN(0 24 50)
R1 s a 2
D1 a c DX
C1 c 0 470u IC=0
L1 c o 0.05 IC=0
C2 o 0 220u IC=0
B1 o 0 I=v(o)/(time > 0.25 ? 50 : 100)
.model DX D(IS=1e-9 N={n(0.05)})""", {"v1": "v(c)", "v2": "v(o)"}, "20u"),
}


def reference(name):
    """[(t, {variable: value})] of NAME.ref"""
    rows = []
    with open(os.path.join(MODELS, name + ".ref")) as file:
        for line in file:
            key, _, value = line.partition(" ")
            if key == "t":
                rows.append((float(value), {}))
            elif rows:
                rows[-1][1][key] = float(value)
    return rows


def simulate(elements, wanted, rows, step):
    elements = re.sub(r"\{n\(([0-9.]+)\)\}", lambda m: repr(float(m.group(1)) / THERMAL), elements)
    lines = ["circuit", elements, ".options reltol=1e-6 abstol=1e-13 vntol=1e-8 gmin=1e-15 temp=27 tnom=27",
             f".tran {step} {rows[-1][0] * 1.001} 0 {step} UIC", ".control", "run"]
    for v, expression in wanted.items():
        lines.append(f"let x_{v} = {expression}")
        lines += [f"meas tran m_{v}_{k} FIND x_{v} AT={t!r}" for k, (t, _) in enumerate(rows)]
    with tempfile.NamedTemporaryFile("w", suffix=".cir") as file:
        file.write("\n".join(lines + [".endc", ".end"]) + "\n")
        file.flush()
        out = subprocess.run(["ngspice", "-b", file.name], capture_output=True, text=True).stdout
    return dict(re.findall(r"^m_(\w+)\s*=\s*(\S+)", out, re.M))


def main():
    worst = 0.0
    for name, (elements, wanted, step) in CIRCUITS.items():
        rows = reference(name)
        got = simulate(elements, wanted, rows, step)
        off = 0.0
        for v in wanted:
            size = max(abs(row[v]) for _, row in rows)
            for k, (_, row) in enumerate(rows):
                off = max(off, abs(float(got.get(f"{v.lower()}_{k}", "inf")) - row[v]) / size)
        print(f"{name}: {off:.1e} of the largest value")
        worst = max(worst, off)
    sys.exit(1 if worst > SHARE else 0)


if __name__ == "__main__":
    main()
