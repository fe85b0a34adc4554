"""Living things."""

from math import exp, expm1, log

import numpy as np
from scipy.linalg import expm

from codes import Closed, Ode, model


@model("lotka_volterra", 0)
def _():
    f = lambda t, y, m: [1.1 * y[0] - 0.4 * y[0] * y[1], -0.4 * y[1] + 0.1 * y[0] * y[1]]
    return Ode(f, [10, 5], lambda t, y, m: dict(hares=y[0], lynxes=y[1]))


@model("sir", 1)
def _():
    f = lambda t, y, m: [-0.4 * y[0] * y[1] / 1e5, 0.4 * y[0] * y[1] / 1e5 - 0.1 * y[1]]
    return Ode(f, [99990, 10], lambda t, y, m: dict(S=y[0], I=y[1], R=1e5 - y[0] - y[1]))


@model("seir_lockdown", 1)
def _():
    def f(t, y, m):
        S, E, I = y
        b = 0.075 if m[0] else 0.5
        return [-b * S * I, b * S * I - 0.2 * E, 0.2 * E - 0.1 * I]
    return Ode(f, [0.999, 0.001, 0], lambda t, y, m: dict(S=y[0], E=y[1], I=y[2], R=1 - sum(y), count=m[1]),
               mode=(False, 0), events=[
                   (lambda t, y, m: y[2] - 0.05 if not m[0] else -1.0, 1, lambda t, y, m: (y, (True, m[1] + 1))),
                   (lambda t, y, m: y[2] - 0.02 if m[0] else 1.0, -1, lambda t, y, m: (y, (False, m[1])))])


@model("chemostat", 1)
def _():
    def f(t, y, m):
        mu = 0.5 * y[1] / (0.2 + y[1])
        return [(mu - 0.3) * y[0], 0.3 * (10 - y[1]) - mu * y[0] / 0.4]
    return Ode(f, [0.05, 10], lambda t, y, m: dict(X=y[0], S=y[1]))


@model("fitzhugh_nagumo", 0)
def _():
    f = lambda t, y, m: [y[0] - y[0]**3 / 3 - y[1] + 0.5, (y[0] + 0.7 - 0.8 * y[1]) / 12.5]
    return Ode(f, [-1, -0.5], lambda t, y, m: dict(v=y[0], w=y[1]))


@model("hodgkin_huxley", 1)
def _():
    rate = lambda x: 1 + x / 2 if abs(x) < 1e-7 else -x / expm1(-x)

    def f(t, y, mode):
        V, m, h, n = y
        I = (15 if mode == 1 else 0) - 120 * m**3 * h * (V - 50) - 36 * n**4 * (V + 77) - 0.3 * (V + 54.4)
        return [I, rate((V + 40) / 10) * (1 - m) - 4 * exp(-(V + 65) / 18) * m,
                0.07 * exp(-(V + 65) / 20) * (1 - h) - h / (1 + exp(-(V + 35) / 10)),
                0.1 * rate((V + 55) / 10) * (1 - n) - 0.125 * exp(-(V + 65) / 80) * n]
    return Ode(f, [-65, 0.0529, 0.5961, 0.3177], lambda t, y, m: dict(V=y[0], m=y[1], h=y[2], n=y[3]),
               mode=0, breaks=[2, 3], action_at=lambda t, y, m: (y, m + 1))


@model("drug_doses", 1)
def _():
    def value(t):
        gut = blood = 0.0
        for k in range(int(t // 8) + 1):
            s = t - 8 * k
            gut += 500 * exp(-1.2 * s)
            blood += 500 * 1.2 / (1.2 - 0.15) * (exp(-0.15 * s) - exp(-1.2 * s))
        return dict(gut=gut, blood=blood, c=blood / 40)
    return Closed("Sum over the doses: gut = exp(-ka s), blood = ka/(ka - ke) (exp(-ke s) - exp(-ka s))", value)


@model("infusion", 1)
def _():
    A = np.array([[-1.3, 0.5], [0.9, -0.5]])
    b = np.array([100.0, 0])
    rest = -np.linalg.solve(A, b)

    def value(t):
        z = rest + expm(A * min(t, 1)) @ -rest
        if t > 1:
            z = expm(A * (t - 1)) @ z
        return dict(A1=z[0], A2=z[1], c=z[0] / 12)
    return Closed("Matrix exponentials during and after the infusion", value)


@model("glycolysis", 0)
def _():
    f = lambda t, y, m: [-y[0] + 0.08 * y[1] + y[0]**2 * y[1], 0.6 - 0.08 * y[1] - y[0]**2 * y[1]]
    return Ode(f, [1, 1], lambda t, y, m: dict(adp=y[0], f6p=y[1]))


@model("fishery", 0)
def _():
    f = lambda t, y, m: [0.8 * y[0] * (1 - y[0] / 1000) - (250 if m else 0)]
    return Ode(f, [900], lambda t, y, m: dict(fish=y[0], allowed=m), mode=True, events=[
        (lambda t, y, m: y[0] - 300 if m else 1.0, -1, lambda t, y, m: (y, False)),
        (lambda t, y, m: y[0] - 700 if not m else -1.0, 1, lambda t, y, m: (y, True))])


@model("toggle_switch", 1)
def _():
    f = lambda t, y, m: [4 / (1 + y[1]**2) - y[0] * (6 if m == 1 else 1), 4 / (1 + y[0]**2) - y[1]]
    return Ode(f, [3, 0.1], lambda t, y, m: dict(u=y[0], v=y[1]), mode=0, breaks=[10, 20],
               action_at=lambda t, y, m: (y, m + 1))


@model("repressilator", 0)
def _():
    def f(t, y, m):
        M, p = y[:3], y[3:]
        return np.concatenate([20 / (1 + np.roll(p, 1)**2) + 0.03 - M, 2 * (M - p)])
    return Ode(f, [1, 0.5, 0, 0, 0, 0], lambda t, y, m: {"m[1]": y[0], "p[2]": y[4], "p[3]": y[5]})


@model("glucose", 1)
def _():
    def f(t, y, m):
        meal = 8 * exp(-0.05 * (t - 10)) if m else 0
        return [-0.03 * (y[0] - 90) - y[1] * y[0] + meal, -0.02 * y[1] + 1.3e-5 * (y[2] - 7),
                4e-3 * max(0.0, y[0] - 100) * 5 - 0.14 * (y[2] - 7)]
    return Ode(f, [90, 0, 7], lambda t, y, m: dict(G=y[0], X=y[1], I=y[2]), mode=False, breaks=[10],
               action_at=lambda t, y, m: (y, True), max_step=5, events=[(lambda t, y, m: y[0] - 100, 0, None)])


@model("gompertz", 0)
def _():
    def value(t):
        x, now = log(1e-3), 0.0
        for end in (10, 20, 1e9):
            x *= exp(-0.1 * (min(end, t) - now))
            if t <= end:
                return dict(cells=1e9 * exp(x))
            x, now = x + log(0.2), end
    return Closed("log(cells/K) decays as exp(-a t), and falls by log 5 at a treatment", value)


@model("predator_holling", 0)
def _():
    f = lambda t, y, m: [y[0] * (1 - y[0]) - 2 * y[0] * y[1] / (0.5 + y[0]),
                         1.2 * y[0] * y[1] / (0.5 + y[0]) - 0.4 * y[1]]
    return Ode(f, [0.5, 0.3], lambda t, y, m: dict(x=y[0], y=y[1]))


@model("salmon_years", 0, at=(155, 310, 500))
def _():
    L = np.array([[0, 1.5, 2.5], [0.5, 0, 0], [0, 0.6, 0]])

    def value(t):
        n = exp(-0.1 * t) * np.linalg.matrix_power(L, int(t)) @ [100, 50, 20]
        return {f"n[{k + 1}]": n[k] for k in range(3)}
    return Closed("exp(-0.1 t) L^k n(0) with Leslie's matrix L after k years", value)


@model("competition", 0)
def _():
    A, r = np.array([[1, 0.6, 0.4], [0.5, 1, 0.9], [0.8, 0.3, 1]]), np.array([1, 0.7, 1.3])
    f = lambda t, y, m: r * y * (1 - A @ y)
    return Ode(f, [0.1, 0.2, 0.05], lambda t, y, m: {f"N[{k + 1}]": y[k] for k in range(3)})


@model("izhikevich", 0)
def _():
    f = lambda t, y, m: [0.04 * y[0]**2 + 5 * y[0] + 150 - y[1], 0.02 * (0.2 * y[0] - y[1])]
    return Ode(f, [-65, -13], lambda t, y, m: dict(v=y[0], u=y[1], spikes=m), mode=0,
               events=[(lambda t, y, m: y[0] - 30, 1, lambda t, y, m: ([-65, y[1] + 8], m + 1))])


@model("heart_beat", 1)
def _():
    def f(t, y, m):
        k, ejects = m
        Q = 400 * np.sin(3.14159265358979 * (t - 0.8 * k) / 0.3)**2 if ejects else 0.0
        return [(Q - y[0] / 1.1) / 1.3]
    breaks = sorted([0.8 * k for k in range(1, 8)] + [0.8 * k + 0.3 for k in range(8)])
    return Ode(f, [80], lambda t, y, m: dict(p=y[0]), mode=(0, True), breaks=breaks,
               action_at=lambda t, y, m: (y, (m[0] + (not m[1]), not m[1])))
