"""Results of a static call whose history is not that of the call: it is used up, it ends inside, or there begins one.

In: arrays. Out: tensors that say of their history what eager code says.

>>> import numpy as np
>>> ends_inside(np.zeros(2)).stop_gradient
False
"""

from typing import Any

from d2s.autodiff import tape
from d2s.eager.tensor import Tensor


class _Inside(tape.TapeNode):
    """Its gradient goes to tensors that are gone."""

    __slots__ = ()

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        """It reaches nobody."""


def ends_inside(array: Any) -> Tensor:
    """A result that depends on nothing that wants a gradient but on tensors made inside."""
    return Tensor(array, False, _Inside(()))


def leaf(array: Any) -> Tensor:
    """A result that is a leaf, made inside."""
    return Tensor(array, False)


def used_up(array: Any) -> Tensor:
    """A result whose gradient was taken where it was computed."""
    node = tape.TapeNode(())
    node.release()
    return Tensor(array, False, node)
