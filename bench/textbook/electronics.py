"""Circuits."""

from math import atan2, cos, exp, expm1, floor, log, pi, sin, sqrt, tanh

import numpy as np
from scipy.linalg import expm

from codes import Closed, Ode, junction, model, newton, root


@model("rc_charge", 1)
def _():
    return Closed("v = V0 (1 - exp(-t/(R C)))", lambda t: dict(
        v=-5 * expm1(-t / 0.47), i=5 / 10e3 * exp(-t / 0.47)))


@model("rlc_step", 1)
def _():
    a, w = 20 / (2 * 10e-3), sqrt(1 / (10e-3 * 1e-6) - 1000.0**2)
    return Closed("Damped oscillation, a = R/(2 L), w^2 = 1/(L C) - a^2: iL = V/(w L) exp(-a t) sin w t, "
                  "vC = V (1 - exp(-a t) (cos w t + a/w sin w t))", lambda t: dict(
                      iL=12 / (w * 10e-3) * exp(-a * t) * sin(w * t),
                      vC=12 * (1 - exp(-a * t) * (cos(w * t) + a / w * sin(w * t)))))


@model("rlc_ac", 1)
def _():
    f = lambda t, y, m: [(0.01 * sin(800 * pi * t) - y[0] / 1e3 - y[1]) / 1e-6, y[0] / 0.1]
    return Ode(f, [0, 0], lambda t, y, m: dict(u=y[0], iL=y[1]))


@model("diode_halfwave", 1)
def _():
    def value(t):
        v = junction(10 * sin(2 * 3.14159265358979 * 50 * t), 1000, 1e-12, 0.026)
        return dict(vd=v, vout=1000 * 1e-12 * expm1(v / 0.026))
    return Closed("Root of vd + R Is (exp(vd/Vt) - 1) = vs by Newton's method from above, "
                  "which is monotone", value)


@model("diode_smoothing", 1)
def _():
    d = lambda t, v: junction(10 * sin(314.159265358979 * t) - v, 1, 1e-9, 0.026)
    f = lambda t, y, m: [(1e-9 * expm1(d(t, y[0]) / 0.026) - y[0] / 1000) / 100e-6]
    return Ode(f, [0], lambda t, y, m: dict(vc=y[0], vd=d(t, y[0])), stiff=True, max_step=5e-4)


def bridge_current(u):
    return 1e-9 * expm1(u / 0.025)


@model("diode_bridge", 1)
def _():
    def load(t, v):
        s = 12 * sin(314.159265358979 * t)
        return bridge_current((s - v) / 2) + bridge_current((-s - v) / 2)
    f = lambda t, y, m: [(load(t, y[0]) - y[0] / 500) / 47e-6]
    return Ode(f, [0], lambda t, y, m: dict(v=y[0]), "By symmetry va + vb = v: one equation remains",
               stiff=True, max_step=2e-4)


@model("diode_bridge_resistive", 1)
def _():
    def value(t):
        s = 12 * sin(314.159265358979 * t)
        g = lambda v: v / 500 - bridge_current((s - v) / 2) - bridge_current((-s - v) / 2)
        v = root(g, -1e-3, 13)
        return dict(v=v, va=(v + s) / 2)
    return Closed("By symmetry va + vb = v; root of one equation by bisection", value)


@model("ideal_rectifier", 1)
def _():
    w = 100 * 3.14159265358979
    drop = lambda t, y, m: 20 * sin(w * t) - y[0]
    f = lambda t, y, m: [((drop(t, y, m) / 0.5 if m else 0) - y[0] / 100) / 1e-3]
    flip = lambda t, y, m: (y, not m)
    return Ode(f, [0], lambda t, y, m: dict(vc=y[0], id=drop(t, y, m) / 0.5 if m else 0.0),
               mode=True, events=[(drop, 0, flip)], max_step=1e-3)


@model("diode_clipper", 1)
def _():
    def value(t):
        s = 5 * sin(2 * 3.14159265358979 * t) + sin(6 * 3.14159265358979 * t)
        q = 1.75 * 0.0258
        g = lambda v: 2.2 * 2.5e-6 * (expm1(v / q) - expm1(-v / q)) + v - s
        v = root(g, -1.5, 1.5)
        return dict(vout=v, i=(s - v) / 2.2)
    return Closed("Root of R i(vout) + vout = vin by bisection", value, )


@model("diode_clamper", 1)
def _():
    def vo(t, vc):
        s = 5 * sin(2 * 3.14159265358979 * 1000 * t) - vc
        # s = 100 (v/1e5 - Is expm1(-v/0.04)) + v, with v = -u: a diode at -s
        f = lambda u: 100 * (u / 1e5 + 1e-9 * expm1(u / 0.04)) + u + s
        df = lambda u: 1 + 1e-3 + 1e-7 / 0.04 * exp(u / 0.04)
        u = -s if s > 0 else min(-s, 0.04 * log(1 - s / 1e-7))
        return -newton(f, u, df)
    f = lambda t, y, m: [(vo(t, y[0]) / 100e3 - 1e-9 * expm1(-vo(t, y[0]) / 0.04)) / 1e-6]
    return Ode(f, [0], lambda t, y, m: dict(vc=y[0], vo=vo(t, y[0])), stiff=True, max_step=2e-5)


@model("peak_detector", 1)
def _():
    vin = lambda t: 3 * exp(-2 * t) * sin(20 * t) + 2 * t
    f = lambda t, y, m: [(1e-12 * expm1((vin(t) - y[0]) / 0.0259) - y[0] / 470e3) / 10e-6]
    return Ode(f, [0], lambda t, y, m: dict(vout=y[0]), stiff=True, max_step=0.02)


@model("zener", 1, at=(110, 310, 488))
def _():
    def value(t):
        vin = 12 + sin(2 * 3.14159265358979 * 100 * t)
        g = 1 / 500 if t > 0.025 else 1 / 2000
        v = root(lambda v: (vin - v) / 220 - 0.005 * exp((v - 5.1) / 0.05) - v * g, 0, 6)
        return dict(vout=v, iz=0.005 * exp((v - 5.1) / 0.05))
    return Closed("Root of one equation by bisection", value)


@model("voltage_doubler", 1)
def _():
    def vx(t, y):
        s = 10 * sin(2 * 3.14159265358979 * 50 * t) - y[0]
        g = lambda v: (s - v) / 10 + 1e-9 * expm1(-v / 0.045) - 1e-9 * expm1((v - y[1]) / 0.045)
        return root(g, min(s, 0) - 1 if s > -1 else max(s - 1, -2), max(s, 0) + 1e-3)

    def f(t, y, m):
        v = vx(t, y)
        s = 10 * sin(2 * 3.14159265358979 * 50 * t) - y[0]
        return [(s - v) / 10 / 10e-6, (1e-9 * expm1((v - y[1]) / 0.045) - y[1] / 20e3) / 10e-6]
    return Ode(f, [0, 0], lambda t, y, m: dict(v1=y[0], v2=y[1], vx=vx(t, y)), stiff=True,
               max_step=1e-3, rtol=1e-9)


@model("pwm_dimmer", 1, at=(160, 310, 499))
def _():
    def value(t):
        i = light = now = 0.0
        T = 1e-3
        k = 0
        while now < t:  # on from k T until saw = duty: (t - k T)/T = 0.2 + 30 t
            switch = (k * T / T + 0.2) / (1 / T - 30)
            for end, target in ((min(switch, (k + 1) * T), 20), ((k + 1) * T, 0)):
                end = min(end, t)
                if end > now:
                    h = end - now
                    light += 1000 * (target * h + (i - target) * 2e-4 * -expm1(-h / 2e-4))
                    i = target + (i - target) * exp(-h / 2e-4)
                    now = end
            k += 1
        return dict(i=i, light=light)
    return Closed("Exponentials by pieces; period k is on until (k + 0.2)/(1000 - 30)", value)


@model("opamp_integrator", 1)
def _():
    return Closed("vout = -1/(R C) (0.5 (1 - cos 1000 t)/1000 + 0.1 t)", lambda t: dict(
        vout=-1000 * (0.5 * (1 - cos(1000 * t)) / 1000 + 0.1 * t),
        i=(0.5 * sin(1000 * t) + 0.1) / 10e3))


@model("opamp_differentiator", 2)
def _():
    return Closed("vout = -R C vin'", lambda t: dict(
        vin=2 * sin(500 * t) + cos(3000 * t) * exp(-100 * t),
        vout=-1e-3 * (1000 * cos(500 * t) - exp(-100 * t) * (3000 * sin(3000 * t) + 100 * cos(3000 * t)))))


@model("sallen_key", 1)
def _():
    def f(t, y, m):
        vin = 1 if m else -1
        va = y[0] + y[1]
        i2 = (va - y[1]) / 10e3
        return [((vin - va) / 10e3 - i2) / 22e-9, i2 / 10e-9]
    return Ode(f, [0, 0], lambda t, y, m: dict(u1=y[0], vout=y[1]), mode=True, breaks=[1e-3],
               action_at=lambda t, y, m: (y, False))


@model("summing_amplifier", 1)
def _():
    ideal = lambda t: -100 * (sin(t) / 10 + 0.8 * cos(1.7 * t) / 22 + 1 / 47)
    clip = lambda t: max(-12, min(12, ideal(t)))
    f = lambda t, y, m: [clip(t)**2]
    return Ode(f, [0], lambda t, y, m: dict(heard=y[0], vout=clip(t)), max_step=0.1,
               events=[(lambda t, y, m: ideal(t) - 12, 0, None), (lambda t, y, m: ideal(t) + 12, 0, None)])


@model("opamp_multivibrator", 1, at=(150, 310, 485))
def _():
    def value(t):
        now, v, high = 0.0, 0.0, True
        while True:
            target, edge = (10, 5) if high else (-10, -5)
            h = 1e-3 * log((target - v) / (target - edge))
            if now + h > t:
                v = target + (v - target) * exp(-(t - now) / 1e-3)
                return dict(vc=v, high=high)
            now, v, high = now + h, edge, not high
    return Closed("vc tends to Vsat or -Vsat as exp(-t/(R C)) between -beta Vsat and beta Vsat", value)


@model("timer555", 0)
def _():
    def value(t):
        now, v, low, n = 0.0, 0.0, False, 0
        while True:
            target, tau, edge = (0, 1e-3, 3) if low else (9, 14.7e3 * 100e-9, 6)
            h = tau * log((target - v) / (target - edge))
            if now + h > t:
                return dict(vc=target + (v - target) * exp(-(t - now) / tau), pulses=n)
            now, v, low = now + h, edge, not low
            n += low
    return Closed("Exponentials between Vcc/3 and 2 Vcc/3, with the time constants (RA + RB) C and RB C", value)


@model("wien_bridge", 1)
def _():
    def f(t, y, m):
        i = (4 * tanh(3.2 * y[0] / 4) - y[0] - y[1]) / 16e3
        return [(i - y[0] / 16e3) / 10e-9, i / 10e-9]
    return Ode(f, [0.01, 0], lambda t, y, m: dict(v1=y[0], v2=y[1], vo=4 * tanh(3.2 * y[0] / 4)))


def transistor(vb, rb_current):
    """Voltages and currents of the amplifier, from vbe by bisection at a given voltage of the base."""
    Is, Vt, bf, br = 1e-14, 0.0259, 200, 2

    def rest(ve):
        icc = Is * expm1((vb - ve) / Vt)

        def collector(vc):
            iec = Is * expm1((vb - vc) / Vt)
            return 12 - vc - 2.2e3 * (icc - 1.5 * iec)
        vc = root(collector, vb - 0.9, 12.001)
        iec = Is * expm1((vb - vc) / Vt)
        ic, ib = icc - 1.5 * iec, icc / bf + iec / br
        return ic + ib - ve / 560, ib, vc
    ve = root(lambda e: rest(e)[0], vb - 0.82, vb)
    return ve, rest(ve)


@model("bjt_amplifier", 1)
def _():
    def base(t, u):
        def kcl(vb):
            ib = transistor(vb, 0)[1][1]
            ig = (0.5 * sin(2 * 3.14159265358979 * 1000 * t) - u - vb) / 1e3
            return (12 - vb) / 47e3 + ig - vb / 10e3 - ib
        return root(kcl, 0.8, 3.5)

    def at_rest():
        g = lambda vb: (12 - vb) / 47e3 - vb / 10e3 - transistor(vb, 0)[1][1]
        return -root(g, 0.8, 3.5)
    f = lambda t, y, m: [(0.5 * sin(2 * 3.14159265358979 * 1000 * t) - y[0] - base(t, y[0])) / 1e3 / 1e-6]

    def out(t, y, m):
        vb = base(t, y[0])
        ve, (_, ib, vc) = transistor(vb, 0)
        return dict(u=y[0], vb=vb, ve=ve, vc=vc)
    return Ode(f, [at_rest()], out, "The circuit of the transistor by nested bisections")


@model("emitter_follower", 1)
def _():
    def value(t):
        vin = 5 + 3 * sin(6.28318530717959 * t)
        g = lambda ib: vin - 10e3 * ib - 0.025 * log(ib * 100 / 1e-15 + 1) - 101e3 * ib
        ib = root(g, 0, 1e-3)
        return dict(vout=101e3 * ib, vbe=0.025 * log(ib * 100 / 1e-15 + 1))
    return Closed("Root of one equation for the base current by bisection", value)


@model("mosfet_amplifier", 1)
def _():
    def value(t):
        u = 1 + 1.5 * sin(2 * 3.14159265358979 * t)
        if u < 0:
            return dict(vds=10.0, id=0.0)
        vds = 10 - 3e3 * 1e-3 * u * u
        if vds < u:  # 10 - v = 6 (u v - v^2/2)
            b = 1 + 6 * u
            vds = (b - sqrt(b * b - 120)) / 6
        return dict(vds=vds, id=(10 - vds) / 3e3)
    return Closed("In the triode region 10 - v = 6 (u v - v^2/2) with u = vgs - Vth", value)


@model("cmos_inverter", 1, at=(32, 60, 290))
def _():
    def current(g, d, k):
        o = g - 1
        return 0 if o <= 0 else k * (o - d / 2) * d if d < o else k / 2 * o * o
    vin = lambda t, m: (0, 5 * (t - 2), 5, 0)[m]
    f = lambda t, y, m: [current(5 - vin(t, m), 5 - y[0], 0.4) - current(vin(t, m), y[0], 0.8)]
    kinks = [(lambda t, y, m: vin(t, m) - 1 - y[0], 0, None), (lambda t, y, m: 4 - vin(t, m) - 5 + y[0], 0, None),
             (lambda t, y, m: t - 2.2, 0, None), (lambda t, y, m: t - 2.8, 0, None)]
    return Ode(f, [5], lambda t, y, m: dict(vout=y[0]), mode=0, breaks=[2, 3, 20],
               action_at=lambda t, y, m: (y, m + 1), events=kinks)


@model("diode_or", 1, at=(100, 250, 400))
def _():
    def value(t):
        a, b = 5 if sin(3 * t) > 0 else 0, 5 if t > 2.5 else 0
        y = root(lambda y: y / 10e3 - 1e-12 * (expm1((a - y) / 0.025) + expm1((b - y) / 0.025)), -1, 5)
        return dict(y=y, high=y > 2.5)
    return Closed("Root of one equation by bisection", value)


@model("diode_and", 1, at=(100, 250, 400))
def _():
    def value(t):
        a, b = 5 * (0.5 + 0.5 * sin(t)), 5 if t > 3 else 0.2
        g = lambda y: (5 - y) / 4.7e3 - 1e-12 * (expm1((y - a) / 0.025) + expm1((y - b) / 0.025))
        return dict(y=root(g, 0, 5.01))
    return Closed("Root of one equation by bisection", value)


@model("buck", 1, at=(151, 311, 500))
def _():
    f = lambda t, y, m: [((24 if m % 2 == 0 else -0.7) - y[1]) / 220e-6, (y[0] - y[1] / 5) / 47e-6]
    return Ode(f, [0, 0], lambda t, y, m: dict(iL=y[0], vC=y[1]), mode=0,
               breaks=[25e-6 * k for k in range(1, 41)], action_at=lambda t, y, m: (y, m + 1))


@model("boost", 0, at=(151, 311, 500))
def _():
    f = lambda t, y, m: [(12 - (y[1] if m else 0)) / 150e-6, ((y[0] if m else 0) - y[1] / 40) / 100e-6]
    breaks = sorted([20e-6 * k for k in range(1, 26)] + [20e-6 * k + 12e-6 for k in range(26)])
    return Ode(f, [0.75, 12], lambda t, y, m: dict(iL=y[0], vC=y[1]), mode=False,
               breaks=breaks, action_at=lambda t, y, m: (y, not m))


@model("buck_discontinuous", 0, at=(160, 310, 500))
def _():
    def value(t):
        k, s = divmod(t, 1e-4)
        up = 6e3 * 0.3e-4  # peak
        down = up / 4e3
        whole = up * (0.3e-4 + down) / 2
        i = 6e3 * s if s < 0.3e-4 else max(0.0, up - 4e3 * (s - 0.3e-4))
        if s < 0.3e-4:
            q = 3e3 * s * s
        else:
            q = whole - (i * i / 4e3 / 2)
        return dict(i=i, q=k * whole + q)
    return Closed("Triangles of current", value)


@model("tunnel_diode", 1)
def _():
    f = lambda t, y, m: [-y[1] - 2 * (y[0]**3 / 3 - y[0]), y[0]]
    return Ode(f, [0.5, 0], lambda t, y, m: dict(u=y[0], i=y[1]))


@model("chua", 1)
def _():
    def f(t, y, m):
        h = -0.68 * y[0] + 0.5 * (-1.27 + 0.68) * (abs(y[0] + 1) - abs(y[0] - 1))
        return [10 * (y[1] - y[0] - h), y[0] - y[1] + y[2], -14.87 * y[1]]
    return Ode(f, [0.1, 0, 0], lambda t, y, m: dict(x=y[0], y=y[1], z=y[2]), max_step=0.05,
               events=[(lambda t, y, m: y[0] - 1, 0, None), (lambda t, y, m: y[0] + 1, 0, None)])


@model("capacitive_divider", 2)
def _():
    # (C1 + C2) v2' + v2/R = C1 v'
    a, w = 1 / (1e4 * 5e-6), 300.0
    k = 2e-6 / 5e-6 * 10 * w / (a * a + w * w)
    v2 = lambda t: k * (a * cos(w * t) + w * sin(w * t) - a * exp(-a * t))
    return Closed("(C1 + C2) v2' + v2/R = C1 v': v2 = k (a cos w t + w sin w t - a exp(-a t)), "
                  "a = 1/(R (C1 + C2)), k = 10 w C1/(C1 + C2)/(a^2 + w^2)", lambda t: dict(v2=v2(t),
                  v1=10 * sin(w * t) - v2(t)))


@model("inductive_cutset", 2)
def _():
    # (L1 + L2) i2' + (R1 + R2) i2 = R1 s + L1 s', s = 0.5 (1 - cos w t)
    w, a = 200.0, 30 / 0.4
    z = (10 + 0.1j * w) / 0.4 / (a + 1j * w) * 0.5
    c = 10 * 0.5 / 30

    def i2(t):
        free = -(c - z.real)
        return c - (z * complex(cos(w * t), sin(w * t))).real + free * exp(-a * t)
    return Closed("(L1 + L2) i2' + (R1 + R2) i2 = R1 s + L1 s' with s = 0.5 (1 - cos w t), by phasors",
                  lambda t: dict(i2=i2(t), i1=0.5 * (1 - cos(w * t)) - i2(t)))


@model("transformer", 1)
def _():
    L = np.linalg.inv(np.array([[0.5, 0.09], [0.09, 0.02]]))
    f = lambda t, y, m: L @ [325 * sin(100 * 3.14159265358979 * t) - 5 * y[0], -4.3 * y[1]]
    return Ode(f, [0, 0], lambda t, y, m: {"i[1]": y[0], "i[2]": y[1]})


@model("relay_flyback", 1)
def _():
    def u(y, closed):
        g = 10 if closed else 1e-6
        if closed:
            return root(lambda u: y - (12 - u) * g - 1e-10 * expm1(-u / 0.03), -1, 12.1)
        return root(lambda u: y - (12 - u) * g - 1e-10 * expm1(-u / 0.03), -2, 13 + max(0, -2e6 * y))
    f = lambda t, y, m: [(u(y[0], m) - 100 * y[0]) / 0.2]
    return Ode(f, [0.12], lambda t, y, m: dict(i=y[0], u=u(y[0], m)), mode=True, breaks=[5e-3],
               action_at=lambda t, y, m: (y, False))


@model("wheatstone", 1)
def _():
    def net(T):
        RT = 1000 * exp(3500 * (1 / T - 1 / 298.15))
        A = np.array([[1 / 1000 + 1 / 1200 + 1 / 5000, -1 / 5000],
                      [-1 / 5000, 1 / 1000 + 1 / RT + 1 / 5000]])
        va, vb = np.linalg.solve(A, [10 / 1000, 10 / 1000])
        return RT, va, vb

    def f(t, y, m):
        RT, va, vb = net(y[0])
        return [(vb * vb / RT - 2e-3 * (y[0] - 298.15)) / 0.05]

    def out(t, y, m):
        RT, va, vb = net(y[0])
        return dict(T=y[0], bridge=va - vb)
    return Ode(f, [298.15], out)


@model("rc_ladder", 1)
def _():
    A = np.diag([-2.0] * 4 + [-1.0]) + np.diag([1.0] * 4, 1) + np.diag([1.0] * 4, -1)
    step = lambda t: np.linalg.solve(A, (expm(A * t) - np.eye(5)) @ [1, 0, 0, 0, 0]) if t > 0 else np.zeros(5)

    def value(t):
        v = step(t - 1) - step(t - 4)
        return {f"v[{k + 1}]": v[k] for k in (0, 2, 4)}
    return Closed("Difference of two step responses A^-1 (exp(A t) - 1) b", value)


@model("adc", 1)
def _():
    def value(t):
        y, now, last, k, code = 0.0, 0.0, 0.0, 0, 0
        while True:
            end = min(t, 0.005 + 0.01 * k)
            y = last + (y - last) * exp(-(end - now) / 0.05)
            if end == t:
                return dict(y=y, code=code)
            now = end
            code = floor((2.5 + 2 * sin(7 * now)) / 5 * 256)
            last, k = code * 5 / 256, k + 1
    return Closed("Exponentials between samples; no sample lies near a step of the code", value)


@model("solar_cell", 1)
def _():
    q = 1.5 * 0.0257

    def i_of(t, v):
        s = 3 * (1 - 0.4 * sin(t / 2)**2)
        g = lambda i: s - 1e-9 * expm1((v + 0.02 * i) / q) - (v + 0.02 * i) / 50 - i
        return root(g, -10, 4)
    f = lambda t, y, m: [(i_of(t, y[0]) - y[0] / 0.5) / 50]
    return Ode(f, [0], lambda t, y, m: dict(v=y[0], i=i_of(t, y[0])))


@model("push_pull", 1)
def _():
    def value(t):
        vin = 2 * sin(2 * 3.14159265358979 * t)
        # d = vb - vout: vin = d + (Rg + RL (beta + 1)) (ib1 - ib2)
        ib = lambda d: 1e-13 / 50 * (expm1(d / 0.026) - expm1(-d / 0.026))
        d = root(lambda d: d + 6100 * ib(d) - vin, -1, 1)
        return dict(vout=5100 * ib(d), vb=5100 * ib(d) + d)
    return Closed("Root of one equation for vb - vout by bisection", value)


@model("dc_motor_pwm", 1)
def _():
    f = lambda t, y, m: [((24 if m % 2 == 0 else 0) - 1.2 * y[0] - 0.05 * y[1]) / 3e-3,
                         (0.05 * y[0] - 1e-4 * y[1]) / 2e-4]
    breaks = sorted([1e-3 * k for k in range(1, 51)] + [1e-3 * k + 0.4e-3 for k in range(50)])
    return Ode(f, [0, 0], lambda t, y, m: dict(i=y[0], w=y[1]), mode=0, breaks=breaks,
               action_at=lambda t, y, m: (y, m + 1))


@model("schmitt_trigger", 1)
def _():
    noisy = lambda t: sin(t) + 0.2 * sin(20 * t + 1)

    def value(t):
        now, q, n, high, step = 0.0, False, 0, 0.0, 1e-3
        while now < t:
            edge = -0.4 if q else 0.4
            end = min(now + step, t)
            g = lambda s: noisy(s) - edge
            if (g(end) > 0) != q:
                when = root(g, now, end)
                if q:
                    high += when - now
                else:
                    n += 1
                q, now = not q, when + 1e-9
                high += 1e-9 if q else 0
            else:
                high += end - now if q else 0
                now = end
        return dict(highTime=high, n=n, q=q)
    return Closed("Roots of noisy = 0.4 and -0.4 by bisection in turn", value)


@model("scr_dimmer", 1)
def _():
    w = 2 * 3.14159265358979 * 50
    f = lambda t, y, m: [(325 * abs(sin(w * t)) - 50 * y[0] - 1.2) / 0.05 if m else 0.0]
    breaks = sorted([0.01 * k for k in range(1, 6)] + [0.004 + 0.01 * k for k in range(6)])

    def fire(t, y, m):
        return y, m or round(t / 0.01 % 1, 6) == 0.4
    return Ode(f, [0], lambda t, y, m: dict(i=y[0], on=m), mode=False, breaks=breaks, action_at=fire,
               events=[(lambda t, y, m: y[0] if m else 1.0, -1, lambda t, y, m: ([0], False))])


@model("led_string", 1)
def _():
    def value(t):
        u = junction(12 * t / 3, 100 / 3, 1e-18, 0.05)
        return dict(u1=u, u3=u, i=1e-18 * expm1(u / 0.05))
    return Closed("All three are alike: root of u1 + R/3 Is (exp(u1/nVt) - 1) = u/3 by Newton's method", value)


@model("center_tap", 1)
def _():
    def half(s, v):  # current of one winding
        return 1e-6 * expm1(junction(s - v, 0.01, 1e-6, 0.04) / 0.04)

    def f(t, y, m):
        s = 9 * sin(2 * 3.14159265358979 * 50 * t / 1000)
        return [(half(s, y[0]) + half(-s, y[0]) - y[0] / 1.5) / 100]
    return Ode(f, [0], lambda t, y, m: dict(v=y[0]), stiff=True, max_step=0.5)


@model("current_mirror", 1)
def _():
    g = lambda v: 1e-15 * expm1(v / 0.0257)
    vbe = root(lambda v: 10 - v - 9.3e3 * g(v) * 1.02, 0, 1)

    def value(t):
        R = 1e3 + 1.2e3 * t
        vce = root(lambda v: 10 - v - R * (g(vbe) - g(vbe - v)), -0.1, 10)
        return dict(vbe=vbe, vce=vce, iout=(10 - vce) / R)
    return Closed("Roots for vbe and vce by bisection", value)


@model("log_amplifier", 1)
def _():
    return Closed("vout = -Vt log(1 + vin/(R Is))", lambda t: dict(
        vout=-0.026 * log(1 + 0.001 * exp(t) / (10e3 * 1e-13))))


@model("superdiode", 1)
def _():
    def value(t):
        vin = 0.2 * sin(2 * 3.14159265358979 * t)

        def g(vout):
            va = max(-10.0, min(10.0, 1e5 * (vin - vout)))
            x = (va - vout) / 0.026
            return vout / 10e3 - 1e-12 * (expm1(x) if x < 700 else 1e300)
        return dict(vout=root(g, -1e-7, 0.3))
    return Closed("Root of one equation by bisection", value)


@model("astable_bjt", 1)
def _():
    Is, Vt = 1e-14, 0.0259
    diode = lambda u: Is * expm1(min(u / Vt, 600))

    def f(t, y, m):
        u1, u2, b1, b2 = y
        c1, c2 = u1 + b2, u2 + b1
        f1, r1, f2, r2 = diode(b1), diode(b1 - c1), diode(b2), diode(b2 - c2)
        i1 = (5 - c1) / 1e3 - f1 + 2 * r1  # from the collector into its capacitor
        i2 = (5 - c2) / 1e3 - f2 + 2 * r2
        return [i1 / 1e-6, i2 / 1e-6, ((5 - b1) / 47e3 + i2 - f1 / 100 - r1) / 1e-9,
                ((5 - b2) / 47e3 + i1 - f2 / 100 - r2) / 1e-9]
    return Ode(f, [0, 0, 0.6, 0], lambda t, y, m: dict(u1=y[0], u2=y[1], vb1=y[2], vb2=y[3]), stiff=True)


@model("pll", 1)
def _():
    def f(t, y, m):
        e = sin((13 * t - 5 if m else 10.5 * t) - y[0])
        return [10 + y[1] + 4 * e, 8 * e]
    return Ode(f, [0, 0], lambda t, y, m: dict(phi=y[0], x=y[1]), mode=False, breaks=[2],
               action_at=lambda t, y, m: (y, True))


@model("dual_slope", 1)
def _():
    # whole period of the ripple: x = 0.4 0.02/RC = 0.8, back in 0.8 RC
    def value(t):
        x = 0.8 - (t - 0.02) / 0.01 if t > 0.02 else (0.4 * t + 0.05 * (1 - cos(100 * 3.14159265358979 * t)) / (100 * pi)) / 0.01
        return dict(x=max(0.0, x), reading=0.4 if t > 0.028 else 0.0, phase=1 + (t > 0.02) + (t > 0.028))
    return Closed("The ripple has a whole period in 20 ms; back to 0 after 8 ms", value)


@model("fuse", 1)
def _():
    def f(t, y, m):
        R = (0.1 if m[0] else 0.5) + (1000 if m[1] else 0)
        return [(10 - R * y[0]) / 1e-3, 0 if m[1] else max(0.0, y[0]**2 - 900)]
    return Ode(f, [20, 0], lambda t, y, m: dict(i=y[0], heat=y[1]), mode=(False, False), breaks=[0.02],
               action_at=lambda t, y, m: (y, (True, m[1])), max_step=1e-3, events=[
                   (lambda t, y, m: y[1] - 50 if not m[1] else -1.0, 1, lambda t, y, m: (y, (m[0], True))),
                   (lambda t, y, m: y[0] - 30, 0, None)])


@model("neon_lamp", 0)
def _():
    def value(t):
        now, v, lit, n = 0.0, 0.0, False, 0
        while True:
            G = 1e-6 + (1 / 5e3 if lit else 0)
            rest = (150e-6 + (50 / 5e3 if lit else 0)) / G
            edge = 60 if lit else 90
            h = 1e-6 / G * log((rest - v) / (rest - edge))
            if now + h > t:
                return dict(v=rest + (v - rest) * exp(-(t - now) * G / 1e-6), flashes=n)
            now, v, lit = now + h, edge, not lit
            n += lit
    return Closed("Exponentials between 60 and 90 V", value)


@model("sine_pwm", 1, at=(155, 313, 496))
def _():
    w = 2 * 3.14159265358979 * 50
    gap = lambda t: 0.8 * sin(w * t) - (4 * abs((1000 * t) % 1 - 0.5) - 1)

    def value(t):
        edges, n = [0.0], 40  # one change in each half period of the carrier
        for k in range(n):
            a, b = k * 5e-4, (k + 1) * 5e-4
            edges.append(root(gap, a + 1e-12, b - 1e-12))
        i, now = 0.0, 0.0
        for k in range(n + 1):
            end = min(t, edges[k + 1] if k < n else t)
            up = gap((now + end) / 2) > 0
            rest = (200 if up else -200) / 8
            i = rest + (i - rest) * exp(-(end - now) * 8 / 5e-3)
            now = end
            if now >= t:
                return dict(i=i)
    return Closed("Exponentials between the crossings, found by bisection", value)


@model("phasor", 1)
def _():
    def value(t):
        w = 2 * 3.14159265358979 * 1e5 * 10**t
        Z = complex(2, w * 1e-3 - 1 / (w * 1e-9))
        H = Z / (Z + 50)
        return dict(gain=20 * np.log10(abs(H)), phase=atan2(H.imag, H.real))
    return Closed("H = Z/(Z + R) in complex numbers", value)


@model("three_phase_bridge", 1)
def _():
    def value(t):
        u = np.array([50 * sin(2 * 3.14159265358979 * (50 * t - k / 3)) for k in range(3)])

        def ends(i):  # sum exp((u - p)/Vt) = i/Is + 3, and the like for n
            p = 0.05 * (np.logaddexp.reduce(u / 0.05) - log(i / 1e-9 + 3))
            n = -0.05 * (np.logaddexp.reduce(-u / 0.05) - log(i / 1e-9 + 3))
            return p, n
        i = root(lambda i: ends(i)[0] - ends(i)[1] - 20 * i, 0, 10)
        p, n = ends(i)
        return dict(p=p, n=n, i=i)
    return Closed("exp(-p/Vt) = (i/Is + 3)/sum exp(u_k/Vt), n likewise; root of p - n = R i by bisection", value)


@model("am_detector", 1)
def _():
    def i(t, v):
        u = 1.5 * (1 + 0.6 * sin(2 * 3.14159265358979 * 2e3 * t)) * sin(2 * 3.14159265358979 * 200e3 * t)
        return 1e-7 * expm1(junction(u - v, 500, 1e-7, 0.026) / 0.026)
    f = lambda t, y, m: [(i(t, y[0]) - y[0] / 10e3) / 2e-9]
    return Ode(f, [0], lambda t, y, m: dict(v=y[0]), stiff=True, max_step=2e-7)


@model("power_supply", 1)
def _():
    i = lambda t, v: 1e-9 * expm1(junction(24 * sin(2 * 3.14159265358979 * 50 * t) - v, 2, 1e-9, 0.05) / 0.05)
    f = lambda t, y, m: [(i(t, y[0]) - y[1]) / 470e-6, (y[0] - y[2]) / 0.05, (y[1] - y[2] / (50 if m else 100)) / 220e-6]
    return Ode(f, [0, 0, 0], lambda t, y, m: dict(v1=y[0], iL=y[1], v2=y[2]), mode=False, breaks=[0.25],
               action_at=lambda t, y, m: (y, True), max_step=1e-3, rtol=1e-9, stiff=True)


@model("latch", 1)
def _():
    inv = lambda u: 5 / (1 + (u / 2.2)**6)
    f = lambda t, y, m: [(inv(y[1]) - y[0] + (15 if m == 1 else 0)) / 2, (inv(y[0]) - y[1]) / 2]
    return Ode(f, [0.1, 4.9], lambda t, y, m: dict(q=y[0], nq=y[1]), mode=0, breaks=[20, 23],
               action_at=lambda t, y, m: (y, m + 1))


@model("ring_oscillator", 1)
def _():
    def f(t, y, m):
        return (5 - y) - 10 * 0.25 * np.maximum(0, np.roll(y, 1) - 1)**2 * np.tanh(y)
    kinks = [(lambda t, y, m, k=k: y[k] - 1, 0, None) for k in range(3)]
    return Ode(f, [0, 3, 5], lambda t, y, m: {f"v[{k + 1}]": y[k] for k in range(3)}, events=kinks, max_step=0.2)


@model("diode_self_heating", 1)
def _():
    q, k = 1.602e-19, 1.381e-23

    def v(T, i):
        Is = 1e-10 * (T / 300)**3 * exp(q * 1.12 / k * (1 / 300 - 1 / T))
        return 1.2 * k * T / q * np.log1p(i / Is)
    f = lambda t, y, m: [(v(y[0], m) * m - (y[0] - 300) / 60) / 0.05]
    return Ode(f, [300], lambda t, y, m: dict(T=y[0], v=v(y[0], m)), mode=1.0, breaks=[10],
               action_at=lambda t, y, m: (y, 0.2), stiff=True)


@model("transistor_switch", 1)
def _():
    Is, Vt = 1e-14, 0.026

    def collector(b):  # saturated: the base says iec, which says vc
        r = 2 * ((5 - b) / 1e3 - Is * expm1(b / Vt) / 150)
        return r, b - Vt * np.log1p(max(r / Is, -1 + 1e-16))

    def voltages(i, on):
        if not on:  # iec = -Is to 200 digits, and the diode has the current
            b = root(lambda b: -b / 1e3 - Is * expm1(b / Vt) / 150 + Is / 2, -1e-9, 1e-9)
            return b, 12 + 0.05 * np.log1p(max((i - Is * expm1(b / Vt) - 1.5 * Is) / 1e-9, -1 + 1e-12))

        def excess(b):
            r, c = collector(b)
            return Is * expm1(b / Vt) - 1.5 * r + 1e-9 * expm1((c - 12) / 0.05) - i
        b = root(excess, 0.3, root(lambda b: collector(b)[0] + Is, 0.3, 1))
        return b, collector(b)[1]
    f = lambda t, y, m: [(12 - voltages(y[0], m == 1)[1] - 120 * y[0]) / 0.1 if m in (1, 2) else 0.0]

    def out(t, y, m):
        return dict(i=y[0], vc=float(voltages(y[0], m == 1)[1]) if m in (1, 2) else 12.0)
    return Ode(f, [0], out, "Node voltages by bisection; what is below 1e-10 A counts as 0", mode=0, breaks=[1e-3, 6e-3],
               action_at=lambda t, y, m: (y, m + 1), stiff=True,
               events=[(lambda t, y, m: y[0] - 1e-10 if m == 2 else 1.0, -1, lambda t, y, m: ([0], 3))])


@model("phase_shift_oscillator", 1)
def _():
    R, C, A = 10e3, 10e-9, 33
    amplifier = lambda v4: max(-8.0, min(8.0, -A * v4))

    def v4(u):  # v4 = amplifier(v4) - u1 - u2 - u3
        s = u[0] + u[1] + u[2]
        for v in (-s / (1 + A), 8 - s, -8 - s):
            if abs(v - (amplifier(v) - s)) < 1e-9:
                return v

    def f(t, u, m):
        d = v4(u)
        c, b = d + u[2], d + u[2] + u[1]
        i3 = d / R
        i2 = i3 + c / R
        return [(i2 + b / R) / C, i2 / C, i3 / C]
    return Ode(f, [0.1, 0, 0], lambda t, y, m: {"u[1]": y[0], "u[2]": y[1], "v[4]": v4(y)}, max_step=1e-5,
               events=[(lambda t, u, m, a=a: v4(u) - a, 0, None) for a in (8 / A, -8 / A)])


@model("rtl_nor", 1, at=(150, 310, 500))
def _():
    e = lambda x: 1e-14 * expm1(min(x, 600))

    def base(u, y):
        return root(lambda b: (u - b) / 450 - e(b / 0.026) / 50 - e((b - y) / 0.026) / 0.5, -1, 4)

    def value(t):
        a, b = 1.8 * (1 - cos(t)), 3.6 if t > 7 else 0.0

        def into(u, y):
            v = base(u, y)
            return e(v / 0.026) - 3 * e((v - y) / 0.026)
        y = root(lambda y: (3.6 - y) / 640 - into(a, y) - into(b, y), -0.5, 3.7)
        return dict(y=y, va=base(a, y), vb=base(b, y)) if b > 0 else dict(y=y, va=base(a, y))
    return Closed("Node voltages by nested bisections", value)
