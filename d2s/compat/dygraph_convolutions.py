"""Convolutions of `fluid.dygraph`: of images and volumes, and those that spread.

In: sizes, under the names of then; until 1.6 the name of a scope in front, and the channels those of the first input. Out:
layers of d2s.

>>> Conv2D(1, 2, 3)(d2s.ones([1, 1, 5, 5])).shape, Conv3D("scope", 2, 3)(d2s.ones([1, 1, 4, 4, 4])).shape
([1, 2, 3, 3], [1, 2, 2, 2, 2])
>>> Conv2DTranspose(1, 2, 3, stride=2)(d2s.ones([1, 1, 4, 4])).shape
[1, 2, 9, 9]
"""

import math
from typing import Any

from d2s.compat.layers import Scoped
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.nn.initializer import Normal
from d2s.static.layers import known


class _Convolution(Scoped):
    """What these share: a weight, a bias, an activation, a place."""

    axes = 2
    sizes = ("num_channels",)

    def told(self, given: dict[str, Any], input: Any) -> dict[str, Any]:
        return given | {"num_channels": known(type(self).__name__, input.shape[1:2])}

    def _window(self, size: Any) -> list[int]:
        return list(size) if isinstance(size, list | tuple) else [size] * self.axes

    def _learn(self, shape: list[int], filters: int, attrs: tuple[Any, Any], first: Any, act: str | None) -> None:
        self._act = act
        self.weight = self.create_parameter(shape, attrs[0], default_initializer=first)
        self.bias = self.create_parameter([filters], attrs[1], is_bias=True)

    @property
    def _filter_param(self) -> Any:
        return self.weight

    @property
    def _bias_param(self) -> Any:
        return self.bias


class Conv2D(_Convolution):
    """A convolution.

    >>> Conv2D("scope", num_filters=2, filter_size=3, act="relu")(d2s.ones([1, 1, 5, 5])).shape
    [1, 2, 3, 3]
    """

    until_1_6 = "num_filters filter_size stride padding dilation groups param_attr bias_attr use_cudnn act dtype"
    _compute: Any = staticmethod(functional.conv2d)

    def _set(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        use_cudnn: bool = True,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        window, self._place = self._window(filter_size), (stride, padding, dilation, groups or 1)
        first = Normal(0.0, (2.0 / (math.prod(window) * num_channels)) ** 0.5)
        shape = [num_filters, num_channels // (groups or 1), *window]
        self._learn(shape, num_filters, (param_attr, bias_attr), first, act)

    def forward(self, input: Any) -> Any:
        return activated(self._compute(input, self.weight, self.bias, *self._place), self._act)


class Conv3D(Conv2D):
    """A convolution of volumes."""

    axes = 3
    _compute: Any = staticmethod(functional.conv3d)


class Conv2DTranspose(_Convolution):
    """A convolution that spreads: its output is larger.

    >>> Conv2DTranspose("scope", 2, filter_size=3)(d2s.ones([1, 3, 4, 4])).shape
    [1, 2, 6, 6]
    """

    until_1_6 = "num_filters output_size filter_size padding stride dilation groups param_attr bias_attr use_cudnn act"
    _compute: Any = staticmethod(functional.conv2d_transpose)

    def _set(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: Any,
        output_size: Any = None,
        padding: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        groups: int | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        use_cudnn: bool = True,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        self._place = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups or 1}
        self._output_size = None if output_size is None else self._window(output_size)
        shape = [num_channels, num_filters // (groups or 1), *self._window(filter_size)]
        self._learn(shape, num_filters, (param_attr, bias_attr), None, act)

    def forward(self, input: Any) -> Any:
        found = self._compute(input, self.weight, self.bias, output_size=self._output_size, **self._place)
        return activated(found, self._act)


class Conv3DTranspose(Conv2DTranspose):
    """A convolution of volumes that spreads."""

    axes = 3
    since_1_7 = "num_channels num_filters filter_size padding stride dilation groups param_attr bias_attr use_cudnn act dtype"
    _compute: Any = staticmethod(functional.conv3d_transpose)
