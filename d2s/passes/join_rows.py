"""Contract: products of few rows with one matrix are one product, if all rows are there before the first; each is a part of it.

The matrix is read once, not once for each: what a cell in an unrolled loop computes of its inputs alone is computed for all
steps at once. A row's result is one chain of sums whatever stands beside it, so bits stay.
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS
from d2s.passes.drop_dead import may_raise
from d2s.types import Type

FEW, ROWS, BYTES = 4, 32, 1 << 22  # products that are worth it, rows of each at most, bytes of all results at most
_MOVED = {"sliced", "unsqueeze", "squeeze", "reshape"}  # of known extents: what may go ahead of its place, it cannot fail


def apply(program: Program) -> Program:
    nodes = [in_regions(node, apply) for node in program.nodes]
    made = {v: n for n, node in enumerate(nodes) for v in node.outputs}
    alike: dict[Any, list[int]] = {}
    for n, node in enumerate(nodes):
        if node.op == "matmul" and _has_few_rows(node):
            x, y = node.inputs
            alike.setdefault((y, x.type.dtype, x.type.shape, node.attrs["transpose_y"]), []).append(n)
    ahead: dict[int, list[Node]] = {}
    instead: dict[int, Node] = {}
    for found in alike.values():
        ways = {n: _way(nodes, made, nodes[n].inputs[0], found[0]) for n in found}
        joined = [n for n in found if ways[n] is not None]
        if len(joined) < FEW or len(joined) * _bytes(nodes[found[0]].outputs[0].type) > BYTES:
            continue
        before = sorted({k for n in joined for k in ways[n] or ()} - instead.keys())
        whole, parts = _joined([nodes[n] for n in joined])
        ahead[found[0]] = [*(nodes[k] for k in before), *whole]
        instead |= dict(zip(joined, parts, strict=True))
        moved = {v: -1 for k in before for v in nodes[k].outputs}
        made |= moved
        for k in before:
            instead[k] = nodes[k]
            nodes[k] = Node("", (), (), {})
    kept = []
    for n, node in enumerate(nodes):
        kept += ahead.get(n, [])
        if node.op:
            kept.append(instead.get(n, node))
    return Program(program.name, program.inputs, tuple(kept), program.outputs)


def _has_few_rows(node: Node) -> bool:
    x, y = (v.type for v in node.inputs)
    static = [d for d in x.shape if isinstance(d, int)]
    if len(static) < len(x.shape) or len(static) < 2 or len(y.shape) != 2 or node.attrs["transpose_x"]:
        return False
    return 0 < math.prod(static[:-1]) <= ROWS and not may_raise(node)


def _way(nodes: Sequence[Node], made: dict[Value, int], x: Value, first: int) -> list[int] | None:
    """The nodes behind the first product that make its rows; None where they cannot stand in front of it."""
    n = made.get(x, -1)
    if n < first:
        return []
    node = nodes[n]
    if node.op not in _MOVED or len(node.inputs) > 1 or not all(isinstance(d, int) for d in node.inputs[0].type.shape):
        return None
    ways = [_way(nodes, made, v, first) for v in node.inputs]
    return None if None in ways else [*(k for way in ways for k in way or ()), n]


def _joined(products: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """One product of all rows, and what takes each one's results out of it."""
    first, count = products[0], products[0].outputs[0].type.shape[0]
    rows = _node("concat", [node.inputs[0] for node in products], {"axis": 0}, first.where)
    whole = _node("matmul", [rows.outputs[0], first.inputs[1]], first.attrs, first.where)
    parts = []
    for n, node in enumerate(products):
        attrs = {"axes": (0,), "starts": (n * int(count),), "counts": (count,), "steps": (1,), "dropped": ()}
        parts.append(Node("sliced", whole.outputs, node.outputs, attrs, node.where))
    return [rows, whole], parts


def _node(op: str, inputs: Sequence[Value], attrs: dict[str, Any], where: str) -> Node:
    types = OPS[op].infer([v.type for v in inputs], attrs)
    return Node(op, tuple(inputs), tuple(Value(t) for t in types), attrs, where)


def _bytes(of: Type) -> int:
    return math.prod(d for d in of.shape if isinstance(d, int)) * of.dtype.size
