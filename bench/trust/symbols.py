"""Expressions of time and of named variables: their text in the model language, their derivatives and their values.

Nodes are shared: equal expressions are one object, so that derivatives of high order stay small where they are evaluated."""
import math

NAMES = {"sin": math.sin, "cos": math.cos, "exp": math.exp, "tanh": math.tanh, "sqrt": math.sqrt, "sinh": math.sinh,
         "cosh": math.cosh, "atan": math.atan}
FUNCTIONS = {}  # functions that the text defines: name -> (value, text)


class Node:
    __slots__ = ("op", "args", "slopes")
    table = {}

    def __add__(self, other): return add(self, of(other))
    def __radd__(self, other): return add(of(other), self)
    def __sub__(self, other): return add(self, mul(of(-1.0), of(other)))
    def __rsub__(self, other): return add(of(other), mul(of(-1.0), self))
    def __mul__(self, other): return mul(self, of(other))
    def __rmul__(self, other): return mul(of(other), self)
    def __neg__(self): return mul(of(-1.0), self)
    def __truediv__(self, other): return mul(self, power(of(other), -1))
    def __rtruediv__(self, other): return mul(of(other), power(self, -1))
    def __pow__(self, n): return power(self, n)


def node(op, *args):
    key = (op,) + tuple(id(a) if isinstance(a, Node) else a for a in args)
    found = Node.table.get(key)
    if found is None:
        found = Node()
        found.op, found.args, found.slopes = op, args, {}
        Node.table[key] = found
    return found


def forget():
    """Empties the table of shared nodes: each model begins with its own."""
    Node.table.clear()
    Node.table[("time",)] = TIME


def of(x): return x if isinstance(x, Node) else node("num", float(x))
def var(name): return node("var", name)
def is_num(a, x): return a.op == "num" and a.args[0] == x


def add(a, b):
    if a.op == "num" and b.op == "num": return of(a.args[0] + b.args[0])
    if is_num(a, 0.0): return b
    return a if is_num(b, 0.0) else node("+", a, b)


def mul(a, b):
    if a.op == "num" and b.op == "num": return of(a.args[0]*b.args[0])
    if is_num(a, 0.0) or is_num(b, 0.0): return of(0.0)
    if is_num(a, 1.0): return b
    if is_num(b, 1.0): return a
    if b.op == "num": a, b = b, a
    if a.op == "num" and b.op == "*" and b.args[0].op == "num": return mul(of(a.args[0]*b.args[0].args[0]), b.args[1])
    return node("*", a, b)


def power(a, n):
    if n == 1: return a
    if a.op == "num": return of(a.args[0]**n)
    return node("^", a, n)


def call(name, a): return node("call", name, a)
def after(c, then, other): return node("after", float(c), of(then), of(other))  # if time > c then .. else ..


TIME = node("time")


def diff(e, v=None):
    """The derivative by time, or by the variable v with time held."""
    if v not in e.slopes: e.slopes[v] = slope(e, v)
    return e.slopes[v]


def slope(e, v):
    if e.op == "time": return of(0.0 if v else 1.0)
    if e.op == "var": return of(1.0 if e.args[0] == v else 0.0)
    if e.op == "num": return of(0.0)
    if e.op == "+": return diff(e.args[0], v) + diff(e.args[1], v)
    if e.op == "*": return diff(e.args[0], v)*e.args[1] + e.args[0]*diff(e.args[1], v)
    if e.op == "^": return e.args[1]*power(e.args[0], e.args[1] - 1)*diff(e.args[0], v) if e.args[1] else of(0.0)
    if e.op == "after": return after(e.args[0], diff(e.args[1], v), diff(e.args[2], v))
    name, a = e.args
    inner = {"sin": lambda: call("cos", a), "cos": lambda: -call("sin", a), "exp": lambda: e, "tanh": lambda: 1 - e**2,
             "sqrt": lambda: 0.5/e, "sinh": lambda: call("cosh", a), "cosh": lambda: call("sinh", a),
             "atan": lambda: 1/(1 + a**2)}[name]()
    return inner*diff(a, v)


def nth(e, n):
    for _ in range(n): e = diff(e)
    return e


def substitute(e, values, done=None):
    """e with expressions in the place of variables."""
    done = {} if done is None else done
    if id(e) in done: return done[id(e)]
    if e.op == "var": r = values.get(e.args[0], e)
    elif e.op in ("num", "time"): r = e
    else:
        args = [substitute(a, values, done) if isinstance(a, Node) else a for a in e.args]
        r = {"+": add, "*": mul, "^": power, "call": call, "after": after}[e.op](*args)
    done[id(e)] = r
    return r


def number(x):
    """A number as the language writes it; whole ones stay short."""
    x = float(x)
    s = repr(x)
    if s.endswith(".0") and abs(x) < 1e15: s = s[:-2]
    return s


def factor(x): return number(x) if x >= 0 else "(%s)" % number(x)


def text(e, level=0):
    """The text of e; level 1: as a term of a product, 2: as a base of a power or behind a minus."""
    if e.op == "num": return factor(e.args[0]) if level else number(e.args[0])
    if e.op == "time": return "time"
    if e.op == "var": return e.args[0]
    if e.op == "call": return "%s(%s)" % (e.args[0], text(e.args[1]))
    if e.op == "after": return "(if time > %s then %s else %s)" % (number(e.args[0]), text(e.args[1]), text(e.args[2]))
    if e.op == "^":
        n = e.args[1]
        return "%s^%d" % (text(e.args[0], 2), n) if n > 0 else ("(1/%s)" if level else "1/%s") % (
            text(e.args[0], 2) + ("^%d" % -n if n < -1 else ""))
    if e.op == "*":
        s = "%s*%s" % (text(e.args[0], 1), text(e.args[1], 1))
        return "(%s)" % s if level > 1 else s
    b = e.args[1]
    first = b if b.op == "num" else b.args[0] if b.op == "*" and b.args[0].op == "num" else None
    minus = first is not None and first.args[0] < 0
    tail = " - " + text(-b, 1) if minus else " + " + text(b, 1 if b.op != "+" else 0)
    s = text(e.args[0]) + tail
    return "(%s)" % s if level else s


def function(e, names=()):
    """e as a function of time, and of a dictionary of variables where it has any."""
    lines, seen = [], {}

    def visit(a):
        if not isinstance(a, Node): return repr(a)
        if id(a) not in seen:
            if a.op == "num": code = repr(a.args[0])
            elif a.op == "time": code = "t"
            elif a.op == "var": code = "v[%r]" % a.args[0]
            elif a.op == "call": code = "F[%r](%s)" % (a.args[0], visit(a.args[1]))
            elif a.op == "after": code = "(%s if t > %r else %s)" % (visit(a.args[1]), a.args[0], visit(a.args[2]))
            elif a.op == "^": code = "%s**%d" % (visit(a.args[0]), a.args[1])
            else: code = "%s %s %s" % (visit(a.args[0]), a.op, visit(a.args[1]))
            lines.append("  a%d = %s" % (len(seen), code))
            seen[id(a)] = "a%d" % len(seen)
        return seen[id(a)]

    last = visit(e)
    table = dict(NAMES)
    table.update({name: f[0] for name, f in FUNCTIONS.items()})
    space = {"F": table}
    exec("def f(t, v=None):\n%s\n  return %s" % ("\n".join(lines), last), space)
    return space["f"]


def largest(f, stop, points=64):
    """The largest size of f between 0 and stop."""
    return max(abs(f(stop*i/points)) for i in range(points + 1))
