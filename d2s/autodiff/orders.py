"""Whether a gradient adds contributions to one tensor, which it knows by several names, in another order than eager code.

In: a Program, what its gradient passes, which inputs have totals before. Out: the node at which that would be so, if any. Each
name has a total of its own, which is added to that of the tensor where the name comes from; eager code knows no names. So the
order is eager code's where one of the two totals is of a single contribution that comes at that place anyway, or where a
contribution to the name is given to the tensor itself (`autodiff/handed.py`).

>>> from d2s.ir.text import parse
>>> from d2s.autodiff.active import active_values
>>> program = parse(
...     "program f(c: b1[], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x) { then(x: f32[2]) -> (f32[2]) { return x } "
...     "otherwise(x: f32[2]) -> (f32[2]) { %1: f32[2] = tanh(x) return %1 } } %2: f32[2] = cond(c, %0) { then(y: f32[2]) -> "
...     "(f32[2]) { %3: f32[2] = multiply(y, y) return %3 } otherwise(y: f32[2]) -> (f32[2]) { return y } } return %2 }"
... )
>>> active = active_values(program, program.inputs[1:])
>>> [another(program, active, begun, program.outputs) is None for begun in ([], program.inputs[1:])]
[True, False]
"""

import collections
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from d2s.autodiff.handed import alike, appended, chained, handed_on, interleaved, renamed
from d2s.autodiff.names import Names
from d2s.ir.program import Node, Program, Value
from d2s.types import STACK

MANY = 2  # contributions, or more
_GIVING = (
    "list_append",
    "list_set",
    "list_full",
    "list_new",
    "list_get",
    "list_pop",
    "list_length",
    "renamed",
    "push",
)  # only hand on


def another(program: Program, active: Collection[Value], begun: Collection[Value], given: Sequence[Value]) -> Node | None:
    """The node behind which contributions have another order; `begun` inputs and `given` outputs have totals before."""
    if not any(node.regions() or node.op == "list_new" for node in program.nodes):
        return None
    whole = Program(program.name, program.inputs, program.nodes, tuple(given))
    return next(_Orders(whole, active).found(whole, begun, None), None)


class _Orders:
    def __init__(self, program: Program, active: Collection[Value]) -> None:
        self.active = active
        self.names = Names(program, active)
        self.renamed = _renamed(program)
        regions = [program, *(r for node in program.every_node() for r in node.regions().values())]
        self.pops = {node.attrs["slot"]: (r, node.outputs[1]) for r in regions for node in r.nodes if node.op == "pop"}

    def found(self, region: Program, begun: Collection[Value], loop: Node | None) -> Iterator[Node]:
        """Where it is so in a region; `loop`: that of which it is the body."""
        split = handed_on(region, begun)
        reads = self._reads(region, begun)
        counted = collections.Counter(base for value in reads for base in self.names.of[value])
        for value in reads:
            named = any(counted[base] > 1 for base in self.names.of[value])
            if named and not self._in_order(region, value, reads, split, loop):
                yield self._maker(region, value) or loop or region.nodes[0]
        yield from self._pushed(region, reads, loop)
        for node in region.nodes:
            if node.op == "while_loop":
                yield from self._carried(node, region, reads)
            for inner in node.regions().values():
                if inner is not node.attrs.get("test"):
                    yield from self.found(inner, self._begun(node, region, reads), node if node.op != "cond" else None)

    def _pushed(self, region: Program, reads: dict[Value, list[int]], loop: Node | None) -> Iterator[Node]:
        """Where what a gradient read of a region, which comes first in eager code, is added to what is there already."""
        pushed = [node for node in region.nodes if node.op == "push" and node.inputs[1].type is not STACK]
        pushes = [(node.inputs[1], count) for node in pushed if (count := self._popped(node))]
        last = {v: max(places, default=-1) for v, places in reads.items()}
        last |= {v: len(region.nodes) for v, _ in pushes}
        for n, (value, count) in enumerate(pushes):
            at = self._place(region, value)
            others = [w for w in last if w is not value and (w.type.listed or last[w] > at)]
            entered = value in region.inputs and (loop is None or value not in chained(loop).values())
            again = count > 1 and any(v is value for v, _ in pushes[n + 1 :])  # it comes behind what a later gradient read
            named = any(self._are_one(value, w, region, loop) for w in others)
            if named or entered or again or value in region.outputs:
                yield self._maker(region, value) or loop or region.nodes[0]

    def _are_one(self, value: Value, other: Value, region: Program, loop: Node | None) -> bool:
        """Whether a value that is pushed may be another one. What the first trip is given is not read as pushed: `Chain`."""
        if loop is None or value not in region.inputs or other not in region.inputs:
            return self.names.one(value, other)
        left = dict(zip(region.inputs[: loop.attrs["carries"]], region.outputs, strict=False))
        return self.names.one(left[value], left.get(other, other))

    def _popped(self, push: Node) -> int:
        """How many contributions there are to what is popped of what is pushed."""
        region, value = self.pops[push.attrs["slot"]]
        if value not in self.active:
            return 0
        reading = [node for node in region.nodes if value in node.inputs]
        if value in region.outputs or any(node.regions() or node.op in _GIVING for node in reading):
            return MANY
        return self._within(region, value)

    def _reads(self, region: Program, begun: Collection[Value]) -> dict[Value, list[int]]:
        """The places of contributions to each value of a region; what comes from behind it comes at its end."""
        made = [v for node in region.nodes for v in node.outputs]
        reads: dict[Value, list[int]] = {
            v: [] for v in (*region.inputs, *made) if v in self.active and v in self.names.of and v.type is not STACK
        }
        known = renamed(region)
        for n, node in enumerate(region.nodes):
            for v in dict.fromkeys(node.inputs):
                if v in reads:
                    begins = node.op == "while_loop" and v not in node.inputs[node.attrs["carries"] :]
                    reads[known.get(v, v) if begins or not node.regions() else v] += [n] * self._weight(node, v)
        for v, places in reads.items():
            places += [len(region.nodes)] * (region.outputs.count(v) + (v in begun))
        self._hand_on(region, reads, known)
        return reads

    def _hand_on(self, region: Program, reads: dict[Value, list[int]], known: Mapping[Value, Value]) -> None:
        """What contributes to a result of a `cond` or a loop contributes at that node to what it was before."""
        for n, node in reversed([*enumerate(region.nodes)]):
            read = [k for k, out in enumerate(node.outputs) if node.regions() and reads.get(out) and not out.type.listed]
            for v in dict.fromkeys(node.inputs):
                if v in known or v not in reads or v.type.listed:
                    continue  # what is `renamed` counts where it was
                if any(self.names.one(v, node.outputs[k]) for k in read):
                    reads[v] = sorted([*reads[v], *[n] * (self._passed(node, v, read) - reads[v].count(n))])

    def _passed(self, node: Node, value: Value, read: Sequence[int]) -> int:
        """How many contributions to a value a node makes on a path, if so many of its results have some."""
        if node.op == "renamed":
            return 1
        if node.op != "cond":
            handed = any(value in self.names.of and self.names.one(value, node.outputs[k]) for k in read)
            return max(self._weight(node, value), int(bool(node.regions()) and handed))
        paths = []
        for arm in node.regions().values():
            inside = [p for p, v in zip(arm.inputs, node.inputs[1:], strict=True) if v is value]
            paths.append(sum(self._on_path(arm, p, read) for p in inside))
        return max(paths)

    def _on_path(self, arm: Program, value: Value, read: Sequence[int]) -> int:
        """The same of an arm, of whose results some have contributions."""
        given = [arm.outputs[k] for k in read]
        found = sum(v is value for v in given)
        for node in arm.nodes:
            if value in node.inputs:
                later = {v for other in arm.nodes for v in other.inputs}.union(given)
                found += self._passed(node, value, [k for k, out in enumerate(node.outputs) if out in later])
        return found

    def _weight(self, node: Node, value: Value) -> int:
        """How many contributions to a value a node makes."""
        if not any(v in self.active for v in node.outputs) or node.op in _GIVING:
            return 0
        if node.op == "spread":
            return node.inputs[:1].count(value)  # of the other one it has the extents only
        if node.op in ("call", "again"):
            return MANY
        inner = [arm for name, arm in node.regions().items() if name != "test"]
        if not inner:
            return node.inputs.count(value)
        given = node.inputs[node.op == "cond" :]
        return max(sum(self._within(arm, p) for p, v in zip(arm.inputs, given, strict=True) if v is value) for arm in inner) * (
            MANY if node.op == "while_loop" else 1
        )

    def _within(self, region: Program, value: Value) -> int:
        return sum(self._weight(node, value) for node in region.nodes if value in node.inputs)

    def _in_order(self, region: Program, value: Value, reads: dict[Value, list[int]], split: Any, loop: Node | None) -> bool:
        if value.type.listed:
            return True
        at = self._place(region, value)
        in_place = self._moved(region, value, loop)
        others = [v for v in reads if v is not value and v not in in_place and self.names.one(v, value)]
        carried = region.inputs[: loop.attrs["carries"]] if loop is not None else ()
        order = sorted(reads, key=lambda v: (v in region.inputs) + (v not in carried), reverse=True)  # what stays comes first
        before = [v for v in others if v.type.listed or order.index(v) < order.index(value)]
        if not before or (at < 0 and loop is None and all(v in region.inputs for v in before)):
            return True
        own = [n for n in reads[value] if n > at]
        end = self._end(region, value)
        others = [v for v in others if self._place(region, v) < end]
        together = [[w for w in others if w is v or self.names.one(v, w)] for v in others]
        theirs = [sorted(n for v in those for n in reads[v] if n > at) for those in together]
        if all(_merge(own, places) for places in theirs):
            return True
        return self._is_split(
            region, value, [v for v in before if v.type.listed or max(reads[v], default=-1) > at], split, loop
        )

    def _moved(self, region: Program, value: Value, loop: Node | None) -> Collection[Value]:
        """The lists of a loop whose contributions to a value come in their place (`LoopSweep._without_moved`)."""
        for p, (items, x) in (appended(loop) if loop is not None and loop.op == "while_loop" else {}).items():
            n = region.inputs.index(items)
            assert loop is not None
            if value in (p, x) and not self.names.one(loop.inputs[region.inputs.index(p)], loop.inputs[n]):
                return items, region.outputs[n]
        return ()

    def _end(self, region: Program, value: Value) -> int:
        """Behind which node no tensor is this one: the `cond` that reads it last, in no arm that hands it on."""
        last = next((n for n, node in reversed([*enumerate(region.nodes)]) if value in node.inputs), 0)
        node = region.nodes[last]
        if node.op != "cond" or value in region.outputs:
            return len(region.nodes)
        inside = [
            (arm, p) for arm in node.regions().values() for p, v in zip(arm.inputs, node.inputs[1:], strict=True) if v is value
        ]
        handed = any(self._within(arm, p) and any(self.names.one(v, p) for v in arm.outputs) for arm, p in inside)
        return len(region.nodes) if handed else last

    def _is_split(self, region: Program, value: Value, before: list[Value], split: Any, loop: Node | None) -> bool:
        """Whether contributions are given to what the value is, at the place they have."""
        if any(node.op == "cond" and value in node.inputs and self._weight(node, value) > 1 for node in region.nodes):
            return False
        if loop is not None and loop.op == "while_loop" and value in region.inputs:
            return self._entered(loop, value, before)
        found, waiting = set[Value](), [value]
        while waiting:
            sources = [source for _, source in split.get(waiting.pop(), (None, ()))[1] if source not in found]
            found.update(sources)
            waiting += sources
        return found.issuperset(before)

    def _entered(self, loop: Node, value: Value, before: list[Value]) -> bool:
        """Whether a carried value is in the first trip, and in no other, what the body reads under one other name."""
        body, count = loop.attrs["body"], loop.attrs["carries"]
        outside = dict(zip(body.inputs, loop.inputs, strict=True))
        if len(before) != 1 or value not in body.inputs[:count] or before[0] in body.inputs[:count]:
            return False
        left = body.outputs[body.inputs.index(value)]
        first = self.renamed.get(outside[value], outside[value])
        same = outside.get(before[0]) is first and alike(value.type, before[0].type) and not self.names.one(left, before[0])
        return same and interleaved(body, -1, value, before[0], body.inputs)

    def _carried(self, loop: Node, region: Program, reads: dict[Value, list[int]]) -> Iterator[Node]:
        """Where a trip adds to what is there from behind the loop, other than in the first trip, or for more than one name."""
        body, count = loop.attrs["body"], loop.attrs["carries"]
        weights = {p: self._within(body, p) for p in body.inputs[:count] if p in self.active}
        for k, (p, first) in enumerate(zip(body.inputs[:count], loop.inputs, strict=False)):
            if not weights.get(p) or first not in self.names.of:
                continue
            left = body.outputs[k]
            stays = self.names.one(left, p)
            twins = [q for q in weights if q is not p and self.names.one(loop.inputs[body.inputs.index(q)], first)]
            longer = p.type != first.type
            several = weights[p] + sum(weights[q] for q in twins) > 1
            if self._is_read_behind(loop, first, region, reads) and (stays or ((twins or longer) and several)):
                yield loop

    def _begun(self, node: Node, region: Program, reads: dict[Value, list[int]]) -> list[Value]:
        """The inputs of a node's regions that may have totals where a sweep enters one; a trip's come of what it leaves."""
        inner = node.attrs["then" if node.op == "cond" else "body"]
        if node.op != "while_loop":
            return [p for arm in node.regions().values() for p in arm.inputs]
        pairs = enumerate(zip(inner.inputs, node.inputs, strict=True))
        return [p for k, (p, v) in pairs if k >= node.attrs["carries"] or self._is_read_behind(node, v, region, reads)]

    def _is_read_behind(self, loop: Node, first: Value, region: Program, reads: dict[Value, list[int]]) -> bool:
        """Whether what a loop begins with has contributions from behind the loop, but for those to what the loop leaves."""
        if first not in self.names.of:
            return False
        n, left = region.nodes.index(loop), {*loop.outputs}
        names = [v for v in reads if v not in left and self.names.one(v, first)]
        for node in region.nodes[n + 1 :]:
            if node.op == "cond" and left.issuperset(v for v in node.inputs if v in names):
                left.update(node.outputs)  # it can only be that by what the loop leaves
        return any(m > n for v in names if v not in left for m in reads[v])

    def _place(self, region: Program, value: Value) -> int:
        """Where a name comes from: the node that makes it or puts it into a list."""
        if value in region.inputs:
            return -1
        return next(n for n, node in enumerate(region.nodes) if value in node.outputs)

    def _maker(self, region: Program, value: Value) -> Node | None:
        return next((node for node in region.nodes if value in node.outputs), None)


def _renamed(program: Program) -> dict[Value, Value]:
    """The same of all regions."""
    found = renamed(program)
    for node in program.nodes:
        for region in node.regions().values():
            found |= _renamed(region)
    return found


def _merge(own: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether the contributions to one name, added up first, come where eager code adds them to those of other names."""
    if not own or not theirs or (len(own) == 1 and (len(theirs) == 1 or theirs[0] > own[0])):
        return True
    return len(theirs) == 1 and own[0] > theirs[0]
