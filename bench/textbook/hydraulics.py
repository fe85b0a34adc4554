"""Water and oil."""

from math import cos, log, log10, pi, sin, sqrt

import numpy as np
from scipy.integrate import quad

from codes import Closed, Ode, model, root

G = 9.81


@model("torricelli", 1)
def _():
    def value(t):
        r = max(0.0, sqrt(1.2) - 1e-3 * sqrt(2 * G) / (2 * 0.5) * t)
        return dict(h=r * r, v=sqrt(2 * G) * r) if r > 0 else dict(h=0.0)
    return Closed("sqrt h = sqrt h0 - a/A sqrt(g/2) t, until the tank is empty", value)


@model("two_tanks", 1)
def _():
    def value(t):  # d = h1 - h2, d' = -(1/A1 + 1/A2) k sqrt d
        d = max(0.0, sqrt(2) - 1.5 * 0.05 / 2 * t)**2
        return dict(h1=7 / 3 + d / 3, h2=7 / 3 - 2 * d / 3, q=0.05 * sqrt(d))
    return Closed("sqrt(h1 - h2) falls by k (1/A1 + 1/A2)/2 a second, to 0", value, )


@model("tank_column", 1)
def _():
    def f(t, h, m):
        q = 0.01 * np.sqrt(h)
        return (np.array([0.006, *q[:3]]) - q) / 0.1
    return Ode(f, [1, 0.5, 0.3, 0.2], lambda t, y, m: {"h[1]": y[0], "h[3]": y[2], "h[4]": y[3]})


@model("overflow", 1)
def _():
    def f(t, y, m):
        q = 6 * max(0.0, y[0] - 2)**1.5
        return [((0.05 if m else 0.2) - q) / 1.5, q]
    return Ode(f, [1.5, 0], lambda t, y, m: dict(h=y[0], spilled=y[1]), mode=False, breaks=[10],
               action_at=lambda t, y, m: (y, True), events=[(lambda t, y, m: y[0] - 2, 0, None)])


@model("float_valve", 1)
def _():
    def f(t, y, m):
        return [(0.2 * max(0.0, min(1.0, (0.3 - y[0]) / 0.05)) - (1 if m in (1, 3) else 0)) / 40]
    return Ode(f, [0.3], lambda t, y, m: dict(h=y[0]), mode=0, breaks=[10, 15, 80, 84],
               action_at=lambda t, y, m: (y, m + 1), events=[(lambda t, y, m: y[0] - 0.25, 0, None)])


@model("pump_and_pipe", 1)
def _():
    def flow(h):  # 20000 q^2 + 100 q = 30 - h
        return 2 * (30 - h) / (100 + sqrt(1e4 + 8e4 * (30 - h)))
    f = lambda t, y, m: [flow(y[0]) / 2]
    return Ode(f, [8], lambda t, y, m: dict(h=y[0], q=flow(y[0]), H=y[0] + 12000 * flow(y[0])**2))


@model("pipe_network", 1)
def _():
    def value(t):
        p0, u1 = 10 + 2 * sin(t), 0.5 + 0.3 * cos(2 * t)
        s = lambda x, r: np.sign(x) * sqrt(abs(x) / r)

        def p1_of(p2):
            return root(lambda p1: s(p0 - p1, 2) - s(p1 - p2, 3) - u1, min(p0, p2) - 5, max(p0, p2) + 5)
        p2 = root(lambda p2: s(p0 - p2, 5) + s(p1_of(p2) - p2, 3) - s(p2, 8), -5, 15)
        p1 = p1_of(p2)
        return {"p1": p1, "p2": p2, "q[1]": s(p0 - p1, 2), "q[3]": s(p1 - p2, 3)}
    return Closed("Balances of the two nodes by nested bisections", value)


@model("surge_tank", 1)
def _():
    def f(t, y, m):
        q = 20 * (1 - t / 20) if m == 0 else 0
        return [(-y[1] - 0.6 * y[0] * abs(y[0])) * G / 1000, (10 * y[0] - q) / 60]
    return Ode(f, [2, -2.4], lambda t, y, m: dict(v=y[0], z=y[1]), mode=0, breaks=[20],
               action_at=lambda t, y, m: (y, 1), events=[(lambda t, y, m: y[0], 0, None)])


@model("hydraulic_cylinder", 1)
def _():
    def f(t, y, m):
        p1, p2, x, v = y
        u = 1 if m == 1 else 0
        q1, q2 = u * 40 * sqrt(max(0, 10 - p1)), u * 40 * sqrt(max(0, p2))
        return [(q1 - 2 * v - 2 * (p1 - p2)) * 3, (2 * v - q2 + 2 * (p1 - p2)) * 3,
                v, 1000 * (2 * (p1 - p2) - 0.02 * v) / 0.5]
    return Ode(f, [5, 5, 0, 0], lambda t, y, m: dict(p1=y[0], p2=y[1], x=y[2], v=y[3]), mode=0,
               breaks=[0.1, 0.6], action_at=lambda t, y, m: (y, m + 1))


@model("sump_pump", 1)
def _():
    f = lambda t, y, m: [(0.8 + 0.6 * sin(t / 100) - (3 if m[0] else 0)) / 300]
    return Ode(f, [0.2], lambda t, y, m: dict(h=y[0], run=m[0], starts=m[1]), mode=(False, 0),
               events=[(lambda t, y, m: y[0] - 0.6 if not m[0] else -1.0, 1, lambda t, y, m: (y, (True, m[1] + 1))),
                       (lambda t, y, m: y[0] - 0.1 if m[0] else 1.0, -1, lambda t, y, m: (y, (False, m[1])))])


@model("colebrook", 1)
def _():
    def value(t):
        v = 3 - 0.25 * t
        g = lambda x: x + 2 * log10(5e-5 / 0.37 + 2.51 * x / (v * 0.1 / 1e-6))  # x = 1/sqrt f
        x = root(g, 1, 20)
        return dict(f=1 / x**2, dh=50 / 0.1 / x**2 * v * v / (2 * G))
    return Closed("Root for 1/sqrt f by bisection", value)


@model("u_tube", 0)
def _():
    f = lambda t, y, m: [y[1], -2 * G / 1.4 * y[0] - 0.4 * y[1] * abs(y[1])]
    return Ode(f, [0.3, 0], lambda t, y, m: dict(h=y[0], v=y[1]), max_step=0.1,
               events=[(lambda t, y, m: y[1], 0, None)])


@model("leaking_barrel", 1)
def _():
    def value(t):
        # above: t as an integral over h; with h = 0.5 + u^2 it is smooth. Below: sqrt h falls linearly
        way = lambda h: quad(lambda u: 0.6 * u / (2e-3 * sqrt(0.5 + u * u) + 4e-3 * u),
                             sqrt(h - 0.5), sqrt(0.5), epsabs=0, epsrel=1e-13)[0]
        t1 = way(0.5)
        if t >= t1:
            return dict(h=max(0.0, sqrt(0.5) - 1e-3 / 0.3 * (t - t1))**2)
        return dict(h=root(lambda h: way(h) - t, 0.5, 1))
    return Closed("Time as an integral over h while both holes run (QUADPACK, 13 digits); then sqrt h falls linearly", value)


@model("siphon", 1)
def _():
    def value(t):
        # filling: h = h0 + 0.05 t; emptying: with r = sqrt h, 2 r r' = 0.05 - 0.3 r
        def way(a, b):  # from r = a down to b
            F = lambda r: -2 / 0.3 * r - 2 * 0.05 / 0.09 * log(0.3 * r - 0.05)
            return F(b) - F(a)
        now, h, flows = 0.0, 0.0, False
        while True:
            d = way(1.0, sqrt(0.2)) if flows else (1 - h) / 0.05
            if now + d > t:
                s = t - now
                h = root(lambda r: way(1.0, r) - s, sqrt(0.2), 1)**2 if flows else h + 0.05 * s
                return dict(h=h, flows=flows)
            now, h, flows = now + d, 0.2 if flows else 1.0, not flows
    return Closed("Lines while it fills; t = F(sqrt h) with a logarithm while it empties", value)


@model("accumulator", 1)
def _():
    p = lambda V: 60 * (2 / V)**1.3
    f = lambda t, y, m: [0.012 * sqrt(p(y[0])) - (0.4 * sin(10 * t) if m % 2 == 0 else 0)]
    return Ode(f, [1.5], lambda t, y, m: dict(Vgas=y[0], p=p(y[0])), mode=0,
               breaks=[k * pi / 10 for k in range(1, 16)], action_at=lambda t, y, m: (y, m + 1))


@model("newton_function", 1)
def _():
    depth = lambda b: root(lambda y: y**3 + 0.5 * y * y - b, 0, 3)
    flow = lambda t: 2 + sin(t)
    f = lambda t, y, m: [flow(t) * depth(flow(t)**2 / 9.81)]
    return Ode(f, [0], lambda t, y, m: dict(V=y[0], y=depth(flow(t)**2 / 9.81)))


@model("leaking_bucket", 0, at=(155, 312, 497))
def _():
    def value(t):
        V, now, n = 0.0, 0.0, 0
        while True:
            end = min(1 + 0.7 * n, t)
            V = max(0.0, sqrt(V) - 0.025 * (end - now))**2
            now = end
            if now >= t:
                return dict(V=V, drops=n)
            V, n = V + 0.25, n + 1
    return Closed("sqrt V falls linearly between drops", value)
