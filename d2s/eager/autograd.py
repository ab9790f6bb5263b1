"""Gradients asked for by name, gradients of gradients, and functions with a gradient of their own.

In: results and the tensors they depend on. Out: gradients as tensors; `grad` of leaves stays as it is.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> (first,) = grad(x * x * x, x, create_graph=True)
>>> (second,) = grad(first, x)
>>> first.numpy().tolist(), second.numpy().tolist()
([27.0], [18.0])
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.autodiff import tape
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, GradientError


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> list[Tensor | None]:
    """The gradients of `outputs`, weighted by `grad_outputs` (ones), with respect to each of `inputs`."""
    results, wanted = _listed(outputs, "outputs"), _listed(inputs, "inputs")
    weights = [None] * len(results) if grad_outputs is None else _listed(grad_outputs, "grad_outputs", optional=True)
    if len(weights) != len(results):
        raise ArgumentError("D2S0004", f"grad(): {len(results)} 'outputs', but {len(weights)} 'grad_outputs'")
    roots = [(y, _cotangent(y, w)) for y, w in zip(results, weights, strict=True) if not y.stop_gradient]
    found: dict[int, Tensor] = {}

    def watch(node: tape.TapeNode, cotangents: dict[int, Tensor]) -> None:
        found.update({n: cotangents[t.position] for n, t in enumerate(wanted) if t.node is node and t.position in cotangents})

    keep = create_graph if retain_graph is None else retain_graph
    totals = tape.sweep(roots, keep or create_graph, create_graph, watch)
    found |= {n: totals.get(t) for n, t in enumerate(wanted) if t.node is None and totals.get(t) is not None}
    if len(found) < len(wanted) and not allow_unused:
        missing = [n for n in range(len(wanted)) if n not in found]
        message = f"grad(): 'outputs' do not depend on 'inputs' number {', '.join(map(str, missing))}"
        raise GradientError("D2S0006", message, hint="allow_unused=True gives None for them")
    return [found.get(n) for n in range(len(wanted))]


def _listed(value: Any, name: str, optional: bool = False) -> list[Any]:
    listed = list(value) if isinstance(value, list | tuple) else [value]
    for item in listed:
        if not isinstance(item, Tensor) and not (optional and item is None):
            raise DTypeError("D2S0001", f"grad(): '{name}' expects tensors, got {type(item).__name__}")
    return listed


def _cotangent(y: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return Tensor(np.ones_like(y.array))
    if weight.array.shape != y.array.shape or weight.dtype is not y.dtype:
        message = f"grad(): one of 'grad_outputs' is {weight.dtype.name}{weight.shape}, its output {y.dtype.name}{y.shape}"
        raise ArgumentError("D2S0002", message)
    return weight


class Context:
    """What a PyLayer's forward leaves to its backward."""

    def __init__(self) -> None:
        self._saved: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor) -> None:
        self._saved = tensors

    def saved_tensor(self) -> tuple[Tensor, ...]:
        return self._saved


class PyLayer:
    """A function with a gradient of its own: subclasses define `forward(ctx, ...)` and `backward(ctx, *grads)`.

    >>> class Clipped(PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * 2.0
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 0.5
    >>> x = d2s.to_tensor([1.0], stop_gradient=False)
    >>> Clipped.apply(x).backward()
    >>> x.grad.numpy().tolist()
    [0.5]
    """

    @staticmethod
    def forward(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a PyLayer defines forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Context, *grads: Tensor) -> Any:
        raise NotImplementedError("a PyLayer defines backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward; the results know this class's backward."""
        ctx = Context()
        with tape.no_grad():
            outcome = cls.forward(ctx, *args, **kwargs)
        inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if not tape.recording() or all(x.stop_gradient for x in inputs):
            return outcome
        results = outcome if isinstance(outcome, tuple) else (outcome,)
        node = _PyLayerNode(cls, ctx, inputs, results)
        tensors = tuple(Tensor(y.array, False, node, n) if isinstance(y, Tensor) else y for n, y in enumerate(results))
        return tensors if isinstance(outcome, tuple) else tensors[0]


class _PyLayerNode(tape.TapeNode):
    __slots__ = ("context", "layer", "results")

    def __init__(self, layer: type[PyLayer], context: Context, inputs: Sequence[Tensor], results: Sequence[Any]) -> None:
        super().__init__(inputs)
        self.layer, self.context, self.results = layer, context, results

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        tensors = [(n, y) for n, y in enumerate(self.results) if isinstance(y, Tensor)]
        gs = [cotangents[n] if n in cotangents else Tensor(np.zeros_like(y.array)) for n, y in tensors]
        found = self.layer.backward(self.context, *gs)
        grads = found if isinstance(found, tuple) else (found,)
        if len(grads) != len(self.inputs):
            message = f"{self.layer.__name__}.backward() gives {len(grads)} gradients for {len(self.inputs)} tensors"
            raise GradientError("D2S0006", message)
        for x, g in zip(self.inputs, grads, strict=True):
            if g is not None and not x.stop_gradient:
                totals.add(x, g)
