"""Program → Program. In: a Program as captured. Out: one that computes the same bits with less work.

`prepare` is what a Program goes through before anything is made of it, its gradient too; `lower` what each Program that is
run goes through on top, the halves of a gradient as well.

>>> from d2s.ir.text import parse
>>> text = "%0: f32[2] = tanh(x) %1: f32[2] = relu(x) %2: f32[2] = exp(%1)"
>>> program = parse(f"program f(x: f32[2]) -> (f32[2]) {{ {text} return %2 }}")
>>> [node.op for node in prepare(program).nodes]
['relu', 'exp']
>>> [node.op for node in lower(program).nodes]
['fused']
"""

from collections.abc import Sequence
from typing import Any

from d2s.config import knob
from d2s.errors import InternalError
from d2s.ir.program import Node, Program
from d2s.ir.text import show
from d2s.ir.verify import verify
from d2s.ops import OPS
from d2s.passes import (
    drop_dead,
    drop_identities,
    fold_constants,
    group,
    join_lines,
    join_products,
    join_rows,
    merge_equal,
    tighten_loops,
)
from d2s.stages import stage
from d2s.types import Type

PREPARING = (drop_dead,)  # what only an abandoned attempt of a capture has recorded goes away
LOWERING = (fold_constants, drop_identities, merge_equal, drop_dead, join_rows, group, join_lines, join_products, tighten_loops)


def prepare(program: Program) -> Program:
    """What is differentiated, written to files and run."""
    stage(f"program:{program.name}", lambda: show(program))
    return _through(PREPARING, program)


def lower(program: Program) -> Program:
    """What is planned."""
    return _through(LOWERING, program)


def _through(passes: Sequence[Any], program: Program) -> Program:
    """All passes; with CHECK the result of each is verified."""
    for module in passes:
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
