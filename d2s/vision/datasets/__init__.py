"""Datasets of images that are published, and those in your own folders."""

from d2s.vision.datasets.cifar import Cifar10, Cifar100
from d2s.vision.datasets.folder import DatasetFolder, ImageFolder
from d2s.vision.datasets.mnist import MNIST, FashionMNIST

__all__ = ["MNIST", "Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "ImageFolder"]
