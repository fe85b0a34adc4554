"""Runs of models with known solutions: what a generator makes, one run, its verdict, and many of them on several processes."""
import csv, io, multiprocessing, os, random, re, signal, subprocess

BAD = ("WRONG", "CRASH", "HANG")
MOMENTS = [sign*10.0**-k for k in range(5) for sign in (1, -1)]
CPU_SECONDS = 20  # processor time of a run that hangs


class Invalid(Exception):
    """A description from which no model can be made: the shrinker tries another."""


class Model:
    """A text and its truth. rows: name -> function of time; sizes: name -> size in whose units errors are judged, at least.
    ends: name -> value at the end (counts). jumps: values may be those of either side of a jump. loose: errors of event times
    add up, so many times the bound. late: events may be off by so many tolerances times the stop time."""
    def __init__(self, declarations, equations, stop, rows, sizes=None, ends=None, jumps=False, loose=1, late=0, before="", functions=""):
        body = ";\n  ".join(equations)
        self.text = "%smodel M\n  %s\n%sequation\n  %s;\n  annotation(experiment(StopTime = %r));\nend M;\n" % (
            functions, "\n  ".join(declarations), before, body, stop)
        self.stop, self.rows, self.sizes, self.ends, self.jumps, self.loose, self.late = stop, rows, sizes or {}, ends or {}, jumps, loose, late


def value(cell): return float(cell == "true") if cell in ("true", "false") else float(cell)


def cpu_of(pid):
    """Processor time that a process has taken so far."""
    try: fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    except OSError: return 0.0
    return (int(fields[11]) + int(fields[12]))/os.sysconf("SC_CLK_TCK")


def command(arguments, seconds=CPU_SECONDS):
    """Exit code (None: it takes more processor time than that), output and messages of a command."""
    p = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(60):
        try:
            out, err = p.communicate(timeout=seconds)
            return p.returncode, out, err
        except subprocess.TimeoutExpired:
            if cpu_of(p.pid) > seconds: break
    p.kill()
    p.communicate()
    return None, "", ""


def table(out):
    """Names and rows of a table in csv, without units."""
    lines = list(csv.reader(io.StringIO(out)))
    return [re.sub(r" \[.*\]$", "", h) for h in lines[0]], [[value(x) for x in r] for r in lines[1:]]


def sides(f, t, model, rtol):
    """The smallest and largest right value at t; where it jumps that of a moment earlier or later is right, too."""
    if not model.jumps: return (f(t),)*2
    moment = max(1e-6, model.late*rtol)
    near = [f(t)] + [f(min(max(t + d*moment*model.stop, 0.0), model.stop)) for d in MOMENTS]
    return min(near), max(near)


def worst_error(model, head, body, rtol):
    """The largest error of a table, in units of what is allowed, and where it is."""
    allowed = min(100*rtol*model.loose, 0.03*min(model.loose, 5))
    worst, what = 0.0, ""
    times = [r[0] for r in body]
    for name, f in model.rows.items():
        j = head.index(name)
        right = [sides(f, t, model, rtol) for t in times]
        size = max([abs(x) for pair in right for x in pair] + [model.sizes.get(name, 1e-300)])
        for r, (low, high) in zip(body, right):
            e = max(low - r[j], r[j] - high, 0.0)/size/allowed
            if not e <= worst: worst, what = (e if e == e else float("inf")), "%s(%.6g) = %.9g, right %.9g" % (name, r[0], r[j], low)
    for name, x in model.ends.items():
        got = body[-1][head.index(name)]
        e = 0.0 if abs(got - x) < (0.5 if abs(x) < 50 else 1.5) else float("inf")
        if e > worst: worst, what = e, "%s(%.6g) = %.9g, right %.9g" % (name, body[-1][0], got, x)
    return worst, what


def told(name, err):
    """Whether a note or warning names a variable."""
    return any(("note:" in l or "warning:" in l) and re.search(r"(?<![\w.])%s(?!\w)" % re.escape(name), l) for l in err.splitlines())


def verdict(model, code, out, err, rtol):
    """What a run is: right, noted, refused, WRONG, CRASH or HANG, and why."""
    if code is None: return "HANG", "%d s of processor time" % CPU_SECONDS
    if code < 0 or code >= 128: return "CRASH", "exit code %d" % code
    if code: return "refused", " ".join(re.sub(r"\S*?m[^/\s]*\.mo", "M.mo", err).split())[:160]
    try: head, body = table(out)
    except (ValueError, IndexError) as why: return "WRONG", "the table cannot be read: %s" % why
    missing = [v for v in list(model.rows) + list(model.ends) if v not in head]
    if missing: return "WRONG", "no column %s" % missing[0]
    if not body or abs(body[-1][0] - model.stop) > 1e-9*model.stop: return "WRONG", "the table does not reach the end"
    worst, what = worst_error(model, head, body, rtol)
    if worst <= 1: return "right", ""
    return ("noted" if told(what.split("(")[0], err) else "WRONG"), "%.2g times the bound: %s" % (worst, what)


class Trial:
    """Runs of one command in one folder."""
    def __init__(self, daedal, folder):
        self.daedal, self.folder = os.path.abspath(daedal), folder

    def path(self, name): return os.path.join(self.folder, "m%s.mo" % name)

    def run(self, model, name, method, rtol):
        path = self.path(name)
        with open(path, "w") as f: f.write(model.text)
        options = ["--method", method, "--rtol", "%g" % rtol]
        return verdict(model, *command([self.daedal, "run", path, "-o", "-", "--points", "41"] + options), rtol)

    def verified(self, name, method, rtol):
        """What `daedal verify` says: Good, Off or another word of its report."""
        code, out, _ = command([self.daedal, "verify", self.path(name), "--method", method, "--rtol", "%g" % rtol, "--points", "41"],
                               10*CPU_SECONDS)
        return {0: "Good", 1: "failed", 4: "Off", 5: "unknown", None: "HANG"}.get(code, "exit %d" % (code or 0))


def in_parallel(work, items, jobs):
    """work(item) of each, as they end, on so many processes."""
    if jobs < 2:
        yield from map(work, items)
        return
    with multiprocessing.Pool(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from pool.imap(work, items, chunksize=4)


def random_of(seed, i): return random.Random("%s/%s" % (seed, i))
