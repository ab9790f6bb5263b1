"""Contract: nodes whose results nothing reads are gone, in regions too; what may raise in a run stays."""

from d2s.ir.program import Node, Program
from d2s.ops import OPS


def apply(program: Program) -> Program:
    alive = set(program.outputs)
    kept: list[Node] = []
    for node in reversed(program.nodes):
        if alive.isdisjoint(node.outputs) and not _may_raise(node):
            continue
        regions = {name: apply(region) for name, region in node.regions().items()}
        alive.update(node.inputs)
        kept.append(Node(node.op, node.inputs, node.outputs, node.attrs | regions, node.where))
    return Program(program.name, program.inputs, tuple(reversed(kept)), program.outputs)


def _may_raise(node: Node) -> bool:
    """A run checks extents, and Python integers for leaving 64 bits; a loop may never end."""
    if node.op == "fail":
        return True
    op = OPS[node.op]
    if node.regions():
        return node.op == "while_loop" or any(_may_raise(n) for region in node.regions().values() for n in region.nodes)
    return (
        bool(op.requires([v.type for v in node.inputs], node.attrs))
        or (bool(op.overflow) and node.outputs[0].type.python)
        or op.has("fault")
    )
