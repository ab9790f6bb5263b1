"""Facts about a tensor that are no computation, once for eager and symbolic tensors: where it lies, and how.

>>> x = d2s.zeros([2, 3])
>>> x.dim(), x.get_strides(), x.element_size(), x.nbytes, x.place
(2, [3, 1], 4, 24, Place(cpu))
"""

import math
from typing import Any

from d2s import place


class Whereabouts:
    """Methods of tensors; their shapes and dtypes they have themselves."""

    __slots__ = ()
    shape: Any
    dtype: Any

    @property
    def place(self) -> place.Place:
        """Where the tensor lies.

        >>> d2s.to_tensor([1.0]).place
        Place(cpu)
        """
        return place.usable("cpu", "place")

    def cpu(self) -> Any:
        """The tensor itself: it is on the CPU."""
        return self

    def cuda(self, device_id: int | None = None, blocking: bool = True) -> Any:
        """There is no GPU: says so."""
        return place.usable("gpu", "cuda")

    def element_size(self) -> int:
        """The bytes of one element.

        >>> d2s.to_tensor([1.0]).element_size()
        4
        """
        return int(self.dtype.numpy.itemsize)

    @property
    def itemsize(self) -> int:
        return self.element_size()

    @property
    def nbytes(self) -> Any:
        return math.prod(self.shape) * self.element_size()

    def dim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    ndimension = dim

    @property
    def strides(self) -> list[Any]:
        """How many elements a step along each axis goes."""
        return self.get_strides()

    def get_strides(self) -> list[Any]:
        """How many elements a step along each axis goes.

        >>> d2s.zeros([2, 3]).get_strides()
        [3, 1]
        """
        return [math.prod(self.shape[k + 1 :]) for k in range(len(self.shape))]
