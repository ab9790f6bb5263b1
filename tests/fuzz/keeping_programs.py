"""Seeded random functions that change what lies outside: an object with lists, dicts, sets and objects in each other.

In: a seed. Out: the text of a module with the state `S` and `f(x)`, and what is done before and behind each call.
"""

import random

from random_programs import indented

STATE = """
import d2s


class Box:
    def __init__(self, v=0.0, items=None, up=None):
        self.v, self.items, self.up = v, items, up


S = Box()
S.n, S.f, S.best, S.l, S.hist, S.s, S.pair = 0, 0.5, None, [], {}, {1}, [[], [1.0]]
S.d = {'a': [], 'k': 1}
S.m = {'in': {'deep': [1.0]}, 'also': S.d['a'], 'o': Box(v=2.0)}
S.o = Box(v=1.0, items=[], up=S.l)
S.t = ([0.5], S.d)
COUNT = 0
KEPT = [S.l, S.hist, S.s, S.pair, *S.pair, S.d, S.d['a'], S.m, S.m['in'], S.m['in']['deep'], S.o, S.o.items, *S.t]
STATE = [KEPT, S, COUNT]
"""
CHANGES = (  # of one line; {v} is a number or a tensor, {k} a key
    "S.n += 1",
    "S.n = S.n + 1",
    "S.f = S.f * 0.5",
    "S.f = float(s)",
    "S.best = {v}",
    "S.l.append({v})",
    "S.l.extend([{v}, 1.0])",
    "S.l[0] = {v}",
    "S.l = [*S.l, {v}][-3:]",
    "S.l = []",
    "S.l.clear()",
    "S.o.up.append({v})",
    "S.d['a'].append({v})",
    "S.m['also'].append({v})",
    "S.d['k'] = S.d['k'] + 1",
    "S.d['k'] += 1",
    "S.d[{k}] = {v}",
    "S.d['n'] = S.d.get('n', 0) + 1",
    "S.d.setdefault('z', []).append({v})",
    "S.d.pop('z', None)",
    "S.d.update(u={v})",
    "S.d = {{'a': [{v}], 'k': 2}}",
    "S.hist[S.n] = {v}",
    "S.hist[{k}] = {v}",
    "S.hist[len(S.hist)] = {v}",
    "S.m['in']['deep'][0] = {v}",
    "S.m['in']['deep'].append({v})",
    "S.m['in'] = {{'deep': [{v}]}}",
    "S.m['in'][{k}] = [{v}]",
    "S.m['o'].v = {v}",
    "S.m['o'] = S.o",
    "S.pair[0], S.pair[1] = S.pair[1], S.pair[0]",
    "S.pair[1].append({v})",
    "S.pair.append([])",
    "S.pair[-1] = S.l",
    "S.s.add({k})",
    "S.s.discard(1)",
    "S.o.v = S.o.v * 0.5 + {v}",
    "S.o.items.append(S.o.v)",
    "S.o.items = S.o.items + [{v}]",
    "S.o.extra = {v}",
    "S.o = Box(v={v}, items=S.o.items, up=S.l)",
    "S.t[0][0] = {v}",
    "S.t[0].append({v})",
    "S.t[1]['t'] = {v}",
    "S.new = [{v}]",
    "COUNT = COUNT + 1",
)
READS = (
    "S.n",
    "S.f",
    "len(S.l)",
    "len(S.d)",
    "len(S.d['a'])",
    "len(S.hist)",
    "S.o.v",
    "(S.l[-1] if S.l else 0.0)",
    "S.m['in']['deep'][0]",
    "S.m['o'].v",
    "(0.0 if S.best is None else S.best)",
    "S.d.get('u', 0.5)",
    "S.d['k']",
    "sum(S.o.items)",
    "S.t[0][0]",
    "COUNT",
    "float(S.d['a'] is S.m['also'])",
    "float('z' in S.d)",
    "len(S.pair)",
    "getattr(S.o, 'extra', 2.0)",
)
TESTS = (
    "s > 0.5",
    "s < 0.0",
    "S.n % 2 == 0",
    "S.best is None",
    "S.best is None or s < S.best",
    "len(S.l) > 2",
    "s > S.f",
    "y.max() > 1.0",
    "S.n > 1 and s > 0.0",
    "'z' in S.d",
)
BETWEEN = (
    "S.l.append(2.0)",
    "S.n = 7",
    "S.d['a'].clear()",
    "S.m['in']['deep'].append(3.0)",
    "S.best = None",
    "S.o.v = 4.0",
    "S.l = [1.0, 2.0]",
    "S.d = dict(S.d)",
    "COUNT = 5",
)


class Keeping:
    """One module, and what is done around its calls."""

    changes, reads, tests, between, state = CHANGES, READS, TESTS, BETWEEN, STATE
    first, behind = ["global COUNT", "s, y = x.sum(), x * 1.0"], "STATE[2] = COUNT"
    arguments = ([0.5, 1.0], [-2.0, 0.25], [3.0, 1.0], [0.5, 1.0], [-1.0, -1.0])

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.wants_gradient = self.random.random() < 0.4
        self.body = [*self.first, *self.block(0, 5), "return y"]
        before = [self.random.choice(self.between) if self.random.random() < 0.2 else "" for _ in self.arguments]
        swept = "r.sum().backward()\n" if self.wants_gradient else ""
        self.calls = [(one, swept + self.behind) for one in before]

    def value(self) -> str:
        return self.random.choice(("s", "s * 2.0", "y", "x.max()", "0.25", "S.n", "float(s)", self.read()))

    def key(self) -> str:
        return self.random.choice(("'a'", "'b'", "'k'", "3", "S.n", "'t' * 2"))

    def change(self) -> str:
        return self.random.choice(self.changes).format(v=self.value(), k=self.key())

    def read(self) -> str:
        return self.random.choice(self.reads)

    def test(self) -> str:
        return self.random.choice(self.tests)

    def statement(self, depth: int) -> list[str]:
        form, inner = self.random.random(), lambda: self.block(depth + 1, 2)
        test = self.test()
        if form < 0.55 or depth > 1:
            return [self.change()] if self.random.random() < 0.7 else [f"y = y + {self.read()}"]
        if form < 0.75:
            return [f"if {test}:", *indented(inner()), *(["else:", *indented(inner())] if self.random.random() < 0.4 else [])]
        if form < 0.82:
            return ["for s in x:", *indented(inner())]
        if form < 0.88:
            return ["for k in range(2):", *indented(inner())]
        if form < 0.93:
            return [
                "try:",
                *indented([*inner(), f"if {test}:", "    raise ValueError(1)"]),
                "except ValueError:",
                *indented(inner()),
            ]
        return [f"if {test}:", *indented([*inner(), "return y * 2.0"])]

    def block(self, depth: int, most: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, most)) for line in self.statement(depth)]

    def text(self) -> str:
        return self.state + "\n\ndef f(x):\n" + "\n".join(indented(self.body)) + "\n"
