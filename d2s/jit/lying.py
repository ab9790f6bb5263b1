"""Memory that others know, too: what a call on the tape finds there, leaves there or hands out.

In: the array, and what the call left in it. Out: whether something else lies there by now, which eager code could not read.

>>> import numpy as np
>>> array = np.ones(2)
>>> lying = Lying(array, np.ones(2))
>>> lying.is_lost
False
>>> array[:] = 2.0
>>> lying.is_lost
True
"""

from typing import NamedTuple

import numpy as np


class Lying(NamedTuple):
    """Some memory with what a call that changes it left there; None where it was not changed but made."""

    array: np.ndarray
    left: np.ndarray | None

    @property
    def is_lost(self) -> bool:
        """Whether it may hold something else; on a path that changes nothing, what was there is written once more."""
        return self.left is None or self.array.tobytes() != self.left.tobytes()
