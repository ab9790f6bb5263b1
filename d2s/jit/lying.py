"""Memory that others know, too: what a call on the tape finds there, leaves there or hands out.

In: the array, and how often it was written to when the call had ended. Out: whether it was since, so that eager code could not
read what lay there.

>>> import numpy as np
>>> array = np.ones(2)
>>> lying = Lying(array, writes.count(array))
>>> lying.is_lost
False
>>> writes.noted(array)
>>> lying.is_lost
True
"""

from typing import NamedTuple

import numpy as np

from d2s.autodiff import writes


class Lying(NamedTuple):
    """Some memory, and the writes to it so far when the call that made or changed it had ended."""

    array: np.ndarray
    written: int

    @property
    def is_lost(self) -> bool:
        return writes.count(self.array) != self.written
