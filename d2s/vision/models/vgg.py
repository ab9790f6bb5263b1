"""VGG: 3 x 3 convolutions one behind the other, and three wide affine layers.

>>> vgg11(num_classes=0, with_pool=False)(d2s.zeros([1, 3, 32, 32])).shape
[1, 512, 1, 1]
"""

from typing import Any

from d2s.arguments import expect
from d2s.nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, MaxPool2D, ReLU, Sequential
from d2s.ops.shape import flatten
from d2s.vision.models.weights import trained

CHANNELS = (64, 128, 256, 512, 512)  # of the convolutions between two pools
COUNTS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGG(Layer):
    """What `features` finds, then three affine layers; with `num_classes` 0 none of these.

    >>> features = d2s.nn.Conv2D(3, 512, 3, 32)
    >>> d2s.vision.models.VGG(features, num_classes=0)(d2s.zeros([1, 3, 64, 64])).shape
    [1, 512, 7, 7]
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        expect("VGG", "features", features, Layer, "a Layer")
        expect("VGG", "num_classes", num_classes, int, "an int")
        self.features, self.num_classes, self.with_pool = features, num_classes, with_pool
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = Sequential(
                *(Linear(512 * 7 * 7, 4096), ReLU(), Dropout(), Linear(4096, 4096), ReLU(), Dropout()),
                Linear(4096, num_classes),
            )

    def forward(self, x: Any) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def _features(depth: int, batch_norm: bool) -> Sequential:
    layers: list[Layer] = []
    before = 3
    for channels, count in zip(CHANNELS, COUNTS[depth], strict=True):
        for _ in range(count):
            norm = [BatchNorm2D(channels)] if batch_norm else []
            layers += [Conv2D(before, channels, 3, padding=1), *norm, ReLU()]
            before = channels
        layers.append(MaxPool2D(2, 2))
    return Sequential(*layers)


def _vgg(depth: int, pretrained: bool, batch_norm: bool, settings: dict[str, Any]) -> VGG:
    name = f"vgg{depth}_bn" if batch_norm else f"vgg{depth}"
    return trained(VGG(_features(depth, batch_norm), **settings), pretrained, name)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 11 layers; `kwargs` are those of `VGG`, such as num_classes."""
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 13 layers."""
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 16 layers."""
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 19 layers."""
    return _vgg(19, pretrained, batch_norm, kwargs)
