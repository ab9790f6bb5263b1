"""Contract: a loop over numbers and small arrays of known extents, in which only elementwise ops and branches stand, is one
`fused` node, and so one kernel. Runs behind `group`, whose groups are the loops in its text.
"""

from d2s.codegen import native_loop
from d2s.ir.program import Node, Program, Value, in_regions


def apply(program: Program) -> Program:
    nodes = [_tightened(node) for node in program.nodes]
    return Program(program.name, program.inputs, tuple(nodes), program.outputs)


def _tightened(node: Node) -> Node:
    if not native_loop.fits(node):
        return node if node.op == "fused" else in_regions(node, apply)
    inputs = tuple(Value(v.type, f"x{k}") for k, v in enumerate(node.inputs))
    outputs = tuple(Value(v.type) for v in node.outputs)
    loop = Node(node.op, inputs, outputs, node.attrs, node.where)
    return Node("fused", node.inputs, node.outputs, {"body": Program("body", inputs, (loop,), outputs)}, node.where)
