"""Rebuilding a Program with some values replaced by others: what passes share.

>>> from d2s.ir.text import parse, show
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = tanh(%0) return %1 }")
>>> first, second = program.nodes
>>> print(show(rebuilt(program, [second], {first.outputs[0]: program.inputs[0]})))
program f(x: f32[2]) -> (f32[2]) {
  %0: f32[2] = tanh(x)
  return %0
}
<BLANKLINE>
"""

from collections.abc import Mapping, Sequence

from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS


def rebuilt(program: Program, nodes: Sequence[Node], instead: Mapping[Value, Value]) -> Program:
    """The Program with these nodes, which and whose outputs read values instead of others."""
    made = [Node(n.op, tuple(instead.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in nodes]
    return Program(program.name, program.inputs, tuple(made), tuple(instead.get(v, v) for v in program.outputs))


def is_plain(node: Node) -> bool:
    """Whether a node is a function of its inputs and attributes that a kernel computes."""
    op = OPS[node.op]
    return bool(op.scalar) or op.has("scalar") or op.has("kernel")
