"""LeNet, for 28 x 28 digits.

>>> sum(p.size for p in LeNet().parameters())
61610
"""

from typing import Any

from d2s.arguments import expect
from d2s.nn import Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from d2s.ops.shape import flatten


class LeNet(Layer):
    """Two convolutions and three affine layers over [batch, 1, 28, 28]; with `num_classes` 0 the convolutions alone.

    >>> d2s.vision.models.LeNet(num_classes=0)(d2s.zeros([1, 1, 28, 28])).shape
    [1, 16, 5, 5]
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        expect("LeNet", "num_classes", num_classes, int, "an int")
        self.num_classes = num_classes
        self.features = Sequential(
            *(Conv2D(1, 6, 3, padding=1), ReLU(), MaxPool2D(2, 2)),
            *(Conv2D(6, 16, 5), ReLU(), MaxPool2D(2, 2)),
        )
        if num_classes > 0:
            self.fc = Sequential(Linear(400, 120), Linear(120, 84), Linear(84, num_classes))

    def forward(self, inputs: Any) -> Any:
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x
