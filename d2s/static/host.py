"""Calls of Python in a declared program: it is run in segments, native ones and calls between them.

In: a Program that may have `host` nodes. Out: segments, each of which reads values and adds those it makes.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = add(x, x) return %0 }")
>>> (segment,) = segments(program)
>>> held = {program.inputs[0]: np.ones(2, "float32")}
>>> segment(held)
>>> held[program.outputs[0]].tolist()
[2.0, 2.0]
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import passes
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ir.program import Node, Program, Value
from d2s.runtime.call import Call

Segment = Callable[[dict[Value, Any]], None]


def segments(program: Program) -> list[Segment]:
    """The segments of a Program, in order."""
    found: list[Segment] = []
    rest = list(program.nodes)
    known = list(program.inputs)
    while True:
        count = next((n for n, node in enumerate(rest) if node.op == "host"), len(rest))
        behind = {v for node in rest[count:] for v in node.inputs} | set(program.outputs)
        made = [v for node in rest[:count] for v in node.outputs if v in behind]
        if made or any(node.op == "update" for node in rest[:count]):
            found.append(_Native(program.name, known, rest[:count], made))
        if count == len(rest):
            return found
        found.append(_Host(rest[count]))
        known += [*made, *rest[count].outputs]
        rest = rest[count + 1 :]


class _Native:
    """Nodes between calls, as one native call."""

    def __init__(self, name: str, known: Sequence[Value], nodes: Sequence[Node], made: Sequence[Value]) -> None:
        read = {v for node in nodes for v in node.inputs}
        self.inputs, self.made = [v for v in known if v in read], list(made)
        for n, value in enumerate(self.inputs):
            value.name = value.name or f"held_{n}"
        program = Program(name, tuple(self.inputs), tuple(nodes), tuple(made))
        self.call = Call(passes.prepare(program), passes.lower)

    def __call__(self, held: dict[Value, Any]) -> None:
        held.update(zip(self.made, self.call([held[v] for v in self.inputs]), strict=True))


class _Host:
    """A call of Python with tensors; what it returns must be what was declared."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __call__(self, held: dict[Value, Any]) -> None:
        given = [Tensor(held[v]) for v in self.node.inputs]
        results = self.node.attrs["function"](*given)
        listed = [] if results is None else list(results) if isinstance(results, list | tuple) else [results]
        if len(listed) != len(self.node.outputs):
            message = f"py_func(): 'func' returns {len(listed)} values, 'out' declares {len(self.node.outputs)}"
            raise ArgumentError("D2S0004", message, where=self.node.where)
        for value, result in zip(self.node.outputs, listed, strict=True):
            held[value] = self._checked(value, result)

    def _checked(self, value: Value, result: Any) -> np.ndarray:
        array = result.array if isinstance(result, Tensor) else np.asarray(result)
        if array.shape != value.type.shape or array.dtype != value.type.dtype.numpy:
            message = f"py_func(): 'func' returns {array.dtype}{list(array.shape)}, 'out' declares {value.type}"
            raise ArgumentError("D2S0002", message, where=self.node.where)
        return np.array(array, order="C")
