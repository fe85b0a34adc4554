"""Writes models/textbook/NAME.ref:
    /usr/bin/python3 bench/textbook/reference.py [NAME ..]
and, if no NAME is given, the list of all models in models/textbook/README.md.
Each model is written again here, as an ODE or in closed form, and not read from its text; from the
text are its title and StopTime. What two codes do not agree on to 1e-8 is refused."""

import os
import re
import signal
import sys

import codes
import biology, chemistry, control, electronics, hydraulics, mechanics, thermal

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "models", "textbook")
FIELDS = (electronics, mechanics, chemistry, thermal, hydraulics, control, biology)
MARK = "<!-- written by bench/textbook/reference.py -->"
WIDTH, SECONDS = 118, 60


def wrapped(text):
    lines, line = [], "#"
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = "#"
        line += " " + word
    return lines + [line]


def number(value):
    if isinstance(value, bool):
        return str(int(value))
    return repr(float(value)).replace("e-0", "e-") if not float(value).is_integer() else str(int(value))


def read(name):
    with open(os.path.join(MODELS, name + ".mo")) as file:
        text = file.read()
    return text, re.search(r'model \w+\s+"([^"]*)"', text).group(1)


def gallery():
    """The tables of all models by field, in place of those behind the mark in README.md."""
    path = os.path.join(MODELS, "README.md")
    with open(path) as file:
        lines = [file.read().split(MARK)[0] + MARK]
    for field in FIELDS:
        names = [n for n, (_, _, make) in codes.MODELS.items() if make.__module__ == field.__name__]
        lines += ["", "## " + field.__name__.capitalize(), "", "| model | what | index |", "|---|---|---:|"]
        lines += [f"| [`{n}`]({n}.mo) | {read(n)[1]} | {codes.MODELS[n][0]} |" for n in names]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def write(name):
    index, rows, make = codes.MODELS[name]
    text, title = read(name)
    stop = float(re.search(r"StopTime\s*=\s*([0-9.e+-]+)", text).group(1))
    times = [stop * (k / 500) for k in rows]
    solution = make()
    values, apart = solution.table(times)
    lines = wrapped(title) + wrapped("Source: " + solution.source(apart))
    lines += [f"index {index}", f"accuracy {max(apart, 1e-15):.1e}"]
    for t, row in zip(times, values):
        lines.append("t " + number(t))
        lines += [f"{key} {number(value)}" for key, value in row.items()]
    if apart > 1e-8:
        return f"{name}: the codes are {apart:.1e} apart"
    with open(os.path.join(MODELS, name + ".ref"), "w") as file:
        file.write("\n".join(lines) + "\n")
    return None


def too_long(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def main():
    faults = []
    signal.signal(signal.SIGALRM, too_long)
    for name in sys.argv[1:] or sorted(codes.MODELS):
        signal.alarm(SECONDS)
        try:
            fault = write(name)
        except Exception as e:  # every model is tried
            fault = f"{name}: {type(e).__name__}: {e}"
        if fault:
            faults.append(fault)
            print(fault, flush=True)
    if len(sys.argv) == 1:
        gallery()
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
