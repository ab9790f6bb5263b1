"""Tensors that compute at once, on the kernels everything shares."""

from d2s.eager import handler

__all__ = ["handler"]
