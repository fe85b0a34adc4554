"""Controllers, sampled systems and machines with states."""

from math import cos, exp, floor, sin

import numpy as np
from scipy.linalg import expm

from codes import Closed, Ode, model, root


@model("p_controller", 1)
def _():
    return Closed("y = 0.8 (1 - exp(-2.5 t))", lambda t: dict(y=0.8 * (1 - exp(-2.5 * t)), u=4 - 3.2 * (1 - exp(-2.5 * t))))


@model("pid_servo", 1)
def _():
    def f(t, y, m):
        phi, w, I, xd = y
        e = (1 if m > 0 else 0) - phi
        D = (e - xd) / 0.02
        return [w, 30 * e + 15 * I + 8 * D - 2 * w - (5 if m == 2 else 0), e, D]
    return Ode(f, [0, 0, 0, 0], lambda t, y, m: dict(phi=y[0], w=y[1], I=y[2]), mode=0, breaks=[0.5, 3],
               action_at=lambda t, y, m: (y, m + 1))


@model("anti_windup", 1)
def _():
    v = lambda t, y, m: 2 * ((0.2 if m else 1) - y[0]) + y[2]

    def f(t, y, m):
        w = v(t, y, m)
        u = max(0.0, min(1.2, w))
        return [y[1] - y[0], (u - y[1]) / 2, 2 / 1.5 * ((0.2 if m else 1) - y[0]) + (u - w) / 0.5]
    return Ode(f, [0, 0, 0], lambda t, y, m: dict(y=y[0], x=y[1], I=y[2]), mode=False, breaks=[10],
               action_at=lambda t, y, m: (y, True), max_step=0.1,
               events=[(lambda t, y, m: v(t, y, m) - 1.2, 0, None), (lambda t, y, m: v(t, y, m), 0, None)])


@model("bang_bang", 1)
def _():
    def value(t):
        now, phi, w, fuel, u = 0.0, 1.0, 0.0, 0.0, -1
        while True:
            # s = phi + w/2 quadratic in time, down through 0.1 and then -0.1, and up
            a = 0.3 * u
            s = lambda h: phi + w * h + a * h * h / 2 + 0.5 * (w + a * h)
            h, step = 0.0, 1e-3
            side = lambda x: -1 if x > 0.1 else 1 if x < -0.1 else 0
            while side(s(h + step)) == u and now + h < t:
                h += step
            if now + h < t:
                edge = 0.1 if s(h + step) < 0.1 and u == -1 or u == 0 and s(h + step) > 0.1 else -0.1
                h = root(lambda x: s(x) - edge, h, h + step)
            d = min(h, t - now)
            phi, w, fuel, now = phi + w * d + a * d * d / 2, w + a * d, fuel + abs(u) * d, now + d
            if now >= t:
                return dict(phi=phi, w=w, fuel=fuel, u=u)
            u = u + 1 if edge == 0.1 and u == -1 or edge == -0.1 and u == 0 else u - 1
    return Closed("Parabolas between the roots of s = 0.1 and -0.1", value)


@model("sampled_pi", 0, at=(156, 311, 499))
def _():
    def value(t):
        y = I = 0.0
        k = 0
        while True:
            e = 1 - y
            I += 0.1 * e
            u = 1.5 * e + I
            d = min(0.1, t - 0.1 * k)
            y = u + (y - u) * exp(-d)
            k += 1
            if 0.1 * k > t:
                return dict(y=y, u=u, I=I)
    return Closed("y = u + (y_k - u) exp(-t) between samples", value)


@model("smith_predictor", 1)
def _():
    # d = y - delay(ym, Td), with u = 1.2 before t = 0: 3 d' = 2.4 - d until t = 1, then 3 d' = -d.
    # With e = 1 - ym - d the unknowns (ym, I, d, 1) are linear.
    def matrix(late):
        return np.array([[-3.4, 2.4, -2.4, 2.4], [-1, 0, -1, 1], [0, 0, -1, 0 if late else 2.4], [0, 0, 0, 0]]) / 3

    def state(t):
        z = expm(matrix(False) * min(t, 1)) @ [0, 0, 0, 1]
        return expm(matrix(True) * (t - 1)) @ z if t > 1 else z

    def value(t):
        z = state(t)
        return dict(ym=z[0], I=z[1], y=z[2] + (state(t - 1)[0] if t > 1 else 0))
    return Closed("d = y - delay(ym) is an exponential of its own; (ym, I, d) are linear before and after t = Td. "
                  "Before t = 0 u counts as its start value 1.2", value)


@model("traffic_light", 1, at=(150, 310, 498))
def _():
    def value(t):
        now, cars, k, phases = 0.0, 0.0, 0, [20, 2, 25, 3]
        while True:
            d = min(phases[k % 4], t - now)
            if k % 4 == 2:
                cars = max(0.0, cars - 0.3 * d)
            else:
                cars += 0.2 * d
            now += d
            if now >= t:
                return dict(cars=cars, light=k % 4 + 1)
            k += 1
    return Closed("Lines, down to no cars", value)


@model("kalman_filter", 0, at=(151, 301, 500))
def _():
    # v = 1 - 0.5 (1 - cos t), x = 0.5 t + 0.5 sin t
    def value(t):
        F, xh, P, k = np.array([[1, 0.1], [0, 1]]), np.zeros(2), np.eye(2), 1
        while 0.1 * k <= t:
            s = 0.1 * k
            z = 0.5 * s + 0.5 * sin(s) + 0.2 * sin(50 * s)
            xp = F @ xh
            M = F @ P @ F.T + np.array([[0, 0], [0, 0.01]])
            K = M[:, 0] / (M[0, 0] + 0.04)
            xh = xp + K * (z - xp[0])
            P = M - np.outer(K, M[:, 0])
            k += 1
        return {"x": 0.5 * t + 0.5 * sin(t), "xh[1]": xh[0], "xh[2]": xh[1], "P[1,1]": P[0, 0], "P[1,2]": P[0, 1], "K[2]": K[1]}
    return Closed("Exact samples of x = (t + sin t)/2, and the recursion of the filter", value)


@model("kalman_bucy", 0)
def _():
    A, c, Q = np.array([[0, 1], [-2, -0.5]]), np.array([1.0, 0]), np.diag([0.0, 1])
    # P = Y X^-1 with X' = -A' X + c c'/R Y, Y' = Q X + A Y
    H = np.block([[-A.T, np.outer(c, c) / 0.1], [Q, A]])

    def value(t):
        Z = expm(H * t) @ np.vstack([np.eye(2), np.eye(2)])
        P = Z[2:] @ np.linalg.inv(Z[:2])
        return {"P[1,1]": P[0, 0], "P[1,2]": P[0, 1], "P[2,2]": P[1, 1]}
    return Closed("P = Y X^-1 with the exponential of the Hamiltonian matrix", value)


@model("observer", 1)
def _():
    A, B, K, L = np.array([[0, 1], [4, 0.0]]), np.array([[0], [1.0]]), np.array([[13, 6.0]]), np.array([[20], [104.0]])
    C = np.array([[1, 0.0]])
    M = np.block([[A, -B @ K], [L @ C, A - B @ K - L @ C]])

    def value(t):
        z = expm(M * t) @ [0.5, 0, 0, 0]
        return {"x[1]": z[0], "x[2]": z[1], "xh[1]": z[2], "xh[2]": z[3]}
    return Closed("Matrix exponential", value)


@model("washing_machine", 0)
def _():
    t1 = 2.0
    # while it fills T' = -0.02 (T - 20)
    T1 = 20 - 5 * exp(-0.02 * t1)
    t2 = t1 + (60 - T1) / 4
    t3, t4 = t2 + 20, t2 + 21.2

    def value(t):
        state = 1 + (t > t1) + (t > t2) + (t > t3) + (t > t4)
        level = 6 * t if t < t1 else 12 if t < t3 else max(0.0, 12 - 10 * (t - t3))
        T = 20 - 5 * exp(-0.02 * t) if t < t1 else T1 + 4 * (t - t1) if t < t2 else 20 + 40 * exp(-0.02 * (t - t2))
        return dict(state=state, level=level, T=T)
    return Closed("Lines and exponentials by state", value)


@model("cascade_control", 1)
def _():
    iref = lambda t, y, m: 2 * (100 - y[1])
    clip = lambda x, a: max(-a, min(a, x))
    u0 = lambda t, y, m: 1.5 * (clip(iref(t, y, m), 40) - y[0]) + y[2]

    def f(t, y, m):
        i, w, xi = y
        return [(clip(u0(t, y, m), 60) - 0.5 * i - 0.3 * w) / 5e-3, (0.3 * i - (3 if m else 0)) / 0.02,
                100 * (clip(iref(t, y, m), 40) - i)]
    kinks = [(lambda t, y, m, e=e: iref(t, y, m) - e, 0, None) for e in (40, -40)]
    kinks += [(lambda t, y, m, e=e: u0(t, y, m) - e, 0, None) for e in (60, -60)]
    return Ode(f, [0, 0, 0], lambda t, y, m: dict(i=y[0], w=y[1], xi=y[2]), mode=False, breaks=[0.6],
               action_at=lambda t, y, m: (y, True), events=kinks, max_step=0.01)


@model("relay_autotune", 0)
def _():
    f = lambda t, y, m: [(1 if m[0] else -1) - y[0], y[0] - y[1], y[1] - y[2]]

    def rise(t, y, m):
        return y, (True, t, t - m[1])
    return Ode(f, [0, 0, 0], lambda t, y, m: {"x[1]": y[0], "x[3]": y[2], "period": m[2], "up": m[0]},
               mode=(True, 0.0, 0.0), events=[
                   (lambda t, y, m: y[2] - 0.05 if m[0] else -1.0, 1, lambda t, y, m: (y, (False, m[1], m[2]))),
                   (lambda t, y, m: y[2] + 0.05 if not m[0] else 1.0, -1, rise)])


@model("moving_average", 1, at=(156, 313, 500))
def _():
    def value(t):
        buffer, mean, y, k = [0.0] * 8, 0.0, 0.0, 0
        while True:
            s = 0.05 * k
            buffer = [s + 0.3 * sin(40 * s)] + buffer[:7]
            mean = sum(buffer) / 8
            y = mean + (y - mean) * exp(-5 * (min(s + 0.05, t) - s))
            k += 1
            if 0.05 * k > t:
                return dict(mean=mean, y=y)
    return Closed("Exponentials between samples", value)


@model("dosing_counter", 1)
def _():
    F = lambda t: 200 * (t + 0.2 / 3 * (1 - cos(3 * t)))

    def value(t):
        n = floor(t / 2.5)
        lots = [F(2.5 * k + 2.5) - F(2.5 * k) for k in range(n)]
        return dict(level=F(t) - F(2.5 * n), bottles=n, rejected=sum(x < 480 for x in lots), last=lots[-1])
    return Closed("Integral of the flow since the last bottle", value)


@model("elevator", 0)
def _():
    t1 = 1.5 / 0.8
    z1 = 1.5 * t1 / 2
    t2 = t1 + (9.6 - 2 * z1) / 1.5
    t3 = t2 + t1

    def value(t):
        if t < t1:
            return dict(z=0.4 * t * t, v=0.8 * t)
        if t < t2:
            return dict(z=z1 + 1.5 * (t - t1), v=1.5)
        s = min(t, t3) - t2
        return dict(z=9.6 - z1 + 1.5 * s - 0.4 * s * s, v=1.5 - 0.8 * s if t < t3 else 0.0)
    return Closed("Parabola, line, parabola", value)


@model("crossing_light", 0, at=(150, 310, 498))
def _():
    presses = lambda t: sum(1 for k in range(1, 6) if 17 * k <= t)

    def value(t):
        # pressed at 17, 34, ..; walk when the last change is 25 s ago and somebody wished
        since, walk, wish, crossed, now, changes, k = -100.0, False, False, 0.0, 0.0, 0, 1
        while True:
            times = [17.0 * k]
            if walk:
                times.append(since + 8)
            elif wish:
                times.append(max(now, since + 25))
            end = min(min(times), t)
            crossed += 1.5 * (end - now) if walk else 0
            now = end
            if now >= t:
                return dict(crossed=crossed, walk=walk, presses=presses(t), changes=changes)
            if now == 17.0 * k:
                wish, k = True, k + 1
            if walk and now == since + 8:
                walk, since, changes = False, now, changes + 1
            elif not walk and wish and now >= since + 25:
                walk, wish, since, changes = True, False, now, changes + 1
    return Closed("Counting by hand", value)
