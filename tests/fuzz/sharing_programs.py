"""Seeded random functions that change what several names lead to: containers in each other, objects of many kinds of classes.

In: a seed. Out: the text of a module with the state `S` and `f(x)`, and what is done before and behind each call.
"""

from keeping_programs import Keeping
from random_programs import indented

STATE = """
import collections, contextlib, copy, dataclasses
import d2s


class Box:
    kinds, made = [0.5], 0

    def __init__(self, v=0.0, items=None, up=None):
        self.v, self.items, self.up = v, items, up

    @property
    def twice(self):
        return self.v * 2.0

    @twice.setter
    def twice(self, v):
        self.v = v * 0.5
        self.items.append(v)

    def put(self, v, into=[]):
        into.append(v)
        return into


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Data:
    v: object = 0.0
    l: list = dataclasses.field(default_factory=list)
    m: object = None


class Words(dict):
    def __missing__(self, key):
        return 3.0


def keeper():
    count, held = 0, [1.0]

    def put(v):
        nonlocal count, held
        count += 1
        if count % 3 == 0:
            held = [v]
        else:
            held.append(v)
        return held

    def tell():
        return count + len(held)

    return put, tell


@contextlib.contextmanager
def noting(l, v):
    l.append('in')
    try:
        yield v
    except KeyError:
        l.append('key')
    finally:
        l.append('out')


def swap(p, q):
    p.append(len(q))
    q.insert(0, len(p))
    return p is q


S = Box()
S.l = [1.0, 2.0]
S.a = S.b = S.l
S.d = {'l': S.l, 'p': (1.0, S.l), 'n': 0, 'in': {'l': [0.5]}}
S.e = [S.d, S.d['in'], S.l]
S.p = S.d['p']
S.prev = None
S.q = Slots(1.0, S.l)
S.data = Data(1.0, S.l, S.d)
S.other = Box(v=1.0, items=[], up=S)
S.up = S.other
S.groups = collections.defaultdict(list, a=S.l)
S.counts = collections.Counter(a=1)
S.words = Words(a=1.0)
S.names = {'u', 'w'}
S.order = {'x': 1.0, 'y': 2.0, 'z': 3.0}
S.put, S.tell = keeper()
S.log = []
S.w = d2s.to_tensor([1.0, 2.0])
S.ws = [S.w, {'w': S.w}]
KEPT = [S.l, S.d, S.e, S.p, S.d['in'], S.d['in']['l'], S.q, S.data, S.other, S.groups, S.counts, S.words, S.names, S.order, S.w]
STATE = [KEPT, S, Box.kinds, S.put.__closure__[0].cell_contents, S.put.__closure__[1].cell_contents, Box.put.__defaults__]
"""
CHANGES = (  # of one line; {v} is a number or a tensor, {k} a key, {l} one of the lists
    "{l}.append({v})",
    "{l}.append({v})",
    "{l}.extend([{v}, 1.0])",
    "{l}.insert(1, {v})",
    "{l}[0] = {v}",
    "{l}[-1:] = [{v}, 2.0]",
    "del {l}[0]",
    "del {l}[:1]",
    "{l}.pop()",
    "{l}.reverse()",
    "{l} += [{v}]",
    "{l}.clear()",
    "{l} = {l}[:]",
    "{l} = {l} + [{v}]",
    "{l}, {m} = {m}, {l}",
    "{l} = {m}",
    "{l} = [{m}, {v}]",
    "swap({l}, {m})",
    "S.prev = S.p",
    "S.p = S.prev or S.p",
    "S.p = (S.p[0], {l})",
    "S.d['p'] = S.p",
    "S.p[1].append({v})",
    "S.d['n'] += 1",
    "S.d[{k}] = {v}",
    "S.d[{k}] = {l}",
    "S.d['in']['l'] = {l}",
    "S.e[1][{k}] = {v}",
    "S.e[0]['n'] = {v}",
    "S.e[-1] = {l}",
    "S.e.append(S.e[0])",
    "S.q.a = {v}",
    "S.q.b = {l}",
    "S.q = Slots({v}, {l})",
    "S.data.v = {v}",
    "S.data = dataclasses.replace(S.data, v={v})",
    "S.data = Data({v}, {l}, S.d)",
    "S.data = copy.copy(S.data)",
    "S.data.m = copy.copy({l})",
    "S.data.m = copy.deepcopy({l})",
    "S.other.twice = {v}",
    "S.other.twice += 1.0",
    "S.up.v = {v}",
    "S.other.up.v = {v}",
    "S.other.items = {l}",
    "S.other = Box({v}, {l}, S.other)",
    "S.up, S.other = S.other, S.up",
    "S.other.kinds.append({v})",
    "S.other.kinds = [{v}]",
    "S.other.made += 1",
    "S.log.append(len(S.other.put({v})))",
    "S.data.m = S.put({v})",
    "S.put({v})",
    "S.groups[{k}].append({v})",
    "S.groups[{k}] = {l}",
    "S.groups.pop({k}, None)",
    "S.counts[{k}] += 1",
    "S.words[{k}] = {v}",
    "S.words['t'] = S.words[{k}]",
    "S.names.add({k})",
    "S.names |= {{{k}, 'v'}}",
    "S.names = S.names - {{{k}}}",
    "S.names.discard({k})",
    "S.order[{k}] = {v}",
    "S.order[{k}] = S.order.pop('x', {v})",
    "S.order.pop({k}, 0)",
    "del S.order['y']",
    "S.order.popitem()",
    "S.order.setdefault({k}, {v})",
    "S.order |= {{{k}: {v}, 'x': 5.0}}",
    "S.order = {{**S.order, {k}: {v}}}",
    "S.order = dict(sorted(S.order.items(), key=lambda pair: pair[0], reverse=True))",
    "S.order.update({k}x=1.0)".replace("{k}x", "x"),
    "S.log.append(list(S.order))",
    "S.log.append(sorted(S.names))",
    "S.log.append(S.a is S.b)",
    "S.log.append({l} is {m})",
    "S.log.append(S.p is S.d['p'])",
    "S.w.add_({v})",
    "S.w[0] = {v}",
    "S.ws[1]['w'] = S.w * 2.0",
    "S.ws[0] = S.ws[1]['w']",
    "setattr(S, {k} + '_', {v})",
    "S.e[1].update(S.d['in'])",
    "print(len({l}), S.d['n'])",
)
LISTS = (
    "S.l",
    "S.a",
    "S.b",
    "S.d['l']",
    "S.d['in']['l']",
    "S.q.b",
    "S.data.l",
    "S.other.items",
    "S.e[1]['l']",
    "S.groups['a']",
)
READS = (
    "len({l})",
    "len({l})",
    "sum([w for w in {l} if type(w) is float])",
    "S.q.a",
    "S.data.v",
    "S.other.twice",
    "S.up.v",
    "len(S.other.kinds)",
    "S.other.made",
    "Box.made",
    "S.tell()",
    "len(S.groups)",
    "len(S.groups[{k}])",
    "S.counts[{k}]",
    "S.words[{k}]",
    "len(S.order)",
    "S.order.get({k}, 0.5)",
    "list(S.order.values())[0]",
    "float({k} in S.names)",
    "float({l} is {m})",
    "float(S.p is S.prev)",
    "S.w.sum()",
    "S.ws[0].sum()",
    "S.ws[1]['w'].max()",
    "S.d['n']",
    "S.e[0]['n']",
    "S.p[0]",
    "{l}[0]",
)
TESTS = (
    "s > 0.5",
    "s < 0.0",
    "y.max() > 1.0",
    "{l} is {m}",
    "len({l}) > 3",
    "S.prev is None",
    "S.d['n'] > 2",
    "S.q.a > s",
    "{k} in S.order",
    "s > 0.0 and len(S.names) > 1",
)
BETWEEN = (
    "S.l.append(2.0)",
    "S.a = [3.0]",
    "S.b = S.a",
    "S.d = dict(S.d)",
    "S.d['n'] = 7",
    "S.p = (2.0, S.l)",
    "S.q.a = 4.0",
    "S.data.l = S.d['in']['l']",
    "Box.made = 5",
    "S.groups.clear()",
    "S.order['new'] = 0.5",
    "S.other.items = S.l",
    "S.names.add('n')",
    "S.w = d2s.to_tensor([3.0, -1.0])",
)


class Sharing(Keeping):
    """One module, and what is done around its calls."""

    changes, reads, tests, between, state = CHANGES, READS, TESTS, BETWEEN, STATE
    first, behind = ["s, y = x.sum(), x * 1.0"], ""

    def filled(self, rows: tuple[str, ...]) -> str:
        row, (one, other) = self.random.choice(rows), self.random.sample(LISTS, 2)
        return row.format(v=self.value() if "{v}" in row else "", k=self.key(), l=one, m=other)

    def value(self) -> str:
        simple = ("s", "s * 2.0", "y", "x.max()", "0.25", "1.5", "float(s)")
        return self.random.choice(simple) if self.random.random() < 0.7 else self.read()

    def key(self) -> str:
        return self.random.choice(("'a'", "'x'", "'y'", "'u'", "('a' if s > 0.0 else 'x')"))

    def change(self) -> str:
        return self.filled(self.changes)

    def read(self) -> str:
        return self.filled(self.reads)

    def test(self) -> str:
        return self.filled(self.tests)

    def statement(self, depth: int) -> list[str]:
        form, inner = self.random.random(), lambda: indented(self.block(depth + 1, 2))
        if form < 0.5 or depth > 1:
            return [self.change()] if self.random.random() < 0.75 else [f"y = y + {self.filled(READS)}"]
        if form < 0.7:
            return [f"if {self.test()}:", *inner(), *(["else:", *inner()] if self.random.random() < 0.4 else [])]
        if form < 0.75:
            return ["for s in x:", *inner()]
        if form < 0.79:
            return [
                "for k in range(2):",
                *inner(),
                *indented(["if s > 2.5:", "    break"] if self.random.random() < 0.4 else []),
            ]
        if form < 0.89:
            raised = self.random.choice(("raise ValueError(1)", "raise KeyError('a')", "S.order['none']", "S.l[99]"))
            lines = ["try:", *inner(), f"    if {self.test()}:", f"        {raised}"]
            lines += [
                f"except {self.random.choice(('ValueError', 'KeyError', 'Exception', '(KeyError, IndexError)'))} as error:"
            ]
            lines += [*inner(), "    S.log.append(str(error))"]
            lines += ["else:", *inner()] if self.random.random() < 0.3 else []
            return lines + (["finally:", *inner()] if self.random.random() < 0.4 else [])
        if form < 0.93:
            return ["with noting(S.log, s) as s:", *inner(), f"    if {self.test()}:", "        raise KeyError(2)"]
        if form < 0.96:
            return [f"if {self.test()}:", *inner(), f"    raise ValueError('left', {self.value()})"]
        return [f"if {self.test()}:", *inner(), "    return y * 2.0"]
