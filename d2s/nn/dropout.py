"""Dropout: what a model sees of its own values while it is trained is thinned out at random.

>>> layer = Dropout(0.5)
>>> x = d2s.to_tensor([1.0] * 8)
>>> set(layer(x).tolist()) <= {0.0, 2.0}, layer.eval()(x) is x
(True, True)
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.arguments import number, one_of
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.nn.layer import Layer
from d2s.ops.compare import where
from d2s.ops.create import full
from d2s.ops.dropout import dropped
from d2s.ops.shapes import tensor_type

MODES = ("upscale_in_train", "downscale_in_infer")
_FORMATS = {"NCHW": (4, (0, 1)), "NHWC": (4, (0, 3)), "NCDHW": (5, (0, 1)), "NDHWC": (5, (0, 4))}  # rank, axes of channels
_DROPPED = -1.7580993408473766  # what SELU tends to far below 0: -alpha * scale


def dropout(
    x: Any,
    p: float = 0.5,
    axis: int | Sequence[int] | None = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """0 with the likelihood p, where `training`; the rest is scaled so that the mean stays.

    With `axis`, whole slices are dropped: all that has the same indices along these axes. By mode, what is left is scaled up
    by 1 / (1 - p) in training ("upscale_in_train"), or everything is scaled by 1 - p otherwise ("downscale_in_infer").

    >>> d2s.nn.functional.dropout(d2s.to_tensor([1.0, 2.0]), p=0.0).tolist()
    [1.0, 2.0]
    """
    p = _likelihood("dropout", p)
    one_of("dropout", "mode", mode, MODES)
    up = mode == "upscale_in_train"
    if p == 0:
        return x
    axes = None if axis is None else _axes(x, axis)
    if not training:
        return x if up else x * (1 - p)
    factor = 1 / (1 - p) if up and p < 1 else 1.0
    return dropped(x, p, factor) if axes is None else _by_slices(x, p, axes, factor)


def _by_slices(x: Any, p: float, axes: tuple[int, ...], factor: float) -> Any:
    return where(_kept([n if k in axes else 1 for k, n in enumerate(x.shape)], x, p), x * factor, 0.0)


def _kept(shape: list[int], x: Any, p: float) -> Any:
    """True with the likelihood 1 - p, in a shape of its own."""
    return dropped(full([1], 1.0, x.dtype).expand(shape), p, 1.0) > 0


def _axes(x: Any, axis: Any) -> tuple[int, ...]:
    listed = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    for a in listed:
        if not isinstance(a, int) or isinstance(a, bool) or not 0 <= a < x.ndim:
            raise ArgumentError("D2S0004", f"dropout(): axis {brief(a)} is not one of the {x.ndim} axes of 'x', 0 and more")
    return listed


def _likelihood(function: str, p: Any) -> float:
    if not 0 <= number(function, "p", p) <= 1:
        raise ArgumentError("D2S0004", f"{function}(): 'p' is {brief(p)}, expected a number from 0 to 1")
    return float(p)


def _channels(function: str, x: Any, data_format: str, rank: int) -> tuple[int, ...]:
    """The axes along which whole channels differ."""
    known = [name for name, (axes, _) in _FORMATS.items() if axes == rank]
    if not isinstance(data_format, str) or data_format not in known:
        raise ArgumentError("D2S0004", f"{function}(): 'data_format' is {brief(data_format)}, expected {' or '.join(known)}")
    have = len(tensor_type(x, function, "x").shape)
    if have != rank:
        raise ShapeError("D2S0002", f"{function}(): 'x' has {have} axes, {data_format} has {rank}")
    return _FORMATS[data_format][1]


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Drops whole channels of pictures.

    >>> y = d2s.nn.functional.dropout2d(d2s.to_tensor([[[[1.0, 1.0]], [[1.0, 1.0]]]]))
    >>> all(channel in ([[0.0, 0.0]], [[2.0, 2.0]]) for channel in y.tolist()[0])
    True
    """
    return dropout(x, p, _channels("dropout2d", x, data_format, 4), training)


def dropout3d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """Drops whole channels of volumes.

    >>> d2s.nn.functional.dropout3d(d2s.to_tensor([[[[[1.0]]]]]), training=False).tolist()
    [[[[[1.0]]]]]
    """
    return dropout(x, p, _channels("dropout3d", x, data_format, 5), training)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Drops to what SELU tends to far below 0, and scales so that mean and variance stay.

    >>> d2s.nn.functional.alpha_dropout(d2s.to_tensor([1.0, 2.0]), p=0.0).tolist()
    [1.0, 2.0]
    """
    p = _likelihood("alpha_dropout", p)
    tensor_type(x, "alpha_dropout", "x")
    if not training or p == 0:
        return x
    if p == 1:
        return dropped(x, 1.0, 1.0)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _DROPPED**2))
    return where(_kept(x.shape, x, p), x, _DROPPED) * scale - scale * p * _DROPPED


class Dropout(Layer):
    """`functional.dropout` while the layer is trained.

    >>> d2s.nn.Dropout(0.3)
    Dropout(p=0.3, axis=None, mode=upscale_in_train)
    """

    def __init__(
        self,
        p: float = 0.5,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p, self.axis, self.mode, self.name = p, axis, mode, name

    def forward(self, input: Any) -> Any:
        return dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self) -> str:
        return f"p={self.p}, axis={self.axis}, mode={self.mode}" + _named(self.name)


class _OfChannels(Layer):
    """What Dropout2D and Dropout3D share."""

    def __init__(self, p: float, data_format: str, name: str | None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def extra_repr(self) -> str:
        return f"p={self.p}, data_format={self.data_format}" + _named(self.name)


class Dropout2D(_OfChannels):
    """`functional.dropout2d` while the layer is trained.

    >>> d2s.nn.Dropout2D()
    Dropout2D(p=0.5, data_format=NCHW)
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)

    def forward(self, input: Any) -> Any:
        return dropout2d(input, self.p, self.training, self.data_format)


class Dropout3D(_OfChannels):
    """`functional.dropout3d` while the layer is trained.

    >>> d2s.nn.Dropout3D()
    Dropout3D(p=0.5, data_format=NCDHW)
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)

    def forward(self, input: Any) -> Any:
        return dropout3d(input, self.p, self.training, self.data_format)


class AlphaDropout(Layer):
    """`functional.alpha_dropout` while the layer is trained.

    >>> d2s.nn.AlphaDropout()
    AlphaDropout(p=0.5)
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Any) -> Any:
        return alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}" + _named(self.name)


def _named(name: str | None) -> str:
    return f", name={name}" if name else ""
