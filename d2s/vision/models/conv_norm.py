"""A convolution, the norm of its batch and an activation: what MobileNets are made of.

>>> ConvNormActivation(3, 8, 3, 2, 1)(d2s.zeros([1, 3, 8, 8])).shape
[1, 8, 4, 4]
"""

from d2s.arguments import number
from d2s.errors import ArgumentError, brief
from d2s.nn import BatchNorm2D, Conv2D, Layer, ReLU, Sequential

LARGEST = 8


def checked_scale(name: str, scale: float) -> float:
    """What multiplies all numbers of channels."""
    if not 0 < number(name, "scale", scale) <= LARGEST:
        raise ArgumentError("D2S0004", f"{name}(): 'scale' is {brief(scale)}, expected above 0 and up to {LARGEST}")
    return number(name, "scale", scale)


class ConvNormActivation(Sequential):
    """The three of them under the names 0, 1 and 2."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: int,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
        activation: type[Layer] = ReLU,
    ) -> None:
        conv = Conv2D(inputs, outputs, size, stride, padding, groups=groups, bias_attr=False)
        super().__init__(conv, BatchNorm2D(outputs), activation())
