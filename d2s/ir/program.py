"""The graph IR. In: types and op names. Out: Programs, closed functions in SSA form whose regions are Programs too.

A Program reads nothing but its inputs. Extents are named in types (`f32[n,4]`); every name is defined by an input.

>>> from d2s import types
>>> x = Value(types.Type(types.float32, (2,)), "x")
>>> build = Builder("twice", [x])
>>> build.finish([build.add("add", [x, x], [x.type])[0]]).nodes[0].op
'add'
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.types import Type


@dataclasses.dataclass(eq=False, slots=True)
class Value:
    """One result: a program input (which has a name) or an output of a node."""

    type: Type
    name: str = ""

    def __repr__(self) -> str:
        return f"<Value {self.name or '%'}: {self.type}>"


@dataclasses.dataclass(eq=False, slots=True)
class Node:
    """One use of an op; attributes may be Programs (regions). `where` is the user's `file:line`."""

    op: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    attrs: dict[str, Any]
    where: str = ""

    def regions(self) -> dict[str, "Program"]:
        for value in self.attrs.values():  # most nodes have none, and everybody asks
            if type(value) is Program:
                return {key: value for key, value in self.attrs.items() if type(value) is Program}
        return {}


@dataclasses.dataclass(eq=False, slots=True)
class Program:
    """A closed function: inputs, nodes in execution order, outputs."""

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]

    def every_node(self) -> Iterator[Node]:
        """All nodes, those of regions included."""
        for node in self.nodes:
            yield node
            for region in node.regions().values():
                yield from region.every_node()

    def copied(self) -> "Program":
        """The same of values of its own."""
        known = {v: Value(v.type, v.name) for v in self.inputs}
        nodes = []
        for node in self.nodes:
            known.update((v, Value(v.type, v.name)) for v in node.outputs)
            attrs = node.attrs | {name: region.copied() for name, region in node.regions().items()}
            outputs = tuple(known[v] for v in node.outputs)
            nodes.append(Node(node.op, tuple(known[v] for v in node.inputs), outputs, attrs, node.where))
        return Program(self.name, tuple(known[v] for v in self.inputs), tuple(nodes), tuple(known[v] for v in self.outputs))


def in_regions(node: Node, change: Callable[[Program], Program]) -> Node:
    """The node with its regions changed."""
    regions = node.regions()
    if not regions:
        return node
    changed = {name: change(region) for name, region in regions.items()}
    return Node(node.op, node.inputs, node.outputs, node.attrs | changed, node.where)


def calls_of(body: Program, name: str) -> Iterator[Node]:
    """Where a function calls itself."""
    for node in body.nodes:
        if node.op == "again" and node.attrs["name"] == name:
            yield node
        for region in node.regions().values() if node.attrs.get("name") != name else ():
            yield from calls_of(region, name)


class Builder:
    """Collects nodes for one Program."""

    def __init__(self, name: str, inputs: Sequence[Value]) -> None:
        self.name, self.inputs, self.nodes = name, list(inputs), list[Node]()

    def add(
        self,
        op: str,
        inputs: Sequence[Value],
        types: Sequence[Type],
        attrs: dict[str, Any] | None = None,
        where: str = "",
    ) -> tuple[Value, ...]:
        """Appends a node and returns its outputs."""
        outputs = tuple(Value(t) for t in types)
        self.nodes.append(Node(op, tuple(inputs), outputs, dict(attrs or {}), where))
        return outputs

    def finish(self, outputs: Sequence[Value]) -> Program:
        return Program(self.name, tuple(self.inputs), tuple(self.nodes), tuple(outputs))
