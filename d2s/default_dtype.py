"""The dtype of floats that are given without one: of Python floats made a tensor, of zeros and ones, of random numbers.

>>> set_default_dtype("float64")
>>> d2s.to_tensor([1.0]).dtype, d2s.rand([1]).dtype
(d2s.float64, d2s.float64)
>>> set_default_dtype("float32")
>>> get_default_dtype()
'float32'
"""

from d2s import types
from d2s.errors import DTypeError, brief
from d2s.types import DType

HELD = [types.float32]  # the one there is: what asks at each call of a function reads it here


def default_dtype() -> DType:
    """The default dtype, as a DType."""
    return HELD[0]


def get_default_dtype() -> str:
    """The name of the default dtype.

    >>> d2s.get_default_dtype()
    'float32'
    """
    return HELD[0].name


def set_default_dtype(d: object) -> None:
    """Makes `d` the dtype of floats that are given without one.

    >>> d2s.set_default_dtype("float32")
    """
    found = types.dtype(d)
    if d is None or found.kind != "f":
        raise DTypeError("D2S0003", f"set_default_dtype() takes a float dtype, not {brief(d)}", hint="'float32', 'float64'")
    HELD[0] = found
