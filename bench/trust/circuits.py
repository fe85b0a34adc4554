"""Circuits from random graphs.

`diodes`: resistors, sources and diodes as students write them (Is*(exp(v/Vt) - 1), nothing else). The branch currents grow with their
voltages, so that the node voltages minimise a convex function and are unique: damped Newton, then steps of 40 digits.
`networks`: the node voltages are chosen; resistors, capacitors, coils and diodes follow, and a source at every node brings the rest."""
import decimal, math
from chosen import SMOOTH, shape, signal
from runs import Invalid, Model
from symbols import FUNCTIONS, TIME, call, diff, forget, function, largest, number, of, substitute, text, var

D = decimal.Decimal
DIGITS = decimal.Context(prec=40, Emin=-10**6, Emax=10**6)


def make_diodes(R):
    n = R.randint(1, 4)
    parts = [["R", k, R.choice([0] + list(range(1, k))), 10.0**R.uniform(2, 5)] for k in range(1, n + 1)]
    parts += [["D"] + R.sample(range(n + 1), 2) + [1.0] for _ in range(R.randint(1, 4))]
    sources = [[k, 10.0**R.uniform(1, 4), R.uniform(1, 24), R.uniform(.5, 3), R.uniform(0, 3)] for k in range(1, n + 1) if k == 1 or R.random() < .4]
    return {"nodes": n, "parts": parts, "sources": sources, "Is": 10.0**R.randint(-15, -9), "Vt": R.choice([.025, R.uniform(.0255, .05)]),
            "stop": R.choice([3.0, 10.0, 20.0]), "way": R.choice(["currents", "function", "inline", "knots"]), "guess": R.choice([0.0, 0.0, 0.5])}


def check_graph(spec):
    n = spec["nodes"]
    if not 1 <= n <= 6 or not spec["sources"] or spec["stop"] <= 0 or not 1e-16 <= spec["Is"] <= 1e-8 or not .02 <= spec["Vt"] <= .06: raise Invalid
    if any(p[1] > n or p[2] > n or p[1] == p[2] or p[3] <= 0 for p in spec["parts"]) or any(not 1 <= s[0] <= n or s[1] <= 0 for s in spec["sources"]): raise Invalid
    if any(p[0] == "R" and not 1 <= p[3] <= 1e6 for p in spec["parts"]) or any(not 1 <= s[1] <= 1e6 for s in spec["sources"]): raise Invalid
    # every node is held by resistors
    held, more = {0} | {s[0] for s in spec["sources"]}, True
    while more:
        new = {b for p in spec["parts"] if p[0] == "R" for a, b in ((p[1], p[2]), (p[2], p[1])) if a in held} - held
        held, more = held | new, bool(new)
    if len(held) != n + 1: raise Invalid


def currents(spec, v, u, one, exp):
    """Residual currents of the nodes and their derivatives, in any arithmetic."""
    n = spec["nodes"]
    zero = one - one
    g, H = [zero]*(n + 1), [[zero]*(n + 1) for _ in range(n + 1)]
    Is, Vt = type(one)(spec["Is"]), type(one)(spec["Vt"])
    for name, a, b, r in spec["parts"]:
        d = v[a] - v[b]
        if name == "R": i, c = d/type(one)(r), 1/type(one)(r)
        else:
            e = exp(min(d/Vt, one*600))
            i, c = Is*(e - 1), Is/Vt*e
        g[a], g[b] = g[a] + i, g[b] - i
        for p, q, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)): H[p][q] += sign*c
    for s, us in zip(spec["sources"], u):
        g[s[0]] += (v[s[0]] - us)/type(one)(s[1])
        H[s[0]][s[0]] += 1/type(one)(s[1])
    return g, H


def solved(A, b):
    """x of A x = b, by elimination with pivots."""
    n = len(b)
    A = [row[:] + [x] for row, x in zip(A, b)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(A[r][c]))
        A[c], A[p] = A[p], A[c]
        if not A[c][c]: raise Invalid
        for r in range(n):
            if r != c and A[r][c]:
                m = A[r][c]/A[c][c]
                A[r] = [x - m*y for x, y in zip(A[r], A[c])]
    return [A[i][n]/A[i][i] for i in range(n)]


def newton_step(spec, v, u, one, exp):
    g, H = currents(spec, v, u, one, exp)
    n = spec["nodes"]
    return solved([[H[i][j] for j in range(1, n + 1)] for i in range(1, n + 1)], [-g[i] for i in range(1, n + 1)])


def damped(spec, v, d):
    """How much of a step keeps every diode below its knee, or within two Vt of where it was."""
    knee, f = spec["Vt"]*math.log(spec["Vt"]/spec["Is"]), 1.0
    d = [0.0] + d
    for name, a, b, _ in spec["parts"]:
        was, change = v[a] - v[b], d[a] - d[b]
        room = max(knee, was) + 2*spec["Vt"] - was
        if name == "D" and change > room: f = min(f, room/change)
    return f


def potentials(spec, t, v):
    """Node voltages at a time: damped Newton from v, then steps of 40 digits; the last must be small."""
    u = [s[2]*math.sin(s[3]*t + s[4]) for s in spec["sources"]]
    v = v[:]
    for _ in range(3000):
        d = newton_step(spec, v, u, 1.0, math.exp)
        f = damped(spec, v, d)
        for i, x in enumerate(d): v[i + 1] += f*x
        if max(abs(x) for x in d) < 1e-7: break
    with decimal.localcontext(DIGITS):
        w, U = [D(x) for x in v], [D(x) for x in u]
        for _ in range(3):
            d = newton_step(spec, w, U, D(1), lambda x: x.exp())
            w = [w[0]] + [x + y for x, y in zip(w[1:], d)]
        if max(abs(x) for x in d) > D("1e-14"): raise Invalid
    return [float(x) for x in w]


def diodes(spec):
    check_graph(spec)
    n, lines, equations = spec["nodes"], [], []
    V = lambda k: "v%d" % k if k else "0"
    guess = "(start = %s)" % number(spec["guess"]) if spec["guess"] else ""
    lines += ["parameter Real Is = %s, Vt = %s;" % (number(spec["Is"]), number(spec["Vt"]))] + ["Real v%d%s;" % (k, guess) for k in range(1, n + 1)]
    terms = {k: [] for k in range(n + 1)}
    for j, (name, a, b, r) in enumerate(spec["parts"]):
        d = "(%s - %s)" % (V(a), V(b)) if a and b else V(a) if a else "(-%s)" % V(b)
        law = "%s/%s" % (d, number(r)) if name == "R" else "diode(%s, Is, Vt)" % d if spec["way"] == "function" else "Is*(exp(%s/Vt) - 1)" % d
        if spec["way"] in ("inline", "function"): current = law
        else:
            current = "i%d" % j
            lines.append("Real %s;" % current)
            equations.append("%s = %s" % (current, law) if spec["way"] == "currents" or name == "D" else "%s*%s = %s" % (number(r), current, d))
        terms[a].append(" - " + current); terms[b].append(" + " + current)
    for k in range(1, n + 1):
        source = "".join(" + (%s*sin(%s*time + %s) - v%d)/%s" % (number(s[2]), number(s[3]), number(s[4]), k, number(s[1])) for s in spec["sources"] if s[0] == k)
        equations.append("0 = 0%s%s" % ("".join(terms[k]), source))
    found, last = {}, [[0.0]*(n + 1)]

    def row(k):
        def f(t):
            if t not in found: found[t] = last[0] = potentials(spec, t, last[0])
            return found[t][k]
        return f
    text_of = "function diode\n  input Real v, Is, Vt;\n  output Real i;\nalgorithm\n  i := Is*(exp(v/Vt) - 1);\nend diode;\n" if spec["way"] == "function" else ""
    return Model(lines, equations, float(spec["stop"]), {"v%d" % k: row(k) for k in range(1, n + 1)}, {"v%d" % k: 1.0 for k in range(1, n + 1)}, functions=text_of)


def make_network(R):
    n = R.randint(2, 4)
    parts = [["R", k, R.choice([0] + list(range(1, k))), 10.0**R.uniform(-1, 1), "own"] for k in range(1, n + 1)]
    parts += [[R.choice("RCCLD")] + R.sample(range(n + 1), 2) + [10.0**R.uniform(-1, 1), R.choice(["inline", "own", "own"])] for _ in range(R.randint(1, 5))]
    return {"nodes": n, "parts": parts, "v": [signal(R, SMOOTH) for _ in range(n)], "volts": R.choice([0, 0, 3, -3, -6]), "amperes": R.choice([0, 0, -3, -9, 3]),
            "stop": R.choice([1.0, 1e-3, 1e-6, 100.0]), "Vt": R.uniform(.05, .2)}


FUNCTIONS["exp1"] = (math.expm1, "")


def network(spec):
    """Ohms are volts over amperes, times the number of the part; capacitors and coils have time constants of the run."""
    forget()
    n, stop, U, I = spec["nodes"], float(spec["stop"]), 10.0**spec["volts"], 10.0**spec["amperes"]
    if not 1 <= n <= len(spec["v"]) or stop <= 0 or spec["Vt"] < .05: raise Invalid
    if any(p[1] > n or p[2] > n or p[1] == p[2] or not .05 <= p[3] <= 20 for p in spec["parts"]): raise Invalid
    if {p[1] for p in spec["parts"] if p[0] == "R"} < set(range(1, n + 1)): raise Invalid  # each node is held by a resistor
    truth = {"v%d" % k: U*shape(spec["v"][k - 1], stop) for k in range(1, n + 1)}
    if any(s[0] == "exp" and s[2] < 0 for s in spec["v"]): raise Invalid
    V = lambda k: var("v%d" % k) if k else of(0.0)
    lines, equations, sums, sizes = [], [], [of(0.0)]*(n + 1), {}
    inductors = []
    for j, (name, a, b, r, way) in enumerate(spec["parts"]):
        d, i = V(a) - V(b), var("i%d" % j)
        true_d = substitute(d, truth)
        size = I*max(largest(function(true_d), stop)/U, .1)
        slope = substitute(var("der(v%d)" % a) if a else of(0.0), {"der(v%d)" % k: diff(truth["v%d" % k]) for k in range(1, n + 1)}) - \
            substitute(var("der(v%d)" % b) if b else of(0.0), {"der(v%d)" % k: diff(truth["v%d" % k]) for k in range(1, n + 1)})
        if name == "R": law, size = d*(I/U/r), size/r
        elif name == "D":
            law = I*1e-3*(call("exp", d/(U*spec["Vt"])) - 1)
            top = largest(function(true_d), stop)/U/spec["Vt"]
            if top > 30: raise Invalid
            size = max(size, I*1e-3*math.exp(top)*(1 + top))
        elif name == "C":
            # voltages of nodes differentiated one by one
            e = of(0.0)
            if a: e = e + var("der(v%d)" % a)
            if b: e = e - var("der(v%d)" % b)
            law = e*(r*stop*I/U)
            size = max(size, largest(function(slope), stop)*r*stop*I/U)*10
        else:
            # L di/dt = v - source, so that the current is sin
            current = I*call("sin", of(3.0/stop)*TIME + r)
            truth["i%d" % j] = current
            L = r*U*stop/I
            lines.append("Real i%d(start = %s, fixed = true, nominal = %s);" % (j, number(function(current)(0.0)), number(I)))
            rest = L*diff(current) + 0.5*U/I*current - true_d
            equations.append("%s = %s" % (text(L*var("der(i%d)" % j) + 0.5*U/I*i), text(d + rest)))
            sizes["i%d" % j] = I
            sums[a], sums[b] = sums[a] + i, sums[b] - i
            continue
        if way == "own":
            lines.append("Real i%d(nominal = %s);" % (j, number(size)))
            equations.append("%s = %s" % (text(i), text(law)))
            truth["i%d" % j] = substitute(law, {**truth, **{"der(v%d)" % k: diff(truth["v%d" % k]) for k in range(1, n + 1)}})
            sizes["i%d" % j] = size
            sums[a], sums[b] = sums[a] + i, sums[b] - i
        else: sums[a], sums[b] = sums[a] + law, sums[b] - law
    slopes = {"der(v%d)" % k: diff(truth["v%d" % k]) for k in range(1, n + 1)}
    for k in range(1, n + 1):
        equations.append("%s = %s" % (text(sums[k]), text(substitute(sums[k], {**truth, **slopes}))))
        size = max(largest(function(truth["v%d" % k]), stop), U)
        lines.append("Real v%d(start = %s, nominal = %s);" % (k, number(function(truth["v%d" % k])(0.0)), number(size)))
        sizes["v%d" % k] = size
    start = starts_of_capacitors(spec, truth)
    return Model(lines, equations, stop, {v: function(x) for v, x in truth.items()}, sizes, before=start)


def starts_of_capacitors(spec, truth):
    """Voltages of capacitors at the start; in a tree of capacitors they can be given, in loops some follow from others."""
    group, first = list(range(spec["nodes"] + 1)), []
    for name, a, b, _, _ in spec["parts"]:
        if name != "C" or group[a] == group[b]: continue
        old, new = group[b], group[a]
        group = [new if g == old else g for g in group]
        value = (function(truth["v%d" % a])(0.0) if a else 0.0) - (function(truth["v%d" % b])(0.0) if b else 0.0)
        first.append("%s = %s" % (" - ".join(["v%d" % a] if a else ["0"]) + (" - v%d" % b if b else ""), number(value)))
    return "initial equation\n  %s;\n" % ";\n  ".join(first) if first else ""


KINDS_OF_MODELS = {"diodes": (make_diodes, diodes), "networks": (make_network, network)}
