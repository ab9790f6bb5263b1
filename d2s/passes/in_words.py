"""Nodes that no kind of file has a word for as nodes that mean the same, bit for bit: those that gradients are made of.

>>> from d2s.ir.text import parse
>>> text = "program f(g: f32[], x: f32[3]) -> (f32[3]) { %0: f32[3] = spread(g, x, axis=(0,), keepdim=False) return %0 }"
>>> [node.op for node in apply(parse(text)).nodes]
['expand_as']
"""

from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS
from d2s.ops.dispatch import handling
from d2s.ops.recording import Recorder, Symbolic
from d2s.passes.rewriting import rebuilt


def apply(program: Program) -> Program:
    """The Program with what the rules `worded` say."""
    nodes, instead = list[Node](), dict[Value, Value]()
    for node in program.nodes:
        made, results = _said(node) if OPS[node.op].has("worded") else ([in_regions(node, apply)], node.outputs)
        nodes += made
        instead |= {old: new for old, new in zip(node.outputs, results, strict=True) if old is not new}
    return rebuilt(program, nodes, instead)


def _said(node: Node) -> tuple[list[Node], tuple[Value, ...]]:
    """Other nodes, and what they make; the node itself where that is told of by other names of extents."""
    recorder = Recorder("")
    recorder.where = node.where
    with handling(recorder):
        found = OPS[node.op].rules["worded"](*(Symbolic(recorder, v) for v in node.inputs), **node.attrs)
    if found.value.type != node.outputs[0].type:
        return [node], node.outputs
    return list(recorder.builder.nodes), (found.value,)
