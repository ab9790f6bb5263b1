"""Pools as layers.

>>> MaxPool2D(2)(d2s.ones([1, 2, 4, 6])).shape, AdaptiveAvgPool1D(3)(d2s.ones([1, 2, 7])).shape
([1, 2, 2, 3], [1, 2, 3])
"""

from typing import Any

from d2s.nn.layer import Layer
from d2s.nn.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)


class _Pool(Layer):
    """A pool of windows."""

    function: Any

    def __init__(self, kernel_size: Any, stride: Any, padding: Any, **attrs: Any) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding, self._attrs = kernel_size, stride, padding, attrs

    def forward(self, x: Any) -> Any:
        return self.function(x, self.ksize, self.stride, self.padding, **self._attrs)

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class _Adaptive(Layer):
    """A pool of so many parts."""

    function: Any

    def __init__(self, output_size: Any, **attrs: Any) -> None:
        super().__init__()
        self._output_size, self._attrs = output_size, attrs

    def forward(self, x: Any) -> Any:
        return self.function(x, self._output_size, **self._attrs)

    def extra_repr(self) -> str:
        masked = f", return_mask={self._attrs['return_mask']}" if "return_mask" in self._attrs else ""
        return f"output_size={self._output_size}{masked}"


class MaxPool1D(_Pool):
    """The greatest of every window: see `nn.functional.max_pool1d`.

    >>> MaxPool1D(2)
    MaxPool1D(kernel_size=2, stride=None, padding=0)
    """

    function = staticmethod(max_pool1d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask=return_mask, ceil_mode=ceil_mode)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class MaxPool2D(_Pool):
    """The greatest of every window: see `nn.functional.max_pool2d`.

    >>> MaxPool2D(2)
    MaxPool2D(kernel_size=2, stride=None, padding=0)
    """

    function = staticmethod(max_pool2d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask=return_mask, ceil_mode=ceil_mode, data_format=data_format)


class MaxPool3D(_Pool):
    """The greatest of every window: see `nn.functional.max_pool3d`.

    >>> MaxPool3D(2)
    MaxPool3D(kernel_size=2, stride=None, padding=0)
    """

    function = staticmethod(max_pool3d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, return_mask=return_mask, ceil_mode=ceil_mode, data_format=data_format)


class AvgPool1D(_Pool):
    """The mean of every window: see `nn.functional.avg_pool1d`.

    >>> AvgPool1D(2, stride=1)
    AvgPool1D(kernel_size=2, stride=1, padding=0)
    """

    function = staticmethod(avg_pool1d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, exclusive=exclusive, ceil_mode=ceil_mode)


class AvgPool2D(_Pool):
    """The mean of every window: see `nn.functional.avg_pool2d`.

    >>> AvgPool2D(2, stride=1)
    AvgPool2D(kernel_size=2, stride=1, padding=0)
    """

    function = staticmethod(avg_pool2d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        attrs = {"ceil_mode": ceil_mode, "exclusive": exclusive, "divisor_override": divisor_override}
        super().__init__(kernel_size, stride, padding, **attrs, data_format=data_format)


class AvgPool3D(_Pool):
    """The mean of every window: see `nn.functional.avg_pool3d`.

    >>> AvgPool3D(2, stride=1)
    AvgPool3D(kernel_size=2, stride=1, padding=0)
    """

    function = staticmethod(avg_pool3d)

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        attrs = {"ceil_mode": ceil_mode, "exclusive": exclusive, "divisor_override": divisor_override}
        super().__init__(kernel_size, stride, padding, **attrs, data_format=data_format)


class AdaptiveAvgPool1D(_Adaptive):
    """The means of so many parts of each axis: see `nn.functional.adaptive_avg_pool1d`.

    >>> AdaptiveAvgPool1D(3)
    AdaptiveAvgPool1D(output_size=3)
    """

    function = staticmethod(adaptive_avg_pool1d)

    def __init__(self, output_size: Any, name: str | None = None) -> None:
        super().__init__(output_size)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class AdaptiveAvgPool2D(_Adaptive):
    """The means of so many parts of each axis: see `nn.functional.adaptive_avg_pool2d`.

    >>> AdaptiveAvgPool2D(3)
    AdaptiveAvgPool2D(output_size=3)
    """

    function = staticmethod(adaptive_avg_pool2d)

    def __init__(self, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(output_size, data_format=data_format)


class AdaptiveAvgPool3D(_Adaptive):
    """The means of so many parts of each axis: see `nn.functional.adaptive_avg_pool3d`.

    >>> AdaptiveAvgPool3D(3)
    AdaptiveAvgPool3D(output_size=3)
    """

    function = staticmethod(adaptive_avg_pool3d)

    def __init__(self, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(output_size, data_format=data_format)


class AdaptiveMaxPool1D(_Adaptive):
    """The greatest of so many parts of each axis: see `nn.functional.adaptive_max_pool1d`.

    >>> AdaptiveMaxPool1D(3)
    AdaptiveMaxPool1D(output_size=3, return_mask=False)
    """

    function = staticmethod(adaptive_max_pool1d)

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(output_size, return_mask=return_mask)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class AdaptiveMaxPool2D(_Adaptive):
    """The greatest of so many parts of each axis: see `nn.functional.adaptive_max_pool2d`.

    >>> AdaptiveMaxPool2D(3)
    AdaptiveMaxPool2D(output_size=3, return_mask=False)
    """

    function = staticmethod(adaptive_max_pool2d)

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(output_size, return_mask=return_mask)


class AdaptiveMaxPool3D(_Adaptive):
    """The greatest of so many parts of each axis: see `nn.functional.adaptive_max_pool3d`.

    >>> AdaptiveMaxPool3D(3)
    AdaptiveMaxPool3D(output_size=3, return_mask=False)
    """

    function = staticmethod(adaptive_max_pool3d)

    def __init__(self, output_size: Any, return_mask: bool = False, name: str | None = None) -> None:
        super().__init__(output_size, return_mask=return_mask)
