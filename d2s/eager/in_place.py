"""Changing a tensor where it lies."""


class InPlace:
    """Methods of `Tensor`."""

    __slots__ = ()
