#!/usr/bin/env python3
"""Run a folder of exported models and compare with a folder of curves.

    bench/library/run.py MODELS CURVES [--daedal PATH] [--jobs N] [--seconds S] [--memory GB]
                         [--out FOLDER] [--only WORD] [--resume]

MODELS holds Base Modelica texts, NAME.bmo somewhere below it, named as in the library:
Modelica.Blocks.Examples.PID_Controller. CURVES holds Blocks/Examples/PID_Controller/
PID_Controller.csv and beside it comparisonSignals.txt, as the library's reference results do.
Every model runs by `daedal run` with its own experiment and tolerance, within limits of processor
time and memory; `daedal compare` judges it. A table by package and the first messages of failures,
by kind, go to standard output; FOLDER gets results.jsonl and a page, index.html, with pictures.
"""
import argparse
import concurrent.futures
import html
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

STAGES = ("translated", "started", "ended")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("curves", type=pathlib.Path)
    parser.add_argument("--daedal", default=str(root / "build/release/daedal"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=60, help="processor time of a model")
    parser.add_argument("--memory", type=float, default=4, help="GB of address space")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("library-results"))
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--resume", action="store_true",
                        help="keep the results in FOLDER that were within the limits")
    given = parser.parse_args()
    for folder in (given.models, given.curves):
        if not folder.is_dir():
            parser.error(f"there is no folder '{folder}'")
    return given


# ---- one model ----


def limited(command, given, cache):
    """Run a command within the limits: exit code (negative: a signal), messages, seconds, MB."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (given.seconds, given.seconds + 5))
        size = int(given.memory * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=messages, preexec_fn=limit, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode("utf-8", "replace")
    return child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def reference_of(name, curves):
    """The curve of a model and its list of signals; None where there is none."""
    words = name.split(".")
    for path in (curves.joinpath(*words), curves.joinpath(*words[1:])):
        curve, signals = path / (words[-1] + ".csv"), path / "comparisonSignals.txt"
        if curve.is_file():
            return curve, signals if signals.is_file() else None
    return None, None


def interval_of(curve):
    """The interval between rows of a reference, at most 20000 of them: the result has rows at the
    same times, so that neither curve resolves a peak that the other cuts. Times of references are
    rounded, and so the interval is taken to six digits: 300 times 4.99999999999997e-05 is a row
    beside a jump of the reference. None: one row."""
    with open(curve, encoding="utf-8", errors="replace") as file:
        names = next(file, "").replace('"', "").strip().lower().split(",")
        column = names.index("time") if "time" in names else 0
        times = [float(line.split(",")[column]) for line in file if line.strip()]
    steps = [b - a for a, b in zip(times, times[1:]) if b > a]
    if not steps:
        return None
    return float(f"{max(statistics.median(steps), (times[-1] - times[0]) / 20000):.6g}")


def first_message(text, code, given):
    """The first line that says why: an error with its place, or a line of the command."""
    if code in (-9, -24):
        return f"more than {given.seconds} s of processor time"
    if code < 0:
        return f"ended by signal {-code}"
    for line in text.splitlines():
        if ": error: " in line:
            return line.split(": error: ", 1)[1]
        if line.startswith("daedal: ") and not line.startswith(("daedal: note:", "daedal: warning:")):
            return re.sub(r"^\S+\.bmo(:\d+)*: ", "", line[len("daedal: "):])
    return f"exit code {code} without a message"


def compare(result, curve, signals, given, picture, cache):
    command = [given.daedal, "compare", str(curve), str(result), "--json"]
    if signals:
        command += ["--signals-from", str(signals)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, 4, 5):
        return {"verdict": "failed", "message": done.stderr.strip(), "signals": []}
    judged = json.loads(done.stdout)
    if judged["verdict"] == "off" and any("deviation" in s for s in judged["signals"]):
        limited([w for w in command if w != "--json"] + ["--quiet", "--plot", str(picture)], given, cache)
    return {"verdict": judged["verdict"], "message": done.stderr.strip(), "signals": judged["signals"]}


def run_model(path, given):
    name, row = path.stem, {}
    curve, signals = reference_of(name, given.curves)
    with tempfile.TemporaryDirectory() as work:
        result = pathlib.Path(work) / "result.mat"
        command = [given.daedal, "run", str(path), "--quiet", "-o", str(result)]
        if curve and (interval := interval_of(curve)):
            command += ["--interval", repr(interval)]
        code, text, seconds, memory = limited(command, given, work)
        row = {"name": name, "code": code, "seconds": seconds, "megabytes": memory,
               "reference": curve is not None, "message": ""}
        row["ended"] = code == 0
        row["started"] = code == 0 or result.exists()
        stopped = code < 0 and run_check(path, given, work)
        row["translated"] = row["started"] or code not in (2, 3) and code >= 0 or stopped
        if code != 0:
            row["message"] = first_message(text.replace(str(path), path.name), code, given)
        if code == 0 and curve:
            picture = given.out / "pictures" / (name + ".svg")
            row["compared"] = compare(result, curve, signals, given, picture, work)
    return row


def run_check(path, given, cache):
    """Whether a model that ran out of time or memory translates."""
    return limited([given.daedal, "check", str(path), "--quiet"], given, cache)[0] in (0, 1)


# ---- tables ----


def package_of(name):
    words = name.split(".")[1:]
    head = words[:words.index("Examples")] if "Examples" in words else words[:-1]
    return ".".join(head[:2]) or words[0]


def verdict_of(row):
    return row.get("compared", {}).get("verdict")


def counts(rows):
    """The cells of a line of the table."""
    seconds = [r["seconds"] for r in rows]
    cells = [len(rows)] + [sum(r[s] for r in rows) for s in STAGES]
    cells += [sum(r["reference"] for r in rows), sum(verdict_of(r) is not None for r in rows),
              sum(verdict_of(r) == "agrees" for r in rows)]
    return cells + [f"{statistics.median(seconds):.2f}", f"{sum(seconds):.1f}"]


HEADER = ["package", "files", *STAGES, "reference", "compared", "agreed", "median s", "sum s"]


def table(rows):
    """Lines of cells: packages, then all."""
    packages = {}
    for row in rows:
        packages.setdefault(package_of(row["name"]), []).append(row)
    lines = [[p, *counts(packages[p])] for p in sorted(packages)]
    return lines + [["all", *counts(rows)]]


def kind_of(message):
    """A message without names and numbers."""
    short = re.sub(r"'(?:[^']|'(?=\w))*?'|\"[^\"]*\"", "..", message)
    short = re.sub(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", "#", short)
    return short[:100]


def kinds(rows):
    """Failures by kind: (stage, kind, first message, names), the most frequent first."""
    found = {}
    for row in rows:
        if row["ended"]:
            continue
        stage = next(s for s in STAGES if not row[s])
        found.setdefault((stage, kind_of(row["message"])), []).append(row)
    order = sorted(found.items(), key=lambda item: -len(item[1]))
    return [(stage, kind, group[0]["message"], [r["name"] for r in group])
            for (stage, kind), group in order]


def print_markdown(rows):
    print("| " + " | ".join(HEADER) + " |")
    print("|---|" + "---:|" * (len(HEADER) - 1))
    for line in table(rows):
        print("| " + " | ".join(str(cell) for cell in line) + " |")
    print("\nFailures by kind, with the first message:\n")
    for stage, _, message, names in kinds(rows):
        print(f"- {len(names)} not {stage}: {message[:200]} ({names[0]})")
    print("\nEnded, but not agreed:\n")
    for row in rows:
        if verdict_of(row) not in (None, "agrees"):
            print(f"- {row['name']}: {wrong_signals(row)}")


def wrong_signals(row):
    judged = row["compared"]
    off = [s for s in judged["signals"] if s["verdict"] != "agrees"]
    if not off:
        return judged["message"]
    return f"{len(off)} of {len(judged['signals'])} signals; {off[0]['name']}: {off[0]['verdict']}" + (
        f", {off[0]['reason']}" if "reason" in off[0] else "")


# ---- the page ----

STYLE = """body{font:15px sans-serif;margin:2em;max-width:75em}td,th{padding:.1em .6em;text-align:right}
td:first-child,th:first-child{text-align:left}tr:last-child{font-weight:bold}
figure{display:inline-block;width:22em;margin:.5em}img{width:100%}figcaption{font-size:12px}"""


def page(rows):
    e = html.escape
    parts = [f"<!doctype html><meta charset=utf-8><title>Library</title><style>{STYLE}</style>"
             "<h1>Models of the library</h1><table><tr>"]
    parts += [f"<th>{e(h)}" for h in HEADER]
    for line in table(rows):
        parts.append("<tr>" + "".join(f"<td>{e(str(c))}" for c in line))
    parts.append("</table><h2>Failures by kind</h2><ul>")
    for stage, _, message, names in kinds(rows):
        parts.append(f"<li>{len(names)} not {stage}: {e(message)}<details><summary>models</summary>"
                     + "<br>".join(map(e, names)) + "</details>")
    parts.append("</ul><h2>Ended, but not agreed</h2>")
    for row in rows:
        if verdict_of(row) not in (None, "agrees"):
            name = e(row["name"])
            parts.append(f"<figure><img src=\"pictures/{name}.svg\" alt=\"\"><figcaption>{name}: "
                         f"{e(wrong_signals(row))}</figcaption></figure>")
    return "\n".join(parts) + "\n"


def kept_rows(given):
    """Rows of an earlier run that no limit ended, by name; a line that is cut off ends them."""
    rows, file = {}, given.out / "results.jsonl"
    if given.resume and file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                break
            rows[row["name"]] = row
    return {name: row for name, row in rows.items() if row["code"] >= 0}


def main():
    given = arguments()
    (given.out / "pictures").mkdir(parents=True, exist_ok=True)
    texts = sorted(p for p in given.models.rglob("*.bmo") if given.only in p.stem)
    if not texts:
        sys.exit(f"there is no model '*{given.only}*.bmo' below '{given.models}'")
    begin, rows, kept = time.time(), [], kept_rows(given)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool, \
            open(given.out / "results.jsonl", "w", encoding="utf-8") as file:
        for row in pool.map(lambda path: kept.get(path.stem) or run_model(path, given), texts):
            rows.append(row)
            print(f"\r{len(rows)} of {len(texts)}", end="", file=sys.stderr, flush=True)
            file.write(json.dumps(row) + "\n")
            file.flush()
    print(f"\r{len(rows)} models in {time.time() - begin:.0f} s", file=sys.stderr)
    (given.out / "index.html").write_text(page(rows), encoding="utf-8")
    print_markdown(rows)


if __name__ == "__main__":
    main()
