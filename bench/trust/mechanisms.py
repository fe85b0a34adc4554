"""Mechanisms in Cartesian coordinates (index 3): the motion is chosen in closed form, the forces are computed backwards.

Forced ones (pendulums, bodies on curves) get the multipliers by choice and outer forces as expressions of time. Driven ones (slider
crank, four-bar) are determined by their crank; the multipliers follow from the accelerations."""
from chosen import shape, signal
from runs import Invalid, Model
from symbols import TIME, call, diff, forget, function, largest, number, of, substitute, text, var

TAME = ["sin", "poly", "mix"]


def make_forced(R):
    kind = R.choice(["pendulum", "double", "parabola", "ellipse", "spherical", "helix", "wave"])
    return {"kind": kind, "stop": R.choice([1.0, 2.0, 0.1]), "angle": [signal(R, TAME), signal(R, TAME)], "lengths": [R.uniform(.3, 2), R.uniform(.3, 2)],
            "force": [signal(R, TAME + ["exp"]), signal(R, TAME)], "masses": [10.0**R.uniform(-1, 1), 10.0**R.uniform(-1, 1)],
            "unit": R.choice([0, 0, 3, -3]), "spring": R.uniform(0, 3), "damper": R.uniform(.3, 1),
            "chosen force": R.random() < .7}


def paths(spec):
    """Coordinates of each body as expressions of time, and its constraints as expressions of coordinates; lengths are 1."""
    q = [shape(s, spec["stop"]) for s in spec["angle"]]
    a, b = spec["lengths"]
    x, y, z, u, w = (var(n) for n in ("x", "y", "z", "x2", "y2"))
    sin, cos = (lambda e: call("sin", e)), (lambda e: call("cos", e))
    kind = spec["kind"]
    if a <= 0 or b <= 0: raise Invalid
    if kind == "pendulum": return [("x", a*sin(q[0])), ("y", -a*cos(q[0]))], [x**2 + y**2 - a*a]
    if kind == "double":
        X, Y = a*sin(q[0]), -a*cos(q[0])
        return [("x", X), ("y", Y), ("x2", X + b*sin(q[1])), ("y2", Y - b*cos(q[1]))], [x**2 + y**2 - a*a, (u - x)**2 + (w - y)**2 - b*b]
    if kind == "parabola": return [("x", q[0]), ("y", a*q[0]**2)], [y - a*x**2]
    if kind == "wave": return [("x", q[0]), ("y", a*sin(b*q[0]))], [y - a*sin(b*x)]
    if kind == "ellipse": return [("x", a*sin(q[0])), ("y", b*cos(q[0]))], [x**2/(a*a) + y**2/(b*b) - 1]
    if kind == "spherical": return [("x", a*sin(q[0])*cos(q[1])), ("y", a*sin(q[0])*sin(q[1])), ("z", -a*cos(q[0]))], [x**2 + y**2 + z**2 - a*a]
    if kind == "helix": return [("x", a*cos(q[0])), ("y", a*sin(q[0])), ("z", b*q[0])], [x - a*cos(z/b), y - a*sin(z/b)]
    raise Invalid


def forced(spec):
    forget()
    stop, S = float(spec["stop"]), 10.0**spec["unit"]
    if stop <= 0 or any(m <= 0 for m in spec["masses"]) or spec["spring"] < 0 or spec["damper"] < 0: raise Invalid
    coordinates, constraints = paths(spec)
    scaled = {c: var(c)/S for c, _ in coordinates}
    constraints = [substitute(g, scaled) for g in constraints]
    truth = {c: S*x for c, x in coordinates}
    names = ["lambda%d" % (j + 1) for j in range(len(constraints))]
    mass = lambda i: spec["masses"][i // 2 if spec["kind"] == "double" else 0]
    # multipliers of the size of the forces: a gradient is of size 1/S
    scale = max(mass(i)*largest(function(diff(diff(truth[c]))), stop)*S for i, (c, _) in enumerate(coordinates)) or S
    lambdas = {n: (scale*shape(s, stop) if spec["chosen force"] else of(0.0)) for n, s in zip(names, spec["force"])}
    # a spring to the path that is stiffer than what the multipliers make of the curvature: errors do not grow
    bend = max([largest(function(substitute(diff(diff(g, c), e), truth)), stop) for g in constraints for c in truth for e in truth])
    spring = (1.5 + spec["spring"])*2*len(truth)*scale*bend if spec["chosen force"] else spec["spring"]*scale/S**2
    lines, equations, rows, sizes = [], [], {}, {}
    for i, (c, _) in enumerate(coordinates):
        v, X = "v" + c, truth[c]
        speed = max(largest(function(diff(X)), stop), S*1e-3)
        x0, v0 = function(X)(0.0), function(diff(X))(0.0)
        lines.append("Real %s(start = %s, nominal = %s), %s(start = %s, nominal = %s);" % (c, number(x0), number(S), v, number(v0), number(speed)))
        pull = of(0.0)
        for n, g in zip(names, constraints): pull = pull + var(n)*diff(g, c)
        left = mass(i)*var("der(%s)" % v) + spring*var(c) + 2*spec["damper"]*(spring*mass(i))**0.5*var(v) - pull
        right = substitute(left, {**truth, **lambdas, v: diff(X), "der(%s)" % v: diff(diff(X))})
        equations += ["der(%s) = %s" % (c, v), "%s = %s" % (text(left), text(right))]
        rows[c], rows[v], sizes[c], sizes[v] = function(X), function(diff(X)), S, speed
    for n, g in zip(names, constraints):
        lines.append("Real %s(nominal = %s);" % (n, number(scale)))
        equations.append("%s = 0" % text(g))
        rows[n], sizes[n] = function(lambdas[n]), scale + spring*S**2
    return Model(lines, equations, stop, rows, sizes)


def make_driven(R):
    return {"kind": R.choice(["slider", "fourbar"]), "stop": R.choice([1.0, 3.0]), "a": R.uniform(.1, .4), "b": R.uniform(.7, 1.2), "e": R.choice([0.0, R.uniform(-.1, .1)]),
            "w": R.uniform(-8, 8), "swing": R.choice([0.0, R.uniform(0, .4)]), "v": R.uniform(1, 6), "p": R.uniform(0, 6), "mass": R.uniform(.5, 3),
            "spring": R.choice([0.0, R.uniform(1, 100)]), "g": R.choice([0.0, 9.81]), "unit": R.choice([0, 0, 3, -3]), "side": R.choice([1, -1]), "rod": R.uniform(.8, 1.1)}


def driven(spec):
    """A crank of angle phi(t) pulls a slider along y = e, or the point C of a four-bar with a rod to (1, 0)."""
    forget()
    if spec["a"] <= 0 or spec["stop"] <= 0 or spec["mass"] <= 0 or spec["spring"] < 0 or abs(spec["side"]) != 1: raise Invalid
    S, m, k, g = 10.0**spec["unit"], spec["mass"], spec["spring"], spec["g"]
    phi = of(spec["p"]) + spec["w"]*TIME + spec["swing"]*call("sin", spec["v"]*TIME)
    ax, ay = S*spec["a"]*call("cos", phi), S*spec["a"]*call("sin", phi)
    lines = ["Real phi, px(nominal = %s), py(nominal = %s);" % (number(S), number(S))]
    equations = ["phi = " + text(phi), "px = %s" % text(S*spec["a"]*call("cos", var("phi"))), "py = %s" % text(S*spec["a"]*call("sin", var("phi")))]
    return (slider if spec["kind"] == "slider" else fourbar)(spec, S, m, k, g, ax, ay, lines, equations)


def slider(spec, S, m, k, g, ax, ay, lines, equations):
    b, e = S*spec["b"], S*spec["e"]
    if spec["b"] - spec["a"] - abs(spec["e"]) < .15: raise Invalid
    x = ax + call("sqrt", b*b - (ay - e)**2)
    X, A, P = function(x), function(diff(diff(x))), function(ax)
    force = lambda t: (m*A(t) + k*(X(t) - S))/2/(X(t) - P(t))
    lines += ["Real x(start = %s, nominal = %s), vx(nominal = %s), lambda;" % (number(X(0.0)), number(S), number(S))]
    equations += ["der(x) = vx", "%s*der(vx) = 2*lambda*(x - px) - %s*(x - %s)" % (number(m), number(k), number(S)),
                  "(x - px)^2 + (%s - py)^2 = %s" % (number(e), number(b*b))]
    size = max(largest(force, spec["stop"]), m*largest(lambda t: A(t), spec["stop"])/S, k)
    return Model(lines, equations, spec["stop"], {"x": X, "lambda": force}, {"x": S, "lambda": size})


def fourbar(spec, S, m, k, g, ax, ay, lines, equations):
    r, s, D = S*spec["b"], S*spec["rod"], S
    # C = A + c (D - A) + h (normal), c and h from the two rods
    dx, dy = D - ax, -ay
    d2 = dx**2 + dy**2
    c = (r*r - s*s + d2)/(2*d2)
    h2 = r*r/d2 - c**2
    H2 = function(h2)
    try:
        if min(H2(spec["stop"]*i/200) for i in range(201)) < .05: raise Invalid
    except ZeroDivisionError: raise Invalid
    h = spec["side"]*call("sqrt", h2)
    x, y = ax + c*dx - h*dy, ay + c*dy + h*dx
    X, Y, AX, AY, P, Q = function(x), function(y), function(diff(diff(x))), function(diff(diff(y))), function(ax), function(ay)

    def forces(t):
        fx, fy = m*AX(t) + k*X(t), m*AY(t) + k*Y(t) + m*g*S
        a, b, c, d = 2*(X(t) - P(t)), 2*(X(t) - D), 2*(Y(t) - Q(t)), 2*Y(t)
        det = a*d - b*c
        return (fx*d - b*fy)/det, (a*fy - c*fx)/det
    lines += ["Real x(start = %s, nominal = %s), y(start = %s, nominal = %s), vx(nominal = %s), vy(nominal = %s), l1, l2;" % (
        number(X(0.0)), number(S), number(Y(0.0)), number(S), number(S), number(S))]
    equations += ["der(x) = vx", "der(y) = vy", "%s*der(vx) = 2*l1*(x - px) + 2*l2*(x - %s) - %s*x" % (number(m), number(D), number(k)),
                  "%s*der(vy) = 2*l1*(y - py) + 2*l2*y - %s*y - %s" % (number(m), number(k), number(m*g*S)),
                  "(x - px)^2 + (y - py)^2 = %s" % number(r*r), "(x - %s)^2 + y^2 = %s" % (number(D), number(s*s))]
    F = [lambda t: forces(t)[0], lambda t: forces(t)[1]]
    size = max([largest(f, spec["stop"]) for f in F] + [m*largest(AX, spec["stop"])/S])
    return Model(lines, equations, spec["stop"], {"x": X, "y": Y, "l1": F[0], "l2": F[1]}, {"x": S, "y": S, "l1": size, "l2": size})


KINDS_OF_MODELS = {"mechanisms": (make_forced, forced), "linkages": (make_driven, driven)}
