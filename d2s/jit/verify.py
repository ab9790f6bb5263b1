"""Eager and static side by side: outputs and gradients, bit for bit.

In: a function made static and arguments. Out: a report, or a MismatchError that says what differs, and at which user line.

>>> print(verify(d2s.to_static(lambda x: x * 2.0), d2s.to_tensor([1.0], stop_gradient=False)))
equal: 1 output, 1 gradient
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import passes
from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.eager.tensor import Tensor
from d2s.errors import MismatchError
from d2s.ir.program import Node, Program
from d2s.jit.to_static import StaticFunction, to_static
from d2s.nn.layer import Layer
from d2s.runtime import interpreter
from d2s.runtime.call import Call, same_bits
from d2s.types import STACK


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found equal."""

    outputs: int
    gradients: int

    def __str__(self) -> str:
        return f"equal: {_count(self.outputs, 'output')}, {_count(self.gradients, 'gradient')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def verify(function: Any, *args: Any, **kwargs: Any) -> Report:
    """Runs `function` eagerly and static on copies of the arguments; what it reads otherwise keeps its gradients."""
    expect("verify", "function", function, Callable, "a Layer or a function")
    made = function.forward if isinstance(function, Layer) else function
    static: StaticFunction = made if isinstance(made, StaticFunction) else to_static(made)
    variant = static.concrete_program(*args, **kwargs)
    eager, eager_grads = _outcome(static.captured_as(), args, kwargs, variant.captured.lifted)
    compiled, compiled_grads = _outcome(static, args, kwargs, variant.captured.lifted)
    pairs = [(f"output {n}", *pair) for n, pair in enumerate(zip(eager, compiled, strict=True))]
    pairs += [(f"gradient {n}", *pair) for n, pair in enumerate(zip(eager_grads, compiled_grads, strict=True))]
    for what, x, y in pairs:
        if not _same(x, y):
            inputs = variant.arrays(static.leaves(*args, **kwargs))
            where = first_difference(variant.graph.program, inputs)
            raise MismatchError("D2S2001", f"{what} of '{static.__name__}' is {x!r} eagerly and {y!r} static; {where}")
    return Report(len(eager), sum(g is not None for g in eager_grads))


def _outcome(function: Callable[..., Any], args: Any, kwargs: Any, watched: Sequence[Tensor]) -> tuple[list[Any], list[Any]]:
    """The leaves of the result, and the gradients that arguments and watched tensors get from all of them."""
    leaves, skeleton = flatten((args, kwargs))
    copies = {id(t): Tensor(t.numpy(), t.stop_gradient) for t in leaves if isinstance(t, Tensor)}
    args, kwargs = rebuild(skeleton, [copies.get(id(leaf), leaf) for leaf in leaves])
    before = [t.grad for t in watched]
    for t in watched:
        t.grad = None
    try:
        found, _ = flatten(function(*args, **kwargs))
        for result in found:
            if isinstance(result, Tensor) and not result.stop_gradient:
                result.backward(retain_graph=True)
        return found, [t.grad for t in (*copies.values(), *watched)]
    finally:
        for t, grad in zip(watched, before, strict=True):
            t.grad = grad


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return same_bits(x.array, y.array)
    if type(x) is int and type(y) is int:
        return x == y  # one of many digits has no text
    return type(x) is type(y) and (x is y or repr(x) == repr(y))


def first_difference(program: Program, arrays: Sequence[np.ndarray]) -> str:
    """The first node the executor and the interpreter disagree on, with its line and both values."""
    seen: list[tuple[Node, Any]] = []
    interpreter.run(program, arrays, lambda node, results: seen.extend((node, r) for r in results))
    values = [v for node in program.nodes for v in node.outputs]
    compiled = Call(Program(program.name, program.inputs, program.nodes, tuple(values)), passes.lower)(arrays)
    for (node, interpreted), value, y in zip(seen, values, compiled, strict=True):
        if value.type is not STACK and not same_bits(np.asarray(interpreted), y):
            return f"first in {node.op} at {node.where or '?'}: {interpreted!r} node by node, {y!r} compiled"
    return "the graph itself gives the same node by node and compiled: the capture differs from eager code"
