"""`x[...]`, assignment to it, and iteration, on eager tensors."""


class Indexing:
    """Methods of `Tensor`."""

    __slots__ = ()
