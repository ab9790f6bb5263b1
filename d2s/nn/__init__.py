"""Layers."""

from d2s.nn.layer import Layer, Parameter
from d2s.nn.linear import Linear

__all__ = ["Layer", "Linear", "Parameter"]
