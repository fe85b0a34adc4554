#!/usr/bin/env python3
"""What `daedal verify` says of models whose values are known, and what it costs. Python 3 alone, no packages.

    bench/verify_models.py build/release/daedal                     models/, structure/, textbook/, base/, traps.txt
    bench/verify_models.py build/release/daedal --rtol 1e-4,1e-6,1e-8 --thorough
    bench/verify_models.py build/release/daedal --only textbook     one part; --name TEXT: models whose name contains it
    bench/verify_models.py build/release/daedal --list LIST FOLDER  more lines like those of models/traps.txt

Each model is run, held against its values (NAME.ref, or the line of the list), and verified with the same options. A run is right
if all values are within 100 tolerances, as docs/verify.md has them, or within what the line says. Of verify it is wrong

    FALSE GOOD    to say Good of a run that is wrong
    FALSE ALARM   to say Off of a run that is right
    CANNOT TELL   to say neither of a run that is right, for more than 2 % of these
    DEAR          to take more processor time than five runs (fifteen with --thorough), where a run takes 20 ms or more

Where a run is shorter, starting the command and reading the text are most of it: there the evaluations of the judges are compared
with those of the run. The exit code is 1 if something of that is found."""
import argparse, collections, csv, io, json, math, multiprocessing, os, re, resource, statistics, subprocess, sys, tempfile, time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT, SHORT, UNSURE = 100, 0.02, 0.02
PARTS = {"models": "", "structure": "structure", "textbook": "textbook", "base": "base"}


class Case:
    """A model, the options of its run, and what is known of it: values (name, time, value, tolerance; None: in those of the run),
    or a code with which the run is to end."""
    def __init__(self, part, path, options, values=(), code=None):
        self.part, self.path, self.options, self.values, self.code = part, path, options, values, code
        self.name = os.path.basename(path) + "".join(" " + w for w in options)


def measured(arguments, seconds):
    """Exit code (None: too long), output, messages and processor time of a command."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        p = subprocess.Popen(arguments, stdout=out, stderr=err, preexec_fn=limit)
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        code = None if p.returncode in (-9, -24) else p.returncode
        return code, out.read(), err.read(), used.ru_utime + used.ru_stime


# ---- what is known

def reference_values(path):
    values, t = [], None
    for line in open(path):
        words = line.split()
        if line.startswith("#") or len(words) != 2 or words[0] in ("index", "accuracy"): continue
        if words[0] == "t": t = float(words[1])
        else: values.append((words[0], t, float(words[1]), None))
    return values


def listed_values(text):
    """VAR(T) = X +- TOL; .."""
    found = re.findall(r"(\S+)\(([^()]+)\) = (\S+) \+- ([^\s;]+)", text)
    return [(name, float(t), float(x), float(tolerance)) for name, t, x, tolerance in found]


def cases_of_folder(part, folder, rtols):
    for file in sorted(os.listdir(folder)):
        if not file.endswith((".mo", ".bmo")): continue
        path = os.path.join(folder, file)
        reference = os.path.splitext(path)[0] + ".ref"
        if part == "base": reference = os.path.join(os.path.dirname(folder), os.path.basename(reference))
        values = reference_values(reference) if os.path.exists(reference) else ()
        for rtol in rtols: yield Case(part, path, ["--rtol", rtol], values)


def cases_of_list(part, file, folder):
    for line in open(file):
        fields = line.split(" # ")[0].split("|")
        if line.startswith("#") or len(fields) != 3: continue
        model, options, expected = (f.strip() for f in fields)
        values, code = listed_values(expected), re.match(r"status (\d+)", expected)
        yield Case(part, os.path.join(folder, model), options.split(), values, int(code.group(1)) if code and not values else None)


def all_cases(o):
    models = os.path.join(HOME, "models")
    cases = []
    for part, folder in PARTS.items():
        if part in o.only: cases += cases_of_folder(part, os.path.join(models, folder), o.rtol.split(","))
    if "traps" in o.only: cases += cases_of_list("traps", os.path.join(models, "traps.txt"), os.path.join(models, "traps"))
    for file, folder in o.list: cases += cases_of_list(os.path.splitext(os.path.basename(file))[0], file, folder)
    return [c for c in cases if o.name in c.name]


# ---- one case

def number(cell): return float(cell == "true") if cell in ("true", "false") else float(cell or "nan")


def unit_of(head, body, column, t, rtol):
    """rtol |y| + atol, with the largest value within a twentieth of the interval, and the default of atol."""
    near = (body[-1][0] - body[0][0])/20
    size = max([abs(r[column]) for r in body if abs(r[0] - t) <= near] + [0.0])
    start, plain = abs(body[0][column]), rtol/1000
    return rtol*size + (plain if start == 0 else max(min(plain, rtol*start), 1e-15*plain))


def error_of(out, case, rtol):
    """The largest error of a table against what is known, in what is allowed, and where."""
    lines = list(csv.reader(io.StringIO(out)))
    head, body = [re.sub(r" \[.*\]$", "", h) for h in lines[0]], [[number(x) for x in r] for r in lines[1:]]
    worst, where = None, "no value that is known"
    for name, t, x, tolerance in case.values:
        if t is None: t = body[-1][0]
        rows = [r for r in body if abs(r[0] - t) <= 1e-12*(1 + abs(t))]
        if not rows or name not in head: continue
        got = rows[-1][head.index(name)]
        allowed = tolerance if tolerance is not None else LIMIT*unit_of(head, body, head.index(name), t, rtol)
        error = 0.0 if got == x or (got != got and x != x) else abs(got - x)/allowed if allowed > 0 else math.inf
        if worst is None or not error <= worst: worst, where = error if error == error else math.inf, "%s(%g) = %.9g, right %.9g" % (name, t, got, x)
    return worst, where


def rtol_of(options): return float(options[options.index("--rtol") + 1]) if "--rtol" in options else 1e-7


def truth_of(code, out, case):
    """right, wrong, failed (the run says so itself), or unknown; and why"""
    if code != 0: return "failed" if case.code is None or code == case.code else "wrong", "exit code %s" % code
    if case.code: return "wrong", "it is to end with exit code %d" % case.code
    if not case.values: return "unknown", ""
    error, where = error_of(out, case, rtol_of(case.options))
    return "unknown" if error is None else "right" if error <= 1 else "wrong", where


def wrong_elsewhere(case, report, o):
    """Where verify says Off at a time at which no value is known: a run of another method with tolerances a thousand times tighter has it."""
    found = re.search(r"Off: (\S+) is wrong by \S+ tolerances at t = (\S+): the run says (\S+), the judge \((\S+)\)", report["text"])
    if not found: return False
    name, t, said, method = found.groups()
    t = float(t)
    rtol = max(1e-3*rtol_of(case.options), 1e-13)
    stop = ["--stop", repr(t)] if t > 0 else []
    words = [o.daedal, "run", case.path, "-o", "-"] + case.options + ["--rtol", repr(rtol), "--method", method, "--points", "501"] + stop
    code, out, _, _ = measured(words, o.seconds)
    if code != 0: return False
    lines = list(csv.reader(io.StringIO(out)))
    head, body = [re.sub(r" \[.*\]$", "", h) for h in lines[0]], [[number(x) for x in r] for r in lines[1:]]
    j = head.index(name)
    return abs(body[-1][j] - float(said)) > 0.9*LIMIT*rtol_of(case.options)*max(abs(r[j]) for r in body[-25:])


def work_of(report):
    """Evaluations of the judges against those of the run."""
    own = report["run"]["evaluations"]
    return sum(j["evaluations"] for j in report["judges"])/own if own else math.nan


def judged(case, o):
    """What became of a case: a dictionary of words and numbers."""
    more = ["--thorough"] if o.thorough else []
    code, out, _, run_time = measured([o.daedal, "run", case.path, "-o", "-"] + case.options, o.seconds)
    truth, why = truth_of(code, out, case)
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        words = [o.daedal, "verify", case.path, "--quiet", "--json", file.name] + case.options + more
        code, _, text, verify_time = measured(words, o.seconds)
        try: report = json.load(open(file.name))
        except ValueError: report = None
    verdict = {0: "good", 4: "off", 5: "unsure", None: "too long"}.get(code, "exit %s" % code)
    if run_time >= SHORT and verify_time > most_time(o)*run_time: # others were at work: the least of three
        run_time = min([run_time] + [measured([o.daedal, "run", case.path, "-o", "-"] + case.options, o.seconds)[3] for _ in range(2)])
        verify_time = min([verify_time] + [measured(words, o.seconds)[3] for _ in range(2)])
    if truth == "right" and verdict == "off" and report and wrong_elsewhere(case, report, o): truth, why = "wrong", "right where it is known"
    said = report["text"] if report else text.strip()
    return {"part": case.part, "name": case.name, "truth": truth, "why": why, "verdict": verdict, "said": " ".join(said.split()),
            "run": run_time, "verify": verify_time, "work": work_of(report) if report else math.nan}


def most_time(o): return 15 if o.thorough else 5


def violation(r, o):
    """What is wrong with what verify says or takes; None: nothing"""
    if r["truth"] == "wrong" and r["verdict"] == "good": return "FALSE GOOD"
    if r["truth"] == "right" and r["verdict"] == "off": return "FALSE ALARM"
    if r["truth"] == "right" and r["verdict"] != "good": return "CANNOT TELL"
    if r["truth"] == "failed" and r["verdict"] in ("good", "off", "unsure"): return "NO FAILURE"
    if r["truth"] != "failed" and r["run"] >= SHORT and r["verify"] > most_time(o)*r["run"]: return "DEAR"
    return None


# ---- all of them

def share(a, b): return "%d of %d" % (a, b)


def table(results, o):
    print("| part | runs | right | of these good | off | cannot tell | wrong | of these good | failed | time in runs | most | evaluations |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for part in list(dict.fromkeys(r["part"] for r in results)) + ["all"]:
        of = [r for r in results if part in (r["part"], "all")]
        right, wrong = ([r for r in of if r["truth"] == t] for t in ("right", "wrong"))
        count = lambda rows, *verdicts: sum(r["verdict"] in verdicts for r in rows)
        times = [r["verify"]/r["run"] for r in of if r["run"] >= SHORT and r["truth"] != "failed"] or [math.nan]
        work = [r["work"] for r in of if r["work"] == r["work"]] or [math.nan]
        good, off = count(right, "good"), count(right, "off")
        print("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %.2g | %.3g | %.2g |" % (
            part, len(of), len(right), good, off, len(right) - good - off, len(wrong), count(wrong, "good"),
            sum(r["truth"] == "failed" for r in of), statistics.median(times), max(times), statistics.median(work)))


def tell(results, o):
    """Print what violates the lines; their number."""
    found = collections.defaultdict(list)
    for r in results:
        what = violation(r, o)
        if what: found[what].append(r)
    right = sum(r["truth"] == "right" for r in results)
    for what, rows in sorted(found.items(), reverse=True):
        print("\n%s: %d" % (what, len(rows)))
        for r in rows:
            print("  %s %s: %s%.3g s, verify %.3g s (%.3g); %s" % (r["part"], r["name"], r["why"] and r["why"] + "; ", r["run"], r["verify"],
                                                           r["verify"]/max(r["run"], 1e-3), r["said"][:300]))
    few = len(found["CANNOT TELL"]) <= UNSURE*right
    return sum(len(rows) for what, rows in found.items() if what != "CANNOT TELL" or not few)


def judge_one(pair): return judged(*pair)


def options():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("daedal")
    a.add_argument("--rtol", default="1e-6", help="tolerances of the models with a NAME.ref (1e-6)")
    a.add_argument("--thorough", action="store_true", help="with the same models in other words")
    a.add_argument("--only", nargs="*", default=list(PARTS) + ["traps"], help="parts: %s traps" % " ".join(PARTS))
    a.add_argument("--name", default="", help="models whose name and options contain this")
    a.add_argument("--list", nargs=2, action="append", default=[], metavar=("LIST", "FOLDER"), help="lines of models/traps.txt, and where their models are")
    a.add_argument("--seconds", type=int, default=120, help="processor time for each command (120)")
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--json", help="write all results to this file")
    o = a.parse_args()
    o.daedal = os.path.abspath(o.daedal)
    return o


def main():
    o, began = options(), time.time()
    cases = all_cases(o)
    with multiprocessing.Pool(o.jobs) as pool: results = pool.map(judge_one, [(c, o) for c in cases], chunksize=1)
    if o.json: json.dump(results, open(o.json, "w"), indent=1)
    table(results, o)
    count = tell(results, o)
    print("\n%d models, %d against the lines, %.0f s" % (len(results), count, time.time() - began))
    return 1 if count else 0


if __name__ == "__main__": sys.exit(main())
