"""Tensors handed to and taken from others: dlpack, pickle, copies, notebooks."""


class Exchange:
    """Methods of `Tensor`."""

    __slots__ = ()
