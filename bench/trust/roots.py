#!/usr/bin/env python3
"""roots.py DAEDAL [options]: random models whose equations have several solutions at the start, all of them known. Every method and
formulation must begin at the same one, and where another is nearer to the guesses a note must say so. README.md tells more."""
import argparse, collections, itertools, math, os, random, sys, tempfile, time
from runs import command, in_parallel, random_of, table
from symbols import number

METHODS = ["auto", "bdf", "radau", "rodas", "dopri", "taylor", "sdirk", "liex", "herk", "hem", "gauss", "lobattoc"]
OF_HIGHER_INDEX = ["dummy", "tangent", "index2", "index1", "baumgarte", "overdetermined", "manifold", "array"]
OF_MECHANISMS = ["bdf2nd", "colloc2nd", "prk", "rattle", "midex", "phem", "lobatto", "bdfhigh"]
MECHANICAL = OF_HIGHER_INDEX + ["index3", "ggl", "gglm", "fuehrer", "odassl", "reduced", "minimal"]
TOLD = ["more than one solution", "and not with its start value"]
NEARER = 0.9    # of the distance of another root in every guess: it is nearer


class Start:
    """A text and its roots: each a map from names to values. guesses: what its unknowns are guessed to be."""
    def __init__(self, declarations, equations, roots, guesses, first=(), index=1, mechanical=False):
        lines = ["  " + d for d in declarations]
        if first: lines += ["initial equation"] + ["  %s;" % e for e in first]
        self.text = "model M\n%s\nequation\n%s\nend M;\n" % ("\n".join(lines), "\n".join("  %s;" % e for e in equations))
        self.roots, self.guesses, self.index, self.mechanical = roots, guesses, index, mechanical
        values = {n: [r[n] for r in roots] for n in roots[0]}
        self.spread = {n: max(v) - min(v) for n, v in values.items() if max(v) - min(v) > 1e-6*max(map(abs, v))}

    def distance(self, point, root):
        """How far a point is off a root, in units of how far the roots are apart; unknowns in which all are the same are left out."""
        worst = 0.0
        for name, spread in self.spread.items():
            worst = max(worst, abs(point[name] - root[name])/max(spread/len(self.roots), abs(root[name])*1e-3))
        return worst

    def root_at(self, point):
        """The number of the root where a point is; None: at none."""
        far = [self.distance(point, r) for r in self.roots]
        best = min(range(len(far)), key=far.__getitem__)
        return best if far[best] < 0.01 else None

    def nearer(self, k):
        """A root that is nearer to the guesses than root k in each of them; None: there is none."""
        for i, r in enumerate(self.roots):
            ways = [(abs(r[n] - g), abs(self.roots[k][n] - g)) for n, g in self.guesses.items()]
            if i != k and ways and any(b > 0 for _, b in ways) and all(a <= NEARER*b for a, b in ways if max(a, b) > 0): return i
        return None


# ---- pieces ----

def unit(R): return R.choice([1.0, 1.0, 1.0, 1e-3, 1e3, 1e-6, 1e6])


def guess_of(R, roots, name):
    """A guess: 0 (None: not given), about the size of the roots, beside one of them, or far off."""
    values = [r[name] for r in roots]
    size, way = max(map(abs, values)) or 1.0, R.random()
    if way < .2: return None
    if way < .35: return 0.0
    if way < .7: return R.uniform(-1.5, 1.5)*size
    if way < .9: return R.choice(values) + R.uniform(-.3, .3)*size
    return R.choice([-1, 1])*10.0**R.uniform(0, 2)*size


def unknowns(R, roots, names, some=False):
    """Declarations of unknowns with guesses, and the guesses that are given."""
    given = {n: guess_of(R, roots, n) for n in names}
    if some and len(names) > 1: given[R.choice(names)] = None
    lines = ["Real %s%s;" % (n, "" if g is None else "(start = %s)" % number(g)) for n, g in given.items()]
    told = {n: g for n, g in given.items() if g is not None}
    return lines, told


def apart(values, least): return all(abs(a - b) >= least*max(1e-300, max(map(abs, values))) for a, b in itertools.combinations(values, 2))


def quadratic(a, b, c):
    d = b*b - 4*a*c
    if a == 0 or d <= 0: return None
    q = -.5*(b + math.copysign(math.sqrt(d), b))
    return sorted([q/a, c/q]) if q else None


def polynomial(R, u):
    """An expression of u that vanishes at the roots, factored or not, and the roots."""
    for _ in range(100):
        roots = sorted(R.uniform(-3, 3) for _ in range(R.choice([2, 3, 3, 4, 5])))
        if apart(roots, .12): break
    if R.random() < .3:
        return "*".join("(%s - %s)" % (u, number(r)) for r in roots), roots
    c = [1.0]
    for r in roots: c = [(c[k - 1] if k else 0.0) - r*(c[k] if k < len(c) else 0.0) for k in range(len(c) + 1)]
    if R.random() < .5: return " + ".join("%s*(%s)^%d" % (number(a), u, k) if k else number(a) for k, a in enumerate(c)), roots
    e = number(c[-1])
    for a in reversed(c[:-1]): e = "(%s)*%s + %s" % (e, u, number(a))
    return e, roots


# ---- kinds ----

def poly(R):
    """One unknown of a polynomial, and perhaps one that follows from it; x is a state."""
    S, x0 = unit(R), R.uniform(-1, 1)
    p, values = polynomial(R, "y/%s" % number(S) if S != 1 else "y")
    roots = [{"y": S*v} for v in values]
    equations, names = ["der(x) = -x + time", "%s = %s*(x - %s)" % (p, number(R.uniform(-.3, .3)), number(x0))], ["y"]
    if R.random() < .4:
        a, b = R.uniform(-2, 2), R.uniform(.3, 2)*R.choice([-1, 1])
        for r in roots: r["z"] = a*S + b*r["y"]
        equations.append("z = %s + %s*y" % (number(a*S), number(b)))
        names.append("z")
    lines, guesses = unknowns(R, roots, names, True)
    return Start(["Real x(start = %s, fixed = true);" % number(x0)] + lines, equations, roots, guesses)


def two(R):
    """A polynomial of an unknown, and one of another whose roots depend on it."""
    p, values = polynomial(R, "y")
    a, b, c = R.uniform(.5, 1.5), R.uniform(-.4, .4), R.uniform(-1, 1)
    roots = [{"y": v, "z": c + s*(a + b*math.sin(v))} for v in values for s in (-1, 1)]
    lines, guesses = unknowns(R, roots, ["y", "z"])
    equations = ["der(x) = y - x", "%s = 0" % p, "(z - %s)^2 = (%s + %s*sin(y))^2 + 0*x" % (number(c), number(a), number(b))]
    return Start(["Real x(start = 1, fixed = true);"] + lines, equations, roots, guesses)


def langmuir(R):
    """Adsorption: what is in solution and on the surface."""
    S = unit(R)
    K, Q, V, M = 10.0**R.uniform(-1, 3), 10.0**R.uniform(-2, 2), 10.0**R.uniform(-2, 3), 10.0**R.uniform(-2, 2)
    c = quadratic(K, 1 + V*Q*K - M*K, -M)
    if not c: return None
    roots = [{"c": S*v, "q": S*Q*K*v/(1 + K*v)} for v in c]
    lines, guesses = unknowns(R, roots, ["c", "q"], True)
    rest = R.random() < .5
    equations = ["c + %s*q = %s" % (number(V), "m" if rest else "%s + %s*sin(time)" % (number(M*S), number(.1*M*S))),
                 "q*(1 + %s*c) = %s*c" % (number(K/S), number(Q*K)) if R.random() < .4 else "q = %s*c/(1 + %s*c)" % (number(Q*K), number(K/S))]
    if rest: lines, equations = lines + ["Real m(start = %s, fixed = true);" % number(M*S)], equations + ["der(m) = -%s*c" % number(R.uniform(.1, 1))]
    return Start(lines, equations, roots, guesses)


def reaction(R):
    """A + B <-> C in balance."""
    S, A, B, K = unit(R), 10.0**R.uniform(-1, 1), 10.0**R.uniform(-1, 1), 10.0**R.uniform(-2, 3)
    c = quadratic(K, -K*(A + B) - 1, K*A*B)
    if not c or not apart(c, .05): return None
    roots = [{"c": S*v, "a": S*(A - v), "b": S*(B - v)} for v in c]
    lines, guesses = unknowns(R, roots, ["a", "b", "c"], True)
    equations = ["a + c = total", "der(total) = -0.1*total", "b + c = %s" % number(S*B), "%s*a*b = c" % number(K/S)]
    return Start(lines + ["Real total(start = %s, fixed = true);" % number(S*A)], equations, roots, guesses)


def load(R):
    """A load of constant power behind a resistor."""
    U, P, res = 10.0**R.uniform(0, 3), 10.0**R.uniform(-1, 2), 10.0**R.uniform(-2, 1)
    i = quadratic(res, -U, P)
    if not i or not apart(i, .05): return None
    roots = [{"i": v, "u": U - res*v} for v in i]
    lines, guesses = unknowns(R, roots, ["u", "i"], True)
    equations = ["u*i = %s" % number(P), "u = source - %s*i" % number(res), "der(source) = -0.01*source"]
    return Start(lines + ["Real source(start = %s, fixed = true);" % number(U)], equations, roots, guesses)


def diode(R):
    """A diode and a source with a negative resistance: the line cuts the exponential twice."""
    vt, I = R.choice([.025, .05, 1.0]), 10.0**R.uniform(-14, -6)
    v1 = R.uniform(-3, 8)*vt
    v2 = v1 + R.uniform(4, 20)*vt
    f = lambda v: I*(math.exp(v/vt) - 1)
    G = (f(v2) - f(v1))/(v2 - v1)
    roots = [{"v": v, "i": f(v)} for v in (v1, v2)]
    lines, guesses = unknowns(R, roots, ["v", "i"], True)
    i0 = f(v1) - G*v1
    equations = ["i = %s*(exp(v/%s) - 1)" % (number(I), number(vt)), "i = %s*v + %s*x" % (number(G), number(i0)), "der(x) = 0"]
    return Start(lines + ["Real x(start = 1, fixed = true);"], equations, roots, guesses)


def linkage(R):
    """A crank and a rod: where the slider is, by Pythagoras or by the angle of the rod."""
    S, r, l, e, p, w = unit(R), R.uniform(.2, .6), R.uniform(.9, 1.5), R.uniform(-.2, .2), R.uniform(-7, 7), R.uniform(-3, 3)
    h = r*math.sin(p) - e
    crank = ["Real phi(start = %s, fixed = true);" % number(p)], ["der(phi) = %s" % number(w)]
    if R.random() < .5:
        roots = [{"x": S*(r*math.cos(p) + s*math.sqrt(l*l - h*h))} for s in (-1, 1)]
        lines, guesses = unknowns(R, roots, ["x"])
        return Start(crank[0] + lines, crank[1] + ["(x - %s*cos(phi))^2 + (%s*sin(phi) - %s)^2 = %s" % (
            number(S*r), number(S*r), number(S*e), number(S*S*l*l))], roots, guesses)
    b0 = math.asin(h/l)
    angles = [a + 2*math.pi*k for k in range(-40, 41) for a in (b0, math.pi - b0)]
    roots = [{"b": b, "x": S*(r*math.cos(p) + l*math.cos(b))} for b in angles]
    lines, guesses = unknowns(R, roots[76:84], ["b", "x"], True)
    return Start(crank[0] + lines, crank[1] + ["%s*sin(phi) - %s = %s*sin(b)" % (number(r), number(e), number(l)), "x = %s*cos(phi) + %s*cos(b)" % (
        number(S*r), number(S*l))], roots, guesses)


def circles(ax, ay, bx, by, r, s):
    """The points at distance r from a and s from b."""
    dx, dy = bx - ax, by - ay
    d2 = dx*dx + dy*dy
    c = (r*r - s*s + d2)/(2*d2)
    h2 = r*r/d2 - c*c
    if h2 < .05: return None
    return [(ax + c*dx - t*math.sqrt(h2)*dy, ay + c*dy + t*math.sqrt(h2)*dx) for t in (-1, 1)]


def fourbar(R):
    """A four-bar that its crank drives: the point where two rods meet, or their angles."""
    a, r, s, p, w = R.uniform(.1, .4), R.uniform(.7, 1.2), R.uniform(.7, 1.2), R.uniform(-4, 4), R.uniform(-3, 3)
    ax, ay = a*math.cos(p), a*math.sin(p)
    points = circles(ax, ay, 1.0, 0.0, r, s)
    if not points: return None
    head, first = ["Real phi(start = %s, fixed = true);" % number(p)], ["der(phi) = %s" % number(w)]
    px, py = "%s*cos(phi)" % number(a), "%s*sin(phi)" % number(a)
    if R.random() < .5:
        roots = [{"x": x, "y": y} for x, y in points]
        lines, guesses = unknowns(R, roots, ["x", "y"])
        return Start(head + lines, first + ["(x - %s)^2 + (y - %s)^2 = %s" % (px, py, number(r*r)), "(x - 1)^2 + y^2 = %s" % number(s*s)], roots, guesses)
    angles = [(math.atan2(y - ay, x - ax), math.atan2(y, x - 1)) for x, y in points]
    roots = [{"a": f + 2*math.pi*i, "b": g + 2*math.pi*j} for f, g in angles for i in range(-40, 41) for j in range(-40, 41)]
    near = [{"a": f, "b": g} for f, g in angles]
    lines, guesses = unknowns(R, near, ["a", "b"])
    return Start(head + lines, first + ["%s + %s*cos(a) = 1 + %s*cos(b)" % (px, number(r), number(s)), "%s + %s*sin(a) = %s*sin(b)" % (py, number(r), number(s))], roots, guesses)


def initial(R):
    """Initial equations with several solutions: rest, or a polynomial of the state."""
    S = unit(R)
    p, values = polynomial(R, "x/%s" % number(S) if S != 1 else "x")
    roots = [{"x": S*v, "y": S*2*v} for v in values]
    lines, guesses = unknowns(R, roots, ["x", "y"], True)
    if R.random() < .5: return Start(lines, ["der(x) = %s*(%s)" % (number(-S), p), "y = 2*x"], roots, guesses, ["der(x) = 0"])
    return Start(lines, ["der(x) = -y", "y = 2*x"], roots, guesses, ["%s = 0" % p])


def index2(R):
    """A force keeps y on a curve over x, which is fixed; several values of y are on it."""
    x0, S = R.uniform(-1, 1), R.choice([1.0, 1.0, 1e-3, 1e3])
    p, values = polynomial(R, "y/%s" % number(S) if S != 1 else "y")
    roots = [{"y": S*v} for v in values]
    lines, guesses = unknowns(R, roots, ["y"])
    return Start(["Real x(start = %s, fixed = true), z;" % number(x0)] + lines, ["der(x) = 1 - x", "der(y) = z - y", "%s = %s*(x - %s)" % (
        p, number(R.uniform(-.3, .3)), number(x0))], roots, guesses, index=2)


def pendulum(R):
    """x is fixed, y above or below; or a chain of two, each above or below."""
    L, S = R.uniform(.5, 2), R.choice([1.0, 1.0, 1e-2, 1e2])
    chain = R.random() < .4
    ox, oy = (R.uniform(-1, 1), R.uniform(-1, 1)) if R.random() < .5 else (0.0, 0.0)
    x0 = ox + R.uniform(-.9, .9)*L
    ys = [oy + s*math.sqrt(L*L - (x0 - ox)**2) for s in (-1, 1)]
    if not chain: roots = [{"y": S*y} for y in ys]
    else:
        l = R.uniform(.5, 2)
        d = R.uniform(-.9, .9)*l
        roots = [{"y": S*y, "y2": S*(y + s*math.sqrt(l*l - d*d))} for y in ys for s in (-1, 1)]
    lines, guesses = unknowns(R, roots, ["y", "y2"] if chain else ["y"])
    fixed = lambda n, v: "Real %s(start = %s, fixed = true);" % (n, number(v))
    lines += [fixed("x", S*x0), fixed("vx", R.uniform(-1, 1)*S), "Real vy, lambda;"]
    pull = "2*lambda*(x - %s)" % number(S*ox), "2*lambda*(y - %s)" % number(S*oy)
    equations = ["der(x) = vx", "der(y) = vy", "(x - %s)^2 + (y - %s)^2 = %s" % (number(S*ox), number(S*oy), number(S*S*L*L))]
    if chain:
        lines += [fixed("x2", S*(x0 + d)), fixed("vx2", R.uniform(-1, 1)*S), "Real vy2, lambda2;"]
        equations += ["der(x2) = vx2", "der(y2) = vy2", "der(vx2) = 2*lambda2*(x2 - x)", "der(vy2) = 2*lambda2*(y2 - y) - 9.81",
                      "(x2 - x)^2 + (y2 - y)^2 = %s" % number(S*S*l*l)]
        pull = tuple("%s - 2*lambda2*(%s2 - %s)" % (q, c, c) for q, c in zip(pull, "xy"))
    equations += ["der(vx) = %s" % pull[0], "der(vy) = %s - 9.81" % pull[1]]
    return Start(lines, equations, roots, guesses, index=3, mechanical=True)


def mechanism(R):
    """A crank with inertia and two rods that meet in a mass: two assemblies."""
    a, r, s, p, w = R.uniform(.1, .4), R.uniform(.7, 1.2), R.uniform(.7, 1.2), R.uniform(-4, 4), R.uniform(-3, 3)
    points = circles(a*math.cos(p), a*math.sin(p), 1.0, 0.0, r, s)
    if not points: return None
    roots = [{"x": x, "y": y} for x, y in points]
    lines, guesses = unknowns(R, roots, ["x", "y"])
    lines += ["Real phi(start = %s, fixed = true), w(start = %s, fixed = true), vx, vy, l1, l2;" % (number(p), number(w))]
    px, py = "(x - %s*cos(phi))" % number(a), "(y - %s*sin(phi))" % number(a)
    equations = ["der(phi) = w", "der(x) = vx", "der(y) = vy",
                 "der(w) = 2*l1*(%s*%s*sin(phi) - %s*%s*cos(phi))" % (px, number(a), py, number(a)),
                 "der(vx) = 2*l1*%s + 2*l2*(x - 1)" % px, "der(vy) = 2*l1*%s + 2*l2*y - 9.81" % py,
                 "%s^2 + %s^2 = %s" % (px, py, number(r*r)), "(x - 1)^2 + y^2 = %s" % number(s*s)]
    return Start(lines, equations, roots, guesses, index=3, mechanical=True)


KINDS = {f.__name__: f for f in (poly, two, langmuir, reaction, load, diode, linkage, fourbar, initial, index2, pendulum, mechanism)}


# ---- runs ----

def ways_of(R, start, count):
    """Ways to begin: methods and formulations, `auto` among them."""
    if start.index == 1: ways = [(m, None) for m in METHODS[1:]]
    else:
        methods = METHODS[1:] + (OF_MECHANISMS if start.mechanical else [])
        ways = [(m, None) for m in methods] + [("auto", f) for f in (MECHANICAL if start.mechanical else OF_HIGHER_INDEX)]
    return [("auto", None)] + (R.sample(ways, count) if count < len(ways) else ways)


def begun(daedal, path, way):
    """Values at the start, or None; and messages."""
    options = ["--method", way[0]] + (["--formulation", way[1]] if way[1] else [])
    code, out, err = command([daedal, "run", path, "-o", "-", "--stop", "1e-9", "--points", "2"] + options)
    if code is None or code < 0: return None, "CRASH or HANG: %s" % err
    try: head, rows = table(out)
    except (ValueError, IndexError): return None, err
    return (dict(zip(head, rows[0])) if rows else None), err


def found_by_init(daedal, path):
    code, out, err = command([daedal, "init", path, "-o", "-"])
    if code: return None, err
    rows = [l.split(",") for l in out.splitlines()[1:]]
    return {r[0].split(" [")[0]: float(r[3]) for r in rows}, err


class Trial:
    def __init__(self, options, folder): self.options, self.folder = options, folder

    def __call__(self, i):
        o, R = self.options, random_of(self.options.seed, i)
        start = None
        kind = R.choice(o.kinds)
        while start is None: start = KINDS[kind](R)
        path = os.path.join(self.folder, "r%d.mo" % i)
        with open(path, "w") as f: f.write(start.text)
        results = {"init": found_by_init(o.daedal, path)}
        for way in ways_of(R, start, o.ways): results["/".join(w for w in way if w)] = begun(o.daedal, path, way)
        return i, kind, self.judged(start, results)

    def judged(self, start, results):
        """Faults in words, with the word that they are counted by."""
        faults, points = [], {w: p for w, (p, _) in results.items() if p}
        crashes = [w for w, (p, e) in results.items() if "CRASH" in e]
        if crashes: faults.append(("crash", " ".join(crashes)))
        for w in points:
            if set(start.roots[0]) - set(points[w]): return faults + [("columns", w)]
        at = {w: start.root_at(p) for w, p in points.items()}
        for w in at:
            if at[w] is None: faults.append(("no root", "%s at %s" % (w, {n: points[w][n] for n in start.roots[0]})))
        if len(set(at.values())) > 1: faults.append(("different", ", ".join("%s: %s" % (w, short(points[w], start)) for w in points)))
        for w, k in at.items():
            other = start.nearer(k) if k is not None else None
            told = any(t in results[w][1] for t in TOLD)
            if other is not None and w in ("auto", "init"):
                faults.append(("far" if told else "far, untold", "%s at %s, nearer is %s" % (w, short(points[w], start), short(start.roots[other], start))))
        refused = [w for w, (p, _) in results.items() if p is None]
        if "init" in refused or "auto" in refused: faults.append(("refused", "%s: %s" % (" ".join(refused), results["auto" if "auto" in refused else "init"][1][:300])))
        elif self.options.refusals and refused: faults += [("not by", "%s: %s" % (w, results[w][1][:200])) for w in refused]
        return faults


def short(point, start): return "(%s)" % ", ".join("%s = %.6g" % (n, point[n]) for n in start.roots[0])


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("daedal")
    a.add_argument("--models", type=int, default=200, help="how many (200)")
    a.add_argument("--seed", type=int, help="the same models again; else one from the clock, which is printed")
    a.add_argument("--kind", action="append", help="of this kind alone; repeat for more: " + ", ".join(KINDS))
    a.add_argument("--only", type=int, help="the model of this number alone, with its text")
    a.add_argument("--ways", type=int, default=6, help="methods and formulations for each model, beside auto and init (6)")
    a.add_argument("--jobs", type=int, default=2, help="processes (2)")
    a.add_argument("--far", type=float, default=5, help="per cent of the models that may begin far from the guess without a note (5)")
    a.add_argument("--refusals", action="store_true", help="print what other methods refuse")
    a.add_argument("--keep", help="a folder for the models")
    options = a.parse_args()
    options.daedal = os.path.abspath(options.daedal)
    if options.seed is None: options.seed = int(time.time()*1000) % 10**9
    options.kinds = options.kind or list(KINDS)
    folder = options.keep or tempfile.mkdtemp(prefix="roots")
    os.makedirs(folder, exist_ok=True)
    print("seed %d, models in %s" % (options.seed, folder))
    counts, models = collections.Counter(), collections.Counter()
    trial = Trial(options, folder)
    for i, kind, faults in in_parallel(trial, [options.only] if options.only else range(1, options.models + 1), options.jobs):
        models[kind] += 1
        for what in {f[0] for f in faults}: counts[kind, what] += 1
        for what, why in faults: print("%-11s %d %s: %s" % (what, i, kind, why), flush=True)
        if options.only: print(open(os.path.join(folder, "r%d.mo" % i)).read())
    words = sorted({w for _, w in counts})
    print("\n%-10s %7s" % ("kind", "models") + "".join("%12s" % w for w in words))
    for kind in options.kinds: print("%-10s %7d" % (kind, models[kind]) + "".join("%12s" % (counts[kind, w] or ".") for w in words))
    total = {w: sum(c for (_, v), c in counts.items() if v == w) for w in words}
    print("%d models: %s" % (sum(models.values()), ", ".join("%d %s" % (total[w], w) for w in words) or "all right"))
    far = total.get("far, untold", 0) > options.far/100*sum(models.values())
    return 1 if far or any(total.get(w) for w in ("different", "no root", "crash", "columns", "refused")) else 0


if __name__ == "__main__": sys.exit(main())
