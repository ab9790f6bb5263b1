"""One capture: a function is run once on symbols, and what it did is a Program.

In: a function, the leaves of its arguments and which of them are values of run time. Out: `Captured`.

>>> from d2s import types
>>> arguments, skeleton = flatten({"x": None})
>>> captured = trace(lambda given: given["x"] + 1.0, "f", arguments, skeleton, {0: ("x", Type(types.float32, (2,)))}, {})
>>> [node.op for node in captured.program.nodes]
['constant', 'add']
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.branch import Ended, refuse_stand_in
from d2s.capture.guards import Guard
from d2s.capture.result import Leaf, Recipe, describe
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.tree import Skeleton, containers, flatten, rebuild
from d2s.capture.undefined import Undefined
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError
from d2s.ir.program import Program, Value
from d2s.ops.dispatch import handling
from d2s.types import DType, Type


@dataclasses.dataclass(eq=False, slots=True)
class Captured:
    """A Program and how to call it: its inputs are argument leaves (by position), then `lifted` tensors met on the way."""

    program: Program
    arguments: list[int]
    lifted: list[Tensor]
    aliases: list[tuple[int, Tensor]]  # arguments that were also reached another way
    guards: list[Guard]
    result: Recipe  # of leaves ("output", n), ("argument", leaf), ("container", n), ("outside", object)


def trace(
    function: Callable[[Any], Any],
    name: str,
    leaves: Sequence[Any],
    skeleton: Skeleton,
    symbols: dict[int, tuple[str, Type]],
    same: dict[int, int],
) -> Captured:
    """Runs `function` on its arguments with the leaves in `symbols` replaced by symbols, those in `same` by that of another."""
    tracer = Tracer(name)
    inside = list(leaves)
    for n, (given, of) in symbols.items():
        inside[n] = tracer.input(of, given)
        if isinstance(leaves[n], Tensor):
            tracer.lifted[id(leaves[n])] = leaves[n], inside[n]
    for n, first in same.items():
        inside[n] = inside[first]
    structure = rebuild(skeleton, inside)
    tracer.given.update(id(c) for c in containers(structure) if type(c) is not tuple)
    with handling(tracer):
        outcome = _outcome(tracer, function, structure)
        results = _Results(tracer, {inside[n].value: n for n in symbols}, leaves)
        outside: dict[int, Leaf] = {
            id(c): ("container", n) for n, c in enumerate(containers(structure)) if type(c) is not tuple
        }
        outside |= {id(c): ("outside", c) for c in _found_outside(tracer) if id(c) not in outside}
        recipe = describe(outcome, results.leaf, outside)
    program = tracer.builder.finish([tracer.resolve(s) for s in results.outputs])
    arguments = {inside[n].value: n for n in symbols}
    lifted = [t for t, symbol in tracer.lifted.values() if symbol.value not in arguments]
    aliases = [(arguments[s.value], t) for t, s in tracer.lifted.values() if s.value in arguments and id(t) in tracer.reached]
    guards = list(tracer.guards.values())
    for guard in guards:
        if not guard.holds():
            message = f"reading {guard.described} gives another object each time"
            raise CaptureError("D2S1003", message, where=guard.where, hint="read it outside of the captured function")
    return Captured(program, list(symbols), lifted, aliases, guards, recipe)


def _outcome(tracer: Tracer, function: Callable[[Any], Any], structure: Any) -> Any:
    """What the function returns; where every run raises, nothing."""
    try:
        return function(structure)
    except Ended:
        return None
    except TypeError as error:
        refuse_stand_in(error)
        raise


def _found_outside(tracer: Tracer) -> list[Any]:
    """Lists and dicts that were there before: read from somewhere, and free of what the capture made."""
    read = [guard.kept for key, guard in tracer.guards.items() if key[1] != "content"]
    return [c for c in read if type(c) in (list, dict) and not any(isinstance(x, SymbolicTensor) for x in flatten(c)[0])]


_VALUES = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented), DType)


class _Results:
    """Where each leaf of the result comes from at a call; an argument handed back is the argument itself."""

    def __init__(self, tracer: Tracer, arguments: dict[Value, int], given: Sequence[Any]) -> None:
        self.tracer, self.arguments = tracer, arguments
        self.outside = {id(guard.kept) for guard in tracer.guards.values()} | {id(leaf) for leaf in given}
        self.outputs: list[SymbolicTensor] = []

    def leaf(self, value: Any) -> Leaf:
        if isinstance(value, Tensor):
            if id(value) in self.tracer.made:
                return "copy", value
            value = self.tracer.lift(value)
        if isinstance(value, Undefined):
            return "outside", None  # no run comes here: what reads it raises
        if not isinstance(value, SymbolicTensor):
            if type(value) not in _VALUES and id(value) not in self.outside:
                message = f"a {type(value).__name__} is returned that was made at capture: every call would return the same one"
                raise CaptureError("D2S1003", message, hint="return tensors, numbers, and lists, tuples and dicts of them")
            return "outside", value
        if value.value in self.arguments:
            return "argument", self.arguments[value.value]
        for tensor, symbol in self.tracer.lifted.values():
            if symbol.value is value.value:
                return "outside", tensor
        known = [s.value for s in self.outputs]
        if value.value not in known:
            self.outputs.append(value)
            return "output", len(known)
        return "output", known.index(value.value)
