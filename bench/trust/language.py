"""The meaning of the model language, a second time: expressions and statements as lists, their text, and their values by the
Modelica specification.

An expression is [operator, type, operand ..]; types are Real, Integer, Boolean, String, Color (the enumeration of the texts), and
arrays of these, as "Real[3]" and "Real[2,3]". Values are float, int, bool, str, ("Color", n) and lists."""
import functools, math

COLORS = ["red", "green", "blue"]
LIMIT = 1e6


class Undefined(Exception):
    """A value that the language does not define, or that is too large for a fair comparison."""


class Leave(Exception):
    """break or return."""


@functools.cache
def base(t): return t.split("[")[0]


def shape(t): return [int(n) for n in t[t.index("[") + 1:-1].split(",")] if "[" in t else []
def array(t, *n): return "%s[%s]" % (t, ",".join(str(i) for i in n))


# ---- text --------------------------------------------------------------------------------------------------------------------------

INFIX = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "<>": 4, "+": 5, "-": 5, ".+": 5, ".-": 5, "*": 6, "/": 6, ".*": 6, "./": 6,
         "^": 7, ".^": 7}


def literal(v):
    if isinstance(v, bool): return "true" if v else "false"
    if isinstance(v, str): return '"%s"' % v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if isinstance(v, (list, tuple)) and len(v) == 2 and v[0] == "Color": return "Color." + COLORS[v[1] - 1]
    if isinstance(v, list): return "{%s}" % ", ".join(literal(x) for x in v)
    return repr(v)


def text(e, level=0):
    """The text with no more brackets than needed: level is how tight the place binds."""
    op, args = e[0], e[2:]
    if op == "lit":
        s = literal(args[0])
        return "(%s)" % s if s.startswith("-") and level > 5 else s
    if op in ("var", "time"): return args[0] if args else "time"
    if op in INFIX:
        n = INFIX[op]
        left, right = {4: (5, 5), 7: (8, 8)}.get(n, (n, n + 1))
        s = "%s %s %s" % (text(args[0], left), op, text(args[1], right)) if n < 6 else "%s%s%s" % (text(args[0], left), op if op[0] != "." else " %s " % op, text(args[1], right))
        return "(%s)" % s if n < level else s
    if op == "neg":
        s = "-" + text(args[0], 6)
        return "(%s)" % s if level > 5 else s
    if op == "not":
        s = "not " + text(args[0], 4)
        return "(%s)" % s if level > 3 else s
    if op == "if":
        s = "if %s then %s" % (text(args[0]), text(args[1]))
        for i in range(2, len(args) - 1, 2): s += " elseif %s then %s" % (text(args[i]), text(args[i + 1]))
        s += " else " + text(args[-1])
        return "(%s)" % s if level > 0 else s
    if op == "array": return "{%s}" % ", ".join(text(a) for a in args)
    if op == "matrix": return "[%s]" % "; ".join(", ".join(text(a) for a in row[2:]) for row in args)
    if op == "index": return "%s[%s]" % (text(args[0], 9) if args[0][0] == "var" and not args[0][2].endswith((".a", ")")) else "(%s)" % text(args[0]), ", ".join(subscript(a) for a in args[1:]))
    if op == "field": return "%s.%s" % (args[0], args[1])
    if op == "values": return args[0]
    if op == "paren": return "(%s)" % text(args[0])
    if op == "comp":
        s = "%s for %s" % (text(args[2]), ", ".join("%s in %s" % (args[k], text(args[r])) for k, r in ((1, 3), (4, 5)) if k < len(args)))
        return "{%s}" % s if args[0] == "{}" else "%s(%s)" % (args[0], s)
    if op == "String" and len(args) > 1: return "String(%s, minimumLength = %s, leftJustified = %s)" % tuple(text(a) for a in args)
    if op == "String with": return "String(%s, %s = %s)" % (text(args[0]), args[1], literal(args[2]))
    if op == "blocks": return "[%s]" % "; ".join(", ".join(text(a) for a in row) for row in args[0])
    if op == "range": return ":".join(text(a, 5) for a in args)
    if op == "named": return "%s(%s)" % (args[0], ", ".join("%s = %s" % (n, text(a)) for n, a in zip(args[1], args[2:])))
    return "%s(%s)" % (op, ", ".join(text(a) for a in args)) if op != "call" else "%s(%s)" % (args[0], ", ".join(text(a) for a in args[1:]))


def subscript(a): return ":" if a[0] == "all" else "end" if a[0] == "end" else text(a)


# ---- values ------------------------------------------------------------------------------------------------------------------------

def number(v):
    """v if it is one that may be compared."""
    if isinstance(v, float) and not abs(v) < LIMIT or isinstance(v, int) and abs(v) > LIMIT: raise Undefined
    return v


def div(x, y):
    if not y: raise Undefined
    q = abs(x)//abs(y) if isinstance(x, int) and isinstance(y, int) else math.floor(abs(x/y))
    return (q if (x < 0) == (y < 0) else -q) if isinstance(q, int) and isinstance(x, int) and isinstance(y, int) else math.copysign(q, x*y) if q else 0.0


def mod(x, y):
    if not y: raise Undefined
    return x % y if isinstance(x, int) and isinstance(y, int) else x - math.floor(x/y)*y


def root(x):
    if x < 0: raise Undefined
    return math.sqrt(x)


def logarithm(f):
    def g(x):
        if x <= 0: raise Undefined
        return f(x)
    return g


def raised(x, y):
    if (x == 0 and y <= 0) or (x < 0 and y != int(y)): raise Undefined
    try: return float(x)**y
    except OverflowError: raise Undefined


def each(f, *xs):
    """f elementwise; scalars go with every element."""
    for x in xs:
        if type(x) is list:
            n = len(x)
            break
    else: return f(*xs)
    if any(isinstance(x, list) and len(x) != n for x in xs): raise Undefined
    return [each(f, *[x[i] if isinstance(x, list) else x for x in xs]) for i in range(n)]


def product(a, b):
    """a*b of scalars, vectors and matrices."""
    ra, rb = rank(a), rank(b)
    if not ra or not rb: return each(lambda x, y: number(x*y), a, b)
    if ra == 1 and rb == 1:
        if len(a) != len(b): raise Undefined
        return sum(x*y for x, y in zip(a, b))
    if ra == 2 and rb == 1: return [product(row, b) for row in a]
    if ra == 1: return [product(a, column) for column in transposed(b)]
    return [[product(row, column) for column in transposed(b)] for row in a]


def rank(a): return 1 + rank(a[0]) if isinstance(a, list) else 0
def transposed(a): return [list(c) for c in zip(*a)]
def flat(a): return [x for p in a for x in flat(p)] if isinstance(a, list) else [a]
def total(a): return sum(flat(a)) if flat(a) else 0
def real(a): return each(float, a)


def times(a):
    p = 1
    for x in flat(a): p = number(p*x)
    return p


def converted(x, t): return each(lambda y: number(float(y)), x) if base(t) == "Real" else x


def plain(x): return x[1] if isinstance(x, (tuple, list)) and len(x) == 2 and x[0] == "Color" else x


def string(x, **o):
    """String(x) of the specification: %.6g of a Real, padded to the minimum length."""
    if isinstance(x, bool): s = "true" if x else "false"
    elif isinstance(x, float): s = "%.*g" % (o.get("significantDigits", 6), x)
    elif isinstance(x, (tuple, list)): s = COLORS[x[1] - 1]
    else: s = str(x)
    n = o.get("minimumLength", 0)
    return s.ljust(n) if o.get("leftJustified", True) else s.rjust(n)


SLOPES = {"sin": math.cos, "cos": lambda x: -math.sin(x), "exp": math.exp, "tanh": lambda x: 1 - math.tanh(x)**2, "atan": lambda x: 1/(1 + x*x)}


def slope(e, env):
    """Value and derivative by time of a smooth expression; that of the state s is 1."""
    op, args = e[0], e[2:]
    if op == "lit": return args[0], 0.0
    if op in ("time", "var"): return (env["time"] if op == "time" else env[args[0]]), 1.0
    (a, da), (b, db) = slope(args[0], env), slope(args[1], env) if len(args) > 1 else (0.0, 0.0)
    if op in ("+", "-"): v, d = (a + b, da + db) if op == "+" else (a - b, da - db)
    elif op == "*": v, d = a*b, da*b + a*db
    elif op == "/": v, d = a/b, (da*b - a*db)/(b*b)
    elif op == "neg": v, d = -a, -da
    elif op == "^": v, d = a**b, b*a**(b - 1)*da
    else:
        if abs(a) > 20: raise Undefined
        v, d = getattr(math, op)(a), SLOPES[op](a)*da
    env["largest"] = max(env["largest"], abs(v), abs(d))
    return number(v), number(d)


def formatted(x, option, n):
    """String(x, significantDigits = n), or a format as of C."""
    if option == "significantDigits": return string(x, significantDigits=n)
    return ("%" + n) % x


def colour(i):
    if not 1 <= i <= len(COLORS): raise Undefined
    return ("Color", i)


def power_of(a, n):
    """A matrix to a whole power."""
    r = [[1.0 if i == j else 0.0 for j in range(len(a))] for i in range(len(a))]
    for _ in range(n): r = product(r, a)
    return r


def linear(a, b, n): return [a + (b - a)*i/(n - 1) for i in range(n)]
def cut(x, n): return [x[i:i + n] for i in range(0, len(x), n)]
def filled(x, *n): return x if not n else [filled(x, *n[1:]) for _ in range(n[0])]


def sign(x): return (x > 0) - (x < 0)


FUNCTIONS = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "atan": math.atan, "asin": math.asin,
    "acos": math.acos, "atan2": math.atan2, "log": logarithm(math.log), "log10": logarithm(math.log10), "sqrt": root, "abs": abs, "sign": sign,
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)), "integer": math.floor, "div": div, "mod": mod,
    "rem": lambda x, y: x - div(x, y)*y, "noEvent": lambda x: x, "smooth": lambda p, x: x, "homotopy": lambda x, y: x,
    "semiLinear": lambda x, p, n: x*(p if x >= 0 else n), "sum": total, "product": times, "transpose": transposed, "identity": lambda n: filled_identity(n),
    "diagonal": lambda v: [[v[i] if i == j else 0*v[i] for j in range(len(v))] for i in range(len(v))], "zeros": lambda *n: filled(0, *n), "ones": lambda *n: filled(1, *n),
    "fill": filled, "linspace": linear, "outerProduct": lambda a, b: [[x*y for y in b] for x in a], "size": lambda a, i=None: sizes(a)[i - 1] if i else sizes(a),
    "ndims": rank, "scalar": lambda a: flat(a)[0], "vector": flat, "matrix": lambda a: [[x] for x in a] if rank(a) == 1 else a,
    "symmetric": lambda a: [[a[min(i, j)][max(i, j)] for j in range(len(a))] for i in range(len(a))],
    "cross": lambda a, b: [a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]],
    "skew": lambda a: [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]], "cat": lambda k, *xs: joined(k, xs), "String": string,
}


def filled_identity(n): return [[int(i == j) for j in range(n)] for i in range(n)]
def sizes(a): return [len(a)] + sizes(a[0]) if isinstance(a, list) else []


def joined(k, xs):
    if k == 1: return [p for x in xs for p in x]
    return [sum((list(x[i]) for x in xs), []) for i in range(len(xs[0]))]


COMPARE = {"<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "==": lambda x, y: x == y, "<>": lambda x, y: x != y}
ARITHMETIC = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, ".+": lambda x, y: x + y, ".-": lambda x, y: x - y, ".*": lambda x, y: x*y}


def value(e, env):
    """The value of an expression; env: names -> values, `functions` and `time` among them. The largest size on the way is kept."""
    v = evaluate(e, env)
    t = e[1]
    if t == "Real" or t == "Integer":
        v = float(v) if t == "Real" else v
        size = abs(v)
        if not size < LIMIT: raise Undefined
        if size > env["largest"]: env["largest"] = size
        return v
    if base(t) == "Real": return each(lambda x: number(float(x)), v)
    if base(t) == "Integer": each(number, v)
    return v


def evaluate(e, env):
    op, args = e[0], e[2:]
    if op == "lit": return tuple(args[0]) if e[1] == "Color" else args[0]
    if op == "var": return env[args[0]]
    if op == "time": return env["time"]
    if op == "if": return branch(args, env)
    if op == "initial": return env.get("initial", False)  # rows are those behind the start
    if op == "der": return slope(args[0], env)[1]
    if op == "and": return value(args[0], env) and value(args[1], env)
    if op == "or": return value(args[0], env) or value(args[1], env)
    if op == "not": return not value(args[0], env)
    if op == "neg": return each(lambda x: -x, value(args[0], env))
    if op == "paren": return value(args[0], env)
    if op == "array": return [value(a, env) for a in args]
    if op == "matrix": return [[value(a, env) for a in row[2:]] for row in args]
    if op == "index": return indexed(value(args[0], env), args[1:], env)
    if op == "field": return env[args[0]][args[1]]
    if op == "comp": return comprehension(args, env)
    if op == "range": return ranged([value(a, env) for a in args])
    if op == "values": return [("Color", k + 1) for k in range(len(COLORS))] if args[0] == "Color" else [False, True]
    if op == "blocks": return joined(1, [joined(2, [value(a, env) for a in row]) for row in args[0]])
    if op == "String with": return formatted(value(args[0], env), args[1], args[2])
    if op == "Color": return colour(value(args[0], env))
    xs = [value(a, env) for a in args[1:]] if op == "call" else [value(a, env) for a in args[2:]] if op == "named" else [value(a, env) for a in args]
    if op in WATCHED: watch(op, xs, env)
    if op in COMPARE: return COMPARE[op](*[plain(x) for x in xs])
    if op in ARITHMETIC: return each(ARITHMETIC[op], *xs)
    if op == "*": return product(*xs)
    if op in ("/", "./"): return each(quotient, *xs)
    if op in ("^", ".^"): return power_of(*xs) if rank(xs[0]) == 2 and op == "^" else each(raised, *xs)
    if op == "named": return env["functions"][args[0]](env, dict(zip(args[1], xs)))
    if op == "call": return env["functions"][args[0]](env, xs)
    if op in ("min", "max"):
        xs = flat(xs[0]) if len(xs) == 1 else xs
        return (min if op == "min" else max)(xs, key=plain)
    if op == "Integer": return plain(xs[0])
    if op in ("asin", "acos") and abs(xs[0]) > 1: raise Undefined
    if op == "String" and len(xs) > 1: return string(xs[0], minimumLength=xs[1], leftJustified=xs[2])
    if op == "atan2" and abs(xs[0]) < 1e-9: raise Undefined  # the sign of zero decides
    if op in ("exp", "sinh", "cosh") and abs(xs[0]) > 50: raise Undefined
    return each(FUNCTIONS[op], *xs) if op in ELEMENTWISE else FUNCTIONS[op](*xs)


ELEMENTWISE = {"sin", "cos", "tanh", "atan", "abs"}


WATCHED = set(COMPARE) | {"sign", "floor", "ceil", "integer", "mod", "rem", "div"}


def watch(op, xs, env):
    """Notes a value that rounding may have moved over a jump: it is not compared."""
    if not all(isinstance(x, (int, float)) for x in xs) or not any(isinstance(x, float) for x in xs): return
    if op in COMPARE: off = xs[0] - xs[1]
    elif op == "sign":  # algebraic variables are solved for: their last digits are no sign
        if abs(xs[0]) < max(1e-9, env["rounded"])*max(1.0, env["largest"]): env["doubtful"] = True
        return
    elif op in ("floor", "ceil", "integer"): off = xs[0] - round(xs[0])
    else: off = xs[0]/xs[1] - round(xs[0]/xs[1]) if xs[1] else 0
    if (off or env["rounded"]) and abs(off) < max(1e-9, env["rounded"])*max(1.0, env["largest"]): env["doubtful"] = True


def quotient(x, y):
    if not y: raise Undefined
    return x/y


def branch(args, env):
    for i in range(0, len(args) - 1, 2):
        if value(args[i], env): return value(args[i + 1], env)
    return value(args[-1], env)


def indexed(a, subscripts, env):
    """a[i, :, end, {1, 2}]"""
    if not subscripts: return a
    s = subscripts[0]
    if s[0] == "all": return [indexed(x, subscripts[1:], env) for x in a]
    i = len(a) if s[0] == "end" else ordinal(value(s, env))
    if isinstance(i, list):
        if any(not 1 <= k <= len(a) for k in i): raise Undefined
        return [indexed(a[k - 1], subscripts[1:], env) for k in i]
    if not 1 <= i <= len(a): raise Undefined
    return indexed(a[i - 1], subscripts[1:], env)


def ordinal(i):
    """The number of a subscript that is a Boolean or of an enumeration."""
    return plain(i) if not isinstance(i, bool) else 1 + i


def ranged(r):
    if isinstance(r[0], float): return [r[0] + k*r[1] for k in range(int((r[2] - r[0])/r[1] + 1e-9) + 1)]
    if isinstance(r[0], (tuple, list)): return [("Color", k) for k in range(r[0][1], r[1][1] + 1)]
    if len(r) == 2: return list(range(r[0], r[1] + 1))
    if not r[1]: raise Undefined
    return list(range(r[0], r[2] + sign(r[1]), r[1]))


def comprehension(args, env):
    """{e for i in r}, sum(e for i in r) .."""
    kind, name, e, r = args[:4]
    inner, out = dict(env), []
    # the last of several counters is that of the rows (10.4.1)
    for j in value(args[5], env) if len(args) > 4 else [None]:
        if j is not None: inner[args[4]] = j
        row = []
        for i in value(r, env):
            inner[name] = i
            row.append(value(e, inner))
        out += [row] if len(args) > 4 and kind == "{}" else row
    env["largest"] = max(env["largest"], inner["largest"])
    env["doubtful"] = env["doubtful"] or inner["doubtful"]
    if kind == "{}": return out
    if not out: raise Undefined
    return {"sum": total, "product": times, "min": min, "max": max}[kind](out)


# ---- statements ---------------------------------------------------------------------------------------------------------------------

def written(statements, indent):
    """The text of statements."""
    pad, lines = "  "*indent, []
    for s in statements:
        if s[0] == "set": lines.append("%s%s := %s;" % (pad, target(s), text(s[-1])))
        elif s[0] == "if":
            lines.append("%sif %s then" % (pad, text(s[1])))
            lines += written(s[2], indent + 1)
            if s[3]: lines += ["%selse" % pad] + written(s[3], indent + 1)
            lines.append("%send if;" % pad)
        elif s[0] == "for": lines += ["%sfor %s in %s loop" % (pad, s[1], text(s[2]))] + written(s[3], indent + 1) + ["%send for;" % pad]
        elif s[0] == "while": lines += ["%swhile %s loop" % (pad, text(s[1]))] + written(s[2], indent + 1) + ["%send while;" % pad]
        elif s[0] == "record": lines.append("%s%s := %s;" % (pad, s[1], s[2]))
        elif s[0] == "assert": lines.append('%sassert(%s, "must hold");' % (pad, text(s[1])))
        else: lines.append("%s%s;" % (pad, s[0]))
    return lines


def nested(statements):
    for s in statements:
        yield s
        if s[0] == "if": yield from nested(s[2] + s[3])
        elif s[0] in ("for", "while"): yield from nested(s[-1])


def target(s): return s[1] if len(s) == 3 else "%s[%s]" % (s[1], ", ".join(text(i) for i in s[2]))


def execute(statements, env):
    for s in statements:
        env["passes"] += 1
        if env["passes"] > 3000: raise Undefined
        if s[0] == "set": assign(s, env)
        elif s[0] == "if": execute(s[2] if value(s[1], env) else s[3], env)
        elif s[0] == "for": loop(s, env)
        elif s[0] == "while":
            try:
                while value(s[1], env): execute(s[2], env)
            except Leave as how:
                if how.args[0] == "return": raise
        elif s[0] == "record":
            for v in [v for v in env if v.startswith(s[2] + ".")]: env[s[1] + v[len(s[2]):]] = env[v]
        elif s[0] == "assert":
            if not value(s[1], env): raise Undefined
        else: raise Leave(s[0])


def assign(s, env):
    v = value(s[-1], env)
    if len(s) == 3: env[s[1]] = v
    else:
        whole = env[s[1]]
        i = [value(k, env) for k in s[2]]
        env[s[1]] = replaced(whole, i, v)


def replaced(whole, i, v):
    if not i: return v
    if isinstance(i[0], list):  # a slice: an element each
        if len(i[0]) != len(v): raise Undefined
        for k, x in zip(i[0], v): whole = replaced(whole, [k], x)
        return whole
    if not 1 <= i[0] <= len(whole): raise Undefined
    return whole[:i[0] - 1] + [replaced(whole[i[0] - 1], i[1:], v)] + whole[i[0]:]


def loop(s, env):
    old = env.get(s[1])
    try:
        for i in value(s[2], env):
            env[s[1]] = i
            execute(s[3], env)
    except Leave as how:
        if how.args[0] == "return": raise
    if old is None: env.pop(s[1], None)
    else: env[s[1]] = old
