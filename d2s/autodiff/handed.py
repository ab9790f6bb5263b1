"""Values that a `cond` hands on: on the path that was taken, the result is what came in, under another name.

In: a region. Out: for results of its `cond`s, what else they are. A contribution to such a result is one to what came in, in
its place among the contributions to that, as in eager code, where both are one tensor.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(c: b1[], x: f32[2]) -> (f32[2]) { %0: f32[2] = cond(c, x) { then(x: f32[2]) -> (f32[2]) { return x } "
...     "otherwise(x: f32[2]) -> (f32[2]) { %1: f32[2] = tanh(x) return %1 } } "
...     "%2: f32[2] = multiply(x, %0) %3: f32[2] = multiply(%2, %0) return %3 }"
... )
>>> list(handed_on(program, set()).values())
[(<Value c: b1[]>, [(True, <Value x: f32[2]>)])]
"""

from collections.abc import Collection

from d2s.ir.program import Node, Program, Value
from d2s.types import Type

PLACE = {"renewed": 1, "update": 0}  # ops whose first result has the place of an input on the tape: of which
Ways = list[tuple[bool, Value]]  # where a condition holds, or does not, and what the value is there


def handed_on(region: Program, begun: Collection[Value]) -> dict[Value, tuple[Value, Ways]]:
    """The condition and the ways of each, where the order of contributions would be another one; `begun` have totals before."""
    found = {}
    for at, node in enumerate(region.nodes):
        for k, value in enumerate(node.outputs) if node.op == "cond" else ():
            ways = [way for way in _ways(node, k) if interleaved(region, at, value, way[1], begun)]
            if ways:
                found[value] = node.inputs[0], ways
    return found


def _ways(cond: Node, k: int) -> Ways:
    ways = []
    for taken, name in ((True, "then"), (False, "otherwise")):
        arm = cond.attrs[name]
        outside = dict(zip(arm.inputs, cond.inputs[1:], strict=True))
        source = outside.get(arm.outputs[k])
        if source is not None and source.type == cond.outputs[k].type and source.type.is_float and not source.type.grows:
            ways.append((taken, source))
    return ways


def renamed(region: Program) -> dict[Value, Value]:
    """What has other names for its extents only, and what it is."""
    found: dict[Value, Value] = {}
    for node in region.nodes:
        if node.op == "renamed":
            found[node.outputs[0]] = found.get(node.inputs[0], node.inputs[0])
    return found


def leading(node: Node) -> tuple[Value, ...]:
    """The inputs that a gradient of a node may go to."""
    return (node.inputs[PLACE[node.op]],) if node.op in PLACE else node.inputs


def placed(region: Program) -> dict[Value, Value]:
    """What tensors became in the same place on the tape, by other values or a step of an optimizer, and what they were."""
    return {node.outputs[0]: node.inputs[PLACE[node.op]] for node in region.nodes if node.op in PLACE}


def appended(loop: Node) -> dict[Value, tuple[Value, Value]]:
    """Carried values of a loop that the trip before put at the end of a list, which is only made longer there: by which list.

    What takes the list stands behind the loop, so its contributions come before those of the next trip. Of each carried value:
    the list as a trip begins with it, and the value that was put there.
    """
    body, count = loop.attrs["body"], loop.attrs["carries"]
    found: dict[Value, list[tuple[Value, Value]]] = {}
    for n, node in enumerate(body.nodes):
        if node.op != "list_append" or not _only_grows(body, count, node):
            continue
        items, x = node.inputs
        carried = [p for p, v in zip(body.inputs[:count], body.outputs, strict=True) if v is x]
        read_later = any(x in later.inputs for later in body.nodes[n + 1 :])
        if len(carried) == 1 and x not in body.inputs and not read_later and carried[0].type == x.type == items.type.item:
            found.setdefault(carried[0], []).append((items, x))
    return {p: lists[0] for p, lists in found.items() if len(lists) == 1 and _read_often(body, p)}


def _read_often(region: Program, value: Value) -> bool:
    """Whether a region makes more than one contribution to a value: one alone, and one from behind, are added either way."""
    reads = [node for node in region.nodes for v in node.inputs if v is value]
    return len(reads) + region.outputs.count(value) > 1 or any(node.regions() for node in reads)


def _only_grows(body: Program, count: int, append: Node) -> bool:
    items, longer = append.inputs[0], append.outputs[0]
    if items not in body.inputs[:count] or body.outputs[body.inputs.index(items)] is not longer:
        return False
    uses = sum(node.inputs.count(v) for node in body.nodes for v in (items, longer))
    return uses == 1 and body.outputs.count(longer) == 1 and items not in body.outputs


def chained(loop: Node) -> dict[Value, Value]:
    """Floats that a trip leaves, made there and of one form throughout, and what the next trip is given them as."""
    body, found = loop.attrs["body"], dict[Value, Value]()
    carried = zip(body.inputs[: loop.attrs["carries"]], body.outputs, loop.inputs, loop.outputs, strict=False)
    for p, left, first, out in carried:
        plain = p.type.is_float and not p.type.listed and not p.type.grows
        if plain and p.type == left.type == first.type == out.type and left not in body.inputs:
            found.setdefault(left, p)
    return found


def alike(a: Type, b: Type) -> bool:
    """Whether values of two types may be one tensor: they differ in what their extents are called, at most."""
    return a.dtype == b.dtype and len(a.shape) == len(b.shape) and (a.python, a.listed) == (b.python, b.listed)


def interleaved(region: Program, at: int, value: Value, source: Value, begun: Collection[Value]) -> bool:
    """Whether adding up the contributions to one first, and then to the other it was at a node, gives another order.

    Loops, calls and lists that take it gather contributions of their own, and so do arms that read both: there it is left as
    it is.
    """
    if any(_gathers(node) or _reads_both(node, value, source) for node in region.nodes if value in node.inputs):
        return False
    end, behind = len(region.nodes), range(at + 1, len(region.nodes))
    own = [n for n in behind for v in region.nodes[n].inputs if v is value] + [end] * region.outputs.count(value)
    others = [n for n in behind for v in region.nodes[n].inputs if v is source]
    others += [end] * (region.outputs.count(source) + (source in begun))
    return bool(own and others) and (len(own) > 1 or any(n <= own[0] for n in others))


def _gathers(node: Node) -> bool:
    return bool(node.regions() and node.op != "cond") or node.op in ("again", "push") or node.op.startswith("list_")


def _reads_both(node: Node, value: Value, source: Value) -> bool:
    """Whether an arm of a `cond` reads one and the other."""
    for arm in node.regions().values():
        read = {v for inner in arm.nodes for v in inner.inputs} | set(arm.outputs)
        names = {outer for inner, outer in zip(arm.inputs, node.inputs[1:], strict=True) if inner in read}
        if {value, source} <= names:
            return True
    return False
