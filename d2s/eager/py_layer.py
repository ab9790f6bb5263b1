"""Functions with a gradient of their own.

In: a class with `forward` and `backward`. Out: results that know this class's backward.

>>> class Halved(PyLayer):
...     @staticmethod
...     def forward(ctx, x):
...         return x * 1.0
...     @staticmethod
...     def backward(ctx, g):
...         return g * 0.5
>>> x = d2s.to_tensor([1.0], stop_gradient=False)
>>> grad = d2s.grad(Halved.apply(x), x)[0].tolist()
>>> grad
[0.5]
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.autodiff import tape, writes
from d2s.autodiff.mode import no_grad, recording
from d2s.eager.handler import again, refuse_changed
from d2s.eager.history import check_gradient
from d2s.eager.tensor import Tensor
from d2s.errors import GradientError
from d2s.runtime import launch, user_lines


class Context:
    """What a PyLayer's forward leaves to its backward."""

    def __init__(self, layer: str) -> None:
        self._saved: list[tuple[Any, Any]] = []  # edges and arrays: a tensor may come to depend on the layer, in place
        self._order, self._layer, self._line = 0, layer, ""
        self._apart: set[int] = set()  # ids of what forward says of its results
        self._constant: set[int] = set()
        self._materialized = True

    def save_for_backward(self, *tensors: Any) -> None:
        self._saved = [(tape.edge(t), t.array) if isinstance(t, Tensor) else (t, None) for t in tensors]
        self._order, self._line = writes.now(), user_lines.spelled(*user_lines.here())

    def saved_tensor(self) -> tuple[Any, ...]:
        """What was saved: tensors that must not have been changed in place since."""
        for _, array in self._saved:
            if array is not None and writes.after(self._order):
                refuse_changed(array, self._order, self._layer, lambda: self._line)
        return tuple(edge if array is None else again(edge, array) for edge, array in self._saved)

    def mark_not_inplace(self, *tensors: Any) -> None:
        """Results that forward returns as it was given them get memory of their own."""
        self._apart.update(map(id, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Results no gradient comes of; backward is given zeros for them."""
        self._constant.update(map(id, tensors))

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward is given zeros, not None, for a result that nothing was made of."""
        expect("set_materialize_grads", "value", value, bool, "a bool")
        self._materialized = value

    def result(self, y: Tensor, node: tape.TapeNode, position: int) -> Tensor:
        """What forward computed, as a result of the node."""
        array = y.array.copy() if id(y) in self._apart else y.array
        return Tensor(array) if id(y) in self._constant else Tensor(array, False, tape.result(node, position))

    def gradient(self, y: Tensor, given: Tensor | None) -> Tensor | None:
        """What backward is told of a result."""
        return Tensor(np.zeros_like(y.array)) if given is None and self._materialized else given


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
    def backward(ctx: Context, *grads: Any) -> Any:
        raise NotImplementedError("a PyLayer defines backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward; the results know this class's backward."""
        ctx = Context(cls.__name__)
        with no_grad():
            outcome = cls.forward(ctx, *args, **kwargs)
        inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if not recording() or all(x.stop_gradient for x in inputs):
            return outcome
        results = outcome if isinstance(outcome, tuple) else (outcome,)
        node = _PyLayerNode(cls, ctx, inputs, results)
        tensors = tuple(ctx.result(y, node, n) if isinstance(y, Tensor) else y for n, y in enumerate(results))
        return tensors if isinstance(outcome, tuple) else tensors[0]


class _PyLayerNode(tape.TapeNode):
    __slots__ = ("context", "given", "layer", "results")

    def __init__(self, layer: type[PyLayer], context: Context, inputs: Sequence[Tensor], results: Sequence[Any]) -> None:
        super().__init__(map(tape.edge, inputs))
        self.layer, self.context, self.results = layer, context, results
        self.given = [launch.type_of(x.array) for x in inputs]

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        tensors = [(n, y) for n, y in enumerate(self.results) if isinstance(y, Tensor)]
        shown = [(y, totals.show(cotangents[n]) if n in cotangents else None) for n, y in tensors]
        gs = [self.context.gradient(y, g) for y, g in shown]
        found = self.layer.backward(self.context, *gs)
        grads = found if isinstance(found, tuple) else (found,)
        if len(grads) != len(self.edges):
            message = f"{self.layer.__name__}.backward() gives {len(grads)} gradients for {len(self.edges)} tensors"
            raise GradientError("D2S0006", message)
        for edge, want, g in zip(self.edges, self.given, grads, strict=True):
            if g is not None and edge is not None:
                check_gradient(g, want, f"{self.layer.__name__}.backward() gives")
                totals.add(edge, totals.show(g))

    def release(self) -> None:
        super().release()
        self.context, self.results = Context(""), ()
