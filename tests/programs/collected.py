"""Programs that make containers of `collections`, and have tensors decide what they hold."""

import collections
import copy
from collections import Counter, OrderedDict, defaultdict, deque

from programs_compare import program, t

import d2s.nn.functional as F

X, Y = t([1.0, -2.0, 3.0]), t([-9.0, 2.0, 3.0])
SETS = (X,), (Y,)


class Window:
    """The last three of what it was given."""

    def __init__(self):
        self.last: deque = deque(maxlen=3)

    def push(self, v):
        self.last.append(v)
        return self


@program(*SETS)
def a_queue(x):
    q = deque([x, x * 2])
    q.appendleft(x * 3)
    q.append(q.popleft() + q.pop())
    q.rotate(1)
    q.extendleft([1, 2])
    if x.sum() > 0:
        q.append("more")
    return len(q), q[0], 1 in q, q, q.maxlen, deque("ab") == deque(["a", "b"]), bool(deque()), deque([x, 2]).copy()


@program(*SETS)
def a_window(x):
    seen, sums = deque(maxlen=2), []
    for v in x:
        if v > 0:
            seen.append(v)
        sums.append(sum(seen) / 2)
    return sums, seen, Window().push(x).push(x * 2).last


@program((X, t(3)), (X, t(5)), (X, t(0)))
def a_queue_in_a_loop_on_a_tensor(x, n):
    q, i = deque([x], maxlen=2), 0
    while i < n:
        q.append(q.popleft() * 2 + i)
        i = i + 1
    return q[0] + 0, len(q)


@program(*SETS)
def an_empty_queue(x):
    q = deque()
    if x.sum() > 0:
        q.append(x)
    return q.pop()


@program(*SETS)
def groups(x):
    found, counts, nested = defaultdict(list), defaultdict(int), defaultdict(lambda: defaultdict(int))
    for k, v in zip("aba", x, strict=True):
        found["pos" if v > 0 else "neg"].append(v)
        counts[k] += 1
        nested[k]["n"] += 2
    return {k: len(v) for k, v in found.items()}, counts, nested["a"]["n"], "z" in counts, counts["z"], len(counts)


@program(*SETS)
def counted(x):
    counts = Counter("abca")
    counts.update("ab")
    counts["neg" if x[1] < 0 else "pos"] += 1
    counts.subtract(a=1)
    return counts, counts["none"], Counter("aab").most_common(1), sum(counts.values()), sorted(counts)


@program(*SETS)
def outputs_by_name(x):
    out = OrderedDict()
    for name, f in (("relu", F.relu), ("tanh", F.tanh)):
        out[name] = f(x)
        if out[name].sum() > 1:
            out[f"{name}_large"] = x
    return out, list(out)


@program(*SETS)
def kept_in_order(x):
    out = OrderedDict([("a", x), ("b", x * 2), ("c", 1)])
    out.move_to_end("a")
    first = out.popitem(last=False)
    again = copy.copy(out)
    again["d"] = 4
    return first, out, again, {**out}, dict(out), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), list(reversed(out))


@program(*SETS)
def what_they_are(x):
    made = deque([1]), OrderedDict(a=1), Counter("a"), defaultdict(int, a=1), defaultdict(list)
    print(*made, f"{made[1]}")
    kinds = [(type(m).__name__, isinstance(m, dict), isinstance(m, collections.deque), len(m)) for m in made]
    return kinds, x, type(made[0]) is deque
