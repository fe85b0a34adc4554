"""More kinds of items of the texts: what a user writes besides definitions. Each has its text, and its values by the Modelica specification.

A kind makes an item (lists, numbers, words), writes it, and gives its values: `prepare` once for a text, `step` at a time."""
import math
from fractions import Fraction
from grammar import SCALARS, Grammar
from language import Leave, Undefined, array, base, converted, each, execute, flat, nested, number, real, shape, text, value, written

DUO = "record Duo\n  Real a;\n  Real v[2];\nend Duo;\n"
PAIR = {"a": "Real", "v": "Real[2]"}
RECORD = "record Pack\n  Real a;\n  Integer k;\n  Real v[2];\nend Pack;\n"
FIELDS = {"a": "Real", "k": "Integer", "v": "Real[2]"}


class Text:
    """What a text is put together from."""
    def __init__(self): self.before, self.lines, self.equations, self.sections = [], [], [], {}

    def once(self, words):
        if words not in self.before: self.before.append(words)

    def declare(self, t, v, tail="", prefix=""):
        n = shape(t)
        self.lines.append("%s%s %s%s%s;" % (prefix, base(t), v, "[%s]" % ", ".join(map(str, n)) if n else "", tail))


class Kind:
    weight, loose, alone = 1, 0.0, False  # loose: how far values may be off; alone: once in a text

    def prepare(self, meaning, k, item): return None
    def variables(self, item): return {}
    def states(self, item): return False
    def step(self, meaning, env, item, t, memory): pass


LEAST = 0.38  # clocks begin behind the start


def ticks_of(clocks, stop):
    """Times of clocks (first, step, what), in order; two clocks never tick together."""
    found = sorted([(first + n*step, what) for first, step, what in clocks for n in range(40) if first + n*step < stop], key=lambda x: x[0])
    if any(step < 0.01 or first < LEAST for first, step, _ in clocks) or any(abs(a[0] - b[0]) < 1e-6 for a, b in zip(found, found[1:])): raise Undefined
    return found


def last(steps, t): return [s for at, s in steps if at <= t][-1]


def solved(A, b):
    """A^-1 b, exactly."""
    n = len(b)
    M = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(A, b)]
    for k in range(n):
        p = next((r for r in range(k, n) if M[r][k]), None)
        if p is None: raise Undefined
        M[k], M[p] = M[p], M[k]
        for r in range(n):
            if r != k: M[r] = [x - M[r][k]/M[k][k]*y for x, y in zip(M[r], M[k])]
    return [float(M[k][n]/M[k][k]) for k in range(n)]


class Flow(Kind):
    """States whose slopes equations of arrays connect."""
    weight, loose = 1.2, 1e-6

    def states(self, item): return True

    def make(self, m):
        R, v, style = m.R, m.name(), m.R.choice(["matrix", "rows", "chain", "turn", "each"])
        n = 2 if style == "turn" else R.randint(1, 3)
        A = [[R.choice([-2, -1, 0, 1, 2, 3]) + 4*(i == j) for j in range(n)] for i in range(n)]
        m.g.names[v] = m.g.names["der(%s)" % v] = array("Real", n)
        return ["flow", v, n, style, A, [R.choice([1.0, -2.0, 0.5]) for _ in range(n)], [R.choice([0.0, 1.5, -0.25]) for _ in range(n)]]

    def text(self, item, out):
        _, v, n, style, A, b, first = item
        out.declare(array("Real", n), v, "(start = {%s}, each fixed = true)" % ", ".join(map(repr, first)))
        numbers = lambda x: "{%s}" % ", ".join(numbers(p) if isinstance(p, list) else repr(p) for p in x)
        if style in ("matrix", "rows"): out.lines.append("parameter Real A_%s[%d, %d] = %s;" % (v, n, n, numbers(A)))
        if style == "matrix": out.equations.append("A_%s*der(%s) = %s;" % (v, v, numbers(b)))
        elif style == "rows": out.equations.append("for i in 1:%d loop\n    sum(A_%s[i, j]*der(%s[j]) for j in 1:%d) = (%s)[i];\n  end for;" % (n, v, v, n, numbers(b)))
        elif style == "turn": out.equations.append("der(%s) = [0, -1; 1, 0]*%s;" % (v, v))
        elif style == "each": out.equations.append("for i in 1:%d loop\n    der(%s[i]) = if i == 1 then %r else 0.5*i;\n  end for;" % (n, v, b[0]))
        else:
            out.equations.append("der(%s[1]) = %r;" % (v, b[0]))
            if n > 1: out.equations.append("der(%s[2:end]) = %s[1:%d];" % (v, v, n - 1))

    def prepare(self, meaning, k, item): return solved(item[4], item[5]) if item[3] in ("matrix", "rows") else None

    def step(self, meaning, env, item, t, memory):
        _, v, n, style, A, b, first = item
        s = t - meaning.start
        if len(first) != n or len(b) != n or len(A) != n: raise Undefined
        if style in ("matrix", "rows"): x, d = [p + q*s for p, q in zip(first, memory)], memory
        elif style == "each": d = [b[0] if i == 1 else 0.5*i for i in range(1, n + 1)]; x = [p + q*s for p, q in zip(first, d)]
        elif style == "turn":
            c, z = math.cos(s), math.sin(s)
            x = [c*first[0] - z*first[1], z*first[0] + c*first[1]]
            d = [-x[1], x[0]]
        else:  # polynomials, each the integral of the one before
            p = [first[0], b[0]]
            rows = [p]
            for w in first[1:]: rows.append([w] + [c/(k + 1) for k, c in enumerate(rows[-1])])
            x = [sum(c*s**k for k, c in enumerate(p)) for p in rows]
            d = [b[0]] + x[:-1]
        env[v], env["der(%s)" % v] = x, d

    def variables(self, item): return {item[1]: array("Real", item[2])}


class Ramp(Kind):
    """A state whose slope a Boolean, set by a clock, chooses."""
    weight, loose = .8, 1e-8

    def states(self, item): return True

    def make(self, m):
        v, R = m.name(), m.R
        m.g.names.update({v: "Real", v + "_up": "Boolean"})
        return ["ramp", v, R.choice([.4, .5]) + .0057, R.choice([.23, .31]), R.choice([1.0, 2.5]), R.choice([-1.0, -0.5]), R.random() < .5, R.choice(["if", "expression", "two"])]

    def text(self, item, out):
        _, v, first, step, up, down, start, style = item
        out.declare("Real", v, "(start = 0, fixed = true)")
        out.declare("Boolean", v + "_up", "(start = %s, fixed = true)" % str(bool(start)).lower())
        out.lines.append("parameter Real p_%s = %r, q_%s = %r;" % (v, first, v, step))
        out.equations.append("when sample(p_%s, q_%s) then\n    %s_up = not pre(%s_up);\n  end when;" % (v, v, v, v))
        if style == "if": out.equations.append("if %s_up then\n    der(%s) = %r;\n  else\n    der(%s) = %r;\n  end if;" % (v, v, up, v, down))
        elif style == "two": out.equations.append("if not %s_up then\n    %r - der(%s) = 0;\n  elseif %s_up then\n    2*der(%s) = %r + der(%s);\n  else\n    der(%s) = 0;\n  end if;" % (v, down, v, v, v, up, v, v))
        else: out.equations.append("der(%s) = if %s_up then %r else %r;" % (v, v, up, down))

    def prepare(self, meaning, k, item):
        x, flag, since, steps = 0.0, bool(item[6]), meaning.start, []
        steps.append((-1.0, (since, x, flag)))
        for t, _ in ticks_of([(item[2], item[3], 0)], meaning.spec["stop"]):
            if t <= since: continue
            x, since, flag = x + (t - since)*item[4 if flag else 5], t, not flag
            steps.append((t, (since, x, flag)))
        return steps

    def step(self, meaning, env, item, t, memory):
        since, x, flag = last(memory, t)
        env[item[1]], env[item[1] + "_up"] = x + (t - since)*item[4 if flag else 5], flag

    def variables(self, item): return {item[1]: "Real", item[1] + "_up": "Boolean"}


class Ticks(Kind):
    """Arrays that clocks set: when in for loops, when of whole arrays."""
    weight = 1.2

    def make(self, m):
        R, v, t, n, style = m.R, m.name(), m.R.choice(SCALARS + ["Color"]), m.R.randint(1, 3), m.R.choice(["for", "for", "array", "array", "if", "algorithm"])
        if style == "if" and R.random() < .5: style = "nested"
        g = Grammar(R, m.g.names, m.g.functions, True, m.g.records, free=True)
        whole = array(t, n)
        if style in ("array", "algorithm"):
            g.names["pre(%s)" % v] = whole
            es = [g.expr(whole, 3) if t != "Color" else ["array", whole] + [g.expr(t, 2) for _ in range(n)] for _ in range(2)]
        else:
            g.names["pre(%s[w])" % v] = t
            es = [g.inside("w").expr(t, 3) for _ in range(2)]
        test = g.inside("w").expr("Boolean", 2) if style in ("if", "nested") else None
        first = [m.constants.lit(t) for _ in range(n)]
        m.g.names[v] = whole
        return ["ticks", v, t, n, style, R.choice([.4, .5]) + .0091, R.choice([.29, .33]), es, test, first, R.random() < .5]

    def text(self, item, out):
        _, v, t, n, style, first, step, es, test, starts, other = item
        out.declare(array(t, n), v, "(start = {%s}, each fixed = true)" % ", ".join(text(e) for e in starts), "discrete "*(t == "Real"))
        out.lines.append("parameter Real p_%s = %r, q_%s = %r;" % (v, first, v, step))
        more = lambda w, e, sign="=": "\n  elsewhen sample(p_%s + 0.1, 2*q_%s) then\n    %s %s %s;" % (v, v, w, sign, text(e)) if other else ""
        if style == "array": out.equations.append("when sample(p_%s, q_%s) then\n    %s = %s;%s\n  end when;" % (v, v, v, text(es[0]), more(v, es[1])))
        elif style == "algorithm": out.sections["algorithm of " + v] = ["  when sample(p_%s, q_%s) then\n    %s := %s;%s\n  end when;" % (v, v, v, text(es[0]), more(v, es[1], ":="))]
        else:
            w = v + "[w]"
            action = "%s = %s;" % (w, text(es[0]))
            if style == "if": action = "if %s then\n      %s\n    else\n      %s = %s;\n    end if;" % (text(test), action, w, text(es[1]))
            if style == "nested": action = "%s = if %s then %s else %s;" % (w, text(test), text(es[0]), text(es[1]))
            out.equations.append("for w in 1:%d loop\n    when sample(p_%s, q_%s + 0.01*w) then\n    %s%s\n    end when;\n  end for;" % (n, v, v, action, more(w, es[1])))

    def prepare(self, meaning, k, item):
        _, v, t, n, style, first, step, es, test, starts, other = item
        if len(starts) != n or n < 1: raise Undefined
        x, steps = [value(e, meaning.fresh(meaning.start)) for e in starts], []
        steps.append((-1.0, x))
        by_one = style in ("for", "if", "nested")
        clocks = [(first, step + 0.01*i, (i, 0)) for i in range(1, n + 1)] if by_one else [(first, step, (0, 0))]
        if by_one and n > 1:  # all clocks begin together
            clocks = [(first, 1e9, (0, 0))] + [(first + s, s, w) for _, s, w in clocks]
        if other: clocks.append((first + 0.1, 2*step, (0, 1)))
        for at, (i, which) in ticks_of(clocks, meaning.spec["stop"]):
            if at <= meaning.start: continue
            env = meaning.at(at, k)
            x = list(x)
            if not by_one:
                env["pre(%s)" % v] = x
                new = converted(value(es[which], env), t)
                if len(new) != n: raise Undefined
                x = new
            else:
                for j in range(1, n + 1):
                    if i not in (0, j): continue
                    env["w"], env["pre(%s[w])" % v] = j, x[j - 1]
                    e = es[which if style == "for" or which else 0 if value(test, env) else 1]
                    x[j - 1] = converted(value(e, env), t)
            if env["doubtful"]: raise Undefined  # rounding decides
            steps.append((at, x))
        return steps

    def step(self, meaning, env, item, t, memory): env[item[1]] = last(memory, t)
    def variables(self, item): return {item[1]: array(item[2], item[3])}


class Whole(Kind):
    """Real unknowns of equations whose solution is whole, and what rounds them."""
    weight = .8

    def make(self, m):
        v, R = m.name(), m.R
        e = m.g.expr("Integer", 2)
        m.g.names.update({v: "Real", v + "_k": "Integer", v + "_r": "Real"})
        return ["whole", v, e, R.choice([1, 2, 4, -2]), R.choice([0.5, 2.0, -4.0]), R.choice(["integer(%s)", "integer(floor(%s))", "integer(ceil(%s))", "-integer(-%s)"]),
                R.choice(["mod(%s, 3)", "rem(%s, 3)", "div(%s, 2)", "mod(%s, -3)", "rem(-%s, 2)", "div(-%s, 4)", "mod(-%s, 2.5)", "sign(%s)"])]

    def text(self, item, out):
        _, v, e, a, b, k, r = item
        for t, w in (("Real", v), ("Real", v + "_b"), ("Integer", v + "_k"), ("Real", v + "_r")): out.declare(t, w)
        # a triangle of powers of 2: elimination is exact
        out.equations += ["%d*%s + %s_b = %s;" % (a, v, v, text(["+", "Integer", ["*", "Integer", ["lit", "Integer", a], e], ["lit", "Integer", 1]])), "%r*%s_b = %r;" % (b, v, b)]
        out.equations += ["%s_k = %s;" % (v, k % v), "%s_r = %s;" % (v, r % v)]

    def step(self, meaning, env, item, t, memory):
        _, v, e, a, b, k, r = item
        x = float(value(e, env))
        if not a or not b: raise Undefined
        env[v], env[v + "_k"] = x, int(x)
        word, n = r[:-1].replace("(", ", ").split(", ")[0], r[:-1].split(", ")[-1]
        z = -x if "-%s" in r else x
        if word == "sign": env[v + "_r"] = float((z > 0) - (z < 0))
        else:
            y = float(n)
            q = float(math.trunc(z/y))
            env[v + "_r"] = {"mod": z - math.floor(z/y)*y, "rem": z - q*y, "div": q}[word]

    def variables(self, item): return {item[1]: "Real", item[1] + "_k": "Integer", item[1] + "_r": "Real"}


class Over(Kind):
    """Equations over the values of a type, for arrays whose subscripts they are."""
    weight = .7

    def make(self, m):
        v, t, (n, of) = m.name(), m.R.choice(["Real", "Integer", "Boolean"]), m.R.choice([(3, "Color"), (2, "Boolean")])
        e = m.g.inside("c", of).expr(t, 3)
        m.g.names[v] = "%s by %s" % (t, of)
        return ["over", v, t, n, of, e, m.R.random() < .5]

    def text(self, item, out):
        _, v, t, n, of, e, ranged = item
        out.lines.append("%s %s[%s];" % (t, v, of))
        over = of if not ranged else "Color.red:Color.blue" if of == "Color" else "false:true"
        out.equations.append("for c in %s loop\n    %s[c] = %s;\n  end for;" % (over, v, text(e)))

    def step(self, meaning, env, item, t, memory):
        _, v, kind, n, of, e, _ = item
        inner = dict(env)
        env[v] = []
        for c in [("Color", k) for k in range(1, 4)] if of == "Color" else [False, True]:
            inner["c"] = c
            env[v].append(converted(value(e, inner), kind))
        kept(env, inner)

    def variables(self, item): return {item[1]: array(item[2], item[3])}


def kept(env, inner):
    env["largest"], env["doubtful"], env["passes"] = max(env["largest"], inner["largest"]), env["doubtful"] or inner["doubtful"], inner["passes"]


class Initial(Kind):
    """What initial equations and algorithms give: parameters, discrete variables, states."""
    weight = 1.2

    def states(self, item): return item[3] == "state"

    def make(self, m):
        R, v, style = m.R, m.name(), m.R.choice(["parameter", "algorithm", "discrete", "integer", "boolean", "state", "held"])
        t = {"integer": "Integer", "boolean": "Boolean"}.get(style, "Real")
        e = m.constants.expr(t, 3)
        more = [["set", v, m.constants.expr("Real", 2)], ["if", m.constants.expr("Boolean", 2), [["set", v, ["+", "Real", ["var", "Real", v], e]]], []]] if style == "algorithm" else []
        m.g.names[v] = t
        if style in ("parameter", "algorithm"): m.constants.names[v] = t
        return ["initial", v, t, style, e, more, R.choice([.4, .5]) + .0031, R.choice([.27, .35])]

    def text(self, item, out):
        _, v, t, style, e, more, first, step = item
        words = "initial algorithm" if style == "algorithm" else "initial equation"
        name = words + " of " + v
        if style in ("parameter", "algorithm"):
            out.lines.append("parameter Real %s(fixed = false);" % v)
            out.sections[name] = written(more, 1) if more else ["  %s = %s;" % (v, text(e))]
            return
        out.declare(t, v, "", "discrete "*(style in ("discrete", "held")))
        left = {"discrete": "pre(%s)", "held": "%s", "integer": "pre(%s)", "boolean": "pre(%s)", "state": "%s"}[style] % v
        out.sections[name] = ["  %s = %s;" % (left, text(e))]
        if style == "state": out.equations.append("der(%s) = 2;" % v)
        else: out.equations.append("when sample(%r, %r) then\n    %s = %s;\n  end when;" % (first, step, v, {"Real": "0.5*pre(%s) + 1", "Integer": "pre(%s) + 1", "Boolean": "not pre(%s)"}[t] % v))

    def prepare(self, meaning, k, item):
        _, v, t, style, e, more, first, step = item
        env = meaning.at(meaning.start, k)
        if more: execute(more, env)
        x = converted(env[v] if more else value(e, env), t)
        if style in ("parameter", "algorithm", "state"): return x
        steps = [(-1.0, x)]
        for at, _ in ticks_of([(first, step, 0)], meaning.spec["stop"]):
            x = {"Real": lambda: 0.5*x + 1, "Integer": lambda: x + 1, "Boolean": lambda: not x}[t]()
            steps.append((at, x))
        return steps

    def step(self, meaning, env, item, t, memory):
        style = item[3]
        env[item[1]] = memory + 2*(t - meaning.start) if style == "state" else memory if style in ("parameter", "algorithm") else last(memory, t)

    def variables(self, item): return {item[1]: item[2]} if item[3] not in ("parameter", "algorithm") else {}


class Records(Kind):
    """Functions of records: inputs, results, local ones, and fields that are assigned."""
    weight = 1.2

    def make(self, m):
        R, v, name = m.R, m.name(), "r%d" % m.names
        local = R.random() < .4
        target = "h" if local else "q"
        g = Grammar(R, dict({"p." + f: t for f, t in PAIR.items()}, b="Real"), m.g.functions, False, free=True)
        targets = {"%s.%s" % (target, f): t for f, t in PAIR.items()}
        statements, counters = m.body(targets, g)
        if local and any(s[0] == "return" for s in nested(statements)): return None
        whole = R.random() < .5
        if whole: statements = [["record", target, "p"]] + statements[len(PAIR):]
        given = [m.g.expr(t, 2) for t in PAIR.values()]
        style = R.choice(["binding", "equation", "if", "member", "twice"])
        b, test = m.g.expr("Real", 2), m.g.expr("Boolean", 1)
        m.g.names.update({v + ".a": "Real"} if style == "member" else {"%s.%s" % (v, f): t for f, t in PAIR.items()})
        return ["records", v, name, target, statements, counters, given, b, style, test]

    def text(self, item, out):
        _, v, name, target, statements, counters, given, b, style, test = item
        out.once(DUO)
        local = ["protected"]*(target == "h" or bool(counters)) + ["  Duo h;"]*(target == "h") + ["  Integer %s;" % c for c in counters]
        out.before.append("\n".join(["function " + name, "  input Duo p;", "  input Real b;", "  output Duo q;"] + local + ["algorithm"]
                                    + written(statements, 1) + ["  q := h;"]*(target == "h") + ["end %s;" % name, ""]))
        pack = "Duo(%s)" % ", ".join(text(e) for e in given)
        call = "%s(%s, %s)" % (name, pack, text(b))
        if style == "twice": call = "%s(%s, 0.5)" % (name, call)
        if style == "if": call = "if %s then %s else %s" % (text(test), call, pack)
        if style == "member":
            out.before.append("record R_%s\n  Real a;\nend R_%s;\n" % (v, v))
            out.lines.append("R_%s %s(a = %s.a);" % (v, v, call))
        elif style == "binding": out.lines.append("Duo %s = %s;" % (v, call))
        else:
            out.lines.append("Duo %s;" % v)
            out.equations.append("%s = %s;" % (v, call))

    def called(self, meaning, env, item, p, b):
        inner = {k: env[k] for k in ("functions", "largest", "passes", "doubtful", "rounded")}
        inner.update({"p." + f: x for f, x in p.items()}, b=b)
        try: execute(item[4], inner)
        except Leave: pass
        kept(env, inner)
        return {f: converted(inner["%s.%s" % (item[3], f)], t) for f, t in PAIR.items()}

    def step(self, meaning, env, item, t, memory):
        _, v, name, target, statements, counters, given, b, style, test = item
        p = {f: converted(value(e, env), kind) for (f, kind), e in zip(PAIR.items(), given)}
        q = self.called(meaning, env, item, p, float(value(b, env)))
        if style == "twice": q = self.called(meaning, env, item, q, 0.5)
        if style == "if" and not value(test, env): q = p
        for f, x in q.items(): env["%s.%s" % (v, f)] = x

    def variables(self, item):
        return {item[1] + ".a": "Real"} if item[8] == "member" else {"%s.%s" % (item[1], f): t for f, t in PAIR.items()}


class Words(Kind):
    """Functions that make texts of any length, called with what is known before the run, or choosing by what is not."""
    weight = .7

    def make(self, m):
        R, v, name = m.R, m.name(), "w%d" % m.names
        chosen = R.random() < .4
        a = "Boolean" if chosen else R.choice(["Integer", "Boolean", "Color"])
        g = Grammar(R, {"a": a, "b": "String"}, {}, False, free=True)
        statements, counters = m.body({"s": "String"}, g)
        if chosen or counters: statements = [["set", "s", g.lit("String")], ["if", ["var", "Boolean", "a"], [["set", "s", ["+", "String", ["var", "String", "s"], g.lit("String")]]], [["set", "s", ["var", "String", "b"]]]]] if a == "Boolean" else [
            ["set", "s", g.lit("String")], ["for", "i0", g.range(R.randint(1, 3)), [["set", "s", ["+", "String", ["var", "String", "s"], g.expr("String", 2)]]]]]
        known = Grammar(R, m.constants.names, time=False, free=True)
        e = m.g.expr(a, 2) if chosen else known.expr(a, 2)
        m.g.names[v] = "Boolean"
        return ["words", v, name, a, statements, e, known.lit("String"), known.lit("String") if R.random() < .3 else None, R.random() < .5 and not chosen]

    def text(self, item, out):
        _, v, name, a, statements, e, b, other, named = item
        out.before.append("\n".join(["function " + name, "  input %s a;" % a, "  input String b;", "  output String s;", "algorithm"] + written(statements, 1) + ["end %s;" % name, ""]))
        call = "%s(%s, b = %s)" % (name, text(e), text(b))
        if named:
            out.lines.append("String s_%s = %s;" % (v, call))
            call = "s_" + v
        out.lines.append("Boolean %s = %s;" % (v, "%s == %s" % (call, text(other or b))))

    def step(self, meaning, env, item, t, memory):
        _, v, name, a, statements, e, b, other, _ = item
        inner = {k: env[k] for k in ("functions", "largest", "passes", "doubtful", "rounded")}
        inner.update(a=value(e, env), b=value(b, env))
        try: execute(statements, inner)
        except Leave: pass
        kept(env, inner)
        env[v] = inner["s"] == value(other or b, env)

    def variables(self, item): return {item[1]: "Boolean"}


class Long(Kind):
    """Sums of hundreds of terms, and expressions that are nested deeply."""
    weight = .5

    def make(self, m):
        R, v = m.R, m.name()
        style = R.choice(["sum", "nest", "else", "power"])
        e = m.g.leaf("Real")
        if style == "sum":
            for _ in range(R.choice([50, 300])): e = [R.choice(["+", "-"]), "Real", e, ["*", "Real", ["lit", "Real", 0.01], m.g.leaf("Real")] if R.random() < .5 else m.g.leaf("Real")]
        elif style == "else":
            e = ["if", "Real"]
            for _ in range(R.choice([5, 20])): e += [["<", "Boolean", ["time", "Real"], ["lit", "Real", R.uniform(-1, 1)]], m.g.leaf("Real")]
            e.append(m.g.leaf("Real"))
        else:
            for _ in range(R.choice([10, 40])):
                e = R.choice([lambda: ["paren", "Real", e], lambda: ["neg", "Real", e], lambda: ["-", "Real", m.g.leaf("Real"), e], lambda: ["sin", "Real", e], lambda: ["index", "Real", ["array", "Real[1]", e], ["lit", "Integer", 1]],
                              lambda: ["abs", "Real", e], lambda: ["if", "Real", ["lit", "Boolean", True], e, ["lit", "Real", 1.0]], lambda: ["max", "Real", e, ["lit", "Real", -2.0]], lambda: ["+", "Real", e, e] if len(str(e)) < 200 else ["neg", "Real", e]])()
        m.g.names[v] = "Real"
        return ["long", v, e, R.random() < .5]

    def text(self, item, out):
        out.declare("Real", item[1], " = " + text(item[2]) if item[3] else "")
        if not item[3]: out.equations.append("%s = %s;" % (item[1], text(item[2])))

    def step(self, meaning, env, item, t, memory): env[item[1]] = converted(value(item[2], env), "Real")
    def variables(self, item): return {item[1]: "Real"}


class Sized(Kind):
    """Sizes by parameters, sizes that are deduced, none at all."""
    weight = .8

    def make(self, m):
        R, v, style = m.R, m.name(), m.R.choice(["parameter", "deduced", "matrix", "cube"])
        n = R.choice([0, 1, 2, 3]) if style == "parameter" else R.randint(1, 3)
        e = m.g.inside("i").inside("n").expr("Real", 2) if style in ("parameter", "cube", "matrix") else m.g.expr(array("Real", n), 2)
        if style != "parameter" or n: m.g.names[v] = array("Real", n, *{"matrix": [2], "cube": [2, 2]}.get(style, []))
        m.g.names[v + "_s"] = "Real"
        return ["sized", v, style, n, e, R.choice(["sum", "product"])]

    def text(self, item, out):
        _, v, style, n, e, word = item
        if style == "parameter":
            out.lines += ["parameter Integer n_%s = %d;" % (v, n), "Real %s[n_%s];" % (v, v)]
            out.equations.append("for i in 1:n_%s, n in n_%s:n_%s loop\n    %s[i] = %s;\n  end for;" % (v, v, v, v, text(e)))
        elif style == "deduced": out.lines.append("Real %s[:] = %s;" % (v, text(e)))
        elif style == "matrix":
            out.lines.append("Real[2] %s[%d];" % (v, n))
            out.equations.append("%s = {{%s for n in 1:2} for i in 1:%d};" % (v, text(e), n))
        else:
            out.lines.append("Real %s[%d, 2, 2] = {%s for k in 1:2, n in 1:2, i in 1:%d};" % (v, n, text(e), n))
        out.declare("Real", v + "_s", " = %s(%s) + size(%s, 1)" % (word, v, v))

    def step(self, meaning, env, item, t, memory):
        _, v, style, n, e, word = item
        if style == "deduced":
            x = real(value(e, env))
            if len(x) != n: raise Undefined
        else:
            inner = dict(env)

            def at(i, k):
                inner["i"], inner["n"] = i, k
                return float(value(e, inner))
            x = [at(i, n) if style == "parameter" else [at(i, k) for k in (1, 2)] if style == "matrix" else [[at(i, k)]*2 for k in (1, 2)] for i in range(1, n + 1)]
            kept(env, inner)
        env[v] = x
        p = 0.0 if word == "sum" else 1.0
        for y in flat(x): p = number(p + y if word == "sum" else p*y)
        env[v + "_s"] = p + len(x)
        env["largest"] = max([env["largest"]] + [abs(y) for y in flat(x)] + [abs(p)])

    def variables(self, item): return dict({item[1]: array("Real", item[3], *{"matrix": [2], "cube": [2, 2]}.get(item[2], []))} if item[3] else {}, **{item[1] + "_s": "Real"})


class Check(Kind):
    """Assertions that hold, and those that only warn."""
    weight = .5

    def make(self, m): return ["check", m.name(), m.g.expr("Real", 2), m.g.expr("Boolean", 2), m.R.choice(["equation", "warning", "algorithm", "when"])]

    def text(self, item, out):
        _, v, e, b, style = item
        holds = 'assert(abs(tanh(%s)) <= 1, "%s is " + String(time));' % (text(e), v)
        if style == "warning": holds = 'assert(%s, "only a warning", level = AssertionLevel.warning);' % text(b)
        if style == "algorithm": out.sections["algorithm of " + v] = ["  if %s then\n    %s\n  end if;" % (text(b), holds)]
        elif style == "when": out.equations.append("when %s then\n    %s\n  end when;" % (text(b) if b[0] != "lit" else "time > 0.5", holds))
        else: out.equations.append(holds)

    def step(self, meaning, env, item, t, memory): value(item[2], env), value(item[3], env)


class End(Kind):
    """What ends the run: terminate, or an assertion that fails."""
    weight, alone = .35, True

    def make(self, m): return ["end", m.name(), m.R.choice([.61, .77, .83, 9.5]) + .00031, m.R.choice(["terminate", "terminate", "assert", "algorithm", "clock"])]

    def text(self, item, out):
        _, v, at, style = item
        if style == "assert": out.equations.append('assert(time < %r, "must hold");' % at)
        elif style == "terminate": out.equations.append('when time > %r then\n    terminate("enough at " + String(time));\n  end when;' % at)
        elif style == "clock": out.equations.append('when sample(%r, 100) then\n    terminate("a clock");\n  end when;' % at)
        else: out.sections["algorithm of " + v] = ['  when time > %r then\n    terminate("enough");\n  end when;' % at]


KINDS = {"flow": Flow(), "ramp": Ramp(), "ticks": Ticks(), "whole": Whole(), "over": Over(), "initial": Initial(), "records": Records(), "words": Words(), "long": Long(), "sized": Sized(),
         "check": Check(), "end": End()}
