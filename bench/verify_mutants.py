#!/usr/bin/env python3
"""Does `daedal verify` see what is wrong, if all methods make the same mistake? Python 3 alone, no packages.

    bench/verify_mutants.py build/release/daedal build/release/test/trial_verify_as models/textbook/*.mo
    ... --count 500 --seed 1 --rtol 1e-6

A model is changed in one place: a relation, an operator, a number, a start value, a clock, a `reinit`, a `pre`. The changed text is
solved, also by the judges, and held against the text that the user wrote: its interpreter alone can find the change. A change that
moves some variable by more than 300 tolerances and is called Good is MISSED. Each is printed; the exit code is 1 if there is one.
Changes that move nothing are counted apart. Not all that is missed is a fault of verify: states whose start values are not fixed are
free, and a drift of less than 100 tolerances for each step is found by comparing methods alone, which this does not do."""
import argparse, collections, csv, io, math, multiprocessing, os, random, re, subprocess, sys, tempfile

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[A-Za-z_][A-Za-z_0-9.]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|:=|<=|>=|<>|==|\S|\s+', re.S)
SWAPS = {"<": ["<=", ">"], ">": [">=", "<"], "<=": ["<", ">="], ">=": [">", "<="], "+": ["-"], "-": ["+"], "*": ["/"], "and": ["or"], "or": ["and"],
         "==": ["<>"], "<>": ["=="], "floor": ["ceil"], "ceil": ["floor"], "min": ["max"], "max": ["min"], "true": ["false"], "false": ["true"], "not": [""],
         "sin": ["cos"], "cos": ["sin"], "edge": [""], "change": ["edge"], "pre": [""], "mod": ["rem"], "integer": ["floor"], "abs": [""]}


def changes_of(token):
    if token in SWAPS: return SWAPS[token]
    if re.fullmatch(r"\d+", token): return [str(int(token) + 1), token + "*1.001"]
    if re.fullmatch(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", token): return [repr(float(token)*f) if float(token) else "1e-3" for f in (1.001, 1.1)]
    return []


def spots(text):
    """All changes: (place among the tokens, new token, what)."""
    tokens = TOKEN.findall(text)
    found = []
    for k, token in enumerate(tokens):
        if token == "annotation": break
        found += [(k, new, "%s to %s" % (token, new or "nothing")) for new in changes_of(token)]
        if token == "reinit":
            end = next(i for i in range(k, len(tokens)) if tokens[i] == ";")
            found.append(((k, end + 1), "", "no " + "".join(tokens[k:end])))
    return tokens, found


def changed(tokens, spot):
    k, new, _ = spot
    low, high = k if isinstance(k, tuple) else (k, k + 1)
    return "".join(tokens[:low]) + new + "".join(tokens[high:])


def run(daedal, path, rtol, rows):
    p = subprocess.run([daedal, "run", path, "-o", "-", "--rtol", rtol, "--points", str(rows)], capture_output=True, text=True, timeout=60)
    if p.returncode: return None
    lines = list(csv.reader(io.StringIO(p.stdout)))
    value = lambda c: float(c == "true") if c in ("true", "false") else float(c or "nan")
    return [re.sub(r" \[.*\]$", "", h) for h in lines[0]], [[value(x) for x in r] for r in lines[1:]]


def distance(a, b, rtol):
    """The largest difference of two tables in tolerances; rows at events count if both have them."""
    if a[0] != b[0]: return math.inf, ""
    span = a[1][-1][0] - a[1][0][0]
    last = {r[0]: r for r in b[1]}
    worst, where = 0.0, ""
    for j in range(1, len(a[0])):
        size = max([abs(r[j]) for r in a[1] + b[1]] + [0.0])
        near = 0
        for r in a[1]:
            o = last.get(r[0])
            if not o: continue
            d = abs(r[j] - o[j])/(rtol*size + rtol/1000)
            near = near + 1 if d > 300 else 0
            if d > worst and (near > 2 or d <= 300): worst, where = d, "%s(%g) = %.6g, not %.6g" % (a[0][j], r[0], o[j], r[j]) # not one row at an event
    return worst, where


def try_one(work):
    path, spot_number, o = work
    text = open(path).read()
    tokens, found = spots(text)
    spot = found[spot_number]
    name = "%s: %s" % (os.path.basename(path), spot[2])
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, os.path.basename(path))
        open(other, "w").write(changed(tokens, spot))
        try:
            mine, theirs = run(o.daedal, path, o.rtol, 501), run(o.daedal, other, o.rtol, 501)
            if not mine or not theirs or len(mine[1]) < 3 or mine[0] != theirs[0]: return "fails", name, ""
            moved, where = distance(mine, theirs, float(o.rtol))
            p = subprocess.run([o.judge, path, other, o.rtol], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired: return "too long", name, ""
    line = text.count("\n", 0, len("".join(tokens[:spot[0] if isinstance(spot[0], int) else spot[0][0]]))) + 1
    what = "line %d, moves by %.3g: %s" % (line, moved, where)
    verdict = {0: "good", 4: "off", 5: "unknown"}.get(p.returncode, "fails")
    faults = "fault: " in p.stdout
    if p.returncode < 0: return "CRASH", name, what
    if verdict == "fails": return "fails", name, what
    if moved > 300 and verdict == "good": return "MISSED", name, what
    if moved > 300: return "found" if faults else "unknown", name, what + " " + p.stdout.split("\n")[0][:200]
    return "nothing moves", name, what


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("daedal")
    a.add_argument("judge", help="trial_verify_as")
    a.add_argument("models", nargs="+")
    a.add_argument("--count", type=int, default=300)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--rtol", default="1e-6")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--all", action="store_true", help="print what is found, too")
    o = a.parse_args()
    o.daedal, o.judge = os.path.abspath(o.daedal), os.path.abspath(o.judge)
    places = [(m, k) for m in o.models for k in range(len(spots(open(m).read())[1]))]
    chosen = random.Random(o.seed).sample(places, min(o.count, len(places)))
    counts = collections.Counter()
    with multiprocessing.Pool(o.jobs) as pool:
        for verdict, name, what in pool.imap_unordered(try_one, [(m, k, o) for m, k in chosen]):
            counts[verdict] += 1
            if verdict in ("MISSED", "CRASH") or o.all: print("%-11s %s, %s" % (verdict, name, what), flush=True)
    print(", ".join("%d %s" % (n, v) for v, n in counts.most_common()))
    return 1 if counts["MISSED"] or counts["CRASH"] else 0


if __name__ == "__main__": sys.exit(main())
