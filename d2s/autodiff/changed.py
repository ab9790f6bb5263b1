"""Whether a gradient may need values that were changed in place by a branch, a trip or a call: then only a run can tell.

In: a Program, what its gradient passes, and its changes in place - by which value each was made, of which, at which line. Out:
whether some node's gradient reads what may be one of those that were overwritten.

>>> needs_changed(Program("f", (), (), ()), set(), {})
False
"""

from collections.abc import Collection, Iterator, Mapping

from d2s.autodiff import reads
from d2s.exact import Exactly
from d2s.ir.program import Node, Program, Value, calls_of
from d2s.ops import OPS

Changes = Mapping[Value, tuple[Value, str]]  # what was written, over what, and at which of the user's lines
_OTHER = ("push", "pop", "stack", "again", "hole", "constant", "host", "update", "detached", "renamed", "fail")


def needs_changed(program: Program, active: Collection[Value], changes: Changes) -> bool:
    """Of a Program without branches, loops and calls its own order tells, and this is False."""
    if not changes or not any(node.regions() for node in program.nodes):
        return False
    return may_need(program, active, changes, changes)


def may_need(program: Program, active: Collection[Value], changes: Changes, some: Changes) -> bool:
    """Whether some node's gradient may read what one of `some` changes has overwritten.

    Of branches, loops and calls that is as if all in them stood before their changes; what stands behind them has other values.
    A change by what the Program does not make comes behind it.
    """
    if not some:
        return False
    groups: dict[Value, Value] = {}
    for a, b in _bound(program):
        groups[_group(groups, a)] = _group(groups, b)
    nodes = [(n, inner) for n, node in enumerate(program.nodes) for inner in (node, *_inside(node))]
    places = {v: n for n, node in nodes for v in node.outputs}
    until: dict[Value, int] = {}
    for by, (before, _) in some.items():
        group = _group(groups, before)
        until[group] = max(until.get(group, -1), places.get(by, len(program.nodes)))
    return any(n <= until.get(_group(groups, v), -1) for n, node in nodes for v in needed_by(node, active, changes))


def _inside(node: Node) -> Iterator[Node]:
    """The nodes of its regions."""
    for region in node.regions().values():
        yield from region.every_node()


def needed_by(node: Node, active: Collection[Value], changes: Changes) -> list[Value]:
    """What a node's gradient reads; a change in place has what it overwrites, and its result, in memory of its own."""
    if node.regions() or node.op in _OTHER or node.op.startswith("list_") or not any(v in active for v in node.outputs):
        return []
    wanted = tuple(v in active for v in node.inputs)
    needed = reads.of_gradient(OPS[node.op], tuple(v.type for v in node.inputs), Exactly(node.attrs), wanted)
    before = [changes[v][0] for v in node.outputs if v in changes]
    own = {*before, *node.outputs} if before else set()
    return [v for k, v in enumerate((*node.inputs, *node.outputs)) if k in needed and v not in own]


def _bound(region: Program) -> Iterator[tuple[Value, Value]]:
    """Pairs of values of which the one may be the other, or lies where the other does."""
    for node in region.nodes:
        for name, inner in node.regions().items():
            yield from zip(inner.inputs, node.inputs[node.op == "cond" :], strict=True)
            if name != "test":
                yield from zip(node.outputs, inner.outputs, strict=True)
            if node.op == "while_loop" and name == "body":
                yield from zip(inner.inputs, inner.outputs, strict=False)
            for again in calls_of(inner, node.attrs["name"]) if node.op == "call" else ():
                yield from zip(inner.inputs, again.inputs, strict=True)
                yield from zip(again.outputs, inner.outputs, strict=True)
            yield from _bound(inner)
        if node.op in ("renamed", "detached"):
            yield node.outputs[0], node.inputs[0]


def _group(groups: dict[Value, Value], value: Value) -> Value:
    while value in groups and groups[value] is not value:
        value = groups[value]
    return value
