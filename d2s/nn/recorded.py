"""Layers walked in a captured function: `parameters()`, `sublayers()` and their kin give what they give at capture.

In: a layer. Out: lists of what its walks find; that the layers still hold these is part of what the capture depends on.

>>> net = d2s.nn.Linear(2, 1)
>>> penalty = d2s.to_static(lambda: sum((p * p).sum() for p in net.parameters()))
>>> penalty().shape
[]
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.symbolic import Tracer
from d2s.capture.training import training
from d2s.convert.calls import RECORDED
from d2s.convert.loads import guard_attribute
from d2s.nn.layer import Layer

_KINDS = ("_parameters", "_sub_layers", "_buffers")


def _walk(walk: Callable[..., Any]) -> Callable[..., Any]:
    def walked(tracer: Tracer, layer: Layer, *args: Any, **kwargs: Any) -> Any:
        for inside in layer.sublayers(include_self=True):
            for kind in _KINDS:
                guard_attribute(tracer, inside, kind)
        return list(walk(layer, *args, **kwargs))

    return walked


def clear_gradients(tracer: Tracer, layer: Layer, set_to_zero: bool = True) -> None:
    """`layer.clear_gradients()`."""
    training("clear_gradients()")
    for parameter in _walk(Layer.parameters)(tracer, layer):
        if parameter.trainable:
            tracer.lift(parameter).clear_gradient(set_to_zero)


_WALKS: tuple[Callable[..., Any], ...] = (
    *(Layer.parameters, Layer.named_parameters, Layer.buffers, Layer.named_buffers),
    *(Layer.sublayers, Layer.named_sublayers, Layer.children, Layer.named_children),
)
RECORDED.update({walk: _walk(walk) for walk in _WALKS})
RECORDED[Layer.clear_gradients] = clear_gradients
