"""Transforms that draw how they turn, shear, move or bend an image.

>>> turned = RandomRotation((90, 90))(np.array([[1, 2], [3, 4]], "uint8"))
>>> turned.tolist()
[[2, 4], [1, 3]]
"""

import math
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, brief
from d2s.io import draws
from d2s.vision.transforms import functional, given
from d2s.vision.transforms.pictures import size
from d2s.vision.transforms.transform import BaseTransform, happens, probability, span


class RandomRotation(BaseTransform):
    """`rotate` by degrees from a range, or from -degrees to degrees."""

    def __init__(
        self,
        degrees: Any,
        interpolation: str = "nearest",
        expand: bool = False,
        center: Any = None,
        fill: Any = 0,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = span("RandomRotation", "degrees", degrees, 0, (-math.inf, math.inf))
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _get_params(self, inputs: tuple[Any, ...]) -> float:
        return draws.uniform(*self.degrees)

    def _apply_image(self, image: Any) -> Any:
        return functional.rotate(image, self.params, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """`affine`: turned by degrees, moved by shares of width and height, scaled by a factor, sheared by degrees."""

    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        interpolation: str = "nearest",
        fill: Any = 0,
        center: Any = None,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.degrees = span("RandomAffine", "degrees", degrees, 0, (-math.inf, math.inf))
        self.translate = (0.0, 0.0) if translate is None else _shares(translate)
        self.scale = (1.0, 1.0) if scale is None else span("RandomAffine", "scale", scale, 0, (1e-6, math.inf))
        self.shear = _shears(shear)
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _get_params(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        height, width = size(self._image(inputs))
        reach = (self.translate[0] * width, self.translate[1] * height)
        moved = tuple(round(draws.uniform(-most, most)) for most in reach)
        leans = tuple(draws.uniform(*lean) for lean in self.shear)
        return draws.uniform(*self.degrees), moved, draws.uniform(*self.scale), leans

    def _apply_image(self, image: Any) -> Any:
        angle, moved, scale, leans = self.params
        return functional.affine(image, angle, moved, scale, leans, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """`perspective`, with a probability: each corner moves inwards by up to half of `distortion_scale` of the image."""

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: Any = 0,
        keys: Any = None,
    ) -> None:
        super().__init__(keys)
        self.prob = probability("RandomPerspective", prob)
        self.distortion_scale = number("RandomPerspective", "distortion_scale", distortion_scale)
        if not 0 <= self.distortion_scale <= 1:
            message = f"RandomPerspective(): 'distortion_scale' is {brief(distortion_scale)}, expected a number from 0 to 1"
            raise ArgumentError("D2S0004", message)
        self.interpolation, self.fill = interpolation, fill

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        height, width = size(self._image(inputs))
        if not happens(self.prob):
            return None
        right, below = width - 1, height - 1
        corners = [(0, 0), (right, 0), (right, below), (0, below)]
        reach = (int(self.distortion_scale * (width // 2)) + 1, int(self.distortion_scale * (height // 2)) + 1)
        moves = [[draws.below(most) for most in reach] for _ in corners]
        ends = [[x - a if x else a, y - b if y else b] for (x, y), (a, b) in zip(corners, moves, strict=True)]
        return corners, ends

    def _apply_image(self, image: Any) -> Any:
        if self.params is None:
            return image
        begins, ends = self.params
        return functional.perspective(image, begins, ends, self.interpolation, self.fill)


def _shares(wanted: Any) -> tuple[float, float]:
    found = given.point("RandomAffine", "translate", wanted)
    if not all(0 <= share <= 1 for share in found):
        raise ArgumentError("D2S0004", f"RandomAffine(): 'translate' is {brief(wanted)}, expected two numbers from 0 to 1")
    return found


def _shears(wanted: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ranges along x and y: one number or two are of x alone."""
    if wanted is None:
        return (0.0, 0.0), (0.0, 0.0)
    limits = (-89.9, 89.9)
    if isinstance(wanted, list | tuple) and len(wanted) == 4:
        return span("RandomAffine", "shear", wanted[:2], 0, limits), span("RandomAffine", "shear", wanted[2:], 0, limits)
    return span("RandomAffine", "shear", wanted, 0, limits), (0.0, 0.0)
