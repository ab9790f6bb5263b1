"""Windows as columns and back, channels as pixels and back, channels of neighbours in time.

>>> unfold(d2s.ones([1, 2, 4, 5]), 3).shape, pixel_shuffle(d2s.ones([1, 8, 2, 3]), 2).shape
([1, 18, 6], [1, 2, 4, 6])
"""

from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.extents import Extent
from d2s.nn.layer import Layer
from d2s.ops import windows
from d2s.ops.arrange import transpose
from d2s.ops.create import zeros
from d2s.ops.found import called, cut, finds_extents, length
from d2s.ops.found import number as run_time
from d2s.ops.join import concat, stack
from d2s.ops.pad import pad
from d2s.ops.shape import flatten, reshape
from d2s.ops.shapes import tensor_type, uncountable, unnamed, whole_number, whole_numbers
from d2s.ops.slices import strided_slice
from d2s.ops.slicing import unsliced
from d2s.types import Dim

Numbers = tuple[int, ...]


def _numbers(name: str, x: Any, rank: int) -> Numbers:
    """The extents; those that only a run knows are numbers of run time, where a capture may compute with these."""
    shape = tensor_type(x, name, "x").shape
    if len(shape) != rank:
        raise ShapeError("D2S0002", f"{name}(): 'x' has {len(shape)} axes, expected {rank}")
    return tuple(length(x, k) if uncountable(d) and finds_extents() else _known(name, d) for k, d in enumerate(shape))


def _known(name: str, dim: Dim) -> int:
    if uncountable(dim):
        raise unnamed(name, f"the extent {dim}")
    return dim  # type: ignore[return-value]


def _settings(name: str, kernel: Any, strides: Any, paddings: Any, dilations: Any) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Kernel, strides, paddings (top, left, bottom, right) and dilations."""
    found = [
        windows.each(v, 2, name, a, 1) for v, a in ((kernel, "kernel_sizes"), (strides, "strides"), (dilations, "dilations"))
    ]
    pads = whole_numbers(paddings, name, "paddings")
    if len(pads) not in (1, 2, 4) or min(pads) < 0:
        raise ArgumentError("D2S0004", f"{name}(): 'paddings' is {brief(paddings)}, expected 1, 2 or 4 numbers from 0")
    pads = pads * 4 if len(pads) == 1 else pads * 2 if len(pads) == 2 else pads
    return found[0], found[1], pads, found[2]


def _counts(name: str, extents: Numbers, kernel: Numbers, strides: Numbers, pads: Numbers, dilations: Numbers) -> list[int]:
    """How many windows there are along both axes."""
    found = []
    for a in range(2):
        free = extents[a] + pads[a] + pads[a + 2] - dilations[a] * (kernel[a] - 1) - 1
        if isinstance(free, int) and free < 0:
            raise ShapeError("D2S0002", f"{name}(): a window of {list(kernel)} does not fit into {list(extents)}")
        found.append(free // strides[a] + 1)
    return found


def _stretch(x: Any, axis: int, first: int, count: Any, step: int) -> Any:
    """So many values along an axis, which may be a number that only a run knows."""
    if isinstance(count, int | Extent):
        return strided_slice(x, [axis], [first], [first + (count - 1) * step + 1], [step])
    return cut(x, run_time(first), count, axis, step, called(count))


def unfold(x: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None) -> Any:
    """The windows of pictures as columns: [batch, channels * height * width of a window, windows].

    >>> d2s.nn.functional.unfold(d2s.to_tensor([[[[1.0, 2.0, 3.0]]]]), [1, 2]).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """
    batch, channels, *extents = _numbers("unfold", x, 4)
    kernel, steps, pads, dilation = _settings("unfold", kernel_sizes, strides, paddings, dilations)
    counts = _counts("unfold", tuple(extents), kernel, steps, pads, dilation)
    x = pad(x, [pads[1], pads[3], pads[0], pads[2]]) if any(pads) else x
    taps = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows = _stretch(x, 2, i * dilation[0], counts[0], steps[0])
            taps.append(_stretch(rows, 3, j * dilation[1], counts[1], steps[1]))
    return reshape(stack(taps, 2), [batch, channels * kernel[0] * kernel[1], counts[0] * counts[1]])


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """The transpose of `unfold`: columns laid where their windows lie, and added.

    >>> d2s.nn.functional.fold(d2s.to_tensor([[[1.0, 2.0], [2.0, 3.0]]]), [1, 3], [1, 2]).tolist()
    [[[[1.0, 4.0, 3.0]]]]
    """
    batch, rows, columns = _numbers("fold", x, 3)
    kernel, steps, pads, dilation = _settings("fold", kernel_sizes, strides, paddings, dilations)
    size = windows.each(output_sizes, 2, "fold", "output_sizes", 1)
    counts, taps = _counts("fold", size, kernel, steps, pads, dilation), kernel[0] * kernel[1]
    if rows % taps or columns != counts[0] * counts[1]:
        wanted = f"a multiple of {taps} rows and {counts[0] * counts[1]} columns"
        raise ShapeError("D2S0002", f"fold(): 'x' has shape {[batch, rows, columns]}, expected {wanted}")
    parts = reshape(x, [batch, rows // taps, kernel[0], kernel[1], *counts])
    wide = [size[0] + pads[0] + pads[2], size[1] + pads[1] + pads[3]]
    like, total = zeros([batch, rows // taps, *wide], tensor_type(x, "fold", "x").dtype), None
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            first = (i * dilation[0], j * dilation[1])
            part = reshape(strided_slice(parts, [2, 3], [i, j], [i + 1, j + 1], [1, 1]), [batch, rows // taps, *counts])
            laid = unsliced(part, like, (2, 3), first, tuple(counts), tuple(steps), ())
            total = laid if total is None else total + laid
    return strided_slice(total, [2, 3], list(pads[:2]), [pads[0] + size[0], pads[1] + size[1]], [1, 1])


def _shuffled(name: str, x: Any, data_format: Any, parts: Any, perm: Any, whole: Any) -> Any:
    """Axes of [batch, channels, height, width] divided, laid in another order, and joined again."""
    last = windows.layout(data_format, 2, name)
    there, back = windows.order(2, last)
    x = transpose(x, there) if last else x
    n, c, h, w = _numbers(name, x, 4)
    x = reshape(transpose(reshape(x, parts(n, c, h, w)), perm), whole(n, c, h, w))
    return transpose(x, back) if last else x


def _factor(name: str, argument: str, value: Any, divided: int, what: str) -> int:
    found = whole_number(value, name, argument)
    if found < 1 or divided % found:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {found}, expected a divisor of {divided}, {what}")
    return found


def _channels(name: str, x: Any, data_format: Any) -> int:
    return _numbers(name, x, 4)[3 if windows.layout(data_format, 2, name) else 1]


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Channels as pixels: r * r channels become one, r times as high and wide.

    >>> d2s.nn.functional.pixel_shuffle(d2s.to_tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), 2).tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    """
    r = whole_number(upscale_factor, "pixel_shuffle", "upscale_factor")
    channels = _channels("pixel_shuffle", x, data_format)
    if r < 1 or channels % (r * r):
        raise ArgumentError("D2S0004", f"pixel_shuffle(): {channels} channels cannot be divided by {r} * {r}")
    return _shuffled(
        *("pixel_shuffle", x, data_format),
        lambda n, c, h, w: [n, c // (r * r), r, r, h, w],
        (0, 1, 4, 2, 5, 3),
        lambda n, c, h, w: [n, c // (r * r), h * r, w * r],
    )


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Pixels as channels: the opposite of `pixel_shuffle`.

    >>> d2s.nn.functional.pixel_unshuffle(d2s.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).shape
    [1, 4, 1, 1]
    """
    r = whole_number(downscale_factor, "pixel_unshuffle", "downscale_factor")
    last = windows.layout(data_format, 2, "pixel_unshuffle")
    height, width = _numbers("pixel_unshuffle", x, 4)[slice(1, 3) if last else slice(2, 4)]
    if r < 1 or any(isinstance(n, int) and n % r for n in (height, width)):
        raise ArgumentError("D2S0004", f"pixel_unshuffle(): {height} * {width} pixels cannot be divided by {r}")
    return _shuffled(
        *("pixel_unshuffle", x, data_format),
        lambda n, c, h, w: [n, c, h // r, r, w // r, r],
        (0, 1, 3, 5, 2, 4),
        lambda n, c, h, w: [n, c * r * r, h // r, w // r],
    )


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The first channels of all groups, then the second of all, and so on.

    >>> d2s.nn.functional.channel_shuffle(d2s.to_tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]), 2).flatten().tolist()
    [1.0, 3.0, 2.0, 4.0]
    """
    count = _channels("channel_shuffle", x, data_format)
    g = _factor("channel_shuffle", "groups", groups, count, "the channels")
    return _shuffled(
        *("channel_shuffle", x, data_format),
        lambda n, c, h, w: [n, g, c // g, h, w],
        (0, 2, 1, 3, 4),
        lambda n, c, h, w: [n, c, h, w],
    )


def temporal_shift(x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW") -> Any:
    """Of [batch * time, channels, height, width] a share of channels from the step before, as many from the one behind.

    >>> x = d2s.to_tensor([[[[1.0]], [[1.0]]], [[[2.0]], [[2.0]]]])
    >>> d2s.nn.functional.temporal_shift(x, 2, 0.5).flatten(1).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    count, ratio = whole_number(seg_num, "temporal_shift", "seg_num"), number("temporal_shift", "shift_ratio", shift_ratio)
    if not 0 < ratio <= 0.5:
        raise ArgumentError("D2S0004", f"temporal_shift(): 'shift_ratio' is {ratio}, expected more than 0 and up to 0.5")
    shape = _numbers("temporal_shift", x, 4)
    counted = isinstance(shape[0], int)
    steps = _factor("temporal_shift", "seg_num", count, shape[0] if counted else count, "the first extent")
    last = windows.layout(data_format, 2, "temporal_shift")
    axis, channels = (4, shape[3]) if last else (2, shape[1])
    first, second = int(channels * ratio), int(channels * 2 * ratio)
    x = pad(reshape(x, [shape[0] // steps if counted else -1, steps, *shape[1:]]), [0, 0, 1, 1, *[0] * 6])
    ends = ((0, 0, first), (2, first, second), (1, second, channels))
    parts = [strided_slice(x, [1, axis], [t, a], [t + steps, b], [1, 1]) for t, a, b in ends if a < b]
    return flatten(concat(parts, axis), 0, 1)


class _Settings(Layer):
    """A function of one tensor with settings that are shown."""

    function: Any

    def __init__(self, shown: dict[str, Any], **settings: Any) -> None:
        super().__init__()
        self._shown, self._settings = shown, settings

    def forward(self, x: Any) -> Any:
        return self.function(x, **self._settings)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._shown.items())


class Unfold(_Settings):
    """`functional.unfold` as a layer.

    >>> d2s.nn.Unfold(2)
    Unfold(kernel_size=2, dilation=1, padding=0, stride=1)
    """

    function = staticmethod(unfold)

    def __init__(
        self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1, name: str | None = None
    ) -> None:
        shown = {"kernel_size": kernel_sizes, "dilation": dilations, "padding": paddings, "stride": strides}
        settings = {"kernel_sizes": kernel_sizes, "strides": strides, "paddings": paddings, "dilations": dilations}
        super().__init__(shown, **settings)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class Fold(_Settings):
    """`functional.fold` as a layer.

    >>> d2s.nn.Fold([4, 4], 2)(d2s.ones([1, 4, 9])).shape
    [1, 1, 4, 4]
    """

    function = staticmethod(fold)

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        shown = {"kernel_size": kernel_sizes, "dilation": dilations, "padding": paddings, "stride": strides}
        settings = {"kernel_sizes": kernel_sizes, "strides": strides, "paddings": paddings, "dilations": dilations}
        super().__init__(shown, output_sizes=output_sizes, **settings)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class PixelShuffle(_Settings):
    """`functional.pixel_shuffle` as a layer.

    >>> d2s.nn.PixelShuffle(2)(d2s.ones([1, 4, 2, 3])).shape
    [1, 1, 4, 6]
    """

    function = staticmethod(pixel_shuffle)

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        windows.layout(data_format, 2, "PixelShuffle")
        more = {"data_format": data_format} if data_format != "NCHW" else {}
        super().__init__({"upscale_factor": upscale_factor} | more, upscale_factor=upscale_factor, data_format=data_format)


class PixelUnshuffle(_Settings):
    """`functional.pixel_unshuffle` as a layer.

    >>> d2s.nn.PixelUnshuffle(2)(d2s.ones([1, 1, 4, 6])).shape
    [1, 4, 2, 3]
    """

    function = staticmethod(pixel_unshuffle)

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        windows.layout(data_format, 2, "PixelUnshuffle")
        more = {"data_format": data_format} if data_format != "NCHW" else {}
        shown = {"downscale_factor": downscale_factor} | more
        super().__init__(shown, downscale_factor=downscale_factor, data_format=data_format)


class ChannelShuffle(_Settings):
    """`functional.channel_shuffle` as a layer.

    >>> d2s.nn.ChannelShuffle(2)
    ChannelShuffle(groups=2)
    """

    function = staticmethod(channel_shuffle)

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        windows.layout(data_format, 2, "ChannelShuffle")
        more = {"data_format": data_format} if data_format != "NCHW" else {}
        super().__init__({"groups": groups} | more, groups=groups, data_format=data_format)
