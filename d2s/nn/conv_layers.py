"""Convolutions as layers: filters that a model learns.

>>> Conv2D(3, 8, 3, padding=1)(d2s.zeros([2, 3, 5, 6])).shape, Conv1DTranspose(3, 8, 2, stride=2)(d2s.zeros([2, 3, 5])).shape
([2, 8, 5, 6], [2, 8, 10])
"""

import math
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, brief
from d2s.nn.conv import conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d, conv3d_transpose
from d2s.nn.initializer import Initializer, Normal
from d2s.nn.layer import Layer
from d2s.ops import windows
from d2s.ops.pad import pad
from d2s.ops.shapes import whole_number

MODES = ("zeros", "reflect", "replicate", "circular")


class _Filters(Layer):
    """What all convolutions have: checked numbers, a weight, a bias."""

    axes: int
    function: Any

    def _set(self, channels: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: Any, layout: Any) -> None:
        name, rank = type(self).__name__, self.axes
        self._in_channels, self._out_channels = (whole_number(n, name, "channels") for n in channels)
        if min(self._in_channels, self._out_channels) < 0:
            raise ArgumentError("D2S0004", f"{name}(): {brief(list(channels))} channels, expected none below 0")
        self._kernel_size = windows.each(kernel, rank, name, "kernel_size", 1)
        self._stride = windows.each(stride, rank, name, "stride", 1)
        self._dilation = windows.each(dilation, rank, name, "dilation", 1)
        self._channels_last = windows.layout(layout, rank, name)
        self._padding = windows.written(padding, rank, self._channels_last, name)
        self._shown_padding, self._groups, self._data_format = padding, whole_number(groups, name, "groups"), layout
        if self._groups < 1 or self._in_channels % self._groups or self._out_channels % self._groups:
            message = f"{name}(): {self._in_channels} and {self._out_channels} channels in {self._groups} groups"
            raise ArgumentError("D2S0004", f"{message}: expected groups that divide both")

    def _learn(self, shape: list[int], weight_attr: Any, bias_attr: Any, first: Initializer | None) -> None:
        self.weight = self.create_parameter([*shape, *self._kernel_size], weight_attr, default_initializer=first)
        self.bias = self.create_parameter([self._out_channels], bias_attr, is_bias=True)

    def _numbers(self) -> dict[str, Any]:
        """The attributes that are not as usual, as they are shown."""
        ones = (1,) * self.axes
        found: dict[str, Any] = {"kernel_size": list(self._kernel_size)}
        found |= {"stride": list(self._stride)} if self._stride != ones else {}
        return found | ({"padding": self._shown_padding} if self._shown_padding != 0 else {})

    def _shown(self, numbers: dict[str, Any]) -> str:
        if self._dilation != (1,) * self.axes:
            numbers["dilation"] = list(self._dilation)
        if self._groups != 1:
            numbers["groups"] = self._groups
        listed = [f"{name}={value}" for name, value in (numbers | {"data_format": self._data_format}).items()]
        return ", ".join([str(self._in_channels), str(self._out_channels), *listed])


class _Conv(_Filters):
    """A convolution; by its `padding_mode` what lies around x is 0 or values of its own."""

    layout: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
    ) -> None:
        super().__init__()
        self._set((in_channels, out_channels), kernel_size, stride, padding, dilation, groups, data_format or self.layout)
        expect(type(self).__name__, "padding_mode", padding_mode, str, "a str")
        if padding_mode not in MODES or (padding_mode != "zeros" and isinstance(padding, str)):
            wanted = f"one of {', '.join(map(repr, MODES))}, and not 'zeros' with a padding in numbers only"
            raise ArgumentError(
                "D2S0004", f"{type(self).__name__}(): 'padding_mode' is {brief(padding_mode)}, expected {wanted}"
            )
        self._padding_mode = padding_mode
        fan = self._in_channels * math.prod(self._kernel_size)
        first = Normal(0.0, math.sqrt(2 / fan)) if fan else None
        self._learn([self._out_channels, self._in_channels // self._groups], weight_attr, bias_attr, first)

    def forward(self, x: Any) -> Any:
        attrs = {"stride": self._stride, "dilation": self._dilation, "groups": self._groups, "data_format": self._data_format}
        padding = self._padding
        if self._padding_mode != "zeros":
            x, padding = self._surrounded(x), 0
        return self.function(x, self.weight, self.bias, padding=padding, **attrs)

    def _surrounded(self, x: Any) -> Any:
        pairs = windows.paddings(self._padding, self.axes, type(self).__name__)
        behind_first = [n for a in reversed(range(self.axes)) for n in pairs[2 * a : 2 * a + 2]]
        return pad(x, behind_first, self._padding_mode, data_format=self._data_format)

    def extra_repr(self) -> str:
        mode = {"padding_mode": self._padding_mode} if self._padding_mode != "zeros" else {}
        return self._shown(self._numbers() | mode)


class Conv1D(_Conv):
    """Filters over [batch, channels, length]: see `nn.functional.conv1d`.

    >>> Conv1D(4, 6, 3, groups=2)
    Conv1D(4, 6, kernel_size=[3], groups=2, data_format=NCL)
    """

    axes, layout, function = 1, "NCL", staticmethod(conv1d)


class Conv2D(_Conv):
    """Filters over [batch, channels, height, width]: see `nn.functional.conv2d`. A normal weight at first, its bias zero.

    >>> Conv2D(3, 4, [3, 5], stride=2, padding=1, padding_mode="reflect")
    Conv2D(3, 4, kernel_size=[3, 5], stride=[2, 2], padding=1, padding_mode=reflect, data_format=NCHW)
    """

    axes, layout, function = 2, "NCHW", staticmethod(conv2d)


class Conv3D(_Conv):
    """Filters over [batch, channels, depth, height, width]: see `nn.functional.conv3d`.

    >>> Conv3D(1, 2, 3)
    Conv3D(1, 2, kernel_size=[3, 3, 3], data_format=NCDHW)
    """

    axes, layout, function = 3, "NCDHW", staticmethod(conv3d)


class _Transpose(_Filters):
    """The transpose of a convolution."""

    layout: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
    ) -> None:
        super().__init__()
        self._set((in_channels, out_channels), kernel_size, stride, padding, dilation, groups, data_format or self.layout)
        self._output_padding = output_padding
        self._learn([self._in_channels, self._out_channels // self._groups], weight_attr, bias_attr, None)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        more = self._output_padding if output_size is None else 0
        return self.function(
            x,
            self.weight,
            self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=more,
            groups=self._groups,
            dilation=self._dilation,
            output_size=output_size,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        more = {"output_padding": self._output_padding} if self._output_padding != 0 else {}
        return self._shown(self._numbers() | more)


class Conv1DTranspose(_Transpose):
    """The transpose of `Conv1D`: see `nn.functional.conv1d_transpose`.

    >>> Conv1DTranspose(2, 1, 3, stride=2)
    Conv1DTranspose(2, 1, kernel_size=[3], stride=[2], data_format=NCL)
    """

    axes, layout, function = 1, "NCL", staticmethod(conv1d_transpose)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,  # before `dilation`, which is the other way round in two and three axes
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        numbers = (in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups)
        super().__init__(*numbers, weight_attr, bias_attr, data_format)


class Conv2DTranspose(_Transpose):
    """The transpose of `Conv2D`: see `nn.functional.conv2d_transpose`.

    >>> Conv2DTranspose(3, 4, 3, stride=2, output_padding=1)
    Conv2DTranspose(3, 4, kernel_size=[3, 3], stride=[2, 2], output_padding=1, data_format=NCHW)
    """

    axes, layout, function = 2, "NCHW", staticmethod(conv2d_transpose)


class Conv3DTranspose(_Transpose):
    """The transpose of `Conv3D`: see `nn.functional.conv3d_transpose`.

    >>> Conv3DTranspose(3, 4, 3)
    Conv3DTranspose(3, 4, kernel_size=[3, 3, 3], data_format=NCDHW)
    """

    axes, layout, function = 3, "NCDHW", staticmethod(conv3d_transpose)
