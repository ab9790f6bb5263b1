"""Contract: what is one number, computed from constants only, is a constant; what would raise is left to the run."""

import math

from d2s.errors import D2SError
from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS
from d2s.passes.rewriting import is_plain
from d2s.runtime import interpreter, launch
from d2s.types import Type


def apply(program: Program) -> Program:
    constants: dict[Value, Node] = {}
    nodes = []
    for node in program.nodes:
        node = in_regions(node, apply)
        if is_plain(node) and node.inputs and node.outputs[0].type.shape == () and all(v in constants for v in node.inputs):
            node = _folded(node, [constants[v] for v in node.inputs]) or node
        if node.op == "constant":
            constants[node.outputs[0]] = node
        nodes.append(node)
    return Program(program.name, program.inputs, tuple(nodes), program.outputs)


def _folded(node: Node, given: list[Node]) -> Node | None:
    of: Type = node.outputs[0].type
    arrays = [interpreter.constant(n) for n in given]
    try:
        result = launch.run(OPS[node.op], [v.type for v in node.inputs], arrays, node.attrs)
    except D2SError:
        return None
    if isinstance(result, tuple) or (of.dtype.kind == "f" and not math.isfinite(result)):
        return None
    value = float(str(result[()])) if of.dtype.kind == "f" else result.item()
    return Node("constant", (), node.outputs, {"value": value, "dtype": of.dtype, "python": of.python}, node.where)
