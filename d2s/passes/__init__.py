"""Program → Program. In: a Program as captured. Out: one that computes the same bits with less work.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = relu(x) return %1 }")
>>> [node.op for node in run(program).nodes]
['relu']
"""

from d2s.config import knob
from d2s.errors import InternalError
from d2s.ir.program import Node, Program
from d2s.ir.text import show
from d2s.ir.verify import verify
from d2s.ops import OPS
from d2s.passes import drop_dead
from d2s.stages import stage
from d2s.types import Type

PIPELINE = (drop_dead,)  # what only an abandoned attempt of a capture has recorded goes away


def run(program: Program) -> Program:
    """All passes; with CHECK the result of each is verified."""
    stage(f"program:{program.name}", lambda: show(program))
    for module in PIPELINE:
        program = module.apply(program)
        name = module.__name__.rpartition(".")[2]
        stage(f"{name}:{program.name}", lambda program=program: show(program))  # type: ignore[misc]
        if knob("CHECK") != "0":
            verify(program, infer)
    return program


def infer(node: Node) -> tuple[Type, ...]:
    """The types an op's rule gives a node's outputs."""
    if node.op not in OPS:
        raise InternalError("D2S9001", f"'{node.op}' at {node.where or '?'} is not an op")
    return OPS[node.op].infer([v.type for v in node.inputs], node.attrs)
