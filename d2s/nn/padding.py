"""Padding as layers, and as a function with Paddle's spellings.

>>> ZeroPad2D([1, 0, 0, 0])(d2s.ones([1, 1, 1, 2])).tolist()
[[[[0.0, 1.0, 1.0]]]]
"""

from typing import Any

from d2s.arguments import one_of
from d2s.errors import ShapeError
from d2s.nn.layer import Layer
from d2s.ops.pad import pad as pad_
from d2s.ops.pad import widths
from d2s.ops.shapes import tensor_type, whole_numbers

LAYOUTS = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")
FORMATS = {3: "NCL", 4: "NCHW", 5: "NCDHW"}


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Any:
    """x with values around it: `value`, or by `mode` its own ("reflect", "replicate", "circular").

    `pad` holds two numbers for each axis of x, from the first on (or not `pad_from_left_axis`: from the last), or two for
    each spatial axis, the last one first; one number stands for all spatial axes. With "constant" and no layout named, two
    numbers for some of the last axes are enough, the last one first.

    >>> d2s.nn.functional.pad(d2s.to_tensor([[[1.0, 2.0]]]), [1, 1], mode="replicate").tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    rank = len(tensor_type(x, "pad", "x").shape)
    given = [pad] * (2 * (rank - 2)) if isinstance(pad, int) else list(widths(pad))
    if len(given) == 2 * rank and not pad_from_left_axis:
        given = [n for axis in reversed(range(rank)) for n in given[2 * axis : 2 * axis + 2]]
    if mode == "constant" and data_format is None and not len(given) % 2 and len(given) < 2 * rank:
        last = [n for k in reversed(range(len(given) // 2)) for n in given[2 * k : 2 * k + 2]]
        given = [0] * (2 * rank - len(last)) + last
    layout = FORMATS.get(rank, "NCHW") if data_format is None else data_format
    one_of("pad", "data_format", layout, LAYOUTS)
    return pad_(x, given, mode, value, layout)


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Pictures with zeros around them: left, right, top, bottom.

    >>> d2s.nn.functional.zeropad2d(d2s.ones([1, 1, 1, 1]), [0, 1, 0, 0]).tolist()
    [[[[1.0, 0.0]]]]
    """
    return pad(x, padding, "constant", 0.0, data_format)


class _Pad(Layer):
    """`functional.pad` of so many spatial axes."""

    axes: int

    def __init__(self, padding: Any, mode: str, value: float, data_format: str) -> None:
        super().__init__()
        many = [padding] * (2 * self.axes) if isinstance(padding, int) else padding
        self._pad = list(whole_numbers(many, type(self).__name__, "padding"))
        self._mode, self._value, self._data_format = mode, value, data_format

    def forward(self, x: Any) -> Any:
        rank = len(tensor_type(x, type(self).__name__, "x").shape)
        if rank != self.axes + 2:
            raise ShapeError("D2S0002", f"{type(self).__name__}: 'x' has {rank} axes, expected {self.axes + 2}")
        return pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self) -> str:
        return f"padding={self._pad}, mode={self._mode}, value={self._value}, data_format={self._data_format}"


class Pad1D(_Pad):
    """Values around [batch, channels, length].

    >>> d2s.nn.Pad1D([0, 2], mode="circular")(d2s.to_tensor([[[1.0, 2.0, 3.0]]])).tolist()
    [[[1.0, 2.0, 3.0, 1.0, 2.0]]]
    """

    axes = 1

    def __init__(
        self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, mode, value, data_format)


class Pad2D(_Pad):
    """Values around [batch, channels, height, width]: left, right, top, bottom.

    >>> d2s.nn.Pad2D(1, mode="reflect")
    Pad2D(padding=[1, 1, 1, 1], mode=reflect, value=0.0, data_format=NCHW)
    """

    axes = 2

    def __init__(
        self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, mode, value, data_format)


class Pad3D(_Pad):
    """Values around [batch, channels, depth, height, width]: left, right, top, bottom, front, back.

    >>> d2s.nn.Pad3D([1, 0, 0, 0, 0, 2])(d2s.ones([1, 1, 2, 2, 2])).shape
    [1, 1, 4, 2, 3]
    """

    axes = 3

    def __init__(
        self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, mode, value, data_format)


class ZeroPad1D(_Pad):
    """Zeros around [batch, channels, length].

    >>> d2s.nn.ZeroPad1D(1)(d2s.to_tensor([[[1.0]]])).tolist()
    [[[0.0, 1.0, 0.0]]]
    """

    axes = 1

    def __init__(self, padding: Any, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format)


class ZeroPad2D(_Pad):
    """Zeros around [batch, channels, height, width]: left, right, top, bottom.

    >>> d2s.nn.ZeroPad2D(1)(d2s.ones([1, 1, 2, 3])).shape
    [1, 1, 4, 5]
    """

    axes = 2

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format)


class ZeroPad3D(_Pad):
    """Zeros around [batch, channels, depth, height, width].

    >>> d2s.nn.ZeroPad3D(1)(d2s.ones([1, 1, 1, 1, 1])).shape
    [1, 1, 3, 3, 3]
    """

    axes = 3

    def __init__(self, padding: Any, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format)
