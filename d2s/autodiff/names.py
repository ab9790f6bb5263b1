"""Tensors with several names: by a join of paths, by the trips of a loop, by a list or a call one value is another one.

In: a Program, and which of its values gradients pass. Out: for each of these the tensors it may be, as *bases*: the value that
made the tensor, what a trip of a loop begins with, or that two values may be one.

>>> from d2s.ir.text import parse
>>> from d2s.autodiff.active import active_values
>>> program = parse(
...     "program f(c: b1[], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x) { then(x: f32[2]) -> (f32[2]) { return x } "
...     "otherwise(x: f32[2]) -> (f32[2]) { %1: f32[2] = tanh(x) return %1 } } %2: f32[2] = multiply(%0, %0) return %2 }"
... )
>>> passed = active_values(program, program.inputs[1:])
>>> sorted(base.name for base in Names(program, passed).of[program.nodes[0].outputs[0]])
['', 'x']
"""

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from d2s.ir.program import Node, Program, Value, calls_of

Bases = frozenset[Any]


class _Later(NamedTuple):
    """A base that values of a loop's body have behind its first trip: what a trip begins with may be another then."""

    base: Any
    loop: Node


TAKING = ("list_get", "list_pop")  # give what a list holds
_ITEMS = ("list_append", "list_set")  # hand on what a list holds, and what they put there


class Names:
    """The bases of all values of a Program, those in regions included."""

    def __init__(self, program: Program, active: Collection[Value]) -> None:
        self.of: dict[Value, Bases] = {}
        self._active = active
        self._joined: dict[Value, tuple[Node, int]] = {}
        self._read: dict[Value, Value] = {}  # the inputs of arms and bodies that all trips have alike
        self._results: dict[str, list[Bases]] = {}  # of the functions around, what they give
        self._left: dict[Value, tuple[Node, Bases]] = {}  # of what loops leave, what it is where they have made a trip
        self._numbers: dict[Value, Any] = {}
        for v in program.inputs:
            self._put(v, [v])
        self._follow(program)

    def one(self, a: Value, b: Value) -> bool:
        """Whether two values may be one tensor: of results of one `cond`, whether they are on some path."""
        if self.of[a].isdisjoint(self.of[b]):
            return False
        node, n = self._joined.get(self._outside(a), (None, 0))
        other, m = self._joined.get(self._outside(b), (None, 0))
        paths = node.regions().values() if node is not None and node is other else ()
        return not paths or any(self.one(arm.outputs[n], arm.outputs[m]) for arm in paths)

    def _outside(self, value: Value) -> Value:
        """What a value is that arms and bodies read, where it comes from."""
        while value in self._read:
            value = self._read[value]
        return value

    def _follow(self, region: Program) -> None:
        for node in region.nodes:
            getattr(self, "_" + node.op, self._made)(node)

    def _put(self, value: Value, bases: Iterable[Any]) -> None:
        self.of[value] = self.of.get(value, frozenset()).union(bases if value in self._active else ())

    def _made(self, node: Node) -> None:
        if node.op.startswith("list_"):
            held = frozenset[Any]().union(*(self.of[v] for v in node.inputs if v.type.listed or node.op in _ITEMS))
            for v in node.outputs:
                self._put(v, held if v.type.listed or node.op in TAKING else [v])
            if node.op in ("list_full", "list_unstack"):
                self._put(node.outputs[0], node.outputs[:1])
            return
        if node.op == "constant":
            self._numbers[node.outputs[0]] = node.attrs["value"]
        nothing = node.op == "hole" or (node.op == "spread" and node.inputs[0] not in self._active)  # no gradient goes there
        for v in node.outputs:
            self._put(v, self.of[node.inputs[0]] if node.op == "renamed" else () if nothing else [v])

    def _cond(self, node: Node) -> None:
        for arm in node.regions().values():
            for p, v in zip(arm.inputs, node.inputs[1:], strict=True):
                self._read[p] = v
                self._put(p, self.of[v])
            self._follow(arm)
            for n, (out, v) in enumerate(zip(node.outputs, arm.outputs, strict=True)):
                self._joined[out] = node, n
                self._put(out, self.of[v])

    def _while_loop(self, node: Node) -> None:
        body, count = node.attrs["body"], node.attrs["carries"]
        inside = _inside(body)
        self._read.update(zip(body.inputs[count:], node.inputs[count:], strict=True))
        for n, (p, v) in enumerate(zip(body.inputs, node.inputs, strict=True)):
            loop, bases = self._left.get(v, (None, frozenset()))
            begun = bases if loop is not None and self._makes_as_many(node, loop) else self.of[v]
            self._put(p, begun if n < count else begun | _later(node, begun))
        self._carry(node, body.inputs[:count], node.inputs[:count])
        before = None
        while before != (before := [self.of[p] for p in body.inputs]):
            self._follow(body)
            self._carry(node, body.inputs[:count], body.outputs)
            for p, v in zip(body.inputs, body.outputs, strict=False):
                self._put(p, _later(node, _without(self.of[v], inside)))
        for out, p, v in zip(node.outputs, body.inputs, body.outputs, strict=False):
            left = {out, *_at_any_trip(node, _without(self.of[v], inside))}
            self._put(out, left.union(_at_any_trip(node, self.of[p])) - {p})
            self._left[out] = node, self.of[out].intersection(left)

    def _makes_as_many(self, node: Node, loop: Node) -> bool:
        """Whether a loop counts down what another one, in front of it, has counted up: the trips it has made."""
        test, ups = node.attrs["test"], loop.attrs["body"]
        if node.inputs[0] not in loop.outputs or [one.op for one in test.nodes] != ["constant", "greater_than"]:
            return False
        zero, more = test.nodes
        n = loop.outputs.index(node.inputs[0])
        counted = next((one for one in ups.nodes if ups.outputs[n] in one.outputs), None)
        counts = counted is not None and counted.op == "add" and counted.inputs[0] is ups.inputs[n]
        return (
            counts
            and (more.inputs, test.outputs) == ((test.inputs[0], zero.outputs[0]), more.outputs)
            and (zero.attrs["value"], self._numbers.get(loop.inputs[n])) == (0, 0)
        )

    def _carry(self, node: Node, carried: Sequence[Value], held: Sequence[Value]) -> None:
        """What trips, or calls, begin with: something of its own each, and two may be one where they are given one."""
        for p in carried:
            self._put(p, [p])
        for (a, v), (b, w) in itertools.combinations(zip(carried, held, strict=True), 2):
            if _may_alias(a, b) and self.one(v, w):
                self._put(a, [(node, a, b)])
                self._put(b, [(node, a, b)])

    def _call(self, node: Node) -> None:
        body, name, count = node.attrs["body"], node.attrs["name"], node.attrs["carries"]
        inside, outer = _inside(body), self._results.get(name)
        self._results[name] = [frozenset() for _ in node.outputs]
        for p, v in zip(body.inputs, node.inputs, strict=True):
            self._put(p, self.of[v])
        self._carry(node, body.inputs[:count], node.inputs[:count])
        before = None
        while before != (before := [*(self.of[p] for p in body.inputs), *self._results[name]]):
            self._follow(body)
            for call in calls_of(body, name):
                self._carry(node, body.inputs[:count], call.inputs[:count])
                for p, v in zip(body.inputs, call.inputs, strict=True):
                    self._put(p, _without(self.of[v], inside))
            self._results[name] = [self.of[v] for v in body.outputs]
        self._give(node, body, node.inputs, inside)
        self._results[name] = outer or []

    def _give(self, node: Node, body: Program, given: Sequence[Value], inside: Collection[Any]) -> None:
        """The bases of what a call gives."""
        results, alike = self._results[node.attrs["name"]], dict(zip(body.inputs, given, strict=True))
        for k, (out, bases) in enumerate(zip(node.outputs, results, strict=True)):
            self._put(out, [out, *_without(bases, inside)])
            for base in bases:
                self._put(out, self.of[alike[base]] if base in alike else ())
            for j, other in enumerate(results[:k]):
                if not bases.isdisjoint(other):
                    self._put(out, [(node, j, k)])
                    self._put(node.outputs[j], [(node, j, k)])

    def _again(self, node: Node) -> None:
        results = self._results[node.attrs["name"]]
        handed = frozenset[Any]().union(*(self.of[v] for v in node.inputs))
        for out, bases in zip(node.outputs, results, strict=True):
            self._put(out, [out, *bases, *(handed if bases else ())])


def _may_alias(a: Value, b: Value) -> bool:
    kinds = [v.type.item if v.type.listed else v.type for v in (a, b)]
    return kinds[0].dtype == kinds[1].dtype and not kinds[0].python


def handed_over(program: Program) -> bool:
    """Whether a trip, a call or a list hands on what it was given, or the extents of what a region hands on are found.

    A run may copy it, so where it lies does not tell what it is.
    """
    return any(
        node.op in ("call", *TAKING)
        or (node.regions() and node.attrs.get("finds"))
        or (node.op == "while_loop" and _hands_on(node))
        for node in program.every_node()
    )


def _hands_on(loop: Node) -> bool:
    body = loop.attrs["body"]
    fresh = {v for node in body.nodes if not node.regions() and node.op != "renamed" for v in node.outputs}
    ends = zip(body.inputs, body.outputs, strict=False)
    return any(v is not p and v not in fresh and not v.type.python and not v.type.grows for p, v in ends)


def _inside(body: Program) -> set[Any]:
    """What each trip, or call, makes anew, and the nodes that do."""
    found: set[Any] = set(body.inputs)
    for node in body.every_node():
        found.update([node], node.outputs, *(region.inputs for region in node.regions().values()))
    return found


def _without(bases: Bases, inside: Collection[Any]) -> Bases:
    """The bases that were there before."""
    return frozenset(base for base in bases if _made_by(base) not in inside)


def _made_by(base: Any) -> Any:
    return _made_by(base[0]) if isinstance(base, tuple) else base


def _later(loop: Node, bases: Iterable[Any]) -> Bases:
    """The bases as those of values behind the loop's first trip."""
    return frozenset(base if isinstance(base, _Later) and base.loop is loop else _Later(base, loop) for base in bases)


def _at_any_trip(loop: Node, bases: Iterable[Any]) -> Bases:
    return frozenset(base.base if isinstance(base, _Later) and base.loop is loop else base for base in bases)
