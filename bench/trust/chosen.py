"""Models whose solution is chosen first: functions of time, then equations of random structure that have them as their solution.

An equation is an expression of unknowns and derivatives, e(x, der(x)) = e(X(t), X'(t)): its right side is the value that the left
one has on the solution, written as an expression of time. Each unknown has an equation of its own in which it is strong; what other
unknowns add is weak, so that errors do not grow. Sizes, rates and stop times are any."""
import math, random
from runs import Invalid, Model
from symbols import FUNCTIONS, TIME, after, call, diff, forget, function, largest, nth, number, of, substitute, text, var

FUNCTIONS.update({
    "soft": (lambda u: u/(1 + u*u), "function soft\n  input Real u;\n  output Real y;\nprotected\n  Real d;\nalgorithm\n"
             "  d := 1 + u^2;\n  y := u/d;\nend soft;\n"),
    "clenshaw": (lambda u: 0.3*u - 0.1*(2*u*u - 1) + 0.05*(4*u**3 - 3*u), "function clenshaw\n  input Real u;\n  output Real y;\nprotected\n"
                 "  Real c[3] = {0.3, -0.1, 0.05};\n  Real b1, b2, h;\nalgorithm\n  b1 := 0;\n  b2 := 0;\n  for k in 3:-1:1 loop\n"
                 "    h := b1;\n    b1 := 2*u*b1 - b2 + c[k];\n    b2 := h;\n  end for;\n  y := u*b1 - b2;\nend clenshaw;\n"),
})


def signal(R, forms):
    """A description of a function of time on 0..1, of size 1."""
    f, a = R.choice(forms), R.choice([1, -1])*R.uniform(.3, 1.5)
    return {"sin": lambda: ["sin", a, R.uniform(.5, 6), R.uniform(0, 3)], "fast": lambda: ["sin", a, R.uniform(20, 90), R.uniform(0, 3)],
            "exp": lambda: ["exp", a, R.uniform(-1, 5)], "tanh": lambda: ["tanh", a, R.uniform(5, 60), R.uniform(.2, .8)],
            "poly": lambda: ["poly", a, R.uniform(-1, 2), R.uniform(-2, 2)], "mix": lambda: ["mix", a, R.uniform(1, 9), R.uniform(0, 2)],
            "rational": lambda: ["rational", a, R.uniform(.5, 9)], "kink": lambda: ["kink", a, R.uniform(.1, .9), R.uniform(.5, 4)],
            "jump": lambda: ["jump", a, R.uniform(.1, .9), R.uniform(-2, 2)],
            "gate": lambda: ["gate", a, R.uniform(.1, .8), 10.0**R.uniform(-5, -1)],
            "pulse": lambda: ["pulse", a, R.uniform(.1, .9), 10.0**R.uniform(-5, -1.5)]}[f]()


def shape(s, stop):
    """The expression that a description means, stretched to 0..stop."""
    t = TIME/stop if stop != 1.0 else TIME
    a, p = s[1], s[2:]
    if s[0] == "sin": return a*call("sin", p[0]*t + p[1])
    if s[0] == "exp": return a*call("exp", -p[0]*t)
    if s[0] == "tanh": return a*call("tanh", p[0]*(t - p[1]))
    if s[0] == "poly": return a*(1 + p[0]*t + p[1]*t*t)
    if s[0] == "mix": return a*(1 + 0.5*call("sin", p[0]*t))*call("exp", -p[1]*t)
    if s[0] == "rational": return a/(1 + p[0]*t*t)
    if s[0] == "kink": return a*(1 + after(p[0]*stop, p[1]*(t - p[0]), 0.0))
    if s[0] == "jump": return a*(1 + after(p[0]*stop, p[1], 0.0))
    if s[0] == "gate": return a*(1 + after(p[0]*stop, after((p[0] + p[1])*stop, 0.0, 1.0), 0.0))
    if s[0] == "pulse": return a*call("exp", -((t - p[0])/p[1])**2) + a
    raise Invalid


STRONG = {"lin": lambda u: u, "cubic": lambda u: u + u**3, "sinh": lambda u: call("sinh", u), "exp": lambda u: u + call("exp", u),
          "wave": lambda u: u + 0.6*call("sin", u), "atan": lambda u: u + call("atan", 3*u), "rational": lambda u: u - 0.5/(1 + u*u)}
WEAK = {"lin": lambda u, w: w, "sin": lambda u, w: call("sin", w), "prod": lambda u, w: call("tanh", u)*call("tanh", w),
        "square": lambda u, w: 1/(1 + w*w), "soft": lambda u, w: call("soft", w), "clenshaw": lambda u, w: call("clenshaw", call("tanh", w))}
NAMES = ["x", "y", "u", "p", "q1", "T", "level", "a_b", "'c.v'", "'R[1].i'", "w", "phi"]
TAME = ["sin", "exp", "poly", "mix", "rational"]


def make(R, forms, kinds, count=4, stiff=True, starts="large"):
    """A description of unknowns and their equations. starts: sizes of what initial equations give, large or small (below 1e-6)."""
    size = R.choice([0, 0, 0, 0, 3, -3, 6, -6, 9, -9, 12, -12])
    unknowns = []
    for _ in range(R.randint(1, count)):
        kind = R.choice(kinds)
        tame = kind in ("chain", "second")
        own = [f for f in forms if f in TAME] or ["sin"] if tame else [f for f in forms if f not in ("jump", "gate") or kind in ("alg", "def")]
        unknowns.append({"kind": kind, "u": [signal(R, own) for _ in range(R.choice([1, 1, 2]))], "size": R.choice([0, size, size, R.randint(-12, 12)]),
                         "rate": R.choice([1.0, 10.0, 1e3, 1e5]) if stiff and R.random() < .5 else R.uniform(.1, 2), "strong": R.choice(list(STRONG)),
                         "weak": [[R.randrange(count), R.choice(list(WEAK)), R.uniform(-.3, .3)] for _ in range(R.choice([0, 0, 1, 2]))],
                         "start": R.choice(["fixed", "fixed", "value", "slope", "cubic"]), "guess": R.uniform(.8, 1.2), "index": R.choice([2, 3, 3, 4, 5]),
                         "factor": R.choice([1.0, 1.0, -1.0, 2.5, 1e-3, 1e3]), "mass": R.choice([0.0, 0.0, R.uniform(.1, 2)])})
    for part in unknowns:
        if starts == "small": part.update(size=R.randint(-12, -7), start=R.choice(["value", "slope", "cubic"]))
        elif part["start"] != "fixed" and part["kind"] == "ode": part["size"] = max(part["size"], -6)
    return {"stop": R.choice([1.0, 1.0, 1.0, 10.0, 1e-3, 1e3]), "unknowns": unknowns, "order": R.randrange(1000), "other names": R.random() < .3}


class Draft:
    """A model while it is put together."""
    def __init__(self, spec):
        forget()
        self.stop, self.lines, self.equations, self.first = float(spec["stop"]), [], [], []
        if self.stop <= 0 or not spec["unknowns"]: raise Invalid
        self.truth, self.size, self.parts, self.tame = {}, {}, [], []

    def unknown(self, name, x, size, declared):
        """A variable with the solution x; size: of what errors are judged by, not below that of its own values."""
        self.truth[name], self.size[name] = x, size
        nominal = ["nominal = %s" % number(size)] if size != 1.0 else []
        self.lines.append("Real %s%s;" % (name, "(%s)" % ", ".join(declared + nominal) if declared + nominal else ""))

    def equation(self, left, factor=1.0):
        """left = what left is on the solution."""
        slopes = {"der(%s)" % v: diff(x) for v, x in self.truth.items()}
        right = substitute(left, {**self.truth, **slopes})
        self.equations.append("%s = %s" % (text(factor*left), text(factor*right)))

    def start(self, name): return function(self.truth[name])(0.0)


def weak(d, part, i, u, chain=False):
    """What other unknowns add to the equation of the i-th."""
    e = of(0.0)
    for j, form, c in part["weak"]:
        j = j % len(d.parts)
        if j == i or form not in WEAK or abs(c) > .31 or (chain and not d.tame[j]): continue
        name, size, _ = d.parts[j]
        e = e + c/max(len(part["weak"]), 1)*WEAK[form](u, var(name)/size)
    return e


def starts(d, part, name, x0, size):
    """How the start value of a state is given."""
    if part["start"] == "fixed": return ["start = %s" % number(x0), "fixed = true"]
    if part["start"] == "value": d.first.append("%s = %s" % (name, number(x0)))
    elif part["start"] == "cubic": d.first.append("%s + %s^3 = %s" % (text(var(name)/size), text(var(name)/size, 2), number(x0/size + (x0/size)**3)))
    elif part["start"] == "slope": d.first.append("der(%s) = %s" % (name, number(function(diff(d.truth[name]))(0.0))))
    return ["start = %s" % number(x0*part["guess"])]


def state(d, i, part):
    """der(u) + rate*g(u) + weak terms = r(t), u = x/size; with a mass, der(u) has a factor of the unknowns."""
    name, size, x = d.parts[i]
    u = var(name)/size
    rate = part["rate"]/d.stop
    d.truth[name] = x
    if part["start"] == "slope" and part["mass"]: raise Invalid
    mass = 1 + part["mass"]*u*u
    fall = STRONG[part["strong"]](u)
    d.unknown(name, x, size, starts(d, part, name, function(x)(0.0), size))
    # the mass multiplies what pulls back, too: errors fall at the rate that is said
    return lambda: d.equation(mass*(var("der(%s)" % name)/size + rate*fall) + weak(d, part, i, u)/d.stop, part["factor"])


def algebraic(d, i, part):
    name, size, x = d.parts[i]
    u = var(name)/size
    guess = ["start = %s" % number(function(x)(0.0)*part["guess"])] if part["start"] != "fixed" else []
    d.unknown(name, x, size, guess)
    return lambda: d.equation(STRONG[part["strong"]](u) + weak(d, part, i, u), part["factor"])


def definition(d, i, part):
    """x = something of others."""
    name, size, x = d.parts[i]
    d.unknown(name, x, size, [])

    def write():
        e = weak(d, part, i, of(1.0))
        slopes = {"der(%s)" % v: diff(y) for v, y in d.truth.items()}
        rest = x - substitute(size*e, {**d.truth, **slopes})
        d.equations.append("%s = %s" % (name, text(size*e + rest)))
    return write


def second(d, i, part):
    """A forced oscillator of second order: der(x) = v, der(v) = ..."""
    name, size, x = d.parts[i]
    w, v = min(part["rate"], 30.0)/d.stop, name[:-1] + ".v'" if name[0] == "'" else name + "_v"
    start = ["start = %s" % number(function(x)(0.0)), "fixed = true"]
    speed = max(largest(function(diff(x)), d.stop), size*w)
    d.unknown(name, x, size, start)
    d.unknown(v, diff(x), speed, ["start = %s" % number(function(diff(x))(0.0)), "fixed = true"])

    def write():
        u = var(name)/size
        d.equations.append("der(%s) = %s" % (name, v))
        d.equation(var("der(%s)" % v)/size + w*w*STRONG[part["strong"]](u) + 0.3*w*var(v)/size + weak(d, part, i, u)*(w/d.stop), part["factor"])
    return write


def chain(d, i, part):
    """Index k: x1 follows its path, der(x1) = x2, .., and a force does what the last one needs."""
    name, size, x = d.parts[i]
    k, base = int(part["index"]), name.strip("'").replace("[", "_").replace("]", "").replace(".", "_")
    if not 2 <= k <= 5: raise Invalid
    names = [name] + ["%s_%d" % (base, j) for j in range(1, k - 1)]
    sizes = [size]
    for j in range(1, k): sizes.append(max(largest(function(nth(x, j)), d.stop), sizes[-1]/d.stop))
    first = STRONG[part["strong"]]
    d.unknown(name, x, size, ["start = %s" % number(function(x)(0.0)*part["guess"])])
    for j in range(1, k - 1): d.unknown(names[j], nth(x, j), sizes[j], [])
    force = nth(x, k - 1)/2.0
    d.unknown("F_" + base, force, sizes[k - 1], [])
    if k > 3 and part["strong"] != "lin": raise Invalid

    def write():
        u = var(name)/size
        d.equation(first(u) + (weak(d, part, i, u, True) if k <= 3 else of(0.0)), part["factor"])
        for j in range(k - 2): d.equations.append("der(%s) = %s" % (names[j], names[j + 1]))
        d.equations.append("der(%s) = 2*F_%s" % (names[k - 2], base))
    return write


KINDS = {"ode": state, "alg": algebraic, "def": definition, "second": second, "chain": chain}


def build(spec):
    d = Draft(spec)
    names = NAMES[::-1] if spec["other names"] else NAMES
    for i, part in enumerate(spec["unknowns"]):
        if not part["u"] or not -12 <= part["size"] <= 12 or part["kind"] not in KINDS or not 0 < part["rate"] <= 1e5 or not part["factor"]: raise Invalid
        if part["mass"] < 0 or part["strong"] not in STRONG or not .5 <= part["guess"] <= 1.5: raise Invalid
        size = 10.0**part["size"]
        x = of(0.0)
        for s in part["u"]: x = x + shape(s, d.stop)
        d.parts.append((names[i], size, size*x))
        # equations of chains are differentiated: what stands in them must have derivatives that are not large
        d.tame.append(part["kind"] == "ode" and part["rate"] <= 2 and all(s[0] in TAME for s in part["u"]))
    writers = [KINDS[part["kind"]](d, i, part) for i, part in enumerate(spec["unknowns"])]
    loops(d, spec)
    for write in writers: write()
    aliases(d)
    random.Random(spec["order"]).shuffle(d.equations)
    used = [f for f in ("soft", "clenshaw") if any(f + "(" in e for e in d.equations)]
    before = "initial equation\n  %s;\n" % ";\n  ".join(d.first) if d.first else ""
    # a variable that follows from others is no more certain than their terms are
    return Model(d.lines, d.equations, d.stop, {v: function(x) for v, x in d.truth.items()}, d.size, before=before,
                 jumps=any(s[0] in ("jump", "gate") for part in spec["unknowns"] for s in part["u"]),
                 functions="".join(FUNCTIONS[f][1] for f in used))


def loops(d, spec):
    """Definitions must not go round in circles: they take from unknowns that are none, or from earlier ones."""
    kinds = [p["kind"] for p in spec["unknowns"]]
    for i, part in enumerate(spec["unknowns"]):
        if kinds[i] == "def": part["weak"] = [w for w in part["weak"] if kinds[w[0] % len(kinds)] != "def" or w[0] % len(kinds) < i]


def aliases(d):
    """An alias, one with the other sign, and one by an equation that must be solved, of the first unknown."""
    name, size, x = d.parts[0]
    nominal = "(nominal = %s)" % number(size) if size != 1.0 else ""
    d.lines.append("Real z1%s, z2%s, z3%s;" % ((nominal,)*3))
    d.equations += ["z1 = -%s" % name, "2*z2 + z1 = %s" % name, "z3 = z2 + z1 + %s" % name]
    for v, c in (("z1", -1.0), ("z2", 1.0), ("z3", 1.0)): d.truth[v], d.size[v] = c*x, size


def array(R):
    """A description of a chain of cells as an array, with neighbours."""
    return {"stop": R.choice([1.0, 10.0, 1e-3]), "n": R.randint(2, 12), "w": R.uniform(.5, 8), "flow": R.choice([0.0, 1.0, 30.0, 1000.0]),
            "size": R.choice([0, 0, 6, -6, -12, 12]), "shift": R.uniform(0, 1), "matrix": R.random() < .5}


def array_model(spec):
    """der(x[i]) = flow*(x[i-1] - 2*x[i] + x[i+1]) + s[i](t), x[i] = size*sin(w*t + shift*i)."""
    n, stop, w, S = spec["n"], float(spec["stop"]), spec["w"]/float(spec["stop"]), 10.0**spec["size"]
    if n < 2 or stop <= 0 or w < 0: raise Invalid
    D = spec["flow"]/stop
    if D < 0: raise Invalid
    at = lambda i: "S*sin(w*time + %s*%s)" % (number(spec["shift"]), i)
    lines = ["parameter Integer n = %d;" % n, "parameter Real w = %s, D = %s, S = %s;" % (number(w), number(D), number(S)),
             "Real x[n](start = {%s for i in 1:n}, each fixed = true, each nominal = S);" % at("i").replace("w*time", "0"), "Real low, high, total, top;"]
    if spec["matrix"]:
        lines += ["parameter Real A[n, n] = {if i == j then -2*D elseif abs(i - j) == 1 then D else 0 for j in 1:n, i in 1:n};", "Real r[n];"]
        inner = ["der(x) = A*x + r", "for i in 1:n loop\n    r[i] = S*w*cos(w*time + %s*i) - (A[i, :]*{%s for j in 1:n});\n  end for" % (
            number(spec["shift"]), at("j"))]
    else:
        inner = ["for i in 1:n loop\n    der(x[i]) = D*((if i > 1 then x[max(i - 1, 1)] else low) - 2*x[i] + (if i < n then x[min(i + 1, n)] else high))"
                 " + S*w*cos(w*time + %s*i) - D*(%s - 2*%s + %s);\n  end for" % (number(spec["shift"]), at("(i - 1)"), at("i"), at("(i + 1)"))]
    f = lambda i: (lambda t: S*math.sin(w*t + spec["shift"]*i))
    rows = {"x[%d]" % i: f(i) for i in range(1, n + 1)}
    rows["total"] = lambda t: sum(f(i)(t) for i in range(1, n + 1))
    rows["top"] = lambda t: max(f(i)(t) for i in range(1, n + 1))
    return Model(lines, inner + ["low = " + at("0"), "high = " + at("(n + 1)"), "total = sum(x)", "top = max(x)"], stop, rows,
                 {**{v: S for v in rows}, "total": n*S})


SMOOTH = ["sin", "exp", "poly", "mix", "rational", "tanh", "fast"]
KINDS_OF_MODELS = {
    "smooth": (lambda R: make(R, SMOOTH, ["ode", "ode", "alg", "alg", "def", "second"], 5), build),
    "index": (lambda R: make(R, SMOOTH, ["chain", "chain", "ode", "alg", "def"], 3, False), build),
    "pieces": (lambda R: make(R, ["kink", "jump", "gate", "sin", "exp"], ["ode", "alg", "def"]), build),
    "arrays": (array, array_model),
    "starts": (lambda R: make(R, TAME, ["ode", "ode", "alg"], 2, starts="small"), build),
    "pulses": (lambda R: make(R, ["pulse"], ["ode"], 2), build),
}
