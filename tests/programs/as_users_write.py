"""Functions as users write them: searches, meters, caches, retries, trees, schedules, text and NumPy beside tensors."""

import collections
import functools
import itertools
import operator

import numpy as np
from programs_compare import program, t

import d2s

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)
GRIDS = (t([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]]),), (t([[3.0, -2.0, 1.0], [0.1, 9.0, -4.0]]),)


class Stop(Exception):
    """Carries a value out of a recursion."""

    def __init__(self, value, reason="x"):
        super().__init__(f"stopped: {reason}")
        self.value = value


class Meter:
    """A running mean."""

    def __init__(self):
        self.total, self.n = 0.0, 0

    def update(self, v, n=1):
        self.total += v * n
        self.n += n

    @property
    def avg(self):
        return self.total / max(self.n, 1)


class Node:
    """A tree that yields its values in order."""

    def __init__(self, v, left=None, right=None):
        self.v, self.left, self.right = v, left, right

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.v
        if self.right:
            yield from self.right


class CountCalls:
    """A decorator that counts."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.n = f, 0

    def __call__(self, *args):
        self.n += 1
        return self.f(*args)


@program(*GRIDS)
def greedy_decode(x):
    tokens = []
    state = x[0]
    for step in range(5):
        logits = state * (step + 1)
        tok = int(logits.argmax())
        tokens.append(tok)
        if tok == 2:
            break
        state = state + x[1]
    return tokens, state


@program(*GRIDS)
def nms(x):
    scores = x[0]
    order = scores.argsort(descending=True)
    keep = []
    for i in order.tolist():
        ok = True
        for j in keep:
            if abs(i - j) < 2:
                ok = False
                break
        if ok:
            keep.append(i)
    return keep


@program(*SETS)
def newton(x):
    for it in range(20):
        step = (x * x - 2) / (2 * x)
        x = x - step
        if step.abs().max() < 1e-3:
            print("converged after", it)
            break
    else:
        print("no convergence")
    return x, it


@program(*SETS)
def stopping(x):
    def inner(v, depth):
        if v.sum() > 20 or depth > 4:
            raise Stop(v, reason=f"d{depth}")
        return inner(v * 2, depth + 1)

    try:
        inner(x, 0)
    except Stop as s:
        return s.value, str(s)


@program(*SETS)
def metered(x):
    m = Meter()
    for v in x:
        if v > 0:
            m.update(v.item())
    return m.avg, m.n, f"{m.avg:.3f}"


@program(*SETS)
def cache_kv(x):
    cache = {}
    for i in range(3):
        key = f"layer{i}"
        prev = cache.get(key)
        cache[key] = x * i if prev is None else d2s.concat([prev, x])
        if "layer1" in cache and x.sum() > 5:
            cache.pop("layer0", None)
    return cache, sorted(cache)


@program(*SETS)
def retry(x):
    attempts = 0
    while True:
        attempts += 1
        try:
            if x.sum() * attempts < 6:
                raise ValueError(attempts)
            break
        except ValueError:
            if attempts >= 3:
                raise
    return x, attempts


@program(*SETS)
def tree(x):
    root = Node(x, Node(x * 2), Node(x * 3, Node(x * 4)))

    def depth(n):
        return 0 if n is None else 1 + max(depth(n.left), depth(n.right))

    return list(root), depth(root), sum(root)


@program(*SETS)
def class_decorator(x):
    @CountCalls
    def g(v):
        return v * 2

    return g(g(x)), g.n


@program(*SETS)
def grouping(x):
    groups = collections.defaultdict(list)
    for v in x:
        groups["pos" if v > 0 else "neg"].append(v)
    return {k: d2s.stack(v).sum() for k, v in groups.items()}


@program(*SETS)
def zips(x):
    a = list(zip("abc", x, strict=False))
    b = dict(enumerate(x))
    c = tuple(zip(x, x * 2, strict=False))
    d = sorted(zip([3, 1, 2], x, strict=False), key=lambda p: p[0])
    e = max(zip([3, 1, 2], x, strict=False), key=lambda p: p[0])
    f = sorted(set(zip([1, 2], "ab", strict=False)))
    g = [*enumerate(x)]
    h = dict(a=1, **dict(zip("xyz", x, strict=False)))
    return a, b, c, d, e, f, g, h


@program(*SETS)
def if_walrus(x):
    if (s := x.sum()) > 1 and s < 8:
        return x * s
    return (x, s) if (m := x.max()) > 4 or m < 0 else m


@program(*SETS)
def while_walrus(x):
    n = 0
    while (norm := float((x * x).sum())) > 1.0 and n < 50:
        x = x / 2
        n += 1
    return x, n, norm


@program(*SETS)
def np_loop(x):
    total = 0.0
    for v in x.numpy():
        total += float(v)
    return total


@program(*SETS)
def np_enumerate(x):
    out = []
    for i, v in enumerate(x.numpy()):
        if v > 0:
            out.append(i)
    return out


@program(*SETS)
def np_comp(x):
    return [float(v) * 2 for v in x.numpy()]


@program(*SETS)
def np_unique(x):
    total = x * 0
    for v in np.unique(np.round(x.numpy())):
        total = total + float(v)
    return total


@program(*SETS)
def early_none(x):
    def find(v):
        for i, e in enumerate(v):
            if e > 2:
                return i
        return None

    i = find(x)
    return -1 if i is None else i


@program(*SETS)
def bubble(x):
    v = [x[0], x[1], x[2]]
    n = len(v)
    for i in range(n):
        for j in range(n - i - 1):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


@program(*SETS)
def itertools_group(x):
    rows = [("a", x), ("a", x * 2), ("b", x * 3)]
    return {k: sum(v for _, v in g) for k, g in itertools.groupby(rows, key=operator.itemgetter(0))}


@program((X, {"op": "scale", "by": 2}), (X, {"op": "shift", "by": 3}), (X, {"op": "?"}))
def match_dict(x, cmd):
    match cmd:
        case {"op": "scale", "by": k}:
            return x * k
        case {"op": "shift", "by": k} if k > 1:
            return x + k
        case _:
            return x


@program(*SETS)
def schedule(x):
    lrs = [0.1 * 0.5**k for k in range(4)]
    for lr, decay in zip(lrs, itertools.cycle([True, False]), strict=False):
        x = x - lr * x
        if decay and x.sum() > 1:
            x = x * 0.9
    return x


@program(*SETS)
def accumulate_dict(x):
    stats = {"pos": 0, "neg": 0}
    for v in x:
        stats["pos" if v > 0 else "neg"] += 1
    stats.update(total=sum(stats.values()))
    return stats


@program(*SETS)
def multi_return(x):
    def split(v):
        if v.sum() > 5:
            return v, None, "big"
        return v * 2, v, "small"

    a, b, tag = split(x)
    return (a if b is None else a + b), tag, {"big": 1, "small": 2}[tag]


@program(*SETS)
def windows(x):
    parts = [x[i : i + 2] for i in range(len(x) - 1)]
    return d2s.stack(parts), [p.mean() for p in parts], sum(p.sum() for p in parts)


@program(*SETS)
def hist(x):
    h = [0] * 4
    for v in x:
        h[min(3, max(0, int(v)))] += 1
    return h


@program(*SETS)
def beam(x):
    beams = [(0.0, [])]
    for step in range(3):
        cand = []
        for score, seq in beams:
            for tok in range(2):
                cand.append((score + float(x[step]) * (tok + 1), [*seq, tok]))
        cand.sort(key=lambda c: -c[0])
        beams = cand[:2]
    return beams


@program(*SETS)
def running_best(x):
    best, best_i, history = None, -1, []
    for i, v in enumerate(x):
        if best is None or v > best:
            best, best_i = v, i
            history.append((i, float(v)))
    return best, best_i, history


@program(*SETS)
def normalize_dict(x):
    stats = {name: getattr(x, name)() for name in ("mean", "std", "max", "min")}
    return {k: v / (stats["std"] + 1e-6) for k, v in stats.items() if k != "std"}


@program(*SETS)
def memo(x):
    cache = {}

    def f(n):
        if n not in cache:
            cache[n] = x if n == 0 else f(n - 1) * 2 + n
        return cache[n]

    return f(3), sorted(cache)


@program(*SETS)
def compose(x):
    def comp(*fs):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), fs)

    return comp(d2s.nn.functional.relu, lambda v: v + 1, d2s.sqrt)(x)


@program(*SETS)
def tree_map(x):
    def tmap(f, v):
        if isinstance(v, dict):
            return {k: tmap(f, u) for k, u in v.items()}
        if isinstance(v, (list, tuple)):
            return type(v)(tmap(f, u) for u in v)
        return f(v)

    return tmap(lambda v: v * 2, {"a": [x, (x, x * 3)], "b": x})


@program(*SETS)
def del_while(x):
    d = {k: x * k for k in range(4)}
    for k in list(d):
        if k % 2 == 0 or (d[k].sum() > 10):
            del d[k]
    return d


@program(*SETS)
def str_join_cond(x):
    return "".join("+" if v > 0 else "-" for v in x), ",".join([str(i) for i, v in enumerate(x) if v > 0])


@program((t([[1.0, 2.0], [3.0, 4.0]]), t([True, False]), [0.1, 5.0]), (t([[1.0, -2.0], [3.0, -4.0]]), t([True, True]), [1, 2]))
def parts_become_what_lists_hold(x, m, values):
    y, k, double = x * 1, x.astype("int64"), x.astype("float64")
    y[0] = [7.0, 0.1]
    y[:, 1] = (x.shape[0], 2.5)
    k[1] = [2.7, -1.2]
    double[0] = values
    double[1] = np.array([0.1, 1e300])
    y[m] = [x[0, 0], 8.0]
    z = x * 2
    z[:] = [[1.0, 2.0], [3.0, 4.0]] if x.sum() > 0 else [5, 6]
    for row in range(2):
        z[row] = [row, row + 0.5]
    i = d2s.to_tensor(0)
    while i < 2:
        z[i] = [i * 2, 1.5]
        i += 1
    return y * x, k, double, z
