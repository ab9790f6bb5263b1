"""Models of images, built and named as in Paddle: a `.pdparams` of its model fits.

>>> d2s.vision.models.LeNet()(d2s.zeros([2, 1, 28, 28])).shape
[2, 10]
"""

from d2s.vision.models.lenet import LeNet
from d2s.vision.models.mobilenet_v1 import MobileNetV1, mobilenet_v1
from d2s.vision.models.mobilenet_v2 import MobileNetV2, mobilenet_v2
from d2s.vision.models.resnet import (
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
    wide_resnet50_2,
    wide_resnet101_2,
)
from d2s.vision.models.vgg import VGG, vgg11, vgg13, vgg16, vgg19

__all__ = [
    "VGG",
    "LeNet",
    "MobileNetV1",
    "MobileNetV2",
    "ResNet",
    "mobilenet_v1",
    "mobilenet_v2",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "vgg11",
    "vgg13",
    "vgg16",
    "vgg19",
    "wide_resnet50_2",
    "wide_resnet101_2",
]
