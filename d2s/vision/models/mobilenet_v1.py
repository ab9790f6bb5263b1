"""MobileNet: convolutions of each channel on its own, then 1 x 1 across the channels.

>>> mobilenet_v1(scale=0.25, num_classes=5)(d2s.zeros([1, 3, 32, 32])).shape
[1, 5]
"""

from typing import Any

from d2s.arguments import expect
from d2s.nn import AdaptiveAvgPool2D, Layer, Linear
from d2s.ops.shape import flatten
from d2s.vision.models.conv_norm import ConvNormActivation, checked_scale
from d2s.vision.models.weights import trained

BLOCKS = (  # name, channels out of the first half, out of the whole, stride
    *(("conv2_1", 32, 64, 1), ("conv2_2", 64, 128, 2), ("conv3_1", 128, 128, 1), ("conv3_2", 128, 256, 2)),
    *(("conv4_1", 256, 256, 1), ("conv4_2", 256, 512, 2)),
    *((f"conv5_{k + 1}", 512, 512, 1) for k in range(5)),
    *(("conv5_6", 512, 1024, 2), ("conv6", 1024, 1024, 1)),
)


class DepthwiseSeparable(Layer):
    """A 3 x 3 convolution of each channel, then one of 1 x 1 across them."""

    def __init__(self, inputs: int, middle: int, outputs: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(inputs, middle, 3, stride, 1, groups=inputs)
        self._pointwise_conv = ConvNormActivation(middle, outputs, 1)

    def forward(self, x: Any) -> Any:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Layer):
    """MobileNet over [batch, 3, height, width]; `scale` multiplies all numbers of channels.

    >>> d2s.vision.models.MobileNetV1(scale=0.25, num_classes=0, with_pool=False)(d2s.zeros([1, 3, 64, 64])).shape
    [1, 256, 2, 2]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        expect("MobileNetV1", "num_classes", num_classes, int, "an int")
        self.scale, self.num_classes, self.with_pool = checked_scale("MobileNetV1", scale), num_classes, with_pool
        before = int(32 * self.scale)
        self.conv1 = ConvNormActivation(3, before, 3, 2, 1)
        for name, middle, outputs, stride in BLOCKS:
            scaled = int(outputs * self.scale)
            self.add_sublayer(name, DepthwiseSeparable(before, int(middle * self.scale), scaled, stride))
            before = scaled
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = Linear(before, num_classes)

    def forward(self, x: Any) -> Any:
        x = self.conv1(x)
        for name, _, _, _ in BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet; `kwargs` are those of `MobileNetV1`, such as num_classes."""
    return trained(MobileNetV1(scale=scale, **kwargs), pretrained, f"mobilenet_v1_{scale}")
