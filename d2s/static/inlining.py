"""A function made static, met while a program is declared: it is captured, and becomes a part of that program.

In: a function and its argument leaves, variables among them. Out: what it returns, its nodes recorded.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     x = d2s.static.data("x", [2])
...     y = d2s.to_static(lambda x: x + 1.0 if x.sum() > 0 else x)(x)
...     found = d2s.static.Executor().run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
>>> d2s.disable_static()
>>> found[0].tolist()
[2.0, 2.0]
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import passes
from d2s.capture.result import build
from d2s.capture.trace import Captured, trace
from d2s.capture.tree import Skeleton
from d2s.capture.users_code import refuse
from d2s.eager.tensor import Tensor
from d2s.ir.program import Node, Value
from d2s.static.recording import Recording
from d2s.static.variable import Variable


def inlined(
    recording: Recording,
    function: Callable[[Any], Any],
    name: str,
    leaves: Sequence[Any],
    skeleton: Skeleton,
    names: Sequence[str],
    arguments: Any,
) -> Any:
    """Captures `function` for these arguments, and records what it does."""
    given = {n: recording.symbol_of(leaf) for n, leaf in enumerate(leaves) if isinstance(leaf, Variable | Tensor)}
    first = {n: next(k for k in given if given[k].value is symbol.value) for n, symbol in given.items()}
    symbols = {n: (names[n], symbol.value.type) for n, symbol in given.items() if first[n] == n}
    captured = trace(function, name, leaves, skeleton, symbols, {n: k for n, k in first.items() if k != n})
    if captured.stores and recording.parent is not None:
        refuse(
            "D2S1003", f"'{name}' changes what was there before, in a branch or loop of a declared program", "call it outside"
        )
    found = [read.read() for read in captured.reads]
    outputs = _recorded(recording, captured, given, found)

    def leaf(kind: str, at: Any) -> Any:
        if kind == "output":
            return outputs[at]
        if kind == "copy":
            return Tensor(at.array.copy())
        if kind == "argument":
            return leaves[at]
        return found[at] if kind == "read" else captured.containers(arguments)[at] if kind == "container" else at

    result, values = build(captured.whole, leaf)
    for target, value in zip(captured.stores, values, strict=True):
        _store(recording, target, value, leaf)
    return result


def _recorded(recording: Recording, captured: Captured, given: dict[int, Variable], found: Sequence[Any]) -> list[Variable]:
    """The nodes of a capture as nodes of the program; variables for its outputs."""
    program = passes.prepare(captured.program)
    fed = [given[n] for n in captured.arguments] + [recording.lift(t) for t in captured.lifted]
    fed += [recording.lift(one if isinstance(one, Tensor) else Tensor(np.array(one))) for one in found]
    fed += recording.root.stream_state() if captured.draws else ()
    values: dict[Value, Value] = {v: recording.resolve(s) for v, s in zip(program.inputs, fed, strict=True)}
    for node in program.nodes:
        inputs = tuple(values.get(v, v) for v in node.inputs)
        recording.builder.nodes.append(Node(node.op, inputs, node.outputs, node.attrs, node.where))
    return [Variable(recording, values.get(v, v)) for v in program.outputs]


def _store(recording: Recording, target: Any, value: Any, leaf: Callable[[str, Any], Any]) -> None:
    """What a call of the function leaves somewhere, left there by each run."""
    kind, owner, *_ = target
    if kind == "stream":
        recording.root.counter = value
    elif kind == "tensor" and isinstance(leaf(*owner), Tensor):
        recording.assign(leaf(*owner), value)
    else:
        refuse("D2S1003", "a declared program cannot change an attribute, a container, or a variable", "call it eagerly")
