"""Heat."""

from math import cos, erf, exp, log, pi, sin, sqrt

import numpy as np
from scipy.linalg import expm

from codes import Closed, Ode, model, root


@model("coffee", 0)
def _():
    T5 = 0.85 * (22 + 63 * exp(-0.3)) + 0.9
    return Closed("Exponentials before and after the milk", lambda t: dict(
        T=22 + 63 * exp(-0.06 * t) if t <= 5 else 22 + (T5 - 22) * exp(-0.06 * (t - 5))))


@model("wall_layers", 1)
def _():
    k, C = [25, 0.4, 0.5, 8], [300e3, 5e3, 30e3]
    A, b = np.zeros((3, 3)), np.zeros(3)
    for j in range(3):
        A[j, j] = -(k[j] + k[j + 1]) / C[j]
        if j:
            A[j, j - 1] = k[j] / C[j]
        if j < 2:
            A[j, j + 1] = k[j + 1] / C[j]
    b[0], b[2] = k[0] * -5 / C[0], k[3] * 21 / C[2]
    rest = -np.linalg.solve(A, b)

    def value(t):
        T = rest + expm(A * t) @ (15 - rest)
        return {"T[1]": T[0], "T[2]": T[1], "T[3]": T[2], "q[4]": 8 * (T[2] - 21)}
    return Closed("Linear: T = rest + exp(A t) (15 - rest)", value)


@model("room_thermostat", 0, at=(150, 310, 497))
def _():
    def value(t):
        now, T, on, used = 0.0, 17.0, True, 0.0
        while True:
            rest, edge = (33, 21) if on else (3, 19)
            h = 4 * log((rest - T) / (rest - edge))
            d = min(h, t - now)
            used += d if on else 0
            if now + h > t:
                return dict(T=rest + (T - rest) * exp(-d / 4), used=used, on=on)
            now, T, on = now + h, edge, not on
    return Closed("Exponentials between 19 and 21 degrees", value)


@model("radiating_ball", 1)
def _():
    f = lambda t, y, m: [-(0.8 * 5.67e-8 * 0.03 * (y[0]**4 - 293**4) + 12 * 0.03 * (y[0] - 293)) / 2000]
    return Ode(f, [1200], lambda t, y, m: dict(T=y[0]))


@model("heat_exchanger", 1)
def _():
    n, A, b = 6, np.zeros((12, 12)), np.zeros(12)
    for i in range(n):
        A[i, i] = -(0.5 + 0.2) / 5
        A[i, n + i] = 0.2 / 5
        A[n + i, n + i] = -(0.8 + 0.2) / 5
        A[n + i, i] = 0.2 / 5
        if i:
            A[i, i - 1] = 0.5 / 5
        else:
            b[i] = 0.5 * 90 / 5
        if i < n - 1:
            A[n + i, n + i + 1] = 0.8 / 5
        else:
            b[n + i] = 0.8 * 15 / 5
    rest = -np.linalg.solve(A, b)

    def value(t):
        T = rest + expm(A * t) @ (20 - rest)
        return {"Th[1]": T[0], "Th[6]": T[5], "Tc[1]": T[6], "Tc[6]": T[11]}
    return Closed("Linear: T = rest + exp(A t) (20 - rest)", value)


@model("melting_ice", 1)
def _():
    def value(t):
        # frozen: 1050 T' = 340 - 2 T; melting: H' = 340; liquid: 2095 T' = 340 - 2 T
        t1 = 1050 / 2 * log((170 + 20) / 170)
        t2 = t1 + 167e3 / 340
        if t < t1:
            T = 170 - 190 * exp(-t * 2 / 1050)
            return dict(T=T, H=1050 * T)
        if t < t2:
            return dict(T=0.0, H=340 * (t - t1))
        T = 170 * (1 - exp(-(t - t2) * 2 / 2095))
        return dict(T=T, H=167e3 + 2095 * T)
    return Closed("Exponentials below and above 0 degrees, a line while it melts", value)


@model("day_and_night", 1)
def _():
    Tout = lambda t: 5 + 6 * cos(2 * pi * (t - 15) / 24)

    def f(t, y, m):
        P = min(4.0, max(0.0, 2 * (20 - y[0])))
        return [(P - 0.5 * (y[0] - y[1]) - 0.05 * (y[0] - Tout(t))) / 1.5,
                (0.5 * (y[0] - y[1]) - 0.12 * (y[1] - Tout(t))) / 20]
    return Ode(f, [18, 12], lambda t, y, m: dict(T=y[0], Tw=y[1]), max_step=0.5,
               events=[(lambda t, y, m: y[0] - 18, 0, None), (lambda t, y, m: y[0] - 20, 0, None)])


@model("cooling_fin", 1)
def _():
    # T[k] - 20 = gain[k] (base - 20)
    A, b = np.zeros((10, 10)), np.zeros(10)
    for i in range(10):
        A[i, i] = -4.05 if i < 9 else -2.05
        if i:
            A[i, i - 1] = 2
        if i < 9:
            A[i, i + 1] = 2
    b[0] = -2
    gain = np.linalg.solve(A, b)
    a = (2 * (1 - gain[0]) + 0.1) / 10

    def value(t):
        u = 6 / a * (1 - exp(-a * t))
        return {"base": 20 + u, "T[1]": 20 + gain[0] * u, "T[10]": 20 + gain[9] * u}
    return Closed("The fin follows its base by constant factors, whose equation is linear", value)


@model("light_bulb", 1)
def _():
    f = lambda t, y, m: [((325 * sin(314.159265358979 * t))**2 / (60 * (1 + 4.5e-3 * (y[0] - 293)))
                          - 8e-5 * 0.35 * 5.67e-8 * (y[0]**4 - 293**4)) / 0.02]
    return Ode(f, [293], lambda t, y, m: dict(T=y[0]))


@model("oven_timer", 0, at=(155, 312, 497))
def _():
    A = np.array([[-0.14, 0.02], [0.03, -0.03]])

    def value(t):
        y, now, on, k = np.array([20.0, 20.0]), 0.0, True, 0
        while True:
            end = 10 * k + 6 if on else 10 * (k + 1)
            rest = -np.linalg.solve(A, [(40 if on else 0) + 2.4, 0])
            y = rest + expm(A * (min(end, t) - now)) @ (y - rest)
            if end > t:
                return dict(T=y[0], Tfood=y[1], on=on)
            now, k, on = end, k + (not on), not on
    return Closed("Linear between switches: y = rest + exp(A t) (y0 - rest)", value)


@model("kettle", 1, at=(100, 360, 500))
def _():
    def value(t):
        boil = 4186 / 2.5 * log((800 + 5) / (800 - 80))
        off = boil + 30
        if t < boil:
            return dict(T=820 - 805 * exp(-t * 2.5 / 4186), m=1)
        rate = (2000 - 200) / 2.257e6
        m = 1 - rate * (min(t, off) - boil)
        return dict(T=100 if t < off else 20 + 80 * exp(-(t - off) * 2.5 / (4186 * m)), m=m)
    return Closed("An exponential to 100 degrees, 30 s of boiling, an exponential down", value)


@model("solar_collector", 1, at=(180, 310, 500))
def _():
    def f(t, y, m):
        pump, day = m
        s = sin(3.14159265358979 * (t - 6) / 12) if day else 0.0
        q = 0.4 * (y[0] - y[1]) if pump else 0.0
        return [(3 * s - 0.05 * (y[0] - 15) - q) / 0.05, (q - 0.003 * (y[1] - 20)) / 0.35]

    def flip(t, y, m):
        return y, (not m[0], m[1])
    return Ode(f, [15, 30], lambda t, y, m: dict(Tc=y[0], Tt=y[1], pump=m[0]), mode=(False, False), breaks=[6, 18],
               action_at=lambda t, y, m: (y, (m[0], not m[1])), max_step=0.05,
               events=[(lambda t, y, m: y[0] - y[1] - 8 if not m[0] else -1.0, 1, flip),
                       (lambda t, y, m: y[0] - y[1] - 2 if m[0] else 1.0, -1, flip)])


@model("lmtd", 1)
def _():
    def value(t):
        # d1/d2 = exp(kA (1/C2 - 1/C1) ..): with Q = C1 (T1in - T1out): d1 = D - Q/C2, d2 = D - Q/C1
        D = 60 + 10 * sin(0.5 * t)
        e = np.exp(-2.5 * (1 / 3 - 1 / 4))  # log(d1/d2) = -kA (1/C2 - 1/C1)
        Q = D * (1 - e) / (1 / 3 - e / 4)
        return dict(Q=Q, T1out=80 + 10 * sin(0.5 * t) - Q / 4, T2out=20 + Q / 3)
    return Closed("Q = D (1 - e)/(1/C2 - e/C1), D = T1in - 20, e = exp(-kA (1/C2 - 1/C1))", value)


@model("two_time_sensor", 1)
def _():
    def T(t):
        s = max(0.0, t - 2)
        return 80 - 60 * (8 * exp(-s / 8) - 0.5 * exp(-s / 0.5)) / 7.5
    hit = root(lambda t: T(t) - 60, 2, 40)
    return Closed("T = 80 - 60 (8 exp(-s/8) - 0.5 exp(-2 s))/7.5, s = t - 2", lambda t: dict(
        T=T(t), Tube=80 - 60 * exp(-max(0.0, t - 2) / 8), alarm=t > hit, when60=hit if t > hit else -1))


@model("laser_pulse", 1)
def _():
    def value(t):
        # T - 20 = integral of P(s) exp(-0.1 (t - s)): a Gaussian, shifted by 0.1 0.02^2/2
        c = 7 + 0.1 * 0.02**2 / 2
        whole = 5000 * 0.02 * sqrt(pi) / 2 * exp(0.1**2 * 0.02**2 / 4) * exp(-0.1 * (t - 7))
        return dict(T=20 + whole * (erf((t - c) / 0.02) + erf(c / 0.02)))
    return Closed("The convolution of a Gaussian with an exponential, by erf", value)


@model("thermal_explosion", 1, at=(100, 310, 500))
def _():
    def f(t, y, m):
        r = 2e5 * exp(-6300 / y[0]) * y[1]
        return [800 * r - 0.01 * (y[0] - 300), -r]
    return Ode(f, [300, 1], lambda t, y, m: dict(T=y[0]), stiff=True)


@model("district_heating", 1)
def _():
    def value(t):
        a = 0.8 / 30
        T = 25 + (10 - 25) * exp(-a * min(t, 15))
        return dict(T=T if t < 15 else 50 + (T - 50) * exp(-a * (t - 15)))
    return Closed("Exponentials before and after t = 15, when the hot water arrives", value)
