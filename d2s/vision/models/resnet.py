"""ResNet: blocks that add what they compute to what they were given.

>>> resnet18(num_classes=7)(d2s.zeros([1, 3, 32, 32])).shape
[1, 7]
"""

from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, brief
from d2s.nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from d2s.ops.shape import flatten
from d2s.vision.models.weights import trained

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _conv(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> Conv2D:
    return Conv2D(inputs, outputs, size, stride, size // 2, groups=groups, bias_attr=False)


class BasicBlock(Layer):
    """Two 3 x 3 convolutions."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
    ) -> None:
        super().__init__()
        if groups != 1 or base_width != 64:
            raise ArgumentError("D2S0004", "ResNet(): a BasicBlock has 1 group and a width of 64", hint="BottleneckBlock")
        self.conv1 = _conv(inplanes, planes, 3, stride)
        self.bn1 = BatchNorm2D(planes)
        self.relu = ReLU()
        self.conv2 = _conv(planes, planes, 3)
        self.bn2 = BatchNorm2D(planes)
        self.downsample = downsample

    def forward(self, x: Any) -> Any:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + shortcut)


class BottleneckBlock(Layer):
    """A 3 x 3 convolution of few channels between two of 1 x 1."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
    ) -> None:
        super().__init__()
        narrow, wide = int(planes * (base_width / 64)) * groups, planes * self.expansion
        self.conv1 = _conv(inplanes, narrow, 1)
        self.bn1 = BatchNorm2D(narrow)
        self.conv2 = _conv(narrow, narrow, 3, stride, groups)
        self.bn2 = BatchNorm2D(narrow)
        self.conv3 = _conv(narrow, wide, 1)
        self.bn3 = BatchNorm2D(wide)
        self.relu = ReLU()
        self.downsample = downsample

    def forward(self, x: Any) -> Any:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + shortcut)


class ResNet(Layer):
    """Four groups of blocks, as many as its `depth` says, over [batch, 3, height, width].

    Without `with_pool` no mean is taken over the places; with `num_classes` 0 there is no last affine layer.

    >>> models = d2s.vision.models
    >>> models.ResNet(models.resnet.BasicBlock, 18, num_classes=0)(d2s.zeros([1, 3, 32, 32])).shape
    [1, 512, 1, 1]
    """

    def __init__(
        self,
        block: type[BasicBlock | BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        expect("ResNet", "num_classes", num_classes, int, "an int")
        if block not in (BasicBlock, BottleneckBlock) or not isinstance(depth, int) or depth not in BLOCKS:
            known = f"BasicBlock or BottleneckBlock, and a depth of {', '.join(map(str, BLOCKS))}"
            raise ArgumentError("D2S0004", f"ResNet(): 'block' is {brief(block)}, 'depth' {brief(depth)}; expected {known}")
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inplanes = 64
        self.conv1 = Conv2D(3, 64, 7, 2, 3, bias_attr=False)
        self.bn1 = BatchNorm2D(64)
        self.relu = ReLU()
        self.maxpool = MaxPool2D(3, 2, 1)
        counts = BLOCKS[depth]
        self.layer1 = self._blocks(block, 64, counts[0], 1)
        self.layer2 = self._blocks(block, 128, counts[1], 2)
        self.layer3 = self._blocks(block, 256, counts[2], 2)
        self.layer4 = self._blocks(block, 512, counts[3], 2)
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = Linear(512 * block.expansion, num_classes)

    def _blocks(self, block: type[BasicBlock | BottleneckBlock], planes: int, count: int, stride: int) -> Sequential:
        wide, downsample = planes * block.expansion, None
        if stride != 1 or self.inplanes != wide:
            downsample = Sequential(_conv(self.inplanes, wide, 1, stride), BatchNorm2D(wide))
        first = block(self.inplanes, planes, stride, downsample, self.groups, self.base_width)
        self.inplanes = wide
        rest = [block(wide, planes, 1, None, self.groups, self.base_width) for _ in range(count - 1)]
        return Sequential(first, *rest)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 18 layers; `kwargs` are those of `ResNet`, such as num_classes.

    >>> len(d2s.vision.models.resnet18().sublayers())
    67
    """
    return trained(ResNet(BasicBlock, 18, **kwargs), pretrained, "resnet18")


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 34 layers."""
    return trained(ResNet(BasicBlock, 34, **kwargs), pretrained, "resnet34")


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers, in blocks with a bottleneck."""
    return trained(ResNet(BottleneckBlock, 50, **kwargs), pretrained, "resnet50")


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers, in blocks with a bottleneck."""
    return trained(ResNet(BottleneckBlock, 101, **kwargs), pretrained, "resnet101")


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 152 layers, in blocks with a bottleneck."""
    return trained(ResNet(BottleneckBlock, 152, **kwargs), pretrained, "resnet152")


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers whose bottlenecks are twice as wide."""
    return trained(ResNet(BottleneckBlock, 50, **{"width": 128} | kwargs), pretrained, "wide_resnet50_2")


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers whose bottlenecks are twice as wide."""
    return trained(ResNet(BottleneckBlock, 101, **{"width": 128} | kwargs), pretrained, "wide_resnet101_2")
