"""Tensors that compute at once, on the kernels everything shares."""

from d2s.eager import handler, in_place_forms

__all__ = ["handler", "in_place_forms"]
