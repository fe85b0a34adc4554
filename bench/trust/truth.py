#!/usr/bin/env python3
"""truth.py DAEDAL [options]: runs random models whose solutions are known, and says which runs are wrong. README.md tells more."""
import argparse, collections, copy, json, os, random, sys, tempfile, time
import chosen
from runs import BAD, Invalid, Trial, in_parallel, random_of
from shrink import smaller

KINDS = dict(chosen.KINDS_OF_MODELS)
for other in ("discrete", "circuits", "mechanisms"):
    try: KINDS.update(__import__(other).KINDS_OF_MODELS)
    except ImportError: pass
METHODS = ["bdf", "radau", "rodas", "dopri", "taylor", "sdirk", "irk", "liex"]
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-6, 1e-7, 1e-8, 1e-9]


def arguments():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("daedal")
    a.add_argument("--models", type=int, default=200, help="how many (200)")
    a.add_argument("--seed", type=int, help="the same models again; else one from the clock, which is printed")
    a.add_argument("--kind", action="append", help="of this kind alone; repeat for more: " + ", ".join(KINDS))
    a.add_argument("--only", type=int, help="the model of this number alone, with its text")
    a.add_argument("--method", help="this method alone, in place of auto and a random one")
    a.add_argument("--rtol", type=float, help="this tolerance alone")
    a.add_argument("--keep", help="a folder for the models that fail")
    a.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    a.add_argument("--jobs", type=int, default=2, help="processes (2)")
    a.add_argument("--shrink", type=int, default=3, help="make so many of each kind and verdict small (3)")
    a.add_argument("--verify", action="store_true", help="ask 'daedal verify' about each wrong run: none may be Good")
    a.add_argument("--open", help="a list of kinds that are known to be wrong; they are printed, and left out")
    a.add_argument("--refused", type=float, default=2, help="per cent of the runs with auto that may be refused or noted (2)")
    return a.parse_args()


def described(options, i):
    """The i-th model: its kind, description, and the runs to make of it."""
    R = random_of(options.seed, i)
    kind = R.choice(options.kinds)
    rtol = options.rtol or R.choice(TOLERANCES)
    methods = [options.method] if options.method else ["auto", R.choice(METHODS)]
    for _ in range(100):
        spec = json.loads(json.dumps(KINDS[kind][0](R)))
        try: return kind, spec, KINDS[kind][1](copy.deepcopy(spec)), rtol, methods
        except (Invalid, OverflowError): pass
    raise SystemExit("no model of kind %s in 100 attempts" % kind)


class Work:
    """What the processes do with one number, and with one failure."""
    def __init__(self, options, folder): self.options, self.trial = options, Trial(options.daedal, folder)

    def __call__(self, i):
        kind, spec, model, rtol, methods = described(self.options, i)
        found = []
        for method in methods:
            what, why = self.trial.run(model, i, method, rtol)
            judged = self.trial.verified(i, method, rtol) if self.options.verify and what == "WRONG" else ""
            found.append((kind, i, method, rtol, what, why, judged))
        if all(f[4] == "right" for f in found): os.remove(self.trial.path(i))
        return found

    def shrunk(self, failure):
        kind, i, method, rtol, what = failure[:5]
        seen = {}

        def fails(spec):
            try:  # values of a truth may be asked for during the run
                model = KINDS[kind][1](copy.deepcopy(spec))
                got, why = self.trial.run(model, "%d_small" % i, method, rtol)
            except (Invalid, ArithmeticError, ValueError, IndexError, KeyError, TypeError): return None
            if got == what: seen.update(text=model.text, why=why)
            return got == what

        spec = described(self.options, i)[1]
        if not fails(spec): return failure, "", "does not fail again"
        smaller(spec, fails, 250 if what != "HANG" else 8)
        with open(self.trial.path("%d_small" % i), "w") as f: f.write(seen["text"])
        return failure, seen["text"], seen["why"]


def report(counts, options):
    """The table of verdicts by kind, for auto and for the other methods."""
    words = ["right", "noted", "refused", "WRONG", "CRASH", "HANG"]
    print("\n%-10s %-7s" % ("kind", "method") + "".join("%8s" % w for w in words))
    for kind in options.kinds:
        for group in ("auto", "other"):
            c = counts.get((kind, group))
            if c: print("%-10s %-7s" % (kind, group) + "".join("%8s" % (c[w] or ".") for w in words))


def study(options, folder):
    """Runs all models; returns counts by kind and method, and the failures."""
    work, counts, failures, began = Work(options, folder), {}, [], time.time()
    numbers = [options.only] if options.only else range(1, options.models + 1)
    for found in in_parallel(work, numbers, options.jobs):
        for f in found:
            kind, i, method, rtol, what, why, judged = f
            counts.setdefault((kind, "auto" if method == "auto" else "other"), collections.Counter())[what] += 1
            if what in BAD or (what == "refused" and method == "auto"):
                failures.append(f)
                print("%-7s %d %s %s %g: %s%s" % (what, i, kind, method, rtol, why, "; verify: " + judged if judged else ""), flush=True)
        if time.time() - began > options.seconds: break
    return work, counts, failures


def small_ones(work, failures, options):
    """Prints a few failures of each kind and verdict as small models."""
    groups = collections.defaultdict(list)
    for f in failures: groups[f[0], f[4]].append(f)
    chosen_ones = [f for g in groups.values() for f in g[:options.shrink]]
    for failure, text, why in in_parallel(work.shrunk, chosen_ones, options.jobs):
        print("\n%s of kind %s, number %d, %s at %g: %s\n%s" % (failure[4], failure[0], failure[1], failure[2], failure[3], why, text), flush=True)


def main():
    options = arguments()
    if options.seed is None: options.seed = int(time.time()*1000) % 10**9
    known = [l.split("#")[0].split() for l in open(options.open)] if options.open else []
    left_out = [w[0] for w in known if w]
    options.kinds = [k for k in (options.kind or KINDS) if k not in left_out]
    folder = options.keep or tempfile.mkdtemp(prefix="trust")
    os.makedirs(folder, exist_ok=True)
    print("seed %d, models in %s" % (options.seed, folder))
    for line in left_out: print("known to be wrong, left out: %s" % line)
    if options.only: print(described(options, options.only)[2].text)
    work, counts, failures = study(options, folder)
    if options.shrink: small_ones(work, failures, options)
    report(counts, options)
    total = sum(counts.values(), collections.Counter())
    soft = sum(c["refused"] + c["noted"] for (_, group), c in counts.items() if group == "auto")
    auto = sum(sum(c.values()) for (_, group), c in counts.items() if group == "auto")
    print("%d runs: %s" % (sum(total.values()), ", ".join("%d %s" % (n, w) for w, n in total.most_common())))
    good = [f for f in failures if f[6] == "Good"]
    if options.verify: print("wrong, and Good by verify: %d" % len(good))
    return 1 if any(total[w] for w in BAD) or soft > options.refused/100*max(auto, 1) else 0


if __name__ == "__main__": sys.exit(main())
