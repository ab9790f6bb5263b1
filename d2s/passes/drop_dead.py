"""Contract: nodes whose results nothing reads are gone, in regions too; so are results of a `cond` and carried values of a
loop that nothing reads, and what no arm of a `cond` reads. What acts or may raise in a run stays."""

from collections.abc import Iterator, Sequence
from typing import Any

from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS


def apply(program: Program) -> Program:
    alive = set(program.outputs)
    kept: list[Node] = []
    for node in reversed(program.nodes):
        if alive.isdisjoint(node.outputs) and not may_raise(node):
            continue
        if node.op in _NARROWED:
            node = _NARROWED[node.op](node, alive)
        node = _without_unread(in_regions(node, apply))
        alive.update(node.inputs)
        kept.append(node)
    return Program(program.name, program.inputs, tuple(reversed(kept)), program.outputs)


def _without_unread(node: Node) -> Node:
    """A `cond`, in whose arms only what is alive stands, without what no arm reads."""
    if node.op != "cond":
        return node
    arms = node.regions()
    read = {v for arm in arms.values() for v in (*arm.outputs, *(v for inner in arm.nodes for v in inner.inputs))}
    needed = [v for n, v in enumerate(node.inputs[1:]) if _tells(v) or any(arm.inputs[n] in read for arm in arms.values())]
    told = {d for v in needed for d in _names(v)}
    stay = [n for n, v in enumerate(node.inputs[1:]) if v in needed or not told.issuperset(_names(v))]
    narrowed = {k: Program(arm.name, tuple(arm.inputs[n] for n in stay), arm.nodes, arm.outputs) for k, arm in arms.items()}
    inputs = (node.inputs[0], *(node.inputs[1 + n] for n in stay))
    return Node(node.op, inputs, node.outputs, node.attrs | narrowed, node.where)


def _tells(value: Value) -> bool:
    """Whether a region is given a value for what extents are called; a list, which something else may use up, only at need."""
    return not value.type.grows and bool(_names(value))


def _names(value: Value) -> list[str]:
    return [d for d in value.type.shape if isinstance(d, str)]


def _narrowed_cond(node: Node, alive: set[Value]) -> Node:
    """Without the results nothing reads."""
    kept = _results(node, alive)
    arms = {name: _returning(arm, kept) for name, arm in node.regions().items()}
    outputs = tuple(node.outputs[n] for n in kept)
    return Node(node.op, node.inputs, outputs, node.attrs | arms | _found(node, outputs), node.where)


def _found(node: Node, outputs: Sequence[Value]) -> dict[str, Any]:
    """The extents that a node finds of those results that stay, in the order of these."""
    named = node.attrs.get("finds", ())
    found = tuple(dict.fromkeys(d for v in outputs for d in v.type.shape if d in named))
    return {"finds": found} if named else {}


def _changed_stack(node: Node, n: int) -> bool:
    """Whether a result is a list or a stack that something was done to: gradients go that way back."""
    regions = [node.attrs["body"]] if node.op == "while_loop" else node.regions().values()
    return node.outputs[n].type.grows and any(region.outputs[n] not in region.inputs for region in regions)


def _results(node: Node, alive: set[Value]) -> list[int]:
    """The results of a `cond` that stay."""
    return [n for n, v in enumerate(node.outputs) if v in alive or _changed_stack(node, n)]


def _returning(region: Program, kept: Sequence[int]) -> Program:
    return Program(region.name, region.inputs, region.nodes, tuple(region.outputs[n] for n in kept))


def _narrowed_loop(node: Node, alive: set[Value]) -> Node:
    """Without the carried values that are read neither behind the loop nor for another one that is."""
    test, body, carries = node.attrs["test"], node.attrs["body"], node.attrs["carries"]
    kept = {n for n, v in enumerate(node.outputs) if v in alive or _changed_stack(node, n)}
    kept |= {n for n in range(carries) if test.inputs[n] in _read(test)}
    while True:
        read = _read(_returning(body, sorted(kept)))
        more = {n for n in range(carries) if body.inputs[n] in read}
        if more <= kept:
            break
        kept |= more
    if len(kept) == carries:
        return node
    stay = [n for n in range(len(node.inputs)) if n in kept or n >= carries]
    test, body = (Program(p.name, tuple(p.inputs[n] for n in stay), p.nodes, p.outputs) for p in (test, body))
    attrs = {"test": test, "body": _returning(body, sorted(kept)), "carries": len(kept)}
    outputs = tuple(node.outputs[n] for n in sorted(kept))
    return Node(node.op, tuple(node.inputs[n] for n in stay), outputs, attrs | _found(node, outputs), node.where)


def _read(region: Program) -> set[Value]:
    """What a region reads for its outputs; a loop or a call counts as reading all it is given."""
    alive = set(region.outputs)
    for node in reversed(region.nodes):
        if not alive.isdisjoint(node.outputs) or may_raise(node):
            alive.update(_read_by_cond(node, alive) if node.op == "cond" else node.inputs)
    return alive


def _read_by_cond(node: Node, alive: set[Value]) -> Iterator[Value]:
    yield node.inputs[0]
    yield from filter(_tells, node.inputs[1:])
    for arm in node.regions().values():
        read = _read(_returning(arm, _results(node, alive)))
        yield from (v for v, p in zip(node.inputs[1:], arm.inputs, strict=True) if p in read)


_NARROWED = {"cond": _narrowed_cond, "while_loop": _narrowed_loop}


def may_raise(node: Node) -> bool:
    """A run checks extents, and Python integers for leaving 64 bits; a loop may never end."""
    if node.op in ("fail", "host", "update", "again"):
        return True
    op = OPS[node.op]
    if op.has("fault") or (op.overflow and node.outputs[0].type.python):
        return True
    regions = node.regions()
    if regions:
        return node.op == "while_loop" or any(may_raise(n) for region in regions.values() for n in region.nodes)
    types = [v.type for v in node.inputs]
    return bool(op.requires(types, node.attrs)) or bool(op.refuses_none(types, node.attrs))
