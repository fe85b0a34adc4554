"""Models whose solution jumps, with values by definition: discrete functions and relations of time, hysteresis, samples, resets."""
import math
from runs import Invalid, Model
from symbols import factor, number

GRID = 1500
EPS = 1e-9


# ---- expressions of time by their definition: floor, mod, relations, counters -----------------------------------------------------

BASES = {"line": lambda a, b: (lambda t: a + b*t, "%s + %s*time" % (number(a), factor(b))),
         "sin": lambda a, b: (lambda t: a + b*math.sin(t), "%s + %s*sin(time)" % (number(a), factor(b))),
         "wave": lambda a, b: (lambda t: a + b*math.sin(3*t) - b*math.cos(t), "%s + %s*sin(3*time) - %s*cos(time)" % (number(a), number(b), number(b)))}
STEPS = {"min": (lambda x, a, b: min(x, a), "min({x}, {a})"), "max": (lambda x, a, b: max(x, a), "max({x}, {a})"),
         "abs": (lambda x, a, b: abs(x), "abs({x})"), "floor": (lambda x, a, b: math.floor(x), "floor({x})"),
         "ceil": (lambda x, a, b: math.ceil(x), "ceil({x})"), "mod": (lambda x, a, b: x - math.floor(x/b)*b, "mod({x}, {b})"),
         "rem": (lambda x, a, b: x - math.trunc(x/b)*b, "rem({x}, {b})"), "div": (lambda x, a, b: math.trunc(x/b), "div({x}, {b})"),
         "integer": (lambda x, a, b: math.floor(x), "integer({x})"), "if": (lambda x, a, b: a if x > a else x, "if {x} > {a} then {a} else {x}"),
         "sign": (lambda x, a, b: (x > 0) - (x < 0), "sign({x})"), "line": (lambda x, a, b: .5*x + a, "0.5*{x} + {a}"),
         "limit": (lambda x, a, b: max(-b, min(b, x)), "max(-{b}, min({b}, {x}))"), "dead": (lambda x, a, b: x - b if x > b else x + b if x < -b else 0, "if {x} > {b} then {x} - {b} elseif {x} < -{b} then {x} + {b} else 0"),
         "neg": (lambda x, a, b: -x, "-{x}"), "round": (lambda x, a, b: b*math.floor(x/b + .5), "{b}*floor({x}/{b} + 0.5)")}
COMPARE = {">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y}


def make_discrete(R):
    c = lambda: R.choice([.5, 1, 1.5, 2, 3, -1, -.5, .25, -2])
    base = R.choice([["line", R.choice([0, 1, 2, 7, -1, -2, .3]), R.choice([.5, -.5, 1, -1, 2])], ["sin", R.choice([0, 0, 1, .2]), R.choice([1.9, 2.3])], ["wave", .1, R.choice([1.3, 1.7])]])
    return {"base": base, "defs": [[R.choice(list(STEPS)), R.randint(0, i), c(), abs(c())] for i in range(R.randint(1, 4))],
            "relations": [[R.randint(0, 5), R.choice(list(COMPARE)), c()] for _ in range(R.choice([1, 1, 2]))], "join": R.choice(["and", "or", "not"]),
            "inner": R.choice(["last", "0", "last"]), "stop": R.choice([3.17, 5.23, 6.07]), "inline": R.random() < .3, "spelled": R.randint(0, 3)}


def discrete(spec):
    lines, equations, f, texts = ["Real y0;"], [], [], ["y0"]
    if spec["base"][0] not in BASES or not spec["relations"] or spec["stop"] <= 0: raise Invalid
    base, text = BASES[spec["base"][0]](*spec["base"][1:])
    f.append(base)
    equations.append("y0 = " + text)
    for k, (name, j, a, b) in enumerate(spec["defs"], 1):
        if b <= 0 or name not in STEPS: raise Invalid
        step, form = STEPS[name]
        f.append((lambda g, x, a, b: lambda t: g(x(t), a, b))(step, f[j % k], a, b))
        text = form.format(x=texts[j % k], a=factor(a), b=number(b))
        lines.append("Real y%d;" % k)
        equations.append("y%d = %s" % (k, text))
        texts.append("(%s)" % text if spec["inline"] else "y%d" % k)
    truths, words = [], []
    for j, op, c in spec["relations"]:
        truths.append((lambda x, g, c: lambda t: g(x(t), c))(f[j % len(f)], COMPARE[op], c))
        words.append("%s %s %s" % (texts[j % len(f)], op, number(c)))
    if len(truths) == 2:
        p, q = truths
        b = {"and": lambda t: p(t) and q(t), "or": lambda t: p(t) or q(t), "not": lambda t: p(t) and not q(t)}[spec["join"]]
        word = {"and": "%s and %s", "or": "%s or %s", "not": "%s and not (%s)"}[spec["join"]] % tuple(words)
    else: b, word = truths[0], words[0]
    last = f[-1] if spec["inner"] == "last" else f[0]
    count, total = by_grid(b, lambda t: 1.0 if b(t) else float(last(t)), spec["stop"])
    when = ["when b then\n    n = pre(n) + 1;\n  end when", "when {b, time < -1} then\n    n = pre(n) + 1;\n  end when",
            "when edge(b) then\n    n = pre(n) + 1;\n  end when", "when not b then\n    m = time;\n  elsewhen b then\n    n = pre(n) + 1;\n  end when"][spec["spelled"]]
    lines += ["Boolean b;", "Integer n(start = 0, fixed = true);", "Real w(start = 0, fixed = true);"] + (["discrete Real m(start = 0, fixed = true);"] if spec["spelled"] == 3 else [])
    equations += ["b = " + word, when, "der(w) = if b then 1 else %s" % (texts[-1] if spec["inner"] == "last" else "y0")]
    rows = {"y%d" % k: x for k, x in enumerate(f)}
    size = {v: 4.0 for v in rows}
    # errors of event times add up in the integral
    rows["w"] = total
    return Model(lines, equations, spec["stop"], rows, {**size, "w": 4.0}, {"n": count}, jumps=True, loose=2)


def by_grid(b, f, stop):
    """How often b becomes true, and the integral of f, which jumps and has kinks, as a function; Invalid if it cannot be told."""
    h, count, sums, flips = stop/GRID, 0, [0.0], []
    was = b(EPS)
    if was != b(0.0): raise Invalid  # what becomes true at the very start is not judged
    for i in range(GRID):
        a, e = i*h, (i + 1)*h
        now = b(a + .5*h)
        if now != was: flips.append(i)
        count += now and not was
        was = now
        sums.append(sums[-1] + piece(f, a, e))
    if any(q - p < 3 for p, q in zip(flips, flips[1:])) or (flips and flips[-1] > GRID - 5) or b(stop) != was: raise Invalid

    def integral(t):
        i = min(int(t/h), GRID - 1)
        return sums[i] + (piece(f, i*h, t) if t > i*h + 1e-12 else 0.0)
    return count, integral


def piece(f, a, e):
    """The integral between a and e by Simpson's rule, halved until it agrees with itself: at a kink or a jump to the last digits of time."""
    def halved(a, m, e, fa, fm, fe, whole, depth):
        l, r = (a + m)/2, (m + e)/2
        fl, fr = f(l), f(r)
        left, right = (m - a)*(fa + 4*fl + fm)/6, (e - m)*(fm + 4*fr + fe)/6
        if depth == 0 or abs(left + right - whole) <= 1e-13*(e - a): return left + right
        return halved(a, l, m, fa, fl, fm, left, depth - 1) + halved(m, r, e, fm, fr, fe, right, depth - 1)
    m = (a + e)/2
    fa, fm, fe = f(a), f(m), f(e)
    return halved(a, m, e, fa, fm, fe, (e - a)*(fa + 4*fm + fe)/6, 40)


# ---- a linear system under hysteresis: exact switching times ----------------------------------------------------------------------

def make_switch(R):
    k, low = R.uniform(.2, 20), R.uniform(.5, 1)
    return {"k": k, "low": low, "gap": R.uniform(.05, .5), "up": R.uniform(.2, 2), "down": R.uniform(.2, 2), "size": R.choice([0, 0, 6, -6, 12, -12]),
            "x0": R.random(), "on": R.random() < .5, "stop": R.uniform(2, 8), "form": R.randint(0, 2)}


def switch(spec):
    k, low, S = spec["k"], spec["low"], 10.0**spec["size"]
    high = low + spec["gap"]
    u1, u0, x, on, t, parts = k*(high + spec["up"]), k*(low - spec["down"]), low + spec["x0"]*spec["gap"], spec["on"], 0.0, []
    if k <= 0 or min(spec["gap"], spec["up"], spec["down"]) < .01 or not 0 < spec["x0"] < 1 or spec["stop"] <= 0: raise Invalid
    while t < spec["stop"]:
        q, goal = (u1 if on else u0)/k, high if on else low
        parts.append((t, x, q))
        if len(parts) > 300: raise Invalid
        t, x, on = t + math.log((x - q)/(goal - q))/k, goal, not on
    if min(t - spec["stop"], spec["stop"] - parts[-1][0]) < 1e-2: raise Invalid
    X = lambda tt: S*relaxed(parts, tt, k)
    n = lambda v: number(S*v)
    nominal = ", nominal = %s" % number(S) if S != 1 else ""
    lines = ["Real x(start = %s, fixed = true%s);" % (n(parts[0][1]), nominal), "Boolean on(start = %s, fixed = true);" % str(spec["on"]).lower(), "Integer n(start = 0, fixed = true);"]
    form = ["when x > %s then\n    on = false;\n  elsewhen x < %s then\n    on = true;\n  end when" % (n(high), n(low)),
            "on = if pre(on) then x <= %s else x < %s" % (n(high), n(low)), "on = x < %s or pre(on) and not x > %s" % (n(low), n(high))][spec["form"]]
    equations = ["der(x) = -%s*x + (if on then %s else %s)" % (number(k), n(u1), n(u0)), form, "when change(on) then\n    n = pre(n) + 1;\n  end when"]
    return Model(lines, equations, spec["stop"], {"x": X}, {"x": S}, {"n": len(parts) - 1}, loose=len(parts))


def relaxed(parts, t, k):
    """x(t) where der(x) = k*(q - x), by pieces (time, x, q)."""
    p = max((p for p in parts if p[0] <= max(t, 0.0)), key=lambda p: p[0])
    return p[2] + (p[1] - p[2])*math.exp(-k*(max(t, 0.0) - p[0]))


# ---- a linear plant under a sampled controller: exact recursion ----------------------------------------------------------------------

def make_sampled(R):
    return {"T": R.choice([.1, .25, 1/3, .07]), "k": R.uniform(.2, 5), "gain": R.uniform(.1, 1), "goal": R.uniform(-2, 2), "t0": R.choice([0.0, .05, .5]), "turns": R.uniform(20, 60),
            "memory": R.choice([0.0, R.uniform(.05, .3)]), "algorithm": R.random() < .4}


def sampled(spec):
    """u = gain*k*(goal - x) + memory*pre(u) at the samples."""
    T, k, K, r = spec["T"], spec["k"], spec["gain"], spec["goal"]
    if T <= 0 or k <= 0 or not 0 < K <= 1 or spec["t0"] < 0 or not 0 <= spec["memory"] < .5: raise Invalid
    stop = spec["turns"]*T + .013
    parts, x, u, t, n, i = [], 1.0, 0.0, 0.0, 0, 0
    while t < stop:
        tick = spec["t0"] + i*T
        if tick <= t + 1e-12:
            u, n, i = K*k*(r - x) + spec["memory"]*u, n + 1, i + 1
            tick = spec["t0"] + i*T
        parts.append((t, x, u/k))
        x = u/k + (x - u/k)*math.exp(-k*(min(tick, stop) - t))
        if stop <= tick: break
        t = tick
    last = spec["t0"] + (n - 1)*T
    if min(abs(last - stop), abs(last + T - stop)) < 1e-3: raise Invalid
    body = ["u %s %s*(%s - x) + %s*pre(u);" % ("%s", number(K*k), factor(r), number(spec["memory"])), "n %s pre(n) + 1;"]
    assign = ":=" if spec["algorithm"] else "="
    when = "when sample(%s, %s) then\n    %s\n  end when" % (number(spec["t0"]), number(T), "\n    ".join(b % assign for b in body))
    lines = ["Real x(start = 1, fixed = true);", "discrete Real u(start = 0, fixed = true);", "Integer n(start = 0, fixed = true);"]
    equations = ["der(x) = -%s*x + u" % number(k)] + ([] if spec["algorithm"] else [when])
    model = Model(lines, equations, stop, {"x": lambda t: relaxed(parts, t, k)}, {"x": 1.0}, {"n": n})
    if spec["algorithm"]: model.text = model.text.replace("  annotation", "algorithm\n  %s;\n  annotation" % when)
    return model


# ---- resets: a ball, a saw, a population that is harvested; exact times -------------------------------------------------------------------

def make_reset(R):
    kind = R.choice(["saw", "ball", "growth", "delayed"])
    return {"kind": kind, "a": R.uniform(.3, 3), "h": R.uniform(.5, 2), "e": R.uniform(.5, .9), "size": R.choice([0, 0, 3, -3, 6, -6]), "stop": R.uniform(1, 4), "pre": R.random() < .5}


def reset(spec):
    a, h, e, S, stop = spec["a"], spec["h"], spec["e"], 10.0**spec["size"], spec["stop"]
    if a <= 0 or h <= 0 or not .3 < e < .95 or stop <= 0: raise Invalid
    nominal = ", nominal = %s" % number(S) if S != 1 else ""
    n = lambda v: number(S*v)
    if spec["kind"] == "ball": return ball(spec, a, h, e, S, nominal)
    times, t = [], 0.0
    growth = spec["kind"] == "growth"
    while t < stop and len(times) < 200:
        low = 0.0 if not times and not growth else h*e if growth else h*(1 - e)
        t += math.log(h/(low if times or growth else h*e))/a if growth else (h - low)/a
        times.append(t)
    if times and (min(abs(t - stop) for t in times) < 1e-3): raise Invalid
    times = [t for t in times if t < stop]
    first = h*e if growth else 0.0

    def X(t):
        past = [s for s in times if s <= t]
        start, x = (past[-1], h*e if growth else h*(1 - e)) if past else (0.0, first)
        return S*(x*math.exp(a*(t - start)) if growth else x + a*(t - start))
    count = len(times)
    lines = ["Real x(start = %s, fixed = true%s);" % (n(first), nominal), "Integer n(start = 0, fixed = true);"]
    new = n(h*e) if growth else (n(h*(1 - e)) if spec["pre"] else "x - %s" % n(h*e))
    if growth and spec["pre"]: new = "%s*x" % number(e)
    equations = ["der(x) = " + ("%s*x" % number(a) if growth else n(a)), "when x >= %s then\n    reinit(x, %s);\n    n = pre(n) + 1;\n  end when" % (n(h), new)]
    if spec["kind"] == "delayed":
        # a timer does the same at the known times
        lines.append("discrete Real next(start = %s, fixed = true);" % number(h/a))
        equations[1] = "when time >= pre(next) then\n    next = pre(next) + %s;\n    reinit(x, x - %s);\n    n = pre(n) + 1;\n  end when" % (number(h*e/a), n(h*e))
    return Model(lines, equations, stop, {"x": X}, {"x": S}, {"n": count}, jumps=True, loose=1 + count, late=10*(1 + count))


def ball(spec, g, h, e, S, nominal):
    """Falls from h with gravity g; each bounce keeps e of the speed; ends well before the bounces accumulate."""
    t1, v1 = math.sqrt(2*h/g), math.sqrt(2*h*g)
    hits, v, t = [], v1, t1
    while len(hits) < 8:
        v *= e
        hits.append((t, v))
        t += 2*v/g
    stop = (hits[-1][0] + t)/2
    X = lambda t: S*(h - g*t*t/2) if t <= t1 else next(S*(v*(t - s) - g*(t - s)**2/2) for s, v in reversed(hits) if s <= t)
    V = lambda t: -S*g*t if t <= t1 else next(S*(v - g*(t - s)) for s, v in reversed(hits) if s <= t)
    lines = ["Real x(start = %s, fixed = true%s), v(start = 0, fixed = true%s);" % (number(S*h), nominal, nominal), "Integer n(start = 0, fixed = true);"]
    equations = ["der(x) = v", "der(v) = -%s" % number(S*g), "when x <= 0 then\n    reinit(v, -%s*%s);\n    n = pre(n) + 1;\n  end when" % (number(e), "pre(v)" if spec["pre"] else "v")]
    return Model(lines, equations, stop, {"x": X, "v": V}, {"x": S, "v": S}, {"n": len(hits)}, jumps=True, loose=10, late=100)


# ---- logic: clauses on the crossings of waves, by their definition ----------------------------------------------------------------------

def make_logic(R):
    return {"waves": [[R.uniform(1, 9), R.uniform(0, 6), R.uniform(-.8, .8)] for _ in range(R.randint(1, 3))], "stop": R.uniform(2, 6), "form": R.randint(0, 4), "gain": R.choice([1, 2, -1, .5])}


def logic(spec):
    """b_i = sin(w time + p) > c; counters, sums and memories in when-clauses; one is read by an integral."""
    waves, stop = spec["waves"], spec["stop"]
    if not waves or stop <= 0 or any(w <= 0 or abs(c) > .9 for w, _, c in waves): raise Invalid
    B = lambda i, t: math.sin(waves[i][0]*t + waves[i][1]) > waves[i][2]
    events = []
    for i, (w, p, c) in enumerate(waves):
        for root in (math.asin(c), math.pi - math.asin(c)):
            k = math.ceil((p - root)/(2*math.pi))
            while (root + 2*math.pi*k - p)/w < stop:
                events.append(((root + 2*math.pi*k - p)/w, i))
                k += 1
    events.sort()
    times = [0.0] + [t for t, _ in events] + [stop]
    if len(events) > 150 or min(b - a for a, b in zip(times, times[1:])) < 2e-3: raise Invalid
    last = len(waves) - 1
    n, s, m, w, now, parts = 0, 0.0, 0, 0.0, 0.0, [(0.0, 0.0, 0.0)]
    gain = spec["gain"]
    for t, i in events:
        w += (t - now)*s
        now, up = t, B(i, t + 1e-6)
        # the first clause that becomes true acts: up-crossings of wave 0 count, else those of the last wave subtract
        if i == 0 and up:
            n += 1
            s = s + gain*n if spec["form"] != 1 else t
        elif i == last and last > 0 and up: s = s - gain if spec["form"] != 1 else -t
        if spec["form"] == 2 and not up and i == 0: s = -s
        m += up or spec["form"] == 3
        parts.append((t, w, s))
    def at(t): return max((p for p in parts if p[0] <= max(t, 0.0)), key=lambda p: p[0])
    W = lambda t: at(t)[1] + (t - at(t)[0])*at(t)[2]
    Z = lambda t: at(t)[2]
    act = "s = pre(s) + %s*n;" % factor(gain) if spec["form"] != 1 else "s = time;"
    other = "s = pre(s) - %s;" % factor(gain) if spec["form"] != 1 else "s = -time;"
    clauses = "when b1 then\n    n = pre(n) + 1;\n    %s\n" % act
    if last: clauses += "  elsewhen b%d then\n    n = pre(n);\n    %s\n" % (last + 1, other)
    if spec["form"] == 2: clauses += "  elsewhen not b1 then\n    n = pre(n);\n    s = -pre(s);\n"
    names = ["b%d" % (i + 1) for i in range(len(waves))]
    edges = ["change(%s)" % b if spec["form"] == 3 else b for b in names]
    lines = ["Boolean %s;" % ", ".join(names), "Integer n(start = 0, fixed = true), m(start = 0, fixed = true);", "discrete Real s(start = 0, fixed = true);", "Real w(start = 0, fixed = true);"]
    equations = ["%s = sin(%s*time + %s) > %s" % (b, number(x[0]), factor(x[1]), number(x[2])) for b, x in zip(names, waves)]
    equations += [clauses + "  end when", "when {%s} then\n    m = pre(m) + 1;\n  end when" % ", ".join(edges), "der(w) = s"]
    size = max([abs(p[2]) for p in parts] + [1.0])
    return Model(lines, equations, stop, {"s": Z, "w": W}, {"s": size, "w": size*stop}, {"n": n, "m": m}, jumps=True, loose=2)


KINDS_OF_MODELS = {"discrete": (make_discrete, discrete), "switch": (make_switch, switch), "sampled": (make_sampled, sampled), "reset": (make_reset, reset), "logic": (make_logic, logic)}
