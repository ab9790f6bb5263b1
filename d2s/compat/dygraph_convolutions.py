"""Other convolutions of `fluid.dygraph` than `Conv2D`: of volumes, and those that spread.

In: sizes, under the names of then. Out: layers of d2s.

>>> Conv2DTranspose(1, 2, 3, stride=2)(d2s.ones([1, 1, 4, 4])).shape, Conv3D(1, 2, 3)(d2s.ones([1, 1, 4, 4, 4])).shape
([1, 2, 9, 9], [1, 2, 2, 2, 2])
"""

import math
from typing import Any

from d2s.compat.layers import Layer
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.nn.initializer import Normal


def _window(size: Any, axes: int) -> list[int]:
    return list(size) if isinstance(size, list | tuple) else [size] * axes


class _Convolution(Layer):
    """What these share: a weight, a bias, an activation."""

    def _learn(self, shape: list[int], filters: int, attrs: tuple[Any, Any], first: Any, act: str | None) -> None:
        self._act = act
        self.weight = self.create_parameter(shape, attrs[0], default_initializer=first)
        self.bias = self.create_parameter([filters], attrs[1], is_bias=True)


class Conv3D(_Convolution):
    """A convolution of volumes."""

    def __init__(
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
        super().__init__("conv3d", dtype)
        window = _window(filter_size, 3)
        self._place = stride, padding, dilation, groups or 1
        first = Normal(0.0, (2.0 / (math.prod(window) * num_channels)) ** 0.5)
        shape = [num_filters, num_channels // (groups or 1), *window]
        self._learn(shape, num_filters, (param_attr, bias_attr), first, act)

    def forward(self, input: Any) -> Any:
        return activated(functional.conv3d(input, self.weight, self.bias, *self._place), self._act)


class Conv2DTranspose(_Convolution):
    """A convolution that spreads: its output is larger."""

    def __init__(
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
        super().__init__("conv2d_transpose", dtype)
        self._place = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups or 1}
        self._output_size = None if output_size is None else _window(output_size, 2)
        shape = [num_channels, num_filters // (groups or 1), *_window(filter_size, 2)]
        self._learn(shape, num_filters, (param_attr, bias_attr), None, act)

    def forward(self, input: Any) -> Any:
        found = functional.conv2d_transpose(input, self.weight, self.bias, output_size=self._output_size, **self._place)
        return activated(found, self._act)


class Conv3DTranspose(_Convolution):
    """A convolution of volumes that spreads."""

    def __init__(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: Any,
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
        super().__init__("conv3d_transpose", dtype)
        self._place = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups or 1}
        shape = [num_channels, num_filters // (groups or 1), *_window(filter_size, 3)]
        self._learn(shape, num_filters, (param_attr, bias_attr), None, act)

    def forward(self, input: Any) -> Any:
        return activated(functional.conv3d_transpose(input, self.weight, self.bias, **self._place), self._act)
