"""What transforms do, as functions of an image: Pillow's, an array (height, width, colours), or a tensor (colours first).

The form that comes in goes out. Images of Pillow's are resized by Pillow, arrays and tensors as OpenCV does; everything
else gives the same values in all three forms.

>>> image = np.arange(12, dtype="uint8").reshape(3, 4)
>>> crop(hflip(image), top=1, left=0, height=2, width=2).tolist()
[[7, 6], [11, 10]]
"""

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s import memory
from d2s.arguments import number
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.vision.image import pillow
from d2s.vision.transforms import colours, given
from d2s.vision.transforms.pictures import is_pillow, pixels, size, through, top
from d2s.vision.transforms.sampling import filling, resized, warped

PADDINGS = ("constant", "edge", "reflect", "symmetric")


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """An image as a tensor of float32; bytes become floats from 0 to 1.

    >>> to_tensor(np.full((2, 2, 3), 255, "uint8")).shape
    [3, 2, 2]
    """
    layout = given.layout("to_tensor", data_format)
    if isinstance(pic, Tensor):
        return pic
    array = pixels(pic)
    array = array[:, :, None] if array.ndim == 2 else array
    found = array.astype(np.float32) / np.float32(255) if array.dtype == np.uint8 else array.astype(np.float32)
    return Tensor(np.ascontiguousarray(found.transpose(2, 0, 1) if layout == "CHW" else found))


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """An image of another size: (height, width), or an int for the smaller of the two, keeping their ratio.

    >>> resize(np.zeros((7, 9), "uint8"), 4).shape
    (4, 5)
    """
    method = given.method("resize", interpolation)
    wanted = _wanted(img, size)
    memory.check("resize", (*wanted, 4), np.dtype(np.float64))
    if is_pillow(img):
        return img.resize(wanted[::-1], _of_pillow(method))
    return through(img, lambda array: resized(array, wanted, method))


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """An image with a border: of one width, (left and right, top and bottom), or (left, top, right, bottom).

    >>> pad(np.ones((1, 1), "uint8"), (1, 0, 0, 0), fill=7).tolist()
    [[7, 1]]
    """
    left, above, right, below = given.borders("pad", padding)
    mode: Any = given.one_of("pad", "padding_mode", padding_mode, PADDINGS)
    height, width = size(img)
    memory.check("pad", (height + above + below, width + left + right, 4), np.dtype(np.float64))
    widths = ((above, below), (left, right), (0, 0))
    if mode != "constant":
        return through(img, lambda array: np.pad(array, widths, mode=mode))
    return through(img, lambda array: _framed(array, widths, given.fill("pad", fill)))


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of an image. What lies beyond it is left out.

    >>> crop(np.zeros((4, 4), "uint8"), 1, 1, 2, 3).shape
    (2, 3)
    """
    top, left, height, width = (given.whole("crop", *pair) for pair in zip(_SIDES, (top, left, height, width), strict=True))
    if top < 0 or left < 0 or height < 1 or width < 1 or top >= size(img)[0] or left >= size(img)[1]:
        message = f"crop(): {height} x {width} from row {top}, column {left}, is no part of an image of {list(size(img))}"
        raise ArgumentError("D2S0004", message)
    return through(img, lambda array: array[top : top + height, left : left + width])


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of an image.

    >>> center_crop(np.arange(9, dtype="uint8").reshape(3, 3), 1).tolist()
    [[4]]
    """
    height, width = given.pair("center_crop", "output_size", output_size)
    rows, columns = size(img)
    above, left = round((rows - height) / 2), round((columns - width) / 2)
    return crop(img, max(above, 0), max(left, 0), min(height, rows), min(width, columns))


def hflip(img: Any) -> Any:
    """An image seen in a mirror.

    >>> hflip(np.array([[1, 2]], "uint8")).tolist()
    [[2, 1]]
    """
    return through(img, lambda array: array[:, ::-1])


def vflip(img: Any) -> Any:
    """An image upside down.

    >>> vflip(np.array([[1], [2]], "uint8")).tolist()
    [[2], [1]]
    """
    return through(img, lambda array: array[::-1])


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """(image - mean) / std by colour, in float32: an array, or a tensor where one came; `to_rgb` reverses the colours first.

    >>> normalize(np.full((1, 1, 1), 127.5), 127.5, 2.0, "HWC").tolist()
    [[[0.0]]]
    """
    axis = 0 if given.layout("normalize", data_format) == "CHW" else -1
    array = (img.array if isinstance(img, Tensor) else pixels(img)).astype(np.float32)
    means, stds = (given.per_colour(name, values, array, axis) for name, values in (("mean", mean), ("std", std)))
    found = ((np.flip(array, axis) if to_rgb else array) - means) / stds
    return Tensor(found) if isinstance(img, Tensor) else found


def rotate(
    img: Any, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0
) -> Any:
    """An image turned counter-clockwise by degrees; `expand` makes room for all of it.

    >>> rotate(np.array([[1, 2], [3, 4]], "uint8"), 90).tolist()
    [[2, 4], [1, 3]]
    """
    method, degrees = given.method("rotate", interpolation), number("rotate", "angle", angle)
    height, width = size(img)
    x, y = (width / 2, height / 2) if center is None else given.point("rotate", "center", center)
    cos, sin = round(math.cos(math.radians(degrees)), 15), round(math.sin(math.radians(degrees)), 15)
    shown = _extent(width, height, cos, sin) if expand else (height, width)
    right, down = ((shown[1] - width) / 2, (shown[0] - height) / 2) if expand else (0.0, 0.0)
    x, y = (width / 2, height / 2) if expand else (x, y)
    back = [cos, -sin, x - cos * (x + right) + sin * (y + down), sin, cos, y - sin * (x + right) - cos * (y + down), 0.0, 0.0]
    return through(img, lambda array: warped(array, back, shown, method, given.fill("rotate", fill)))


def affine(
    img: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: str = "nearest",
    fill: Any = 0,
    center: Any = None,
) -> Any:
    """An image turned clockwise, sheared (degrees), scaled and moved (pixels) about a centre.

    >>> affine(np.array([[1, 2], [3, 4]], "uint8"), 0, (1, 0), 1.0, (0, 0)).tolist()
    [[0, 1], [0, 3]]
    """
    method, factor = given.method("affine", interpolation), number("affine", "scale", scale)
    if not factor > 0:
        raise ArgumentError("D2S0004", f"affine(): 'scale' is {brief(scale)}, expected a number above 0")
    height, width = size(img)
    about = (width * 0.5, height * 0.5) if center is None else given.point("affine", "center", center)
    leans = (
        (number("affine", "shear", shear), 0.0) if isinstance(shear, numbers.Real) else given.point("affine", "shear", shear)
    )
    back = _affine_back(about, number("affine", "angle", angle), given.point("affine", "translate", translate), factor, leans)
    return through(img, lambda array: warped(array, [*back, 0.0, 0.0], (height, width), method, given.fill("affine", fill)))


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    """An image bent so that four of its points, (x, y), come to lie at four others.

    >>> corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> perspective(np.array([[1, 2], [3, 4]], "uint8"), corners, corners).tolist()
    [[1, 2], [3, 4]]
    """
    method = given.method("perspective", interpolation)
    begins, ends = (given.points(name, four) for name, four in (("startpoints", startpoints), ("endpoints", endpoints)))
    rows = [[x, y, 1, 0, 0, 0, -u * x, -u * y] for (x, y), (u, _) in zip(ends, begins, strict=True)]
    rows += [[0, 0, 0, x, y, 1, -v * x, -v * y] for (x, y), (_, v) in zip(ends, begins, strict=True)]
    try:
        back = np.linalg.solve(np.array(rows), np.array([u for u, _ in begins] + [v for _, v in begins])).tolist()
    except np.linalg.LinAlgError:
        raise ArgumentError("D2S0004", "perspective(): three of the points lie on one line") from None
    return through(img, lambda array: warped(array, back, size(img), method, given.fill("perspective", fill)))


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The brightness of an image, once or three times.

    >>> to_grayscale(np.array([[[10, 20, 30]]], "uint8"), 3).tolist()
    [[[18, 18, 18]]]
    """
    count = given.whole("to_grayscale", "num_output_channels", num_output_channels)
    if count not in (1, 3):
        raise ArgumentError("D2S0004", f"to_grayscale(): 'num_output_channels' is {brief(count)}, expected 1 or 3")
    return through(img, lambda array: np.repeat(colours.grey(array), count, axis=2))


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """From black (0) over the image (1) to brighter ones.

    >>> adjust_brightness(np.array([[10, 200]], "uint8"), 2).tolist()
    [[20, 255]]
    """
    factor = given.factor("adjust_brightness", "brightness_factor", brightness_factor)
    return through(img, lambda array: colours.brighter(array, factor, top(img)))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """From grey of the image's mean brightness (0) over the image (1) to harder ones.

    >>> adjust_contrast(np.array([[10, 20]], "uint8"), 0).tolist()
    [[15, 15]]
    """
    factor = given.factor("adjust_contrast", "contrast_factor", contrast_factor)
    return through(img, lambda array: colours.contrasted(array, factor, top(img)))


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """From black and white (0) over the image (1) to more colourful ones.

    >>> adjust_saturation(np.array([[[10, 20, 30]]], "uint8"), 0).tolist()
    [[[18, 18, 18]]]
    """
    factor = given.factor("adjust_saturation", "saturation_factor", saturation_factor)
    return through(img, lambda array: colours.saturated(array, factor, top(img)))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The colours turned by a part of their circle, from -0.5 to 0.5.

    >>> adjust_hue(np.array([[[255, 0, 0]]], "uint8"), 0.5).tolist()
    [[[0, 255, 252]]]
    """
    shift = number("adjust_hue", "hue_factor", hue_factor)
    if not -0.5 <= shift <= 0.5:
        raise ArgumentError("D2S0004", f"adjust_hue(): 'hue_factor' is {brief(hue_factor)}, expected a number from -0.5 to 0.5")
    return through(img, lambda array: colours.hued(array, shift, top(img)))


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """An image with a rectangle - from row i, column j, h high and w wide - of a value, or of an array in its layout.

    >>> erase(np.ones((2, 2, 1), "uint8"), 0, 0, 1, 2, 0)[:, :, 0].tolist()
    [[0, 0], [1, 1]]
    """
    i, j, h, w = (given.whole("erase", *pair) for pair in zip("ijhw", (i, j, h, w), strict=True))
    if min(i, j, h, w) < 0:
        raise ArgumentError("D2S0004", f"erase(): rows {i} and {h} more, columns {j} and {w} more, are no part of an image")
    value = v.array if isinstance(v, Tensor) else np.asarray(v)
    if isinstance(img, Tensor) or is_pillow(img) or not inplace:
        return through(img, lambda array: _erased(array.copy(), (i, j, h, w), value, isinstance(img, Tensor)))
    pixels(img)[i : i + h, j : j + w] = value
    return img


# --- parts of the above


_SIDES = ("top", "left", "height", "width")


def _erased(array: np.ndarray, place: tuple[int, int, int, int], value: np.ndarray, colours_first: bool) -> np.ndarray:
    i, j, h, w = place
    if value.dtype.kind not in "biuf":
        raise DTypeError("D2S0001", f"erase(): 'v' expects numbers, got {value.dtype.name}")
    try:
        array[i : i + h, j : j + w] = value.transpose(1, 2, 0) if colours_first and value.ndim == 3 else value
    except ValueError:
        raise ShapeError("D2S0002", f"erase(): 'v' of shape {list(value.shape)} does not fill {h} x {w} pixels") from None
    return array


def _framed(array: np.ndarray, widths: Any, fill: Any) -> np.ndarray:
    (above, below), (left, right), _ = widths
    found = np.empty((array.shape[0] + above + below, array.shape[1] + left + right, array.shape[2]), array.dtype)
    found[...] = filling(fill, array)
    found[above : above + array.shape[0], left : left + array.shape[1]] = array
    return found


def _extent(width: int, height: int, cos: float, sin: float) -> tuple[int, int]:
    """Height and width of what holds all of a turned image."""
    if not sin or not cos:
        return (height, width) if cos else (width, height)
    x, y = width / 2, height / 2
    corners = [(cos * a + sin * b + x, -sin * a + cos * b + y) for a in (-x, x) for b in (-y, y)]
    across, down = zip(*corners, strict=True)
    return math.ceil(max(down)) - math.floor(min(down)), math.ceil(max(across)) - math.floor(min(across))


def _affine_back(about: Any, angle: float, moved: Any, scale: float, shear: Any) -> list[float]:
    """The inverse of: shear and turn and scale about a point, then move."""
    turn, lean_x, lean_y = (math.radians(degrees) for degrees in (angle, *shear))
    a = math.cos(turn - lean_y) / math.cos(lean_y)
    b = -math.cos(turn - lean_y) * math.tan(lean_x) / math.cos(lean_y) - math.sin(turn)
    c = math.sin(turn - lean_y) / math.cos(lean_y)
    d = -math.sin(turn - lean_y) * math.tan(lean_x) / math.cos(lean_y) + math.cos(turn)
    x, y = about[0] + moved[0], about[1] + moved[1]
    a, b, c, d = d / scale, -b / scale, -c / scale, a / scale
    return [a, b, about[0] - a * x - b * y, c, d, about[1] - c * x - d * y]


def _wanted(img: Any, wanted: Any) -> tuple[int, int]:
    if not isinstance(wanted, int | np.integer):
        return given.pair("resize", "size", wanted)
    short, _ = given.pair("resize", "size", wanted)
    height, width = size(img)
    if height <= width:
        return short, max(int(short * width / height), 1)
    return max(int(short * height / width), 1), short


def _of_pillow(method: str) -> Any:
    return getattr(pillow().Resampling, "BOX" if method == "area" else method.upper())
