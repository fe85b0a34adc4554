"""Reactors, equilibria and separation."""

from math import exp, log, sqrt

from scipy.special import lambertw

from codes import Closed, Ode, model, root


@model("reaction_chain", 1)
def _():
    a = lambda t: 2 * exp(-0.8 * t)
    b = lambda t: 2 * 0.8 / (0.3 - 0.8) * (exp(-0.8 * t) - exp(-0.3 * t))
    return Closed("cA = c0 exp(-k1 t), cB = c0 k1/(k2 - k1) (exp(-k1 t) - exp(-k2 t))",
                  lambda t: dict(cA=a(t), cB=b(t), cC=2 - a(t) - b(t)))


@model("second_order", 1)
def _():
    def value(t):
        e = exp(-0.05 * 0.5 * t)
        p = 1.5 * (1 - e) / (1.5 - e)
        return dict(a=1.5 - p, b=1 - p, p=p)
    return Closed("p = a0 b0 (1 - e)/(a0 - b0 e), e = exp(-(a0 - b0) k t)", value)


@model("esterification", 1)
def _():
    f = lambda t, y, m: [0.1 * ((1 - y[0]) * (1.5 - y[0]) - y[0]**2 / 4)]
    return Ode(f, [0], lambda t, y, m: {"n[1]": 1 - y[0], "n[2]": 1.5 - y[0], "n[3]": y[0]}, "By the extent of the reaction")


@model("cstr_exothermic", 1)
def _():
    def f(t, y, m):
        r = 7.2e10 * exp(-8750 / y[1]) * y[0]
        return [1 - y[0] - r, 350 - y[1] + 5e4 / 239 * r + 5e4 / (100 * 239) * ((295 if m else 300) - y[1])]
    return Ode(f, [0.5, 340], lambda t, y, m: dict(c=y[0], T=y[1]), mode=False, breaks=[5],
               action_at=lambda t, y, m: (y, True), stiff=True)


@model("tank_cascade", 1)
def _():
    def step(t, n):  # 1 - exp(-t/tau) sum (t/tau)^j/j!
        if t <= 0:
            return 0.0
        s, term = 0.0, 1.0
        for j in range(n):
            s, term = s + term, term * t / 2 / (j + 1)
        return 1 - exp(-t / 2) * s
    return Closed("Difference of two step responses 1 - exp(-t/tau) sum_j (t/tau)^j/j!", lambda t: {
        f"c[{n}]": 10 * (step(t, n) - step(t - 1, n)) for n in (1, 3, 5)})


@model("michaelis_menten", 1)
def _():
    # S/Km exp(S/Km) = S0/Km exp((S0 - Vmax t)/Km)
    def value(t):
        S = 0.4 * float(lambertw(5 * exp(5 - 0.12 * t / 0.4)).real)
        return dict(S=S, P=2 - S)
    return Closed("S = Km W(S0/Km exp((S0 - Vmax t)/Km)) with Lambert's function", value)


@model("enzyme_mechanism", 1)
def _():
    def f(t, y, m):
        S, ES, P = y
        bind = 1e4 * (1e-3 - ES) * S
        return [-bind + 50 * ES, bind - 70 * ES, 20 * ES]
    return Ode(f, [1, 0, 0], lambda t, y, m: dict(S=y[0], ES=y[1], P=y[2]), stiff=True)


@model("langmuir", 1)
def _():
    def value(t):
        total = 0.8 * min(t, 20)
        # c + 5 3 2 c/(1 + 2 c) = total: 2 c^2 + (31 - 2 total) c - total = 0
        b = 31 - 2 * total
        c = 2 * total / (b + sqrt(b * b + 8 * total))
        return dict(c=c, q=6 * c / (1 + 2 * c))
    return Closed("Positive root of 2 c^2 + (31 - 2 total) c - total = 0", value)


@model("titration", 1, at=(125, 249, 500))
def _():
    def value(t):
        def charge(pH):
            H = 10**-pH
            return 0.1 * t / (25 + t) + H - 0.1 * 25 / (25 + t) * 1.8e-5 / (1.8e-5 + H) - 1e-14 / H
        return dict(pH=root(charge, 1, 14))
    return Closed("Root of the balance of charges by bisection", value)


@model("autocatalysis", 1)
def _():
    f = lambda t, y, m: [-0.04 * y[0] + 1e4 * y[1] * (1 - y[0] - y[1]),
                         0.04 * y[0] - 1e4 * y[1] * (1 - y[0] - y[1]) - 3e7 * y[1]**2]
    return Ode(f, [1, 0], lambda t, y, m: dict(y1=y[0], y2=y[1], y3=1 - y[0] - y[1]), stiff=True)


@model("oscillating_reaction", 0)
def _():
    f = lambda t, y, m: [1 + y[0]**2 * y[1] - 4 * y[0], 3 * y[0] - y[0]**2 * y[1]]
    return Ode(f, [1, 1], lambda t, y, m: dict(x=y[0], y=y[1]))


@model("batch_distillation", 1)
def _():
    def value(t):
        n = 100 - 0.5 * t
        g = lambda x: (log(x / 0.3) - 4 * log((1 - x) / 0.7)) / 3 - log(n / 100)
        x = root(g, 1e-12, 0.3 if t else 0.30001)
        return dict(n=n, x=x, y=4 * x / (1 + 3 * x))
    return Closed("Rayleigh: log(n/n0) = (log(x/x0) - alpha log((1 - x)/(1 - x0)))/(alpha - 1)", value)


@model("flash_drum", 1)
def _():
    def value(t):
        T = 93 + 0.4 * t
        K1 = 10**(6.90565 - 1211.033 / (T + 220.79)) / 760
        K2 = 10**(6.95464 - 1344.8 / (T + 219.482)) / 760
        b = -0.5 * (K1 - 1 + K2 - 1) / ((K1 - 1) * (K2 - 1))  # linear for z = 1/2
        x = 0.5 / (1 + b * (K1 - 1))
        return dict(beta=b, x=x, y=K1 * x)
    return Closed("For z = 1/2 the equation of Rachford and Rice is linear: beta = -(K1 + K2 - 2)/(2 (K1 - 1) (K2 - 1))", value)


@model("semibatch", 1)
def _():
    def f(t, y, m):
        V, a, b = y
        r = 0.02 * a * b / V
        return [2 if m else 0, -r, -r + (8 if m else 0)]
    return Ode(f, [50, 100, 0], lambda t, y, m: dict(V=y[0], nA=y[1], nB=y[2]), mode=True, breaks=[10],
               action_at=lambda t, y, m: (y, False))


@model("decay_chain", 0)
def _():
    a, b = log(2) / 8.02, log(2) / 0.05

    def value(t):
        n1 = 1e6 * exp(-a * t)
        n2 = 1e6 * a / (b - a) * (exp(-a * t) - exp(-b * t))
        return {"N[1]": n1, "N[2]": n2, "N[3]": 1e6 - n1 - n2}
    return Closed("Bateman's equations", value)


@model("dissolving_tablet", 1)
def _():
    def value(t):
        m = max(0.0, 500**(1 / 3) - 0.02 / 3 * t)**3
        return dict(m=m, c=(500 - m) / 0.25)
    return Closed("m^(1/3) falls by k/3 a second until it is 0", value)


@model("flame", 0, at=(150, 240, 500))
def _():
    a = 1 / 0.001 - 1

    def value(t):
        # r = 1/(1 + W(a exp(a - t))): by w + log w = log a + a - t
        c = log(a) + a - t
        if c < -30:
            return dict(r=1 / (1 + exp(c)))
        w = root(lambda w: w + log(w) - c, 1e-14, a + 1)
        return dict(r=1 / (1 + w))
    return Closed("r = 1/(1 + W(a exp(a - t))), a = 1/delta - 1, with Lambert's function", value)


@model("gas_bottle", 1)
def _():
    def f(t, y, m):
        r = 0.5283 if m else y[1] / y[0]
        c = 2 * 1.4 / 0.4 / (287 * 293)
        flow = 1e-6 * y[0] * sqrt(c * max(0.0, r**(2 / 1.4) - r**(2.4 / 1.4))) * 287 * 293
        return [-flow / 10e-3, flow / 20e-3]
    return Ode(f, [20e5, 1e5], lambda t, y, m: dict(p1=y[0], p2=y[1]), mode=True,
               events=[(lambda t, y, m: y[1] / y[0] - 0.5283, 0, lambda t, y, m: (y, not m))])


@model("carbonate", 1)
def _():
    def value(t):
        a = 4.5e-7 * 1.3e-5
        g = lambda p: 1e-4 * t + 10**-p - (a + 1e-14) / 10**-p - 2 * a * 4.7e-11 / 100**-p
        p = root(g, 3, 12)
        return dict(H=10**-p, HCO3=a / 10**-p)
    return Closed("Root of the balance of charges in pH by bisection", value)
