"""Which results of a run are one tensor, or are a tensor that went in, as they are in eager code.

In: a Program, which of its outputs it matters of, and which become what an input holds. Out: the Program with more outputs: a
bool that says whether any of them are one, and for each a number that tells it from all other tensors of the run; of a list, a
list of these.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(c: b1[], x: f32[2]) -> (f32[2], f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = cond(c, %0) { "
...     "then(a: f32[2]) -> (f32[2]) { return a } otherwise(a: f32[2]) -> (f32[2]) { %2: f32[2] = tanh(a) return %2 } } "
...     "return %0, %1 }"
... )
>>> Identity(program, [0, 1], {}).told(program)[1:]
(2, {0: 3, 1: 4})
"""

import itertools
from collections.abc import Collection, Mapping, Sequence

from d2s.autodiff.names import Names, handed_over
from d2s.autodiff.shadows import Kind, Shadow, Shadows
from d2s.autodiff.totals import FLAG
from d2s.ir.program import Node, Program, Value
from d2s.types import STACK, Type, int64

NUMBER = Type(int64)
_PLACES = 1 << 24  # more than there are nodes that make a tensor: a trip is told by how many were before it


class Identity:
    """What a Program says of that. `asked`: the outputs that may be one with another, or with an input.

    `in_place`: the inputs that a call changes, each with the output it then holds: what is one with that is the input.
    """

    def __init__(self, program: Program, outputs: Collection[int], in_place: Mapping[int, int]) -> None:
        self.inputs = {k: v for k, v in enumerate(program.inputs) if not v.type.python}
        self.written = {n: k for k, n in in_place.items() if n not in outputs}  # by output: the input that then holds it
        self.asked: list[int] = []
        self.pairs: list[tuple[Value, Value]] = []
        if any(v.type.grows for v in program.inputs) or not any(node.regions() for node in program.nodes):
            return
        names, copies = Names(program, every_tensor(program)), handed_over(program)
        held = {n: program.outputs[n] for n in sorted(outputs) if not program.outputs[n].type.python}
        for (n, v), (m, w) in itertools.combinations(held.items(), 2):
            self._meet(names, (n, m), v, w)
        for n, v in held.items():
            nowhere = 0 in v.type.shape  # where it lies tells nothing of what has no values
            for w in self.inputs.values() if copies or v.type.listed or nowhere else ():
                self._meet(names, (n,), v, w)
            for m in self.written:
                self._meet(names, (n, m), v, program.outputs[m])
            if v.type.listed and n not in self.asked:
                self.asked.append(n)
        self.asked.sort()

    def _meet(self, names: Names, numbers: Sequence[int], a: Value, b: Value) -> None:
        if a is not b and names.one(a, b):
            self.asked += [n for n in numbers if n not in self.asked]
            self.pairs += [] if a.type.listed or b.type.listed else [(a, b)]

    def told(self, program: Program) -> tuple[Program, int, dict[int, int]]:
        """A Program with these inputs and first outputs, where the bool stands, and the numbers of outputs."""
        kind = _Which()
        which = Shadows(kind)
        known: dict[Value, Shadow] = {v: k for k, v in enumerate(program.inputs)}
        asked = [program.outputs[n] for n in self.asked]
        which.ask(program, asked)
        which.count(program)
        kind.places = itertools.count(len(known))
        nodes, held, _ = which.followed(program, known)
        numbers = {v: which.value(held[v], nodes) for v in dict.fromkeys([*asked, *(v for pair in self.pairs for v in pair)])}
        same = _any_equal([(numbers[a], numbers[b]) for a, b in self.pairs], nodes)
        first = len(program.outputs)
        outputs = (*program.outputs, same, *(numbers[v] for v in asked))
        places = {n: first + 1 + k for k, n in enumerate(self.asked)}
        return Program(program.name, program.inputs, tuple(nodes), outputs), first, places


def every_tensor(region: Program) -> set[Value]:
    """All values, those in regions included, but for Python's numbers."""
    found = {v for v in (*region.inputs, *(v for node in region.nodes for v in node.outputs)) if not v.type.python}
    return found.union(*(every_tensor(inner) for node in region.nodes for inner in node.regions().values()))


def _any_equal(pairs: Sequence[tuple[Value, Value]], nodes: list[Node]) -> Value:
    """Whether two numbers of any pair are equal."""
    nodes.append(Node("constant", (), (Value(FLAG),), {"value": False, "dtype": FLAG.dtype, "python": False}))
    found = nodes[-1].outputs[0]
    for pair in pairs:
        equal, either = Value(FLAG), Value(FLAG)
        nodes.append(Node("equal", pair, (equal,), {}))
        nodes.append(Node("logical_or", (found, equal), (either,), {}))
        found = either
    return found


class _Which(Kind):
    """A number for each tensor that is made: by the place in the Program, and the number of trips and calls before."""

    type, beginning, counts = NUMBER, -1, True

    def __init__(self) -> None:
        self.places = itertools.count()

    def follows(self, value: Value) -> bool:
        return not value.type.python and value.type is not STACK

    def sources(self, node: Node) -> Sequence[Value]:
        return ()

    def made(self, node: Node, given: Sequence[Shadow], clock: Shadow, nodes: list[Node]) -> Shadow:
        place = next(self.places)
        if not isinstance(clock, Value):
            return place
        scale, own = (Value(NUMBER) for _ in range(2))
        trip, number = Value(NUMBER), Value(NUMBER)
        for value, constant in ((scale, _PLACES), (own, place)):
            nodes.append(Node("constant", (), (value,), {"value": constant, "dtype": NUMBER.dtype, "python": False}))
        nodes.append(Node("multiply", (clock, scale), (trip,), {}))
        nodes.append(Node("add", (trip, own), (number,), {}))
        return number

    def of_all(self, items: Value, clock: Shadow, nodes: list[Node]) -> tuple[Value, Shadow]:
        return items, next(self.places) if not isinstance(clock, Value) else self.made(nodes[-1], (), clock, nodes)
