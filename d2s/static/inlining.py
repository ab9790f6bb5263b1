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

from d2s import passes
from d2s.capture.result import build
from d2s.capture.trace import Captured, trace
from d2s.capture.tree import Skeleton, containers
from d2s.eager.tensor import Tensor
from d2s.ir.program import Node, Value
from d2s.static.recording import Recording, Variable


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
    outputs = _recorded(recording, captured, given)

    def leaf(kind: str, at: Any) -> Any:
        if kind == "output":
            return outputs[at]
        if kind == "copy":
            return Tensor(at.array.copy())
        return leaves[at] if kind == "argument" else containers(arguments)[at] if kind == "container" else at

    return build(captured.result, leaf)


def _recorded(recording: Recording, captured: Captured, given: dict[int, Variable]) -> list[Variable]:
    """The nodes of a capture as nodes of the program; variables for its outputs."""
    program = passes.run(captured.program)
    fed = [given[n] for n in captured.arguments] + [recording.lift(t) for t in captured.lifted]
    values: dict[Value, Value] = {v: recording.resolve(s) for v, s in zip(program.inputs, fed, strict=True)}
    for node in program.nodes:
        inputs = tuple(values.get(v, v) for v in node.inputs)
        recording.builder.nodes.append(Node(node.op, inputs, node.outputs, node.attrs, node.where))
    return [Variable(recording, values.get(v, v)) for v in program.outputs]
