"""What the reference values of models/textbook/ are computed by: closed forms, and two codes that
have nothing in common with each other or with Daedal. SciPy's DOP853 or Radau (Python) is one,
ODEPACK's LSODA (Fortran) the other. Times of events are roots of integrations from the step before, not of
an interpolant."""

import math
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

MODELS = {}  # name: (index, at, function that makes a Closed or an Ode)


def model(name, index=0, at=(150, 310, 500)):
    """Register a model; at: the rows of 500 at which values are recorded."""
    def register(make):
        assert name not in MODELS, name
        MODELS[name] = (index, at, make)
        return make
    return register


class Closed:
    """Values by a formula: value(t) is a dictionary, and text the formula."""

    def __init__(self, text, value):
        self.text, self.value = text, value

    def table(self, times):
        return [self.value(t) for t in times], 1e-15

    def source(self, _):
        return "closed form. " + self.text


class Ode:
    """y' = f(t, y, mode), written by hand as an ODE.

    events: (g(t, y, mode), direction, action), with direction 0 for both. action(t, y, mode) gives
    the new y and mode; None: a kink of f, passed without a change.
    breaks: times at which f jumps; action_at(t, y, mode) is called there, if it is given."""

    def __init__(self, f, y0, out, text="", events=(), mode=None, breaks=(), action_at=None,
                 stiff=False, rtol=None, max_step=np.inf):
        self.f, self.y0, self.out, self.text = f, np.array(y0, float), out, text
        self.events = [(g, direction if action else 0, action) for g, direction, action in events]
        self.mode, self.breaks, self.action_at = mode, breaks, action_at
        self.codes = ("Radau" if stiff else "DOP853", "LSODA")
        self.rtols = (rtol or (1e-10 if stiff else 1e-12), 1e-12)
        self.max_step = max_step

    def table(self, times):
        scale = np.maximum(self.pass_through(self.codes[1], 1e-6, 1e-9, times)[1], 1e-12)
        one, two = (self.pass_through(c, r, 1e-3 * r * scale, times)[0]
                    for c, r in zip(self.codes, self.rtols))
        sizes = {k: max(abs(float(row[k])) for row in one) or 1.0 for k in one[0]}
        apart = max(abs(float(a[k]) - float(b[k])) / sizes[k]
                    for a, b in zip(one, two) for k in a)
        return one, max(apart, 1e-15)

    def source(self, apart):
        codes = f"SciPy {self.codes[0]} and LSODA"
        return f"{codes} agree to {apart:.1e}" + (". " + self.text if self.text else "")

    def advance(self, code, rtol, atol, t, y, end, mode, sides):
        """To the end or the first event: t, y, and the event's number or -1."""
        if end <= t:
            return t, y, -1
        f = lambda s, u: self.f(s, u, mode)
        probes = []
        for k, (g, direction, _) in enumerate(self.events):
            probe = lambda s, u, g=g: g(s, u, mode)
            probe.terminal, probe.direction = True, direction or -sides[k]
            probes.append(probe)
        options = dict(method=code, rtol=rtol, atol=atol)
        run = solve_ivp(f, (t, end), y, events=probes, max_step=self.max_step, **options)
        assert run.success, run.message
        if run.status == 0:
            return end, run.y[:, -1], -1
        found = [k for k, e in enumerate(run.t_events) if len(e)]
        k = min(found, key=lambda i: run.t_events[i][0])
        from_t, from_y, guess = run.t[-2], run.y[:, -2], run.t_events[k][0]

        def at(s):
            if s - from_t <= 1e-15 * end:
                return from_y
            part = solve_ivp(f, (from_t, s), from_y, **options)
            return part.y[:, -1]

        a, ga = guess, self.events[k][0](guess, at(guess), mode)
        b = guess + max(1e-7 * (guess - from_t), 1e-13 * end)
        for _ in range(6):
            gb = self.events[k][0](b, at(b), mode)
            if gb == ga or b == a:
                break
            c = b - gb * (b - a) / (gb - ga)
            a, ga, b = b, gb, max(c, from_t)
            if abs(b - a) <= 1e-15 * abs(b):
                break
        return b, at(b), k

    def pass_through(self, code, rtol, atol, times):
        t, y, mode = 0.0, self.y0.copy(), self.mode
        sides = [1 if g(t, y, mode) >= 0 else -1 for g, _, _ in self.events]
        stops = sorted({float(s) for s in times} | {float(b) for b in self.breaks if b < times[-1]})
        wanted, rows, scale = {float(s) for s in times}, [], np.abs(y)
        for stop in stops:
            while t < stop:
                t, y, k = self.advance(code, rtol, atol, t, y, stop, mode, sides)
                scale = np.maximum(scale, np.abs(y))
                if k >= 0:
                    sides[k] = -sides[k]
                    if self.events[k][2]:
                        y, mode = self.events[k][2](t, np.array(y), mode)
                        y = np.array(y, float)
                        for j, (g, _, _) in enumerate(self.events):
                            if j != k:
                                sides[j] = 1 if g(t, y, mode) >= 0 else -1
            t = stop
            if stop in wanted:
                rows.append(self.out(t, y, mode))
            if stop in self.breaks and self.action_at:
                y, mode = self.action_at(t, np.array(y), mode)
                y = np.array(y, float)
        return rows, scale


def root(f, a, b):
    """The root of f in the bracket, to the last digits."""
    return brentq(f, a, b, xtol=1e-300 if a == 0 else 1e-17 * max(abs(a), abs(b)), rtol=1e-15, maxiter=500)


def newton(f, x, slope):
    """Newton's iteration from x for a smooth monotone f, to rounding."""
    for _ in range(200):
        step = f(x) / slope(x)
        x -= step
        if abs(step) <= 4e-16 * abs(x):
            break
    return x


def junction(total, resistance, saturation, thermal):
    """The voltage v of a diode with v + resistance saturation (exp(v/thermal) - 1) = total."""
    x = total if total < 0 else min(total, thermal * math.log1p(total / (resistance * saturation)))
    f = lambda v: v + resistance * saturation * math.expm1(v / thermal) - total
    slope = lambda v: 1 + resistance * saturation / thermal * math.exp(v / thermal)
    return newton(f, x, slope)
