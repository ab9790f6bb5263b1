"""Transforms that do the same to every image.

>>> prepare = d2s.vision.transforms.Compose([Resize(4), CenterCrop(2), ToTensor(), Normalize([0.5], [0.5])])
>>> prepare(np.full((8, 8), 255, "uint8")).tolist()
[[[1.0, 1.0], [1.0, 1.0]]]
"""

from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.vision.transforms import functional, given
from d2s.vision.transforms.pictures import pixels
from d2s.vision.transforms.transform import BaseTransform


class ToTensor(BaseTransform):
    """`to_tensor`: a tensor of float32, of bytes as floats from 0 to 1."""

    def __init__(self, data_format: str = "CHW", keys: Any = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return functional.to_tensor(image, self.data_format)


class Resize(BaseTransform):
    """`resize` to (height, width), or to a smaller edge of some length."""

    def __init__(self, size: Any, interpolation: str = "bilinear", keys: Any = None) -> None:
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return functional.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """`center_crop`: the middle of an image."""

    def __init__(self, size: Any, keys: Any = None) -> None:
        super().__init__(keys)
        self.size = given.pair("CenterCrop", "size", size)

    def _apply_image(self, image: Any) -> Any:
        return functional.center_crop(image, self.size)


class Pad(BaseTransform):
    """`pad`: a border."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant", keys: Any = None) -> None:
        super().__init__(keys)
        self.padding, self.fill = given.borders("Pad", padding), fill
        self.padding_mode = given.one_of("Pad", "padding_mode", padding_mode, functional.PADDINGS)

    def _apply_image(self, image: Any) -> Any:
        return functional.pad(image, self.padding, self.fill, self.padding_mode)


class Normalize(BaseTransform):
    """`normalize`: (image - mean) / std by colour."""

    def __init__(
        self, mean: Any = 0.0, std: Any = 1.0, data_format: str = "CHW", to_rgb: bool = False, keys: Any = None
    ) -> None:
        super().__init__(keys)
        self.mean, self.std, self.data_format, self.to_rgb = mean, std, data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return functional.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The axes of an array in another order: as it stands, (height, width, colours) becomes (colours, height, width)."""

    def __init__(self, order: Any = (2, 0, 1), keys: Any = None) -> None:
        super().__init__(keys)
        if not isinstance(order, list | tuple) or sorted(map(str, order)) != ["0", "1", "2"]:
            raise ArgumentError("D2S0004", f"Transpose(): 'order' is {brief(order)}, expected 0, 1 and 2 in some order")
        self.order = tuple(order)

    def _apply_image(self, image: Any) -> Any:
        if isinstance(image, Tensor):
            return Tensor(np.ascontiguousarray(image.array.transpose(self.order)))
        array = pixels(image)
        return (array[:, :, None] if array.ndim == 2 else array).transpose(self.order)


class Grayscale(BaseTransform):
    """`to_grayscale`: the brightness, once or three times."""

    def __init__(self, num_output_channels: int = 1, keys: Any = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return functional.to_grayscale(image, self.num_output_channels)
