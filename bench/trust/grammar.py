"""Random expressions, statements, functions and declarations over the grammar of the model language (language.py has their meaning)."""
from language import array, base, shape

SCALARS = ["Real", "Integer", "Boolean"]
ELEMENTARY = ["sin", "cos", "tanh", "atan"]


class Grammar:
    """Makes expressions of a type. names: name -> type of what may be read; functions: name -> (inputs, output type, names of inputs).
    free: relations need no events, as in functions; else what decides Integers and Booleans must make them."""
    def __init__(self, R, names=(), functions=None, time=True, records=None, free=False):
        self.R, self.names, self.functions, self.time, self.records = R, dict(names), functions or {}, time, records or {}
        self.free = free

    def lit(self, t):
        R = self.R
        if t == "Real": return ["lit", t, R.choice([0.5, 2.0, 1.5, 3.0, 0.25, 1e-2, 7.25, 1.0, -1.5, -2.0, R.uniform(-3, 3)])]
        if t == "Integer": return ["lit", t, R.choice([0, 1, 2, 3, 5, 7, -1, -2, -3])]
        if t == "Boolean": return ["lit", t, R.random() < .5]
        if t == "Color": return ["lit", t, ["Color", R.randint(1, 3)]]
        if t == "String": return ["lit", t, R.choice(["", "a", "on", "a b", "x\"y", "0.5"])]
        n = shape(t)
        inner = base(t) if len(n) == 1 else array(base(t), *n[1:])
        return ["array", t] + [self.lit(inner) for _ in range(n[0])]

    def leaf(self, t):
        found = [["var", t, v] for v, s in self.names.items() if s == t]
        found += [["field", t, v, f] for v, (_, fields) in self.records.items() for f, s in fields.items() if s == t]
        if t == "Real":
            found += [["var", "Integer", v] for v, s in self.names.items() if s == "Integer"][:1]
            if self.time: found.append(["time", "Real"])
        return self.R.choice(found) if found and self.R.random() < .8 else self.lit(t)

    def expr(self, t, depth):
        """An expression of type t that is at most so deep."""
        if depth <= 0 or self.R.random() < .12: return self.leaf(t)
        R, d = self.R, depth - 1
        makers = {"Real": self.real, "Integer": self.integer, "Boolean": self.boolean, "Color": self.color, "String": self.string}
        if "[" in t: return self.whole(t, d)
        if R.random() < .08: return self.conditional(t, d)
        if R.random() < .1 and t != "String" and (self.free or t == "Real"):
            got = self.calls(t, d)
            if got: return got
        return makers[t](t, d)

    def conditional(self, t, d):
        e = ["if", t, self.expr("Boolean", d), self.expr(t, d)]
        if self.R.random() < .3: e += [self.expr("Boolean", d), self.expr(t, d)]
        return e + [self.expr(t, d)]

    def calls(self, t, d):
        fitting = [f for f, (_, out, _) in self.functions.items() if out == t]
        if not fitting: return None
        f = self.R.choice(fitting)
        inputs, _, names = self.functions[f]
        if self.R.random() < .3:
            order = list(range(len(inputs)))
            self.R.shuffle(order)
            return ["named", t, f, [names[i] for i in order]] + [self.expr(inputs[i], d) for i in order]
        return ["call", t, f] + [self.expr(i, d) for i in inputs]

    def real(self, t, d):
        R, x = self.R, lambda: self.expr("Real", d)
        kind = R.randint(0, 17)
        if kind <= 3: return [R.choice(["+", "-", "*", "-", "*", ".*", ".+", ".-"]), t, x(), x()]
        if kind == 4: return [R.choice(["/", "./"]), t, x(), ["+", t, ["lit", t, 1.0], ["abs", t, x()]] if R.random() < .5 else ["lit", t, R.choice([2.0, 4.0, -3.0])]]
        if kind == 5 and R.random() < .2: return ["^", t, ["+", t, ["lit", t, 0.5], ["abs", t, x()]], ["lit", t, R.choice([0.5, -1.0, 1.5])]]
        if kind == 5: return [R.choice(["^", ".^"]), t, x(), ["lit", "Integer", R.choice([2, 2, 3])]]
        if kind == 6: return ["neg", t, x()]
        if kind == 7: return [R.choice(ELEMENTARY), t, x()]
        if kind == 8: return R.choice([lambda: ["sqrt", t, ["abs", t, x()]], lambda: ["exp", t, ["neg", t, ["abs", t, x()]]], lambda: ["log", t, ["+", t, ["lit", t, 1.0], ["^", t, x(), ["lit", "Integer", 2]]]],
                                       lambda: ["log10", t, ["+", t, ["abs", t, x()], ["lit", t, 0.5]]], lambda: ["asin", t, ["sin", t, x()]], lambda: ["acos", t, ["tanh", t, x()]],
                                       lambda: ["sinh", t, ["tanh", t, x()]], lambda: ["cosh", t, ["tanh", t, x()]], lambda: ["tan", t, ["atan", t, x()]], lambda: ["atan2", t, x(), x()]])()
        if kind == 9: return [R.choice(["min", "max"]), t, x(), x()]
        if kind == 10: return [R.choice(["abs", "floor", "ceil"]), t, x()]
        if kind == 11: return [R.choice(["mod", "rem", "div"]), t, x(), ["lit", t, R.choice([1.0, 2.0, 0.75, -1.5])]]
        if kind == 12: return self.of_array(t, d)
        if kind == 13: return ["noEvent", t, x()] if R.random() < .5 else ["smooth", t, ["lit", "Integer", R.randint(0, 2)], x()]
        if kind == 14: return ["semiLinear", t, x(), x(), x()] if R.random() < .6 else ["homotopy", t, x(), x()]
        if kind == 15: return [R.choice(["+", "*", "-"]), t, self.expr("Integer", d), x()]
        if kind == 16: return ["/", t, self.expr("Integer", d), ["lit", "Integer", R.choice([2, 3, -4, 7])]]
        return self.conditional(t, d)

    def of_array(self, t, d):
        """A number that an array gives."""
        R, n = self.R, self.R.randint(1, 4)
        v = array(base(t), n)
        kind = R.randint(0, 7)
        if kind <= 1: return ["index", t, self.expr(v, d), ["lit", "Integer", R.randint(1, n)] if R.random() < .7 else ["end", "Integer"]]
        if kind == 2: return [R.choice(["sum", "product", "min", "max"]), t, self.expr(v, d)]
        if kind == 3: return ["*", t, self.expr(v, d), self.expr(v, d)]
        if kind == 4: return ["index", t, self.expr(array(base(t), 2, n), d), ["lit", "Integer", R.randint(1, 2)], ["lit", "Integer", R.randint(1, n)]]
        if kind == 5 and t == "Real": return ["scalar", t, self.expr(array("Real", 1, 1), d)]
        if kind == 6:
            i, kind = R.choice(["i", "j", "k"]), R.choice(["sum", "product", "min", "max"])
            if R.random() < .3: return ["comp", t, kind, i, *self.values(i, t, d)]
            inner = self.inside(i)
            if R.random() < .25: return ["comp", t, kind, i, inner.inside("n").expr(t, d), self.range(R.randint(1, 3)), "n", self.range(R.randint(1, 2))]
            return ["comp", t, kind, i, inner.expr(t, d), self.range(R.randint(1, 4))]
        if kind == 7 and R.random() < .5:  # an array over an enumeration or Boolean, which is its subscript
            n, of = R.choice([(3, "Color"), (2, "Boolean")])
            tables = [v for v, s in self.names.items() if s == "%s by %s" % (t, of)]
            if tables: return ["index", t, ["var", array(t, n), R.choice(tables)], self.expr(of, d)]
        return ["sum", t, self.expr(v, d)]

    def inside(self, i, t="Integer"):
        """The same with a counter."""
        g = Grammar(self.R, self.names, self.functions, self.time, self.records, self.free)
        g.names[i] = t
        return g

    def values(self, i, t, d):
        """What a comprehension says of the values of a type, or of a range of them or of Reals."""
        R = self.R
        of = R.choice(["Color", "Color", "Boolean", "Boolean", "Real"])
        if of == "Real": over = ["range", "Real[3]", ["lit", "Real", 0.25], ["lit", "Real", 0.5], ["lit", "Real", 1.25]]
        elif of == "Color" and R.random() < .4: over = ["range", "Color[2]", ["lit", "Color", ["Color", 2]], ["lit", "Color", ["Color", 3]]]
        else: over = ["values", "%s[%d]" % (of, 3 if of == "Color" else 2), of]
        return self.inside(i, of).expr(t, d), over

    def range(self, n):
        if self.R.random() < .2: return ["range", array("Integer", n), ["lit", "Integer", 2*n - 1], ["lit", "Integer", -2], ["lit", "Integer", 1]]
        return ["range", array("Integer", n), ["lit", "Integer", 1], ["lit", "Integer", n]]

    def integer(self, t, d):
        R, x = self.R, lambda: self.expr("Integer", d)
        kind = R.randint(0, 9)
        if kind <= 2: return [R.choice(["+", "-", "*"]), t, x(), x()]
        if kind == 3: return [R.choice(["mod", "rem", "div"]), t, x(), ["lit", t, R.choice([2, 3, -2, 5, -7])]]
        if kind == 4: return ["neg", t, x()]
        if kind == 5: return ["integer", t, self.expr("Real", d)] if R.random() < .7 or not self.free else ["sign", t, self.expr("Real", d)]
        if kind == 6: return [R.choice(["min", "max"]), t, x(), x()]
        if kind == 7: return ["abs", t, x()]
        if kind == 8:
            if R.random() < .5: return ["Integer", t, self.expr("Color", d)]
            n = [R.randint(1, 3) for _ in range(R.randint(1, 2))]
            a = self.expr(array("Real", *n), d)
            return ["size", t, a, ["lit", "Integer", R.randint(1, len(n))]] if R.random() < .6 else ["ndims", t, a]
        return self.of_array(t, d)

    def boolean(self, t, d):
        R = self.R
        kind = R.randint(0, 7)
        if kind <= 1: return [R.choice(["<", "<=", ">", ">="]), t, self.expr("Real", d), self.expr("Real", d)]
        if kind == 2: return [R.choice(["<", "<=", ">", ">=", "==", "<>"]), t, self.expr("Integer", d), self.expr("Integer", d)]
        if kind == 3: return [R.choice(["and", "or"]), t, self.expr(t, d), self.expr(t, d)]
        if kind == 4: return ["not", t, self.expr(t, d)]
        if kind == 5: return [R.choice(["==", "<>", "<", ">="]), t, self.expr("Color", d), self.expr("Color", d)]
        if kind == 6: return [R.choice(["==", "<>"]), t, self.expr(t, d), self.expr(t, d)]
        if self.time and not self.free and R.random() < .3: return ["initial", t]
        return ["noEvent" if self.free else "not", t, self.expr(t, d)]

    def color(self, t, d):
        R = self.R
        kind = R.random()
        if kind < .15: return [R.choice(["min", "max"]), t, self.expr(t, d), self.expr(t, d)]
        if kind < .25: return ["Color", t, ["lit", "Integer", R.randint(1, 3)]]
        return self.conditional(t, d) if kind < .6 else self.leaf(t)

    def string(self, t, d):
        R = self.R
        kind = R.randint(0, 4)
        if kind == 0: return ["+", t, self.expr(t, d), self.expr(t, d)]
        if kind == 4: return ["String with", t, *R.choice([lambda: (self.expr("Real", d), "significantDigits", R.randint(1, 9)), lambda: (self.expr("Real", d), "format", R.choice(["8.3f", ".4e", "-9.2f", "12.5g"])),
                                                          lambda: (self.expr("Integer", d), "format", R.choice(["05d", "d", "-6d"]))])()]
        if kind == 1: return ["String", t, self.expr(R.choice(["Integer", "Boolean", "Color", "Real"]), d)]
        if kind == 2: return ["String", t, self.expr("Integer", d), ["lit", "Integer", R.randint(0, 6)], ["lit", "Boolean", R.random() < .5]]
        return self.lit(t)

    def whole(self, t, d):
        """An array."""
        R, b, n = self.R, base(t), shape(t)
        x = lambda s=t: self.expr(s, d)
        inner = b if len(n) == 1 else array(b, *n[1:])
        if b == "Real":
            kind = R.randint(0, 13)
            if kind <= 1: return [R.choice(["+", "-", ".*", ".+"]), t, x(), x()]
            if kind == 2: return [R.choice(["*", ".*"]), t, x("Real"), x()] if R.random() < .5 else ["/", t, x(), ["lit", "Real", R.choice([2.0, -4.0])]]
            if kind == 3: return ["neg", t, x()]
            if kind == 4: return [R.choice(ELEMENTARY + ["abs"]), t, x()]
            if kind == 5 and len(n) == 1: return ["*", t, x(array(b, n[0], 2)), x(array(b, 2))]
            if kind == 5: return ["*", t, x(array(b, n[0], 3)), x(array(b, 3, n[1]))]
            if kind == 6 and len(n) == 2: return ["transpose", t, x(array(b, n[1], n[0]))]
            if kind == 7: return self.built(t, d)
            if kind == 8: return ["fill", t, x("Real")] + [["lit", "Integer", k] for k in n]
            if kind == 9 and n == [3]: return ["cross", t, x(), x()] if R.random() < .5 else ["*", t, ["skew", array(b, 3, 3), x()], x()]
            if kind == 10 and len(n) == 1 and n[0] > 1: return ["linspace", t, x("Real"), x("Real"), ["lit", "Integer", n[0]]]
            if kind == 11: return self.sliced(t, d)
            if kind == 12: return self.joint(t, d)
        if R.random() < .1: return self.conditional(t, d)
        if len(n) == 1 and R.random() < .4:
            i = R.choice(["i", "j", "k"])
            return ["comp", t, "{}", i, self.inside(i).expr(inner, d), self.range(n[0])]
        if len(n) == 2 and R.random() < .2:
            return ["comp", t, "{}", "i", self.inside("i").inside("n").expr(b, d), self.range(n[1]), "n", self.range(n[0])]
        if len(n) == 2 and b == "Real" and R.random() < .4: return ["matrix", t] + [["array", inner] + [x(b) for _ in range(n[1])] for _ in range(n[0])]
        return self.leaf(t) if R.random() < .3 else ["array", t] + [x(inner) for _ in range(n[0])]

    def built(self, t, d):
        """Matrices with a pattern, vectors from them."""
        R, n = self.R, shape(t)
        if len(n) == 1: return ["vector", t, self.expr(array("Real", n[0], 1), d)] if R.random() < .5 else [R.choice(["zeros", "ones"]), t, ["lit", "Integer", n[0]]]
        if n[0] == n[1]:
            kind = R.randint(0, 3)
            if kind == 0: return ["identity", t, ["lit", "Integer", n[0]]]
            if kind == 1: return ["diagonal", t, self.expr(array("Real", n[0]), d)]
            if kind == 2: return ["symmetric", t, self.expr(t, d)]
            return ["^", t, self.expr(t, d), ["lit", "Integer", R.randint(1, 3)]]
        return ["outerProduct", t, self.expr(array("Real", n[0]), d), self.expr(array("Real", n[1]), d)] if n[1] > 1 else ["matrix", t] + [["array", "Real[1]", self.expr("Real", d)] for _ in range(n[0])]

    def sliced(self, t, d):
        """A part of a larger array."""
        R, n = self.R, shape(t)
        more = [k + R.randint(0, 2) for k in n]
        a = self.expr(array("Real", *more), d) if R.random() < .8 or len(n) > 1 else None
        if a is None:  # a row or column of a matrix
            m, k = R.randint(1, 3), R.randint(0, 1)
            whole = self.expr(array("Real", *([m, n[0]] if k == 0 else [n[0], m])), d)
            fixed = ["lit", "Integer", R.randint(1, m)]
            return ["index", t, whole] + ([fixed, ["all", "Integer"]] if k == 0 else [["all", "Integer"], fixed])
        parts = []
        for k, m in zip(n, more):
            first = R.randint(1, m - k + 1)
            if k == m and R.random() < .5: parts.append(["all", "Integer"])
            elif R.random() < .7: parts.append(["range", array("Integer", k), ["lit", "Integer", first], ["lit", "Integer", first + k - 1]])
            else: parts.append(["array", array("Integer", k)] + [["lit", "Integer", R.randint(1, m)] for _ in range(k)])
        return ["index", t, a] + parts

    def joint(self, t, d):
        n = shape(t)
        if len(n) == 2 and n[1] > 1 and self.R.random() < .5:
            k, part = self.R.randint(1, n[1] - 1), lambda rows, m: self.expr(array("Real", rows, m), d)
            if self.R.random() < .5: return ["cat", t, ["lit", "Integer", 2], part(n[0], k), part(n[0], n[1] - k)]
            rows = [n[0]] if n[0] < 2 else [1, n[0] - 1]
            return ["blocks", t, [[part(m, k), part(m, n[1] - k)] for m in rows]]
        if n[0] < 2: return self.leaf(t)
        k = self.R.randint(1, n[0] - 1)
        return ["cat", t, ["lit", "Integer", 1], self.expr(array("Real", k, *n[1:]), d), self.expr(array("Real", n[0] - k, *n[1:]), d)]


def smooth(R, d):
    """An expression of the state s and time whose derivative the language has."""
    x = lambda: smooth(R, d - 1)
    number = ["lit", "Real", R.choice([0.5, 2.0, 1.5, 3.0, -1.5])]
    if d <= 0: return R.choice([["var", "Real", "s"], ["time", "Real"], number])
    kind = R.randint(0, 6)
    if kind <= 2: return [R.choice(["+", "-", "*", "*"]), "Real", x(), x()]
    if kind == 3: return ["/", "Real", x(), ["+", "Real", ["lit", "Real", 2.0], ["^", "Real", x(), ["lit", "Integer", 2]]]]
    if kind == 4: return ["neg", "Real", x()]
    if kind == 5: return ["^", "Real", x(), ["lit", "Integer", R.choice([2, 3])]]
    return [R.choice(["sin", "cos", "exp", "tanh", "atan"]), "Real", x()]


class Statements:
    """Random algorithms over variables that are all assigned first."""
    def __init__(self, R, grammar, targets):
        self.R, self.g, self.targets, self.loops = R, grammar, dict(targets), 0
        for v, t in targets.items(): grammar.names[v] = t

    def block(self, depth, count, inside=False):
        return [self.statement(depth, inside) for _ in range(self.R.randint(1, count))]

    def statement(self, depth, inside):
        R = self.R
        kind = R.randint(0, 9) if depth > 0 else 0
        if kind <= 3: return self.set()
        if kind <= 5:
            last = [[R.choice(["break", "return"])]] if inside and R.random() < .3 else []
            return ["if", self.g.expr("Boolean", 2), self.block(depth - 1, 2, inside) + last, self.block(depth - 1, 2, inside) if R.random() < .5 else []]
        if kind <= 7: return self.count(depth)
        return self.ending(depth)

    def set(self):
        arrays = [v for v, t in self.targets.items() if "[" in t]
        if arrays and self.R.random() < .3:
            v = self.R.choice(arrays)
            return ["set", v, [["lit", "Integer", self.R.randint(1, n)] for n in shape(self.targets[v])], self.g.expr(base(self.targets[v]), 2)]
        v = self.R.choice(list(self.targets))
        return ["set", v, self.g.expr(self.targets[v], 3)]

    def count(self, depth):
        """A for over a range or an array, whose counter is read."""
        R, i = self.R, "i%d" % self.loops
        self.loops += 1
        t = R.choice(["Integer", "Integer", "Real"])
        over = self.g.range(R.randint(1, 4)) if t == "Integer" else self.g.lit(array("Real", R.randint(1, 3)))
        self.g.names[i] = t
        body = self.block(depth - 1, 2, True)
        del self.g.names[i]
        return ["for", i, over, body]

    def ending(self, depth):
        """A while that ends for sure: a counter that nothing else sets."""
        k = "c%d" % self.loops
        self.loops += 1
        limit = ["<", "Boolean", ["var", "Integer", k], ["lit", "Integer", self.R.randint(1, 6)]]
        test = ["and", "Boolean", limit, self.g.expr("Boolean", 1)] if self.R.random() < .6 else limit
        step = ["set", k, ["+", "Integer", ["var", "Integer", k], ["lit", "Integer", 1]]]
        return ["if", ["lit", "Boolean", True], [["set", k, ["lit", "Integer", 0]], ["while", test, [step] + self.block(depth - 1, 2, True)]], []]

    def counters(self): return ["c%d" % k for k in range(self.loops)]
