"""Makes a description smaller while it still fails. Descriptions are what json can write: objects, lists, numbers and words;
which of them makes a model is for the generator to say."""
import copy, math, time


def places(x, path=()):
    """All lists, objects and values within x, the outer ones first."""
    yield path
    for key, part in (x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()):
        yield from places(part, path + (key,))


def at(x, path):
    for key in path: x = x[key]
    return x


def put(x, path, part):
    """x with another part at a place."""
    if not path: return part
    y = copy.copy(x)
    y[path[0]] = put(x[path[0]], path[1:], part)
    return y


def without(x, path, keys):
    """x without some elements of the list at a place."""
    return put(x, path, [p for i, p in enumerate(at(x, path)) if i not in keys])


def shorter(x):
    """x with lists that have lost a half, a quarter .. or one of their elements."""
    for path in places(x):
        part = at(x, path)
        if not isinstance(part, list): continue
        n = len(part)
        size = n
        while size:
            for first in range(0, n, size): yield without(x, path, range(first, min(first + size, n)))
            size //= 2


def simpler_values(v):
    """Simpler ones in place of a value."""
    if isinstance(v, bool): return [False] if v else []
    if not isinstance(v, (int, float)): return []
    tries = [0, 1]
    if isinstance(v, float) and v and math.isfinite(v):
        tries += [float("%.0e" % v), float("%.1e" % v), -v if v < 0 else v]
    if isinstance(v, int): tries += [v // 2, v - 1] if v > 1 else []
    cost = lambda x: (len("%r" % float(x)), x < 0)
    return [type(v)(x) for x in tries if x != v and cost(x) < cost(v)]


def plainer(x):
    """x with one value simpler."""
    for path in places(x):
        for v in simpler_values(at(x, path)): yield put(x, path, v)


def smaller(x, fails, tries=300, extra=None, seconds=40):
    """x as small as so many tries find it. fails(y) says whether y still fails in the same way, None where y makes no model; extra(x)
    gives more candidates. After so many seconds it is left as it is."""
    changed, end = True, time.time() + seconds
    while changed and tries > 0:
        changed = False
        for candidates in ([extra] if extra else []) + [shorter, plainer]:
            again = True
            while again and tries > 0:
                again = False
                for y in candidates(x):
                    if tries <= 0 or time.time() > end: return x
                    failed = fails(y)
                    if failed is not None: tries -= 1
                    if failed:
                        x, again, changed = y, True, True
                        break
    return x
