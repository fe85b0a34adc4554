"""Mechanisms, in minimal coordinates where the texts have constraints."""

from math import acos, asin, cos, cosh, exp, log, pi, sin, sinh, sqrt, tan, tanh

import numpy as np

from codes import Closed, Ode, model, root

G = 9.81


@model("pendulum_angle", 0)
def _():
    f = lambda t, y, m: [y[1], -G / 0.5 * sin(y[0])]
    return Ode(f, [2.0943951023931953, 0], lambda t, y, m: dict(phi=y[0], omega=y[1]))


@model("pendulum_cartesian", 3)
def _():
    f = lambda t, y, m: [y[1], -G / 1.5 * sin(y[0])]
    return Ode(f, [asin(0.6), 0], lambda t, y, m: dict(
        x=1.5 * sin(y[0]), y=-1.5 * cos(y[0]), vx=1.5 * y[1] * cos(y[0]),
        F=2 * (1.5 * y[1]**2 + G * cos(y[0]))), "By the angle; F = m (L w^2 + g cos phi)")


def double_pendulum(t, y, mode):
    p1, p2, w1, w2 = y
    c, s = cos(p1 - p2), sin(p1 - p2)
    A = [[1.5, 0.4 * c], [c, 0.8]]
    b = [-0.4 * w2 * w2 * s - 1.5 * G * sin(p1), w1 * w1 * s - G * sin(p2)]
    return [w1, w2, *np.linalg.solve(A, b)]


@model("double_pendulum", 1)
def _():
    return Ode(double_pendulum, [1, 0.5, 0, 0], lambda t, y, m: dict(p1=y[0], p2=y[1], w1=y[2], w2=y[3]))


@model("double_pendulum_cartesian", 3)
def _():
    def out(t, y, m):
        return dict(x1=sin(y[0]), y1=-cos(y[0]), x2=sin(y[0]) + 0.8 * sin(y[1]),
                    y2=-cos(y[0]) - 0.8 * cos(y[1]), vx1=y[2] * cos(y[0]))
    return Ode(double_pendulum, [1, asin((1.225011415691259 - sin(1)) / 0.8), 0, 0], out, "By the two angles")


@model("slider_crank", 3)
def _():
    r, l = 0.05, 0.15

    def f(t, y, m):  # x = x(phi): (J + m x'^2) w' + m x' x'' w^2 = 500 (x - 0.2) x' - 0.02 w
        phi, w = y
        q = sqrt(l * l - (r * sin(phi))**2)
        x = r * cos(phi) + q
        q1 = -r * r * sin(phi) * cos(phi) / q
        q2 = -(r * r * cos(2 * phi) + q1 * q1) / q
        x1, x2 = -r * sin(phi) + q1, -r * cos(phi) + q2
        return [w, (500 * (x - 0.2) * x1 - 0.02 * w - 0.8 * x1 * x2 * w * w) / (0.01 + 0.8 * x1 * x1)]
    return Ode(f, [0.5, 10], lambda t, y, m: dict(
        phi=y[0], w=y[1], x=r * cos(y[0]) + sqrt(l * l - (r * sin(y[0]))**2)), "Lagrange's equation of the angle of the crank")


@model("four_bar", 2)
def _():
    a, b, c, d = 0.2, 0.5, 0.4, 0.5

    def value(t):
        p = 2 * t
        ex, ey = d - a * cos(p), -a * sin(p)  # from the pin of the crank to the pivot of the rocker
        s = sqrt(ex * ex + ey * ey)
        beta = np.arctan2(ey, ex)
        theta = beta + acos((b * b + s * s - c * c) / (2 * b * s))
        y, x = a * sin(p) + b * sin(theta), a * cos(p) + b * cos(theta) - d
        psi = np.arctan2(y, x)
        # along the coupler: a 2 sin(theta - phi) = w c sin(theta - psi)
        return dict(theta=float(theta), psi=float(psi), w=float(2 * a * sin(theta - p) / (c * sin(theta - psi))))
    return Closed("Law of cosines for the upper configuration; w from the velocities along the coupler", value)


@model("bounce_drag", 0)
def _():
    f = lambda t, y, m: [y[1], -G - 4e-4 / 0.058 * y[1] * abs(y[1])]
    return Ode(f, [2, 0], lambda t, y, m: dict(h=y[0], v=y[1], n=m), mode=0, max_step=0.05,
               events=[(lambda t, y, m: y[0], -1, lambda t, y, m: ([0, -0.75 * y[1]], m + 1)),
                       (lambda t, y, m: y[1], -1, None)])


@model("braking_car", 1, at=(100, 250, 500))
def _():
    def value(t):
        k = 0.4 / 1200
        v1 = 30 / (1 + 30 * k * 1.2)
        if t < 1.2:
            return dict(v=30 / (1 + 30 * k * t), s=log(1 + 30 * k * t) / k)
        s1, w = log(1 + 30 * k * 1.2) / k, sqrt(6500 / 0.4)
        a = sqrt(6500 * 0.4) / 1200
        stop = 1.2 + np.arctan(v1 / w) / a
        u = np.arctan(v1 / w) - a * (min(t, stop) - 1.2)
        return dict(v=w * tan(u) if t < stop else 0.0,
                    s=s1 + log(cos(u) / cos(np.arctan(v1 / w))) / k)
    return Closed("Before the brake v = v0/(1 + v0 c t/m); then v = w tan(u), w^2 = F/c, u falls linearly to 0", value)


@model("stick_slip", 0, at=(150, 310, 497))
def _():
    def value(t):
        w, now, x = sqrt(10), 0.0, 0.0
        while True:
            h = (0.6 - x) / 0.5  # sticks until k x = Fs
            if now + h > t:
                return dict(x=x + 0.5 * (t - now), v=0.5, stuck=True)
            now += h
            # x = 0.4 + 0.2 cos wt + 0.5/w sin wt until v = 0.5 again, at x = 0.2
            h = (pi + 2 * np.arctan2(0.5 / w, 0.2)) / w
            if now + h > t:
                s = w * (t - now)
                return dict(x=0.4 + 0.2 * cos(s) + 0.5 / w * sin(s), v=0.5 * cos(s) - 0.2 * w * sin(s), stuck=False)
            now, x = now + h, 0.2
    return Closed("Uniform motion with the belt to k x = Fs, then an oscillation about Fd/k until v is that of the belt", value)


@model("inclined_plane", 0)
def _():
    up, down = G * (sin(0.4) + 0.25 * cos(0.4)), G * (sin(0.4) - 0.25 * cos(0.4))
    stop = 4 / up
    return Closed("Parabolas with the decelerations g (sin alpha +- mu cos alpha)", lambda t: dict(
        v=4 - up * t if t < stop else -down * (t - stop),
        s=4 * t - up * t * t / 2 if t < stop else 8 / up - down * (t - stop)**2 / 2))


@model("spring_damper", 1)
def _():
    p = 5 / (80 - 2 * 16 + 1.5j * 4)
    a = 1.5 / 4
    w = sqrt(40 - a * a)
    c = 0.1 - p.real
    s = (0 - (p * 4j).real + a * c) / w

    def value(t):
        e = complex(cos(4 * t), sin(4 * t))
        return dict(x=(p * e).real + exp(-a * t) * (c * cos(w * t) + s * sin(w * t)),
                    v=(p * 4j * e).real + exp(-a * t) * ((s * w - a * c) * cos(w * t) - (c * w + a * s) * sin(w * t)))
    return Closed("Forced by the phasor 5/(k - m 16 + 4 i d), and a free damped oscillation", value)


@model("two_masses", 0)
def _():
    a, b = sqrt(50), sqrt(58)
    return Closed("x1 = 0.05 (cos a t + cos b t), x2 = 0.05 (cos a t - cos b t), a^2 = k, b^2 = k + 2 kc", lambda t: {
        "x[1]": 0.05 * (cos(a * t) + cos(b * t)), "x[2]": 0.05 * (cos(a * t) - cos(b * t)),
        "v[1]": -0.05 * (a * sin(a * t) + b * sin(b * t))})


@model("duffing", 0)
def _():
    f = lambda t, y, m: [y[1], y[0] - y[0]**3 - 0.25 * y[1] + 0.25 * cos(t)]
    return Ode(f, [1, 0], lambda t, y, m: dict(x=y[0], y=y[1]))


@model("gear", 3)
def _():
    # on the fast shaft: (J1 + J2/25) w' = 3 (1 - e^-t) - 1.2/25 w
    J, a = 0.04, 1.2
    d = a / 25
    k = d / J  # 1.2
    w = lambda t: 3 / d * (1 - exp(-k * t)) - 3 / J / (k - 1) * (exp(-t) - exp(-k * t))
    phi = lambda t: (3 / d * (t - (1 - exp(-k * t)) / k)
                     - 3 / J / (k - 1) * (1 - exp(-t) - (1 - exp(-k * t)) / k))
    dw = lambda t: (3 * (1 - exp(-t)) - d * w(t)) / J
    return Closed("(J1 + J2/ratio^2) w1' = 3 (1 - exp(-t)) - 1.2/ratio^2 w1, linear", lambda t: dict(
        phi1=phi(t), w1=w(t), w2=w(t) / 5, tau1=3 * (1 - exp(-t)) - 0.02 * dw(t)))


@model("crane", 1)
def _():
    def f(t, y, m):
        s, v, p, w = y
        F = 600 if m == 0 else -600 if m == 1 else -200 * v
        a, b = np.linalg.solve([[700, 3000 * cos(p)], [cos(p), 6]], [F + 3000 * w * w * sin(p), -G * sin(p)])
        return [v, a, w, b]
    return Ode(f, [0, 0, 0, 0], lambda t, y, m: dict(s=y[0], v=y[1], phi=y[2], xLoad=y[0] + 6 * sin(y[2])),
               mode=0, breaks=[2, 4], action_at=lambda t, y, m: (y, m + 1))


@model("rolling_disc", 2)
def _():
    M, f = 3 + 0.06 / 0.04, 3 * G * sin(0.2)
    a = 0.5 / M
    v = lambda t: f / 0.5 * (1 - exp(-a * t))
    return Closed("(m + J/r^2) v' = m g sin alpha - 0.5 v", lambda t: dict(
        v=v(t), s=f / 0.5 * (t - (1 - exp(-a * t)) / a), w=v(t) / 0.2,
        F=0.06 / 0.04 * (f - 0.5 * v(t)) / M))


@model("atwood", 3)
def _():
    a = 0.2 * G / (2.2 + 0.002 / 0.01)
    return Closed("a = (m1 - m2) g/(m1 + m2 + J/R^2)", lambda t: dict(
        x1=1 + a * t * t / 2, v1=a * t, w=a * t / 0.1, S1=1.2 * (G - a), S2=G + a))


@model("buffer_stop", 1)
def _():
    def F(y, m):
        return max(0.0, 2e5 * y[0] + 2000 * y[1]) if m else 0.0
    f = lambda t, y, m: [y[1], -F(y, m) / 500]
    return Ode(f, [-3, 2], lambda t, y, m: dict(s=y[0], v=y[1]), mode=False, max_step=0.01,
               events=[(lambda t, y, m: y[0], 0, lambda t, y, m: (y, not m)),
                       (lambda t, y, m: 2e5 * y[0] + 2000 * y[1] if m else 1.0, -1, None)])


@model("projectile", 1)
def _():
    def f(t, y, m):
        u = np.array([y[2] + 3, y[3]])
        a = -1.1e-3 / 0.145 * np.hypot(*u) * u
        return [y[2], y[3], a[0], a[1] - G]
    return Ode(f, [0, 1.8, 25, 20], lambda t, y, m: {"r[1]": y[0], "r[2]": y[1], "v[1]": y[2], "speed": np.hypot(y[2] + 3, y[3])})


@model("rocket", 0)
def _():
    def value(t):
        b = min(t, 50.0)
        m = 1000 - 15 * b
        v = 2500 * log(1000 / m) - G * b
        h = 2500 * (b - m / 15 * log(1000 / m)) - G * b * b / 2
        s = t - b
        return dict(m=m, v=v - G * s, h=h + v * s - G * s * s / 2)
    return Closed("Tsiolkovsky: v = c log(m0/m) - g t, h = c (t - m/q log(m0/m)) - g t^2/2; then free flight", value)


@model("kepler", 1)
def _():
    mu = 398600.4418 * 3600**2

    def value(t):
        a = 1 / (2 / 8000 - 29000**2 / mu)
        e = 1 - 8000 / a  # starts at the perigee
        n = sqrt(mu / a**3)
        E = root(lambda E: E - e * sin(E) - n * t, n * t - 1, n * t + 1)
        b = a * sqrt(1 - e * e)
        rate = n / (1 - e * cos(E))
        return dict(x=a * (cos(E) - e), y=b * sin(E), vx=-a * sin(E) * rate, vy=b * cos(E) * rate)
    return Closed("Kepler's equation E - e sin E = n t, from the perigee", value)


@model("parachute", 1)
def _():
    def phase(v0, c, t):  # v and the way
        w, k = sqrt(80 * G / c), sqrt(G * c / 80)
        r = v0 / w
        v = w * (r + tanh(k * t)) / (1 + r * tanh(k * t))
        return v, 80 / c * (log(cosh(k * t)) + np.log1p(r * tanh(k * t)))

    def value(t):
        v, s = phase(0, 0.25, min(t, 20))
        if t > 20:
            v, more = phase(v, 30, t - 20)
            s += more
        return dict(v=v, h=1500 - s)
    return Closed("v = w (r + tanh k t)/(1 + r tanh k t), w^2 = m g/c, k^2 = g c/m, r = v0/w", value)


@model("spinning_box", 1)
def _():
    f = lambda t, y, m: [-y[1] * y[2], y[0] * y[2], -y[0] * y[1] / 3]
    return Ode(f, [0.01, 2, 0.02], lambda t, y, m: {f"w[{k + 1}]": y[k] for k in range(3)})


@model("sliding_chain", 0)
def _():
    k = sqrt(G / 2)
    end = np.arccosh(10.0) / k

    def value(t):
        if t < end:
            return dict(x=0.2 * cosh(k * t), v=0.2 * k * sinh(k * t))
        v, s = 0.2 * k * sinh(k * end), t - end
        return dict(x=2 + v * s + G * s * s / 2, v=v + G * s)
    return Closed("x = x0 cosh(sqrt(g/L) t) until x = L, then free fall", value)


@model("quarter_car", 1)
def _():
    def f(t, y, m):
        road = 0.05 * (1 - cos(20 * 3.14159265358979 * (t - 0.5))) / 2 if m == 1 else 0
        F = 18e3 * (y[2] - y[0]) + 1200 * (y[3] - y[1])
        return [y[1], F / 300, y[3], (180e3 * (road - y[2]) - F) / 40]
    return Ode(f, [0, 0, 0, 0], lambda t, y, m: dict(zs=y[0], vs=y[1], zu=y[2]), mode=0, breaks=[0.5, 0.6],
               action_at=lambda t, y, m: (y, m + 1))


@model("clutch", 1)
def _():
    # slipping: w1 = 200 - 20/0.3 t, w2 = 800 (1 - exp(-t/24)); locked: 1.5 w' = 20 - 0.05 w
    lock = root(lambda t: 200 - 20 / 0.3 * t - 800 * (1 - exp(-t / 24)), 0, 3)
    w0 = 200 - 20 / 0.3 * lock

    def value(t):
        if t < lock:
            return dict(w1=200 - 20 / 0.3 * t, w2=800 * (1 - exp(-t / 24)), T=40)
        w = 400 + (w0 - 400) * exp(-(t - lock) / 30)
        return dict(w1=w, w2=w, T=(20 * 1.2 + 0.05 * w * 0.3) / 1.5)
    return Closed("w1 = 200 - (Tc - 20) t/J1, w2 = 800 (1 - exp(-t/24)) until they meet; then 1.5 w' = 20 - 0.05 w", value)


@model("bungee", 1)
def _():
    force = lambda y, m: 60 * (y[0] - 20) + 8 * y[1] if m else 0.0
    f = lambda t, y, m: [y[1], G - force(y, m) / 75]
    return Ode(f, [0, 0], lambda t, y, m: dict(y=y[0], v=y[1]), mode=False,
               events=[(lambda t, y, m: y[0] - 20, 0, lambda t, y, m: (y, not m))])


@model("cart_pole", 1)
def _():
    def f(t, z, m):
        F = -float(np.dot([-3, -5, -45, -11], z))
        a, b = np.linalg.solve([[1.2, 0.12 * cos(z[2])], [cos(z[2]), 0.6]],
                               [F + 0.12 * z[3]**2 * sin(z[2]), G * sin(z[2])])
        return [z[1], a, z[3], b]
    return Ode(f, [0, 0, 0.3, 0], lambda t, y, m: {f"z[{k + 1}]": y[k] for k in range(4)})


@model("cyclist", 1)
def _():
    f = lambda t, y, m: [y[1], (220 / y[1] - 0.005 * 85 * G - 85 * G * 0.04 * sin(y[0] / 200) - 0.6 * 0.35 * y[1]**2) / 85]
    return Ode(f, [0, 5], lambda t, y, m: dict(s=y[0], v=y[1]))


@model("pendulum_peg", 1)
def _():
    f = lambda t, y, m: [y[1], -G / (0.4 if m else 1.0) * sin(y[0])]
    cross = lambda t, y, m: (([0, y[1] * 2.5], True) if not m else ([0, y[1] * 0.4], False))
    return Ode(f, [0.6, 0], lambda t, y, m: dict(phi=y[0], w=y[1]), mode=False,
               events=[(lambda t, y, m: y[0], 0, cross)])


@model("tram", 1)
def _():
    def value(t):
        a = min(t, 12.0)
        b = min(max(t - 12, 0.0), 28.0)
        c = min(max(t - 40, 0.0), 12.0)
        v = 1.2 * a - 1.2 * c
        s = 0.6 * a * a + 14.4 * b + 14.4 * c - 0.6 * c * c
        energy = (48 * 0.6 * a * a + 0.05 * 1.44 * a**3 / 3 + 0.05 * 14.4**2 * b)
        if t > 52:
            v, = (0.0,)
        return dict(v=v, s=s, energy=energy / 3600)
    return Closed("Parabolas and lines; energy of the drive alone, since F < 0 while it brakes", value)


@model("hoop", 1)
def _():
    f = lambda t, y, m: [y[1], 4 * t * t * sin(y[0]) * cos(y[0]) - G / 0.3 * sin(y[0]) - 0.3 * y[1]]
    return Ode(f, [0.1, 0], lambda t, y, m: dict(theta=y[0], w=y[1]))


@model("collision", 0)
def _():
    def value(t):
        now, x1, v1, x2, v2 = 0.0, 0.0, 0.8, 1.0, 0.0
        while True:
            hits = [((x2 - x1) / (v1 - v2), 0)] if v1 > v2 else []
            hits += [((2 - x2) / v2, 1)] if v2 > 0 else []
            hits += [((x1 + 0.5) / -v1, 2)] if v1 < 0 else []
            h, what = min(hits)
            d = min(h, t - now)
            x1, x2, now = x1 + v1 * d, x2 + v2 * d, now + d
            if now >= t:
                return dict(x1=x1, v1=v1, x2=x2, v2=v2)
            if what == 0:
                p, u = 0.2 * v1 + 0.5 * v2, 0.9 * (v1 - v2)
                v1, v2 = (p - 0.5 * u) / 0.7, (p + 0.2 * u) / 0.7
            elif what == 1:
                v2 = -v2
            else:
                v1 = -v1
    return Closed("Uniform motion between impacts", value)


@model("bead_parabola", 3)
def _():
    def f(t, y, m):  # (1 + 4 x^2) x'' + 4 x x'^2 + 2 g x = 0
        return [y[1], -(4 * y[0] * y[1]**2 + 2 * G * y[0]) / (1 + 4 * y[0]**2)]

    def out(t, y, m):
        a = f(t, y, m)[1]
        return dict(x=y[0], y=y[0]**2, vx=y[1], N=0.1 * (G + 2 * y[1]**2 + 2 * y[0] * a))
    return Ode(f, [1, 0], out, "Lagrange's equation of x")


@model("backlash", 1)
def _():
    def f(t, y, m):
        e = y[0] - y[2]
        T = 400 * (e - 0.05) if e > 0.05 else 400 * (e + 0.05) if e < -0.05 else 0.0
        return [y[1], (2 * sin(3 * t) - T - y[1]) / 0.1, y[3], (T - 0.3 * y[3]) / 0.4]
    return Ode(f, [0, 0, 0, 0], lambda t, y, m: dict(p1=y[0], w1=y[1], p2=y[2], w2=y[3]), max_step=0.02,
               events=[(lambda t, y, m: y[0] - y[2] - 0.05, 0, None), (lambda t, y, m: y[0] - y[2] + 0.05, 0, None)])


@model("metronome", 0)
def _():
    f = lambda t, y, m: [y[1], -G / 0.25 * sin(y[0]) - 0.1 * y[1]]

    def push(t, y, m):
        return [y[0], sqrt(y[1]**2 + 0.05)], (m[0] + 1, True)
    return Ode(f, [0.2, 0], lambda t, y, m: dict(phi=y[0], w=y[1], ticks=m[0]), mode=(0, True), events=[
        (lambda t, y, m: y[0] if not m[1] else -1.0, 1, push),
        (lambda t, y, m: y[0] if m[1] else 1.0, -1, lambda t, y, m: (y, (m[0], False)))])


@model("dry_friction", 1)
def _():
    def value(t):
        now, s, mode = 0.0, 0.0, 0
        F = lambda x: 4 * sin(2 * x)
        while True:
            if mode == 0:
                phase = (2 * now) % pi  # |F| = 2 at pi/6 of each half period
                first = now + ((pi / 6 - phase) % pi) / 2
                if first >= t:
                    return dict(s=s, v=0.0, mode=0)
                now = first
                mode = 1 if F(now + 1e-6) > 0 else -1
            v_at = lambda x: 2 * (cos(2 * now) - cos(2 * x)) - 2 * mode * (x - now)
            s_at = lambda x: s + 2 * cos(2 * now) * (x - now) - (sin(2 * x) - sin(2 * now)) - mode * (x - now)**2
            end = now + 1e-3
            while mode * v_at(end) > 0:
                end += 1e-3
            end = root(v_at, end - 1e-3, end)
            if end > t:
                return dict(s=s_at(t), v=v_at(t), mode=mode)
            s, now = s_at(end), end
            mode = -mode if -mode * F(now) > 2 else 0
    return Closed("Integrals of F - Fc between the times at which v = 0", value)


@model("cam_follower", 1)
def _():
    gap = lambda t, y: 0.01 * cos(60 * t) - y[0]
    f = lambda t, y, m: [y[1], (max(0.0, 2e5 * gap(t, y)) - 800 * (y[0] + 0.02) - 3 * y[1]) / 0.2]
    return Ode(f, [0.0099, 0], lambda t, y, m: dict(x=y[0], v=y[1]), max_step=1e-3,
               events=[(lambda t, y, m: gap(t, y), 0, None)])


@model("spring_pendulum", 1)
def _():
    # polar: r'' = r p'^2 + g cos p - k/m (r - L), p from below
    f = lambda t, y, m: [y[1], y[0] * y[3]**2 + G * cos(y[2]) - 40 * (y[0] - 1), y[3],
                         (-2 * y[1] * y[3] - G * sin(y[2])) / y[0]]
    return Ode(f, [sqrt(1.25), 0, np.arctan2(1, 0.5), 0], lambda t, y, m: dict(
        x=y[0] * sin(y[2]), y=-y[0] * cos(y[2]), vx=y[1] * sin(y[2]) + y[0] * y[3] * cos(y[2])), "In polar coordinates")


@model("spin_down", 0)
def _():
    f = lambda t, y, m: [(-0.001 * y[0] - 0.05 * tanh(y[0] / 0.1)) / 0.02, y[0] / 6.28318530717959]
    return Ode(f, [150, 0], lambda t, y, m: dict(w=y[0], turns=y[1]), stiff=True)
