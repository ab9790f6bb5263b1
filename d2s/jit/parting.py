"""A Program that Python has a part in, cut in two: what the first native call computes, and all else.

In: a graph's Program. Out: the Program of all that depends on no step, where it takes less than one would notice, and the
nodes behind it. What depends on a step, and what acts, stays in the rest, in the Program's order.

>>> static = d2s.to_static(lambda x: x * 2.0 + float(x.numpy().max()))
>>> _ = static(d2s.to_tensor([1.0]))
>>> parts = parted(static.variants[0][1].graph)
>>> [node.op for node in parts.first.nodes if node.op != "constant"], parts.rest[-1].op
(['multiply'], 'add')
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from d2s import passes
from d2s.ir.program import Node, Program, Value
from d2s.jit.graph import Graph
from d2s.ops.shapes import is_found
from d2s.runtime.native_call import is_long


class Unsaid(Exception):
    """What no lines say: it goes the long way."""


class Parts(NamedTuple):
    """A Program in two: what the first native call computes, so many of whose outputs may get cotangents, and all else."""

    first: Program
    carried: int
    rest: Sequence[Node]
    hurried: bool  # whether it takes so little that nobody notices what waits for what


def parted(graph: Graph) -> Parts | None:
    """A graph's Program so; None where that takes more than lines."""
    program = graph.program
    if any(node.op == "call" and acts(node) for node in program.every_node()):
        return None
    hurried, first = not is_long(passes.lower(program)), list[Node]()
    held = {v for node in program.nodes if acts(node) for v in node.outputs}
    taped = False  # whether some of the rest may stand on the tape: so does all behind it, in eager code's order
    for node in program.nodes:
        if acts(node) and not hurried:
            break
        passing = is_taped(node)
        if not acts(node) and held.isdisjoint(node.inputs) and not (taped and passing):
            first.append(node)
        else:
            held.update(node.outputs)
            taped |= passing
    begun = {id(node) for node in first if node.op != "constant"}
    rest = [node for node in program.nodes if id(node) not in begun]
    constants = {node.outputs[0]: node for node in program.nodes if node.op == "constant"}
    try:
        found, carried = read_elsewhere(
            [n for n in first if n.op != "constant"], rest, program.outputs, graph.returned, graph.tells
        )
    except Unsaid:
        return None
    nodes = with_constants([n for n in first if n.op != "constant"], constants)
    return Parts(without_stores(Program(program.name, program.inputs, nodes, found)), carried, rest, hurried)


def is_taped(node: Node) -> bool:
    """Whether a node may stand on the tape."""
    passing = node.regions() or any(_has_gradient(v) for v in node.outputs)
    return bool(passing) and node.op != "host" and any(map(_has_gradient, node.inputs))


def _has_gradient(value: Value) -> bool:
    return value.type.dtype.kind == "f" and not value.type.python


def with_constants(nodes: Sequence[Node], constants: Mapping[Value, Node]) -> tuple[Node, ...]:
    """The nodes behind the constants that they read."""
    read = dict.fromkeys(v for node in nodes for v in node.inputs if v in constants)
    return (*(constants[v] for v in read), *nodes)


def read_elsewhere(
    nodes: Sequence[Node], others: Sequence[Node], outputs: Sequence[Value], returned: int, told: bool
) -> tuple[tuple[Value, ...], int]:
    """What nodes make that is read elsewhere, first what may get a cotangent, and how much that is.

    What steps are given stands on the tape, too, where they are `told` by that whether it wants a gradient.
    """
    made = [v for node in nodes for v in node.outputs]
    passing = {*outputs[:returned], *(v for node in others if told or node.op != "host" for v in node.inputs)}
    asked = {*outputs, *(v for node in others for v in node.inputs)}
    carried = [v for v in made if v in passing]
    found = (*carried, *(v for v in made if v in asked and v not in passing))
    if any(v.type.grows or any(is_found(d) for d in v.type.shape) for v in found):
        raise Unsaid
    return found, len(carried)


def acts(node: Node) -> bool:
    """Whether Python takes a step there."""
    return node.op == "host" or any(n.op == "host" for region in node.regions().values() for n in region.every_node())


def without_stores(program: Program) -> Program:
    """The same where nobody writes what was changed when a run fails; itself if nobody does."""
    if not any(node.attrs.get("stores") for node in program.every_node()):
        return program
    nodes = []
    for node in program.nodes:
        regions = {name: without_stores(region) for name, region in node.regions().items()}
        attrs = {name: value for name, value in (node.attrs | regions).items() if name != "stores"}
        nodes.append(Node(node.op, () if node.op == "fail" else node.inputs, node.outputs, attrs, node.where))
    return Program(program.name, program.inputs, tuple(nodes), program.outputs)


def renamed(nodes: Iterable[Node], into: Mapping[Value, Value]) -> tuple[Node, ...]:
    return tuple(Node(n.op, tuple(into.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in nodes)
