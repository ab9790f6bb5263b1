"""Layers that change no values: the identity, and fewer axes.

>>> Flatten()(d2s.to_tensor([[[1.0], [2.0]]])).tolist()
[[1.0, 2.0]]
"""

from typing import Any

from d2s.nn.layer import Layer
from d2s.ops.shape import flatten


class Identity(Layer):
    """Returns what it is given; takes any arguments, so that it can stand for any layer.

    >>> x = d2s.to_tensor([1.0])
    >>> d2s.nn.Identity(3, activation="none")(x) is x
    True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Flatten(Layer):
    """Makes one axis of the axes from `start_axis` to `stop_axis`.

    >>> d2s.nn.Flatten()
    Flatten()
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        return flatten(input, self.start_axis, self.stop_axis)
