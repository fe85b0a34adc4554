#!/usr/bin/env python3
"""texts.py DAEDAL [options]: random texts over the grammar of the model language, run, and compared with the values that language.py
gives them by the Modelica specification. README.md tells more."""
import argparse, collections, json, os, random, sys, tempfile, time
import covered, layout
from elements import KINDS, LEAST, RECORD, FIELDS, Text
from grammar import SCALARS, Grammar, Statements, smooth
from language import COLORS, Leave, Undefined, array, base, converted, each, execute, flat, nested, number, real, shape, text, value, written
from runs import BAD, Trial, command, in_parallel, random_of, told
from shrink import at, places, put, smaller

POINTS = 7
START = 0.37  # where relations of time do not all vanish
RTOL = "1e-10"  # a tenth of what values may be off by: expressions magnify the errors of the variables in them
CURVE = "partial function Curve\n  input Real a;\n  output Real y;\nend Curve;\n"
PAIR = "record Pair\n  Real a = 1;\n  Real v[2] = {2*a, 3};\nend Pair;\nrecord Outer\n  Pair p;\n  Boolean b;\nend Outer;\n"


# ---- making a text -----------------------------------------------------------------------------------------------------------------

class Maker:
    """Items of a text, one after another; each may read what earlier ones declare."""
    def __init__(self, R):
        self.R, self.g, self.items, self.names = R, Grammar(R), [], 0
        self.constants, self.fixed = Grammar(R, time=False, free=True), Grammar(R, time=False, free=True)  # what parameters, what constants may read

    def name(self):
        self.names += 1
        return "%s%d" % (self.R.choice("xyzuv"), self.names)

    def type(self):
        R = self.R
        if R.random() < .65: return R.choice(["Real", "Real", "Real", "Integer", "Boolean", "Color"])
        return array(R.choice(["Real", "Real", "Real", "Integer", "Boolean"]), *[R.randint(1, 3) for _ in range(R.choice([1, 1, 2]))])

    def declared(self, v, t):
        self.g.names[v] = t
        return v

    def make(self, count):
        kinds = {"par": 3, "def": 8, "for": 2, "ifeq": 2, "alg": 3, "fun": 3, "rec": 1, "when": 1, "multi": 1.5, "text": 1, "tab": .5, "slope": .7, "pairs": .7, "outer": .5, "high": .7, "slice": .7, "grid": .5, "reinit": .6}
        if self.R.random() < .5: self.g.names["s"] = "Real"
        self.state = "s" in self.g.names
        if not self.state: kinds["slope"] = kinds["reinit"] = 0
        if self.state and self.R.random() < .5: self.g.names["der(s)"] = "Real"
        kinds.update({name: k.weight for name, k in KINDS.items()})
        for _ in range(count):
            kind = self.R.choices(list(kinds), list(kinds.values()))[0]
            item = KINDS[kind].make(self) if kind in KINDS else getattr(self, "make_" + kind)()
            if item:
                self.items.append(item)
                if kind in ("rec", "when", "reinit") or (kind in KINDS and KINDS[kind].alone): kinds[kind] = 0
        dress = {"seed": self.R.randint(1, 10**9) if self.R.random() < .6 else 0, "parts": [w for w in ("order", "marks", "remarks", "package", "protected") if self.R.random() < .5]}
        return {"items": self.items, "stop": START + self.R.choice([1.0, 3.0, 0.5]) + 0.0123, "state": self.state, "dress": dress}

    def make_par(self):
        t, prefix = self.R.choice(SCALARS + ["Real", "Color", "Real[3]", "Integer[2]", "Real[2,2]"]), self.R.choice(["parameter", "constant", "final parameter"])
        known = self.fixed if prefix == "constant" else self.constants
        e, v = known.expr(t, 3), self.name()
        for g in [self.g, self.constants] + [self.fixed]*(prefix == "constant"): g.names[v] = t
        return ["par", v, t, e, prefix]

    def make_def(self):
        t = self.type()
        e = self.g.expr(t, 4)
        return ["def", self.declared(self.name(), t), t, e, self.R.choice(["binding", "equation", "equation", "turned", "sum"])]

    def make_for(self):
        n = self.R.randint(1, 4)
        e = self.g.inside("i").expr("Real", 3)
        return ["for", self.declared(self.name(), array("Real", n)), n, e, self.R.choice(["1:n", "1:size", "in"])]

    def make_ifeq(self):
        types = [self.R.choice(SCALARS) for _ in range(self.R.randint(1, 2))]
        test = self.g.expr("Boolean", 2)
        sides = [[self.g.expr(t, 2) for t in types] for _ in range(2)]
        more = [self.g.expr("Boolean", 2), [self.g.expr(t, 2) for t in types]] if self.R.random() < .3 else []
        return ["ifeq", [[self.declared(self.name(), t), t] for t in types], test, sides[0], sides[1], more]

    def make_tab(self):
        t, (n, of) = self.R.choice(["Real", "Integer"]), self.R.choice([(3, "Color"), (2, "Boolean")])
        es = [self.g.expr(t, 2) for _ in range(n)]
        return ["tab", self.declared(self.name(), "%s by %s" % (t, of)), t, of, es]

    def make_slope(self): return ["slope", self.declared(self.name(), "Real"), ["der", "Real", smooth(self.R, 3)]]

    def make_pairs(self):
        """An array of records: fields by modifications, with each, and by the declaration."""
        v, n = self.name(), self.R.randint(1, 3)
        a = [self.g.expr("Real", 2) for _ in range(n)] if self.R.random() < .6 else self.g.expr("Real", 2)
        w = self.g.expr("Real[2]", 2) if self.R.random() < .6 else []
        for k in range(1, n + 1):
            self.g.names["%s[%d].a" % (v, k)], self.g.names["%s[%d].v" % (v, k)] = "Real", "Real[2]"
        self.g.names[v + ".a"] = array("Real", n)
        return ["pairs", v, n, a, w]

    def make_outer(self):
        v, es = self.name(), [self.g.expr(t, 2) for t in ("Real", "Real[2]", "Boolean")]
        self.g.names.update({v + ".p.a": "Real", v + ".p.v": "Real[2]", v + ".b": "Boolean"})
        return ["outer", v, es, self.R.random() < .5]

    def make_high(self):
        """A function that is given to another one."""
        found = [i[1] for i in self.items if i[0] == "fun" and i[2] == [["a", "Real"]] and [t for _, t in i[3]] == ["Real"]]
        if not found:
            body = Grammar(self.R, {"a": "Real"}, self.g.functions, False, free=True).expr("Real", 3)
            self.items.append(["fun", "f%d" % len(self.items), [["a", "Real"]], [["y", "Real"]], [], [], [["set", "y", body]], None, False])
            found = [self.items[-1][1]]
        f, e = self.R.choice(found), self.g.expr("Real", 2)
        return ["high", self.declared(self.name(), "Real"), f, e, len(self.items)]

    def make_slice(self):
        n = self.R.randint(2, 4)
        k = self.R.randint(1, n - 1)
        es = [self.g.expr(array("Real", k), 2), self.g.expr(array("Real", n - k), 2)]
        return ["slice", self.declared(self.name(), array("Real", n)), n, k, es, self.R.choice(["ranges", "vectors"])]

    def make_grid(self):
        n, m = self.R.randint(1, 3), self.R.randint(1, 3)
        es = [self.g.inside("i").inside("n").expr("Real", 2) for _ in range(2)]
        return ["grid", self.declared(self.name(), array("Real", n, m)), n, m, es]

    def make_reinit(self):
        return ["reinit", "s", self.R.choice([.4, .5]) + .0033, self.R.choice([.31, .17]), self.R.choice([.5, -.25, 1.0])]

    def body(self, targets, grammar):
        """Statements that first give every target a value."""
        first = [["set", v, grammar.expr(t, 2)] for v, t in targets.items()]
        s = Statements(self.R, grammar, targets)
        rest = s.block(2, 4)
        return first + rest, s.counters()

    def make_alg(self):
        targets = {self.name(): self.R.choice(SCALARS + ["Real", "Real[3]"]) for _ in range(self.R.randint(1, 2))}
        # what is read is what earlier items declare
        inner = Grammar(self.R, self.g.names, self.g.functions, True, self.g.records)
        statements, counters = self.body(targets, inner)
        words = {s[0] for s in nested(statements)}
        # loops of the run make no events, as what is discrete needs them
        if "return" in words or (words & {"while", "break"} and any(base(t) != "Real" for t in targets.values())): return None
        for v, t in targets.items(): self.declared(v, t)
        prefix = "m%d_" % self.names
        statements = renamed(statements, {c: prefix + c for c in counters})
        return ["alg", [[v, t] for v, t in targets.items()], [prefix + c for c in counters], statements]

    def make_fun(self):
        R = self.R
        inputs = [["a", R.choice(["Real", "Real", "Integer", "Boolean", "Color", "Real[2]", "Real[3]", "Real[2,2]", "Boolean[2]"])]] + ([["b", R.choice(SCALARS)]] if R.random() < .5 else [])
        out = [["y", R.choice(["Real", "Real", "Real", "Integer", "Boolean", "Color", "Real[3]", "Real[2]", "Integer[2]", "Real[2,2]"])]] + ([["z", "Real"]] if R.random() < .3 else [])
        local = [["h", R.choice(["Real", "Integer"])]] if R.random() < .5 else []
        g = Grammar(R, dict(map(tuple, inputs)), self.g.functions, False, free=True)
        statements, counters = self.body(dict(map(tuple, local + out)), g)
        name = "f%d" % len(self.items)
        signature = ([t for _, t in inputs], out[0][1], [n for n, _ in inputs])
        default = self.constants.lit(inputs[-1][1]) if len(inputs) > 1 and R.random() < .4 else None
        for g in (self.g, self.constants, self.fixed): g.functions[name] = signature
        return ["fun", name, inputs, out, local, counters, statements, default, R.random() < .4]

    def make_rec(self):
        v = self.name()
        item = ["rec", v, [self.g.expr(t, 2) for t in FIELDS.values()], self.R.random() < .5]
        self.g.records[v] = ("Pack", FIELDS)
        return item

    def make_multi(self):
        found = [i for i in self.items if i[0] == "fun" and len(i[3]) == 2 and base(i[3][0][1]) == "Real"]
        if not found:
            g = Grammar(self.R, {"a": "Real", "b": "Integer"}, self.g.functions, False, free=True)
            body = [["set", "y", g.expr("Real", 3)], ["set", "z", g.expr("Real", 2)]]
            found = [["fun", "f%d" % len(self.items), [["a", "Real"], ["b", "Integer"]], [["y", "Real"], ["z", "Real"]], [], [], body, None, False]]
            self.items += found
        f = self.R.choice(found)
        arguments = [self.g.expr(t, 2) for _, t in f[2]]
        return ["multi", [[self.declared(self.name(), t), t] for _, t in f[3]], f[1], arguments]

    def make_when(self):
        """Memories that a clock sets; pre(v) is written as a call."""
        R = self.R
        names = {self.name(): R.choice(SCALARS) for _ in range(R.randint(1, 3))}
        g = Grammar(R, self.g.names, self.g.functions, True, self.g.records, free=True)
        for v, t in names.items(): g.names["pre(%s)" % v] = t
        # another clock, behind the first one, and a count of what one of the variables does
        clock = [R.choice([.45, .6]) + .0013, R.choice([.29, .19]), [g.expr(t, 2) for t in names.values()]] if R.random() < .5 else []
        flags = [v for v, t in names.items() if t == "Boolean"] or [v for v, t in names.items() if t == "Integer"]
        count = [self.name(), R.choice(["edge", "change"]) if names[flags[0]] == "Boolean" else "change", flags[0]] if flags and R.random() < .6 else []
        style = R.choice(["equation", "equation", "algorithm", "initial"])
        item = ["when", R.choice([.4, .5]) + .0071, R.choice([.21, .137]), [[v, t, self.constants.lit(t), g.expr(t, 3)] for v, t in names.items()], clock, count, style]
        for v, t in names.items(): self.declared(v, t)
        if count: self.declared(count[0], "Integer")
        return item

    def make_text(self):
        g = Grammar(self.R, {v: t for v, t in self.constants.names.items()}, time=False, free=True)
        e = ["==", "Boolean", g.expr("String", 3), g.expr("String", 2)]
        return ["text", self.declared(self.name(), "Boolean"), e, self.R.random() < .5]


def renamed(x, names):
    if isinstance(x, list): return [renamed(p, names) for p in x]
    return names.get(x, x) if isinstance(x, str) else x


# ---- its text ------------------------------------------------------------------------------------------------------------------------

def declaration(t, v, tail=""):
    n = t[t.index("[") + 1:-1].split(",") if "[" in t else []
    return "%s %s%s%s;" % (base(t), v, "[%s]" % ", ".join(map(str, n)) if n else "", tail)


def open_sizes(t): return array(base(t), *":"*len(shape(t))) if shape(t) else t


def function_text(item):
    _, name, inputs, out, local, counters, statements, default, opened = item
    lines = ["function " + name]
    for i, (v, t) in enumerate(inputs): lines.append("  input " + declaration(open_sizes(t) if opened else t, v, " = " + text(default) if default and i == len(inputs) - 1 else ""))
    lines += ["  output " + declaration(t, v) for v, t in out]
    if local or counters: lines += ["protected"] + ["  " + declaration(t, v) for v, t in local] + ["  Integer %s;" % c for c in counters]
    return "\n".join(lines + ["algorithm"] + written(statements, 1) + ["end %s;" % name, ""])


def model_text(spec): return model_parts(spec)[0]


def model_parts(spec):
    out = Text()
    before, lines, equations, sections = out.before, out.lines, out.equations, out.sections
    before.append("type Color = enumeration(%s);\n" % ", ".join(COLORS))
    for item in spec["items"]:
        kind, v = item[0], item[1]
        if kind == "par": lines.append("%s %s" % (item[4], declaration(item[2], v, " = " + text(item[3]))))
        elif kind == "def": definition_text(item, lines, equations)
        elif kind == "for":
            n, e = item[2], text(item[3])
            lines.append("Real %s[%d];" % (v, n))
            over = {"1:n": "i in 1:%d" % n, "1:size": "i in 1:size(%s, 1)" % v, "in": "i in {%s}" % ", ".join(str(k) for k in range(n, 0, -1))}[item[4]]
            equations.append("for %s loop\n    %s[i] = %s;\n  end for;" % (over, v, e))
        elif kind == "ifeq":
            lines += [declaration(t, w) for w, t in item[1]]
            part = lambda es: "\n".join("    %s = %s;" % (w, text(e)) for (w, _), e in zip(item[1], es))
            more = "  elseif %s then\n%s\n" % (text(item[5][0]), part(item[5][1])) if item[5] else ""
            equations.append("if %s then\n%s\n%s  else\n%s\n  end if;" % (text(item[2]), part(item[3]), more, part(item[4])))
        elif kind == "alg":
            lines += [declaration(t, w) for w, t in item[1]] + ["Real %s;" % c for c in item[2]]
            sections["algorithm " + v[0][0]] = written([["set", c, ["lit", "Integer", 0]] for c in item[2]] + item[3], 1)
        elif kind == "fun": before.append(function_text(item))
        elif kind == "rec":
            once(before, RECORD)
            lines.append("Pack %s;" % v)
            if item[3]: equations.append("%s = Pack(%s);" % (v, ", ".join(text(e) for e in item[2])))
            else: equations += ["%s.%s = %s;" % (v, f, text(e)) for f, e in zip(FIELDS, item[2])]
        elif kind == "multi":
            lines += [declaration(t, w) for w, t in v]
            equations.append("(%s) = %s(%s);" % (", ".join(w for w, _ in v), item[2], ", ".join(text(e) for e in item[3])))
        elif kind == "when":
            lines += [("discrete " if t == "Real" else "") + declaration(t, w, "").replace(";", "(start = %s, fixed = true);" % text(first)) for w, t, first, _ in item[3]]
            when_text(item, lines, equations, sections)
        elif kind in KINDS: KINDS[kind].text(item, out)
        elif kind in OTHERS: OTHERS[kind](item, before, lines, equations)
        elif kind == "text":
            lines += ["String s_%s = %s;" % (v, text(item[2][2])), "Boolean %s = s_%s == %s;" % (v, v, text(item[2][3], 5))] if item[3] else ["Boolean %s = %s;" % (v, text(item[2]))]
    if spec["state"]:
        lines.append("Real s(start = 0, fixed = true);")
        equations.append("der(s) = 1;")
    return dressed(spec, before, lines, equations, sections)


def dressed(spec, before, lines, equations, sections):
    """The parts of a text put together, in the dress that the description asks for, and names that it changes: new -> old."""
    parts, R = spec["dress"]["parts"] if spec["dress"]["seed"] else [], random.Random(spec["dress"]["seed"])
    if "order" in parts:
        for x in (lines, equations): R.shuffle(x)
    if parts: before = before[:1] + ['type Volt = Real(unit = "V", min = -1e9);\n', "type Three = Real[3];\n"] + before[1:]
    if "marks" in parts: lines = [layout.decorated(l, R) for l in lines]
    if "protected" in parts: lines = [("protected\n  " if i == len(lines)//3 else "public\n  " if i == len(lines)//2 + 1 else "") + l for i, l in enumerate(lines)]
    words = [("equation", ["  " + e for e in equations])]*bool(equations) + [(" of".join(name.split(" of")[:-1]) or name.split()[0], es) for name, es in sections.items()]
    body = "".join("%s\n%s\n" % (name, "\n".join(es)) for name, es in words)
    whole = "".join(before) + "model M\n  %s\n%s  annotation(experiment(StartTime = %r, StopTime = %r));\nend M;\n" % ("\n  ".join(lines), body, START, spec["stop"])
    if "package" in parts: whole = "package All\n%send All;\n" % whole
    return layout.scattered(whole, R, .04) if "remarks" in parts else (whole, {})


def when_text(item, lines, equations, sections):
    style, sign = item[6], ":=" if item[6] == "algorithm" else "="
    part = lambda es: "\n".join("    %s %s %s;" % (w[0], sign, text(e)) for w, e in zip(item[3], es))
    clock = "sample(%r, %r)" % (item[1], item[2])
    words = "when %s then\n%s\n" % ("{%s, initial()}" % clock if style == "initial" else clock, part([w[3] for w in item[3]]))
    if item[4]: words += "  elsewhen sample(%r, %r) then\n%s\n" % (item[4][0], item[4][1], part(item[4][2]))
    if style == "algorithm": sections["algorithm of a when"] = ["  " + words + "  end when;"]
    else: equations.append(words + "  end when;")
    if item[5]:
        lines.append("Integer %s(start = 0, fixed = true);" % item[5][0])
        equations.append("when %s(%s) then\n    %s = pre(%s) + 1;\n  end when;" % (item[5][1], item[5][2], item[5][0], item[5][0]))


def slope_text(item, before, lines, equations):
    lines.append("Real %s;" % item[1])
    equations.append("%s = %s;" % (item[1], text(item[2])))


def once(before, words):
    if words not in before: before.append(words)


def pairs_text(item, before, lines, equations):
    _, v, n, a, w = item
    once(before, PAIR)
    a = "each a = " + text(a) if isinstance(a[0], str) else "a = {%s}" % ", ".join(text(e) for e in a)
    lines.append("Pair %s[%d](%s%s);" % (v, n, a, ", each v = " + text(w) if w else ""))


def outer_text(item, before, lines, equations):
    _, v, (a, w, b), whole = item
    once(before, PAIR)
    if whole: lines.append("Outer %s = Outer(Pair(%s, %s), %s);" % (v, text(a), text(w), text(b)))
    else: lines.append("Outer %s(p(a = %s, v = %s), b = %s);" % (v, text(a), text(w), text(b)))


def high_text(item, before, lines, equations):
    _, v, f, e, k = item
    once(before, CURVE)
    before.append("function g%d\n  input Curve f;\n  input Real u;\n  output Real y;\nalgorithm\n  y := f(u) - 2*f(0.5*u);\nend g%d;\n" % (k, k))
    lines.append("Real %s = g%d(%s, %s);" % (v, k, f, text(e)))


def slice_text(item, before, lines, equations):
    _, v, n, k, es, style = item
    lines.append("Real %s[%d];" % (v, n))
    first, rest = ("1:%d" % k, "%d:end" % (k + 1)) if style == "ranges" else tuple("{%s}" % ", ".join(map(str, r)) for r in (range(1, k + 1), range(k + 1, n + 1)))
    equations += ["%s[%s] = %s;" % (v, r, text(e)) for r, e in zip((first, rest), es)]


def grid_text(item, before, lines, equations):
    _, v, n, m, es = item
    lines.append("Real %s[%d, %d];" % (v, n, m))
    equations.append("for i in 1:%d, n in 1:%d loop\n    if n == i then\n      %s[i, n] = %s;\n    else\n      %s[i, n] = %s;\n    end if;\n  end for;" % (n, m, v, text(es[0]), v, text(es[1])))


def tab_text(item, before, lines, equations): lines.append("%s %s[%s] = {%s};" % (item[2], item[1], item[3], ", ".join(text(e) for e in item[4])))
def reinit_text(item, before, lines, equations): equations.append("when sample(%r, %r) then\n    reinit(s, %r*pre(s));\n  end when;" % tuple(item[2:]))


OTHERS = {"slope": slope_text, "pairs": pairs_text, "outer": outer_text, "high": high_text, "slice": slice_text, "grid": grid_text, "tab": tab_text, "reinit": reinit_text}


def definition_text(item, lines, equations):
    _, v, t, e, style = item
    lines.append(declaration(t, v, " = " + text(e) if style == "binding" else ""))
    # an Integer variable on the left wants one on the right
    if style == "turned" and base(t) == "Real" and e[:2] != ["var", "Integer"]: equations.append("%s = %s;" % (text(e, 1), v))
    elif style == "sum" and t == "Real": equations.append("2*%s - %s = %s;" % (v, text(e, 6), v))
    elif style != "binding": equations.append("%s = %s;" % (v, text(e)))


# ---- its values ------------------------------------------------------------------------------------------------------------------------

def callable_of(item):
    _, name, inputs, out, local, counters, statements, default, _ = item

    def call(env, given, everything=False):
        inner = {"functions": env["functions"], "largest": env["largest"], "passes": env["passes"], "doubtful": env["doubtful"], "rounded": env["rounded"]}
        if isinstance(given, list): given = dict(zip([n for n, _ in inputs], given))
        for i, (n, t) in enumerate(inputs):
            x = given[n] if n in given else value(default, inner)
            inner[n] = each(float, x) if base(t) == "Real" else x
        try: execute(statements, inner)
        except Leave: pass
        for k in ("largest", "passes", "doubtful"): env[k] = inner[k]
        results = [converted(inner[v], t) for v, t in out]
        return results if everything else results[0]
    return call


class Meaning:
    """The values of a text at any time."""
    def __init__(self, spec):
        self.spec = spec
        self.functions = {i[1]: callable_of(i) for i in spec["items"] if i[0] == "fun"}
        # what equations are solved for, and not given, is off by a rounding
        found = [1e-8]*(spec["state"] or any(i[0] == "def" and i[4] == "sum" for i in spec["items"])) + [KINDS[i[0]].loose for i in spec["items"] if i[0] in KINDS]
        self.rounded = max(found, default=0.0)
        self.memories, self.start = {}, START
        for k, item in enumerate(spec["items"]):
            if item[0] == "when": self.memories[k] = self.ticks(k, item)
            elif item[0] in KINDS: self.memories[k] = KINDS[item[0]].prepare(self, k, item)

    def ticks(self, k, item):
        """The values that clocks set, from one tick to the next."""
        clocks = [[item[1], item[2], [e for _, _, _, e in item[3]]]] + ([item[4]] if item[4] else [])
        if any(first < LEAST for first, _, _ in clocks): raise Undefined
        ticks = [(first + n*step, es) for first, step, es in clocks for n in range(40) if first + n*step < self.spec["stop"]]
        ticks.sort(key=lambda tick: tick[0])
        if any(abs(a[0] - b[0]) < 1e-6 for a, b in zip(ticks, ticks[1:])): raise Undefined
        if item[6] == "initial": ticks = [(START, clocks[0][2])] + ticks
        state, list_of = {v: value(first, self.fresh(START)) for v, _, first, _ in item[3]}, []
        count = 0
        list_of.append((-1.0, dict({v: converted(state[v], t) for v, t, _, _ in item[3]}, **{item[5][0]: 0} if item[5] else {})))
        for number, (t, es) in enumerate(ticks):
            env = self.at(t, k, number == 0 and t == START)
            old = list_of[-1][1]
            for v in state: env["pre(%s)" % v] = old[v]
            new = {v: converted(value(e, env), kind) for (v, kind, _, _), e in zip(item[3], es)}
            if env["doubtful"]: raise Undefined  # rounding decides
            if item[5]:
                flag = item[5][2]
                count += t > START and (new[flag] != old[flag] if item[5][1] == "change" else new[flag] and not old[flag])
                new[item[5][0]] = count
            list_of.append((t, new))
        return list_of

    def state(self, t):
        """der(s) = 1 with what clocks do to s."""
        s, since = 0.0, START
        for item in self.spec["items"]:
            if item[0] != "reinit": continue
            for n in range(40):
                tick = item[2] + n*item[3]
                if START < tick <= t: s, since = (s + tick - since)*item[4], tick
        return s + t - since

    def fresh(self, t): return {"functions": self.functions, "time": t, "largest": 1.0, "passes": 0, "doubtful": False, "rounded": self.rounded}

    def at(self, t, until=None, initial=False):
        env = self.fresh(t)
        if initial: env["initial"] = True
        if self.spec["state"]: env["s"], env["der(s)"] = self.state(t), 1.0
        for k, item in enumerate(self.spec["items"][:until]): self.step(env, k, item, t)
        return env

    def step(self, env, k, item, t):
        kind, v = item[0], item[1]
        if kind in KINDS: KINDS[kind].step(self, env, item, t, self.memories[k])
        elif kind == "par": env[v] = converted(value(item[3], env), item[2])
        elif kind == "def": env[v] = converted(value(item[3], env), item[2])
        elif kind == "text": env[v] = value(item[2], env)
        elif kind == "for":
            env[v] = []
            for i in range(1, item[2] + 1):
                env["i"] = i
                env[v].append(converted(value(item[3], env), "Real"))
            del env["i"]
        elif kind == "ifeq":
            es = item[3] if value(item[2], env) else item[5][1] if item[5] and value(item[5][0], env) else item[4]
            env.update({w: converted(x, t) for (w, t), x in zip(v, [value(e, env) for e in es])})
        elif kind == "alg":
            inner = dict(env)
            execute(item[3], inner)
            for k in ("largest", "passes", "doubtful"): env[k] = inner[k]
            env.update({w: converted(inner[w], t) for w, t in v})
        elif kind == "rec": env[v] = {f: converted(value(e, env), t) for (f, t), e in zip(FIELDS.items(), item[2])}
        elif kind == "multi":
            xs = self.functions[item[2]](env, [value(e, env) for e in item[3]], True)
            env.update({w: x for (w, _), x in zip(v, xs)})
        elif kind == "tab": env[v] = [converted(value(e, env), item[2]) for e in item[4]]
        elif kind == "slope": env[v] = value(item[2], env)
        elif kind == "pairs":
            for i in range(item[2]):
                a = float(value(item[3] if isinstance(item[3][0], str) else item[3][i], env))
                env["%s[%d].a" % (v, i + 1)], env["%s[%d].v" % (v, i + 1)] = a, real(value(item[4], env)) if item[4] else [2*a, 3.0]
            env[v + ".a"] = [env["%s[%d].a" % (v, i + 1)] for i in range(item[2])]
        elif kind == "outer": env[v + ".p.a"], env[v + ".p.v"], env[v + ".b"] = [converted(value(e, env), t) for e, t in zip(item[2], ("Real", "Real[2]", "Boolean"))]
        elif kind == "high":
            f, u = self.functions[item[2]], float(value(item[3], env))
            env[v] = number(f(env, [u]) - 2*f(env, [0.5*u]))
        elif kind == "slice": env[v] = real(value(item[4][0], env)) + real(value(item[4][1], env))
        elif kind == "grid":
            env[v] = []
            for i in range(1, item[2] + 1):
                env["i"], row = i, []
                for n in range(1, item[3] + 1):
                    env["n"] = n
                    row.append(float(value(item[4][i != n], env)))
                env[v].append(row)
            del env["i"], env["n"]
        elif kind == "when": env.update([s for time_of, s in self.memories[k] if time_of <= t][-1])


def variables(spec):
    """Name, type of the variables that a table has."""
    found = {}
    for item in spec["items"]:
        if item[0] in KINDS: found.update(KINDS[item[0]].variables(item))
        elif item[0] == "def": found[item[1]] = item[2]
        elif item[0] == "text": found[item[1]] = "Boolean"
        elif item[0] == "for": found[item[1]] = array("Real", item[2])
        elif item[0] in ("ifeq", "alg", "multi"): found.update({w: t for w, t in item[1]})
        elif item[0] == "when": found.update(dict({w: t for w, t, _, _ in item[3]}, **{item[5][0]: "Integer"} if item[5] else {}))
        elif item[0] == "tab": found[item[1]] = array(item[2], len(item[4]))
        elif item[0] in ("slope", "high"): found[item[1]] = "Real"
        elif item[0] == "slice": found[item[1]] = array("Real", item[2])
        elif item[0] == "grid": found[item[1]] = array("Real", item[2], item[3])
        elif item[0] == "outer": found.update({item[1] + ".p.a": "Real", item[1] + ".p.v": "Real[2]", item[1] + ".b": "Boolean"})
        elif item[0] == "pairs": found.update({"%s[%d].%s" % (item[1], k + 1, f): t for k in range(item[2]) for f, t in (("a", "Real"), ("v", "Real[2]"))})
    return found


def columns(v, t):
    """Names of the scalars of a variable."""
    names = [""]
    for n in shape(t): names = [a + ("," if a else "") + str(i) for a in names for i in range(1, n + 1)]
    return ["%s[%s]" % (v, n) for n in names] if shape(t) else [v]


def scalars(x): return [float(y[1]) if isinstance(y, (tuple, list)) and y and y[0] == "Color" else float(y) for y in flat(x)]


def flat_values(env, found): return {c: x for v, t in found.items() for c, x in zip(columns(v, t), scalars(env[v] if t != "Color" else [env[v]]))}


def truth(spec):
    """Times and, for each, column -> (low, high, tolerance), None where both sides of a jump lie within a moment."""
    m, found, stop, rows = Meaning(spec), variables(spec), spec["stop"], []
    if not found or stop <= START: raise Undefined
    times, end = [START + (stop - START)*i/(POINTS - 1) for i in range(POINTS)], end_of(spec)
    if end:
        if any(abs(t - end[0]) < 1e-3 for t in times): raise Undefined
        times = [t for t in times if t < end[0]]
    for t in times:
        at = [m.at(min(max(t + d, START), stop)) for d in (0.0, 1e-6*stop, -1e-6*stop)]
        size = max(e["largest"] for e in at)
        values = [flat_values(e, found) for e in at]
        row = {}
        for c in values[0]:
            xs = [v[c] for v in values]
            if at[0]["doubtful"]: row[c] = None
            else: row[c] = (xs[0], max(1e-9, m.rounded)*size + (max(xs) - min(xs))*(m.rounded > 1e-8)) if max(xs) - min(xs) <= 1e-3*max(1.0, size) and (max(xs) - min(xs) < .5 or size > 1e3) else None
        rows.append((t, row))
    wild = 0
    for i in range(10):  # it has a value everywhere, and does not jump everywhere
        t = START + (stop - START)*(i + .37)/10
        a, b = (flat_values(m.at(x), found) for x in (t, t + 1e-6*stop))
        wild += any(abs(a[c] - b[c]) > 1e-3*max(1.0, abs(a[c])) for c in a)
    if wild > 1: raise Undefined
    if sum(x is None for _, r in rows for x in r.values()) > .3*sum(len(r) for _, r in rows): raise Undefined
    return rows


def end_of(spec):
    """The time before the stop at which the text ends the run, and how."""
    return next(((i[2], i[3]) for i in spec["items"] if i[0] == "end" and START < i[2] < spec["stop"]), None)


def described(seed, i):
    R = random_of(seed, i)
    for _ in range(300):
        try:
            spec = json.loads(json.dumps(Maker(R).make(R.randint(2, 7))))
            return spec, truth(spec)
        except (Undefined, OverflowError): pass
    raise SystemExit("no text in 300 attempts")


# ---- runs ------------------------------------------------------------------------------------------------------------------------------

WORDS = {"true": 1.0, "false": 0.0, **{c: float(i + 1) for i, c in enumerate(COLORS)}, **{"Color." + c: float(i + 1) for i, c in enumerate(COLORS)}}


def verdict(rows, end, names, code, out, err):
    if code is None: return "HANG", "20 s of processor time"
    if code < 0 or code >= 128: return "CRASH", "exit code %d" % code
    failed = end and end[1] == "assert"
    if failed and not code: return "WRONG", "an assertion that fails did not end the run"
    if failed and "must hold" not in err or code and not failed: return "refused", " ".join(err.split())[:200]
    head, *body = [l.split(",") for l in unquoted(out).splitlines()]
    head = [h.split(" [")[0].replace(";", ",") for h in head]
    head = [shown(h, names) for h in head]
    last_time = float(body[-1][0])
    if end and (last_time > end[0] + 1e-6 or not failed and last_time < end[0] - 1e-6): return "WRONG", "the run ends at %.9g, right %.9g" % (last_time, end[0])
    for t, row in rows:
        same = [r for r in body if abs(float(r[0]) - t) < 1e-9]
        if not same: return "WRONG", "no row at %g" % t
        for c, right in row.items():
            if right is None: continue
            if c not in head: return "WRONG", "no column %s" % c
            got = [WORDS.get(r[head.index(c)], None) if r[head.index(c)] in WORDS else float(r[head.index(c)]) for r in same]
            if all(not abs(x - right[0]) <= right[1] for x in got):
                what = "noted" if told(c.split("[")[0], "\n".join(l for l in err.splitlines() if "note:" in l)) else "WRONG"
                return what, "%s(%.6g) = %.12g, right %.12g" % (c, t, got[-1], right[0])
    return "right", ""


def unquoted(out):
    """The table with ; in names of elements, x[1;2], so that commas part columns."""
    first, rest = out.split("\n", 1)
    quoted, s = False, ""
    for ch in first:
        if ch == '"': quoted = not quoted
        else: s += ";" if ch == "," and quoted else ch
    return s + "\n" + rest


def shown(h, names):
    """The name of a column without the quotes that the dress gave it."""
    for new, old in names.items():
        for word in (new, new[1:-1]):
            if h.startswith(word): return old + h[len(word):]
    return h


def has_states(spec): return spec["state"] or any(i[0] in KINDS and KINDS[i[0]].states(i) for i in spec["items"])


def with_parameters(spec, names, out):
    """The table with the parameters that initial equations give, which have no columns."""
    m, old = Meaning(spec), {old: new for new, old in names.items()}
    more = {old.get(i[1], i[1]): m.memories[k] for k, i in enumerate(spec["items"]) if i[0] == "initial" and i[3] in ("parameter", "algorithm")}
    if not more: return out
    for i in spec["items"]:  # parameters that follow them
        if i[0] == "par": more.update(zip(['"%s"' % c for c in columns(old.get(i[1], i[1]), i[2])], scalars(m.at(START)[i[1]]) if i[2] != "Color" else scalars([m.at(START)[i[1]]])))
    head, *body = out.splitlines()
    return "\n".join([",".join([head] + list(more))] + [",".join([l] + [repr(x) for x in more.values()]) for l in body]) + "\n"


class Work:
    def __init__(self, options, folder): self.options, self.trial = options, Trial(options.daedal, folder)

    def run(self, spec, rows, name):
        path = self.trial.path(name)
        whole, names = model_parts(spec)
        with open(path, "w", newline="") as f: f.write(whole)
        code, out, err = command([self.trial.daedal, "run", path, "-o", "-", "--points", str(POINTS), "--rtol", RTOL] + ["--vars", "*,der(*)"]*has_states(spec))
        what, why = verdict(rows, end_of(spec), names, code, out, err)
        return self.judged(path, rows, with_parameters(spec, names, out)) if what == "right" and self.options.judge else (what, why)

    def judged(self, path, rows, out):
        """What the interpreter of src/judge says of the rows, at times at which nothing jumps: every equation holds."""
        with open(path + ".csv", "w") as f: f.write(out)
        code, said, _ = command([self.options.judge, path, path + ".csv", "-r"])
        os.remove(path + ".csv")
        if code: return "JUDGE", "exit code %s: %s" % (code, " ".join(said.split()))
        times = [float(l.split(",")[0]) for l in out.splitlines()[1:]]
        for line in said.splitlines():
            word, t, residual, size, where, what = line.split("\t", 5)
            if word == "gap": return "JUDGE", "line %s is not covered: %s" % (where, what)
            t = float(t)
            row = [r for s, r in rows if abs(s - t) < 1e-9]
            if not row or None in row[0].values() or sum(abs(s - t) < 1e-9 for s in times) > 1: continue
            if word == "error" or abs(float(residual)) > max([1e-9*float(size)] + [right[1] for right in row[0].values()]):
                return "JUDGE", "line %s at %.6g: %s" % (where, t, what)
        return "right", ""

    def __call__(self, i):
        spec, rows = described(self.options.seed, i)
        what, why = self.run(spec, rows, i)
        if what == "right": os.remove(self.trial.path(i))
        return i, what, why, covered.found(model_text(spec)) if what == "right" else set()

    def shrunk(self, failure):
        i, what, first = failure[:3]
        seen = {}

        def fails(spec):
            try: rows, _ = truth(spec), model_text(spec)
            except (Undefined, Leave, ArithmeticError, ValueError, IndexError, KeyError, TypeError, AttributeError): return None
            got, why = self.run(spec, rows, "%d_small" % i)
            # a refusal must stay the same one
            if got != what or (what == "refused" and kind_of(why) != kind_of(first)): return False
            seen.update(text=model_text(spec), why=why)
            return True

        spec = described(self.options.seed, i)[0]
        if not fails(spec): return failure, "", "does not fail again"
        smaller(spec, fails, 500, simpler_trees)
        with open(self.trial.path("%d_small" % i), "w") as f: f.write(seen["text"])
        return failure, seen["text"], seen["why"]


def kind_of(why):
    """The words of a message without names and numbers."""
    words = why.split("error:")[-1].split()
    return " ".join(w for w in words if w.isalpha())[:60]


def simpler_trees(spec):
    """The text with an expression replaced by one of its parts of the same type, or by a literal."""
    for path in places(spec):
        e = at(spec, path)
        if not (isinstance(e, list) and len(e) > 1 and isinstance(e[0], str) and isinstance(e[1], str) and base(e[1]) in SCALARS + ["Color", "String"]): continue
        if e[0] in ("lit", "time") or path[-1] == 1: continue
        for sub in places(e):
            p = at(e, sub)
            if sub and isinstance(p, list) and len(p) > 1 and p[0] != e and p[1] == e[1] and isinstance(p[0], str): yield put(spec, path, p)
        simple = {"Real": 1.5, "Integer": 1, "Boolean": True, "Color": ["Color", 1], "String": ""}
        if "[" not in e[1]: yield put(spec, path, ["lit", e[1], simple[e[1]]])


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("daedal")
    a.add_argument("--judge", help="trial_judge_rows of test/: the interpreter of src/judge evaluates the rows, too")
    a.add_argument("--texts", type=int, default=200, help="how many (200)")
    a.add_argument("--seed", type=int, help="the same texts again; else one from the clock, which is printed")
    a.add_argument("--only", type=int, help="the text of this number alone, printed")
    a.add_argument("--jobs", type=int, default=2, help="processes (2)")
    a.add_argument("--keep", help="a folder for the texts that fail")
    a.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    a.add_argument("--shrink", type=int, default=4, help="make so many failures of each verdict small (4)")
    a.add_argument("--covered", action="store_true", help="every element of covered.py must come out right in a text")
    a.add_argument("--refused", type=float, default=0, help="per cent of the texts that may be refused or noted (0)")
    options = a.parse_args()
    if options.seed is None: options.seed = int(time.time()*1000) % 10**9
    folder = options.keep or tempfile.mkdtemp(prefix="texts")
    os.makedirs(folder, exist_ok=True)
    print("seed %d, texts in %s" % (options.seed, folder))
    if options.only: print(model_text(described(options.seed, options.only)[0]))
    work, counts, failures, began = Work(options, folder), collections.Counter(), [], time.time()
    seen = set()
    for failure in in_parallel(work, [options.only] if options.only else range(1, options.texts + 1), options.jobs):
        counts[failure[1]] += 1
        seen |= failure[3]
        if failure[1] != "right":
            failures.append(failure)
            print("%-7s %d: %s" % (failure[1], failure[0], failure[2]), flush=True)
        if time.time() - began > options.seconds: break
    groups = collections.defaultdict(list)
    for f in failures: groups[f[1], kind_of(f[2]) if f[1] in ("refused", "JUDGE") else ""].append(f)
    for failure, small, why in in_parallel(work.shrunk, [f for g in groups.values() for f in g[:options.shrink]], options.jobs):
        print("\n%s, number %d: %s\n%s" % (failure[1], failure[0], why, small), flush=True)
    total = sum(counts.values())
    faults = covered.faults(seen) if options.covered else []
    for fault in faults: print(fault)
    print("%d texts: %s" % (total, ", ".join("%d %s" % (n, w) for w, n in counts.most_common())))
    return 1 if faults or any(counts[w] for w in BAD + ("JUDGE",)) or counts["refused"] + counts["noted"] > options.refused/100*total else 0


if __name__ == "__main__": sys.exit(main())
