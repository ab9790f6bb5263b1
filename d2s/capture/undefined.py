"""Variables that have no value, or none that a graph can hold.

>>> load(Undefined("y"), "y")
Traceback (most recent call last):
UnboundLocalError: cannot access local variable 'y' where it is not associated with a value
"""

import sys
from typing import Any

from d2s.capture.symbolic import user_line
from d2s.errors import CaptureError


class Undefined:
    """The value of a variable that has none (or, with `why`, none that a graph can hold)."""

    def __init__(self, name: str, why: str = "") -> None:
        self.name, self.why, self.where = name, why, user_line() if why else ""

    def _used(self, *_: Any) -> Any:
        """A closure reads a variable as it is: what is there must not pass for a value."""
        return load(self, self.name)

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __getattr__ = __add__ = __radd__ = __sub__ = __rsub__ = _used
    __mul__ = __rmul__ = __matmul__ = __rmatmul__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __str__ = _used


def load(value: Any, name: str, where: str = "") -> Any:
    """A variable that may have no value here (`where`, if that is not the line that runs)."""
    if not isinstance(value, Undefined):
        return value
    if value.why:
        raise CaptureError(
            "D2S1002", value.why, where=where or user_line(), hint=f"give '{name}' a value of one kind on every path"
        )
    if sys.version_info >= (3, 11):
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
    raise UnboundLocalError(f"local variable '{name}' referenced before assignment")
