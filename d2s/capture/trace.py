"""One capture: a function is run once on symbols, and what it did is a Program.

In: a function, the leaves of its arguments and which of them are values of run time. Out: `Captured`.

>>> from d2s import types
>>> captured = trace(lambda leaves: leaves[0] + 1.0, "f", [None], {0: ("x", Type(types.float32, (2,)))}, {})
>>> [node.op for node in captured.program.nodes]
['constant', 'add']
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.guards import Guard
from d2s.capture.symbolic import SymbolicTensor, Tracer, refuse
from d2s.capture.tree import Skeleton, flatten
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program
from d2s.ops.dispatch import handling
from d2s.types import Type


@dataclasses.dataclass(eq=False, slots=True)
class Captured:
    """A Program and how to call it: its inputs are argument leaves (by position), then `lifted` tensors met on the way."""

    program: Program
    arguments: list[int]
    lifted: list[Tensor]
    aliases: list[tuple[int, Tensor]]  # arguments that were also reached another way
    guards: list[Guard]
    results: list[tuple[str, Any]]  # ("output", n), ("argument", leaf), ("tensor", t) or ("constant", value)
    skeleton: Skeleton


def trace(
    function: Callable[[list[Any]], Any],
    name: str,
    leaves: Sequence[Any],
    symbols: dict[int, tuple[str, Type]],
    same: dict[int, int],
) -> Captured:
    """Runs `function(leaves)` with the leaves in `symbols` replaced by symbols, those in `same` by that of another leaf."""
    tracer = Tracer(name)
    inside = list(leaves)
    for n, (given, of) in symbols.items():
        inside[n] = tracer.input(of, given)
        if isinstance(leaves[n], Tensor):
            tracer.lifted[id(leaves[n])] = leaves[n], inside[n]
    for n, first in same.items():
        inside[n] = inside[first]
    arguments = {tracer.lifted[id(leaves[n])][1].value: n for n in symbols if isinstance(leaves[n], Tensor)}
    with handling(tracer):
        outcome = function(inside)
        found, skeleton = flatten(outcome)
        results, outputs = _results(tracer, found, {inside[n].value: n for n in symbols})
    program = tracer.builder.finish([tracer.resolve(s) for s in outputs])
    lifted = [t for t, symbol in tracer.lifted.values() if symbol.value not in arguments]
    aliases = [(arguments[s.value], t) for t, s in tracer.lifted.values() if s.value in arguments and id(t) in tracer.reached]
    guards = list(tracer.guards.values())
    for guard in guards:
        if not guard.holds():
            refuse(
                "D2S1003",
                f"reading {guard.described} gives another object each time",
                "read it outside of the captured function",
            )
    return Captured(program, list(symbols), lifted, aliases, guards, results, skeleton)


def _results(tracer: Tracer, found: list[Any], arguments: dict[Any, int]) -> tuple[list[tuple[str, Any]], list[SymbolicTensor]]:
    """Where each leaf of the result comes from at a call; an argument handed back is the argument itself."""
    results: list[tuple[str, Any]] = []
    outputs: list[SymbolicTensor] = []
    lifted = {symbol.value: tensor for tensor, symbol in tracer.lifted.values()}
    for leaf in found:
        if isinstance(leaf, Tensor):
            tracer.lift(leaf)
            results.append(("tensor", leaf))
        elif not isinstance(leaf, SymbolicTensor):
            results.append(("constant", leaf))
        elif leaf.value in arguments:
            results.append(("argument", arguments[leaf.value]))
        elif leaf.value in lifted:
            results.append(("tensor", lifted[leaf.value]))
        else:
            known = [s.value for s in outputs]
            if leaf.value not in known:
                outputs.append(leaf)
            results.append(("output", [s.value for s in outputs].index(leaf.value)))
    return results, outputs
