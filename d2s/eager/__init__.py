"""Tensors that compute at once, on the kernels everything shares."""

from d2s.eager import checked, handler, in_place_forms

__all__ = ["checked", "handler", "in_place_forms"]
