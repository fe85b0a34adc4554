#!/usr/bin/env python3
"""Judge the derivatives of `daedal sens` by differences of whole runs in quadruple precision.

    bench/sensitivity_judge/judge.py [MODEL.mo ..] [--by k1,k2] [--most N] [--rtol 1e-6,1e-9]
                                     [--points N] [--tolerance X] [--confirm] [--markdown]

Without a model it takes all of models/*.mo. `daedal emit --format modelica` gives the flat text of a
model; this program reads it and writes its equations as C over __float128 (model.h). quad.c
integrates them as they stand, whatever their index, for the parameters as they are and moved by
1e-10 of themselves to both sides, with starts and events of each run. So nothing of the analysis,
of the methods or of the derivatives of Daedal is trusted, but for its reading of the text.

A row for each model, parameter and tolerance: the largest error of dx/dk over all variables and
output times, in tolerances: `of largest` by rtol max|dx/dk| + atol/|k|, the largest over the run;
`of now` by rtol |dx/dk| + atol/|k| at that time, as the error test of the steps has it.
--confirm integrates again with two stages less and a tolerance 100 times as large; what that changes,
in the same tolerances, is the doubt about the judge itself.
"""
import argparse
import csv
import io
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOKEN = re.compile(r"""\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|('[^']*'|[A-Za-z_][A-Za-z_0-9.]*)|("(?:[^"\\]|\\.)*")|(<=|>=|<>|==|:=|[-+*/^()<>=,;{}\[\]:]))""")
FUNCTIONS = {"sin": "sinq", "cos": "cosq", "tan": "tanq", "exp": "expq", "log": "logq", "sqrt": "sqrtq",
             "abs": "fabsq", "asin": "asinq", "acos": "acosq", "atan": "atanq", "atan2": "atan2q",
             "sinh": "sinhq", "cosh": "coshq", "tanh": "tanhq", "log10": "log10q", "ceil": "ceilq",
             "floor": "floorq", "integer": "floorq", "min": "fminq", "max": "fmaxq"}


class Unsupported(Exception):
    pass


# ---- the flat text ----


def tokens(text):
    text = re.sub(r"//[^\n]*", "", text)
    result, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if not found:
            raise Unsupported("cannot read " + text[at:at + 30].strip())
        kind = next(i for i in (1, 2, 3, 4) if found.group(i) is not None)
        result.append(("nws."[kind - 1] if kind < 4 else ".", found.group(kind)))
        at = found.end()
    return result


class Reader:
    """Recursive descent over the tokens of a flat model; expressions become tuples."""

    def __init__(self, text):
        self.list, self.at = tokens(text), 0

    def peek(self, ahead=0):
        return self.list[self.at + ahead][1] if self.at + ahead < len(self.list) else ""

    def take(self, word=None):
        kind, text = self.list[self.at]
        if word is not None and text != word:
            raise Unsupported(f"'{word}' expected, '{text}' found")
        self.at += 1
        return text

    def accept(self, word):
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def expression(self):
        if self.accept("if"):
            condition = self.expression()
            self.take("then")
            yes = self.expression()
            if self.peek() == "elseif":
                self.list[self.at] = ("w", "if")
                return ("if", condition, yes, self.expression())
            self.take("else")
            return ("if", condition, yes, self.expression())
        left = self.conjunction()
        while self.accept("or"):
            left = ("or", left, self.conjunction())
        return left

    def conjunction(self):
        left = self.relation()
        while self.accept("and"):
            left = ("and", left, self.relation())
        return left

    def relation(self):
        if self.accept("not"):
            return ("not", self.relation())
        left = self.sum()
        if self.peek() in ("<", "<=", ">", ">=", "==", "<>"):
            return ("rel", self.take(), left, self.sum())
        return left

    def sum(self):
        left = ("neg", self.product()) if self.accept("-") else (self.accept("+"), self.product())[1]
        while self.peek() in ("+", "-"):
            left = (self.take(), left, self.product())
        return left

    def product(self):
        left = self.power()
        while self.peek() in ("*", "/"):
            left = (self.take(), left, self.power())
        return left

    def power(self):
        left = self.primary()
        return ("^", left, self.primary()) if self.accept("^") else left

    def primary(self):
        kind, text = self.list[self.at]
        self.at += 1
        if kind == "n":
            return ("number", text)
        if text == "-":
            return ("neg", self.primary())
        if text == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if text in ("true", "false"):
            return ("number", "1" if text == "true" else "0")
        if kind != "w":
            raise Unsupported(f"'{text}' in an expression")
        if not self.accept("("):
            return ("name", text)
        inner = [] if self.peek() == ")" else [self.expression()]
        while self.accept(","):
            inner.append(self.expression())
        self.take(")")
        return ("call", text, *inner)


class Model:
    """What a flat text declares and says."""

    def __init__(self, text):
        self.parameters, self.reals, self.discretes = {}, {}, {}
        self.equations, self.initial, self.whens, self.updates = [], [], [], []
        self.start_time, self.stop_time = 0.0, 1.0
        self.r = Reader(text)
        self.read()

    def read(self):
        r = self.r
        while r.peek() in ("function", "record", "type", "package"):
            raise Unsupported(r.peek() + " in the flat text")
        r.take("model")
        r.take()
        section, where = "declare", None
        while not r.accept("end"):
            if r.accept("initial"):
                r.take("equation")
                section, where = "equation", self.initial
            elif r.accept("equation"):
                section, where = "equation", self.equations
            elif r.accept("annotation"):
                self.annotation()
            elif section == "declare":
                self.declaration()
            elif r.peek() == "when":
                self.when()
            else:
                self.equation(where)

    def annotation(self):
        r, depth = self.r, 0
        while not (depth == 0 and r.peek() == ";"):
            word = r.take()
            depth += (word == "(") - (word == ")")
            if word in ("StartTime", "StopTime"):
                r.take("=")
                value = float(constant(r.expression()))
                setattr(self, "start_time" if word == "StartTime" else "stop_time", value)
        r.take(";")

    def declaration(self):
        r, words = self.r, []
        while r.peek() in ("final", "parameter", "constant", "discrete", "input", "output", "Real",
                           "Integer", "Boolean", "protected", "public"):
            words.append(r.take())
        name, known = r.take(), {"start": None, "fixed": False, "nominal": None, "value": None}
        if r.accept("("):
            while not r.accept(")"):
                attribute = r.take()
                r.take("=")
                value = (r.take() and None) if r.list[r.at][0] == "s" else r.expression()
                if attribute in known:
                    known[attribute] = value
                r.accept(",")
        if r.accept("="):
            known["value"] = r.expression()
        if r.list[r.at][0] == "s":
            r.take()
        r.take(";")
        if "parameter" in words or "constant" in words:
            self.parameters[name] = known
        elif "discrete" in words or "Integer" in words or "Boolean" in words:
            self.discretes[name] = known
        else:
            self.reals[name] = known

    def equation(self, where):
        r = self.r
        left = r.expression()
        r.take("=")
        right = r.expression()
        if r.list[r.at][0] == "s":
            r.take()
        r.take(";")
        where.append((left, right))

    def when(self):
        r, branches = self.r, []
        r.take("when")
        while True:
            condition, body = (r.expression(), [])
            r.take("then")
            while r.peek() not in ("elsewhen", "end"):
                if r.peek() == "reinit":
                    body.append(("reinit", r.expression()))
                    r.take(";")
                else:
                    pair = []
                    self.equation(pair)
                    body.append(("set", *pair[0]))
            branches.append((condition, body))
            if not r.accept("elsewhen"):
                break
        r.take("end")
        r.take("when")
        r.take(";")
        self.whens.append(branches)


def constant(e):
    if e[0] == "number":
        return e[1]
    if e[0] == "neg":
        return "-" + constant(e[1])
    raise Unsupported("a number expected")


def names_in(e, inside=""):
    """All (name, how) of an expression: how is '', 'der' or 'pre'."""
    if e[0] == "name":
        yield e[1], inside
    elif e[0] == "call":
        for part in e[2:]:
            yield from names_in(part, e[1] if e[1] in ("der", "pre") else inside)
    else:
        for part in e[1:]:
            if isinstance(part, tuple):
                yield from names_in(part, inside)


# ---- C over __float128 ----


class Writer:
    def __init__(self, model, moved):
        self.m, self.relations = model, []
        self.split()
        self.moved = moved
        self.place = {n: k for k, n in enumerate(model.parameters)}
        self.discrete = {n: k for k, n in enumerate(model.discretes)}
        self.unknown = {n: k for k, n in enumerate(self.unknowns + [d[0] for d in self.defined])}

    def split(self):
        """Discrete equations; definitions that no equation needs; unknowns and their equations."""
        m = self.m
        for branches in m.whens:
            for _, body in branches:
                for action in body:
                    if action[0] == "set" and action[1][1] in m.reals:
                        m.discretes[action[1][1]] = m.reals.pop(action[1][1])
        m.updates = [(a[1], b) for a, b in m.equations if a[0] == "name" and a[1] in m.discretes]
        rest = [e for e in m.equations if not (e[0][0] == "name" and e[0][1] in m.discretes)]
        self.defined, again = [], True
        while again:
            again = False
            for e in rest:
                left, right = e
                if left[0] != "name" or left[1] not in m.reals or m.reals[left[1]]["fixed"]:
                    continue
                used = [n for o in rest for side in o for n, _ in names_in(side)] + \
                       [n for o in m.initial for side in o for n, _ in names_in(side)]
                if used.count(left[1]) > 1 or any(how == "der" for _, how in names_in(right)):
                    continue
                rest.remove(e)
                self.defined.insert(0, (left[1], right))
                again = True
                break
        self.rows = rest
        gone = {d[0] for d in self.defined}
        self.unknowns = [n for n in m.reals if n not in gone]
        if len(rest) != len(self.unknowns):
            raise Unsupported(f"{len(rest)} equations for {len(self.unknowns)} unknowns")
        self.rates = {n for row in rest for side in row for n, how in names_in(side) if how == "der"}

    def continuous(self, e):
        return any(n in self.unknown or n == "time" for n, _ in names_in(e))

    def text(self, e, events=True, in_equations=False):
        def go(x):
            return self.text(x, events, in_equations)
        kind = e[0]
        if kind == "number":
            return f"((Q){e[1]})" if len(e[1]) < 4 and e[1].isdigit() else f"((Q){float(e[1])!r})"
        if kind == "name":
            return self.name(e[1])
        if kind == "neg":
            return f"(-{go(e[1])})"
        if kind in "+-*/":
            return f"({go(e[1])} {kind} {go(e[2])})"
        if kind == "^":
            return self.power(e, go)
        if kind == "if":
            return f"({go(e[1])} ? {go(e[2])} : {go(e[3])})"
        if kind in ("and", "or"):
            return f"({go(e[1])} {'&&' if kind == 'and' else '||'} {go(e[2])})"
        if kind == "not":
            return f"(!{go(e[1])})"
        if kind == "rel":
            return self.relation(e, events, in_equations, go)
        return self.call(e, events, in_equations, go)

    def power(self, e, go):
        exponent = e[2]
        if exponent[0] == "number" and float(exponent[1]).is_integer() and float(exponent[1]) <= 8:
            return "(" + "*".join([go(e[1])] * int(float(exponent[1]))) + ")"
        return f"powq({go(e[1])}, {go(e[2])})"

    def name(self, n):
        if n == "time":
            return "t"
        if n in self.place:
            return f"p[{self.place[n]}]"
        if n in self.discrete:
            return f"d[{self.discrete[n]}]"
        if n in self.unknown:
            return f"y[{self.unknown[n]}]"
        raise Unsupported(f"the name {n}")

    def relation(self, e, events, in_equations, go):
        op, left, right = e[1:]
        sign = {"==": "==", "<>": "!="}.get(op, op)
        if not events or op in ("==", "<>") or not self.continuous(e):
            return f"({go(left)} {sign} {go(right)})"
        if op in (">", ">="):
            left, right = right, left
        key = (go(left), go(right), op in ("<", ">"))
        for k, known in enumerate(self.relations):
            if known[:3] == key:
                known[3] = known[3] or in_equations
                return f"r[{k}]"
        self.relations.append([*key, in_equations])
        return f"r[{len(self.relations) - 1}]"

    def call(self, e, events, in_equations, go):
        f, inner = e[1], e[2:]
        if f == "der":
            return f"yp[{self.unknown[inner[0][1]]}]"
        if f == "pre":
            n = inner[0][1]
            return f"pre[{self.discrete[n]}]" if n in self.discrete else self.name(n)
        if f in ("noEvent", "smooth"):
            return self.text(inner[-1], False, in_equations)
        if f in ("initial", "terminal"):
            return "((Q)0)"
        if f == "Integer" or f == "Real":
            return go(inner[0])
        if f not in FUNCTIONS:
            raise Unsupported(f"the function {f}")
        return f"{FUNCTIONS[f]}({', '.join(go(x) for x in inner)})"

    def write(self):
        m, out = self.m, io.StringIO()
        body = io.StringIO()
        self.write_equations(body)
        self.write_discretes(body)
        self.write_starts(body)
        say = lambda *words: print(*words, file=out)
        say("enum {", f"UNKNOWNS = {len(self.unknowns)}, DEFINITIONS = {len(self.defined)},",
            f"PARAMETERS = {len(m.parameters)}, DISCRETES = {len(m.discretes)},",
            f"RELATIONS = {len(self.relations)}, CONDITIONS = {len(self.conditions)},",
            f"MOVED = {len(self.moved)}, PLAIN_START = {int(self.plain)} }};")
        say(f"#define START_TIME ((Q){m.start_time!r})")
        array = lambda kind, name, values: say(
            f"static const {kind} {name}[] = {{{', '.join(map(str, list(values) + [0]))}}};")
        array("int", "moved", [self.place[n] for n in self.moved])
        array("bool", "is_differentiated", [int(n in self.rates) for n in self.unknowns])
        array("double", "nominal", [constant(m.reals[n]["nominal"]) if m.reals[n]["nominal"] else 1
                                    for n in self.unknowns])
        array("bool", "relation_is_strict", [int(r[2]) for r in self.relations])
        array("bool", "relation_in_equations", [int(r[3]) for r in self.relations])
        for what, how in (("value", ""), ("rate", "der")):
            lists = [sorted({self.unknown[n] for side in row for n, h in names_in(side)
                             if n in self.unknown and (h == "der") == (how == "der")})
                     for row in self.rows]
            array("int", what + "_count", map(len, lists))
            for k, one in enumerate(lists):
                array("int", f"{what}_of_{k}", one)
            array("int *const", what + "_list", [f"{what}_of_{k}" for k in range(len(lists))])
        self.write_relations(body)
        return out.getvalue() + body.getvalue()

    ARGUMENTS = "Q t, const Q *y, const Q *yp, const Q *p, const Q *d, const Q *pre"

    def write_equations(self, out):
        print(f"static Q equation(int e, {self.ARGUMENTS}, const bool *r)\n{{\n"
              "    (void)t, (void)yp, (void)p, (void)d, (void)pre, (void)r;\n    switch (e) {", file=out)
        for k, (a, b) in enumerate(self.rows):
            print(f"    case {k}: return {self.text(a, True, True)} - {self.text(b, True, True)};", file=out)
        print("    }\n    return 0;\n}", file=out)
        print("static void definitions(Q t, Q *y, const Q *p, const Q *d, const Q *pre, const bool *r)\n{\n"
              "    (void)t, (void)y, (void)p, (void)d, (void)pre, (void)r;", file=out)
        for n, e in self.defined:
            print(f"    y[{self.unknown[n]}] = {self.text(e)};", file=out)
        print("}", file=out)

    def write_discretes(self, out):
        print("static void update(Q t, const Q *y, const Q *p, Q *d, const Q *pre, const bool *r, "
              "const bool *old, bool *to, Q *into)\n{\n"
              "    (void)t, (void)y, (void)p, (void)d, (void)pre, (void)r, (void)old, (void)to, (void)into;",
              file=out)
        for n, e in self.m.updates:
            print(f"    d[{self.discrete[n]}] = {self.text(e)};", file=out)
        for branches in self.m.whens:
            for k, (condition, body) in enumerate(branches):
                now = self.text(condition)
                print(f"    {'else ' if k else ''}if ({now} && !{now.replace('r[', 'old[')}) {{", file=out)
                for action in body:
                    if action[0] == "set":
                        print(f"        d[{self.discrete[action[1][1]]}] = {self.text(action[2], False)};", file=out)
                    else:
                        v = self.unknown[action[1][2][1]]
                        print(f"        to[{v}] = true, into[{v}] = {self.text(action[1][3], False)};", file=out)
                print("    }", file=out)
        print("}", file=out)

    def write_relations(self, out):
        print("static Q relation(int k, Q t, const Q *y, const Q *p, const Q *d, const Q *pre)\n{\n"
              "    (void)t, (void)y, (void)p, (void)d, (void)pre;\n    switch (k) {", file=out)
        for k, one in enumerate(self.relations):
            print(f"    case {k}: return {one[0]} - {one[1]};", file=out)
        print("    }\n    return 0;\n}", file=out)

    def write_starts(self, out):
        m = self.m
        print("static void set_parameters(Q *p, int which, Q by)\n{\n    (void)which, (void)by;", file=out)
        for n in self.ordered():
            print(f"    p[{self.place[n]}] = {self.text(m.parameters[n]['value'], False)};\n"
                  f"    if (which == {self.place[n]}) p[{self.place[n]}] += by;", file=out)
        print("}\nstatic void start_discretes(Q *d, const Q *p)\n{\n    (void)d, (void)p;", file=out)
        for n, known in m.discretes.items():
            print(f"    d[{self.discrete[n]}] = {self.text(known['start'] or ('number', '0'), False)};", file=out)
        print("}", file=out)
        fixed = [n for n in self.unknowns if m.reals[n]["fixed"] not in (False, None) and
                 m.reals[n]["fixed"] != ("number", "0")]
        start = lambda n: self.text(m.reals[n]["start"] or ("number", "0"), False)
        self.plain = not m.initial and set(fixed) == self.rates
        self.conditions = [f"{self.name(n)} - {start(n)}" for n in fixed] + \
            [f"{self.text(a, False)} - {self.text(b, False)}" for a, b in m.initial]
        print("static void plain_start(Q *y, const Q *p)\n{\n    (void)y, (void)p;", file=out)
        for n in fixed:
            print(f"    y[{self.unknown[n]}] = {start(n)};", file=out)
        print("}\nstatic Q condition(int k, Q t, const Q *y, const Q *yp, const Q *p, const Q *d)\n{\n"
              "    (void)t, (void)y, (void)yp, (void)p, (void)d;\n    switch (k) {", file=out)
        for k, one in enumerate(self.conditions):
            print(f"    case {k}: return {one};", file=out)
        print("    }\n    return 0;\n}", file=out)

    def ordered(self):
        """Parameters, each behind those it is computed from."""
        done, m = [], self.m.parameters

        def visit(n):
            if n in done:
                return
            for other, _ in names_in(m[n]["value"]):
                if other in m and other != n:
                    visit(other)
            done.append(n)
        for n in m:
            visit(n)
        return done


# ---- runs ----


def command(words, given, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=given.seconds, **more)


def first_line(text):
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    return lines[-1][:160] if lines else "no message"


def sens(given, file, by, rtol, more=()):
    """Times, names of variables, values and derivatives of daedal sens, or raise its message."""
    words = [given.daedal, "sens", str(file), "--by", ",".join(n.strip("'") for n in by), "--rtol",
             repr(rtol), "-o", "-", "--quiet", *more]
    done = command(words, given)
    if done.returncode:
        raise Unsupported(first_line(done.stderr))
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return [n.split(" [")[0] for n in rows[0]], [[float(x) if x not in ("true", "false") else float(x == "true") for x in row]
                     for row in rows[1:]]


def listed_parameters(given, file):
    done = command([given.daedal, "sens", str(file)], given)
    found = re.search(r"and the parameters (.*)", done.stderr)
    return [n.strip() for n in found.group(1).split(",")] if found else []


def flat(given, file):
    done = command([given.daedal, "emit", str(file), "--format", "modelica"], given)
    if done.returncode:
        raise Unsupported(first_line(done.stderr))
    return Model(done.stdout)


def scalar_parameters(model, listed):
    """The scalars behind the names that `sens` lists: of arrays all elements."""
    result = []
    for n in model.parameters:
        plain = n.strip("'")
        if plain in listed or plain.split("[")[0] in listed:
            result.append(n)
    return result


def quad(given, writer, guess, times, tolerance, stages, folder):
    (folder / "model.h").write_text(writer.write())
    program = folder / f"quad{stages}"
    made = subprocess.run(["gcc", "-O2", "-w", f"-DSTAGES={stages}", "-I", str(folder), "-o", str(program),
                           str(HERE / "quad.c"), "-lquadmath", "-lm"], capture_output=True, text=True)
    if made.returncode:
        raise Unsupported("gcc: " + made.stderr[:300])
    span = times[-1] - writer.m.start_time
    first = given.first * span
    text = "\n".join(map(repr, guess + times)) + "\n"
    done = command([str(program), repr(tolerance), repr(first)], given, input=text)
    if done.returncode:
        raise Unsupported("the judge: " + first_line(done.stderr))
    if given.verbose:
        print("   ", done.stderr.strip(), flush=True)
    return [[float(x) for x in line.split()] for line in done.stdout.strip().split("\n")]


def absolute(model, name, rtol):
    """atol of a variable, as docs/command.md has it; nominal as given."""
    known = model.reals[name]
    if known["nominal"]:
        return 1e-3 * rtol * float(constant(known["nominal"]))
    try:
        start = abs(float(constant(known["start"]))) if known["start"] else 0.0
    except Unsupported:
        start = 0.0
    return max(min(1e-3 * rtol, rtol * start), 1e-18 * rtol) if start else 1e-3 * rtol


def compare(model, writer, reference, header, rows, rtol, values):
    """For each parameter: errors (of largest, of now), where; and the largest relative effect."""
    column = {n: k for k, n in enumerate(header)}
    variables = writer.unknowns + [d[0] for d in writer.defined]
    count = len(variables)
    ours = {}
    for row in rows:  # events come twice at one time: the last one is behind them
        ours[row[0]] = row
    table = {}
    for k, n in enumerate(writer.moved):
        worst = {"largest": (0.0, "", 0.0), "now": (0.0, "", 0.0)}
        for v, name in enumerate(variables):
            at = column.get(f"d({name.strip(chr(39))})/d({n.strip(chr(39))})")
            if at is None:
                continue
            place = 1 + count * (k + 1) + v
            size = max(abs(row[place]) for row in reference)
            atol = absolute(model, name, rtol) / (abs(values[n]) or 1.0)
            for row in reference:
                mine = ours.get(row[0])
                if mine is None:
                    continue
                off = abs(mine[at] - row[place])
                for kind, by in (("largest", size), ("now", abs(row[place]))):
                    error = off / (rtol * by + atol)
                    if not error <= worst[kind][0]:
                        worst[kind] = (error, name.strip("'"), row[0])
        table[n] = worst
    return table


def largest_effects(given, file, by, most):
    """The parameters that move variables most, by the table that `sens` prints."""
    if len(by) <= most:
        return by
    done = command([given.daedal, "sens", str(file), "--by", ",".join(n.strip("'") for n in by)], given)
    order = [line.split()[0] for line in done.stdout.split("\n") if line.startswith("  ")]
    rank = {n: order.index(n.strip("'")) if n.strip("'") in order else 10**6 for n in by}
    return sorted(sorted(by, key=lambda n: rank[n])[:most], key=by.index)


def first_guess(given, file, names, times):
    """Start values and slopes, in turns, of a run over a thousandth of the interval."""
    stop = times[0] + 1e-3 * (times[-1] - times[0])
    done = command([given.daedal, "run", str(file), "--stop", repr(stop), "--points", "11", "--quiet", "-o", "-"],
                   given)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    column = {n.split(" [")[0]: k for k, n in enumerate(rows[0])}
    a, b = rows[1], rows[2]
    step = float(b[0]) - float(a[0])
    result = []
    for n in names:
        k = column[n.strip("'")]
        result += [float(a[k]), (float(b[k]) - float(a[k])) / step]
    return result


def judge(given, file, folder):
    name = pathlib.Path(file).stem
    model = flat(given, file)
    by = scalar_parameters(model, listed_parameters(given, file))
    if given.by:
        by = [n for n in by if n.strip("'") in given.by.split(",")]
    if not by:
        print(f"| {name} | - | | no parameters |", flush=True)
        return
    by = largest_effects(given, file, by, given.most)
    points = ["--points", str(given.points)] + (["--stop", given.stop] if given.stop else [])
    if name == "robertson" or given.log_time:
        points += ["--log-time"]
    results = []
    for rtol in map(float, given.rtol.split(",")):
        try:
            results.append((rtol, *sens(given, file, by, rtol, points)))
        except Unsupported as refusal:
            print(f"| {name} | {','.join(by)} | {rtol:g} | {refusal} |", flush=True)
    if not results:
        return
    header, rows = results[-1][1:]
    times = sorted({row[0] for row in rows})
    for _, _, other in results:
        times = [t for t in times if t in {row[0] for row in other}]
    twice = [row[0] for row in rows]
    times = [t for t in times if twice.count(t) == 1]
    writer = Writer(model, by)
    column = {n: k for k, n in enumerate(header)}
    guess = first_guess(given, file, writer.unknowns, times)
    reference = quad(given, writer, guess, times, given.tolerance, given.stages, folder)
    again = None
    if given.confirm:
        again = quad(given, writer, guess, times, given.tolerance * 100, given.stages - 2, folder)
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        with open(given.keep / (name + ".txt"), "w") as f:
            print(" ".join(n.strip("'") for n in by), file=f)
            print(" ".join(n.strip("'") for n in writer.unknowns + [d[0] for d in writer.defined]), file=f)
            for row in reference:
                print(" ".join(map(repr, row)), file=f)
    values = evaluate(model)
    for rtol, head, mine in results:
        table = compare(model, writer, reference, head, mine, rtol, values)
        doubt = None
        if again:
            count = len(writer.unknowns) + len(writer.defined)
            fake = ["time"] + [f"v{i}" for i in range(count)] + \
                [f"d({v.strip(chr(39))})/d({n.strip(chr(39))})" for n in by
                 for v in writer.unknowns + [d[0] for d in writer.defined]]
            doubt = compare(model, writer, reference, fake, again, rtol, values)
        for n, worst in table.items():
            print(f"| {name} | {n.strip(chr(39))} | {rtol:g} | " +
                  " | ".join(f"{worst[k][0]:.3g} | {worst[k][1]} | {worst[k][2]:.6g}" for k in ("largest", "now")) +
                  (f" | {doubt[n]['now'][0]:.1e}" if doubt else "") + " |", flush=True)


def evaluate(model):
    """Values of all parameters as doubles, for the tolerances."""
    values = {}

    def go(e):
        kind = e[0]
        if kind == "number":
            return float(e[1])
        if kind == "name":
            return values[e[1]]
        if kind == "neg":
            return -go(e[1])
        if kind in "+-*/^":
            a, b = go(e[1]), go(e[2])
            return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b,
                    "^": lambda: a ** b}[kind]()
        if kind == "if":
            return go(e[2]) if go(e[1]) else go(e[3])
        if kind == "rel":
            a, b = go(e[2]), go(e[3])
            return float({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}.get(e[1], a != b))
        if kind == "call" and e[1] == "integer":
            return math.floor(go(e[2]))
        if kind == "call" and hasattr(math, e[1]):
            return getattr(math, e[1])(go(e[2]))
        raise Unsupported("a parameter's value")
    for n in Writer.ordered(type("", (), {"m": model})()):
        values[n] = go(model.parameters[n]["value"])
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--daedal", default=str(ROOT / "build/release/daedal"))
    parser.add_argument("--by", default="")
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--rtol", default="1e-6,1e-9")
    parser.add_argument("--points", type=int, default=51)
    parser.add_argument("--tolerance", type=float, default=1e-14)
    parser.add_argument("--stages", type=int, default=9)
    parser.add_argument("--first", type=float, default=1e-4, help="first step, by the whole interval")
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--stop", default="", help="end of the runs, in place of the model's")
    parser.add_argument("--log-time", action="store_true")
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the references")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    models = given.models or sorted(map(str, (ROOT / "models").glob("*.mo")))
    print("| model | by | rtol | of largest | variable | time | of now | variable | time |" +
          (" judge |" if given.confirm else ""))
    print("|---|---|---|---|---|---|---|---|---|" + ("---|" if given.confirm else ""))
    for file in models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                judge(given, file, pathlib.Path(folder))
            except (Unsupported, subprocess.TimeoutExpired) as problem:
                print(f"| {pathlib.Path(file).stem} | | | {problem} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
