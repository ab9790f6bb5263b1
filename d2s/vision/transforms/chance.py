"""Transforms that draw what they do: parts, flips, colours. What they draw follows from `d2s.seed`.

>>> d2s.seed(1)
>>> crop = RandomCrop(3)
>>> first = crop(np.arange(100, dtype="uint8").reshape(10, 10))
>>> d2s.seed(1)
>>> np.array_equal(first, crop(np.arange(100, dtype="uint8").reshape(10, 10)))
True
"""

import math
from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.io import draws
from d2s.vision.transforms import functional, given
from d2s.vision.transforms.pictures import pixels, size
from d2s.vision.transforms.transform import BaseTransform, happens, probability, span

ATTEMPTS = 10


class RandomCrop(BaseTransform):
    """A part of some size from anywhere; with a border first, or one as wide as is needed."""

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.size = given.pair("RandomCrop", "size", size)
        self.padding = None if padding is None else given.borders("RandomCrop", padding)
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int]:
        height, width = size(self._padded(self._image(inputs)))
        if self.size[0] > height or self.size[1] > width:
            message = f"RandomCrop: no {self.size[0]} x {self.size[1]} pixels in an image of {height} x {width}"
            raise ArgumentError("D2S0004", message, hint="pad_if_needed=True")
        return draws.below(height - self.size[0] + 1), draws.below(width - self.size[1] + 1)

    def _apply_image(self, image: Any) -> Any:
        (top, left), (height, width) = self.params, self.size
        return functional.crop(self._padded(image), top, left, height, width)

    def _padded(self, image: Any) -> Any:
        if self.padding is not None:
            image = functional.pad(image, self.padding, self.fill, self.padding_mode)
        lacking = [max(wanted - there, 0) for wanted, there in zip(self.size, size(image), strict=True)]
        if not self.pad_if_needed or not any(lacking):
            return image
        return functional.pad(image, (lacking[1], lacking[0]), self.fill, self.padding_mode)


class RandomResizedCrop(BaseTransform):
    """A part of a drawn share of the area, and of a drawn ratio, resized."""

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.size = given.pair("RandomResizedCrop", "size", size)
        self.scale = span("RandomResizedCrop", "scale", scale, 0, (0, math.inf))
        self.ratio = span("RandomResizedCrop", "ratio", ratio, 0, (1e-6, 1e6))
        self.interpolation = interpolation

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[int, int, int, int]:
        height, width = size(self._image(inputs))
        for _ in range(ATTEMPTS):
            h, w = _sides(height * width * draws.uniform(*self.scale), self.ratio)
            if 0 < h <= height and 0 < w <= width:
                return draws.below(height - h + 1), draws.below(width - w + 1), h, w
        h, w = min(height, round(width / self.ratio[0])), min(width, round(height * self.ratio[1]))
        h, w = max(h, 1), max(w, 1)
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, image: Any) -> Any:
        return functional.resize(functional.crop(image, *self.params), self.size, self.interpolation)


class _Sometimes(BaseTransform):
    """A transform that is applied with a probability, to all parts or to none."""

    def __init__(self, prob: float = 0.5, keys: Any = None) -> None:
        super().__init__(keys)
        self.prob = probability(type(self).__name__, prob)

    def _get_params(self, inputs: tuple[Any, ...]) -> bool:
        return happens(self.prob)


class RandomHorizontalFlip(_Sometimes):
    """`hflip`, with a probability."""

    def _apply_image(self, image: Any) -> Any:
        return functional.hflip(image) if self.params else image


class RandomVerticalFlip(_Sometimes):
    """`vflip`, with a probability."""

    def _apply_image(self, image: Any) -> Any:
        return functional.vflip(image) if self.params else image


class _Colours(BaseTransform):
    """A transform by a factor from a range; a reach of 0 leaves images as they are."""

    middle, limits = 1.0, (0.0, math.inf)

    def __init__(self, value: Any, keys: Any = None) -> None:
        super().__init__(keys)
        if not isinstance(value, list | tuple):
            given.factor(type(self).__name__, "value", value)
        self.value = span(type(self).__name__, "value", value, self.middle, self.limits)

    def _get_params(self, inputs: tuple[Any, ...]) -> float:
        return self.middle if self.value == (self.middle, self.middle) else draws.uniform(*self.value)

    def _apply_image(self, image: Any) -> Any:
        return image if self.params == self.middle else self._adjusted(image)

    def _adjusted(self, image: Any) -> Any:
        raise NotImplementedError


class BrightnessTransform(_Colours):
    """`adjust_brightness` by a factor from 1 - value to 1 + value."""

    def _adjusted(self, image: Any) -> Any:
        return functional.adjust_brightness(image, self.params)


class ContrastTransform(_Colours):
    """`adjust_contrast` by a factor from 1 - value to 1 + value."""

    def _adjusted(self, image: Any) -> Any:
        return functional.adjust_contrast(image, self.params)


class SaturationTransform(_Colours):
    """`adjust_saturation` by a factor from 1 - value to 1 + value."""

    def _adjusted(self, image: Any) -> Any:
        return functional.adjust_saturation(image, self.params)


class HueTransform(_Colours):
    """`adjust_hue` by a part of the circle from -value to value, which is 0.5 at most."""

    middle, limits = 0.0, (-0.5, 0.5)

    def _adjusted(self, image: Any) -> Any:
        return functional.adjust_hue(image, self.params)


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue, each by a factor of its own, in a drawn order."""

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0, keys: Any = None) -> None:
        super().__init__(keys)
        kinds = (BrightnessTransform, ContrastTransform, SaturationTransform, HueTransform)
        values = (brightness, contrast, saturation, hue)
        self.transforms = [kind(value) for kind, value in zip(kinds, values, strict=True)]

    def _get_params(self, inputs: tuple[Any, ...]) -> list[_Colours]:
        order = draws.generator().permutation(len(self.transforms))
        for transform in self.transforms:
            transform.params = transform._get_params(inputs)
        return [self.transforms[k] for k in order]

    def _apply_image(self, image: Any) -> Any:
        for transform in self.params:
            image = transform._apply_image(image)
        return image


class RandomErasing(_Sometimes):
    """A rectangle of a drawn share of the area is filled, with a number, one per colour, or noise ('random')."""

    def __init__(
        self,
        prob: float = 0.5,
        scale: Any = (0.02, 0.33),
        ratio: Any = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        keys: Any = None,
    ) -> None:
        super().__init__(prob, keys)
        self.scale = span("RandomErasing", "scale", scale, 0, (0, 1))
        self.ratio = span("RandomErasing", "ratio", ratio, 0, (1e-6, 1e6))
        if isinstance(value, str) and value != "random":
            raise ArgumentError("D2S0004", f"RandomErasing(): 'value' is '{value:.20}', expected numbers or 'random'")
        self.value, self.inplace = value, inplace

    def _apply_image(self, image: Any) -> Any:
        height, width = size(image)
        for _ in range(ATTEMPTS if self.params else 0):
            h, w = _sides(height * width * draws.uniform(*self.scale), self.ratio)
            if 0 < h < height and 0 < w < width:
                place = draws.below(height - h + 1), draws.below(width - w + 1), h, w
                return functional.erase(image, *place, self._values(image, h, w), self.inplace)
        return image

    def _values(self, image: Any, h: int, w: int) -> np.ndarray:
        first = isinstance(image, Tensor)
        shape = (image.shape[0], h, w) if first else (h, w, *pixels(image).shape[2:])
        if isinstance(self.value, str):
            return draws.generator().standard_normal(shape)
        values = np.asarray(self.value, np.float64)
        return values.reshape(-1, 1, 1) if first and values.ndim else values


def _sides(area: float, ratio: tuple[float, float]) -> tuple[int, int]:
    """Height and width of an area, with a ratio of width to height from a range, drawn evenly among its logarithms."""
    drawn = math.exp(draws.uniform(math.log(ratio[0]), math.log(ratio[1])))
    return round(math.sqrt(area / drawn)), round(math.sqrt(area * drawn))
