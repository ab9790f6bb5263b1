"""MobileNet with blocks that are wide inside and narrow between.

>>> mobilenet_v2(scale=0.25, num_classes=5)(d2s.zeros([1, 3, 32, 32])).shape
[1, 5]
"""

from typing import Any

from d2s.arguments import expect
from d2s.nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, ReLU6, Sequential
from d2s.ops.shape import flatten
from d2s.vision.models.conv_norm import ConvNormActivation, checked_scale
from d2s.vision.models.weights import trained

BLOCKS = (  # how much wider inside, channels, how many of them, stride of the first
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)


def _whole_eights(channels: float) -> int:
    """The number of channels as a multiple of 8, not less than nine tenths of it."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found if found >= 0.9 * channels else found + 8


class InvertedResidual(Layer):
    """1 x 1 to many channels, 3 x 3 in each, 1 x 1 to few; with what it was given added where that fits."""

    def __init__(self, inputs: int, outputs: int, stride: int, expand_ratio: int) -> None:
        super().__init__()
        inside = round(inputs * expand_ratio)
        self.use_res_connect = stride == 1 and inputs == outputs
        wide = [ConvNormActivation(inputs, inside, 1, activation=ReLU6)] if expand_ratio != 1 else []
        each = ConvNormActivation(inside, inside, 3, stride, 1, groups=inside, activation=ReLU6)
        self.conv = Sequential(*wide, each, Conv2D(inside, outputs, 1, bias_attr=False), BatchNorm2D(outputs))

    def forward(self, x: Any) -> Any:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Layer):
    """MobileNet over [batch, 3, height, width]; `scale` multiplies all numbers of channels.

    >>> d2s.vision.models.MobileNetV2(scale=0.25, num_classes=0, with_pool=False)(d2s.zeros([1, 3, 64, 64])).shape
    [1, 1280, 2, 2]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        expect("MobileNetV2", "num_classes", num_classes, int, "an int")
        scale = checked_scale("MobileNetV2", scale)
        self.num_classes, self.with_pool = num_classes, with_pool
        before, last = _whole_eights(32 * scale), _whole_eights(1280 * max(1.0, scale))
        layers: list[Layer] = [ConvNormActivation(3, before, 3, 2, 1, activation=ReLU6)]
        for wider, channels, count, stride in BLOCKS:
            outputs = _whole_eights(channels * scale)
            for k in range(count):
                layers.append(InvertedResidual(before, outputs, stride if k == 0 else 1, wider))
                before = outputs
        self.features = Sequential(*layers, ConvNormActivation(before, last, 1, activation=ReLU6))
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Dropout(0.2), Linear(last, num_classes))

    def forward(self, x: Any) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2; `kwargs` are those of `MobileNetV2`, such as num_classes."""
    return trained(MobileNetV2(scale=scale, **kwargs), pretrained, f"mobilenet_v2_{scale}")
