"""Contract: a reduction, softmax or norm over many elements is one `fused` node with the elementwise nodes only it reads, and
with those that alone read its result. What is read elsewhere, or cheap to keep and dear to compute again, stays as it is.

Runs behind `group`, whose groups join as wholes.
"""

import math
from collections import Counter

from d2s.codegen.fused import element_of
from d2s.codegen.fused_lines import has_lines, readings, writes_last
from d2s.ir.program import Node, Program, Value, in_regions
from d2s.passes.drop_dead import may_raise
from d2s.passes.group import fused_node, opened
from d2s.passes.rewriting import is_plain
from d2s.types import Shape

LEAST = 1 << 14  # elements: below that, a kernel that others share already is worth more than memory not written
OFTEN = 4  # times an element that takes no vector math is read: softmax reads it twice in each of two sweeps


def apply(program: Program) -> Program:
    nodes = [in_regions(node, apply) if node.op != "fused" else node for node in program.nodes]
    return _Joining(Program(program.name, program.inputs, tuple(nodes), program.outputs)).joined()


class _Joining:
    def __init__(self, program: Program) -> None:
        self.program, self.nodes = program, list[Node | None](program.nodes)
        self.uses = Counter(v for node in program.nodes for v in node.inputs) + Counter(program.outputs)
        self.home = {v: n for n, node in enumerate(program.nodes) for v in node.outputs}
        self.reader = {v: n for n, node in reversed(list(enumerate(program.nodes))) for v in node.inputs}  # the first one

    def joined(self) -> Program:
        for n, node in enumerate(self.program.nodes):
            if has_lines(node) and _elements(node.inputs[0].type.shape) >= LEAST and not may_raise(node):
                self.join(n, node)
        return Program(
            self.program.name, self.program.inputs, tuple(n for n in self.nodes if n is not None), self.program.outputs
        )

    def join(self, n: int, node: Node) -> None:
        """Makes one node of this one, what is before it and what is behind it, where the last of them stands."""
        before, after = self.before(node), self.after(node)
        places = [p for p in (before, n, after) if p is not None]
        if len(places) == 1:
            return
        parts = [part for p in places for part in opened(self.program.nodes[p])]
        kept = {*self.program.nodes[places[-1]].outputs, *node.outputs[1:]}
        kept |= {node.outputs[0]} if after is None else set()
        for p in places:
            self.nodes[p] = None
        self.nodes[places[-1]] = fused_node(parts, kept)

    def before(self, node: Node) -> int | None:
        """Where the elementwise node stands that only this one reads, if it is worth computing it there."""
        value, times = node.inputs[0], readings(node)
        place = self.alone(value)
        if place is None or not times or node.inputs.count(value) > 1:
            return None
        parts = _elementwise(self.nodes[place], value.type.shape)
        return place if parts and ((_dear(parts) == 0 and times <= OFTEN) or _dear(parts) == times == 1) else None

    def after(self, node: Node) -> int | None:
        """Where the elementwise node stands that alone reads this one's result."""
        value = node.outputs[0]
        place = self.reader.get(value)
        if place is None or self.uses[value] != 1 or not writes_last(node):
            return None
        reader = self.nodes[place]
        if any(self.reader.get(v, place) < place or v in (reader.inputs if reader else ()) for v in node.outputs[1:]):
            return None
        parts = _elementwise(reader, value.type.shape)
        return place if parts and parts[-1].outputs[0].type == value.type and not _dear(parts) else None

    def alone(self, value: Value) -> int | None:
        """The place of the node that makes a value, and nothing else, for one reader."""
        place = self.home.get(value)
        node = None if place is None else self.nodes[place]
        return place if node is not None and node.outputs == (value,) and self.uses[value] == 1 else None


def _elements(shape: Shape) -> int:
    """How many there are; where an extent is not known yet, there may be many."""
    return math.prod(d if isinstance(d, int) else LEAST for d in shape)


def _elementwise(node: Node | None, shape: Shape) -> list[Node]:
    """The nodes of an elementwise node of one result, all of whose inputs have its shape or are one number; else none."""
    if node is None or len(node.outputs) != 1 or node.outputs[0].type.shape != shape:
        return []
    parts = opened(node)
    return parts if all(_plain(part, shape) for part in parts) else []


def _dear(nodes: list[Node]) -> int:
    """How many of elementwise nodes take vector math: a long loop of its own makes better vectors than a total."""
    found = [element_of(node) for node in nodes]
    return sum(1 for one in found if one and len(one.functions) > 1)


def _plain(node: Node, shape: Shape) -> bool:
    one = element_of(node) if is_plain(node) else None
    if one is None or one.overflow or may_raise(node) or any("while " in text for text in one.functions):
        return False
    views = zip(node.inputs, one.views, strict=False)
    return all((v.type.shape == view == shape) or all(d == 1 for d in v.type.shape) for v, view in views)
